"""SEEBS: knockouts find champions that are better and better, and each drops arms that lose to it.

Round t finds a champion by a knockout and compares every other arm with it, both at the scale
2^-t; it ends when one arm is left, so that no gap has to be known.

References
----------
Ren, Liu & Shroff, "The Sample Complexity of Best-k Items Selection from Pairwise Comparisons",
ICML 2020, Algorithms 1 (DistributeItem) to 4 (SEEBS), for one item, where Algorithm 3 is a knockout
of matches of two. Deviations: none; where a match leaves the choice to chance the first of the pair
goes on, whose order is random.
"""

from dataclasses import dataclass
from math import pi
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, conclude, no_answer
from bayesduel.policies.match import (
    DOWN,
    OPEN,
    ROUND,
    Bracket,
    Match,
    advance,
    begin,
    distributed,
    enter,
    no_bracket,
    no_match,
    pairing,
    won,
)
from bayesduel.policies.policy import IdentificationPolicy

__all__ = ["SEEBS"]


class Memory(NamedTuple):
    delta: float
    arms: np.ndarray  # those not dropped, shape (K,)
    place: np.ndarray  # the round, the champion (-1 in a knockout), the arm compared; shape (3,)
    bracket: Bracket
    match: Match  # in a knockout two arms, then an arm and the champion
    answer: Answer  # the arm that is left


@compiled
def select(belief, memory, t, rng):
    """Return the pair of the match, or the answer against itself."""
    answer = memory.answer
    arms = memory.arms
    place = memory.place
    match = memory.match
    winner = answer.arm[0]
    if winner >= 0:
        return winner, winner
    i, j = match.pair
    if i >= 0:
        found = verdict(belief, memory)
        if found == OPEN:
            return i, j
        if place[1] < 0:
            advance(memory.bracket, j if found == DOWN else i)
        elif found == DOWN:
            arms[i] = False
    while True:
        if place[1] < 0:
            if place[0] == 0 or place[2] >= len(arms):
                if arms.sum() == 1:
                    return conclude(answer, np.argmax(arms), t)
                place[0] += 1
                place[2] = -1
                enter(memory.bracket, arms, rng)
            i, j = pairing(memory.bracket, rng)
            if i >= 0:
                return begin(match, belief, i, j)
            place[1] = memory.bracket.arms[0]
        place[2] += 1
        while place[2] < len(arms) and (not arms[place[2]] or place[2] == place[1]):
            place[2] += 1
        if place[2] < len(arms):
            return begin(match, belief, place[2], place[1])
        place[1] = -1


@compiled
def verdict(belief, memory):
    """Return whether the first arm of the match is UP, DOWN or in the MIDDLE; or OPEN."""
    scale = 2.0 ** -memory.place[0] / 3
    delta = 2 * memory.delta / (pi * memory.place[0]) ** 2  # a third of the round's
    width = scale
    margin = scale
    if memory.place[1] < 0:
        stage = memory.bracket.state[ROUND]
        width = scale / 8 * 0.8**stage
        margin = 0.0
        delta *= 6 / (pi * stage) ** 2
    wins, losses = won(memory.match, belief)
    return distributed(wins, wins + losses, width, margin, delta)


@dataclass(frozen=True, kw_only=True)
class SEEBS(IdentificationPolicy):
    """SEEBS: find the best arm without a known gap, then exploit it by self-duels."""

    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Ren, Liu & Shroff, ICML 2020, Algorithms 1 to 4"
    guarantee: ClassVar[str] = (
        "correct with probability 1 - delta after O(sum over arms of (log(1 / delta) + log log "
        "(1 / gap)) / gap^2) duels, under strong stochastic transitivity and triangle inequality"
    )

    def init(self, n_arms: int) -> Memory:
        return Memory(
            delta=self.known_delta(),
            arms=np.ones(n_arms, np.bool_),
            place=np.array([0, -1, -1]),
            bracket=no_bracket(n_arms),
            match=no_match(),
            answer=no_answer(),
        )
