"""The design matrix of duels: V = V_0 + the sum of w z z' over the differences z that were shown.

``sqrt(z' V^-1 z)`` is how uncertain the difference in utility along z is, in the worst case and up
to a factor. Policies keep the inverse of V, which does not depend on who won.

References
----------
Sherman & Morrison, "Adjustment of an inverse matrix corresponding to a change in one element of a
given matrix", Annals of Mathematical Statistics 1950.
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs.item_belief import ItemSet, finite_only
from bayesduel.jit import compiled
from bayesduel.policies.policy import ItemDuelPolicy

__all__ = ["DesignPolicy", "add_difference", "best_pair", "width"]


class Memory(NamedTuple):
    """The factor of the width, and the design matrix."""

    alpha: float
    inverse: np.ndarray  # of the design matrix, shape (n, n)


@dataclass(frozen=True, kw_only=True)
class DesignPolicy(ItemDuelPolicy):
    """Defaults of a policy with a confidence width, ``alpha sqrt(n ln(1 + t))`` times that of V.

    Parameters
    ----------
    alpha
        Factor of the confidence width, > 0.
    """

    alpha: float = 1.0
    ranges: ClassVar = {"alpha": "> 0"}

    def init(self, items: ItemSet) -> Memory:
        """Return the memory before the first duel: V is the precision of the prior."""
        finite_only(self, items)
        inverse = np.eye(items.attributes.shape[1]) * self.belief.scale**2
        return Memory(float(self.alpha), inverse)


@compiled
def width(inverse, z):
    """Return ``sqrt(z' V^-1 z)``."""
    return sqrt(max(z @ (inverse @ z), 0.0))


@compiled
def add_difference(inverse, z, weight):
    """Add `weight` z z' to V, by its `inverse`."""
    side = inverse @ z
    factor = weight / (1 + weight * (z @ side))
    for k in range(len(side)):
        for j in range(len(side)):
            inverse[k, j] -= side[k] * side[j] * factor


@compiled
def best_pair(belief, among, utility, inverse, factor, least=0.0):
    """Return the pair with the largest sum of utilities and `factor` widths, and the largest width.

    Of the items in the mask `among`, and of pairs at least `least` wide, if there is one; ties by
    index. An item may be paired with itself, which is 0 wide.
    """
    m = len(among)
    first = 0
    second = 0
    best = -inf
    widest = 0.0
    for i in range(m):
        for j in range(i, m):
            if among[i] and among[j]:
                apart = width(inverse, belief.attributes[i] - belief.attributes[j])
                value = utility[i] + utility[j] + factor * apart
                widest = max(widest, apart)
                if apart >= least and value > best:
                    first = i
                    second = j
                    best = value
    return first, second, widest
