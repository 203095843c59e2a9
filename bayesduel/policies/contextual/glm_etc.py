"""GLM-ETC: the epochs of Two-Phase, a logistic fit of everything seen, an optimal design.

What Two-Phase leaves on the table: the pulls of its exploitation, and a basis that need not be
where items are least certain. Here every pull feeds the fit, and exploration follows a
D-optimal design (which, by Kiefer and Wolfowitz, also makes the least certain item as certain
as can be).

References
----------
Ours, after Filippi, Cappé, Garivier & Szepesvári, "Parametric bandits: the generalized linear
case", NIPS 2010, for the fit, and ``two_phase.py`` for the epochs. Two-Phase's proof does not
carry over: its epochs are independent because exploitation is not learned from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs.best_item import aim_at, best_item, recommended
from bayesduel.beliefs.item_belief import ItemBelief, ItemSet, Logistic
from bayesduel.jit import compiled
from bayesduel.policies.contextual.epoch_schedule import Schedule, length, schedule_of
from bayesduel.policies.contextual.optimal_design import optimal_design
from bayesduel.policies.policy import ItemPolicy

__all__ = ["GLMETC"]


class Memory(NamedTuple):
    """What GLM-ETC keeps; what it learns stands in the belief.

    Attributes
    ----------
    schedule
        How long exploitation lasts.
    design, weight, taken
        Items of the design, their weights, and how often each was shown for it, shape (s,).
    epoch, place, left, best
        As in Two-Phase, shape (1,) each, int64.
    aim
        On the sphere, where the exploited item points, shape (n,).
    """

    schedule: Schedule
    design: np.ndarray
    weight: np.ndarray
    taken: np.ndarray
    epoch: np.ndarray
    place: np.ndarray
    left: np.ndarray
    best: np.ndarray
    aim: np.ndarray


@compiled
def select(belief, memory, t, rng):
    """Name the next item."""
    n = len(belief.mode)
    if memory.place[0] < n:
        memory.place[0] += 1
        due = memory.weight * (memory.taken.sum() + 1) - memory.taken
        k = int(np.argmax(due))
        memory.taken[k] += 1
        return memory.design[k]
    if memory.left[0] < 0:
        memory.left[0] = length(memory.schedule, memory.epoch[0])
        if belief.sphere:
            memory.best[0] = aim_at(belief, belief.mode, memory.aim)
        else:
            memory.best[0] = best_item(belief, belief.mode)
    memory.left[0] -= 1
    if memory.left[0] == 0:
        memory.epoch[0] += 1
        memory.place[0] = 0
        memory.left[0] = -1
    return memory.best[0]


@dataclass(frozen=True, kw_only=True)
class GLMETC(ItemPolicy):
    """Explore then commit, again and again, on the logistic fit of all pulls.

    Parameters
    ----------
    belief
        The posterior whose mode is exploited.
    schedule, power, depth
        As in :class:`TwoPhase`.

    Raises
    ------
    ValueError
        If a setting is not as described, or (from ``init``) the attributes have rank below n.
    """

    belief: Logistic = Logistic()
    schedule: str | Sequence[int] | None = None
    power: float = 2.0
    depth: int = 1
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "ours, after Two-Phase and Filippi et al., NIPS 2010"
    guarantee: ClassVar[str] = "none proved; exploration costs n (f^-1(T) + 1)"

    def __post_init__(self) -> None:
        if not isinstance(self.belief, Logistic):
            raise ValueError(f"belief of GLMETC should be Logistic(), got {self.belief!r}")
        if not isinstance(self.schedule, str | None):
            object.__setattr__(self, "schedule", tuple(self.schedule))
        self._schedule(ItemSet(np.eye(2), np.ones(1), False))

    def _schedule(self, offer: ItemSet) -> Schedule:
        name = self.schedule
        if name is None:
            name = "linear" if offer.sphere else "stretched"
        n = offer.attributes.shape[1]
        return schedule_of(name, power=self.power, depth=self.depth, n_attributes=n)

    def init(self, offer: ItemSet) -> Memory:
        """Return the memory before the first pull."""
        design, weight = optimal_design(offer.attributes)
        return Memory(
            schedule=self._schedule(offer),
            design=design,
            weight=weight,
            taken=np.zeros(len(design)),
            epoch=np.ones(1, np.int64),
            place=np.zeros(1, np.int64),
            left=np.full(1, -1, np.int64),
            best=np.full(1, -1, np.int64),
            aim=np.zeros(offer.attributes.shape[1]),
        )

    def recommend(self, belief: ItemBelief, memory: Memory) -> int | np.ndarray:
        """Return the item that is best under the mode; on the sphere, where it points."""
        return recommended(belief, belief.mode)
