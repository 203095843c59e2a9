"""What a log connects: components of arms, and whether wins lead from every arm to every other."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["component_of", "components", "win_graph_is_connected"]


def component_of(duels: "Duels") -> np.ndarray:
    """Return the number of the component each arm is in, int, shape (K,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left, right = duels.cells.left, duels.cells.right
    edges = coo_array((np.ones(len(left)), (left, right)), shape=(duels.n_arms,) * 2)
    return connected_components(edges, directed=False)[1]


def components(duels: "Duels") -> list[tuple[str, ...]]:
    """Return the groups of arms that duels connect, largest first."""
    place = component_of(duels)
    groups: list[list[str]] = [[] for _ in range(place.max() + 1)]
    for arm, k in zip(duels.arms, place, strict=True):
        groups[k].append(arm)
    return sorted((tuple(g) for g in groups), key=lambda g: (-len(g), g))


def win_graph_is_connected(duels: "Duels") -> bool:
    """Return whether wins lead from every arm to every other (ties lead both ways).

    It is the condition under which maximum-likelihood scores exist and are unique.

    References
    ----------
    Ford, "Solution of a ranking problem from binary comparisons", American Mathematical
    Monthly 64(8), 1957, 28-33.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left, right, left_wins, right_wins, ties = duels.cells
    forward, backward = (left_wins + ties) > 0, (right_wins + ties) > 0
    winner = np.concatenate([left[forward], right[backward]])
    loser = np.concatenate([right[forward], left[backward]])
    edges = coo_array((np.ones(len(winner)), (winner, loser)), shape=(duels.n_arms,) * 2)
    return connected_components(edges, directed=True, connection="strong")[0] == 1
