"""Pareto-smoothed importance sampling: draws corrected, and certified.

A draw from an approximation is worth its importance ratio. The tail of the ratios is fitted by
a generalised Pareto distribution whose shape k-hat says whether the corrected draws can be trusted
at all: below 0.7 they can. It looks at the draws that were made. A skewed posterior can have mass
where none was; so the tails of every parameter are looked at too.

References
----------
Vehtari, Simpson, Gelman, Yao & Gabry, "Pareto smoothed importance sampling", JMLR 2024. Zhang &
Stephens, "A new and efficient estimation method for the generalized Pareto distribution",
Technometrics 2009. `tests/inference/test_psis.py` holds both equal to those of ArviZ, which takes
longer to import than a small fit.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from bayesduel.inference.grid_draws import normalised

__all__ = [
    "COVERED",
    "LEAST",
    "PSIS",
    "TAIL",
    "TRUSTED",
    "WEIGHED",
    "Certificate",
    "Quality",
    "Tails",
    "Uncorrected",
    "importance_weights",
    "pareto_fit",
    "resample",
    "tails",
    "tempered",
]

# Largest k-hat of a trusted estimate: Vehtari, Simpson, Gelman, Yao & Gabry, "Pareto smoothed
# importance sampling", JMLR 2024.
TRUSTED = 0.7
# Coefficients up to which ratios say something: of 730 of a Davidson log k-hat is 0.30.
WEIGHED = 1000
TAIL = 0.025  # posterior mass of a tail: ends of 95 % intervals are told
# Of the mass of a tail, at least, should be reached by proposals; less lets shorter tails pass.
COVERED = 0.75
# Of the draws of a tail, at least, have to be effective: 10 of the 100 of 4,000 draws, by which the
# mass beyond an end is known to a third.
LEAST = 0.1


class PSIS(NamedTuple):
    """What importance sampling says of an approximation."""

    khat: float  # Pareto shape of the tail of the ratios; trusted below 0.7
    effective: float  # effective number of the draws, 1 / sum of squared weights
    weights: np.ndarray  # smoothed normalised weights, shape (n_draws,)


class Tails(NamedTuple):
    """How well weighted draws know the tails of what they are draws of."""

    # effective number of the draws in a tail, the smallest over quantities and both tails
    effective: float
    # number of proposals in a tail over that of as many independent draws as are kept, the smallest
    # likewise. Far below 1 the proposals are too short there, or too few, and what they never
    # reached has no weight.
    covered: float
    n_tails: int  # number of tails: two a quantity

    @classmethod
    def of_exact(cls, n: int) -> "Tails":
        """Return what `n` independent draws from the posterior itself know."""
        return cls(TAIL * n, 1.0, 1)


class Quality(ABC):
    """What is known of the quality of draws, however it was measured."""

    khat: float  # Pareto k-hat; NaN where draws were not corrected by importance sampling
    effective: float  # effective number of the draws
    tails: Tails  # what is known of the tails of the parameters

    @property
    @abstractmethod
    def shortfall(self) -> str:
        """What speaks against the draws, as a clause; empty where nothing does."""

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the draws."""
        return not self.shortfall


class Uncorrected(Quality):
    """The quality of draws that importance sampling did not correct, and of which it says less."""

    khat = float("nan")
    tails = Tails(float("nan"), float("nan"), 0)


@dataclass(frozen=True)
class Certificate(Quality):
    """Whether draws that were corrected by importance sampling can be trusted."""

    khat: float  # as of every :class:`Quality`; k-hat is minus infinity where the draws are exact
    effective: float
    n_draws: int  # number of the draws
    tails: Tails

    @property
    def tail_draws(self) -> float:
        """Number of independent draws that would lie in a tail."""
        return TAIL * self.n_draws

    @property
    def covered_least(self) -> float:
        """Smallest `tails.covered` that may be `COVERED` but for chance, by Bonferroni's bound."""
        beyond = 2 * TAIL / self.tails.n_tails
        errors = -float(ndtri(beyond))
        chance = (COVERED / self.tail_draws) ** 0.5
        return COVERED - errors * chance

    @property
    def shortfall(self) -> str:
        if not self.khat < TRUSTED:
            return f"k-hat {self.khat:.2f} is not below {TRUSTED}"
        if self.effective < self.n_draws / 2:
            return f"{self.effective:,.0f} effective draws are fewer than half of {self.n_draws:,}"
        if self.tails.covered < self.covered_least:
            return (
                f"a tail of a parameter has {self.tails.covered:.2f} times as many proposals as "
                f"independent draws would have, less than {self.covered_least:.2f}"
            )
        if self.tails.effective < LEAST * self.tail_draws:
            return (
                f"{self.tails.effective:.1f} effective draws in a tail of a parameter are fewer "
                f"than {LEAST * self.tail_draws:.1f}"
            )
        return ""

    def __str__(self) -> str:
        """Return the figures of the certificate."""
        return (
            f"k-hat {self.khat:.2f}, {self.effective:,.0f} effective draws of {self.n_draws:,}, "
            f"{self.tails.effective:,.0f} in the thinnest tail"
        )


