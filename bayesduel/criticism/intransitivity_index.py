"""The intransitivity index of the margins of a log, and its null distribution.

The index decreases with the number of duels of a pair, whatever the truth. It is therefore
compared with the index of logs replicated from the fitted scores on the same design.

References
----------
Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits", section 6, for the index (:func:`bayesduel.margins.moments.intransitivity`, of the
predictive distributions). Smyth, "Linear models and empirical Bayes methods", Statistical
Applications in Genetics and Molecular Biology 2004, section 6.2, for the variances of the
logs drawn. The reference distribution is ours.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, polygamma

from bayesduel.data.duels import Duels
from bayesduel.margins.moments import fitted_moments, intransitivity, sample_moments
from bayesduel.margins.tallies import Margins, margins_of_pairs, no_margins, wins_alone

__all__ = ["MarginIndex", "margin_index"]

LEAST = 0.5  # prior degrees of freedom of a pair's variance, at least: fewer fit anything


@dataclass(frozen=True, kw_only=True)
class MarginIndex:
    """The intransitivity index, its null distribution and p-value."""

    index: float  # the intransitivity index, in [0, 1]
    # mean and 95 % quantile of the index in logs replicated from the fitted scores
    expected: float
    upper: float
    # share of these logs, the log itself among them, whose index is at least as large
    p_value: float
    n_logs: int  # number of replicated logs


def margin_index(duels: Duels, rng: np.random.Generator, n_logs: int = 400) -> MarginIndex | None:
    """Return the index of the log's margins; None where some pair has fewer than two.

    None, too, where all margins are 1/2 or -1/2, which say no more than who won. Of 400 replicated
    logs the smallest p-value is 1 / 401.

    Sides are not distinguished: an effect of the order cancels where pairs meet in both orders as
    often, and counts as noise or as intransitivity where they do not.
    """
    margins = margins_of(duels)
    if margins is None:
        return None
    above = np.triu_indices(duels.n_arms, 1)
    number = margins.n[above]
    if (number < 2).any() or wins_alone(margins):
        return None
    index = intransitivity(margins)
    moments = sample_moments(margins, 0.0)
    score = moments.mean.mean(axis=1)
    fitted_moments(margins, moments, score)
    apart = score[:, None] - score
    center = apart[above]
    scatter = np.maximum(moments.scatter[above], moments.floor)
    freedom, level = variance_prior(scatter, number - 1)
    squares = freedom * level + scatter
    degrees = freedom + number - 1
    drawn = np.empty(n_logs)
    for k in range(n_logs):
        spread = squares / rng.chisquare(degrees)
        replicated = _drawn(number, center, spread, rng, duels.n_arms)
        drawn[k] = intransitivity(replicated)
    as_large = (drawn >= index).sum()
    return MarginIndex(
        index=index,
        expected=float(drawn.mean()),
        upper=float(np.quantile(drawn, 0.95)),
        p_value=float((1 + as_large) / (1 + n_logs)),
        n_logs=n_logs,
    )


def margins_of(duels: Duels) -> Margins | None:
    """Return counts, sums and squares of the margins by pair; None where the log has none."""
    votes = duels.votes
    if votes is None or votes.margin is None:
        return None
    margins = no_margins(duels.n_arms)
    known = np.isfinite(votes.margin)
    i = votes.left[known]
    j = votes.right[known]
    margin = votes.margin[known]
    weight = votes.weight[known].astype(float)
    total = weight * margin
    squares = weight * margin**2
    forth = i, j
    back = j, i
    np.add.at(margins.total, forth, total)
    np.subtract.at(margins.total, back, total)
    for place in (forth, back):
        np.add.at(margins.n, place, weight)
        np.add.at(margins.squares, place, squares)
    margins.n_duels[0] = weight.sum()
    return margins


def variance_prior(scatter: np.ndarray, freedom: np.ndarray) -> tuple[float, float]:
    """Return degrees of freedom and level of a scaled inverse chi-squared law of variances.

    By the moments of log variances (Smyth 2004); where they vary no more than chance makes
    them, the degrees of freedom are very many.
    """
    from scipy.optimize import brentq

    def by_chance(degrees: Any) -> Any:
        """Return the variance of a log variance with these degrees of freedom."""
        return polygamma(1, degrees / 2)

    variance = scatter / freedom
    half = freedom / 2
    level = np.log(variance) - digamma(half) + np.log(half)
    excess = 0.0
    if len(level) > 1:
        excess = float(level.var(ddof=1) - by_chance(freedom).mean())
    most = 1e6
    if excess <= by_chance(most):
        return most, float(np.average(variance, weights=freedom))

    def beyond(degrees: float) -> float:
        return float(by_chance(degrees) - excess)

    prior = LEAST
    if beyond(LEAST) > 0:
        prior = float(brentq(beyond, LEAST, most))
    half_prior = prior / 2
    log_level = level.mean() + digamma(half_prior) - np.log(half_prior)
    return prior, float(np.exp(log_level))


def _drawn(
    number: np.ndarray,
    center: np.ndarray,
    spread: np.ndarray,
    rng: np.random.Generator,
    n_arms: int,
) -> Margins:
    """Return margins about `center`, normal with variances `spread`, each (n_pairs,)."""
    error = np.sqrt(spread / number)
    mean = center + error * rng.standard_normal(len(number))
    scatter = spread * rng.chisquare(number - 1)
    return margins_of_pairs(n_arms, number, mean, scatter)
