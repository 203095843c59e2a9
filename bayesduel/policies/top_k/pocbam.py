"""POCBAm, ML-POCBAm and their hybrid: allocation by the probability of correct selection.

POCBAm uses the sample means of the margins, pair by pair. ML-POCBAm uses the model
``margin ~ N(gamma_i - gamma_j, sigma_ij^2)``, fitted again after every duel. The hybrid compares
the two before each duel (``intransitivity``) and uses the model while they agree.

References
----------
Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits", Algorithms 1 to 3. Deviations: a floor under every pair's variance (1e-6 of the
pooled one), logarithms in place of products, ``index="predictive"`` (see ``intransitivity``); the
first fit starts from three places, of which the best optimum is kept (``best_scores``).
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.margins.moments import (
    best_scores,
    fitted_moments,
    gap,
    is_warming_up,
    opening,
    sample_moments,
    spreads,
)
from bayesduel.margins.update import Kept, nothing_kept
from bayesduel.policies.top_k.aepcs import best_pair_by_gain
from bayesduel.policies.top_k.hybrid_thresholds import null_thresholds
from bayesduel.policies.top_k.settings import WarmUpSettings
from bayesduel.system.arguments import real, shown_value

__all__ = ["HybridPOCBAm", "MLPOCBAm", "POCBAm"]


class Memory(NamedTuple):
    k: int
    warm_up: int
    shrinkage: float
    # The model is used while the index is below it: -inf never, inf always, nan: see `thresholds`.
    threshold: float
    posterior: bool  # which index
    thresholds: np.ndarray  # log duels per pair, and the threshold there; shape (2, m)
    fitted: np.ndarray  # scores last fitted, from which the next fit starts, shape (K,)
    started: np.ndarray  # whether there are any, shape (1,)
    kept: Kept  # what else is kept of the last fit


@compiled
def select(margins, memory, t, rng):
    """Return the next pair: the warm-up in turn, then the pair with the largest gain."""
    n_arms = len(memory.fitted)
    if is_warming_up(t, memory.warm_up, n_arms):
        return opening(t, n_arms)
    mu, spread, variance = laws(margins, memory)
    return best_pair_by_gain(mu, spread, variance, margins.n, memory.k, rng)


@compiled
def scores(margins, memory):
    """Return the scores by which the k best are chosen, shape (K,)."""
    mu, _, _ = laws(margins, memory)
    return mu


@compiled
def laws(margins, memory):
    """Return means and variances of scores, and variances of margins, by model or sample."""
    moments = sample_moments(margins, memory.shrinkage)
    mu = moments.mean.sum(axis=1)
    variance = moments.variance
    if memory.threshold == -np.inf:
        return mu, spreads(variance, margins.n), variance
    if not memory.started[0]:
        memory.fitted[:] = best_scores(margins, moments)
        memory.started[0] = True
    fitted = fitted_moments(margins, moments, memory.fitted, memory.kept)
    n_arms = len(mu)
    mu_fitted = n_arms * memory.fitted
    if memory.threshold != np.inf:
        threshold = memory.threshold
        if np.isnan(threshold):
            a_pair = 2 * margins.n_duels[0] / (n_arms * (n_arms - 1))
            known = memory.thresholds
            threshold = np.interp(np.log(a_pair), known[0], known[1])
        index = gap(mu, variance, mu_fitted, fitted, margins.n, memory.posterior)
        if not index < threshold:
            return mu, spreads(variance, margins.n), variance
    return mu_fitted, spreads(fitted, margins.n), fitted


@dataclass(frozen=True, kw_only=True)
class POCBAm(WarmUpSettings):
    """POCBAm: allocation by the sample means and variances of every pair.

    As printed, the warm-up is of 3 duels per pair and the shrinkage 0.
    """

    select: ClassVar = staticmethod(select)
    scores: ClassVar = staticmethod(scores)
    reference: ClassVar[str] = "Groves & Branke, top-k selection with score-based dueling bandits"
    guarantee: ClassVar[str] = "no guarantee is proved"
    _threshold: ClassVar[float] = -np.inf  # the model is never used

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        return Memory(
            k=self._places(n_arms),
            warm_up=int(self.warm_up),
            shrinkage=float(self.shrinkage),
            threshold=self._threshold,
            posterior=False,
            thresholds=np.zeros((2, 1)),
            fitted=np.zeros(n_arms),
            started=np.zeros(1, np.bool_),
            kept=nothing_kept(n_arms),
        )


@dataclass(frozen=True, kw_only=True)
class MLPOCBAm(POCBAm):
    """ML-POCBAm: allocation by fitted scores and variances, fitted again after every duel."""

    _threshold: ClassVar[float] = np.inf  # the model is always used


@dataclass(frozen=True, kw_only=True)
class HybridPOCBAm(POCBAm):
    """Hybrid: the model while the intransitivity index is below a threshold, else sample means.

    Parameters
    ----------
    threshold
        The model is used while the index is below it; 0.17 as printed. "calibrated": below
        what it is in 95 of 100 logs under a true model with as many duels per pair (simulated
        once by number of arms, with spreads from U[0, 1]).
    index
        "predictive" (for which 0.17 is meant) or "posterior": see :func:`intransitivity`.
    """

    threshold: float | Literal["calibrated"] = 0.17
    index: Literal["predictive", "posterior"] = "predictive"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.threshold, str):
            real(self.threshold, "threshold")
        if self.threshold != "calibrated" and not (
            isinstance(self.threshold, float | int) and 0 <= self.threshold <= 1
        ):
            raise ValueError(
                f"threshold should be in [0, 1] or 'calibrated', got {shown_value(self.threshold)}"
            )

    def init(self, n_arms: int) -> Memory:
        memory = super().init(n_arms)
        posterior = self.index == "posterior"
        if self.threshold == "calibrated":
            table = null_thresholds(n_arms, posterior, float(self.shrinkage)).copy()
            return memory._replace(threshold=np.nan, posterior=posterior, thresholds=table)
        return memory._replace(threshold=float(self.threshold), posterior=posterior)
