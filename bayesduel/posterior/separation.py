"""Which arms rank surely above or below an arm: rank ranges and tiers.

For each arm, its differences from all others are taken together: a difference counts as sure where
it is at least `c` of its posterior standard deviations, with `c` such that all differences of that
arm are within `c` of their means with posterior probability `confidence`. So the statements on one
arm hold jointly. Where arms are equal, quantiles of the rank and the most probable statements of
the posterior single out arms that were lucky; the largest of all standardised differences allows
for that.

References
----------
Mogstad, Romano, Shaikh & Wilhelm, "Inference for ranks with applications to mobility across
neighbourhoods and academic achievement across countries", Review of Economic Studies 2024 (marginal
confidence sets for ranks). Deviations: draws of the posterior in place of a bootstrap, and a
standard deviation for either side of the mean, as posteriors of thin logs are skewed. Al Mohamad,
Goeman & van Zwet, "Simultaneous confidence intervals for ranks with application to ranking
institutions", Biometrics 2022, show how seldom quantiles of simulated ranks cover close arms.
"""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from bayesduel.jit import compiled

__all__ = ["Separation", "rank_range", "separation", "tiers"]

TINY = 1e-12  # a standard deviation that is divided by, at least


@dataclass(frozen=True, eq=False)
class Separation:
    """Which arms are surely apart, by the arm that the statements are on."""

    # whether arm j ranks surely above, or below, arm i; the statements of a row hold jointly, bool,
    # shape (K, K)
    above: np.ndarray
    below: np.ndarray
    # whether arm i is surely ahead of arm j; as `below`, but with an error on one side only
    ahead: np.ndarray


def separation(value: np.ndarray, confidence: float) -> Separation:
    """Return which arms are surely apart.

    `value` are draws of what arms rank by, the larger the better, shape (n_draws, K).
    """
    n_arms = value.shape[1]
    # 150,000,000 draws x arms x arms that are compared, at most
    # 400 draws at least
    most = max(400, 150_000_000 // n_arms**2)
    parts = len(value) / most
    step = max(1, ceil(parts))
    some = value[::step]
    by_arm = np.ascontiguousarray(some.T, dtype=float)
    centre = by_arm.mean(axis=1, keepdims=True)
    away = by_arm - centre
    # 500,000 numbers, from which the compiled loop pays, and loading it
    many = by_arm.size * n_arms >= 500_000
    largest_differences = _largest_differences if many else _of_few
    sd, behind, either = largest_differences(away)
    mean = centre - centre.T
    one_sided = np.quantile(behind, confidence, axis=1)[:, None]
    two_sided = np.quantile(either, confidence, axis=1)[:, None]
    better = mean > 0
    worse = mean < 0
    return Separation(
        above=worse & (-mean >= two_sided * sd.T),
        below=better & (mean >= two_sided * sd),
        ahead=better & (mean >= one_sided * sd),
    )


def rank_range(found: Separation) -> tuple[np.ndarray, np.ndarray]:
    """Return the best and the worst rank of each arm, from 1, two arrays of shape (K,).

    From 1 + the number of arms surely above to K - the number surely below.
    """
    n_above = found.above.sum(axis=1)
    n_below = found.below.sum(axis=1)
    best = 1 + n_above
    worst = len(n_below) - n_below
    return best, worst


def tiers(found: Separation, order: np.ndarray) -> np.ndarray:
    """Cut a ranking where the first arm of a tier is surely ahead of all arms below the cut.

    A new tier starts at the first place from which on every arm is surely behind the first arm of
    the current tier. So the error is that of each boundary, on its own. Arms of a tier need not
    be equal: none of them is known to be worse than the first, together with all arms below it;
    and neighbours on either side of a boundary may be close.

    Tier of each arm from 1, shape (K,).
    """
    ranked = np.ix_(order, order)
    last_first = found.ahead[ranked][:, ::-1]
    from_last = np.logical_and.accumulate(last_first, axis=1)
    of_rest = from_last[:, ::-1]  # of j and all after
    starts = [0]
    while True:
        first = starts[-1]
        after = first + 1
        cuts = np.flatnonzero(of_rest[first, after:])
        if not cuts.size:
            return tiers_from(starts, order)
        starts.append(after + int(cuts[0]))


def tiers_from(starts: list[int], order: np.ndarray) -> np.ndarray:
    """Return the tier of each arm from 1, shape (K,); `starts` are the places of first arms."""
    places = np.arange(len(order))
    tier = np.empty_like(places)
    tier[order] = np.searchsorted(starts, places, side="right")
    return tier


def _of_few(by_arm: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `_largest_differences` does, without compiled code."""
    away = by_arm[:, None] - by_arm
    below = np.minimum(away, 0)
    mean_square = np.square(below).mean(axis=2)
    sd = np.sqrt(2 * mean_square) + TINY
    down = -away / sd[..., None]
    up = away / sd.T[..., None]
    farthest = np.maximum(down, up)
    return sd, down.max(axis=1), farthest.max(axis=1)


@compiled(fastmath={"contract", "nnan", "nsz", "reassoc"})
def _largest_differences(by_arm: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return by arm and draw the largest standardised difference, of draws less their means.

    Standard deviations of the draws of i minus those of j below the mean (those above are of j
    minus i), shape (K, K); and for each arm and draw how many standard deviations the farthest of
    its differences is below its mean, and is on either side, shape (K, n_draws).
    """
    n_arms, n_draws = by_arm.shape
    sd = np.full((n_arms, n_arms), TINY)
    behind = np.zeros((n_arms, n_draws))
    either = np.zeros((n_arms, n_draws))
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            low = 0.0
            high = 0.0
            for d in range(n_draws):
                away = by_arm[i, d] - by_arm[j, d]
                square = away * away
                low += square if away < 0 else 0.0
                high += square if away > 0 else 0.0
            sd[i, j] += sqrt(2 * low / n_draws)
            sd[j, i] += sqrt(2 * high / n_draws)
            to_low = -1 / sd[i, j]
            to_high = 1 / sd[j, i]
            for d in range(n_draws):  # compared by "if", not by "max": several draws at a time
                away = by_arm[i, d] - by_arm[j, d]
                down = away * to_low
                up = away * to_high
                farthest = down if down > up else up
                behind_i = behind[i, d]
                behind_j = behind[j, d]
                either_i = either[i, d]
                either_j = either[j, d]
                behind[i, d] = down if down > behind_i else behind_i
                behind[j, d] = up if up > behind_j else behind_j
                either[i, d] = farthest if farthest > either_i else either_i
                either[j, d] = farthest if farthest > either_j else either_j
    return sd, behind, either
