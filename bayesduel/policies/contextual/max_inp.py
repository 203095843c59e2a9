"""MaxInP: the maximum informative pair, of the items that may still be the best of the round.

An item may be the best if its utility lies less than a confidence width below that of every other
one. The two such items whose difference in utility is most uncertain duel.

References
----------
Saha, "Optimal algorithms for stochastic contextual preference bandits", NeurIPS 2021, MaxInP;
second hand, from the code of the authors of VACDB (``vacdb.py``). Deviations: the estimate has a
normal prior and the design matrix starts at that prior's precision, where the paper shows random
pairs until it is invertible; the width is ``alpha sqrt(n ln(1 + t))``, where the paper has the
horizon for t, and constants of the worst case for alpha (they divide by the least slope of the
link). Under other links than the logistic one, the estimate is the same.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

import numpy as np

from bayesduel.jit import compiled
from bayesduel.policies.contextual.design_matrix import (
    DesignPolicy,
    add_difference,
    best_pair,
    width,
)

__all__ = ["MaxInP"]


@compiled
def select(belief, memory, t, rng):
    """Return the next pair; the only item that may be the best duels itself."""
    m, n = belief.attributes.shape
    factor = memory.alpha * sqrt(n * log(1.0 + t))
    among = np.ones(m, np.bool_)
    for i in range(m):
        for j in range(m):
            z = belief.attributes[i] - belief.attributes[j]
            if z @ belief.mode + factor * width(memory.inverse, z) < 0:
                among[i] = False
                break
    i, j, _ = best_pair(belief, among, np.zeros(m), memory.inverse, 1.0)
    add_difference(memory.inverse, belief.attributes[i] - belief.attributes[j], 1.0)
    return i, j


@dataclass(frozen=True, kw_only=True)
class MaxInP(DesignPolicy):
    """The maximum informative pair, for duels of items with attributes."""

    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Saha, NeurIPS 2021, MaxInP"
    guarantee: ClassVar[str] = "O(n sqrt T) up to logarithms, at the paper's width"
