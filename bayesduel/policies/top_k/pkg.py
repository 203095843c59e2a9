"""PKG: the pairwise knowledge gradient.

One more duel of (i, j) moves the scores of i and j by opposite amounts. Its value is the expected
increase of the sum of the k largest scores.

References
----------
After Groves & Branke, "Sequential sampling for optimal top-k selection with pairwise
comparisons", 2019 (derived anew, that paper's text not being at hand). Variances are taken
as known. With bounded outcomes it can neglect pairs whose next duel cannot change the set.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.margins.moments import is_warming_up, mean_scores, opening, sample_moments
from bayesduel.policies.top_k.aepcs import best_pair, log_unit_loss, taken_by_duel
from bayesduel.policies.top_k.settings import WarmUpSettings

__all__ = ["PKG", "log_gains"]


class Memory(NamedTuple):
    """The settings of PKG."""

    k: int
    warm_up: int
    shrinkage: float


@compiled
def select(margins, memory, t, rng):
    """Return the next pair: the warm-up in turn, then the pair with the largest gain."""
    n_arms = len(margins.n)
    if is_warming_up(t, memory.warm_up, n_arms):
        return opening(t, n_arms)
    moments = sample_moments(margins, memory.shrinkage)
    score = moments.mean.sum(axis=1)
    gain = log_gains(score, moments.variance, margins.n, memory.k)
    return best_pair(gain, rng)


@compiled
def log_gains(score, variance, n, k):
    """Return the log expected increase of the sum of the k largest scores, shape (K, K).

    score: shape (K,).
    variance: of one margin of each pair, shape (K, K).
    n: duels so far, shape (K, K); one more moves a mean by a standard deviation of ``sqrt(variance
        / (n (n + 1)))``.
    k: how many to select, in 1..K-1.
    """
    n_arms = len(score)
    order = np.argsort(-score)
    rank = np.empty(n_arms, np.int64)
    sums = np.zeros(n_arms + 1)
    for place in range(n_arms):
        rank[order[place]] = place
        sums[place + 1] = sums[place] + score[order[place]]
    gain = np.full((n_arms, n_arms), -np.inf)
    for i in range(n_arms):
        for j in range(i):
            s = np.sqrt(taken_by_duel(variance[i, j], n[i, j]))
            one = others(score, sums, rank, i, j, k - 1)
            fixed = -np.inf
            if k <= n_arms - 2:
                fixed = others(score, sums, rank, i, j, k)
            if k >= 2:
                beside = others(score, sums, rank, i, j, k - 2)
                both = beside + score[i] + score[j]
                fixed = max(fixed, both)
            x = one + score[i]
            y = one + score[j]
            if fixed >= (x + y) / 2:
                up = log_unit_loss(abs(fixed - x) / s)
                down = log_unit_loss(abs(fixed - y) / s)
                top = max(up, down)
                total = np.exp(up - top) + np.exp(down - top)
                worth = top + log(total)
            else:
                half_apart = abs(x - y) / 2
                worth = log(2.0) + log_unit_loss(half_apart / s)
            worth += log(s)
            gain[i, j] = worth
            gain[j, i] = worth
    return gain


@compiled
def others(score, sums, rank, i, j, m):
    """Return the sum of the m largest scores of the arms other than i and j."""
    if rank[i] > rank[j]:
        i, j = j, i
    reach = m
    left_out = 0.0
    if rank[i] < reach:
        reach += 1
        left_out += score[i]
    if rank[j] < reach:
        reach += 1
        left_out += score[j]
    return sums[reach] - left_out


@dataclass(frozen=True, kw_only=True)
class PKG(WarmUpSettings):
    """Pairwise knowledge gradient: the one-step gain in the expected sum of the k best scores."""

    select: ClassVar = staticmethod(select)
    scores: ClassVar = staticmethod(mean_scores)
    reference: ClassVar[str] = "Groves & Branke 2019, derived anew"
    guarantee: ClassVar[str] = "no guarantee is proved"

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        return Memory(self._places(n_arms), int(self.warm_up), float(self.shrinkage))
