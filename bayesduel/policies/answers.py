"""The answer of a policy that identifies a winner: which arm, and when it was sure.

A memory with an `answer` field says that the policy explores first and then duels its
answer with itself; traces record when.
"""

from typing import NamedTuple

import numpy as np

from bayesduel.compiling import compiled

__all__ = ["Answer", "conclude", "no_answer"]


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
