"""Cyclic triads, weighted by the z score of their weakest majority.

The z score of a majority is ``z = (won - expected) / sd``, with the mean and the standard
deviation of arms of equal strength. A cyclic triad has weight ``exp(z^2 / 2)``, z that of its
weakest majority: about the likelihood ratio of that majority against equal strength. The
statistic is ``log(1 + sum of weights)``. Where no pair met often it counts cyclic triads; a
single cycle of certain majorities outweighs thousands of cycles by chance.
"""

from dataclasses import dataclass

import numpy as np

from bayesduel.criticism.transitivity.design import DecidedDuels

__all__ = ["MOST_TRIADS", "Triads", "closed_triads", "cyclicity", "majority_z", "measured"]


AT_ONCE = 255  # triads looked at together, whose number fits in a byte
WORDS_AT_ONCE = 16_384  # triads whose bits are looked at together
LEVEL = 1e-9  # z scores below which a pair is level
MOST_TRIADS = 200_000  # all up to 107 arms; of more, as many drawn at random


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
    most: int = MOST_TRIADS,
) -> Triads:
    """Return the triads whose three pairs met; of more than `most`, as many drawn at random.

    `first` and `second` are the arms of the pairs that met, first < second.
    """
    place = np.full((n_arms, n_arms), -1, dtype=np.int64)
    place[first, second] = np.arange(len(first))
    met = place >= 0
    n_closed = sum(int(met[np.ix_(js, js)].sum()) for js in map(np.flatnonzero, met))
    every = np.arange(n_closed)
    kept = every if n_closed <= most else np.sort(rng.choice(n_closed, most, replace=False))
    edges = [np.empty((0, 3), dtype=np.int64)]
    seen = 0
    for i, row in enumerate(met):
        js = np.flatnonzero(row)
        j, k = (js[found] for found in np.nonzero(met[np.ix_(js, js)]))
        start, stop = np.searchsorted(kept, (seen, seen + len(j)))
        chosen = kept[start:stop] - seen
        seen += len(j)
        j = j[chosen]
        k = k[chosen]
        edges.append(np.stack([place[i, j], place[j, k], place[i, k]], axis=1))
    return Triads(np.concatenate(edges), n_closed, n_arms * (n_arms - 1) * (n_arms - 2) // 6)


def majority_z(design: DecidedDuels, won: np.ndarray, first_wins: float) -> np.ndarray:
    """Return the signed z score of each pair's majority, > 0 for `first`; shape (..., n_pairs).

    Of the duels that `first` of each pair `won`, of the same shape.
    """
    even = np.where(design.side > 0, first_wins, np.where(design.side < 0, 1 - first_wins, 0.5))
    z = won - design.by_pair(design.n * even)
    z /= np.sqrt(design.by_pair(design.n * even * (1 - even)))
    z[np.abs(z) < LEVEL] = 0.0
    return np.asarray(z)


def measured(
    design: DecidedDuels, triads: Triads, won: np.ndarray, first_wins: float
) -> np.ndarray:
    """Return statistic, cyclic and decided triads of logs, (n, 3), given what they `won` by pair.

    `first_wins`: the probability that the side listed first wins between level arms.
    """
    return np.asarray(cyclicity(majority_z(design, won, first_wins), triads.edges), dtype=float)


def cyclicity(z_scores: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return (statistic, cyclic triads, decided triads) of each row of `z_scores`.

    `z_scores` has shape (n, n_pairs), `edges` (n_triads, 3); the result (n, 3).
    """
    n, n_pairs = z_scores.shape
    used = _words(np.ones((n, 1), dtype=bool))[0]
    above = _words(z_scores > 0)
    level = _words(z_scores == 0)
    even = level.any()  # pairs that met an even number of times, without an order effect
    sure = np.abs(z_scores).ravel()
    number = np.full(n, len(edges))
    rows = []
    weakest = []
    for start in range(0, len(edges), WORDS_AT_ONCE):
        part = edges[start : start + WORDS_AT_ONCE].T
        ij, jk, ik = above[part]
        around = ~(ij ^ jk) & (ij ^ ik) & used
        if even:
            undecided = np.bitwise_or.reduce(level[part])
            around &= ~undecided
            bits = _bits(undecided[undecided.any(axis=1)])
            number -= bits.sum(axis=0, dtype=np.uint32)[:n]
        some = np.flatnonzero(around.any(axis=1))  # few triads are cyclic in any of the logs
        place = np.flatnonzero(_bits(around[some]).view(bool))
        triad, row = np.divmod(place, 64 * used.size)
        rows.append(row)
        triad = some[triad]
        start_of_row = row * n_pairs
        least = sure[part[0].take(triad) + start_of_row]
        for pair in part[1:]:
            np.minimum(least, sure[pair.take(triad) + start_of_row], out=least)
        weakest.append(least)
    row = np.concatenate(rows)
    half = np.concatenate(weakest) ** 2 / 2
    top = np.zeros(n)
    np.maximum.at(top, row, half)
    total = np.exp(-top) + np.bincount(row, np.exp(half - top[row]), n)
    return np.stack([top + np.log(total), np.bincount(row, minlength=n), number], axis=1)


def _words(rows: np.ndarray) -> np.ndarray:
    """Return truth values (n, columns) as bits, 64 in a word, (columns, words); the rest are 0."""
    padded = np.zeros((rows.shape[1], -(-len(rows) // 64) * 64), dtype=bool)
    padded[:, : len(rows)] = rows.T
    return np.packbits(padded, axis=1).view(np.uint64)


def _bits(words: np.ndarray) -> np.ndarray:
    """Return the bits of rows of words, each as 0 or 1."""
    return np.unpackbits(words.view(np.uint8), axis=1)
