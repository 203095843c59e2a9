"""Which pairs are decided at time t, by all bounds or by crossing times.

A pair is decided when its lower bound at budget ``2 alpha ln t`` exceeds one half. Under
Hoeffding's bound a decided pair (share p of n duels) stays decided until t reaches its crossing
time ``exp(n (p - 1/2)^2 / alpha)``, and an undecided one stays undecided until its next duel.
``refresh`` therefore reads the last pair and the rows with a crossing due: O(K) a step.
``survey`` computes every bound, O(K^2), and serves every belief. ``update`` takes the faster of
the two that is right for the belief; tests hold them equal.
"""

from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from bayesduel.beliefs.belief import BY_HOEFFDING
from bayesduel.beliefs.query import bounds, upper_bound
from bayesduel.jit import compiled

__all__ = ["DecidedPairs", "no_decided_pairs", "refresh", "survey", "update"]


class DecidedPairs(NamedTuple):
    """Which pairs are decided now."""

    # Whether i beats j by its bound: lower[i, j] > 1/2, that is upper[j, i] < 1/2. Shape (K, K).
    beats: np.ndarray
    # The last t at which the pair stays decided for i, shape (K, K); infinite if undecided.
    until: np.ndarray
    due: np.ndarray  # the smallest entry of each row of `until`, shape (K,)
    sure_wins: np.ndarray  # decided pairs that each arm won, shape (K,)
    sure_losses: np.ndarray  # and lost, shape (K,)
    watched: np.ndarray  # entries a policy watches, shape (K, K), which it alone writes
    n_open: np.ndarray  # undecided watched entries of each row, shape (K,)
    contradicted: np.ndarray  # whether i was found to beat j for a watched (i, j), shape (1,)
    seen: np.ndarray  # the belief's `n_duels` at the last look, shape (1,)


def no_decided_pairs(n_arms: int) -> DecidedPairs:
    """Return the state before the first duel: no pair decided, none watched."""
    return DecidedPairs(
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


@compiled(inline="always")  # a call would pass every array of both: a tenth of a step of RUCB
def update(decided, belief, alpha, t):
    """Bring the decided pairs to time t. Times should not go back."""
    if belief.kind == BY_HOEFFDING:
        refresh(decided, belief, alpha, t)
    else:
        survey(decided, belief, alpha, t)


@compiled
def survey(decided, belief, alpha, t):
    """Bring the decided pairs to time t by computing every bound."""
    budget = 2 * alpha * log(t)
    lower, _ = bounds(belief, budget)
    decided.sure_wins[:] = 0
    decided.sure_losses[:] = 0
    decided.n_open[:] = 0
    # Numba compiles an assignment of arrays for seconds: its message of unequal shapes, above all.
    for i in range(len(lower)):
        for j in range(len(lower)):
            beats = lower[i, j] > 0.5
            decided.beats[i, j] = beats
            decided.sure_wins[i] += beats
            decided.sure_losses[j] += beats
            if not decided.watched[i, j]:
                continue
            if beats:
                decided.contradicted[0] = True
            elif not lower[j, i] > 0.5:
                decided.n_open[i] += 1
    decided.seen[0] = belief.n_duels[0]


@compiled
def refresh(decided, belief, alpha, t):
    """Bring the decided pairs to time t by the last pair and the crossings due.

    For beliefs with Hoeffding's bound only. Times should not go back.
    """
    n_arms = len(decided.due)
    new = belief.n_duels[0] - decided.seen[0]
    if new == 1:
        i = belief.last[0]
        j = belief.last[1]
        settle(decided, belief, i, j, alpha, t)
    elif new != 0:
        for i in range(n_arms):
            for j in range(i):
                settle(decided, belief, i, j, alpha, t)
    for i in range(n_arms):
        if decided.due[i] >= t:
            continue
        for j in range(n_arms):
            if decided.until[i, j] < t:
                settle(decided, belief, i, j, alpha, t)
    decided.seen[0] = belief.n_duels[0]


@compiled
def settle(decided, belief, i, j, alpha, t):
    """Decide the pair i, j at time t, and until when."""
    if i == j:
        return
    for winner, loser in ((i, j), (j, i)):
        beats = surely_beats(belief, winner, loser, alpha, t)
        if beats != decided.beats[winner, loser]:
            flip(decided, winner, loser, beats)
        old = decided.until[winner, loser]
        new = crossing(belief, winner, loser, alpha, t) if beats else inf
        decided.until[winner, loser] = new
        if new <= decided.due[winner]:
            decided.due[winner] = new
        elif old == decided.due[winner]:
            decided.due[winner] = decided.until[winner].min()


@compiled
def surely_beats(belief, i, j, alpha, t):
    """Return whether lower[i, j] > 1/2 at time t, by the arithmetic of ``bounds``."""
    budget = 2 * alpha * log(t)
    lower = 1 - upper_bound(belief, j, i, budget)
    return lower > 0.5


@compiled
def crossing(belief, i, j, alpha, t):
    """Return the last time at which the pair, decided for i at time t, stays decided.

    The closed form, then corrected by single steps to what ``bounds`` computes.
    """
    wins = belief.wins[i, j]
    n = wins + belief.wins[j, i]
    gap = wins / n - 0.5
    exponent = n * gap**2 / alpha
    if exponent > 36:  # Beyond 4e15 duels.
        return inf
    closed_form = np.floor(exp(exponent))
    last = max(float(t), closed_form)
    while surely_beats(belief, i, j, alpha, last + 1):
        last += 1
    while last > t and not surely_beats(belief, i, j, alpha, last):
        last -= 1
    return last


@compiled
def flip(decided, winner, loser, beats):
    """Write that the pair is now decided for `winner`, or no longer is."""
    decided.beats[winner, loser] = beats
    change = 1 if beats else -1
    decided.sure_wins[winner] += change
    decided.sure_losses[loser] += change
    if decided.watched[winner, loser]:
        decided.n_open[winner] -= change
        if beats:
            decided.contradicted[0] = True
    if decided.watched[loser, winner]:
        decided.n_open[loser] -= change
