"""How many more duels between two arms would decide which one is better.

For each posterior draw of the true difference, the number of further duels of the pair after
which the posterior would be sure of the sign of the difference, if the outcomes fell as
expected. The posterior of a difference d is taken as normal with mean m and variance v; n duels
that fall as expected under the true difference move it to precision ``1/v + n I`` and mean
``(m/v + n I d) / (1/v + n I)``, where I is the information of one duel. The pair is decided at
the smallest n at which the mean is z standard deviations from zero: the larger root of a
quadratic equation in n. Near certainty the information of a duel about d vanishes, though its sign
takes few duels: no difference is taken to need more than a smaller one of the same sign.

References
----------
Spiegelhalter, Abrams & Myles, "Bayesian Approaches to Clinical Trials", 2004, section 6.5 (hybrid
and predictive sample sizes). Deviation: the number of duels that is needed, as a distribution
over the true difference, in place of the power of a given number.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import logit, ndtri

from bayesduel.intervals import CERTAIN
from bayesduel.models.response import expected_score
from bayesduel.posterior.draws import (
    CHUNK,
    Draws,
    chunks,
    draws_of,
    duels_of_pairs,
    score_order,
)
from bayesduel.posterior.sources import margin_information
from bayesduel.posterior.winners import check_decision
from bayesduel.system.arguments import did_you_mean, listed, shown_value
from bayesduel.system.options import Decision

__all__ = ["duels_to_decide"]

# Quantiles that say how dense the draws are about the median: closer ones have more Monte Carlo
# error.
AROUND = (0.45, 0.55)


def duels_to_decide(
    fit: xr.DataTree,
    pairs: Iterable[tuple[str, str]] | None = None,
    *,
    rope: float = Decision.rope,
    confidence: float = Decision.confidence,
) -> pd.DataFrame:
    """Return how many more duels would decide pairs, by default the neighbours in the ranking.

    Parameters
    ----------
    fit
        What `bayesduel.fit` returned.
    pairs
        Pairs of labels. Default: every arm and the next one in the ranking.
    rope
        A win probability within this of 1/2 does not matter in practice; in [0, 0.5).
    confidence
        Probability at which a pair is decided, in (0.5, 1).

    Returns
    -------
    One row per pair: ``first``, ``second`` (labels), ``duels`` (so far), ``beats_probability``
    (first is better), ``preference_mean`` (expected score of first), ``equal_probability`` (the
    difference lies within the rope), ``decided`` (whether the posterior is sure already), and
    the numbers of further duels of the pair: ``expected`` (mean over the differences outside the
    rope, since duels that decide an arbitrarily small difference have no finite mean),
    ``lower``, ``median``, ``upper`` (quantiles 0.1, 0.5 and 0.9 over all differences; infinite
    where the difference is 0). 0 where the pair is decided. ``expected_error`` and
    ``median_error`` are their Monte Carlo standard errors; they are large where it is a matter of
    chance whether the draws decide the pair (fit with more ``draws``).

    Raises
    ------
    TypeError
        If `fit` is not a fit.
    ValueError
        If an argument is out of its range, or a label is not an arm of the log.

    Examples
    --------
    >>> table = bd.duels_to_decide(bd.fit(bd.datasets.load("tennis1990")))
    >>> table[["first", "second", "duels"]].head(2)
       first       second  duels
    0   Graf        Seles      5
    1  Seles  Navratilova      6
    """
    check_decision(rope, confidence)
    draws, labels, _ = draws_of(fit)
    effective = float(fit.attrs["importance_ess"])
    if pairs is None:
        first, second = _neighbours(draws)
    else:
        first, second = _places(pairs, labels)
    z = float(ndtri(confidence))
    parts = []
    at_once = CHUNK // draws.n_draws
    for part in chunks(len(first), at_once):
        decided = _decide(draws, first[part], second[part], rope, z, effective)
        parts.append(decided)
    frame = pd.concat(parts, ignore_index=True)
    frame.insert(0, "first", [labels[k] for k in first])
    frame.insert(1, "second", [labels[k] for k in second])
    frame.insert(2, "duels", duels_of_pairs(fit, first, second))
    frame.attrs = {"rope": rope, "confidence": confidence}
    return frame


def _neighbours(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Return indices of arms that follow one another in the ranking, better first."""
    if draws.score is not None:
        order = score_order(draws.score)
    else:
        total = np.zeros(draws.n_arms)
        for P in draws.matrices():
            total += P.mean(-1).sum(0)
        order = np.argsort(-total, kind="stable")
    return order[:-1], order[1:]


