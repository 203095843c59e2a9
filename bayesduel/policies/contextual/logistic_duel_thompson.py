"""Thompson sampling for duels of items with attributes.

The champion is the best item under one posterior draw of the preference vector. The challenger is
the best item under a second draw or, for information, the item whose difference in utility to the
champion is most uncertain, among the items that may still beat it.

References
----------
Sui, Zhuang, Burdick & Yue, "Multi-dueling bandits with dependent arms", UAI 2017, for two
independent draws. Saha, "Optimal algorithms for stochastic contextual preference bandits",
NeurIPS 2021 (MaxInP), for the most informative pair among items that may be best. Deviations:
MaxInP takes the widest pair of all such items, at a cost of m^2; here the champion is drawn and
the widest pair with it is taken, at a cost of m.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, Literal, NamedTuple

from bayesduel.beliefs.best_item import best_item, widest_apart
from bayesduel.beliefs.item_belief import ItemSet, finite_only
from bayesduel.beliefs.logistic_laplace import draw_preference
from bayesduel.jit import compiled
from bayesduel.policies.policy import ItemDuelPolicy

__all__ = ["LogisticDuelThompson"]


class Memory(NamedTuple):
    """Whether challengers are chosen for information, and the factor of the width."""

    informative: bool
    alpha: float


@compiled
def select(belief, memory, t, rng):
    """Return the next pair, (champion, challenger)."""
    champion = best_item(belief, draw_preference(belief, rng))
    if not memory.informative:
        return champion, best_item(belief, draw_preference(belief, rng))
    width = memory.alpha * sqrt(log(1.0 + t))
    return champion, widest_apart(belief, champion, belief.mode, width)


@dataclass(frozen=True, kw_only=True)
class LogisticDuelThompson(ItemDuelPolicy):
    """Thompson sampling on a Laplace posterior, for duels of items with attributes.

    Parameters
    ----------
    challenger
        "thompson": best under a second draw; the same item may be named twice, which costs
        nothing if it is the best. "information": the largest standard deviation of the
        difference in utility, among items that may beat the champion.
    alpha
        With "information": an item may beat the champion if its utility lies less than
        ``alpha sqrt(ln(1 + t))`` standard deviations below, > 0.
    """

    challenger: Literal["thompson", "information"] = "thompson"
    alpha: float = 1.0
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "after Sui et al., UAI 2017, and Saha, NeurIPS 2021"
    guarantee: ClassVar[str] = "no guarantee is proved; that of MaxInP is O(n sqrt T log T)"
    ranges: ClassVar = {"alpha": "> 0"}

    def init(self, items: ItemSet) -> Memory:
        finite_only(self, items)
        return Memory(self.challenger == "information", float(self.alpha))
