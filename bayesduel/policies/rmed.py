"""Relative Minimum Empirical Divergence (RMED1, RMED2 and RMED2FH).

The divergence of an arm is the evidence, from the duels it is losing, that it is not the Condorcet
winner. Arms whose divergence is within ln t of the smallest are drawn in turn, each against the
likely Condorcet winner (RMED1) or the opponent that refutes it at least regret (RMED2; RMED2FH
chooses these opponents once, after an opening whose length follows from the horizon).

References
----------
Komiyama, Honda, Kashima & Nakagawa, "Regret Lower Bound and Optimal Algorithm in Dueling
Bandit Problem", COLT 2015, Algorithms 1 and 2. The divergences of the two arms that met last are
summed afresh, those of the others kept. Deviations, of RMED2 alone: the floor of alpha ln ln t
duels of every pair is tested before every duel, in the paper before every list (so that a pair
that falls below it is drawn sooner); in the choice of the opponent at least regret a regret below
0.01 counts as 0.01, and ln ln t is at least 1.
"""

from dataclasses import dataclass
from math import ceil, inf, log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import KL, BeliefSpec, pick, share
from bayesduel.beliefs.kl import divergence_from_half
from bayesduel.beliefs.query import met, takes_part
from bayesduel.jit import compiled
from bayesduel.policies.policy import HorizonPolicy, PairPolicy

__all__ = ["RMED1", "RMED2", "RMED2FH"]


class Memory(NamedTuple):
    slack: float  # f(K), allowed beyond ln t
    alpha: float  # RMED2: every pair is duelled at least alpha ln ln t times; 0 for RMED1
    opening: float  # RMED2FH: duels of every pair at the start; 0 for the others
    # RMED2FH: the opponent that refutes each arm at least regret, as found after the opening; -1 if
    # none, -2 before; shape (K,), or (0,) for the others.
    cheapest: np.ndarray
    divergence: np.ndarray  # of each arm, shape (K,)
    lists: np.ndarray  # L_C, L_R and L_N as masks, shape (3, K)
    # The arm of L_C drawn last (-1: none yet), duels every pair has had, the belief's `n_duels` at
    # the last look, duels every pair is to have, and the first arm of the pairs that may lack them;
    # shape (5,).
    place: np.ndarray


CURRENT, REMAINING, COMING = range(3)  # of Memory.lists
DRAWN, CLEARED, SEEN, WANTED, FROM = range(5)  # of Memory.place


@compiled
def select(belief, memory, t, rng):
    """Return the next pair: an arm that may be the winner, and the opponent to refute it."""
    # First every pair once; RMED2 then keeps every pair at alpha ln ln t duels.
    due = max(1.0, memory.opening)
    if memory.opening == 0 and memory.place[CLEARED] >= 1 and memory.alpha > 0 and t >= 3:
        due = memory.alpha * log(log(t))
    if ceil(due) > memory.place[CLEARED]:
        i, j = first_below(belief, memory, ceil(due))
        if i >= 0:
            return i, j
        memory.place[CLEARED] = ceil(due)

    update(belief, memory)
    likely = pick(memory.divergence == memory.divergence.min(), rng)
    if len(memory.cheapest) > 0 and memory.cheapest[0] == -2:
        for i in range(len(memory.cheapest)):
            memory.cheapest[i] = cheapest_opponent(belief, i, likely)
    if memory.place[DRAWN] >= 0:
        renew(memory, likely, log(t - 1.0))
    arm = memory.place[DRAWN] + 1
    while not memory.lists[CURRENT, arm]:
        arm += 1
    memory.place[DRAWN] = arm
    return arm, opponent(belief, memory, arm, likely, t, rng)


@compiled
def first_below(belief, memory, due):
    """Return the first pair with fewer than `due` duels, or (-1, -1); search on from the last."""
    n_arms = len(belief.wins)
    place = memory.place
    if place[WANTED] != due:
        place[WANTED] = due
        place[FROM] = 0
    for i in range(place[FROM], n_arms):
        for j in range(i + 1, n_arms):
            if met(belief, i, j) < due:
                place[FROM] = i
                return i, j
    return -1, -1


@compiled
def update(belief, memory):
    """Recompute the divergences of the two arms that met last, or of all after several duels."""
    n_arms = len(memory.divergence)
    new = belief.n_duels[0] - memory.place[SEEN]
    memory.place[SEEN] = belief.n_duels[0]
    for i in range(n_arms):
        if takes_part(belief, new, i):
            total = 0.0
            for j in range(n_arms):
                n = met(belief, i, j)
                if j != i and 2 * belief.wins[i, j] <= n:
                    total += n * divergence_from_half(share(belief, i, j))
            memory.divergence[i] = total


