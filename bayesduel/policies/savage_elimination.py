"""SAVAGE's intervals, valid at every time at once, and its independence tests.

``learn`` tightens the interval of every unknown after a duel. ``depends`` then removes the
unknowns that the decision no longer depends on; ``sampled_depends`` is the test for a decision
that is known only as a function.

References
----------
Urvoy et al., ICML 2013. Intervals by Algorithm 1: ``c(n) = sqrt(ln(eta(n) / delta) / (2 n))``
with ``eta = 2 N T`` for a finite horizon T, ``eta = pi^2 N n^2 / 3`` for an infinite one.
Independence: Copeland by equation 11, Condorcet by equation 10, Borda by the predicate of the
best arm, here of the k best and with a margin, and Algorithm 2 for a decision known only as a
function; Kemeny and Slater by the test of :mod:`bayesduel.policies.savage_rankings`.
"""

from math import inf, log, pi

import numpy as np

from bayesduel.beliefs import upper_bound, upper_from_counts
from bayesduel.beliefs.query import met, new_duels, other_arm
from bayesduel.jit import compiled
from bayesduel.policies.borda_rewards import take_reward
from bayesduel.policies.savage_rankings import is_level, keep_rankings

__all__ = [
    "BORDA", "CONDORCET", "COPELAND", "KEMENY", "SLATER", "depends", "learn", "sampled_depends"
]  # fmt: skip

COPELAND, CONDORCET, BORDA, KEMENY, SLATER = range(5)


@compiled
def learn(belief, memory, rng):
    """Update the intervals by the belief, and drop the unknowns that no longer matter."""
    n_arms = len(memory.lower)
    new = new_duels(belief, memory.seen)
    i = belief.last[0]
    j = belief.last[1]
    if memory.criterion == BORDA:
        arm = take_reward(memory.rewards, belief)
        if arm >= 0:
            learn_mean(belief, memory, arm)
    elif new == 1 and i != j:
        learn_pair(belief, memory, i, j)
    elif new > 1:
        for i in range(n_arms):
            for j in range(i):
                learn_pair(belief, memory, i, j)
    if memory.restarts > 0:
        if new == 1 and memory.active[i, j]:
            matters = sampled_depends(memory, i, j, rng)
            memory.active[i, j] = matters
            memory.active[j, i] = matters
    elif new > 0 and (memory.criterion < KEMENY or is_level(belief, memory.active, i, j)):
        depends(memory)


@compiled
def learn_pair(belief, memory, i, j):
    """Tighten the interval of a pair; replace it if the intersection is empty."""
    lower = memory.lower
    n = met(belief, i, j)
    if n == 0:
        return
    n_pairs = len(lower) * (len(lower) - 1) / 2
    budget = budget_of(memory, n, n_pairs)
    i_below = 1 - upper_bound(belief, j, i, budget)
    j_below = 1 - upper_bound(belief, i, j, budget)
    i_nested = max(lower[i, j], i_below)
    j_nested = max(lower[j, i], j_below)
    if memory.nested and i_nested <= 1 - j_nested:
        i_below = i_nested
        j_below = j_nested
    lower[i, j] = i_below
    lower[j, i] = j_below


@compiled
def learn_mean(belief, memory, i):
    """Tighten the interval of an arm's mean; replace it if the intersection is empty."""
    lower = memory.lower
    n = memory.rewards.duels[i]
    points = memory.rewards.points[i]
    budget = budget_of(memory, n, len(lower))
    below = 1 - upper_from_counts(belief, n - points, points, budget)
    above = upper_from_counts(belief, points, n - points, budget)
    nested_below = max(lower[i, 0], below)
    nested_above = min(lower[i, 1], above)
    if memory.nested and nested_below <= nested_above:
        below = nested_below
        above = nested_above
    lower[i, 0] = below
    lower[i, 1] = above


@compiled
def budget_of(memory, n, n_unknown):
    """Return ln(eta(n) / delta): a union bound over unknowns and numbers of duels."""
    if memory.horizon == inf:
        eta = pi * pi * n_unknown * n * n / 3
    else:
        eta = 2 * n_unknown * memory.horizon
    return log(eta) - log(memory.delta)


@compiled
def depends(memory):
    """Drop from `active` the unknowns that the decision provably does not depend on."""
    lower = memory.lower
    active = memory.active
    n_arms = len(lower)
    if memory.criterion >= KEMENY:
        keep_rankings(memory, memory.criterion == SLATER)
    elif memory.criterion == BORDA:
        # Surely of the k best, or within epsilon of k others at best.
        below = lower[:, 0]
        above = lower[:, 1]
        for i in range(n_arms):
            worse = (above < below[i]).sum()
            better = (below + memory.epsilon > above[i]).sum()
            better -= below[i] + memory.epsilon > above[i]
            if worse >= n_arms - memory.k or better >= memory.k:
                active[i, 0] = False
    elif memory.criterion == CONDORCET and not memory.refuted[0]:
        for i in range(n_arms):
            if lower[:, i].max() > 0.5:
                active[i, :] = False
                active[:, i] = False
    else:
        beats = lower > 0.5
        sure = beats.sum(axis=1).max()
        possible = n_arms - 1 - beats.sum(axis=0)
        for i in range(n_arms):
            for j in range(i):
                settled = beats[i, j] or beats[j, i]
                behind = sure > max(possible[i], possible[j])
                if active[i, j] and (settled or behind):
                    active[i, j] = False
                    active[j, i] = False


@compiled
def sampled_depends(memory, i, j, rng):
    """Return whether redrawing P[i, j] changes the winners at a sampled point of the box.

    True is always correct; False may be wrong, the less often the more points are tried.
    """
    n_arms = len(memory.lower)
    x = np.full((n_arms, n_arms), 0.5)
    for _ in range(memory.restarts):
        for a in range(n_arms):
            for b in range(a):
                redraw(x, memory.lower, a, b, rng)
        for _ in range(memory.steps):
            winners = copeland_winners(x)
            redraw(x, memory.lower, i, j, rng)
            changed = copeland_winners(x)
            for k in range(n_arms):
                if winners[k] != changed[k]:
                    return True
            a = int(rng.random() * n_arms)  # move on: redraw a random other coordinate
            b = other_arm(a, n_arms, rng)
            redraw(x, memory.lower, a, b, rng)
    return False


@compiled
def redraw(x, lower, i, j, rng):
    """Draw x[i, j] uniformly from its interval."""
    low = max(lower[i, j], 0.0)
    high = min(1 - lower[j, i], 1.0)
    x[i, j] = low + (high - low) * rng.random()
    x[j, i] = 1 - x[i, j]


@compiled
def copeland_winners(x):
    """Return the Copeland winners, bool, shape (K,)."""
    wins = (x > 0.5).sum(axis=1)
    return wins == wins.max()
