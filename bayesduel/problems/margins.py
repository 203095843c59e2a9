"""Problems of score duels: each pair has a mean margin and a standard deviation.

The n-th duel of a pair has the same margin whoever asks for it: its random number is a hash
of the replication's key, the pair and n. All policies of an experiment meet the same margins.
"""

from dataclasses import dataclass, field
from math import cos, log, pi, sqrt
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.problems.problem import ArmsProblem, checked_labels
from bayesduel.system.arguments import (
    check_one_of,
    check_range,
    finite,
    generator_of,
    numbers,
    whole,
)

__all__ = [
    "Dice",
    "ScoreDuels",
    "checked_arms",
    "draw_margin",
    "lot",
    "score_duels",
    "uneven_duels",
]


class Dice(NamedTuple):
    """Arrays from which compiled code draws margins."""

    mean: np.ndarray  # of the margin of i over j, shape (K, K)
    sd: np.ndarray  # its standard deviation, shape (K, K)
    # Recorded margins, pair after pair, i < j, shape (n,); n = 0: draw normal ones.
    pool: np.ndarray
    # Where the margins of pair (i, j), i < j, start in `pool`, and where they end, shape (K, K, 2).
    start: np.ndarray
    # Whether margins are 1/2 and -1/2, with chance ``1/2 + mean`` of the former.
    binary: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class ScoreDuels(ArmsProblem):
    """Score duels with normal margins ``N(mean_ij, sd_ij^2)``.

    Parameters
    ----------
    mean
        Mean margin of i over j, shape (K, K), K >= 2, antisymmetric.
    sd
        Standard deviation of a margin, shape (K, K), symmetric, >= 0; both are finite.

    Examples
    --------
    >>> problem = bd.problems.ScoreDuels(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.ones((2, 2)))
    >>> problem.setting
    'margins'
    """

    mean: np.ndarray
    sd: np.ndarray
    name: str = "score duels"
    arms: tuple[str, ...] = ()
    source: str = ""
    setting: ClassVar[str] = "margins"
    dice: Dice = field(init=False, repr=False)

    def __post_init__(self) -> None:
        mean = np.array(numbers(self.mean, "mean"))
        sd = np.array(numbers(self.sd, "sd"))
        square = mean.ndim == 2 and mean.shape[0] == mean.shape[1]
        if not square or len(mean) < 2:
            raise ValueError(f"mean should have shape (K, K), K >= 2, got {mean.shape}")
        if sd.shape != mean.shape:
            raise ValueError(f"sd should have the shape of mean, {mean.shape}, got {sd.shape}")
        if not (np.isfinite(mean).all() and np.isfinite(sd).all()):
            raise ValueError("mean and sd should be finite, got infinite or missing entries")
        if not np.allclose(mean, -mean.T):
            raise ValueError("mean should be antisymmetric: mean[j, i] = -mean[i, j]")
        if not np.array_equal(sd, sd.T) or (sd < 0).any():
            raise ValueError("sd should be symmetric and >= 0")
        arms = checked_labels(self.arms, len(mean))
        for array in (mean, sd):
            array.setflags(write=False)
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "sd", sd)
        object.__setattr__(self, "arms", arms)
        no_pool = np.zeros(0)
        nothing = np.zeros((len(mean), len(mean), 2), np.int64)
        object.__setattr__(self, "dice", Dice(mean, sd, no_pool, nothing))

    @property
    def scores(self) -> np.ndarray:
        """The true scores: sums of mean margins over the other arms, shape (K,)."""
        return self.mean.sum(axis=1)


