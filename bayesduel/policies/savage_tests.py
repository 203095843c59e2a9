"""On which unknowns does the decision still depend? SAVAGE's independence predicates.

References
----------
Urvoy et al., ICML 2013: Copeland by equation 11, Condorcet by equation 10, Borda by the
best-arm predicate, and Algorithm 2 for a decision known only as a function.
"""

import numpy as np

from bayesduel.jit import compiled

__all__ = ["BORDA", "CONDORCET", "COPELAND", "depends", "sampled_depends"]

COPELAND, CONDORCET, BORDA = range(3)


@compiled
def depends(memory):
    """Drop from `active` what the decision formally does not depend on."""
    lower, active = memory.lower, memory.active
    n_arms = len(lower)
    if memory.notion == BORDA:
        for i in range(n_arms):
            others_below, others_above = -np.inf, -np.inf
            for k in range(n_arms):
                if k != i:
                    others_below = max(others_below, lower[k, 0])
                    others_above = max(others_above, lower[k, 1])
            if lower[i, 1] < others_below or lower[i, 0] > others_above:
                active[i, 0] = False
    elif memory.notion == CONDORCET and not memory.refuted[0]:
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
                if active[i, j] and (settled or sure > max(possible[i], possible[j])):
                    active[i, j] = active[j, i] = False


@compiled
def sampled_depends(memory, i, j, rng):
    """Look for a point of the box where redrawing P[i, j] changes the winners.

    True is always right; False may be wrong, the less often the more points are tried.
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
            b = int(rng.random() * (n_arms - 1))
            redraw(x, memory.lower, a, b + (b >= a), rng)
    return False


@compiled
def redraw(x, lower, i, j, rng):
    """Draw x[i, j] uniformly from its interval."""
    low, high = max(lower[i, j], 0.0), min(1 - lower[j, i], 1.0)
    x[i, j] = low + (high - low) * rng.random()
    x[j, i] = 1 - x[i, j]


@compiled
def copeland_winners(x):
    """Return who beats most others, shape (K,)."""
    wins = (x > 0.5).sum(axis=1)
    return wins == wins.max()
