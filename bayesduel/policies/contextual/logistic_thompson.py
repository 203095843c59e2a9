"""Thompson sampling of a preference vector: the best item under one posterior draw.

References
----------
Chapelle & Li, "An empirical evaluation of Thompson sampling", NIPS 2011, Algorithm 3.
Deviations: the full curvature, not its diagonal; the mode over all tallied pulls (see
``beliefs/logistic.py``).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs.best_item import aim_at, best_item
from bayesduel.beliefs.item_belief import ItemSet, Logistic
from bayesduel.beliefs.logistic_laplace import draw_preference
from bayesduel.jit import compiled
from bayesduel.policies.policy import ItemPolicy

__all__ = ["LogisticThompson"]


class Memory(NamedTuple):
    """The item shown, on the sphere: a unit vector, shape (n,)."""

    aim: np.ndarray


@compiled
def select(belief, memory, t, rng):
    """Return the next item."""
    z = draw_preference(belief, rng)
    if belief.sphere:
        return aim_at(belief, z, memory.aim)
    return best_item(belief, z)


@dataclass(frozen=True, kw_only=True)
class LogisticThompson(ItemPolicy):
    """Thompson sampling on a Laplace posterior, for items shown one at a time."""

    belief: Logistic = Logistic()
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Chapelle & Li, NIPS 2011, Algorithm 3"
    guarantee: ClassVar[str] = "no guarantee is proved for the Laplace posterior"

    def init(self, items: ItemSet) -> Memory:
        return Memory(np.zeros(items.attributes.shape[1]))
