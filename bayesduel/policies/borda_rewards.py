"""Rewards of duels against random opponents, whose expectation is the Borda score.

Only the first arm of a duel is rewarded, since only its opponent was drawn at random.
"""

from typing import NamedTuple

import numpy as np

from bayesduel.jit import compiled

__all__ = ["Rewards", "duel_random_opponent", "mean_rewards", "no_rewards", "take_reward"]


class Rewards(NamedTuple):
    """Rewards of the arms against random opponents."""

    points: np.ndarray  # of each arm as the first of a pair, shape (K,)
    duels: np.ndarray  # their number, shape (K,)
    # The pair asked last, its wins and all duels recorded then, shape (4,); -1 before.
    asked: np.ndarray


def no_rewards(n_arms: int) -> Rewards:
    """Return the rewards before the first duel."""
    return Rewards(np.zeros(n_arms), np.zeros(n_arms), np.full(4, -1.0))


def mean_rewards(rewards: Rewards) -> np.ndarray:
    """Return each arm's mean reward, 1/2 where it has none, shape (K,)."""
    n = rewards.duels
    mean = np.full(len(n), 0.5)
    np.divide(rewards.points, n, out=mean, where=n > 0)
    return mean


@compiled
def duel_random_opponent(rewards, belief, i, rng):
    """Return arm i and a uniformly random other arm, and note that their duel is asked for."""
    j = int(rng.random() * (len(rewards.duels) - 1))
    j += j >= i
    asked = rewards.asked
    asked[0], asked[1], asked[2], asked[3] = i, j, belief.wins[i, j], belief.n_duels[0]
    return i, j


@compiled
def take_reward(rewards, belief):
    """Count the duel asked for if it was recorded; return its first arm, else -1."""
    asked, i, j = rewards.asked, belief.last[0], belief.last[1]
    if i < 0 or i != asked[0] or j != asked[1] or belief.n_duels[0] != asked[3] + 1:
        return -1
    rewards.points[i] += belief.wins[i, j] - asked[2]
    rewards.duels[i] += 1
    asked[:] = -1
    return i
