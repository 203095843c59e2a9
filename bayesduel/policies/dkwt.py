"""DKWT: an arm meets the others in matches of ever larger batches, until a batch is clear.

A batch of stage s has ``8 ln(4 / delta_s) / margin_s^2`` duels of the pair, with ``margin_s =
2^(-s - 1)`` and ``delta_s = 6 delta / (K pi^2 s^2)``. The arm that leads by more than the margin
has won the match; else a new batch begins, in which those before do not count. The winner meets an
arm that has not played yet.

References
----------
Haddenhorst, Bengs & Hüllermeier, "Identification of the Generalized Condorcet Winner in
Multi-dueling Bandits", NeurIPS 2021, Dvoretzky-Kiefer-Wolfowitz tournament, as in the authors'
program. Deviations: none for rounds of two arms; rounds of three or more, of which one arm wins,
are left out, since a duel has two arms. As in the program there are K matches, of which the last
repeats the pair before: K - 1 of them meet all arms, and the error is shared by K.
"""

from dataclasses import dataclass
from math import ceil, log, pi
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import pick
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, conclude, no_answer
from bayesduel.policies.match import Match, begin, no_match, won
from bayesduel.policies.policy import IdentificationPolicy

__all__ = ["DKWT", "batch"]

MATCHES, STAGE = range(2)


class Memory(NamedTuple):
    delta: float  # of one match
    waiting: np.ndarray  # arms that have not yet played, shape (K,)
    match: Match  # the batch, of the last winner and another arm
    place: np.ndarray  # MATCHES that are over, STAGE of the match from 1; shape (2,)
    answer: Answer


@compiled
def batch(delta, stage):
    """Return how many duels a batch of this stage has, and by what share an arm has to lead."""
    share = 6 * delta / (pi * stage) ** 2
    margin = 0.5 ** (stage + 1)
    return ceil(8 * log(4 / share) / margin**2), margin


@compiled
def drawn(waiting, rng):
    """Return an arm that has not yet played; it does now."""
    arm = pick(waiting, rng)
    waiting[arm] = False
    return arm


@compiled
def select(belief, memory, t, rng):
    """Return the pair of the match, or the answer against itself."""
    answer = memory.answer
    match = memory.match
    place = memory.place
    winner = answer.arm[0]
    if winner >= 0:
        return winner, winner
    i, j = match.pair
    if i < 0:
        i = drawn(memory.waiting, rng)
        return begin(match, belief, i, drawn(memory.waiting, rng))
    wins, losses = won(match, belief)
    size, margin = batch(memory.delta, place[STAGE])
    if wins + losses < size:
        return i, j
    if max(wins, losses) / size <= min(wins, losses) / size + margin:
        place[STAGE] += 1
        return begin(match, belief, i, j)
    place[MATCHES] += 1
    place[STAGE] = 1
    winner = i if wins > losses else j
    if place[MATCHES] == len(memory.waiting):
        return conclude(answer, winner, t)
    if memory.waiting.any():
        i = winner
        j = drawn(memory.waiting, rng)
    return begin(match, belief, i, j)


@dataclass(frozen=True, kw_only=True)
class DKWT(IdentificationPolicy):
    """Dvoretzky-Kiefer-Wolfowitz tournament: find the Condorcet winner, then exploit it."""

    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Haddenhorst, Bengs & Hüllermeier, NeurIPS 2021, DKWT"
    guarantee: ClassVar[str] = (
        "the Condorcet winner with probability 1 - delta; each match ends by the stage whose "
        "margin is at most 4/3 times the gap of its pair"
    )

    def init(self, n_arms: int) -> Memory:
        return Memory(
            delta=self.known_delta() / n_arms,
            waiting=np.ones(n_arms, np.bool_),
            match=no_match(),
            place=np.array([0, 1]),
            answer=no_answer(),
        )
