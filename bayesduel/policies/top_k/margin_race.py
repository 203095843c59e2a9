"""Preference-based racing (PBR) on score duels, by mean margins.

Every round duels each pair of an undecided arm once. An arm's score is the mean of its mean
margins (the Borda score, where margins are wins less 1/2), its radius the mean of its pairs'
radii; arms whose interval is clear of enough others are selected or discarded. Reached
through ``PBR(criterion="borda")``, which says what the settings are.

References
----------
Busa-Fekete, Szörényi, Weng, Cheng & Hüllermeier, "Top-k Selection based on Adaptive Sampling
of Noisy Preferences", ICML 2013, Algorithms 1 and 3; Maurer & Pontil, COLT 2009, Theorem 4
(empirical Bernstein). Deviations: margins in place of wins, whose range is taken as twice the
pooled standard deviation of a margin, as it is for wins and losses of equal arms; at a fixed
budget the best means fill the places still open.
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.margins.moments import sample_moments
from bayesduel.policies.identification import take_pair
from bayesduel.policies.policy import MarginPolicy

__all__ = ["MarginRace", "radii"]


class Memory(NamedTuple):
    k: int
    budget: float  # minus the log of the failure probability of an interval
    cap: float  # duels per pair at most
    bernstein: bool  # whether the bound is Bernstein's
    # Pairs still to duel in this round, first index below the second, shape (K, K).
    current: np.ndarray
    place: np.ndarray  # 1 among the k best, -1 not, 0 undecided; shape (K,)


@compiled
def select(margins, memory, t, rng):
    """Return the next pair of the round; (-1, -1) once the race is over."""
    if not memory.current.any():
        end_round(margins, memory)
    return take_pair(memory.current)


@compiled
def radii(margins, budget, bernstein):
    """Return each pair's mean margin and its radius, shape (K, K) each.

    Hoeffding's radius is ``s sqrt(2 budget / n)``, s the pooled standard deviation (1/2 for
    wins and losses of equal arms); the empirical Bernstein one, with ``L = budget + ln 2``,
    ``sqrt(2 v L / n) + 14 s L / (3 (n - 1))``, v the pair's own variance. Infinite for a pair
    that never met (under Bernstein: that met once).
    """
    moments = sample_moments(margins, 0.0)
    n_arms = len(moments.mean)
    sd = sqrt(max(moments.pooled, moments.floor))
    level = budget + log(2.0)
    radius = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(n_arms):
            n = margins.n[i, j]
            if i == j:
                continue
            if n < 1 + bernstein:
                radius[i, j] = inf
            elif bernstein:
                of_variance = sqrt(2 * moments.variance[i, j] * level / n)
                of_range = 14 * sd * level / (3 * (n - 1))
                radius[i, j] = of_variance + of_range
            else:
                radius[i, j] = sd * sqrt(2 * budget / n)
    return moments.mean, radius


@compiled
def end_round(margins, memory):
    """Select and discard the decided arms, and list the pairs of the next round."""
    n_arms = len(memory.place)
    if margins.n_duels[0] < n_arms * (n_arms - 1):
        every_pair = np.ones((n_arms, n_arms), np.bool_)
        memory.current[:] = np.triu(every_pair, 1)
        return  # Two rounds first: no variance is known before.
    mean, radius = radii(margins, memory.budget, memory.bernstein)
    low = (mean - radius).sum(axis=1)
    high = (mean + radius).sum(axis=1)
    for i in range(n_arms):
        if (high < low[i]).sum() >= n_arms - memory.k:
            memory.place[i] = 1
        elif (low > high[i]).sum() >= memory.k:
            memory.place[i] = -1
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            open_pair = memory.place[i] == 0 or memory.place[j] == 0
            below_cap = margins.n[i, j] < memory.cap
            memory.current[i, j] = open_pair and below_cap


@compiled
def scores(margins, memory):
    """Return sums of mean margins, the decided arms above and below all others, shape (K,)."""
    mean = sample_moments(margins, 0.0).mean.sum(axis=1)
    return mean + 2 * (np.abs(mean).max() + 1) * memory.place


@dataclass(frozen=True, kw_only=True)
class MarginRace(MarginPolicy):
    """Racing on margins for the k best arms, with the settings of ``PBR``."""

    k: int
    horizon: float
    delta: float
    cap: float
    bernstein: bool
    select: ClassVar = staticmethod(select)
    scores: ClassVar = staticmethod(scores)
    reference: ClassVar[str] = "Busa-Fekete et al., ICML 2013, Algorithms 1 and 3"
    guarantee: ClassVar[str] = (
        "correct with probability 1 - delta if margins have the assumed range"
    )

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        return Memory(
            k=int(self.k),
            budget=log(2 * n_arms**2 * self.cap / self.delta),
            cap=float(self.cap),
            bernstein=bool(self.bernstein),
            current=np.triu(np.ones((n_arms, n_arms), np.bool_), 1),
            place=np.zeros(n_arms, np.int64),
        )
