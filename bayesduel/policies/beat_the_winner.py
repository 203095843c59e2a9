"""Beat the Winner: the winner of a match waits for the next arm of a queue, in longer matches.

Match r ends when one of its arms has won r duels; the loser goes to the end of the queue. In Beat
the Winner Reset (BtWR) a new incumbent begins with short matches.

References
----------
Peköz, Ross & Zhang, "Dueling bandit problems", Probability in the Engineering and Informational
Sciences 2022 (online 2020). The rule is stated as Kolpaczki, Bengs & Hüllermeier, "Non-stationary
dueling bandits", 2022, state it. Deviations: none. BtWR: the same authors, "Non-Stationary Dueling
Bandits", arXiv 2202.00935; as "Piecewise-Stationary Dueling Bandits", TMLR 2024. The rule is that
of the authors' program, the guarantee that of the abstract. Deviations: none known.
"""

from dataclasses import dataclass
from math import ceil
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief
from bayesduel.jit import compiled
from bayesduel.policies.match import Match, begin, no_match, won
from bayesduel.policies.policy import PairPolicy

__all__ = ["BeatTheWinner", "BeatTheWinnerReset"]


class Memory(NamedTuple):
    """The match of the two arms that are first in the queue."""

    number: np.ndarray  # of the match, from 1; 0 before the first; shape (1,)
    match: Match
    queue: np.ndarray  # arms in their order, shape (K,)
    resets: bool  # matches are short again where the challenger has won


@compiled
def select(belief, memory, t, rng):
    """Return the pair of the match, the incumbent first."""
    number = memory.number
    match = memory.match
    queue = memory.queue
    if number[0] == 0:
        queue[:] = rng.permutation(len(queue))
    first, second = won(match, belief)
    if max(first, second) >= number[0]:
        if number[0] > 0:
            loser = queue[1] if first >= second else queue[0]
            if memory.resets and loser == queue[0]:
                number[0] = 0
            queue[0] = queue[0] + queue[1] - loser
            for k in range(1, len(queue) - 1):
                queue[k] = queue[k + 1]
            queue[-1] = loser
        number[0] += 1
        begin(match, belief, queue[0], queue[1])
    return queue[0], queue[1]


@compiled
def repeats(belief, memory, t):
    """Return how many duels the arm ahead still has to win: the match takes that many at least."""
    return max(ceil(memory.number[0] - max(won(memory.match, belief))), 1)


@compiled
def leader(belief, memory):
    """Return the incumbent, or the challenger if it has won the match."""
    return memory.queue[int(won(memory.match, belief)[1] >= memory.number[0])]


@dataclass(frozen=True, kw_only=True)
class BeatTheWinner(PairPolicy):
    """Beat the Winner, for weak regret; it has no settings."""

    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    repeats: ClassVar = staticmethod(repeats)
    leader: ClassVar = staticmethod(leader)
    resets: ClassVar[bool] = False
    reference: ClassVar[str] = "Peköz, Ross & Zhang, Probab. Engrg. Inform. Sci. 2022"
    guarantee: ClassVar[str] = "weak regret bounded whatever T, where a Condorcet winner exists"

    def init(self, n_arms: int) -> Memory:
        return Memory(np.zeros(1, np.int64), no_match(), np.arange(n_arms), self.resets)

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the incumbent."""
        return int(memory.queue[0])


@dataclass(frozen=True, kw_only=True)
class BeatTheWinnerReset(BeatTheWinner):
    """Beat the Winner Reset, for weak regret where preferences change; it has no settings."""

    resets: ClassVar[bool] = True
    reference: ClassVar[str] = "Kolpaczki, Bengs & Hüllermeier, arXiv 2202.00935, BtWR"
    guarantee: ClassVar[str] = (
        "weak regret bounded, whatever T, where a Condorcet winner exists; a bound if it changes, "
        "knowing neither T nor the number of segments"
    )
