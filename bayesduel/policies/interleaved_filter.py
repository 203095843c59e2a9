"""Interleaved Filter: an incumbent duels all candidates in turn until one of them beats it.

References
----------
Yue, Broder, Kleinberg & Joachims, "The K-armed Dueling Bandits Problem", J. Comput. Syst.
Sci. 2012, Algorithms 1 (IF1) and 2 (IF2, with pruning). Deviation: intervals are looked at
at the end of each round of the incumbent against every candidate.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, pick
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, conclude, no_answer
from bayesduel.policies.policy import HorizonPolicy

__all__ = ["InterleavedFilter"]


class Memory(NamedTuple):
    log_inverse_delta: float
    prune: bool  # whether an incumbent's fall also drops the arms it was beating
    candidates: np.ndarray  # arms still in, without the incumbent, shape (K,)
    # The incumbent's wins and losses against each arm when it became incumbent, (2, K).
    before: np.ndarray
    # The incumbent (-1 before the first) and the candidate it met last, shape (2,).
    place: np.ndarray
    answer: Answer  # the last incumbent


@compiled
def select(belief, memory, t, rng):
    """Return the incumbent and its next candidate, or the answer against itself."""
    answer = memory.answer.arm[0]
    if answer >= 0:
        return answer, answer
    place = memory.place
    candidates = memory.candidates
    if place[0] < 0:
        install(belief, memory, pick(candidates, rng))
    if not candidates[place[1] + 1 :].any():
        end_round(belief, memory, rng)
        place[1] = -1
    if not candidates.any():
        return conclude(memory.answer, place[0], t)
    place[1] += 1
    while not candidates[place[1]]:
        place[1] += 1
    return place[0], place[1]


@compiled
def install(belief, memory, arm):
    """Make `arm` the incumbent, with new counts of wins and losses."""
    memory.place[0] = arm
    memory.candidates[arm] = False
    memory.before[0] = belief.wins[arm]
    memory.before[1] = belief.wins[:, arm]


@compiled
def end_round(belief, memory, rng):
    """Drop candidates separated below the incumbent; replace it by one separated above."""
    incumbent = memory.place[0]
    candidates = memory.candidates
    victors = np.zeros(len(candidates), np.bool_)
    ahead = np.zeros(len(candidates), np.bool_)
    for b in range(len(candidates)):
        wins = belief.wins[incumbent, b] - memory.before[0, b]
        losses = belief.wins[b, incumbent] - memory.before[1, b]
        n = wins + losses
        if candidates[b] and n > 0:
            radius = sqrt(4 * memory.log_inverse_delta / n)
            won = wins / n
            ahead[b] = won > 0.5
            if won - radius > 0.5:
                candidates[b] = False
            victors[b] = won + radius < 0.5
    if victors.any():
        if memory.prune:
            candidates &= ~ahead
        install(belief, memory, pick(victors, rng))


@dataclass(frozen=True, kw_only=True)
class InterleavedFilter(HorizonPolicy):
    """Interleaved Filter: explore by successive incumbents, then exploit the last one.

    Parameters
    ----------
    version
        2 prunes, 1 does not.
    """

    horizon: float | None = None
    version: Literal[1, 2] = 2
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    reference: ClassVar[str] = "Yue et al., J. Comput. Syst. Sci. 2012, Algorithms 1 and 2"
    guarantee: ClassVar[str] = "O(K log T / gap) under strong transitivity and triangle inequality"

    def init(self, n_arms: int) -> Memory:
        horizon = self.known_horizon()
        return Memory(
            log_inverse_delta=log(horizon * n_arms**2),
            prune=self.version == 2,
            candidates=np.ones(n_arms, np.bool_),
            before=np.zeros((2, n_arms)),
            place=np.full(2, -1, np.int64),
            answer=no_answer(),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the incumbent."""
        return max(int(memory.place[0]), 0)
