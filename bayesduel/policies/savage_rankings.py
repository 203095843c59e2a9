"""SAVAGE's independence test for Kemeny and Slater rankings of few arms.

A ranking costs a sum over pairs, of ``P[b, a]`` for a above b (Kemeny), or of whether b beats a
(Slater). Over the box of intervals the largest difference of two such sums is that of each pair
that they order differently, so that a ranking is out exactly where some other one is cheaper
everywhere in the box: the cheapest of these is found by dynamic programming over subsets. A pair on
whose order all rankings agree that are not out adds the same to each of them, and matters no more.
"""

from itertools import permutations

import numpy as np

from bayesduel.jit import compiled

__all__ = ["MOST_ARMS", "is_level", "keep_rankings", "orders_of", "top_of_all"]

MOST_ARMS = 6  # 720 rankings take about a millisecond a round of duels, the 5,040 of 7 arms 20


def orders_of(n_arms: int) -> np.ndarray:
    """Return all rankings, best arm first, shape (K!, K)."""
    return np.array(list(permutations(range(n_arms))), np.int64)


@compiled
def is_level(belief, active, i, j):
    """Return whether no active pair has met less often than i and j: a round is over."""
    n = belief.wins + belief.wins.T
    return not (active & (n < n[i, j])).any()


@compiled
def keep_rankings(memory, slater):
    """Strike off the rankings that are out, and the pairs that no longer matter."""
    possible = memory.possible
    active = memory.active
    orders = memory.orders
    n_arms = len(active)
    # What it costs at most to put b above a in a ranking that has a above b.
    worth = np.empty((n_arms, n_arms))
    for a in range(n_arms):
        for b in range(n_arms):
            low = max(memory.lower[b, a], 0.0)
            cost = 1 - 2 * low
            if slater:
                cost = -1.0 if low > 0.5 else 1.0
            worth[a, b] = cost
    for r in range(len(orders)):
        possible[r] = possible[r] and is_cheapest(orders[r], worth)
    if not possible.any():  # the intervals were widened since
        for r in range(len(orders)):
            possible[r] = is_cheapest(orders[r], worth)
    above = np.zeros((n_arms, n_arms), np.bool_)
    for r in range(len(orders)):
        order = orders[r]
        for x in range(n_arms):
            for y in range(x + 1, n_arms):
                above[order[x], order[y]] |= possible[r]
    active[:] = above & above.T


@compiled
def is_cheapest(order, worth):
    """Return whether no other ranking is cheaper than this one everywhere in the box."""
    n_arms = len(order)
    gains = False
    for y in range(1, n_arms):
        for x in range(y):
            if worth[order[x], order[y]] < 0:
                gains = True
                if x == y - 1:  # the two arms swapped are cheaper
                    return False
    if not gains:
        return True
    least = np.zeros(2**n_arms)  # of the places in a set, against their order here
    for s in range(1, 2**n_arms):
        best = np.inf
        for top in range(n_arms):
            if s >> top & 1:
                cost = least[s ^ 1 << top]
                for x in range(top):
                    if s >> x & 1:
                        cost += worth[order[x], order[top]]
                best = min(best, cost)
        least[s] = best
    return least[-1] >= -1e-9


@compiled
def top_of_all(memory):
    """Return the arm on top of all possible rankings, -1 if they differ."""
    tops = memory.orders[memory.possible, 0]
    return tops[0] if (tops == tops[0]).all() else -1
