"""POtential COpeland WInner STays Algorithm (POCOWISTA): Copeland winners where duels may tie.

A pair is duelled until one of its three outcomes (win, tie, loss) is known to be the likeliest; the
arm that it favours gets a point, and of a tie each gets half. The arm that may still get most
points stays, and meets the arm with most points among those that it has not met. Where preferences
are transitive (TRA-POCOWISTA), an outcome settles all pairs that follow from it as well.

References
----------
Bengs, Haddenhorst & Hüllermeier, "Identifying Copeland Winners in Dueling Bandits with
Indifferences", AISTATS 2024, POCOWISTA; the likeliest outcome by PPR-1v1 of Jain, Shah, Gandhi &
Mehta, "PAC Mode Estimation using PPR Martingale Confidence Sequences", AISTATS 2022. Read second
hand: from the abstract and from the authors' program, which this rule follows. Deviations from
that: equal arms are chosen among at random, where it takes the first; it stops as soon as any arm
has as many points as all others may get. Under `transitive` every pair is settled that follows by
transitivity, where the program looks at the two arms of the pair alone, and a pair has the error
probability delta / (K - 1), where the program has delta / (K ln K): both arms of a pair are
unbeaten, and after it there is one class of equal unbeaten arms fewer, so that K - 1 pairs are
duelled at most.
"""

from dataclasses import dataclass
from math import lgamma, log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, pick
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, best_by, conclude, no_answer
from bayesduel.policies.last_duel import ask, no_duel, outcome
from bayesduel.policies.policy import IdentificationPolicy

__all__ = ["POCOWISTA"]


class Memory(NamedTuple):
    delta: float  # of a pair
    asked: np.ndarray  # the last duel
    pair: np.ndarray  # that is duelled, shape (2,); -1 where the next is to be chosen
    outcomes: np.ndarray  # losses, ties and wins of its first arm, shape (3,)
    known: np.ndarray  # points of i by the likeliest outcome of i and j, (K, K); -1 not known
    transitive: bool
    answer: Answer


@compiled
def select(belief, memory, t, rng):
    """Return the pair that is duelled, or the answer against itself."""
    pair = memory.pair
    outcomes = memory.outcomes
    answer = memory.answer.arm[0]
    if answer >= 0:
        return answer, answer
    won = outcome(memory.asked, belief)
    if won >= 0:
        outcomes[int(2 * won)] += 1
        if is_decided(outcomes, memory.delta):
            settle(memory)
    if pair[0] < 0:
        points = score(memory.known)
        potential = points + (memory.known < 0).sum(axis=1)
        ascending = np.sort(potential)
        most = ascending[-1]
        # The largest of the others: the second largest for an arm that has the largest.
        others = np.where(potential == most, ascending[-2], most)
        sure = points >= others
        if sure.any():
            return conclude(memory.answer, pick(sure, rng), t)
        pair[0] = pick(potential == most, rng)
        points[memory.known[pair[0]] >= 0] = -1.0
        pair[1] = pick(points == points.max(), rng)
    return ask(memory.asked, belief, pair[0], pair[1])


@compiled
def is_decided(outcomes, delta):
    """Return whether the most frequent outcome is known to be likelier than the second."""
    ranked = np.sort(outcomes)
    most = ranked[2]
    second = ranked[1]
    # The density at 1/2 of a Beta posterior with a uniform prior.
    n = most + second
    density = lgamma(n + 2) - lgamma(most + 1) - lgamma(second + 1)
    return density - n * log(2.0) <= log(delta / 2)


@compiled
def score(known):
    """Return the Copeland scores by the pairs that are settled, shape (K,); an arm has 1/2 more."""
    return np.maximum(known, 0.0).sum(axis=1)


@compiled
def settle(memory):
    """Give the points of the pair, and let it go."""
    i, j = memory.pair
    points = np.argmax(memory.outcomes) / 2
    if memory.transitive:
        if points >= 0.5:
            follow(memory.known, i, j, points)
        if points <= 0.5:
            follow(memory.known, j, i, 1 - points)
    else:
        memory.known[i, j] = points
        memory.known[j, i] = 1 - points
    memory.outcomes[:] = 0
    memory.pair[:] = -1


@compiled
def follow(known, i, j, points):
    """Settle all pairs of an arm at least as good as i and one at most as good as j.

    points: of i against j, 1/2 or 1.
    """
    above = known[:, i].copy()
    below = known[j].copy()
    for a in np.flatnonzero(above >= 0.5):
        for b in np.flatnonzero(below >= 0.5):
            if known[a, b] < 0:
                known[a, b] = max(above[a], points, below[b])
                known[b, a] = 1 - known[a, b]


@dataclass(frozen=True, kw_only=True)
class POCOWISTA(IdentificationPolicy):
    """POCOWISTA: find a Copeland winner where duels may tie, then exploit it by self-duels.

    An arm gets a point for each other arm that it beats more often than it loses or ties, and half
    a point where a tie is the likeliest outcome: :func:`bayesduel.success_rate` judges it under
    "copeland_indifference". It learns from the outcomes of single duels.

    Parameters
    ----------
    transitive
        Whether the likeliest outcomes are known to be transitive, ties included, so that what
        follows from others is not duelled.
    """

    transitive: bool = False
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Bengs, Haddenhorst & Hüllermeier, AISTATS 2024"
    guarantee: ClassVar[str] = (
        "correct with probability 1 - delta where each pair has one likeliest outcome; the duels "
        "match a lower bound but for logarithms"
    )

    def init(self, n_arms: int) -> Memory:
        pairs = n_arms - 1 if self.transitive else n_arms * (n_arms - 1) / 2
        return Memory(
            delta=self.known_delta() / pairs,
            asked=no_duel(),
            pair=np.full(2, -1, np.int64),
            outcomes=np.zeros(3),
            known=np.where(np.eye(n_arms) == 1, 0.5, -1.0),
            transitive=bool(self.transitive),
            answer=no_answer(),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the arm with most points."""
        return best_by(score(memory.known), belief)
