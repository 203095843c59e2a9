"""Sufficient statistics of score duels: counts, sums and sums of squares by pair.

The margin of a score duel of (i, j) is the real number by which i beat j. A margin enters only
through ``record_margin``. Wins and losses are margins of 1/2 and -1/2: where there are no others,
variances are a proportion's, ``p (1 - p)``.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.system.arguments import check_type, whole

__all__ = [
    "Margins",
    "Moments",
    "margins_of_pairs",
    "no_margins",
    "pair_variances",
    "record_margin",
    "require_margins",
]

# Of the pooled variance: the least variance a pair is credited with. Equal margins have none, and
# their t value would be infinite.
FLOOR = 1e-6


class Margins(NamedTuple):
    """Sufficient statistics of the margins, and the last duel."""

    n: np.ndarray  # duels of i and j, shape (K, K), float64, symmetric, diagonal 0
    total: np.ndarray  # sum of the margins of i over j, shape (K, K), antisymmetric
    squares: np.ndarray  # sum of their squares, shape (K, K), symmetric
    last: np.ndarray  # the pair recorded last, shape (2,), int64; (-1, -1) before the first
    last_margin: np.ndarray  # its margin, first over second, shape (1,)
    n_duels: np.ndarray  # duels recorded, shape (1,), int64


class Moments(NamedTuple):
    """What margins say of each pair, and what its variance is shrunk to."""

    n: np.ndarray  # duels of i and j, shape (K, K)
    mean: np.ndarray  # mean margin of i over j, shape (K, K)
    scatter: np.ndarray  # sum of squares of the margins about it, shape (K, K)
    variance: np.ndarray  # of a margin, shape (K, K): see `pair_variances`
    pooled: float  # the variance of all pairs together
    floor: float  # the least variance
    shrinkage: float  # duels for which the pooled variance counts


def no_margins(n_arms: int) -> Margins:
    """Return the statistics of arms before the first duel; raise ValueError of fewer than two."""
    n_arms = whole(n_arms, "n_arms", 0)
    if n_arms < 2:
        raise ValueError(f"n_arms should be at least 2, got {n_arms}")
    shape = (n_arms, n_arms)
    return Margins(
        n=np.zeros(shape),
        total=np.zeros(shape),
        squares=np.zeros(shape),
        last=np.full(2, -1, np.int64),
        last_margin=np.zeros(1),
        n_duels=np.zeros(1, np.int64),
    )


def margins_of_pairs(
    n_arms: int, n: np.ndarray | int, mean: np.ndarray, scatter: np.ndarray
) -> Margins:
    """Return the statistics of logs in which all pairs met.

    n, mean, scatter: duels of each pair, their mean margin and sum of squares about it, in the
        order of ``np.triu_indices(K, 1)``.
    """
    found = no_margins(n_arms)
    above = np.triu_indices(n_arms, 1)
    found.n[above] = n
    found.total[above] = n * mean
    found.squares[above] = scatter + n * mean**2
    found.n_duels[0] = found.n.sum()
    found.n[:] += found.n.T
    found.total[:] -= found.total.T
    found.squares[:] += found.squares.T
    return found


def require_margins(value: Any) -> None:
    """Raise TypeError unless an argument is the statistics of margins, ValueError if not finite."""
    check_type(value, Margins, "margins", "bayesduel.policies.top_k.Margins")
    for sums in (value.total, value.squares):
        if not np.isfinite(sums).all():
            raise ValueError("margins should be finite, got infinite or missing ones")


@compiled
def record_margin(margins, i, j, margin):
    """Record the margin of i over j, i != j."""
    square = margin * margin
    margins.n[i, j] += 1
    margins.n[j, i] += 1
    margins.total[i, j] += margin
    margins.total[j, i] -= margin
    margins.squares[i, j] += square
    margins.squares[j, i] += square
    margins.last[0] = i
    margins.last[1] = j
    margins.last_margin[0] = margin
    margins.n_duels[0] += 1


@compiled
def pair_variances(margins, shrinkage, mean, scatter, variance):
    """Write every pair's mean, scatter and variance; return the pooled variance and the floor.

    shrinkage: weight nu of the pooled variance, in duels: the variance of a pair is ``(nu s_pool^2
        + sum (r - mean)^2) / (nu + n - 1)``.
    mean, scatter, variance: written, shape (K, K): the mean margin of i over j, the sum of squares
        about it, and the variance (divisor n - 1), at least the floor; 0 for a pair that never met.
        Of wins and losses: see ``proportions``.
    Returns the pooled variance, and the floor: 1e-6 of it, and never 0 even if all margins are
    equal.
    """
    n_arms = len(mean)
    within = 0.0
    freedom = 0.0
    square = 0.0
    duels = 0.0
    for i in range(n_arms):
        for j in range(i):
            n = margins.n[i, j]
            if n == 0:
                mean[i, j] = 0.0
                mean[j, i] = 0.0
                scatter[i, j] = 0.0
                scatter[j, i] = 0.0
                continue
            own_square = margins.squares[i, j]
            m = margins.total[i, j] / n
            s = max(own_square - n * m * m, 0.0)
            mean[i, j] = m
            mean[j, i] = -m
            scatter[i, j] = s
            scatter[j, i] = s
            within += s
            freedom += n - 1
            square += own_square
            duels += n
    if wins_alone(margins):
        return proportions(margins, shrinkage, scatter, variance)
    pooled = within / max(freedom, 1.0)
    least = 1e-12 * square / max(duels, 1.0)
    floor = max(FLOOR * pooled, least, 1e-30)
    for i in range(n_arms):
        for j in range(i):
            n = margins.n[i, j]
            v = 0.0
            if n > 0:
                s = shrinkage * pooled + scatter[i, j]
                weight = max(shrinkage + n - 1, 1.0)
                v = max(s / weight, floor)
            variance[i, j] = v
            variance[j, i] = v
    return pooled, floor


@compiled
def wins_alone(margins):
    """Return whether all margins are 1/2 or -1/2, those of wins and losses."""
    n_arms = len(margins.n)
    for i in range(n_arms):
        for j in range(i):
            if 4 * margins.squares[i, j] != margins.n[i, j]:
                return False
    return margins.n_duels[0] > 0


@compiled
def proportions(margins, shrinkage, scatter, variance):
    """Write scatters and variances of wins and losses; return the pooled variance and the floor.

    With p = (W + 1) / (n + 2), W wins in n duels, a variance is p (1 - p) and the scatter n
    times it: neither vanishes where one arm won all.
    """
    n_arms = len(margins.n)
    within = 0.0
    duels = 0.0
    for i in range(n_arms):
        for j in range(i):
            n = margins.n[i, j]
            if n > 0:
                won = n / 2 + margins.total[i, j]
                p = (won + 1) / (n + 2)
                s = n * p * (1 - p)
                scatter[i, j] = s
                scatter[j, i] = s
                within += s
                duels += n
    pooled = within / duels
    for i in range(n_arms):
        for j in range(i):
            n = margins.n[i, j]
            v = 0.0
            if n > 0:
                s = shrinkage * pooled + scatter[i, j]
                v = s / (shrinkage + n)
            variance[i, j] = v
            variance[j, i] = v
    return pooled, FLOOR * pooled
