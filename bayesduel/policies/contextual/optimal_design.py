"""Designs of exploration: bases, barycentric spanners and D-optimal designs.

References
----------
Awerbuch & Kleinberg, "Online linear optimization and adaptive routing", JCSS 2008, section 2,
for barycentric spanners (here by column-pivoted elimination, then swaps). Kiefer & Wolfowitz,
"The equivalence of two extremum problems", 1960, for the stopping rule of D-optimal designs;
Silvey, Titterington & Torsney, "An algorithm for optimal designs on a finite design space",
1978, for the multiplicative steps between two additions (Wynn 1970).
"""

import numpy as np

from bayesduel.data.items import DEPENDENT

__all__ = ["arbitrary_basis", "optimal_design", "spanner"]

# Weight below which an item leaves the design: of 100,000 duels it would have one.
FAINT = 1e-5


def arbitrary_basis(attributes: np.ndarray) -> np.ndarray:
    """Return the first n items, in their order, that are linearly independent, shape (n,)."""
    n = attributes.shape[1]
    chosen: list[int] = []
    axes = np.zeros((0, n))
    for k, item in enumerate(attributes):
        left = item - (item @ axes.T) @ axes
        left -= (left @ axes.T) @ axes
        length = np.linalg.norm(left)
        if length > DEPENDENT * max(float(np.linalg.norm(item)), 1e-300):
            chosen.append(k)
            axes = np.vstack([axes, left / length])
            if len(chosen) == n:
                return np.array(chosen)
    raise _lacking(len(chosen), n)


def spanner(attributes: np.ndarray) -> np.ndarray:
    """Return n items in which every other has coordinates in [-1.001, 1.001], shape (n,)."""
    n = attributes.shape[1]
    left = np.array(attributes, dtype=float)
    largest = float(np.einsum("ij,ij->i", left, left).max())
    farthest: list[int] = []
    for _ in range(n):  # the item farthest from the span of those before
        lengths = np.einsum("ij,ij->i", left, left)
        k = int(lengths.argmax())
        if lengths[k] <= DEPENDENT**2 * largest:
            raise _lacking(len(farthest), n)
        axis = left[k] / np.sqrt(lengths[k])
        left -= np.outer(left @ axis, axis)
        farthest.append(k)
    basis = np.array(farthest)
    coordinates = np.linalg.solve(attributes[basis].T, attributes.T).T
    while True:
        flat = int(np.abs(coordinates).argmax())
        # Coordinates in a spanner are at most 1.001: each swap adds so much volume
        if abs(coordinates.flat[flat]) <= 1.001:
            return basis
        basis[flat % n] = flat // n
        coordinates = np.linalg.solve(attributes[basis].T, attributes.T).T


def optimal_design(attributes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return items and weights of a design that is D-optimal to 1 %.

    No item is then less certain than it must be: the largest variance of u'z over all items
    exceeds the least one possible by at most 1 % (Kiefer and Wolfowitz).

    Items, shape (s,), and their weights, shape (s,), which sum to 1.
    """
    n = attributes.shape[1]
    support = spanner(attributes)
    weight = np.full(n, 1 / n)
    while True:
        inverse = np.linalg.inv((attributes[support].T * weight) @ attributes[support])
        variance = np.einsum("ij,ij->i", attributes @ inverse, attributes)
        k = int(variance.argmax())
        # A design is done when no item is less certain than 1.01 n
        if variance[k] <= n * 1.01:
            return support, weight
        step = (variance[k] / n - 1) / (variance[k] - 1)
        weight *= 1 - step
        if k in support:
            weight[support == k] += step
        else:
            support = np.append(support, k)
            weight = np.append(weight, step)
        rows = attributes[support]
        for _ in range(100):
            inverse = np.linalg.inv((rows.T * weight) @ rows)
            weight *= np.einsum("ij,ij->i", rows @ inverse, rows) / n
        support = support[weight > FAINT]
        weight = weight[weight > FAINT]
        weight /= weight.sum()


def _lacking(rank: int, n: int) -> ValueError:
    return ValueError(
        f"attributes should have rank {n}, the number of attributes, got rank {rank}. Leave out "
        "attributes that are linear combinations of others"
    )
