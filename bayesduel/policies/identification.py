"""What policies name: pairs of a round, the best arm so far, and the answer of those that decide.

A policy that identifies a winner has an `answer` in its memory, the arm and when it was decided. It
explores first and then duels its answer with itself; traces record when.
"""

from typing import NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, shares
from bayesduel.jit import compiled

__all__ = ["Answer", "best_by", "best_by_shares", "conclude", "no_answer", "take_pair"]


class Answer(NamedTuple):
    """The arm and the number of duels before the decision, shape (1,) each; -1 until then.

    The arm is -1 after it as well, where the decision is that there is no winner.
    """

    arm: np.ndarray
    time: np.ndarray


def no_answer() -> Answer:
    """Return the empty answer."""
    return Answer(np.full(1, -1, np.int64), np.full(1, -1, np.int64))


@compiled
def conclude(answer, arm, t):
    """Store `arm` as the answer before duel t, and return the self-duel that exploits it."""
    answer.arm[0] = arm
    answer.time[0] = t - 1
    return arm, arm


@compiled
def take_pair(current):
    """Return the first pair that a round still lists, i <= j, and strike it off; (-1, -1) if none.

    current: pairs still to duel in this round, shape (K, K); written.
    """
    n_arms = len(current)
    for i in range(n_arms):
        for j in range(i, n_arms):
            if current[i, j]:
                current[i, j] = False
                return i, j
    return -1, -1


def best_by(score: np.ndarray, belief: Belief) -> int:
    """Return the arm with the largest score.

    Ties by the mean share of duels won, then by the first index.
    """
    return int(np.where(score == score.max(), shares(belief).sum(axis=1), -1).argmax())


def best_by_shares(belief: Belief, among: np.ndarray | None = None) -> int:
    """Return the Copeland winner of the observed shares; ties as in ``best_by``."""
    wins = (shares(belief) > 0.5).sum(axis=1)
    return best_by(wins if among is None else np.where(among, wins, -1), belief)
