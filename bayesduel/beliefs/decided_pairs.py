"""Which duels are decided at time t: surveyed afresh, or kept by crossing times.

A duel is decided when its lower bound at budget ``2 alpha ln t`` exceeds one half. Under
Hoeffding's bound a decided duel (share p of n) stays so until t reaches its crossing time
``exp(n (p - 1/2)^2 / alpha)``, and an undecided one stays undecided until it is duelled.
So ``refresh`` looks at the last pair and at the rows with a crossing due: O(K) a step.
``survey`` asks every bound, O(K^2), and serves every belief; tests hold the two equal.
"""

from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from bayesduel.beliefs.query import bounds, upper_bound
from bayesduel.jit import compiled

__all__ = ["Standings", "open_standings", "refresh", "survey"]


class Standings(NamedTuple):
    """What is decided now.

    Attributes
    ----------
    beats
        i surely beats j: lower[i, j] > 1/2, which is upper[j, i] < 1/2. Shape (K, K).
    until
        The last t at which i still surely beats j, shape (K, K); infinite if undecided.
    due
        The smallest entry of each row of `until`, shape (K,).
    sure_wins, sure_losses
        Decided duels won and lost, shape (K,).
    watched
        Entries a policy watches, shape (K, K), which it alone writes.
    n_open
        Undecided watched entries of each row, shape (K,).
    contradicted
        Whether i was found to beat j for a watched (i, j), shape (1,).
    seen
        The belief's `n_duels` at the last look, shape (1,).
    """

    beats: np.ndarray
    until: np.ndarray
    due: np.ndarray
    sure_wins: np.ndarray
    sure_losses: np.ndarray
    watched: np.ndarray
    n_open: np.ndarray
    contradicted: np.ndarray
    seen: np.ndarray


def open_standings(n_arms: int) -> Standings:
    """Return the standings before the first duel: nothing decided, nothing watched."""
    return Standings(
        beats=np.zeros((n_arms, n_arms), np.bool_),
        until=np.full((n_arms, n_arms), inf),
        due=np.full(n_arms, inf),
        sure_wins=np.zeros(n_arms, np.int64),
        sure_losses=np.zeros(n_arms, np.int64),
        watched=np.zeros((n_arms, n_arms), np.bool_),
        n_open=np.zeros(n_arms, np.int64),
        contradicted=np.zeros(1, np.bool_),
        seen=np.zeros(1, np.int64),
    )


@compiled
def survey(standings, belief, alpha, t):
    """Bring the standings to time t by asking every bound."""
    beats = bounds(belief, 2 * alpha * log(t))[0] > 0.5
    decided = beats | beats.T
    standings.beats[:] = beats
    standings.sure_wins[:] = beats.sum(axis=1)
    standings.sure_losses[:] = beats.sum(axis=0)
    standings.n_open[:] = (standings.watched & ~decided).sum(axis=1)
    if (standings.watched & beats).any():
        standings.contradicted[0] = True
    standings.seen[0] = belief.n_duels[0]


@compiled
def refresh(standings, belief, alpha, t):
    """Bring the standings to time t by the last pair and the crossings due.

    For a belief by Hoeffding's bound only. Times should not go back.
    """
    n_arms = len(standings.due)
    new = belief.n_duels[0] - standings.seen[0]
    if new == 1:
        settle(standings, belief, belief.last[0], belief.last[1], alpha, t)
    elif new != 0:
        for i in range(n_arms):
            for j in range(i):
                settle(standings, belief, i, j, alpha, t)
    for i in range(n_arms):
        if standings.due[i] < t:
            for j in range(n_arms):
                if standings.until[i, j] < t:
                    settle(standings, belief, i, j, alpha, t)
    standings.seen[0] = belief.n_duels[0]


@compiled
def settle(standings, belief, i, j, alpha, t):
    """Decide the duel of i and j at time t, and until when."""
    if i != j:
        for winner, loser in ((i, j), (j, i)):
            beats = surely_beats(belief, winner, loser, alpha, t)
            if beats != standings.beats[winner, loser]:
                flip(standings, winner, loser, beats)
            old = standings.until[winner, loser]
            new = crossing(belief, winner, loser, alpha, t) if beats else inf
            standings.until[winner, loser] = new
            if new <= standings.due[winner]:
                standings.due[winner] = new
            elif old == standings.due[winner]:
                standings.due[winner] = standings.until[winner].min()


@compiled
def surely_beats(belief, i, j, alpha, t):
    """Return whether lower[i, j] > 1/2 at time t, in the very arithmetic of ``bounds``."""
    return 1 - upper_bound(belief, j, i, 2 * alpha * log(t)) > 0.5


@compiled
def crossing(belief, i, j, alpha, t):
    """Return the last time at which i, which surely beats j at time t, still does.

    The closed form, then corrected by single steps to what ``bounds`` computes.
    """
    wins = belief.wins[i, j]
    n = wins + belief.wins[j, i]
    exponent = n * (wins / n - 0.5) ** 2 / alpha
    if exponent > 36:  # Beyond 4e15 duels.
        return inf
    last = max(float(t), np.floor(exp(exponent)))
    while surely_beats(belief, i, j, alpha, last + 1):
        last += 1
    while last > t and not surely_beats(belief, i, j, alpha, last):
        last -= 1
    return last


@compiled
def flip(standings, winner, loser, beats):
    """Note that `winner` now surely beats `loser`, or no longer does."""
    standings.beats[winner, loser] = beats
    change = 1 if beats else -1
    standings.sure_wins[winner] += change
    standings.sure_losses[loser] += change
    if standings.watched[winner, loser]:
        standings.n_open[winner] -= change
        if beats:
            standings.contradicted[0] = True
    if standings.watched[loser, winner]:
        standings.n_open[loser] -= change
