"""Components of a graph of arms, given by its edges."""

import numpy as np

__all__ = ["connected_components", "strongly_connected"]


def connected_components(left: np.ndarray, right: np.ndarray, n_arms: int) -> np.ndarray:
    """Return the index of the component that each arm is in, int, shape (K,).

    Parameters
    ----------
    left, right
        Indices of the two ends of each edge, shape (n_edges,).
    n_arms
        Number of arms, K.
    """
    from scipy.sparse import csgraph

    return csgraph.connected_components(_edges(left, right, n_arms), directed=False)[1]


def strongly_connected(winner: np.ndarray, loser: np.ndarray, n_arms: int) -> bool:
    """Return whether wins lead from every arm to every other.

    Parameters
    ----------
    winner, loser
        Indices of the start and the end of each edge, shape (n_edges,); a tie gives an edge
        either way.
    n_arms
        Number of arms, K.
    """
    from scipy.sparse import csgraph

    edges = _edges(winner, loser, n_arms)
    return csgraph.connected_components(edges, directed=True, connection="strong")[0] == 1


def _edges(start: np.ndarray, end: np.ndarray, n_arms: int):  # type: ignore[no-untyped-def]
    from scipy.sparse import coo_array

    return coo_array((np.ones(len(start)), (start, end)), shape=(n_arms, n_arms))