def _places(
    pairs: Iterable[tuple[str, str]], labels: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray]:
    known = {label: k for k, label in enumerate(labels)}
    found = []
    for pair in listed(pairs, "pairs"):
        refused = f"pairs should be pairs of arms of the log, got {shown_value(pair)}"
        if isinstance(pair, str) or not isinstance(pair, Iterable):
            raise TypeError(refused)
        unknown = [label for label in pair if label not in known]
        if unknown:
            raise ValueError(f"{refused}{did_you_mean(unknown[0], labels)}")
        if len(tuple(pair)) != 2:
            raise ValueError(refused)
        found.append([known[label] for label in pair])
    if not found:
        raise ValueError("pairs should have at least one pair, got an empty list")
    first, second = np.array(found).T
    return first, second


def _decide(
    draws: Draws, first: np.ndarray, second: np.ndarray, rope: float, z: float, effective: float
) -> pd.DataFrame:
    """Return the columns of pairs after their labels; errors are those of `effective` draws."""
    chances = draws.chances(slice(None), first, second)
    expected = expected_score(chances)
    p = np.clip(expected, CERTAIN, 1 - CERTAIN)  # (draws, pairs)
    apart, each, plain = _difference(draws, first, second, p, chances)
    mean = apart.mean(0)
    variance = np.maximum(apart.var(0), 1e-300)
    matters = np.abs(p - 0.5) > rope
    order = np.argsort(apart, axis=0, kind="stable")
    draw = apart, each, plain, matters, order
    found = _numbers(*draw, mean, variance, z)
    # Chance moves the mean, in standard deviations, by this much; and averages over the draws.
    deviation = np.sqrt(variance)
    signal = mean / deviation
    relative = (1 + signal**2 / 2) / effective
    moved = deviation * np.sqrt(relative)
    less = _numbers(*draw, mean - moved, variance, z)
    more = _numbers(*draw, mean + moved, variance, z)
    ahead = (apart > 0).mean(0)
    equal = (apart == 0).mean(0)
    columns = {
        "beats_probability": ahead + equal / 2,
        "preference_mean": p.mean(0),
        "equal_probability": 1 - matters.mean(0),
        "decided": np.abs(mean) >= z * deviation,
    }
    for name in ("expected", "lower", "median", "upper"):
        columns[name] = found[name]
    spreads = {"expected": found["spread"], "median": found["step"]}
    for name, spread in spreads.items():
        with np.errstate(invalid="ignore", divide="ignore"):
            moved_by = more[name] - less[name]
            of_mean = moved_by / 2
            of_average = spread / np.sqrt(effective)
            columns[f"{name}_error"] = np.hypot(of_mean, of_average)
    return pd.DataFrame(columns)


