"""Uniform: every pair in turn, in a fresh random order each round.

The reference line of every plot, and the baseline of every identification.

References
----------
None needed. Deviations: none.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Hoeffding, Recipe
from bayesduel.compiling import compiled

__all__ = ["Uniform"]


class Memory(NamedTuple):
    """The pairs in this round's order, shape (K (K - 1) / 2, 2)."""

    order: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """Round-robin over all pairs, self-duels left out.

    Parameters
    ----------
    belief
        Kept for whoever reads the outcome; the choice of pairs ignores it.
    """

    belief: Recipe = Hoeffding()
    source: ClassVar[str] = "baseline"
    guarantee: ClassVar[str] = "linear regret: T times the mean over pairs"

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        return Memory(np.column_stack(np.triu_indices(n_arms, 1)))

    @property
    def select(self):
        """The compiled rule."""
        return select


@compiled
def select(belief, memory, t, rng):
    """Name the next pair of the round, drawn among those still to come."""
    n_pairs = len(memory.order)
    place = (t - 1) % n_pairs
    other = place + int(rng.random() * (n_pairs - place))
    for side in range(2):
        memory.order[place, side], memory.order[other, side] = (
            memory.order[other, side],
            memory.order[place, side],
        )
    return memory.order[place, 0], memory.order[place, 1]
