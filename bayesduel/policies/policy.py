"""What every policy has beside its rule, with the defaults that most policies share.

A simulation never asks what a policy can do: it reads these attributes and calls these
methods. ``setting`` says what the policy is for, ``shows`` how many arms or items it names in a
step.
"""

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, replace
from inspect import getattr_static
from math import isinf
from types import FunctionType
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np

from bayesduel.beliefs import (
    Belief,
    BeliefSpec,
    Hoeffding,
    require_sampling,
    require_scores,
    shares,
)
from bayesduel.beliefs.best_item import recommended
from bayesduel.beliefs.item_belief import Counts, ItemBelief, ItemSet, Logistic, paid_best
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, best_by_shares
from bayesduel.system.arguments import check_one_of, shown_value
from bayesduel.system.settings import Settings

__all__ = [
    "HorizonPolicy",
    "HorizonRule",
    "IdentificationPolicy",
    "ItemDuelPolicy",
    "ItemPolicy",
    "MarginPolicy",
    "PairPolicy",
    "Policy",
    "checked_cost",
    "once",
    "share_leader",
]

READS = ("bounds", "samples", "scores", "counts")  # what a rule may ask of its belief


class Policy(Settings):
    """Defaults of every policy.

    Attributes
    ----------
    rules
        Names of the compiled functions that a class has as static methods.
    """

    rules: ClassVar[tuple[str, ...]] = ("select",)

    def __post_init__(self) -> None:
        """Check the settings, and then the belief; a policy with checks of its own calls this."""
        super().__post_init__()
        own = type(self).__name__
        for name in self.rules:
            if not hasattr(type(self), name):
                raise TypeError(
                    f"{own} should have a compiled function {name!r}: define it above the class "
                    f"and write {name}: ClassVar = staticmethod({name}) in the class"
                )
            if isinstance(getattr_static(self, name), FunctionType):  # it would take self
                raise TypeError(
                    f"{own}.{name} should be a static method, without self: write @staticmethod "
                    f"above def {name}"
                )
        self.check_belief()

    def check_belief(self) -> None:
        """Raise unless the rule can use the belief; a policy of margins has none."""

    def for_horizon(self, horizon: int) -> Self:
        """Return the policy with this horizon, if it needs one and has none."""
        return self

    def on_margins(self, k: int, budget: int) -> Any:
        """Return the policy that selects the k best from score duels; raise TypeError if none."""
        raise TypeError(
            "policies should select k arms (those of bayesduel.policies.top_k, Uniform, PBR), "
            f"got {self!r}"
        )


@compiled
def once(belief, memory, t):
    """Return 1: the rule is asked before every duel."""
    return 1


@compiled
def share_leader(belief, memory):
    """Return the Copeland winner of the observed shares; of several, the first."""
    return np.argmax((shares(belief) > 0.5).sum(axis=1))


