"""Copeland-winners RMED (CW-RMED and ECW-RMED): follow the asymptotically optimal allocation.

If the information so far confirms an empirical Copeland winner, that arm duels itself. Otherwise
the pairs whose information falls short of the cheapest allocation that would confirm one
(``cw_rmed_allocation.py``) are duelled in turn.

References
----------
Komiyama, Honda & Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal
Algorithm, and Computationally Efficient Algorithm", ICML 2016, Algorithms 1 (CW-RMED) and 2
(ECW-RMED). Deviations: the next list is made when one is exhausted, not after every duel; an
exactly tied share counts as too close to call whatever `beta`.
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import KL, BeliefSpec, share, shares
from bayesduel.beliefs.kl import divergence_from_half
from bayesduel.beliefs.query import met
from bayesduel.jit import compiled
from bayesduel.policies.cw_rmed_allocation import cheapest, costs, is_sure, is_sure_relaxed, relaxed
from bayesduel.policies.identification import take_pair
from bayesduel.policies.policy import PairPolicy

__all__ = ["CWRMED", "ECWRMED"]


class Memory(NamedTuple):
    alpha: float
    beta: float
    exact: bool  # False for ECW-RMED
    # Pairs still to duel in this list, first index not above the second, shape (K, K).
    current: np.ndarray


@compiled
def select(belief, memory, t, rng):
    """Return a pair with too few or too close duels, else the next pair of the list."""
    n_arms = len(belief.wins)
    least = memory.alpha * sqrt(log(t))
    log_log_t = log(max(1.0, log(t)))
    close = memory.beta / max(1.0, log_log_t)
    for i in range(n_arms):
        for j in range(i):
            n = met(belief, i, j)
            away = abs(share(belief, i, j) - 0.5)
            if n < least or away < close or away == 0:
                return i, j

    if not memory.current.any():
        renew(belief, memory, log(t))
    return take_pair(memory.current)


@compiled
def renew(belief, memory, log_t):
    """List the next pairs: a confirmed winner with itself, or what the cheapest plan lacks."""
    P = shares(belief)
    n_arms = len(P)
    known = np.zeros((n_arms, n_arms))
    wins = np.zeros(n_arms, np.int64)
    for i in range(n_arms):
        for j in range(n_arms):
            evidence = met(belief, i, j) * divergence_from_half(P[i, j])
            known[i, j] = evidence / log_t
            wins[i] += P[i, j] > 0.5
    for i in range(n_arms):
        if wins[i] == wins.max():
            if memory.exact:
                sure = is_sure(P, known, i)
            else:
                sure = is_sure_relaxed(P, known, i)
            if sure:
                memory.current[i, i] = True
                return

    cost = costs(P)
    winner = -1
    least = inf
    plan = known
    for i in range(n_arms):
        if wins[i] == wins.max():
            if memory.exact:
                x = cheapest(P, cost, i)
            else:
                x = relaxed(P, cost, i)
            price = (x * cost).sum()
            if price < least:
                winner = i
                least = price
                plan = x
    memory.current[winner, winner] = True
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            memory.current[i, j] = plan[i, j] > known[i, j]


@dataclass(frozen=True, kw_only=True)
class CWRMED(PairPolicy):
    """Copeland-winners RMED, for Copeland regret at the least possible slope.

    Parameters
    ----------
    alpha
        Every pair is duelled at least ``alpha sqrt(ln t)`` times, > 0.
    beta
        A pair whose share is within ``beta / ln ln t`` of 1/2 is duelled again, >= 0. A true
        tie is then duelled for ever; 0 avoids that.
    """

    belief: BeliefSpec = KL()
    alpha: float = 3.0
    beta: float = 0.01
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    reference: ClassVar[str] = "Komiyama et al., ICML 2016, Algorithm 1 (exact linear programme)"
    guarantee: ClassVar[str] = "Copeland regret C* ln T, the least possible slope"
    ranges: ClassVar = {"alpha": "> 0", "beta": ">= 0"}

    def init(self, n_arms: int) -> Memory:
        everyone = np.triu(np.ones((n_arms, n_arms), np.bool_), 1)
        return Memory(float(self.alpha), float(self.beta), type(self) is CWRMED, everyone)


@dataclass(frozen=True, kw_only=True)
class ECWRMED(CWRMED):
    """Efficient CW-RMED: a closed-form allocation, optimal up to a constant factor."""

    reference: ClassVar[str] = "Komiyama et al., ICML 2016, Algorithm 2"
    guarantee: ClassVar[str] = "Copeland regret C_ECW ln T, C_ECW often equal to C*"
