"""ANACONDA: arms are evicted by any stretch of duels, and replays look for what has changed.

An episode plays pairs of the arms that are left, drawn uniformly. An arm a is evicted by an arm b
and a stretch of n + 1 duels if the sum of the estimates of ``P[b, a] - 1/2`` exceeds ``factor K
ln(T) sqrt(max(n, K^2))``. A replay of length m plays all arms again and evicts by its own duels
alone; it begins s duels after the episode with probability ``1 / sqrt(m s)``, m = 2, 4, 8, ... A
new episode begins where every arm has been evicted by duels of the present one.

References
----------
Kleine Buening & Saha, "ANACONDA: An Improved Dynamic Regret Algorithm for Adaptive Non-Stationary
Dueling Bandits", AISTATS 2023, Algorithms 1 (ANACONDA) and 2 (CondaLet), of which the abstract and
a public program (of Suk & Agarwal, NeurIPS 2023) could be read; the rules are recalled, and are
those of Suk & Kpotufe, "Tracking Most Significant Arm Switches in Bandits", COLT 2022, for pairs.
Deviations: the paper's proof asks for a large constant in place of `factor`; a replay is drawn when
its duel comes, which has the same law; no arm is evicted by duels with itself. The paper tries all
stretches, in a time that grows with t. Here those begin with one of the latest wins of b over a, or
with the first of 2, 4, 8, ... earlier ones: as many of each as there are `buckets` (the buckets of
Bifet & Gavaldà, "Learning from Time-Changing Data with Adaptive Windowing", SDM 2007). The program
(joesuk/nonstationary-duel on GitHub, read line by line) has the same episodes and replays, with
these chances and lengths. It differs in five ways: it draws two different arms; an outcome counts
for both orders of the pair; its threshold is ``(e - 1) (K sqrt(c n) + c K^2)`` with ``c = 4 log2 T
+ 2 log2 K``; it compares one sum over about log2 of n stretches that begin at powers of two; no
replay begins while all arms are left. The defaults of `factor` and `replay`
were found by trial on four segments of three arms with gaps of 0.3: at 160,000 duels they pay 5,335
there, ``replay=1`` 26,581, D-TS 22,223 (docs/validation/policies.md has other problems).

An arm is evicted from an episode or a replay by stretches that begin in it. So the latest beginning
of a stretch that evicts the arm says all, and only stretches that begin and end with a win of b
over a can be new.
"""

from dataclasses import dataclass
from math import ceil, log, log2, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief
from bayesduel.jit import compiled
from bayesduel.policies.identification import best_by_shares
from bayesduel.policies.last_duel import ask, no_duel, outcome
from bayesduel.policies.policy import HorizonPolicy

__all__ = ["ANACONDA"]


class Memory(NamedTuple):
    """Times are numbers of duels, from 1; 0 where there is none."""

    width: float  # by which the sum of a stretch is too large, a root of its length
    replay: float  # times which replays are likelier than in the paper
    # Buckets of the wins of b over a, b drawn first, of 2^l wins at level l, the oldest first:
    begun: np.ndarray  # the time of their first win, shape (K, K, L, buckets + 1)
    worth: np.ndarray  # what their wins count, shape (K, K, L, buckets + 1)
    filled: np.ndarray  # how many there are, shape (K, K, L)
    evicted: np.ndarray  # latest beginning of a stretch that evicts the arm, shape (K,)
    episode: np.ndarray  # when it began, shape (1,)
    replays: np.ndarray  # when the last replay of length 2^k began, shape (k + 1,)
    asked: np.ndarray  # the duel asked for last


@compiled
def enter(memory, i, j, worth, now):
    """Enter a win of i over j; of too many buckets of a level the two oldest become one."""
    most = memory.begun.shape[3] - 1
    begun = now
    for level in range(memory.begun.shape[2]):
        starts = memory.begun[i, j, level]
        sums = memory.worth[i, j, level]
        n = memory.filled[i, j, level]
        starts[n] = begun
        sums[n] = worth
        memory.filled[i, j, level] = n + 1
        if n < most:
            return
        begun = starts[0]
        worth = sums[0] + sums[1]
        for k in range(2, n + 1):
            starts[k - 2] = starts[k]
            sums[k - 2] = sums[k]
        memory.filled[i, j, level] = n - 1