@dataclass(frozen=True, kw_only=True)
class PairPolicy(Policy, ABC):
    """Defaults of a policy that names a pair of arms and learns who won.

    Parameters
    ----------
    belief
        The belief that the rule reads: the default only, where it reads counts of wins alone.

    Attributes
    ----------
    reads
        What the rule asks of its belief: "bounds", "samples" (draws, and bounds where it has
        use for them), "scores" (their posterior) or "counts" (wins alone, so that the default
        is the only one it takes).
    select
        The compiled rule, ``select(belief, memory, t, rng) -> (i, j)``.
    repeats
        Compiled, ``repeats(belief, memory, t) -> n``: right after the rule named a pair at time
        t, it would name the same pair at the n times from t on, whatever their outcomes, and
        draw no random number. A simulation plays these n duels without asking; by default n = 1.
    leader
        Compiled, ``leader(belief, memory) -> i``: the arm that it would name as the best now, for
        policies that begin others anew; by default the Copeland winner of the observed shares.
    reference, guarantee
        The paper, and what is proved, in one line each.
    setting
        "pairs".
    shows
        2.

    Examples
    --------
    >>> rules = [bd.policies.RUCB(), bd.policies.Uniform()]  # each is a PairPolicy
    >>> trace = bd.simulate(rules, "mslr-5", horizon=50, seed=0)
    >>> bd.regret(trace).isel(time=-1).shape  # by policy and replication
    (2, 1)
    """

    belief: BeliefSpec = Hoeffding()
    reads: ClassVar[Literal["bounds", "samples", "scores", "counts"]] = "bounds"
    select: ClassVar[Any]
    repeats: ClassVar[Any] = staticmethod(once)
    leader: ClassVar[Any] = staticmethod(share_leader)
    reference: ClassVar[str]
    guarantee: ClassVar[str]
    setting: ClassVar[str] = "pairs"
    shows: ClassVar[int] = 2

    def check_belief(self) -> None:
        """Raise TypeError unless it is a belief, and ValueError unless the rule can use it."""
        name = type(self).__name__
        own = type(self).__dataclass_fields__["belief"]
        default = own.default if own.default_factory is MISSING else own.default_factory()
        if not isinstance(self.belief, BeliefSpec):
            raise TypeError(
                f"belief of {name} should be a belief of bayesduel.beliefs, such as {default!r}, "
                f"got {shown_value(self.belief)}"
            )
        check_one_of(self.reads, f"reads of {name}", READS)
        if self.reads == "samples":
            require_sampling(self, self.belief)
        if self.reads == "scores":
            require_scores(self, self.belief)
        if self.reads == "counts" and self.belief != default:
            raise ValueError(
                f"belief of {name} should be {default!r}, because it reads only counts of wins, "
                f"got {shown_value(self.belief)}"
            )

    @abstractmethod
    def init(self, n_arms: int) -> Any:
        """Return the memory before the first duel."""

    def with_cost(self, cost: tuple[tuple[float, ...], ...] | None) -> Self:
        """Return the policy with this cost of each pair, infinite where it is forbidden.

        `cost` is nested tuples, shape (K, K), or None where each pair costs 1; it is refused with a
        ValueError if the rule cannot leave pairs out.
        """
        if cost is None:
            return self
        raise ValueError(
            "policy should be able to leave pairs out, such as ContrastAllocation() or Uniform(), "
            f"got {type(self).__name__}()"
        )

    def recommend(self, belief: Belief, memory: Any) -> int:
        """Return the best arm so far: by default, the Copeland winner of the observed shares."""
        return best_by_shares(belief)

    def answer(self, memory: Any) -> Answer | None:
        """Return the identified winner and when, -1 each until it is known.

        None for a policy that identifies none: its memory has no `answer`.
        """
        return getattr(memory, "answer", None)


def checked_cost(cost: tuple[tuple[float, ...], ...] | None, n_arms: int) -> np.ndarray:
    """Return the cost of each pair, shape (K, K), infinite on the diagonal; 1 each by default.

    Raises
    ------
    ValueError
        If it is not positive and symmetric, or finite for no pair.
    """
    found = np.ones((n_arms, n_arms)) if cost is None else np.array(cost, float)
    if found.shape != (n_arms, n_arms) or not (found > 0).all() or (found != found.T).any():
        raise ValueError(f"cost should be positive and symmetric, shape ({n_arms}, {n_arms})")
    np.fill_diagonal(found, np.inf)
    if not np.isfinite(found).any():
        raise ValueError("cost should be finite for at least one pair")
    return found


class HorizonRule(Policy):
    """Defaults of a policy, of pairs or of items, that needs the horizon.

    Parameters
    ----------
    horizon
        Total number of duels. Default: the simulation's.
    """

    horizon: float | None
    finite: ClassVar[bool] = False  # whether the horizon has to be
    ranges: ClassVar = {"horizon": "at least 1"}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if self.finite and self.horizon is not None and isinf(self.horizon):
            raise ValueError(f"horizon should be finite, got {self.horizon}")

    def for_horizon(self, horizon: int) -> Self:
        """Return the policy with this horizon, if it has none."""
        if self.horizon is not None:
            return self
        filled: Self = replace(cast(Any, self), horizon=horizon)
        return filled

    def known_horizon(self) -> float:
        """Return the horizon; raise ValueError if it is not known."""
        if self.horizon is None:
            raise ValueError("horizon should be given outside a simulation, got None")
        return self.horizon