@compiled
def renew(memory, likely, log_t):
    """Remove the last arm from L_R, add the plausible arms to L_N, start anew when L_C is done."""
    lists = memory.lists
    drawn = memory.place[DRAWN]
    lists[REMAINING, drawn] = False
    divergence = memory.divergence
    margin = log_t + memory.slack
    least = divergence[likely]
    for i in range(len(divergence)):
        if not lists[REMAINING, i] and divergence[i] - least <= margin:
            lists[COMING, i] = True
    if not lists[CURRENT, drawn + 1 :].any():
        lists[CURRENT] = lists[COMING]
        lists[REMAINING] = lists[COMING]
        lists[COMING] = False
        memory.place[DRAWN] = -1


@compiled
def cheapest_opponent(belief, arm, likely):
    """Return the opponent that refutes `arm` at least regret, -1 if it loses to none."""
    cheapest = -1
    price = inf
    for j in range(len(belief.wins)):
        p = share(belief, arm, j)
        if j != arm and p < 0.5:
            regret = max(share(belief, likely, arm) + share(belief, likely, j) - 1, 0.01)
            own_price = regret / divergence_from_half(p)
            if own_price < price:
                cheapest = j
                price = own_price
    return cheapest


@compiled
def opponent(belief, memory, arm, likely, t, rng):
    """Return the opponent most likely to refute that `arm` is the winner."""
    n_arms = len(memory.divergence)
    if memory.alpha > 0:
        if len(memory.cheapest) > 0:
            cheapest = memory.cheapest[arm]
            if cheapest >= 0 and share(belief, arm, cheapest) > 0.5:
                cheapest = -1
        else:
            cheapest = cheapest_opponent(belief, arm, likely)
        if cheapest >= 0:
            often = met(belief, arm, cheapest) / max(1.0, log(max(1.0, log(t))))
            if met(belief, arm, likely) >= often:
                return cheapest
    beats = np.full(n_arms, inf)
    for j in range(n_arms):
        if j != arm:
            beats[j] = share(belief, arm, j)
    if beats[likely] <= 0.5 or beats.min() > 0.5:
        return likely
    return pick(beats == beats.min(), rng)


@dataclass(frozen=True, kw_only=True)
class RMED1(PairPolicy):
    """Relative Minimum Empirical Divergence, for Condorcet regret.

    Parameters
    ----------
    slack
        The factor c in ``f(K) = c K^1.01``.
    """

    belief: BeliefSpec = KL()
    slack: float = 0.3
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    reference: ClassVar[str] = "Komiyama et al., COLT 2015, Algorithm 1"
    guarantee: ClassVar[str] = "Condorcet regret O(K log T), optimal where the winner refutes all"
    ranges: ClassVar = {"slack": ">= 0"}

    def init(self, n_arms: int) -> Memory:
        lists = np.ones((3, n_arms), np.bool_)
        lists[COMING] = False
        return Memory(
            slack=float(self.slack) * n_arms**1.01,
            alpha=0.0,
            opening=0.0,
            cheapest=np.zeros(0, np.int64),
            divergence=np.zeros(n_arms),
            lists=lists,
            place=np.array([-1, 0, 0, 0, 0]),
        )


@dataclass(frozen=True, kw_only=True)
class RMED2(RMED1):
    """RMED with the cheapest opponent: asymptotically optimal for Condorcet regret.

    Parameters
    ----------
    alpha
        Every pair is duelled at least ``alpha ln ln t`` times, > 0.
    """

    alpha: float = 3.0
    reference: ClassVar[str] = "Komiyama et al., COLT 2015, Algorithm 2"
    guarantee: ClassVar[str] = "Condorcet regret at the least possible slope in ln T"
    ranges: ClassVar = {"alpha": "> 0"}

    def init(self, n_arms: int) -> Memory:
        return super().init(n_arms)._replace(alpha=float(self.alpha))


@dataclass(frozen=True, kw_only=True)
class RMED2FH(RMED2, HorizonPolicy):
    """RMED2 with a fixed horizon: the opponents are chosen once, after the opening.

    Parameters
    ----------
    alpha
        Every pair is duelled ``alpha ln ln T`` times first, > 0.
    horizon
        T, the total number of duels; finite. Default: the simulation's.
    """

    horizon: float | None = None
    finite: ClassVar[bool] = True

    def init(self, n_arms: int) -> Memory:
        repeated = log(max(1.0, log(max(1.0, self.known_horizon()))))
        memory = super().init(n_arms)
        return memory._replace(
            opening=float(max(1.0, ceil(self.alpha * repeated))),
            cheapest=np.full(n_arms, -2, np.int64),
        )
