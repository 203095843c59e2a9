"""Sequential elimination: an anchor meets every other arm once, and gives way to a better one.

References
----------
Falahatgar, Hao, Orlitsky, Pichapati & Ravindrakumar, "Maxing and Ranking with Few Assumptions",
NIPS 2017, Seq-Eliminate, with Compare at the bounds 0 and epsilon. Deviations: none.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import pick
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, conclude, no_answer
from bayesduel.policies.match import Match, begin, no_match, settled, won
from bayesduel.policies.policy import IdentificationPolicy

__all__ = ["SequentialElimination"]


class Memory(NamedTuple):
    epsilon: float
    delta: float  # of one match
    candidates: np.ndarray  # arms that have not yet met the anchor, shape (K,)
    match: Match  # of a candidate and the anchor
    answer: Answer  # the last anchor


@compiled
def select(belief, memory, t, rng):
    """Return a candidate and the anchor, or the answer against itself."""
    answer = memory.answer
    match = memory.match
    candidates = memory.candidates
    winner = answer.arm[0]
    if winner >= 0:
        return winner, winner
    i, anchor = match.pair
    if i < 0:
        anchor = pick(candidates, rng)
        candidates[anchor] = False
    else:
        wins, losses = won(match, belief)
        n = wins + losses
        centre = 0.5 + memory.epsilon / 2
        most = 2 * log(2 / memory.delta) / memory.epsilon**2
        if not settled(wins, n, centre, 0.0, memory.delta, most):
            return i, anchor
        anchor = i if wins >= centre * n else anchor
    if not candidates.any():
        return conclude(answer, anchor, t)
    i = pick(candidates, rng)
    candidates[i] = False
    return begin(match, belief, i, anchor)


@dataclass(frozen=True, kw_only=True)
class SequentialElimination(IdentificationPolicy):
    """Sequential elimination: find an arm that loses to none by more than epsilon, exploit it.

    Parameters
    ----------
    epsilon
        By how much the answer may lose to another arm, in (0, 0.5).
    """

    epsilon: float = 0.05
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Falahatgar et al., NIPS 2017, Seq-Eliminate"
    guarantee: ClassVar[str] = (
        "within epsilon with probability 1 - delta after O(K log(K / delta) / epsilon^2) duels, "
        "under strong stochastic transitivity"
    )
    ranges: ClassVar = {"epsilon": "in (0, 0.5)"}

    def init(self, n_arms: int) -> Memory:
        return Memory(
            epsilon=float(self.epsilon),
            delta=self.known_delta() / n_arms,
            candidates=np.ones(n_arms, np.bool_),
            match=no_match(),
            answer=no_answer(),
        )
