"""Residuals of margins: by group, on the normal scale, and the statistics that checks are of."""

import numpy as np
from scipy import sparse
from scipy.special import ndtri, stdtr

__all__ = [
    "EDGES",
    "grouped",
    "histogram",
    "normal_scores",
    "per_root",
    "size_of",
    "statistics",
]

EDGES = np.linspace(-4.5, 4.5, 31)  # bins of residuals


def grouped(place: np.ndarray, n: int) -> sparse.csr_array:
    """Return which of `n` groups each entry belongs to, number ``place[i]``: ones, (n, groups)."""
    shape = (len(place), n)
    return sparse.csr_array((np.ones(len(place)), (np.arange(len(place)), place)), shape=shape)


def size_of(member: sparse.csr_array) -> np.ndarray:
    """Return how many entries each group has, shape (groups,)."""
    return np.asarray(member.sum(axis=0)).ravel()


def per_root(member: sparse.csr_array) -> sparse.csr_array:
    """Return weights that give the means of groups times the root of their size."""
    return sparse.csr_array(member / np.sqrt(np.maximum(size_of(member), 1.0)))


def normal_scores(z: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Map Student residuals to the normal scale, from the nearer tail."""
    tail = np.maximum(stdtr(degrees, -np.abs(z)), 1e-300)
    return np.where(z < 0, 1.0, -1.0) * ndtri(tail)


def statistics(
    z: np.ndarray, pair_means: np.ndarray, by_pair: sparse.csr_array, by_arm: sparse.csr_array
) -> np.ndarray:
    """Return the statistics of residuals (draws, n), in the order of the checks, (6, draws)."""
    square = z**2
    about = z - z.mean(axis=1, keepdims=True)
    moment = (about**2).mean(axis=1)
    found = [
        np.abs(z.mean(axis=1)),
        np.abs((about**4).mean(axis=1) / moment**2 - 3.0),
        np.abs((about**3).mean(axis=1) / moment**1.5),
        np.sqrt((pair_means**2).mean(axis=1)),
    ]
    for groups in (by_arm, by_pair):
        excess = (square - 1.0) @ per_root(groups)
        found.append(np.sqrt((excess[:, size_of(groups) > 0] ** 2).mean(axis=1) / 2))
    return np.stack(found)


def histogram(z: np.ndarray) -> np.ndarray:
    """Return the density of each row by bin, shape (draws, bins), outer bins open."""
    n_bins, width = len(EDGES) - 1, EDGES[1] - EDGES[0]
    place = np.clip(np.searchsorted(EDGES, z) - 1, 0, n_bins - 1)
    place += n_bins * np.arange(len(z))[:, None]
    counts = np.bincount(place.ravel(), minlength=n_bins * len(z))
    return counts.reshape(len(z), n_bins) / (z.shape[1] * width)