def score_duels(
    n_arms: int,
    *,
    spread: Literal["sd", "variance"] = "sd",
    best: float | None = None,
    d: float = 0.0,
    rng: np.random.Generator | int,
) -> ScoreDuels:
    """Return score duels with uniform scores and a standard deviation for each pair.

    ``gamma_i ~ U[0, 1]``, margin ``N(gamma_i - gamma_j + eps_ij, sigma_ij^2)``, sigma_ij (or
    its square) ~ U[0, 1], ``eps_ij = -eps_ji ~ N(0, d^2)``.

    Parameters
    ----------
    n_arms
        At least 2.
    spread
        Which of sigma_ij and its square is U[0, 1].
    best
        If given, the first arm's gamma (1.2 is the paper's separated problem).
    d
        Standard deviation of the intransitive part, >= 0.
    rng
        Source of randomness.

    References
    ----------
    Groves & Branke, sections 5.1 and 6.

    Examples
    --------
    >>> bd.problems.score_duels(3, rng=np.random.default_rng(0)).mean.round(2)
    array([[ 0.  ,  0.37,  0.6 ],
           [-0.37,  0.  ,  0.23],
           [-0.6 , -0.23,  0.  ]])
    """
    n_arms = checked_arms(n_arms)
    check_range(d, "d", ">= 0 and finite")
    check_one_of(spread, "spread", ("sd", "variance"))
    if best is not None:
        best = finite(best, "best")
    generator = generator_of(rng)
    gamma = generator.random(n_arms)
    if best is not None:
        gamma[0] = best
    sigma = generator.random(n_arms * (n_arms - 1) // 2)
    if spread == "variance":
        sigma = np.sqrt(sigma)
    off = d * generator.standard_normal(len(sigma))
    return _built(gamma, sigma, off, f"Groves & Branke, {spread} uniform, d = {d:g}")


def uneven_duels(
    n_arms: int, *, decades: float = 2.0, d: float = 0.0, rng: np.random.Generator | int
) -> ScoreDuels:
    """Return score duels whose standard deviations differ by orders of magnitude, as in poker.

    As :func:`score_duels`, with ``log10 sigma_ij`` uniform on [-decades, 0]: over two decades
    the variances differ up to 10,000-fold.

    Parameters
    ----------
    n_arms, decades, d, rng
        As for :func:`score_duels`; `decades` is the range of the deviations in powers of ten.

    Examples
    --------
    >>> bd.problems.uneven_duels(3, rng=np.random.default_rng(0)).sd.round(3)
    array([[0.   , 0.927, 0.024],
           [0.927, 0.   , 0.015],
           [0.024, 0.015, 0.   ]])
    """
    n_arms = checked_arms(n_arms)
    generator = generator_of(rng)
    check_range(decades, "decades", ">= 0 and finite")
    check_range(d, "d", ">= 0 and finite")
    gamma = generator.random(n_arms)
    n_pairs = n_arms * (n_arms - 1) // 2
    sigma = 10 ** (-decades * generator.random(n_pairs))
    off = d * generator.standard_normal(len(sigma))
    return _built(gamma, sigma, off, f"spreads over {decades:g} decades, d = {d:g}")


def checked_arms(n_arms: int) -> int:
    """Return a number of arms, at least 2, as a whole number."""
    check_range(n_arms, "n_arms", "at least 2")
    return whole(n_arms, "n_arms", 2)


def _built(gamma: np.ndarray, sigma: np.ndarray, off: np.ndarray, source: str) -> ScoreDuels:
    n_arms = len(gamma)
    i, j = np.triu_indices(n_arms, 1)
    mean = np.zeros((n_arms, n_arms))
    sd = np.zeros((n_arms, n_arms))
    mean[i, j] = gamma[i] - gamma[j] + off
    sd[i, j] = sigma
    return ScoreDuels(mean - mean.T, sd + sd.T, "score duels", source=source)


@compiled
def draw_margin(dice, i, j, nth, key):
    """Return the margin of i over j in the nth duel of the pair, from 0, i != j.

    Parameters
    ----------
    dice
        The problem's.
    nth
        How many duels the pair has had.
    key
        The replication's, uint64.
    """
    a = min(i, j)
    b = max(i, j)
    place = lot(a, b, len(dice.mean), nth, key)
    u = unit(place)
    if len(dice.pool) > 0:
        first, end = dice.start[a, b]
        drawn = first + int(u * (end - first))
        margin = dice.pool[drawn]
    elif dice.binary:
        chance = 0.5 + dice.mean[a, b]
        margin = 0.5 if u < chance else -0.5
    else:
        second_place = scramble(place + np.uint64(0xD1B54A32D192ED03))
        v = unit(second_place)
        radius = sqrt(-2 * log(1 - u))  # Box & Muller
        margin = dice.mean[a, b] + dice.sd[a, b] * radius * cos(2 * pi * v)
    return margin if i == a else -margin


@compiled
def lot(i, j, n_arms, nth, key):
    """Return the random number of the nth duel of a pair, i < j, uint64."""
    cell = np.uint64(i * n_arms + j)
    of_pair = key + scramble(cell)
    steps = np.uint64(0x9E3779B97F4A7C15) * np.uint64(nth + 1)
    return scramble(of_pair + steps)


@compiled
def scramble(x):
    """Return a well mixed uint64 (the finaliser of splitmix64, Steele et al. 2014)."""
    x = x ^ (x >> np.uint64(30))
    x = x * np.uint64(0xBF58476D1CE4E5B9)
    x = x ^ (x >> np.uint64(27))
    x = x * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled
def unit(x):
    """Return a number in [0, 1) from the top 53 bits of a uint64."""
    return (x >> np.uint64(11)) * (1.0 / 9007199254740992.0)
