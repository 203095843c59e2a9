"""Allocation on the covariance of the fitted scores: what the model says a duel teaches.

Under ``margin ~ N(gamma_i - gamma_j, sigma_ij^2)`` the scores' covariance is the inverse of
the weighted graph Laplacian, and one more duel of (i, j) changes all of it, by a rank-one
update: what is learned of i and j is learned of everybody they met. ML-POCBAm, whose
variances are sums of the pairs' own, does not see this.

The criterion is the chance that no arm left out beats an arm taken, as if their differences
were independent; a duel's promise is its first-order rise of that chance's logarithm.

References
----------
None: ours. The threshold and the promise replace those of Groves & Branke (``promise``).
"""

from dataclasses import dataclass
from math import exp, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesduel.compiling import compiled
from bayesduel.selection.accounts import fitted_account, opening, sample_account
from bayesduel.selection.promise import best_pair, log_normal_cdf
from bayesduel.selection.settings import WarmUpSettings

__all__ = ["LaplaceAllocation"]


class Memory(NamedTuple):
    """Settings, and the scores last fitted, from which the next fit starts, shape (K,)."""

    k: int
    warm_up: int
    shrinkage: float
    fitted: np.ndarray
    started: np.ndarray


@dataclass(frozen=True, kw_only=True)
class LaplaceAllocation(WarmUpSettings):
    """Duel the pair that most sharpens the differences on which the choice hangs.

    It trusts the model, and more than uniform duels do: where margins are not differences of
    scores, even by little, it errs more than either, and the hybrid or sample means serve
    better (``examples/topk_perturbed.py``).

    Parameters
    ----------
    k
        How many arms to select. Default: the experiment's.
    warm_up
        Duels of every pair first, at least 2.
    shrinkage
        How many duels the pooled variance counts for in every pair's.

    Raises
    ------
    ValueError
        If a setting is out of its range.
    """

    source: ClassVar[str] = "ours"

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel.

        Raises
        ------
        ValueError
            If `k` is not known, or not below `n_arms`.
        """
        k = self._places(n_arms)
        start = np.zeros(n_arms)
        return Memory(k, int(self.warm_up), float(self.shrinkage), start, start[:1] != 0)

    @property
    def select(self) -> Any:
        """The compiled rule."""
        return select

    @property
    def scores(self) -> Any:
        """The compiled scores by which the k best are chosen."""
        return scores


@compiled
def select(margins, memory, t, rng):
    """Name the next pair: the warm-up in turn, then the one that promises most."""
    n_arms = len(memory.fitted)
    if t <= memory.warm_up * n_arms * (n_arms - 1) // 2:
        return opening(t, n_arms)
    variance = refit(margins, memory)
    covariance = score_covariance(margins.n, variance)
    return best_pair(promises(memory.fitted, covariance, variance, memory.k), rng)


@compiled
def scores(margins, memory):
    """Return K times the fitted scores, shape (K,)."""
    refit(margins, memory)
    return len(memory.fitted) * memory.fitted


@compiled
def refit(margins, memory):
    """Fit again from the last fit; return the fitted variances, shape (K, K)."""
    mean, scatter, _, pooled, floor = sample_account(margins, memory.shrinkage)
    if not memory.started[0]:
        memory.fitted[:] = mean.sum(axis=1) / len(mean)
        memory.started[0] = True
    return fitted_account(margins, memory.shrinkage, mean, scatter, pooled, floor, memory.fitted)


@compiled
def score_covariance(n, variance):
    """Return the covariance of the scores given the variances, the first held at 0, (K, K)."""
    n_arms = len(n)
    size = n_arms - 1
    inverse = np.zeros((size, size))
    for i in range(n_arms):
        for j in range(i):
            if n[i, j] > 0:
                w = n[i, j] / variance[i, j]
                inverse[i - 1, i - 1] += w
                if j > 0:
                    inverse[j - 1, j - 1] += w
                    inverse[i - 1, j - 1] -= w
                    inverse[j - 1, i - 1] -= w
    for k in range(size):  # Gauss-Jordan in place; the matrix is positive
        pivot = 1 / inverse[k, k]
        inverse[k, k] = 1.0
        for j in range(size):
            inverse[k, j] *= pivot
        for i in range(size):
            if i != k:
                by = inverse[i, k]
                inverse[i, k] = 0.0
                for j in range(size):
                    inverse[i, j] -= by * inverse[k, j]
    covariance = np.zeros((n_arms, n_arms))
    covariance[1:, 1:] = inverse
    return covariance


@compiled
def promises(score, covariance, variance, k):
    """Return the first-order rise of ln of the chance by pair, up to a factor, shape (K, K).

    One more duel of (i, j) takes ``(c_i - c_j)^2 w / (1 + w v_ij)`` from the variance of each
    difference, c the row of the covariance, v_ij the variance of i's lead over j, w the
    duel's precision. The slopes of the logarithms by the variances form a Laplacian; they are
    scaled by the largest, so that none underflows where all are small.
    """
    n_arms = len(score)
    order = np.argsort(-score)
    lead = np.zeros((n_arms, n_arms))
    steep = np.zeros((n_arms, n_arms))
    largest = -np.inf
    for top in range(k):
        for low in range(k, n_arms):
            p, q = order[top], order[low]
            v = covariance[p, p] + covariance[q, q] - 2 * covariance[p, q]
            z = (score[p] - score[q]) / sqrt(v)
            lead[p, q] = z / v
            steep[p, q] = -0.5 * z * z - log_normal_cdf(z)
            largest = max(largest, steep[p, q])
    slope = np.zeros((n_arms, n_arms))
    for top in range(k):
        for low in range(k, n_arms):
            p, q = order[top], order[low]
            g = lead[p, q] * exp(steep[p, q] - largest)
            slope[p, q] -= g
            slope[q, p] -= g
            slope[p, p] += g
            slope[q, q] += g
    seen = covariance @ slope @ covariance
    gain = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(i):
            v = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
            rise = seen[i, i] + seen[j, j] - 2 * seen[i, j]
            gain[i, j] = gain[j, i] = rise / (variance[i, j] + v)
    return gain
