"""Kemeny and Slater rankings: exact by dynamic programming, for up to 16 arms."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesduel.preference.copeland import beats, check_preference, flattened, opposite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["MAX_ARMS", "cheapest_order", "kemeny", "least_costs", "slater"]

MAX_ARMS = 16  # 2^K subsets, K of them a step: 16 takes hundredths of a second, 20 seconds


def kemeny(P: "ArrayLike") -> np.ndarray:
    """Return the ranking that disagrees least with P, best arm first, shape (..., K).

    It minimises the sum of ``P[b, a]`` over pairs ranked a above b, exactly. Of several, the
    first in the order of the arms' indices.

    Raises
    ------
    ValueError
        If there are more than 16 arms.
    """
    P = check_preference(P)
    return _over_matrices(cheapest_order, opposite(P))


def slater(P: "ArrayLike") -> np.ndarray:
    """Return the ranking that reverses fewest majorities, best arm first, shape (..., K).

    It minimises the number of pairs ranked a above b where b beats a, exactly. Several are
    common; the first in the order of the arms' indices is returned.

    Raises
    ------
    ValueError
        If there are more than 16 arms.
    """
    lost = opposite(beats(P))
    return _over_matrices(cheapest_order, lost.astype(float))


def cheapest_order(cost: np.ndarray) -> np.ndarray:
    """Return the order of least total cost, best arm first.

    Of several, the first in the order of the arms' indices (so it does depend on how the arms
    are numbered, as any single answer must).

    Indices, shape (K,).
    """
    n_arms = len(cost)
    above, least = _tables(cost)
    order = []
    left = 2**n_arms - 1
    while left:
        total = _by_first(above, least, left)
        cheapest = total <= total.min() + 1e-9
        first = int(np.argmax(cheapest))
        order.append(first)
        left ^= 1 << first
    return np.array(order)


def least_costs(P: "ArrayLike", ranking: Literal["kemeny", "slater"]) -> np.ndarray:
    """Return the least cost of a ranking that begins with each arm, shape (..., K).

    Its minimum is the cost of the Kemeny or Slater ranking.

    Raises ValueError if there are more than 16 arms.
    """
    won = check_preference(P) if ranking == "kemeny" else beats(P).astype(float)
    return _over_matrices(_least_of_each, opposite(won))


def _least_of_each(cost: np.ndarray) -> np.ndarray:
    """Return the least total cost of an order that begins with each arm, shape (K,)."""
    above, least = _tables(cost)
    all_arms = 2 ** len(cost) - 1
    return _by_first(above, least, all_arms)


def _tables(cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what each arm costs above each set of arms, and the least cost of each set.

    Held-Karp style recursion ``f(S) = min_a [sum_{b in S - a} cost[a, b] + f(S - a)]``, a the
    highest of the arms S. O(2^K K) here, the sums being tabulated.
    """
    n_arms = len(cost)
    if n_arms > MAX_ARMS:
        raise ValueError(
            f"P should have at most {MAX_ARMS} arms for an exact Kemeny ranking, got {n_arms}"
        )
    diagonal = np.eye(n_arms, dtype=bool)
    cost = np.where(diagonal, 0.0, cost)
    n_subsets = 2**n_arms
    subsets = np.arange(n_subsets)
    above = np.zeros((n_arms, n_subsets))  # above[a, S] = sum of cost[a, b] over b in S
    for b in range(n_arms):
        bit = 1 << b
        without_b = above[:, :bit]
        above[:, bit : 2 * bit] = without_b + cost[:, [b]]
    least = np.full(n_subsets, np.inf)
    least[0] = 0.0
    size = np.bitwise_count(subsets)
    for r in range(1, n_arms + 1):
        layer = subsets[size == r]
        for a in range(n_arms):
            whole = layer[_has(layer, a)]
            rest = whole ^ (1 << a)
            found = above[a, rest] + least[rest]
            least[whole] = np.minimum(least[whole], found)
    return above, least


def _has(subset: np.ndarray | int, arm: np.ndarray | int) -> np.ndarray:
    """Return whether an arm is in a subset, whose bits are arms."""
    return np.asarray(subset >> arm & 1 == 1)


def _by_first(above: np.ndarray, least: np.ndarray, arms: int) -> np.ndarray:
    """Return the least cost of an order of a set by its first arm, infinity for other arms."""
    each = np.arange(len(above))
    inside = _has(arms, each)
    rest = np.where(inside, arms ^ (1 << each), 0)
    cost = above[each, rest] + least[rest]
    return np.where(inside, cost, np.inf)


def _over_matrices(of_one: Callable[[np.ndarray], np.ndarray], cost: np.ndarray) -> np.ndarray:
    """Return what a function gives of each matrix of costs, shape (..., K)."""
    found = [of_one(matrix) for matrix in flattened(cost)]
    return np.stack(found).reshape(cost.shape[:-1])
