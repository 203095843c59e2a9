"""Winner Stays: the arm that leads by wins minus losses duels the next, and the winner stays.

A round has ended when one arm has beaten every other once more than it lost to it. For weak regret
(WS-W) rounds follow each other; for strong regret (WS-S) each is followed by self-duels of its
winner, more and more of them.

References
----------
Chen & Frazier, "Dueling Bandits with Weak Regret", ICML 2017, Algorithms 1 (WS-W) and 2 (WS-S).
Deviations: none. The end of round l is read from the tally: its winner leads by (K - 1) l.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, pick
from bayesduel.beliefs.query import new_duels, takes_part
from bayesduel.jit import compiled
from bayesduel.policies.identification import best_by
from bayesduel.policies.policy import PairPolicy

__all__ = ["WinnerStays"]


class Memory(NamedTuple):
    beta: float  # 0 for weak regret
    lead: np.ndarray  # wins minus losses, shape (K,)
    seen: np.ndarray  # the belief's `n_duels` when they were summed, shape (1,)
    place: np.ndarray  # the pair of two arms that was named last, shape (2,); -1 before
    phase: np.ndarray  # the round, and the self-duels still to come, shape (2,)


@compiled
def select(belief, memory, t, rng):
    """Return the leader and the first behind it, those of the last duel before others."""
    lead = memory.lead
    place = memory.place
    phase = memory.phase
    sum_leads(belief, memory)
    if memory.beta > 0:
        if phase[1] == 0 and lead.max() >= (len(lead) - 1) * phase[0]:
            phase[1] = np.floor(memory.beta ** phase[0])
            phase[0] += 1
        if phase[1] > 0:
            phase[1] -= 1
            winner = np.argmax(lead)
            return winner, winner
    among = np.ones(len(lead), np.bool_)
    first = stay_or_pick(lead, among, place, rng)
    among[first] = False
    second = stay_or_pick(lead, among, place, rng)
    place[0] = first
    place[1] = second
    return first, second


@compiled
def sum_leads(belief, memory):
    """Sum wins minus losses, of the arms of the last duel only where it is the only new one."""
    new = new_duels(belief, memory.seen)
    for i in range(len(memory.lead)):
        if takes_part(belief, new, i):
            memory.lead[i] = belief.wins[i].sum() - belief.wins[:, i].sum()


@compiled
def stay_or_pick(lead, among, place, rng):
    """Return an arm with the largest lead among some: one of the last pair, else any of them."""
    best = among & (lead == np.where(among, lead, -np.inf).max())
    for arm in place:
        if arm >= 0 and best[arm]:
            return arm
    return pick(best, rng)


@compiled
def leader(belief, memory):
    """Return the first leader by wins minus losses."""
    return np.argmax(belief.wins.sum(axis=1) - belief.wins.sum(axis=0))


@dataclass(frozen=True, kw_only=True)
class WinnerStays(PairPolicy):
    """Winner Stays, for weak or strong regret.

    Parameters
    ----------
    regret
        "weak" (WS-W), or "strong" (WS-S), with self-duels of the winner after each round.
    beta
        Under "strong": round l is followed by beta to the power of l self-duels, > 1. Default:
        1.1.
    """

    regret: Literal["weak", "strong"] = "weak"
    beta: float = 1.1
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    leader: ClassVar = staticmethod(leader)
    reference: ClassVar[str] = "Chen & Frazier, ICML 2017, Algorithms 1 and 2"
    guarantee: ClassVar[str] = (
        "weak regret O(K^2), O(K log K) in a total order, whatever T; strong: plus O(K log T); "
        "where a Condorcet winner exists"
    )
    ranges: ClassVar = {"beta": "> 1"}

    def init(self, n_arms: int) -> Memory:
        return Memory(
            beta=float(self.beta) if self.regret == "strong" else 0.0,
            lead=np.zeros(n_arms),
            seen=np.zeros(1, np.int64),
            place=np.full(2, -1, np.int64),
            phase=np.array([1.0, 0.0]),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the leader by wins minus losses."""
        return best_by(belief.wins.sum(axis=1) - belief.wins.sum(axis=0), belief)
