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
from bayesduel.margins.moments import mean_scores, opening, sample_moments
from bayesduel.policies.top_k.aepcs import best_pair, log_unit_loss
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
    if t <= memory.warm_up * n_arms * (n_arms - 1) // 2:
        return opening(t, n_arms)
    mean, _, variance, _, _ = sample_moments(margins, memory.shrinkage)
    return best_pair(log_gains(mean.sum(axis=1), variance, margins.n, memory.k), rng)


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
            s = np.sqrt(variance[i, j] / (n[i, j] * (n[i, j] + 1)))
            one = others(score, sums, rank, i, j, k - 1)
            fixed = -np.inf
            if k <= n_arms - 2:
                fixed = others(score, sums, rank, i, j, k)
            if k >= 2:
                both = others(score, sums, rank, i, j, k - 2) + score[i] + score[j]
                fixed = max(fixed, both)
            x = one + score[i]
            y = one + score[j]
            if fixed >= (x + y) / 2:
                up = log_unit_loss(abs(fixed - x) / s)
                down = log_unit_loss(abs(fixed - y) / s)
                top = max(up, down)
                worth = top + log(np.exp(up - top) + np.exp(down - top))
            else:
                worth = log(2.0) + log_unit_loss(abs(x - y) / 2 / s)
            gain[i, j] = gain[j, i] = worth + log(s)
    return gain


@compiled
def others(score, sums, rank, i, j, m):
    """Return the sum of the m largest scores of the arms other than i and j."""
    first = min(rank[i], rank[j])
    second = max(rank[i], rank[j])
    upper, lower = (i, j) if rank[i] < rank[j] else (j, i)
    reach = m
    left_out = 0.0
    if first < reach:
        reach += 1
        left_out += score[upper]
    if second < reach:
        reach += 1
        left_out += score[lower]
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
