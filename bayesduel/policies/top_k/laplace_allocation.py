"""Allocation by the covariance of the fitted scores.

Under ``margin ~ N(gamma_i - gamma_j, sigma_ij^2)`` the scores' covariance is the inverse of
the weighted graph Laplacian, and one more duel of (i, j) changes all of it by a rank-one update:
a duel of i and j also informs about their other opponents. ML-POCBAm, whose variances are sums
over pairs, does not use this.

References
----------
None: ours. The criterion of ``score_covariance`` replaces that of Groves & Branke (``aepcs``).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.margins.moments import fitted_moments, is_warming_up, opening, sample_moments
from bayesduel.margins.update import Kept, nothing_kept
from bayesduel.policies.top_k import laplace_residual
from bayesduel.policies.top_k.aepcs import best_pair
from bayesduel.policies.top_k.score_covariance import choice_gains, score_covariance
from bayesduel.policies.top_k.settings import WarmUpSettings

__all__ = ["LaplaceAllocation"]


class Memory(NamedTuple):
    """Settings, and the last fitted scores, from which the next fit starts, shape (K,).

    `started` is whether there are any; `kept` is the rest of the state of that fit.
    """

    k: int
    warm_up: int
    shrinkage: float
    fitted: np.ndarray
    started: np.ndarray
    kept: Kept


@compiled
def select(margins, memory, t, rng):
    """Return the next pair: the warm-up in turn, then the pair with the largest gain."""
    n_arms = len(memory.fitted)
    if is_warming_up(t, memory.warm_up, n_arms):
        return opening(t, n_arms)
    variance = refit(margins, memory)
    covariance = score_covariance(margins.n, variance)
    return best_pair(choice_gains(memory.fitted, covariance, variance, memory.k), rng)


@compiled
def scores(margins, memory):
    """Return K times the fitted scores, shape (K,)."""
    refit(margins, memory)
    return len(memory.fitted) * memory.fitted


@compiled
def refit(margins, memory):
    """Fit again from the last fit; return the fitted variances, shape (K, K)."""
    moments = sample_moments(margins, memory.shrinkage)
    if not memory.started[0]:
        mean = moments.mean
        memory.fitted[:] = mean.sum(axis=1) / len(mean)
        memory.started[0] = True
    return fitted_moments(margins, moments, memory.fitted, memory.kept)


@dataclass(frozen=True, kw_only=True)
class LaplaceAllocation(WarmUpSettings):
    """Duel the pair that most reduces the uncertainty of the selection.

    By default it relies on the model: where mean margins deviate from differences of scores, even
    by little, it errs more often than uniform duels with the model or with sample means. With
    ``residual="learned"`` it estimates the deviation: where the model is true this costs some of
    its advantage, elsewhere it errs no more often than sample means
    (``examples/topk_perturbed.py``).

    Parameters
    ----------
    residual
        The assumed deviation of mean margins from differences of scores: "none", or "learned"
        from the duels.
    """

    residual: Literal["none", "learned"] = "none"
    reference: ClassVar[str] = "ours"
    guarantee: ClassVar[str] = "no guarantee is proved"

    def init(self, n_arms: int) -> Any:
        """Return the memory before the first duel."""
        given = (self._places(n_arms), int(self.warm_up), float(self.shrinkage))
        if self.residual == "learned":
            return laplace_residual.initial_memory(n_arms, *given)
        return Memory(*given, np.zeros(n_arms), np.zeros(1, np.bool_), nothing_kept(n_arms))

    @property
    def select(self) -> Any:
        """The compiled rule."""
        return laplace_residual.select if self.residual == "learned" else select

    @property
    def scores(self) -> Any:
        """The compiled scores by which the k best are chosen."""
        return laplace_residual.scores if self.residual == "learned" else scores
