"""Settings shared by the policies that select the k best arms, and their checks."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from bayesduel.policies.policy import MarginPolicy

__all__ = ["PlacesSettings", "WarmUpSettings"]


@dataclass(frozen=True, kw_only=True)
class PlacesSettings(MarginPolicy):
    """The number of arms to select.

    Parameters
    ----------
    k
        How many arms to select. Default: the experiment's.
    """

    k: int | None = None
    ranges: ClassVar = {"k": "at least 1"}

    def on_margins(self, k: int, budget: int) -> Self:
        """Return the policy with this k, if it has none."""
        if self.k not in (None, k):
            raise ValueError(f"policies should select k = {k} arms, got {self!r}")
        return replace(self, k=k)

    def _places(self, n_arms: int) -> int:
        """Return `k`, or raise ValueError if it is not known, or not below `n_arms`."""
        if self.k is None:
            raise ValueError("k should be given outside a simulation, got None")
        if not self.k < n_arms:
            raise ValueError(f"k should be from 1 to {n_arms - 1}, got {self.k}")
        return int(self.k)


@dataclass(frozen=True, kw_only=True)
class WarmUpSettings(PlacesSettings):
    """The number of arms to select, the warm-up and the pooling of variances.

    Parameters
    ----------
    warm_up
        Duels of every pair first, at least 2.
    shrinkage
        How many duels the pooled variance counts for in every pair's.
    """

    warm_up: int = 3
    shrinkage: float = 0.0
    ranges: ClassVar = {"warm_up": "at least 2", "shrinkage": ">= 0"}

    def opening(self, n_arms: int) -> int:
        """Return how many duels the warm-up takes."""
        return self.warm_up * n_arms * (n_arms - 1) // 2
