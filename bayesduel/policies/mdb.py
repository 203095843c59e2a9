"""Monitored Dueling Bandits (MDB): duels of all pairs in turn, among those of a policy.

Of every ``P / gamma`` duels, with P the number of pairs, the first P are one of each pair; the
others are those of the policy, which learns from them alone. It begins anew where the duels of the
turns show that the preference between two arms has changed.

References
----------
Kolpaczki, Bengs & Hüllermeier, "Non-Stationary Dueling Bandits", arXiv 2202.00935 (MDB), as in the
authors' program: ``L = ln((4 T + 2) sqrt(T) / (sqrt(M) K))`` and ``gamma = sqrt(M w / T) (K - 1) /
2``. Deviations: the pairs of a turn are in the order of their indices, not in a random one; gamma
is at most 1; a window has two duels at least.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import record
from bayesduel.jit import compiled
from bayesduel.policies.change_detection import (
    ChangeDetection,
    Monitored,
    Windows,
    begun,
    enter,
    restart,
)
from bayesduel.policies.last_duel import ask, no_duel, outcome
from bayesduel.policies.policy import PairPolicy
from bayesduel.policies.winner_stays import WinnerStays
from bayesduel.policies.winner_stays import select as inner

__all__ = ["MDB"]


class Memory(NamedTuple):
    """The policy, and the turns."""

    monitored: Monitored
    windows: Windows  # of the pairs
    pairs: np.ndarray  # shape (P, 2)
    period: int  # duels from a turn to the next
    duels: np.ndarray  # since the policy began, shape (1,)
    asked: np.ndarray  # the duel asked for last


@compiled
def monitor(belief, memory, t, rng):
    """Return the next pair of the turn, or the pair of the policy."""
    monitored = memory.monitored
    pairs = memory.pairs
    duels = memory.duels
    place = duels[0] % memory.period
    won = outcome(memory.asked, belief)
    if won >= 0:
        i = belief.last[0]
        j = belief.last[1]
        duels[0] += 1
        if place >= len(pairs):
            record(monitored.belief, (i, j), won)
        elif enter(memory.windows, place, won):
            restart(monitored, memory.windows)
            duels[0] = 0
        place = duels[0] % memory.period
    if place < len(pairs):
        i, j = pairs[place]
    else:
        i, j = inner(monitored.belief, monitored.memory, monitored.belief.n_duels[0] + 1, rng)
    return ask(memory.asked, belief, i, j)


@dataclass(frozen=True, kw_only=True)
class MDB(ChangeDetection):
    """Monitored Dueling Bandits, for strong regret where preferences change.

    Parameters
    ----------
    segments
        How many segments of constant preferences are expected, M. The default is ours.
    gamma
        Share of the duels that are the turns', in (0, 1]. Default: by the other settings.
    """

    policy: PairPolicy = WinnerStays(regret="strong")
    segments: int = 5
    gamma: float | None = None
    rule: ClassVar[Any] = staticmethod(monitor)
    reference: ClassVar[str] = "Kolpaczki, Bengs & Hüllermeier, arXiv 2202.00935, MDB"
    guarantee: ClassVar[str] = (
        "strong regret: that of the policy in each segment, plus O(K sqrt(M T log T) / change), if "
        "changes are detected in time"
    )
    ranges: ClassVar = {"segments": "at least 1", "gamma": "in (0, 1]"}

    def init(self, n_arms: int) -> Memory:
        horizon = self.known_horizon()
        pairs = np.argwhere(np.triu(np.ones((n_arms, n_arms)), 1))
        budget = log((4 * horizon + 2) * sqrt(horizon / self.segments) / n_arms)
        windows = self.windows(len(pairs), budget)
        width = windows.outcomes.shape[1]
        gamma = self.gamma or sqrt(self.segments * width / horizon) * (n_arms - 1) / 2
        return Memory(
            monitored=begun(self.policy, n_arms, horizon),
            windows=windows,
            pairs=pairs,
            period=int(len(pairs) / min(gamma, 1)),
            duels=np.zeros(1, np.int64),
            asked=no_duel(),
        )