def _numbers(
    apart: np.ndarray,
    each: np.ndarray,
    plain: np.ndarray,
    matters: np.ndarray,
    order: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    z: float,
) -> dict[str, np.ndarray]:
    """Return summaries of the numbers of duels of pairs, (pairs,) each.

    `order` are the draws of each pair by `apart`, (draws, pairs).
    ``expected``, ``lower``, ``median`` and ``upper``; ``spread``, the standard deviation of what
    `expected` averages, and ``step``, how far the median moves by one standard deviation of ranks.
    """
    by_difference = _needed(apart, plain, mean, variance, z)
    share = _share(apart, by_difference, order)
    alone = _needed(apart, each, mean, variance, z)
    needed = np.ceil(alone * share)
    n_matter = matters.sum(0)
    counted = np.where(matters, needed, 0.0)
    quantiles = (0.1, 0.5, 0.9, *AROUND)
    with np.errstate(invalid="ignore", divide="ignore"):
        average = counted.sum(0) / n_matter
        square = (counted**2).sum(0) / n_matter
        of_needed = np.maximum(square - average**2, 0.0)
        spread = np.sqrt(of_needed / matters.mean(0))
        found = np.quantile(needed, quantiles, axis=0, method="higher")
        lower, median, upper, less, more = found
        width = AROUND[1] - AROUND[0]
        step = (more - less) * 0.5 / width
    return {
        "expected": average,
        "lower": lower,
        "median": median,
        "upper": upper,
        "spread": spread,
        "step": step,
    }


def _difference(
    draws: Draws,
    first: np.ndarray,
    second: np.ndarray,
    p: np.ndarray,
    chances: dict[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return draws of the difference of pairs and the information of one duel, (draws, pairs).

    The third array is the information if the difference alone determined it.

    Of models of margins, the location of the margin, and the Fisher information of a margin
    (Student's t: (df + 1) / (df + 3) of the normal one). Of others, the log odds of the expected
    score, and the information of the score: ``(p (1 - p))^2`` by its variance, which is
    ``p (1 - p)`` without ties.
    """
    parameters = draws.rows(slice(None))
    margins = draws.model.margins(parameters, draws.sides(first, second))
    if margins is not None:
        location, scale, degrees = margins
        each = margin_information(np.asarray(scale), np.asarray(degrees))
        of_draws = np.broadcast_to(each, location.shape)
        return location, of_draws, np.ones_like(location)
    plain = p * (1 - p)
    no_ties = np.zeros_like(p)
    tie = chances.get("tie", no_ties)
    variance = np.maximum(plain - tie / 4, CERTAIN)
    information = plain**2 / variance
    return logit(p), information, plain


def _share(apart: np.ndarray, needed: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return by what to multiply numbers so that no smaller difference needs fewer duels.

    `needed` are the numbers by a function of the difference alone, so that what else differs
    between draws (ties, noise) does not choose the fewest of all draws; `order` as for `_numbers`.
    """
    share = np.ones_like(needed)
    sides = ((apart > 0, order), (apart < 0, order[::-1]))
    for of_side, outwards in sides:
        of_draw = np.where(of_side, needed, np.inf)
        here = np.take_along_axis(of_draw, outwards, axis=0)
        least = np.minimum.accumulate(here, axis=0)
        sorted_share = np.ones_like(here)
        np.divide(least, here, out=sorted_share, where=least < here)
        of_draw_share = np.empty_like(sorted_share)
        np.put_along_axis(of_draw_share, outwards, sorted_share, axis=0)
        share = np.where(of_side, of_draw_share, share)
    return share


def _needed(
    apart: np.ndarray, each: np.ndarray, mean: np.ndarray, variance: np.ndarray, z: float
) -> np.ndarray:
    """Return the numbers of duels after which the sign is decided, (draws, pairs), not rounded.

    Of ``(a + x d)^2 = z^2 (b + x)`` with ``a = m / v``, ``b = 1 / v`` and ``x = n I``, the larger
    root; 0 where the pair is decided now.
    """
    a = mean / variance
    b = 1 / variance
    threshold = z**2 * b
    undecided = a**2 < threshold
    # of d^2 x^2 + linear x + constant
    linear = 2 * a * apart - z**2
    constant = a**2 - threshold
    discriminant = linear**2 - 4 * apart**2 * constant
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = np.sqrt(np.maximum(discriminant, 0.0))
        larger = distance - linear
        root = larger / (2 * apart**2)
        of_draw = root / each
        duels = np.where(apart == 0, np.inf, of_draw)
    return np.where(undecided, duels, 0.0)
