"""The answer of a policy that identifies a winner: which arm, when it was sure, else its best.

A memory with an `answer` field says that the policy explores first and then duels its
answer with itself; traces record when.
"""

from typing import NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, shares
from bayesduel.jit import compiled

__all__ = ["Answer", "best_by_shares", "conclude", "no_answer"]


class Answer(NamedTuple):
    """Which arm (-1 until it is known) and after how many duels (-1), shape (1,) each."""

    arm: np.ndarray
    time: np.ndarray


def no_answer() -> Answer:
    """Return the answer before there is one."""
    return Answer(np.full(1, -1, np.int64), np.full(1, -1, np.int64))


@compiled
def conclude(answer, arm, t):
    """Answer `arm` before duel t, and return the self-duel that exploits it."""
    answer.arm[0] = arm
    answer.time[0] = t - 1
    return arm, arm


def best_by_shares(belief: Belief) -> int:
    """Return the arm that wins more often than not against most others.

    Ties by the mean share of duels won, then by the first index.
    """
    share = shares(belief)
    wins = (share > 0.5).sum(axis=1)
    return int(np.where(wins == wins.max(), share.sum(axis=1), -1).argmax())
