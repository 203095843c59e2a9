"""POtential COpeland WInner STays Algorithm (POCOWISTA): Copeland winners where duels may tie.

A pair is duelled until one of its three outcomes (win, tie, loss) is known to be the likeliest; the
arm that it favours gets a point, and of a tie each gets half. The arm that may still get most
points stays, and meets the arm with most points among those that it has not met.

References
----------
Bengs, Haddenhorst & Hüllermeier, "Identifying Copeland Winners in Dueling Bandits with
Indifferences", AISTATS 2024, POCOWISTA; the likeliest outcome by PPR-1v1 of Jain, Shah, Gandhi &
Mehta, "PAC Mode Estimation using PPR Martingale Confidence Sequences", AISTATS 2022. Read second
hand: from the abstract and from the authors' program, which this rule follows. Deviations from
that: equal arms are chosen among at random, where it takes the first; it stops as soon as any arm
has as many points as all others may get; its version for transitive preferences is left out.
"""

from dataclasses import dataclass
from math import lgamma, log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, BeliefSpec, Hoeffding, pick
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, best_by, conclude, no_answer
from bayesduel.policies.last_duel import ask, no_duel, outcome
from bayesduel.policies.policy import HorizonPolicy

__all__ = ["POCOWISTA"]


class Memory(NamedTuple):
    """State of POCOWISTA between duels."""

    delta: float  # of a pair
    asked: np.ndarray  # the last duel
    pair: np.ndarray  # that is duelled, shape (2,); -1 where the next is to be chosen
    outcomes: np.ndarray  # losses, ties and wins of its first arm, shape (3,)
    met: np.ndarray  # whether the likeliest outcome of a pair is known, shape (K, K); itself too
    points: np.ndarray  # Copeland scores by the pairs that met, shape (K,)
    answer: Answer


@compiled
def select(belief, memory, t, rng):
    """Return the pair that is duelled, or the answer against itself."""
    pair, outcomes = memory.pair, memory.outcomes
    if memory.answer.arm[0] >= 0:
        return memory.answer.arm[0], memory.answer.arm[0]
    won = outcome(memory.asked, belief)
    if won >= 0:
        outcomes[int(2 * won)] += 1
        if is_decided(outcomes, memory.delta):
            settle(memory)
    if pair[0] < 0:
        n_arms = len(memory.points)
        potential = memory.points + n_arms - memory.met.sum(axis=1)
        most = np.sort(potential)
        # The largest of the others: the second largest for an arm that has the largest.
        others = np.where(potential == most[-1], most[-2], most[-1])
        sure = memory.points >= others
        if sure.any():
            return conclude(memory.answer, pick(sure, rng), t)
        pair[0] = pick(potential == most[-1], rng)
        points = np.where(memory.met[pair[0]], -1.0, memory.points)
        pair[1] = pick(points == points.max(), rng)
    return ask(memory.asked, belief, pair[0], pair[1])


@compiled
def is_decided(outcomes, delta):
    """Return whether the most frequent outcome is known to be likelier than the second."""
    ranked = np.sort(outcomes)
    most, second = ranked[2], ranked[1]
    # The density at 1/2 of a Beta posterior with a uniform prior.
    density = lgamma(most + second + 2) - lgamma(most + 1) - lgamma(second + 1)
    return density - (most + second) * log(2.0) <= log(delta / 2)


@compiled
def settle(memory):
    """Give the points of the pair, and let it go."""
    i, j = memory.pair
    score = np.argmax(memory.outcomes) / 2
    memory.points[i] += score
    memory.points[j] += 1 - score
    memory.met[i, j] = memory.met[j, i] = True
    memory.outcomes[:] = 0
    memory.pair[:] = -1


@dataclass(frozen=True, kw_only=True)
class POCOWISTA(HorizonPolicy):
    """POCOWISTA: find a Copeland winner where duels may tie, then exploit it by self-duels.

    An arm gets a point for each other arm that it beats more often than it loses or ties, and half
    a point where a tie is the likeliest outcome: :func:`bayesduel.success_rate` judges it under
    "copeland_indifference". It learns from the outcomes of single duels.
    """

    belief: BeliefSpec = Hoeffding()
    horizon: float | None = None
    delta: float | None = None
    reads: ClassVar = "counts"
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Bengs, Haddenhorst & Hüllermeier, AISTATS 2024"
    guarantee: ClassVar[str] = (
        "correct with probability 1 - delta where each pair has one likeliest outcome; the duels "
        "match a lower bound but for logarithms"
    )

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        return Memory(
            delta=self.known_delta() / (n_arms * (n_arms - 1) / 2),
            asked=no_duel(),
            pair=np.full(2, -1, np.int64),
            outcomes=np.zeros(3),
            met=np.eye(n_arms, dtype=np.bool_),
            points=np.zeros(n_arms),
            answer=no_answer(),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the arm with most points."""
        return best_by(memory.points, belief)
