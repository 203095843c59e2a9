"""The slope of ECW-RMED, in plain NumPy: a reference for the compiled allocation."""

import numpy as np
from scipy.special import rel_entr

from bayesduel.policies.cw_rmed_allocation import costs
from bayesduel.preference import check_preference
from bayesduel.simulation.regret_lower_bound import _needed


def divergence_from_half(P):
    """Return kl(p, 1/2) of every entry, shape that of `P`."""
    return rel_entr(P, 0.5) + rel_entr(1 - np.asarray(P), 0.5)


def relaxed_slope(P):
    """Return the slope of ECW-RMED, an allocation in closed form; at least C*.

    Every inferior of the winner i1 is refuted outright; a rival i2 with ``g`` superiors to
    spare is refuted on its ``h > g`` cheapest ones, each to ``1 / (h - g)``.
    """
    P = check_preference(P)
    wins = (P > 0.5).sum(axis=1)
    cost = costs(P)
    slopes = []
    for i1 in np.flatnonzero(wins == wins.max()).tolist():
        share = np.zeros_like(P)
        for inferior in np.flatnonzero(P[i1] > 0.5):
            share[i1, inferior] = share[inferior, i1] = 1
        for i2 in range(len(P)):
            if i2 == i1:
                continue
            superiors = [j for j in range(len(P)) if P[j, i2] > 0.5 and j != i1]
            needed = _needed(P, i1, i2)
            if needed <= 0:
                return np.inf
            spare = len(superiors) - needed
            if spare < 0:
                continue
            superiors.sort(key=lambda j, i2=i2: cost[j, i2])
            totals = [
                sum(cost[j, i2] for j in superiors[:h]) / (h - spare)
                for h in range(spare + 1, len(superiors) + 1)
            ]
            best = spare + 1 + int(np.argmin(totals))
            for j in superiors[:best]:
                share[j, i2] = share[i2, j] = max(share[j, i2], 1 / (best - spare))
        slopes.append(float((np.triu(share, 1) * cost).sum()))
    return min(slopes)
