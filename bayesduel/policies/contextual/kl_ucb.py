"""KL-UCB: the item with the largest Chernoff bound on its probability of success.

References
----------
Garivier & Cappé, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011,
Algorithm 1. Deviations: none (c = 0, as the authors recommend in practice, by default). An
item's bound is computed only if a comparison of divergences shows that it exceeds the highest one
so far; the choice is that of the plain rule.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs.item_belief import Counts, ItemSet, finite_only
from bayesduel.beliefs.kl import largest_within, negative_entropy
from bayesduel.jit import compiled
from bayesduel.policies.policy import ItemPolicy

__all__ = ["KLUCB"]


class Memory(NamedTuple):
    """State of KL-UCB beside the counts."""

    c: float  # factor of ln ln t
    # ``p ln p + (1 - p) ln(1 - p)`` of each item's share of success p, shape (m,).
    entropy: np.ndarray
    next: np.ndarray  # first item that may not have been shown yet, shape (1,), int64


@compiled
def select(belief, memory, t, rng):
    """Return the next item: each item once, then the item with the highest bound."""
    m = len(belief.pulls)
    last = belief.last[0]
    if last >= 0:
        share = belief.successes[last] / belief.pulls[last]
        memory.entropy[last] = negative_entropy(share)
    while memory.next[0] < m and belief.pulls[memory.next[0]] > 0:
        memory.next[0] += 1
    if memory.next[0] < m:
        return memory.next[0]
    budget = log(t)
    if t > 1:
        budget += memory.c * max(log(log(t)), 0.0)
    best = last
    bound = 0.0
    if len(belief.values) == 1:
        bound = upper(belief, last, budget)
        over, under = logarithms(bound)
        for k in range(m):
            p = belief.successes[k] / belief.pulls[k]
            cost = memory.entropy[k] - p * over - (1 - p) * under
            if k != last and (p >= bound or belief.pulls[k] * cost < budget):
                new = upper(belief, k, budget)
                if new > bound:
                    best = k
                    bound = new
                    over, under = logarithms(bound)
        return best
    for k in range(m):
        new = belief.values[k] * upper(belief, k, budget)
        if new > bound:
            best = k
            bound = new
    return best


@compiled
def upper(belief, k, budget):
    """Return the upper bound on the success probability of item k, which was shown."""
    n = belief.pulls[k]
    return largest_within(belief.successes[k] / n, budget / n)


@compiled
def logarithms(q):
    """Return ln q and ln(1 - q), finite: below e^-700 where q is 0 or 1."""
    return log(max(q, 1e-304)), log(max(1 - q, 1e-304))


@dataclass(frozen=True, kw_only=True)
class KLUCB(ItemPolicy):
    """KL-UCB, for items shown one at a time; attributes are not used.

    Parameters
    ----------
    c
        Factor of ln ln t in the bound, >= 0; the paper proves its bound for 3 and plays 0.

    Raises
    ------
    ValueError
        If `c` is negative, or (from ``init``) the items are a whole sphere.
    """

    belief: Counts = Counts()
    c: float = 0.0
    select: ClassVar = staticmethod(select)
    reads: ClassVar = Counts
    reference: ClassVar[str] = "Garivier & Cappé, COLT 2011, Algorithm 1"
    guarantee: ClassVar[str] = "regret sum over items of gap / kl ln T: grows with their number"
    ranges: ClassVar = {"c": ">= 0"}

    def init(self, items: ItemSet) -> Memory:
        finite_only(self, items)
        return Memory(float(self.c), np.zeros(len(items.attributes)), np.zeros(1, np.int64))
