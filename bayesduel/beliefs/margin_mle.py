"""Maximum likelihood of scores from Gaussian margins, by weighted least squares.

A margin of i over j is ``N(gamma_i - gamma_j, sigma_ij^2)``. Given the variances the scores
solve a weighted graph Laplacian; given the scores each variance has a closed form. The two
half-steps never lower the likelihood; Newton's method accelerates them (``margin_newton``).

With a variance for every pair the likelihood has many local optima, and without a floor it is
unbounded (a pair fitted exactly). Every optimum here depends on the start and on the floor.

References
----------
Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits", section 4 (the likelihood). Zhou, Hu, Zhou & Lange, "MM Algorithms for Variance
Components Models", JCGS 2019 (variances by arm).
"""

from typing import Any, Literal, NamedTuple

import numpy as np

from bayesduel.margins.newton import by_arm, climb, one_variance, start_scores
from bayesduel.margins.tallies import Margins, Moments, pair_variances, require_margins
from bayesduel.system.arguments import check_one_of, finite, numbers, whole

__all__ = ["MarginFit", "fit_margins"]

KINDS = ("common", "arm", "pair")


class MarginFit(NamedTuple):
    """A local maximum of the likelihood."""

    score: np.ndarray  # shape (K,), mean 0, in the unit of the margins
    variance: np.ndarray  # of one margin of each pair, shape (K, K); on the diagonal 0
    # of all margins (with shrinkage: plus the log prior of the variances, up to a constant)
    log_likelihood: float
    rounds: int  # half-steps and Newton steps taken


def fit_margins(
    margins: Margins,
    variances: Literal["common", "arm", "pair"] = "pair",
    *,
    start: Any = None,
    floor: float | None = None,
    shrinkage: float = 0.0,
    tolerance: float = 1e-12,
    max_rounds: int = 20_000,
) -> MarginFit:
    """Return a local maximum of the likelihood, reached from a start.

    margins: sufficient statistics; the duels should connect all arms.
    variances: "common": one variance. "arm": each arm brings its own, ``tau_i^2 + tau_j^2``.
        "pair": one for every pair.
    start: scores to start from, shape (K,). Default: each arm's mean margin over the others.
    floor: the least variance (of an arm under "arm"). Default: 1e-6 of the pooled variance.
    shrinkage: under "pair": how many duels the pooled variance counts for in every pair's.
    tolerance: stop when no score, in pooled standard deviations, moves by more.
    max_rounds: largest number of rounds.
    Raises ValueError if an argument breaks its rule, or the arms are not connected; RuntimeError if
    `max_rounds` do not suffice.
    """
    from scipy.sparse.csgraph import connected_components

    require_margins(margins)
    n_arms = len(margins.n)
    check_one_of(variances, "variances", KINDS)
    if not finite(shrinkage, "shrinkage") >= 0:
        raise ValueError(f"shrinkage should be >= 0, got {shrinkage}")
    if floor is not None and not finite(floor, "floor") > 0:
        raise ValueError(f"floor should be positive, got {floor}")
    if not finite(tolerance, "tolerance") >= 0:
        raise ValueError(f"tolerance should be >= 0, got {tolerance}")
    max_rounds = whole(max_rounds, "max_rounds", 1)
    n_parts, _ = connected_components(margins.n > 0, directed=False)
    if n_parts > 1:
        raise ValueError("margins should connect all arms, but some arms never met the others")
    mean = np.zeros((n_arms, n_arms))
    scatter = np.zeros((n_arms, n_arms))
    variance = np.zeros((n_arms, n_arms))
    pooled, least = pair_variances(margins, 0.0, mean, scatter, variance)
    least = least if floor is None else float(floor)
    if start is None:
        score = start_scores(margins, mean)
    else:
        score = numbers(start, "start").copy()
    if score.shape != (n_arms,) or not np.isfinite(score).all():
        raise ValueError(f"start should be {n_arms} finite scores, got shape {score.shape}")
    score -= score.mean()
    deviation = np.sqrt(max(pooled, least))
    step = tolerance * deviation
    n = margins.n
    moments = Moments(n, mean, scatter, variance, pooled, least, float(shrinkage))
    if variances == "pair":
        rounds = climb(moments, score, variance, step, max_rounds)
    elif variances == "common":
        rounds = one_variance(moments, score, variance)
    else:
        rounds = by_arm(moments, score, variance, step, max_rounds)
    if rounds >= max_rounds:
        raise RuntimeError(
            f"the optimum was not reached in max_rounds = {max_rounds} rounds: give more rounds"
        )
    i, j = np.nonzero(np.tril(n))
    met = n[i, j]
    e = mean[i, j] - score[i] + score[j]
    v = variance[i, j]
    squares = scatter[i, j] + met * e**2 + shrinkage * pooled
    of_variance = (met + shrinkage) * np.log(v)
    constant = met * np.log(2 * np.pi)
    terms = of_variance + squares / v + constant
    log_likelihood = float(-0.5 * terms.sum())
    return MarginFit(score, variance, log_likelihood, rounds)
