"""The design matrix of duels: V = V_0 + the sum of w z z' over the differences z that were shown.

``sqrt(z' V^-1 z)`` is how uncertain the difference in utility along z is, in the worst case and up
to a factor. Policies keep the inverse of V, which does not depend on who won.

References
----------
Sherman & Morrison, "Adjustment of an inverse matrix corresponding to a change in one element of a
given matrix", Annals of Mathematical Statistics 1950.
"""

from math import inf, sqrt

import numpy as np

from bayesduel.jit import compiled

__all__ = ["add_difference", "best_pair", "width"]


@compiled
def width(inverse, z):
    """Return ``sqrt(z' V^-1 z)``."""
    return sqrt(max(z @ (inverse @ z), 0.0))


@compiled
def add_difference(inverse, z, weight):
    """Add `weight` z z' to V, by its `inverse`."""
    side = inverse @ z
    inverse -= np.outer(side, side) * (weight / (1 + weight * (z @ side)))


@compiled
def best_pair(belief, among, utility, inverse, factor):
    """Return the pair with the largest sum of utilities and `factor` widths, and its width.

    Of the items in the mask `among`; ties by index. An item alone is paired with itself.
    """
    m = len(among)
    first, second, best, wide = 0, 0, -inf, 0.0
    for i in range(m):
        for j in range(i, m):
            if among[i] and among[j]:
                apart = width(inverse, belief.attributes[i] - belief.attributes[j])
                value = utility[i] + utility[j] + factor * apart
                if value > best:
                    first, second, best, wide = i, j, value, apart
    return first, second, wide