class HorizonPolicy(HorizonRule, PairPolicy):
    """Defaults of a policy of pairs that needs the horizon.

    Parameters
    ----------
    delta
        Probability of a wrong answer. Default: 1 / horizon.
    """

    delta: float | None
    ranges: ClassVar = {"delta": "in (0, 1)"}

    def known_delta(self) -> float:
        """Return delta, below 1; raise ValueError if it follows from no finite horizon."""
        if self.delta is None and isinf(self.known_horizon()):
            raise ValueError("delta should be given when horizon is infinite, got None")
        return min(float(self.delta or 1 / self.known_horizon()), 1 - 1e-16)


@dataclass(frozen=True, kw_only=True)
class IdentificationPolicy(HorizonPolicy):
    """Defaults of a policy that identifies a winner by counts of wins, and then exploits it."""

    horizon: float | None = None
    delta: float | None = None
    reads: ClassVar = "counts"


class ItemPolicy(Policy, ABC):
    """Defaults of a policy that shows items with attributes, one or two at a time.

    Parameters
    ----------
    belief
        ``Logistic()``, the posterior of the preference vector, or ``Counts()`` of pulls and
        rewards, whichever the rule reads.

    Attributes
    ----------
    select, reference, guarantee
        As for ``PairPolicy``; the rule returns one index where one item is shown.
    reads
        The class of belief that the rule reads, ``Counts`` or ``Logistic``.
    setting
        "items".
    shows
        1, of which the policy learns whether it was rewarded; or 2, of which it learns which
        one was preferred.

    Examples
    --------
    >>> trace = bd.simulate(bd.policies.ItemPolicy(), "logistic-items", horizon=50, seed=0)
    >>> bd.regret(trace).isel(time=-1).shape  # by policy and replication
    (1, 1)
    """

    belief: Counts | Logistic
    reads: ClassVar[type[Counts] | type[Logistic]] = Logistic
    select: ClassVar[Any]
    reference: ClassVar[str]
    guarantee: ClassVar[str]
    setting: ClassVar[str] = "items"
    shows: ClassVar[int] = 1

    def check_belief(self) -> None:
        """Raise TypeError unless it is a belief of items, ValueError if the rule reads another."""
        if not isinstance(self.belief, self.reads):
            wrong = ValueError if isinstance(self.belief, Counts | Logistic) else TypeError
            raise wrong(
                f"belief of {type(self).__name__} should be {self.reads.__name__}(), "
                f"got {shown_value(self.belief)}"
            )

    @abstractmethod
    def init(self, items: ItemSet) -> Any:
        """Return the memory before the first pull or duel."""

    def recommend(self, belief: ItemBelief, memory: Any) -> int | np.ndarray:
        """Return the best item so far: by the posterior mode, on a sphere its unit vector.

        Where items are counted alone, that of the largest mean reward.
        """
        return recommended(belief, belief.mode) if belief.learns else paid_best(belief)

    def bound(self, times: np.ndarray, items: ItemSet) -> np.ndarray | None:
        """Return the growing part of a proved regret bound at `times`, or None."""
        return None


@dataclass(frozen=True, kw_only=True)
class ItemDuelPolicy(ItemPolicy):
    """Defaults of a policy that shows two items with attributes, of a table or of each round.

    Examples
    --------
    >>> trace = bd.simulate(bd.policies.ItemDuelPolicy(), "contextual-duels", horizon=50, seed=0)
    >>> bd.regret(trace, "weak").isel(time=-1).shape  # by policy and replication
    (1, 1)
    """

    belief: Logistic = Logistic()
    shows: ClassVar[int] = 2


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

    Examples
    --------
    >>> problem = bd.problems.score_duels(6, rng=np.random.default_rng(0))
    >>> rules = [bd.policies.POCBAm(), bd.policies.Uniform()]
    >>> trace = bd.simulate(rules, problem, 100, k=2, replications=3)
    >>> bd.success_rate(trace)["rate"].isel(time=-1).shape
    (2,)
    """

    rules: ClassVar[tuple[str, ...]] = ("select", "scores")
    setting: ClassVar[str] = "margins"
    shows: ClassVar[int] = 2

    def opening(self, n_arms: int) -> int:
        """Return the fewest duels from which it can select."""
        return 1

    def for_budget(self, budget: int) -> Self | None:
        """Return the policy to run for this budget, None if one run serves all budgets."""
        return None
