"""Knockout: arms meet in pairs, and the winner of each match goes on to the next round.

References
----------
Falahatgar, Orlitsky, Pichapati & Suresh, "Maximum Selection and Ranking under Noisy Comparisons",
ICML 2017, Algorithms 1 (Compare), 2 (Knockout-Round) and 3 (Knockout). Deviations: none.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, conclude, no_answer
from bayesduel.policies.match import (
    ROUND,
    Bracket,
    Match,
    advance,
    begin,
    enter,
    no_bracket,
    no_match,
    pairing,
    settled,
    won,
)
from bayesduel.policies.policy import IdentificationPolicy

__all__ = ["Knockout"]


class Memory(NamedTuple):
    bias: float  # what a match of round 0 may overlook; 2^(-1/3) times that a round later
    delta: float
    bracket: Bracket
    match: Match
    answer: Answer  # the arm that is left


@compiled
def select(belief, memory, t, rng):
    """Return the pair of the match, or the answer against itself."""
    answer = memory.answer
    bracket = memory.bracket
    match = memory.match
    winner = answer.arm[0]
    if winner >= 0:
        return winner, winner
    i, j = match.pair
    if i < 0:
        enter(bracket, np.ones(len(bracket.arms), np.bool_), rng)
    else:
        wins, losses = won(match, belief)
        stage = bracket.state[ROUND]
        bias = memory.bias / 2.0 ** (stage / 3)
        delta = memory.delta / 2.0**stage
        most = log(2 / delta) / (2 * bias**2)
        if not settled(wins, wins + losses, 0.5, bias, delta, most):
            return i, j
        advance(bracket, i if wins > losses else j)
    i, j = pairing(bracket, rng)
    if i < 0:
        return conclude(answer, bracket.arms[0], t)
    return begin(match, belief, i, j)


@dataclass(frozen=True, kw_only=True)
class Knockout(IdentificationPolicy):
    """Knockout: find an arm that loses to none by more than epsilon, then exploit it.

    Parameters
    ----------
    epsilon
        By how much the answer may lose to another arm, in (0, 0.5).
    gamma
        Assumed degree of relaxed strong stochastic transitivity, >= 1.
    """

    epsilon: float = 0.05
    gamma: float = 1.0
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Falahatgar et al., ICML 2017, Algorithms 1 to 3"
    guarantee: ClassVar[str] = (
        "within epsilon with probability 1 - delta after O(gamma^4 K log(1 / delta) / epsilon^2) "
        "duels, under strong stochastic transitivity and triangle inequality"
    )
    ranges: ClassVar = {"epsilon": "in (0, 0.5)", "gamma": "at least 1"}

    def init(self, n_arms: int) -> Memory:
        return Memory(
            bias=(2 ** (1 / 3) - 1) * self.epsilon / self.gamma,
            delta=self.known_delta(),
            bracket=no_bracket(n_arms),
            match=no_match(),
            answer=no_answer(),
        )