@compiled
def evict(memory, i, j, now):
    """Note the latest stretch until `now` by which i evicts j, if it is new."""
    n_arms = len(memory.evicted)
    total = 0.0
    for level in range(memory.begun.shape[2]):
        for k in range(memory.filled[i, j, level] - 1, -1, -1):
            start = memory.begun[i, j, level, k]
            if start <= memory.evicted[j]:
                return
            total += memory.worth[i, j, level, k]
            n = now - start
            excess = total - (n + 1) / 2
            if excess > memory.width * sqrt(max(n, n_arms**2)):
                memory.evicted[j] = start
                return


@compiled
def among(memory, t):
    """Return the arms that may play at time t: those that the replay or episode has not evicted."""
    begun = memory.episode[0]
    for k in range(1, len(memory.replays)):
        if t <= memory.replays[k] + 2**k:
            begun = max(begun, memory.replays[k])
    return memory.evicted < begun


@compiled
def draw_replay(memory, t, rng):
    """Begin the longest of the replays that are drawn for time t, if there is one."""
    for k in range(len(memory.replays) - 1, 0, -1):
        age = t - memory.episode[0]
        if rng.random() < memory.replay / sqrt(2.0**k * age):
            memory.replays[k] = t
            return


@compiled
def select(belief, memory, t, rng):
    """Return two independent draws from the arms that may play; they may coincide."""
    won = outcome(memory.asked, belief)
    i, j = belief.last
    if 0 < won and i != j:
        last = t - 1
        n_active = among(memory, last).sum()
        enter(memory, i, j, won * n_active**2, last)
        evict(memory, i, j, last)
    if (memory.evicted >= memory.episode[0]).all():
        memory.episode[0] = t
        memory.replays[:] = 0
        memory.filled[:] = 0
    if t > memory.episode[0]:
        draw_replay(memory, t, rng)
    arms = np.flatnonzero(among(memory, t))
    first = arms[rng.integers(0, len(arms))]
    second = arms[rng.integers(0, len(arms))]
    return ask(memory.asked, belief, first, second)


@dataclass(frozen=True, kw_only=True)
class ANACONDA(HorizonPolicy):
    """ANACONDA, for Condorcet regret where preferences change, nobody says when or how often.

    Parameters
    ----------
    factor
        Of the threshold of evictions, > 0.
    replay
        How many times likelier replays are than in the paper, where it is 1, > 0. With fewer, a
        change that makes an evicted arm the winner is found later, and less is paid for replays.
    buckets
        How many beginnings of stretches of each size are tried. With as many as there are duels
        all are, as in the paper.
    """

    factor: float = 0.1
    replay: float = 0.2
    buckets: int = 8
    horizon: float | None = None
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    finite: ClassVar[bool] = True
    reference: ClassVar[str] = "Kleine Buening & Saha, AISTATS 2023, Algorithms 1 and 2"
    guarantee: ClassVar[str] = (
        "dynamic Condorcet regret O(K sqrt(S T)) up to logarithms where the Condorcet winner "
        "changes S times, S unknown, at a large factor"
    )
    ranges: ClassVar = {"factor": "> 0", "replay": "> 0", "buckets": "at least 2"}

    def init(self, n_arms: int) -> Memory:
        horizon = self.known_horizon()
        doublings = ceil(log2(horizon))
        shape = (n_arms, n_arms, doublings + 1, self.buckets + 1)
        return Memory(
            width=self.factor * n_arms * log(horizon),
            replay=float(self.replay),
            begun=np.zeros(shape, np.int64),
            worth=np.zeros(shape),
            filled=np.zeros(shape[:3], np.int64),
            evicted=np.zeros(n_arms, np.int64),
            episode=np.ones(1, np.int64),
            replays=np.zeros(doublings + 1, np.int64),
            asked=no_duel(),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the Copeland winner of the observed shares, of the arms that the episode has."""
        return best_by_shares(belief, memory.evicted < memory.episode[0])
