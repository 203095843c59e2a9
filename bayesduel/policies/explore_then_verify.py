"""Explore, then verify: find a likely winner quickly, and be sure of it by one duel for each arm.

Exploration, at a constant confidence, duels every pair until for each arm the strongest of those
that beat it is known, its witness, and one arm is beaten by none: the candidate. Verification duels
every other arm with its witness only, at the confidence that is asked for; if an arm beats its
witness, exploration begins anew.

References
----------
Karnin, "Verification Based Solution for Structured MAB Problems", NIPS 2016, Algorithms 1, 3 and 4
(Condorcet winner), with kappa = min(1/3, 1 / ln(1 / delta)). Deviations: exploration considers
both arms of a pair, each of which has a witness, and duels the pair while either needs it; an
interval is kept as it is once its arm needs it no more; without a candidate exploration begins
anew, which the paper leaves open.
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, conclude, no_answer, take_pair
from bayesduel.policies.policy import IdentificationPolicy

__all__ = ["ExploreThenVerify"]


class Memory(NamedTuple):
    delta: float
    place: np.ndarray  # how often it explored, and the candidate (-1 in exploration), shape (2,)
    before: np.ndarray  # wins at the beginning of the phase, shape (K, K)
    needed: np.ndarray  # [i, j]: the duels with j still matter for i, shape (K, K)
    current: np.ndarray  # pairs still to duel in this round of the phase, shape (K, K)
    lower: np.ndarray  # bounds on P of the phase, shape (K, K)
    upper: np.ndarray
    answer: Answer  # the candidate, verified


@compiled
def select(belief, memory, t, rng):
    """Return the next pair of the round, or the answer against itself."""
    answer = memory.answer
    place = memory.place
    winner = answer.arm[0]
    if winner >= 0:
        return winner, winner
    if not memory.current.any():
        if place[0] == 0:
            explore(belief, memory)
        elif place[1] < 0:
            end_exploring(belief, memory)
        elif end_verifying(belief, memory):
            return conclude(answer, place[1], t)
        memory.current[:] = np.triu(memory.needed | memory.needed.T)
    return take_pair(memory.current)


@compiled
def explore(belief, memory):
    """Begin to explore."""
    memory.place[0] += 1
    memory.place[1] = -1
    memory.before[:] = belief.wins
    memory.needed[:] = True
    np.fill_diagonal(memory.needed, False)


@compiled
def bound(belief, memory, delta):
    """Bound the entries of P that are still needed, all of them at all times with 1 - delta."""
    n_arms = len(memory.needed)
    wins = belief.wins - memory.before
    for i in range(n_arms):
        for j in range(n_arms):
            if memory.needed[i, j]:
                memory.lower[i, j] = 0.0
                memory.upper[i, j] = 1.0
                won = wins[i, j]
                n = won + wins[j, i]
                if n == 0:  # its outcomes come at the end of a batch
                    continue
                budget = log(2 * (n * n_arms) ** 2 / delta)
                radius = sqrt(budget / (2 * n))
                memory.lower[i, j] = won / n - radius
                memory.upper[i, j] = won / n + radius


@compiled
def end_exploring(belief, memory):
    """Strike off what exploration needs no more; when nothing is left, turn to verification."""
    needed = memory.needed
    lower = memory.lower
    upper = memory.upper
    n_arms = len(needed)
    failure = 1 / log(1 / memory.delta)
    bound(belief, memory, min(1 / 3, failure))
    least = np.empty(n_arms)
    for i in range(n_arms):
        upper[i, i] = inf
        least[i] = upper[i].min()
    for i in range(n_arms):
        for j in range(n_arms):
            below = lower[i, j]
            above = upper[i, j]
            beats = below > 0.5
            loses_clearly = above < 0.5 and 2 * (above - 0.5) < below - 0.5
            loses_less = below < 0.5 and below > least[i]
            if beats or loses_clearly or loses_less:
                needed[i, j] = False
    if needed.any():
        return
    for i in range(n_arms):
        lower[i, i] = 0.5
        if lower[i].min() >= 0.5:
            memory.place[1] = i
    if memory.place[1] < 0:
        explore(belief, memory)
        return
    memory.before[:] = belief.wins
    for i in range(n_arms):
        witness = np.argmin(upper[i])
        needed[i, witness] = i != memory.place[1]


@compiled
def end_verifying(belief, memory):
    """Return whether every other arm loses to its witness; explore anew if one beats it."""
    needed = memory.needed
    lower = memory.lower
    upper = memory.upper
    explored = memory.place[0]
    bound(belief, memory, memory.delta / (2 * explored**2))
    if (needed & (lower > 0.5)).any():
        explore(belief, memory)
        return False
    needed &= upper >= 0.5
    return not needed.any()


@dataclass(frozen=True, kw_only=True)
class ExploreThenVerify(IdentificationPolicy):
    """Explore, then verify: find the Condorcet winner, then exploit it by self-duels.

    Without a Condorcet winner it explores for ever.
    """

    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Karnin, NIPS 2016, Algorithms 1, 3 and 4"
    guarantee: ClassVar[str] = (
        "correct with probability 1 - delta; of the duels only sum over arms of log(1 / delta) / "
        "(largest gap)^2 grows with 1 / delta"
    )

    def init(self, n_arms: int) -> Memory:
        shape = n_arms, n_arms
        return Memory(
            delta=self.known_delta(),
            place=np.array([0, -1]),
            before=np.zeros(shape),
            needed=np.zeros(shape, np.bool_),
            current=np.zeros(shape, np.bool_),
            lower=np.zeros(shape),
            upper=np.zeros(shape),
            answer=no_answer(),
        )
