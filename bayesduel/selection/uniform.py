"""Uniform allocation to score duels: every pair in turn, by sample means or by the model.

With the model it shows how much of a policy's success is the model's and how much is the
allocation's.

References
----------
None needed. Deviations: none.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.compiling import compiled
from bayesduel.selection.accounts import fitted_account, sample_account

__all__ = ["Uniform"]


class Memory(NamedTuple):
    """The pairs in this round's order, shape (K (K - 1) / 2, 2)."""

    order: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """Round-robin over all pairs, in a fresh random order each round.

    Parameters
    ----------
    by
        What chooses the k best: "means", each arm's sum of mean margins, or "model", the
        fitted scores (until every pair has met twice: "means").

    Raises
    ------
    ValueError
        If `by` is neither.
    """

    by: Literal["means", "model"] = "means"
    source: ClassVar[str] = "baseline"

    def __post_init__(self) -> None:
        if self.by not in ("means", "model"):
            raise ValueError(f"by should be 'means' or 'model', got {self.by!r}")

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        return Memory(np.column_stack(np.triu_indices(n_arms, 1)))

    @property
    def select(self) -> Any:
        """The compiled rule."""
        return select

    @property
    def scores(self) -> Any:
        """The compiled scores by which the k best are chosen."""
        return model_scores if self.by == "model" else mean_scores


@compiled
def select(margins, memory, t, rng):
    """Name the next pair of the round, drawn among those still to come."""
    order = memory.order
    place = (t - 1) % len(order)
    other = place + int(rng.random() * (len(order) - place))
    i, j = order[other]
    order[other] = order[place]
    order[place, 0] = i
    order[place, 1] = j
    return i, j


@compiled
def mean_scores(margins, memory):
    """Return each arm's sum of mean margins, shape (K,)."""
    n_arms = len(margins.n)
    total = np.zeros(n_arms)
    for i in range(n_arms):
        for j in range(n_arms):
            if margins.n[i, j] > 0:
                total[i] += margins.total[i, j] / margins.n[i, j]
    return total


@compiled
def model_scores(margins, memory):
    """Return K times the fitted scores, or the sums of means where the model has too little."""
    for i in range(len(margins.n)):
        for j in range(i):
            if margins.n[i, j] < 2:
                return mean_scores(margins, memory)
    mean, scatter, _, pooled, floor = sample_account(margins, 0.0)
    score = mean.sum(axis=1) / len(mean)
    fitted_account(margins, 0.0, mean, scatter, pooled, floor, score)
    return len(score) * score
