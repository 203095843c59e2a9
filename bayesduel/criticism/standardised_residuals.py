"""Residuals of margins: by group, on the normal scale, and the statistics that checks are of."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import ndtri, stdtr

__all__ = ["EDGES", "Groups", "grouped", "histogram", "normal_scores", "statistics"]

EDGES = np.linspace(-4.5, 4.5, 31)  # bins of residuals


@dataclass(frozen=True, eq=False)
class Groups:
    """Which residuals belong to which group: a sparse matrix (n, groups) of ones."""

    member: sparse.csr_array

    def __add__(self, other: "Groups") -> "Groups":
        return Groups(sparse.csr_array(self.member + other.member))

    @property
    def size(self) -> np.ndarray:
        """How many are in each, shape (groups,)."""
        return np.asarray(self.member.sum(axis=0)).ravel()

    @property
    def sum_to_mean(self) -> sparse.csr_array:
        """Weights that give the means of groups."""
        return sparse.csr_array(self.member / np.maximum(self.size, 1.0))

    @property
    def sum_to_root(self) -> sparse.csr_array:
        """Weights that give the means of groups times the root of their size."""
        return sparse.csr_array(self.member / np.sqrt(np.maximum(self.size, 1.0)))


def grouped(place: np.ndarray, n: int) -> Groups:
    """Return `n` groups, of which entry i belongs to number ``place[i]``."""
    shape = (len(place), n)
    return Groups(sparse.csr_array((np.ones(len(place)), (np.arange(len(place)), place)), shape))


def normal_scores(z: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Map Student residuals to the normal scale, from the nearer tail."""
    tail = np.maximum(stdtr(degrees, -np.abs(z)), 1e-300)
    return np.where(z < 0, 1.0, -1.0) * ndtri(tail)


def statistics(
    z: np.ndarray, pair_means: np.ndarray, by_pair: Groups, by_arm: Groups
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
        excess = (square - 1.0) @ groups.sum_to_root
        found.append(np.sqrt((excess[:, groups.size > 0] ** 2).mean(axis=1) / 2))
    return np.stack(found)


def histogram(z: np.ndarray) -> np.ndarray:
    """Return the density of each row by bin, shape (draws, bins), outer bins open."""
    n_bins, width = len(EDGES) - 1, EDGES[1] - EDGES[0]
    place = np.clip(np.searchsorted(EDGES, z) - 1, 0, n_bins - 1)
    place += n_bins * np.arange(len(z))[:, None]
    counts = np.bincount(place.ravel(), minlength=n_bins * len(z))
    return counts.reshape(len(z), n_bins) / (z.shape[1] * width)
