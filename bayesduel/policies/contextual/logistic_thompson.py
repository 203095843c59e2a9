"""Thompson sampling of a preference vector: show the item that is best under one draw of it.

References
----------
Chapelle & Li, "An empirical evaluation of Thompson sampling", NIPS 2011, Algorithm 3.
Deviations: the full curvature, not its diagonal; the mode over all tallied pulls (see
``beliefs/logistic.py``).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs.best_item import aim_at, best_item, recommended
from bayesduel.beliefs.item_belief import ItemBelief, ItemSet, Logistic
from bayesduel.beliefs.logistic_laplace import draw_preference
from bayesduel.jit import compiled
from bayesduel.policies.policy import ItemPolicy

__all__ = ["LogisticThompson"]


class Memory(NamedTuple):
    """On the sphere, where the item shown points, shape (n,)."""

    aim: np.ndarray


@compiled
def select(belief, memory, t, rng):
    """Name the next item."""
    z = draw_preference(belief, rng)
    if belief.sphere:
        return aim_at(belief, z, memory.aim)
    return best_item(belief, z)


@dataclass(frozen=True, kw_only=True)
class LogisticThompson(ItemPolicy):
    """Thompson sampling on a Laplace posterior, for items of which one is shown at a time.

    Parameters
    ----------
    belief
        The posterior it draws from.

    Raises
    ------
    ValueError
        If `belief` is not a ``Logistic``.
    """

    belief: Logistic = Logistic()
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Chapelle & Li, NIPS 2011, Algorithm 3"
    guarantee: ClassVar[str] = "none proved for the Laplace posterior"

    def __post_init__(self) -> None:
        if not isinstance(self.belief, Logistic):
            raise ValueError(
                f"belief of LogisticThompson should be Logistic(), got {self.belief!r}"
            )

    def init(self, offer: ItemSet) -> Memory:
        """Return the memory before the first pull."""
        return Memory(np.zeros(offer.attributes.shape[1]))

    def recommend(self, belief: ItemBelief, memory: Memory) -> int | np.ndarray:
        """Return the item that is best under the mode; on the sphere, where it points."""
        return recommended(belief, belief.mode)
