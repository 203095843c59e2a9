"""DETECT: find the winner by a policy, then duel it with all others in turn until one changes.

References
----------
Kolpaczki, Bengs & Hüllermeier, "Non-Stationary Dueling Bandits", arXiv 2202.00935 (DETECT), as in
the authors' program. Of its settings for Winner Stays the window is kept, ``L = 2 ln T + 3/4``; the
policy is played for ``sqrt(T)`` duels, as there in the experiments, since the length that it has
for Winner Stays exceeds the horizon.
"""

from dataclasses import dataclass
from math import isqrt, log
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

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
from bayesduel.policies.winner_stays import leader
from bayesduel.policies.winner_stays import select as inner

if TYPE_CHECKING:
    from bayesduel.beliefs.belief import Belief

__all__ = ["DETECT"]


class Memory(NamedTuple):
    """The policy, and the arm that it found."""

    monitored: Monitored
    windows: Windows  # of the arms against the one found
    explore: int  # duels of the policy
    state: np.ndarray  # duels since the policy began, and the arm that it found; shape (2,)
    asked: np.ndarray  # the duel asked for last


@compiled
def detect(belief, memory, t, rng):
    """Return the pair of the policy, or the arm that it found and the next of the others."""
    monitored = memory.monitored
    state = memory.state
    explore = memory.explore
    won = outcome(memory.asked, belief)
    if won >= 0:
        i = belief.last[0]
        j = belief.last[1]
        state[0] += 1
        if state[0] <= explore:
            record(monitored.belief, (i, j), won)
            if state[0] == explore:
                state[1] = leader(monitored.belief, monitored.memory)
        elif enter(memory.windows, j, won):
            restart(monitored, memory.windows)
            state[0] = 0
    if state[0] < explore:
        i, j = inner(monitored.belief, monitored.memory, monitored.belief.n_duels[0] + 1, rng)
        return ask(memory.asked, belief, i, j)
    other = (state[0] - explore) % (len(belief.wins) - 1)
    return ask(memory.asked, belief, state[1], other + (other >= state[1]))


@dataclass(frozen=True, kw_only=True)
class DETECT(ChangeDetection):
    """DETECT, for weak regret where preferences change.

    Parameters
    ----------
    explore
        How many duels the policy plays before its winner is taken. Default: the root of the
        horizon.
    """

    explore: int | None = None
    rule: ClassVar[Any] = staticmethod(detect)
    reference: ClassVar[str] = "Kolpaczki, Bengs & Hüllermeier, arXiv 2202.00935, DETECT"
    guarantee: ClassVar[str] = (
        "weak regret: in each segment the duels of the policy and until the change is detected, if "
        "the policy finds the winner and windows show no change without one"
    )
    ranges: ClassVar = {"explore": "at least 1"}

    def init(self, n_arms: int) -> Memory:
        horizon = self.known_horizon()
        return Memory(
            monitored=begun(self.policy, n_arms, horizon),
            windows=self.windows(n_arms, 2 * log(horizon) + 0.75),
            explore=self.explore or isqrt(int(horizon)),
            state=np.zeros(2, np.int64),
            asked=no_duel(),
        )

    def recommend(self, belief: "Belief", memory: Memory) -> int:
        """Return the arm that the policy found, or what it recommends while it looks for one."""
        if memory.state[0] < memory.explore:
            return super().recommend(belief, memory)
        return int(memory.state[1])
