"""What every policy has beside its rule, with the defaults that most policies share.

A simulation never asks what a policy can do: it reads these attributes and calls these
methods. ``setting`` says what the policy is for, ``shows`` how many arms or items it names in a
step.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from bayesduel.beliefs import Belief, BeliefSpec, Counts, Logistic
from bayesduel.beliefs.item_belief import ItemBelief, ItemSet
from bayesduel.policies.identification import Answer, best_by_shares

__all__ = ["HorizonPolicy", "ItemPolicy", "MarginPolicy", "PairPolicy", "Policy"]


class Policy:
    """Defaults of every policy."""

    def for_horizon(self, horizon: int) -> Self:
        """Return the policy with this horizon, if it needs one and has none."""
        return self

    def on_margins(self, k: int, budget: int) -> Any:
        """Return the policy that selects the k best arms from score duels.

        Raises
        ------
        TypeError
            If there is none.
        """
        raise TypeError(
            f"policies should be those of bayesduel.policies.top_k, Uniform or PBR, got {self!r}"
        )


class PairPolicy(Policy, ABC):
    """Defaults of a policy that names a pair of arms and learns who won.

    Attributes
    ----------
    belief
        The specification of the belief that its rule reads.
    select
        The compiled rule, ``select(belief, memory, t, rng) -> (i, j)``.
    reference, guarantee
        The paper, and what is proved, in one line each.
    setting
        "pairs".
    shows
        2.
    """

    belief: BeliefSpec
    select: ClassVar[Any]
    reference: ClassVar[str]
    guarantee: ClassVar[str]
    setting: ClassVar[str] = "pairs"
    shows: ClassVar[int] = 2

    @abstractmethod
    def init(self, n_arms: int) -> Any:
        """Return the memory before the first duel."""

    def recommend(self, belief: Belief, memory: Any) -> int:
        """Return the best arm so far: by default, the Copeland winner of the observed shares."""
        return best_by_shares(belief)

    def answer(self, memory: Any) -> Answer | None:
        """Return the identified winner and when, None for a policy that identifies none."""
        return None


class HorizonPolicy(PairPolicy):
    """Defaults of a policy that needs the horizon and identifies a winner."""

    horizon: float | None

    def for_horizon(self, horizon: int) -> Self:
        """Return the policy with this horizon, if it has none."""
        if self.horizon is not None:
            return self
        filled: Self = replace(cast(Any, self), horizon=horizon)
        return filled

    def answer(self, memory: Any) -> Answer | None:
        """Return the identified winner and when, -1 each until it is known."""
        found: Answer = memory.answer
        return found

    def known_horizon(self) -> float:
        """Return the horizon.

        Raises
        ------
        ValueError
            If it is not known.
        """
        if self.horizon is None:
            raise ValueError("horizon should be given where no simulation gives it, got None")
        return self.horizon

    def check_horizon(self, delta: float | None = None) -> None:
        """Raise ValueError if the horizon is below 1, or `delta` not between 0 and 1."""
        if self.horizon is not None and not self.horizon >= 1:
            raise ValueError(f"horizon should be at least 1, got {self.horizon}")
        if delta is not None and not 0 < delta < 1:
            raise ValueError(f"delta should be in (0, 1), got {delta}")


class ItemPolicy(Policy, ABC):
    """Defaults of a policy that shows items with attributes, one or two at a time.

    Attributes
    ----------
    belief, select, reference, guarantee
        As for ``PairPolicy``; the rule returns one index where one item is shown.
    setting
        "items".
    shows
        1, of which the policy learns whether it was rewarded; or 2, of which it learns which
        one was preferred.
    """

    belief: Counts | Logistic
    select: ClassVar[Any]
    reference: ClassVar[str]
    guarantee: ClassVar[str]
    setting: ClassVar[str] = "items"
    shows: ClassVar[int] = 1

    @abstractmethod
    def init(self, items: ItemSet) -> Any:
        """Return the memory before the first pull."""

    @abstractmethod
    def recommend(self, belief: ItemBelief, memory: Any) -> int | np.ndarray:
        """Return the best item so far; on a sphere, its unit vector."""

    def bound(self, times: np.ndarray, items: ItemSet) -> np.ndarray | None:
        """Return the growing part of a proved regret bound at `times`, or None."""
        return None


class MarginPolicy(Policy):
    """Defaults of a policy that selects the k best arms from the margins of score duels.

    It has two compiled functions, the rule ``select(margins, memory, t, rng) -> (i, j)`` and
    ``scores(margins, memory)``, by which the k best are selected.

    Attributes
    ----------
    setting
        "margins".
    shows
        2.
    """

    setting: ClassVar[str] = "margins"
    shows: ClassVar[int] = 2

    def opening(self, n_arms: int) -> int:
        """Return the fewest duels from which it can select."""
        return 1

    def for_budget(self, budget: int) -> Self | None:
        """Return the policy to run for this budget, None if one run serves all budgets."""
        return None
