"""Action elimination on duels: identification of a bandit's best arm, naive or wrapped.

Play the arms in turn and drop each arm whose upper bound lies below another's lower bound; the
last arm left is the answer. *Wrapped* (``reward="opponent"``): an arm's reward is its duel with
a random opponent, so that the best arm is the Borda winner. *Naive* (``reward="pair"``): the
bandit's arms are the ordered pairs: the rule finds the most lopsided pair, and the answer is the
Copeland winner of the observed shares.

References
----------
Even-Dar, Mannor & Mansour, "Action Elimination and Stopping Conditions", JMLR 2006,
Algorithm 3; as baselines of Urvoy et al., ICML 2013, with its radius ``sqrt(ln(2 N T / delta)
/ (2 n))`` for N arms of the bandit. Deviations: the arm with fewest plays is next, ties at
random; a duel is a play of both its ordered pairs.
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, pick, shares
from bayesduel.jit import compiled
from bayesduel.policies.borda_rewards import (
    Rewards,
    duel_random_opponent,
    mean_rewards,
    no_rewards,
    take_reward,
)
from bayesduel.policies.identification import Answer, best_by, best_by_shares, conclude, no_answer
from bayesduel.policies.policy import HorizonPolicy

__all__ = ["ActionElimination"]


class Memory(NamedTuple):
    pairs: bool  # whether the arms are pairs
    budget: float  # ln(2 N T / delta)
    # Arms still possible, shape (K, K): ordered pairs, or arms in the first column.
    active: np.ndarray
    rewards: Rewards  # what arms won against random opponents
    answer: Answer  # the decision


@compiled
def select(belief, memory, t, rng):
    """Return the active arm or pair with fewest plays, or the answer against itself."""
    answer = memory.answer.arm[0]
    if answer >= 0:
        return answer, answer
    take_reward(memory.rewards, belief)
    active = memory.active
    n_arms = len(memory.active)
    n = np.zeros(active.shape)
    mean = np.full(active.shape, 0.5)
    if memory.pairs:
        n[:] = belief.wins + belief.wins.T
        mean[:] = shares(belief)
    else:
        rewards = memory.rewards
        for i in range(n_arms):
            duels = rewards.duels[i]
            n[i, 0] = duels
            if duels > 0:
                mean[i, 0] = rewards.points[i] / duels
    eliminate(active, n, mean, memory.budget)
    if active.sum() == 1 or not active.any():
        best = active[:, 0]
        if memory.pairs:  # a Copeland winner of the observed shares
            wins = (mean > 0.5).sum(axis=1)
            best = wins == wins.max()
        return conclude(memory.answer, pick(best, rng), t)
    plays = np.where(active, n, inf)
    place = pick((plays == plays.min()).ravel(), rng)
    if memory.pairs:
        return place // n_arms, place % n_arms
    return duel_random_opponent(memory.rewards, belief, place // n_arms, rng)


@compiled
def eliminate(active, n, mean, budget):
    """Drop every arm whose upper bound is below the largest lower bound."""
    best = -inf
    for i in range(len(n)):
        for j in range(len(n)):
            if active[i, j] and n[i, j] > 0:
                radius = sqrt(budget / (2 * n[i, j]))
                lower = mean[i, j] - radius
                best = max(best, lower)
    for i in range(len(n)):
        for j in range(len(n)):
            if active[i, j] and n[i, j] > 0:
                radius = sqrt(budget / (2 * n[i, j]))
                upper = mean[i, j] + radius
                active[i, j] = upper >= best


@dataclass(frozen=True, kw_only=True)
class ActionElimination(HorizonPolicy):
    """Action elimination: identify the best arm of a bandit, then exploit it by self-duels.

    Parameters
    ----------
    reward
        "opponent": an arm against a random other. "pair": each ordered pair is an arm.
    """

    reward: Literal["opponent", "pair"] = "opponent"
    horizon: float | None = None
    delta: float | None = None
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    finite: ClassVar[bool] = True
    reference: ClassVar[str] = "Even-Dar et al., JMLR 2006, as in Urvoy et al., ICML 2013"
    guarantee: ClassVar[str] = (
        "wrapped: the Borda winner with probability 1 - delta; naive: no guarantee"
    )

    def init(self, n_arms: int) -> Memory:
        horizon = self.known_horizon()
        pairs = self.reward == "pair"
        active = ~np.eye(n_arms, dtype=np.bool_)
        if not pairs:
            active[:] = False
            active[:, 0] = True
        n_unknown = n_arms * (n_arms - 1) / 2 if pairs else n_arms
        return Memory(
            pairs=pairs,
            budget=log(2 * n_unknown * horizon / (self.delta or 1 / horizon)),
            active=active,
            rewards=no_rewards(n_arms),
            answer=no_answer(),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the arm with the best mean; among pairs, the Copeland winner of the shares."""
        if self.reward == "pair":
            return best_by_shares(belief)
        return best_by(np.where(memory.active[:, 0], mean_rewards(memory.rewards), -1), belief)
