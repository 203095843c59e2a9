"""Relative Upper Confidence Bound (RUCB).

The champion is an arm that may still be the Condorcet winner by its upper bounds; the challenger
has the largest upper bound against it.

References
----------
Zoghi, Whiteson, Munos & de Rijke, "Relative Upper Confidence Bound for the K-Armed
Dueling Bandit Problem", ICML 2014, Algorithm 1. Without a Condorcet winner its regret is linear.
Deviation: a pair that never met has the bounds plus and minus infinity where the paper sets
x / 0 := 1, that is 2 and -1. Both are on the same side of 1/2; but here a challenger that never
met the champion precedes all that did, and there one with ``share + sqrt(alpha ln t / n) > 2``
precedes it.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import pick, upper_against
from bayesduel.beliefs.decided_pairs import DecidedPairs, no_decided_pairs, update
from bayesduel.jit import compiled
from bayesduel.policies.policy import PairPolicy

__all__ = ["RUCB", "challenger"]


class Memory(NamedTuple):
    """The hypothesised best arm (-1 if none), shape (1,), and the decided pairs."""

    alpha: float
    best: np.ndarray
    decided: DecidedPairs


@compiled
def select(belief, memory, t, rng):
    """Return the next pair, (champion, challenger)."""
    update(memory.decided, belief, memory.alpha, t)
    best = memory.best
    unbeaten = memory.decided.sure_losses == 0
    n_unbeaten = unbeaten.sum()
    if best[0] >= 0 and not unbeaten[best[0]]:
        best[0] = -1

    if n_unbeaten == 0:
        champion = pick(~unbeaten, rng)
    elif n_unbeaten == 1:
        champion = pick(unbeaten, rng)
        best[0] = champion
    elif best[0] >= 0 and rng.random() < 0.5:
        champion = best[0]
    else:
        if best[0] >= 0:
            unbeaten[best[0]] = False
        champion = pick(unbeaten, rng)

    upper = upper_against(belief, champion, 2 * memory.alpha * log(t))
    return champion, challenger(upper, champion, rng)


@compiled
def challenger(upper, champion, rng):
    """Return an arm of the largest bound, the champion only where no other has it."""
    challengers = upper == upper.max()
    if challengers[champion] and challengers.sum() > 1:
        challengers[champion] = False
    return pick(challengers, rng)


@dataclass(frozen=True, kw_only=True)
class RUCB(PairPolicy):
    """Relative Upper Confidence Bound, for Condorcet regret.

    Parameters
    ----------
    belief
        The belief that bounds P. Default: Hoeffding's inequality, kept by crossing times.
    alpha
        Exploration constant, > 0.5; the expected regret bound needs alpha > 1.
    """

    alpha: float = 0.51
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Zoghi et al., ICML 2014, Algorithm 1"
    guarantee: ClassVar[str] = "Condorcet regret O(K log T + K^2); linear without such a winner"
    ranges: ClassVar = {"alpha": "> 0.5"}

    def init(self, n_arms: int) -> Memory:
        return Memory(float(self.alpha), np.full(1, -1, np.int64), no_decided_pairs(n_arms))
