"""Allocation on the covariance of the fitted scores: what the model says a duel teaches.

Under ``margin ~ N(gamma_i - gamma_j, sigma_ij^2)`` the scores' covariance is the inverse of
the weighted graph Laplacian, and one more duel of (i, j) changes all of it, by a rank-one
update: what is learned of i and j is learned of everybody they met. ML-POCBAm, whose
variances are sums of the pairs' own, does not see this.

References
----------
None: ours. The threshold and the promise replace those of Groves & Branke (``promise``).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs.margin_moments import followed_account, opening, sample_account
from bayesduel.beliefs.margin_update import Kept, nothing_kept
from bayesduel.jit import compiled
from bayesduel.policies.top_k import laplace_residual as wary
from bayesduel.policies.top_k.aepcs import best_pair
from bayesduel.policies.top_k.score_covariance import promises, score_covariance
from bayesduel.policies.top_k.settings import WarmUpSettings

__all__ = ["LaplaceAllocation"]


class Memory(NamedTuple):
    """Settings, and the scores last fitted, from which the next fit starts, shape (K,).

    `started` says whether there are any; `kept` is what else is kept of that fit.
    """

    k: int
    warm_up: int
    shrinkage: float
    fitted: np.ndarray
    started: np.ndarray
    kept: Kept


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
    return followed_account(
        margins, memory.shrinkage, mean, scatter, pooled, floor, memory.fitted, memory.kept
    )


@dataclass(frozen=True, kw_only=True)
class LaplaceAllocation(WarmUpSettings):
    """Duel the pair that most sharpens the differences on which the choice hangs.

    As it stands it trusts the model, and more than uniform duels do: where margins are not
    differences of scores, even by little, it errs more than either. With
    ``residual="learned"`` it learns how far they are from it: where the model is true it pays
    for that with some of its lead, elsewhere it errs no more than sample means do
    (``examples/topk_perturbed.py``).

    Parameters
    ----------
    k
        How many arms to select. Default: the experiment's.
    warm_up
        Duels of every pair first, at least 2.
    shrinkage
        How many duels the pooled variance counts for in every pair's.
    residual
        How far the mean margins are taken to be from differences of scores: "none", or
        "learned" as duels come in.

    Raises
    ------
    ValueError
        If a setting is out of its range.
    """

    residual: Literal["none", "learned"] = "none"
    reference: ClassVar[str] = "ours"
    guarantee: ClassVar[str] = "none proved"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.residual not in ("none", "learned"):
            raise ValueError(f"residual should be 'none' or 'learned', got {self.residual!r}")

    def init(self, n_arms: int) -> Any:
        """Return the memory before the first duel.

        Raises
        ------
        ValueError
            If `k` is not known, or not below `n_arms`.
        """
        given = (self._places(n_arms), int(self.warm_up), float(self.shrinkage))
        if self.residual == "learned":
            return wary.remember(n_arms, *given)
        return Memory(*given, np.zeros(n_arms), np.zeros(1, np.bool_), nothing_kept(n_arms))

    @property
    def select(self) -> Any:
        """The compiled rule."""
        return wary.select if self.residual == "learned" else select

    @property
    def scores(self) -> Any:
        """The compiled scores by which the k best are chosen."""
        return wary.scores if self.residual == "learned" else scores
