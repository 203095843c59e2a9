"""What SAVAGE knows of each unknown: intervals valid at every time at once.

References
----------
Urvoy et al., ICML 2013, Algorithm 1: ``c(n) = sqrt(ln(eta(n) / delta) / (2 n))`` with
``eta = 2 N T`` for a finite horizon T, ``eta = pi^2 N n^2 / 3`` for an infinite one.
"""

from math import inf, log, pi

from bayesduel.beliefs import upper_bound
from bayesduel.jit import compiled
from bayesduel.policies.borda_rewards import take_reward
from bayesduel.policies.savage_tests import BORDA, depends, sampled_depends

__all__ = ["learn"]


@compiled
def learn(belief, memory, rng):
    """Bring the intervals up to date with the belief, and drop what does not matter."""
    n_arms = len(memory.lower)
    new = belief.n_duels[0] - memory.seen[0]
    memory.seen[0] = belief.n_duels[0]
    i, j = belief.last[0], belief.last[1]
    if memory.notion == BORDA:
        arm = take_reward(memory.rewards, belief)
        if arm >= 0:
            learn_mean(memory, arm)
    elif new == 1 and i != j:
        learn_pair(belief, memory, i, j)
    elif new > 1:
        for i in range(n_arms):
            for j in range(i):
                learn_pair(belief, memory, i, j)
    if memory.restarts > 0:
        if new == 1 and memory.active[i, j]:
            matters = sampled_depends(memory, i, j, rng)
            memory.active[i, j] = memory.active[j, i] = matters
    elif new > 0:
        depends(memory)


@compiled
def learn_pair(belief, memory, i, j):
    """Tighten the interval of a pair; start afresh if the intersection is empty."""
    lower, n_arms = memory.lower, len(memory.lower)
    n = belief.wins[i, j] + belief.wins[j, i]
    if n == 0:
        return
    budget = budget_of(memory, n, n_arms * (n_arms - 1) / 2)
    i_below = 1 - upper_bound(belief, j, i, budget)
    j_below = 1 - upper_bound(belief, i, j, budget)
    if memory.nested and max(lower[i, j], i_below) <= 1 - max(lower[j, i], j_below):
        i_below, j_below = max(lower[i, j], i_below), max(lower[j, i], j_below)
    lower[i, j], lower[j, i] = i_below, j_below


@compiled
def learn_mean(memory, i):
    """Tighten the interval of an arm's mean."""
    lower, n = memory.lower, memory.rewards.duels[i]
    radius = (budget_of(memory, n, len(lower)) / (2 * n)) ** 0.5
    mean = memory.rewards.points[i] / n
    below, above = mean - radius, mean + radius
    if memory.nested and max(lower[i, 0], below) <= min(lower[i, 1], above):
        below, above = max(lower[i, 0], below), min(lower[i, 1], above)
    lower[i, 0], lower[i, 1] = below, above


@compiled
def budget_of(memory, n, n_unknown):
    """Return ln(eta(n) / delta): a union over unknowns and numbers of duels."""
    if memory.horizon == inf:
        return log(pi * pi * n_unknown * n * n / 3) - log(memory.delta)
    return log(2 * n_unknown * memory.horizon) - log(memory.delta)
