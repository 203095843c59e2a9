"""Rewards of duels against random opponents, whose expectation is the Borda score.

Only the first arm of a duel is rewarded, since only its opponent was drawn at random.
"""

from typing import NamedTuple

import numpy as np

from bayesduel.beliefs.query import other_arm
from bayesduel.jit import compiled
from bayesduel.policies.last_duel import ask, no_duel, outcome

__all__ = ["Rewards", "duel_random_opponent", "mean_rewards", "no_rewards", "take_reward"]


class Rewards(NamedTuple):
    """Rewards of the arms against random opponents."""

    points: np.ndarray  # of each arm as the first of a pair, shape (K,)
    duels: np.ndarray  # their number, shape (K,)
    asked: np.ndarray  # the duel asked for last


def no_rewards(n_arms: int) -> Rewards:
    """Return the rewards before the first duel."""
    return Rewards(np.zeros(n_arms), np.zeros(n_arms), no_duel())


def mean_rewards(rewards: Rewards) -> np.ndarray:
    """Return each arm's mean reward, 1/2 where it has none, shape (K,)."""
    n = rewards.duels
    mean = np.full(len(n), 0.5)
    np.divide(rewards.points, n, out=mean, where=n > 0)
    return mean


@compiled
def duel_random_opponent(rewards, belief, i, rng):
    """Return arm i and a uniformly random other arm, and note that their duel is asked for."""
    j = other_arm(i, len(rewards.duels), rng)
    return ask(rewards.asked, belief, i, j)


@compiled
def take_reward(rewards, belief):
    """Count the duel asked for if it was recorded; return its first arm, else -1."""
    won = outcome(rewards.asked, belief)
    if won < 0:
        return -1
    i = belief.last[0]
    rewards.points[i] += won
    rewards.duels[i] += 1
    return i
