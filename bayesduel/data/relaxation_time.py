"""Relaxation time of a log: whether opponents are chosen near one another.

A walk goes from an arm to the opponent of one of its duels drawn at random, and on from there.
Where opponents are drawn among all arms it forgets its start within a few steps. Where they are
matched by strength, league or date, it takes many: arms far apart are then compared only through
long chains.

References
----------
Levin & Peres, "Markov Chains and Mixing Times", 2nd edition, 2017, section 12.2 (relaxation time).
"""

import numpy as np

from bayesduel.data.duels import Duels

__all__ = ["relaxation_time"]


def relaxation_time(duels: Duels) -> float:
    """Return ``1 / (1 - lambda)``, lambda the second largest eigenvalue of the walk, in steps.

    Of the largest component of the log; 1 where that has fewer than three arms.
    """
    from scipy import sparse
    from scipy.sparse import csgraph
    from scipy.sparse.linalg import eigsh

    pairs = duels.pairs()
    n_arms = duels.n_arms
    duels_of_pair = pairs.first_wins + pairs.second_wins + pairs.ties
    n = duels_of_pair.astype(float)
    starts = np.concatenate([pairs.first, pairs.second])
    ends = np.concatenate([pairs.second, pairs.first])
    both_ways = np.concatenate([n, n])
    places = (starts, ends)
    met = sparse.csr_array((both_ways, places), shape=(n_arms, n_arms))
    _, component = csgraph.connected_components(met, directed=False)
    largest = np.bincount(component).argmax()
    inside = np.flatnonzero(component == largest)
    if len(inside) < 3:
        return 1.0
    met = met[inside][:, inside]
    times = met.sum(axis=1)  # that an arm met another
    root = sparse.diags_array(times**-0.5)
    walk = root @ met @ root
    rng = np.random.default_rng(0)
    start = rng.standard_normal(len(inside))
    # Relative error of the eigenvalue: 1e-3
    found = eigsh(walk, k=2, which="LA", tol=1e-3, v0=start, return_eigenvectors=False)
    gap = 1 - found.min()
    return float(1 / max(gap, 1e-9))
