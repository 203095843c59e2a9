"""Reductions to cardinal bandits: each arm of a duel is chosen by a bandit or was chosen before.

*Doubler* draws the left arm from those that the bandit of the right arm played in the last epoch,
and begins that bandit anew. *MultiSBM* has a bandit for each left arm, which is the right arm of
the duel before. *Sparring* lets two bandits play against each other. A bandit is rewarded where its
arm wins.

References
----------
Ailon, Karnin & Joachims, "Reducing Dueling Bandits to Cardinal Bandits", ICML 2014, Algorithms 1
(Doubler), 2 (MultiSBM) and 3 (Sparring). The bandit is left open there; here it is UCB1 (Auer et
al. 2002), their index with alpha = 2. Deviations: ties of the index and the first left arm are
random. The outcome of an arm's duel with itself is drawn by the policy: with 1/2 in its place two
sparring bandits can explore the same arms at the same times, and never learn.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, pick
from bayesduel.jit import compiled
from bayesduel.policies.identification import best_by
from bayesduel.policies.last_duel import ask, draw_arm, no_duel, outcome_or_draw
from bayesduel.policies.policy import PairPolicy
from bayesduel.policies.ucb1 import upper

__all__ = ["Doubler", "MultiSBM", "Sparring"]


class Memory(NamedTuple):
    """The bandits, and from which arms the left one is drawn."""

    points: np.ndarray  # what each arm won for each bandit, shape (bandits, K)
    plays: np.ndarray  # how often it was played by each, shape (bandits, K)
    left: np.ndarray  # the multiset of left arms as counts, shape (K,)
    asked: np.ndarray  # the duel asked for last


@compiled
def select_doubler(belief, memory, t, rng):
    """Return an arm of the last epoch and that of the bandit; an epoch is twice the last one."""
    plays = memory.plays[0]
    left = memory.left
    reward_right(belief, memory, 0, rng)
    if left.sum() == 0:
        left[rng.integers(0, len(left))] = 1
    if plays.sum() >= 2 * left.sum():
        left[:] = plays
        memory.points[0, :] = 0
        plays[:] = 0
    first = draw_arm(left, rng)
    return ask(memory.asked, belief, first, play(memory, 0, rng))


@compiled
def select_multi_sbm(belief, memory, t, rng):
    """Return the right arm of the last duel and that of its bandit."""
    left = memory.left
    if reward_right(belief, memory, np.argmax(left), rng):
        left[:] = 0
        left[belief.last[1]] = 1
    if left.sum() == 0:
        left[rng.integers(0, len(left))] = 1
    first = np.argmax(left)
    return ask(memory.asked, belief, first, play(memory, first, rng))


@compiled
def select_sparring(belief, memory, t, rng):
    """Return the arms of both bandits."""
    won = outcome_or_draw(memory.asked, belief, rng)
    if won >= 0:
        for side in range(2):
            memory.points[side, belief.last[side]] += won if side == 0 else 1 - won
            memory.plays[side, belief.last[side]] += 1
    first = play(memory, 0, rng)
    return ask(memory.asked, belief, first, play(memory, 1, rng))


@compiled
def reward_right(belief, memory, bandit, rng):
    """Reward a bandit for the right arm of the duel asked for; return whether it was recorded."""
    won = outcome_or_draw(memory.asked, belief, rng)
    if won < 0:
        return False
    memory.points[bandit, belief.last[1]] += 1 - won
    memory.plays[bandit, belief.last[1]] += 1
    return True


@compiled
def play(memory, bandit, rng):
    """Return the arm with the largest index of a bandit."""
    points = memory.points[bandit]
    plays = memory.plays[bandit]
    t = plays.sum() + 1
    index = np.empty(len(plays))
    for i in range(len(plays)):
        index[i] = upper(points[i], plays[i], t)
    return pick(index == index.max(), rng)


class Reduction(PairPolicy):
    """Defaults of the three reductions."""

    reads: ClassVar = "counts"

    def bandits(self, n_arms: int) -> int:
        """Return how many bandits there are."""
        return 1

    def init(self, n_arms: int) -> Memory:
        shape = self.bandits(n_arms), n_arms
        return Memory(np.zeros(shape), np.zeros(shape), np.zeros(n_arms), no_duel())

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the arm that the bandits played most; Doubler's in this epoch and the last."""
        return best_by(memory.plays.sum(axis=0) + memory.left, belief)


@dataclass(frozen=True, kw_only=True)
class Doubler(Reduction):
    """Doubler: a bandit plays against what it played in the last epoch; it has no settings."""

    select: ClassVar = staticmethod(select_doubler)
    reference: ClassVar[str] = "Ailon, Karnin & Joachims, ICML 2014, Algorithm 1"
    guarantee: ClassVar[str] = "O(K log^2 T / gap) where chances are linear in utilities"


@dataclass(frozen=True, kw_only=True)
class MultiSBM(Reduction):
    """MultiSBM: the right arm becomes the left one, and each left arm has a bandit; no settings."""

    select: ClassVar = staticmethod(select_multi_sbm)
    reference: ClassVar[str] = "Ailon, Karnin & Joachims, ICML 2014, Algorithm 2"
    guarantee: ClassVar[str] = "O(K log T / gap) where chances are linear in utilities"

    def bandits(self, n_arms: int) -> int:
        """Return how many bandits there are: one for each left arm."""
        return n_arms


@dataclass(frozen=True, kw_only=True)
class Sparring(Reduction):
    """Sparring: two bandits, one for each side, play against each other; it has no settings."""

    select: ClassVar = staticmethod(select_sparring)
    reference: ClassVar[str] = "Ailon, Karnin & Joachims, ICML 2014, Algorithm 3"
    guarantee: ClassVar[str] = (
        "no guarantee is proved: the rewards of each bandit depend on the other bandit's arms"
    )

    def bandits(self, n_arms: int) -> int:
        """Return how many bandits there are: one for each side."""
        return 2
