"""Uniform: round-robin over all pairs, in a new random order each round.

The baseline of every comparison. With `by` = "model" it shows how much of a policy's success in
selecting the k best arms is due to the fitted model, and how much to the allocation.

References
----------
None needed. Deviations: none.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from bayesduel.jit import compiled
from bayesduel.margins.moments import mean_scores, model_scores
from bayesduel.policies.policy import MarginPolicy, PairPolicy, checked_cost

__all__ = ["Uniform"]


class Memory(NamedTuple):
    """The pairs in this round's order, shape (K (K - 1) / 2, 2)."""

    order: np.ndarray


@compiled
def select(belief, memory, t, rng):
    """Return the next pair of the round, drawn among those not yet duelled."""
    n_pairs = len(memory.order)
    place = (t - 1) % n_pairs
    other = place + int(rng.random() * (n_pairs - place))
    for side in range(2):
        memory.order[place, side], memory.order[other, side] = (
            memory.order[other, side],
            memory.order[place, side],
        )
    return memory.order[place, 0], memory.order[place, 1]


@dataclass(frozen=True, kw_only=True)
class Uniform(PairPolicy, MarginPolicy):
    """Round-robin over all pairs, without self-duels; on wins and on margins.

    Parameters
    ----------
    belief
        Not a choice: the rule reads nothing of it.
    by
        The scores by which the k best arms are selected from margins: "means", each arm's sum of
        mean margins, or "model", the fitted scores ("means" until every pair has met twice).
    cost
        Infinite for a pair that is forbidden, shape (K, K), as nested tuples; what a pair costs
        makes no other difference. Default: no pair is.

    Examples
    --------
    >>> trace = bd.simulate(bd.policies.Uniform(), "mslr-5", horizon=50, seed=0)
    >>> bd.regret(trace).isel(time=-1).shape  # by policy and replication
    (1, 1)
    """

    by: Literal["means", "model"] = "means"
    cost: tuple[tuple[float, ...], ...] | None = field(default=None, repr=False)
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    reference: ClassVar[str] = "baseline"
    guarantee: ClassVar[str] = "linear regret: T times the mean over pairs"

    def init(self, n_arms: int) -> Memory:
        pairs = np.column_stack(np.triu_indices(n_arms, 1))
        if self.cost is not None:
            pairs = pairs[np.isfinite(checked_cost(self.cost, n_arms)[pairs[:, 0], pairs[:, 1]])]
        return Memory(pairs)

    def with_cost(self, cost: tuple[tuple[float, ...], ...] | None) -> Self:
        """Return the policy without the pairs of infinite cost; the others should cost the same."""
        if cost is None:
            return self
        if len({price for row in cost for price in row if price < np.inf}) > 1:
            raise ValueError("costs should be the same for all pairs that Uniform() duels")
        return replace(self, cost=cost)

    def on_margins(self, k: int, budget: int) -> Self:
        """Return the policy itself: it duels in the same way whatever is selected."""
        return self

    @property
    def scores(self) -> Any:
        """The compiled scores of margins by which the k best are chosen."""
        return model_scores if self.by == "model" else mean_scores
