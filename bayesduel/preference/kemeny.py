"""Kemeny and Slater rankings: exact by dynamic programming, for up to 16 arms."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesduel.preference.copeland import beats, check_preference, opposite

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
    return _over_matrices(opposite(check_preference(P)))


def slater(P: "ArrayLike") -> np.ndarray:
    """Return the ranking that reverses fewest majorities, best arm first, shape (..., K).

    It minimises the number of pairs ranked a above b where b beats a, exactly. Several are
    common; the first in the order of the arms' indices is returned.

    Raises
    ------
    ValueError
        If there are more than 16 arms.
    """
    return _over_matrices(opposite(beats(P)).astype(float))


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
        order.append(int(np.argmax(total <= total.min() + 1e-9)))
        left ^= 1 << order[-1]
    return np.array(order)


def least_costs(P: "ArrayLike", ranking: Literal["kemeny", "slater"]) -> np.ndarray:
    """Return the least cost of a ranking that begins with each arm, shape (..., K).

    Its minimum is the cost of the Kemeny or Slater ranking.

    Raises ValueError if there are more than 16 arms.
    """
    cost = opposite(check_preference(P) if ranking == "kemeny" else beats(P).astype(float))
    flat = cost.reshape(-1, *cost.shape[-2:])
    found = [_by_first(*_tables(c), 2 ** len(c) - 1) for c in flat]
    return np.stack(found).reshape(cost.shape[:-1])


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
    cost = np.where(np.eye(n_arms, dtype=bool), 0.0, cost)
    subsets = np.arange(2**n_arms)
    above = np.zeros((n_arms, 2**n_arms))  # above[a, S] = sum of cost[a, b] over b in S
    for b in range(n_arms):
        with_b = subsets[1 << b : 2 << b]
        above[:, with_b] = above[:, with_b - (1 << b)] + cost[:, b : b + 1]
    least = np.full(2**n_arms, np.inf)
    least[0] = 0.0
    size = np.bitwise_count(subsets)
    for r in range(1, n_arms + 1):
        layer = subsets[size == r]
        for a in range(n_arms):
            rest = layer[layer >> a & 1 == 1] ^ (1 << a)
            whole = rest | 1 << a
            found = above[a, rest] + least[rest]
            least[whole] = np.minimum(least[whole], found)
    return above, least


def _by_first(above: np.ndarray, least: np.ndarray, arms: int) -> np.ndarray:
    """Return the least cost of an order of a set by its first arm, infinity for other arms."""
    each = np.arange(len(above))
    inside = arms >> each & 1 == 1
    rest = np.where(inside, arms ^ (1 << each), 0)
    return np.where(inside, above[each, rest] + least[rest], np.inf)


def _over_matrices(cost: np.ndarray) -> np.ndarray:
    flat = cost.reshape(-1, *cost.shape[-2:])
    return np.stack([cheapest_order(c) for c in flat]).reshape(cost.shape[:-1])
