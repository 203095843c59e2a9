"""UCB1 on duels: a multi-armed bandit policy, naive or wrapped.

*Wrapped* (``reward="opponent"``): the bandit's arms are ours, and an arm's reward is its
duel with a random opponent, so that the best arm is the Borda winner. *Naive*
(``reward="pair"``): the bandit's arms are the ordered pairs, rewarded where the first wins,
so that it duels the most lopsided pair. Both are baselines with linear regret: the first since
opponents stay random, the second since it does not look for the best arm.

References
----------
Auer, Cesa-Bianchi & Fischer, "Finite-time analysis of the multiarmed bandit problem",
Machine Learning 2002, Figure 1; as baselines of Urvoy et al., ICML 2013. Deviations: ties
at random; a duel is a reward of both its ordered pairs.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, pick
from bayesduel.beliefs.query import met
from bayesduel.jit import compiled
from bayesduel.policies.borda_rewards import (
    Rewards,
    duel_random_opponent,
    mean_rewards,
    no_rewards,
    take_reward,
)
from bayesduel.policies.identification import best_by, best_by_shares
from bayesduel.policies.policy import PairPolicy

__all__ = ["UCB1"]


class Memory(NamedTuple):
    """Whether the arms are pairs, and the rewards against random opponents."""

    pairs: bool
    rewards: Rewards


@compiled
def select(belief, memory, t, rng):
    """Return the arm with the largest index and a random opponent, or the pair with it."""
    n_arms = len(memory.rewards.duels)
    if memory.pairs:
        index = np.full((n_arms, n_arms), -np.inf)
        for i in range(n_arms):
            for j in range(n_arms):
                if i != j:
                    wins = belief.wins[i, j]
                    index[i, j] = upper(wins, met(belief, i, j), t)
        place = pick((index == index.max()).ravel(), rng)
        return place // n_arms, place % n_arms
    take_reward(memory.rewards, belief)
    indices = np.empty(n_arms)
    for i in range(n_arms):
        indices[i] = upper(memory.rewards.points[i], memory.rewards.duels[i], t)
    return duel_random_opponent(memory.rewards, belief, pick(indices == indices.max(), rng), rng)


@compiled
def upper(points, n, t):
    """Return the index of an arm of a bandit before its play t; infinity before its first."""
    return points / n + (2 * log(max(t - 1.0, 1.0)) / n) ** 0.5 if n > 0 else np.inf


@dataclass(frozen=True, kw_only=True)
class UCB1(PairPolicy):
    """UCB1: the upper confidence bound policy of a bandit, naive or wrapped.

    Parameters
    ----------
    reward
        "opponent": an arm against a random other. "pair": each ordered pair is an arm.
    """

    reward: Literal["opponent", "pair"] = "opponent"
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    reference: ClassVar[str] = "Auer et al., Machine Learning 2002, as in Urvoy et al., ICML 2013"
    guarantee: ClassVar[str] = "no guarantee for duels (a baseline): the regret is linear"

    def init(self, n_arms: int) -> Memory:
        return Memory(self.reward == "pair", no_rewards(n_arms))

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the arm with the best mean; among pairs, the Copeland winner of the shares."""
        if self.reward == "pair":
            return best_by_shares(belief)
        return best_by(mean_rewards(memory.rewards), belief)
