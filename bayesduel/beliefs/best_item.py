"""The best item under a preference vector: one pass over the table of attributes.

The table is in column order and is read in blocks of items, so that memory is read in order and
the compiler can vectorise the passes.
"""

from math import sqrt
from typing import Any

import numpy as np

from bayesduel.beliefs.logistic_laplace import sigmoid
from bayesduel.jit import compiled

__all__ = ["aim_at", "best_item", "most_optimistic", "recommended", "widest_apart"]

BLOCK = 512  # items whose running sums stay in the fastest memory


@compiled
def best_item(belief, z):
    """Return the item with the largest value times probability under `z`; ties by index.

    Where all values are equal that is the largest u'z. The value of a success may differ
    (known rewards): then it is the largest v logistic(u'z).
    """
    utility = np.dot(belief.attributes, z)
    return int(np.argmax(worths(belief, utility)))


def recommended(belief: Any, z: np.ndarray) -> int | np.ndarray:
    """Return the best item under `z`; on the sphere, the unit vector, shape (n,)."""
    if not belief.sphere:
        return int(best_item(belief, z))
    aim = np.empty(len(z))
    aim_at(belief, z, aim)
    return aim


@compiled
def aim_at(belief, z, aim):
    """Write the unit vector along `z` into `aim`; the first basis vector where z is 0.

    Returns the index that stands for it.
    """
    length = sqrt(z @ z)
    aim[:] = 0.0
    if length > 0:
        aim[:] = z / length
    else:
        aim[0] = 1.0
    return len(aim)


@compiled
def most_optimistic(belief, z, width):
    """Return the item with the largest upper confidence bound, `width` standard deviations wide.

    Ties, up to rounding, by index: before the first pull the bounds of items of the same length
    are equal. The standard deviations are those of u'z under the belief's covariance. They are
    worked out for the items only that their length does not rule out already.
    """
    m, n = belief.attributes.shape
    root = half_inverse(belief.covariance)
    nothing = np.zeros(n)
    reach = width * stretch(belief.covariance)
    best = 0
    best_worth = -np.inf
    plain = len(belief.values) == 1
    squares = np.empty(BLOCK)
    utility = np.empty(BLOCK)
    hope = np.empty(BLOCK)
    for start in range(0, m, BLOCK):
        size = min(BLOCK, m - start)
        glance(belief.attributes, start, size, nothing, z, squares, utility)
        for k in range(size):
            hope[k] = utility[k] + reach * sqrt(squares[k])
        if not plain:
            for k in range(size):
                chance = sigmoid(hope[k])
                hope[k] = belief.values[start + k] * chance
        for k in range(size):
            if hope[k] >= best_worth:
                item = start + k
                square = measure(belief.attributes[item], root, nothing)
                worth = utility[k] + width * sqrt(square)
                if not plain:
                    worth = belief.values[item] * sigmoid(worth)
                # Difference of bounds, relative beyond 1, that is rounding: 1e-11
                rounding = 1e-11 * max(1.0, abs(worth))
                if worth - best_worth > rounding:
                    best = item
                    best_worth = worth
    return best


@compiled
def widest_apart(belief, champion, z, width):
    """Return the item that differs most uncertainly from `champion`, of those that may beat it.

    An item may beat it if its utility under `z` lies less than `width` standard deviations
    of the difference below the champion's. Ties by index; the champion itself where there is none.
    """
    m = len(belief.attributes)
    root = half_inverse(belief.covariance)
    longest = stretch(belief.covariance)
    own = belief.attributes[champion].copy()
    offset = root @ own
    level = own @ z
    best = champion
    most = 0.0
    squares = np.empty(BLOCK)
    utility = np.empty(BLOCK)
    hope = np.empty(BLOCK)
    for start in range(0, m, BLOCK):
        size = min(BLOCK, m - start)
        glance(belief.attributes, start, size, own, z, squares, utility)
        for k in range(size):
            squares[k] *= longest * longest
            ahead = utility[k] - level
            hope[k] = ahead + width * sqrt(squares[k])
        for k in range(size):
            item = start + k
            if squares[k] >= most and hope[k] > 0 and item != champion:
                square = measure(belief.attributes[item], root, offset)
                ahead = utility[k] - level
                may_beat = ahead + width * sqrt(square) > 0
                if square > most and may_beat:
                    best = item
                    most = square
    return best


@compiled
def glance(attributes, start, size, point, z, squares, utility):
    """Write |u - point|^2 and u'z, one entry per item, of `size` items u from `start`."""
    for k in range(size):
        utility[k] = 0.0
        squares[k] = 0.0
    end = start + size
    for a in range(attributes.shape[1]):
        column = attributes[start:end, a]
        centre = point[a]
        weight = z[a]
        for k in range(size):
            away = column[k] - centre
            utility[k] += weight * column[k]
            squares[k] += away**2


@compiled
def measure(u, root, offset):
    """Return |root u - offset|^2; `root` is upper triangular, shape (n, n)."""
    total = 0.0
    for a in range(len(u)):
        part = root[a, a] * u[a] - offset[a]
        for b in range(a + 1, len(u)):
            part += root[a, b] * u[b]
        total += part * part
    return total


@compiled
def stretch(covariance):
    """Return the norm of R with R'R = covariance, rounded up."""
    largest = np.linalg.eigvalsh(covariance)[-1]
    return sqrt(largest) * (1 + 1e-9)


@compiled
def half_inverse(covariance):
    """Return the upper triangular R with R'R = covariance, so that |R u|^2 = u' covariance u."""
    lower = np.linalg.cholesky(covariance)
    return np.ascontiguousarray(lower.T)


@compiled
def worths(belief, utility):
    """Return the worths of items: utilities, or values times probabilities where values differ."""
    if len(belief.values) == 1:
        return utility
    for k in range(len(utility)):
        chance = sigmoid(utility[k])
        utility[k] = belief.values[k] * chance
    return utility
