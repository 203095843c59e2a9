"""Cyclic triads, weighted by the z score of their weakest majority.

The z score of a majority is ``z = (won - expected) / sd``, with the mean and the standard
deviation of arms of equal strength. A cyclic triad has weight ``exp(z^2 / 2)``, z that of its
weakest majority: about the likelihood ratio of that majority against equal strength. The
statistic is ``log(1 + sum of weights)``. Where no pair met often it counts cyclic triads; a
single cycle of certain majorities outweighs thousands of cycles by chance.
"""

from dataclasses import dataclass
from math import comb

import numpy as np

from bayesduel.criticism.transitivity.design import DecidedDuels
from bayesduel.jit import compiled

__all__ = [
    "Triads",
    "as_cyclic",
    "closed_triads",
    "cyclicity",
    "majority_z",
    "measured",
]


@dataclass(frozen=True, eq=False)
class Triads:
    """Triads whose three pairs met."""

    # places of the pairs (i, j), (j, k), (i, k) of each, i < j < k, int64, shape (n, 3)
    edges: np.ndarray
    n_closed: int  # triads of the log whose pairs all met; `edges` holds all, or a sample
    n_all: int  # triads of the arms there are

    @property
    def share(self) -> float:
        """Share of the closed triads that `edges` holds."""
        return len(self.edges) / self.n_closed if self.n_closed else 1.0


def closed_triads(
    n_arms: int,
    first: np.ndarray,
    second: np.ndarray,
    rng: np.random.Generator,
    most: int = 200_000,  # all up to 107 arms
) -> Triads:
    """Return the triads whose three pairs met; of more than `most`, as many drawn at random.

    `first` and `second` are the arms of the pairs that met, first < second.
    """
    place = np.full((n_arms, n_arms), -1, dtype=np.int64)
    place[first, second] = np.arange(len(first))
    met = place >= 0
    later = [np.flatnonzero(row) for row in met]  # arms after each that it met

    def closing(i: int) -> np.ndarray:
        """Return which of the later arms that `i` met themselves met, (n, n)."""
        return met[np.ix_(later[i], later[i])]

    numbers = [closing(i).sum() for i in range(n_arms)]
    ends = np.cumsum([0, *numbers])
    n_closed = int(ends[-1])
    kept = np.arange(n_closed)
    if n_closed > most:
        kept = np.sort(rng.choice(n_closed, most, replace=False))
    borders = np.searchsorted(kept, ends)
    edges = np.empty((len(kept), 3), dtype=np.int64)
    for i in range(n_arms):
        here = slice(borders[i], borders[i + 1])
        own = kept[here] - ends[i]
        pairs = np.argwhere(closing(i))[own]
        j, k = later[i][pairs].T
        edges[here, 0] = place[i, j]
        edges[here, 1] = place[j, k]
        edges[here, 2] = place[i, k]
    return Triads(edges, n_closed, comb(n_arms, 3))


def as_cyclic(statistic: np.ndarray, of_log: float) -> np.ndarray:
    """Return whether logs are at least as cyclic as one, whose statistic is `of_log`."""
    # Rounding of the statistic, 1e-9: logs as cyclic as this one count as such
    return statistic >= of_log - 1e-9


def majority_z(design: DecidedDuels, won: np.ndarray, first_wins: float) -> np.ndarray:
    """Return the signed z score of each pair's majority, > 0 for `first`; shape (..., n_pairs).

    Of the duels that `first` of each pair `won`, of the same shape.
    """
    by_side = [design.side > 0, design.side < 0]
    even = np.select(by_side, [first_wins, 1 - first_wins], 0.5)
    mean, variance = design.moments(even)
    z = (won - mean) / np.sqrt(variance)
    is_level = np.abs(z) < 1e-9  # but for rounding
    return np.where(is_level, 0.0, z)


def measured(
    design: DecidedDuels, triads: Triads, won: np.ndarray, first_wins: float
) -> np.ndarray:
    """Return statistic, cyclic and decided triads of logs, (n, 3), given what they `won` by pair.

    `first_wins`: the probability that the side listed first wins between level arms.
    """
    z = majority_z(design, won, first_wins)
    return cyclicity(z, triads.edges)


@compiled
def cyclicity(z_scores: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return (statistic, cyclic triads, decided triads) of each row of `z_scores`.

    `z_scores` has shape (n, n_pairs), `edges` (n_triads, 3); the result (n, 3).
    """
    found = np.zeros((len(z_scores), 3))
    for row in range(len(z_scores)):
        z = z_scores[row]
        top = 0.0  # logarithm of the largest weight, and
        total = 1.0  # the sum of all over it, so that no weight is too large for a number
        for triad in range(len(edges)):
            ij = z[edges[triad, 0]]
            jk = z[edges[triad, 1]]
            ki = -z[edges[triad, 2]]
            weakest = min(abs(ij), abs(jk), abs(ki))
            if weakest == 0.0:
                continue
            found[row, 2] += 1.0
            forth = ij > 0.0
            if (jk > 0.0) != forth or (ki > 0.0) != forth:
                continue
            found[row, 1] += 1.0
            log_weight = 0.5 * weakest**2
            if log_weight > top:
                total *= np.exp(top - log_weight)
                top = log_weight
            total += np.exp(log_weight - top)
        found[row, 0] = top + np.log(total)
    return found