def importance_weights(log_ratio: np.ndarray) -> PSIS:
    """Return the certificate of draws with these log importance ratios, shape (n_draws,).

    Ratios that do not vary (an exact method) have k-hat minus infinity.
    """
    n = len(log_ratio)
    if not np.isfinite(log_ratio).all():
        equal = np.full(n, 1.0 / n)
        return PSIS(np.inf, 1.0, equal)
    if np.ptp(log_ratio) < 1e-10:
        equal = np.full(n, 1.0 / n)
        return PSIS(-np.inf, float(n), equal)
    log_weights = log_ratio - log_ratio.max()
    order = np.argsort(log_weights)
    length = int(3 * n**0.5 if n > 225 else n / 5)  # of the tail
    tail = order[-length:]
    below = order[-length - 1]
    cutoff = np.exp(log_weights[below])
    excess = np.exp(log_weights[tail]) - cutoff
    khat, scale = pareto_fit(excess)
    if np.isfinite(khat):
        level = (np.arange(length) + 0.5) / length
        log_beyond = np.log1p(-level)
        growth = np.expm1(-khat * log_beyond)
        smoothed = cutoff + scale * growth / khat
        log_weights[tail] = np.minimum(np.log(smoothed), 0.0)  # at most the largest as it was
    weights = np.exp(log_weights)
    weights /= weights.sum()
    effective = 1.0 / np.sum(weights**2)
    return PSIS(khat, float(effective), weights)


def pareto_fit(excess: np.ndarray) -> tuple[float, float]:
    """Return the shape k and the scale of a generalised Pareto distribution of sorted draws (n,).

    Those of Zhang & Stephens, with the prior of Vehtari et al. on the shape: 10 further draws of
    shape 1/2. Both are NaN where a quarter of the draws are equal. `excess` is above the threshold.
    """
    n = len(excess)
    quartile = excess[int(n / 4 + 0.5) - 1]
    if quartile <= excess[0]:
        return np.nan, np.nan
    n_points = 30 + int(n**0.5)
    level = np.arange(n_points) + 0.5
    points = 1 - np.sqrt(n_points / level)
    by_quartile = points / (3 * quartile)
    points = by_quartile + 1 / excess[-1]  # of theta = -shape / scale
    products = points[:, None] * excess
    shapes = np.log1p(-products).mean(axis=1)
    log_scale = np.log(-points / shapes)
    log_likelihood = n * (log_scale - shapes - 1)
    mass = normalised(log_likelihood)
    nothing = mass < 10 * np.finfo(float).eps
    mass[nothing] = 0.0
    theta = float(points @ mass / mass.sum())
    logs = np.log1p(-theta * excess)
    shape = float(logs.mean())
    prior_draws = 10  # of shape 1/2
    of_draws = n * shape
    khat = (of_draws + prior_draws / 2) / (n + prior_draws)
    return khat, -shape / theta


def tails(values: np.ndarray, weights: np.ndarray, kept: np.ndarray) -> Tails:
    """Return how well weighted draws know the tails beyond the 2.5 and 97.5 % quantiles.

    Of quantities `values` (draws, quantities), normalised weights (draws,), and the indices `kept`
    of an equally weighted sample of the draws, for the quantiles.
    """
    sample = values[kept]
    lower, upper = np.quantile(sample, [TAIL, 1 - TAIL], axis=0)
    effective = np.inf
    covered = np.inf
    powers = np.stack([weights, weights**2])
    for inside in (values <= lower, values >= upper):
        mass, squared = powers @ inside
        with np.errstate(divide="ignore", invalid="ignore"):
            in_tail = mass**2 / squared
            share = inside.sum(axis=0) / (mass * len(kept))
        least_effective = np.nanmin(in_tail, initial=np.inf)
        least_share = np.nanmin(share, initial=np.inf)
        effective = min(effective, float(least_effective))
        covered = min(covered, float(least_share))
    return Tails(effective, covered, 2 * values.shape[1])


def tempered(weights: np.ndarray) -> np.ndarray:
    """Return normalised weights, flattened by powers of 1/2 until moments can be learned from them.

    Their effective number is then at least a twentieth of the draws.
    """
    weights = np.maximum(weights, np.finfo(float).tiny)  # no power makes anything of zeros
    while (weights**2).sum() * len(weights) > 20:
        weights = np.sqrt(weights)
        weights = weights / weights.sum()
    return weights


def resample(weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return indices of an equally weighted sample of `n` draws, in random order.

    Systematic resampling: each draw is kept floor or ceiling of n x weight times.
    """
    points = (np.arange(n) + rng.uniform()) / n
    kept = np.searchsorted(np.cumsum(weights), points, side="right")
    return rng.permutation(np.minimum(kept, len(weights) - 1))
