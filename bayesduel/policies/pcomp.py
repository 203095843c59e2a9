"""PCOMP: all pairs of the arms left, in a few rounds that are chosen ahead of their outcomes.

In round r each pair of arms that are left duels ``floor(q^r)`` times, ``q = T^(1 / B)``; arms that
lose to another one by more than chance are dropped at its end. Nothing is learned within a round,
so that its duels can run in parallel: B rounds are B batches.

References
----------
Agarwal, Ghuge & Nagarajan, "Batched Dueling Bandits", ICML 2022, PCOMP. Read second hand, from the
abstract and from summaries. Deviations: the radius is ours, ``sqrt(ln(K^2 B / delta) / (2 n))``
for n duels of a pair in the round: Hoeffding's inequality and a union bound over pairs and rounds
fail with probability delta. A round that would drop every arm, as without a Condorcet winner it
can, drops none.
"""

from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief
from bayesduel.beliefs.query import results_since
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, best_by_shares, conclude, no_answer, take_pair
from bayesduel.policies.policy import HorizonPolicy

__all__ = ["PCOMP"]

FIRST, SECOND, UNTIL, ROUND = range(4)


class Memory(NamedTuple):
    ratio: float  # q
    budget: float  # ln(K^2 B / delta)
    place: np.ndarray  # the pair, the time at which its duels are over, and the round; shape (4,)
    left: np.ndarray  # arms not dropped, shape (K,)
    current: np.ndarray  # pairs still to duel in this round, shape (K, K)
    before: np.ndarray  # wins at its beginning, shape (K, K)
    answer: Answer


@compiled
def select(belief, memory, t, rng):
    """Return the next pair of the round, or the arm that is left against itself."""
    place = memory.place
    answer = memory.answer
    winner = answer.arm[0]
    if winner >= 0:
        return winner, winner
    if t < place[UNTIL]:
        return place[FIRST], place[SECOND]
    i, j = take_pair(memory.current)
    while i < 0:
        drop(belief, memory)
        if memory.left.sum() == 1:
            return conclude(answer, np.argmax(memory.left), t)
        place[ROUND] += 1
        memory.before[:] = belief.wins
        left = memory.left
        for a in range(len(left)):
            memory.current[a, a + 1 :] = left[a] & left[a + 1 :]
        i, j = take_pair(memory.current)
    place[FIRST] = i
    place[SECOND] = j
    # Rounding: 64 ** (1 / 3) is less than 4
    often = memory.ratio ** place[ROUND] * (1 + 1e-12)
    place[UNTIL] = t + int(often)
    return i, j


@compiled
def drop(belief, memory):
    """Drop the arms that lost to another one by more than chance in the round."""
    lost = np.zeros(len(memory.left), np.bool_)
    for i in range(len(lost)):
        for j in range(len(lost)):
            wins, losses = results_since(belief, memory.before, i, j)
            n = wins + losses
            if n == 0:
                continue
            radius = sqrt(memory.budget / (2 * n))
            if wins / n > 0.5 + radius:
                lost[j] = True
    if (memory.left & ~lost).any():
        memory.left[lost] = False


@compiled
def repeats(belief, memory, t):
    """Return how many duels of the pair are left."""
    return max(1, memory.place[UNTIL] - t)


@dataclass(frozen=True, kw_only=True)
class PCOMP(HorizonPolicy):
    """PCOMP: duel all pairs of the arms left in a few batches, and drop arms between them.

    Parameters
    ----------
    n_batches
        B, the number of rounds, at least 1. Default: ``ceil(ln(horizon))``, after which the
        regret is that of sequential rules but for logarithms.

    Raises
    ------
    ValueError
        If the horizon is infinite.
    """

    n_batches: int | None = None
    horizon: float | None = None
    delta: float | None = None
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    finite: ClassVar[bool] = True
    repeats: ClassVar = staticmethod(repeats)
    reference: ClassVar[str] = "Agarwal, Ghuge & Nagarajan, ICML 2022, PCOMP"
    guarantee: ClassVar[str] = (
        "regret O(K T^(1 / B) log(K B T) sum of 1 / gap) in B rounds, if a Condorcet winner exists"
    )
    ranges: ClassVar = {"n_batches": "at least 1"}

    def init(self, n_arms: int) -> Memory:
        horizon = self.known_horizon()
        n_batches = self.n_batches or max(1, ceil(log(horizon)))
        return Memory(
            ratio=horizon ** (1 / n_batches),
            budget=log(n_arms**2 * n_batches / self.known_delta()),
            place=np.array([-1, -1, 0, 0]),
            left=np.ones(n_arms, np.bool_),
            current=np.zeros((n_arms, n_arms), np.bool_),
            before=np.zeros((n_arms, n_arms)),
            answer=no_answer(),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the Copeland winner of the observed shares among the arms left."""
        return best_by_shares(belief, memory.left)
