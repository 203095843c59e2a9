"""GLM-ETC: explore-then-commit with a logistic fit of all pulls and an optimal design.

The epochs are those of Two-Phase, which does not use the pulls of its exploitation and explores a
basis. Here every pull enters the fit, and exploration follows a D-optimal design, which also
minimises the largest variance over all items (Kiefer and Wolfowitz).

References
----------
Ours, after Filippi, Cappé, Garivier & Szepesvári, "Parametric bandits: the generalized linear
case", NIPS 2010, for the fit, and ``two_phase.py`` for the epochs. Two-Phase's proof does not
carry over: it needs epochs that are independent of the exploitation.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs.item_belief import ItemSet, Logistic
from bayesduel.jit import compiled
from bayesduel.policies.contextual.epoch_schedule import EpochPolicy, Schedule, exploit
from bayesduel.policies.contextual.optimal_design import optimal_design

__all__ = ["GLMETC"]


class Memory(NamedTuple):
    """State of GLM-ETC; the fit itself is in the belief."""

    schedule: Schedule  # how long exploitation lasts
    design: np.ndarray  # items of the design, shape (s,)
    weight: np.ndarray  # their weights, shape (s,)
    taken: np.ndarray  # how often each was shown for the design, shape (s,)
    # epoch, place, left, best: as in Two-Phase, shape (1,) each, int64.
    epoch: np.ndarray
    place: np.ndarray
    left: np.ndarray
    best: np.ndarray
    aim: np.ndarray  # on the sphere, where the exploited item points, shape (n,)


@compiled
def select(belief, memory, t, rng):
    """Return the next item."""
    n = len(belief.mode)
    if memory.place[0] < n:
        memory.place[0] += 1
        due = memory.weight * (memory.taken.sum() + 1) - memory.taken
        k = int(np.argmax(due))
        memory.taken[k] += 1
        return memory.design[k]
    return exploit(belief, memory, belief.mode)


@dataclass(frozen=True, kw_only=True)
class GLMETC(EpochPolicy):
    """GLM-ETC: repeated explore-then-commit on a logistic fit of all pulls.

    Raises
    ------
    ValueError
        If a setting is not as described, or (from ``init``) the attributes have rank below n.
    """

    belief: Logistic = Logistic()
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "this package, after Two-Phase and Filippi et al., NIPS 2010"
    guarantee: ClassVar[str] = "no guarantee is proved; exploration costs n (f^-1(T) + 1)"

    def init(self, items: ItemSet) -> Memory:
        design, weight = optimal_design(items.attributes)
        return Memory(
            schedule=self.schedule_for(items),
            design=design,
            weight=weight,
            taken=np.zeros(len(design)),
            epoch=np.ones(1, np.int64),
            place=np.zeros(1, np.int64),
            left=np.full(1, -1, np.int64),
            best=np.full(1, -1, np.int64),
            aim=np.zeros(items.attributes.shape[1]),
        )
