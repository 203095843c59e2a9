"""The random walk from each arm to the arms that beat it, and bounds on its stationary law.

References
----------
Busa-Fekete et al., ICML 2013, section on random walks. Deviation: the perturbation bound is a
heuristic (the printed one is reported to be in error).
"""

import numpy as np

from bayesduel.jit import compiled

__all__ = ["stationary", "walk_is_settled"]


@compiled
def stationary(share):
    """Return the stationary law of the walk from j to i proportional to P[i, j], shape (K,)."""
    n_arms = len(share)
    system = np.zeros((n_arms, n_arms + 1))
    for j in range(n_arms):
        leaving = share[:, j].sum()
        system[:, j] = share[:, j] / leaving
        system[j, j] -= 1
    system[-1] = 1  # the law sums to 1, in place of the last balance
    eliminate(system)
    return system[:, n_arms].copy()


@compiled
def eliminate(system):
    """Reduce [A | B] to [I | A^-1 B], with partial pivoting."""
    n = len(system)
    for k in range(n):
        top = k
        for i in range(k + 1, n):
            if abs(system[i, k]) > abs(system[top, k]):
                top = i
        row = system[k].copy()
        system[k] = system[top]
        system[top] = row
        system[k] /= system[k, k]
        for i in range(n):
            by = system[i, k]
            if i != k and by != 0:
                system[i] -= by * system[k]


@compiled
def walk_is_settled(share, upper, k):
    """Return whether the bounds separate the k-th and the next entry of the stationary law."""
    n_arms = len(share)
    law = stationary(share)
    # [I - walk + 1 law | I], whose inverse less 1 law is the group inverse.
    system = np.zeros((n_arms, 2 * n_arms))
    widest = 0.0
    for i in range(n_arms):
        to = share[:, i]
        leaving = to.sum()
        radius = max(0.0, (upper[:, i] - to).max())
        system[i, :n_arms] = law - to / leaving
        system[i, i] += 1
        system[i, n_arms + i] = 1
        widest = max(widest, 3 * n_arms * radius / leaving)
    eliminate(system)
    largest = np.abs(system[:, n_arms:] - law).max()
    ordered = np.sort(law)
    kth = n_arms - k
    gap = ordered[kth] - ordered[kth - 1]
    return gap > 2 * largest * widest
