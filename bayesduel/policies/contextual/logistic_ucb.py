"""GLM-UCB: the item with the largest upper confidence bound on its utility.

References
----------
Filippi, Cappé, Garivier & Szepesvári, "Parametric bandits: the generalized linear case", NIPS
2010, Algorithm 1. Deviations: the width is ``alpha sqrt(ln(1 + t))`` standard deviations of u'z
under the curvature of the logistic likelihood (with its prior), where the paper multiplies the
norm under the design matrix by constants for the worst case that are far too wide in practice
(its section 4 also scales them down). With known values of the items the bound on the chance
is multiplied by the value.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, NamedTuple

from bayesduel.beliefs.best_item import most_optimistic
from bayesduel.beliefs.item_belief import ItemSet, Logistic, finite_only
from bayesduel.jit import compiled
from bayesduel.policies.policy import ItemPolicy

__all__ = ["LogisticUCB"]


class Memory(NamedTuple):
    """The factor of the width."""

    alpha: float


@compiled
def select(belief, memory, t, rng):
    """Return the next item."""
    return most_optimistic(belief, belief.mode, memory.alpha * sqrt(log(1.0 + t)))


@dataclass(frozen=True, kw_only=True)
class LogisticUCB(ItemPolicy):
    """Upper confidence bounds on a Laplace posterior, for items shown one at a time.

    Parameters
    ----------
    alpha
        Standard deviations at ln(1 + t) = 1, > 0.

    Raises
    ------
    ValueError
        If a setting is not as described, or (from ``init``) the items are a whole sphere.
    """

    belief: Logistic = Logistic()
    alpha: float = 1.0
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Filippi et al., NIPS 2010, Algorithm 1 (width scaled)"
    guarantee: ClassVar[str] = (
        "O(n sqrt T log^1.5 T) at the paper's width; no guarantee at this width"
    )
    ranges: ClassVar = {"alpha": "> 0"}

    def init(self, items: ItemSet) -> Memory:
        finite_only(self, items)
        return Memory(float(self.alpha))
