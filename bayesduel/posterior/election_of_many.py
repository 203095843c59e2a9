"""Borda scores, tiers and rank ranges of many arms, without a table of arm by arm.

For models whose criteria agree: the larger score wins by each, and the win probability of two arms
is a function of the difference of their scores. A Borda score is then the value of one curve for
each draw, the mean of that function over all arms, which is evaluated on a grid. Which arms are
surely apart is decided by normal bounds: two scores are apart where their difference is at least
`c` times ``sqrt(V_i + V_j)``, with Bonferroni's `c` for all opponents of an arm. Scores that share
opponents are positively correlated, so that the bound is on the safe side.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from bayesduel.intervals import eti
from bayesduel.posterior.draws import ARMS_AT_ONCE, Draws, chunks
from bayesduel.posterior.election import PairSummary, pair_summary
from bayesduel.posterior.separation import tiers_from
from bayesduel.system.threads import side_by_side

__all__ = ["OpponentsOfMany", "borda_of_many", "interval_by_arm", "tiers_of_many"]

GRID = 2048  # points of the curve of Borda scores


@dataclass(frozen=True, eq=False)
class OpponentsOfMany:
    """The posterior of the pairs of one arm or another, made where they are asked for."""

    draws: Draws  # draws of the scores
    prob: float  # what intervals hold
    # Borda scores of all draws, shape (draws, K); (0, K) where only a verdict is asked for
    borda: np.ndarray

    @property
    def n_draws(self) -> int:
        """How many draws are used."""
        return self.draws.n_draws

    def nearest(self, arm: int) -> int:
        """Return the opponent with the largest mean score."""
        score = self.draws.score
        assert score is not None
        mean = score.mean(axis=0, dtype=float)
        mean[arm] = -np.inf
        return int(mean.argmax())

    def between(self, arms: np.ndarray) -> PairSummary:
        """Return the posterior of the pairs of a few arms."""
        few = self.draws.among(arms)
        return pair_summary(few, self.prob)


def interval_by_arm(values: np.ndarray, prob: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the equal-tailed interval of each column of draws (draws, K), some at a time."""
    n_arms = values.shape[1]
    ends = np.empty((2, n_arms), dtype=values.dtype)

    def fill(here: slice) -> None:
        by_arm = np.ascontiguousarray(values[:, here].T)
        ends[:, here] = eti(by_arm, prob)

    side_by_side(fill, chunks(n_arms, ARMS_AT_ONCE))
    return ends[0], ends[1]


def borda_of_many(draws: Draws) -> np.ndarray:
    """Return the Borda scores of all draws, (draws, K), by the curve of each."""
    from scipy.signal import fftconvolve  # it takes half a second to import

    score = draws.score
    assert score is not None
    n, n_arms = score.shape
    low = float(score.min())
    high = float(score.max())
    span = max(high - low, 1e-9)
    step = span / (GRID - 2)
    away = step * np.arange(1 - GRID, GRID)
    found = np.empty((n, n_arms), np.float32)
    # 4,000,000 draws x arms worked on at once
    for here in chunks(n, 4_000_000 // n_arms):
        scores = score[here]
        shape = (len(scores), len(away))
        eta = np.broadcast_to(away, shape)
        curves = draws.model.typical_score(eta, draws.rows(here))
        for k, win_curve in enumerate(curves):
            at = (scores[k] - low) / step
            # An arm counts at the grid's points below and above it, by how near they are.
            below = at.astype(np.int64)
            above = below + 1
            share = at - below
            rest = 1 - share
            arms = np.bincount(below, rest, GRID)
            arms += np.bincount(above, share, GRID)
            curve = fftconvolve(arms, win_curve, mode="valid")
            wins = curve[below] * rest + curve[above] * share
            borda = (wins - 0.5) / (n_arms - 1)
            found[here.start + k] = borda
    return found


def tiers_of_many(
    score: np.ndarray, order: np.ndarray, confidence: float
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return the tier of each arm and its best and worst rank, from 1.

    As `tiers` and `rank_range` of :mod:`bayesduel.posterior.separation`, by normal bounds.
    """
    n_arms = score.shape[1]
    mean = score.mean(axis=0, dtype=float)
    sd = np.empty(n_arms)
    for part in chunks(n_arms, ARMS_AT_ONCE):
        of_part = score[:, part]
        sd[part] = of_part.std(axis=0, dtype=float)
    error = 1 - confidence
    n_opponents = n_arms - 1
    two_sided = float(-ndtri(error / (2 * n_opponents)))
    best = 1 + _ahead(mean, sd, two_sided)
    worst = n_arms - _ahead(-mean, sd, two_sided)
    one_sided = float(-ndtri(error / n_opponents))
    placed = mean[order]
    spread = sd[order]
    starts = [0]
    while True:
        first = starts[-1]
        lead = placed[first] - placed
        needed = one_sided * np.hypot(spread, spread[first])
        close = np.flatnonzero(lead < needed)
        following = int(close[-1]) + 1  # the first arm is close to itself
        if following >= n_arms:
            break
        starts.append(following)
    return tiers_from(starts, order), (best, worst)


def _ahead(mean: np.ndarray, sd: np.ndarray, c: float) -> np.ndarray:
    """Return how many arms are surely ahead of each arm, (K,).

    Their means are larger by `c` times the standard deviation of the difference. Arms are grouped
    by their standard deviation, each taken as the largest of its group.
    """
    # Ratio of neighbouring standard deviations that are taken as one, the larger: 1.02
    log_sd = np.log(np.maximum(sd, 1e-12))
    group = np.floor(log_sd / np.log(1.02))
    count = np.zeros(len(mean), dtype=np.int64)
    for one in np.unique(group):
        inside = group == one
        largest = sd[inside].max()
        placed = np.sort(mean[inside])
        needed = mean + c * np.hypot(sd, largest)
        n_short = np.searchsorted(placed, needed, side="left")
        count += len(placed) - n_short
    return count
