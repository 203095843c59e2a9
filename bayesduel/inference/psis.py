"""Pareto-smoothed importance sampling: draws corrected, and certified.

A draw from an approximation is worth its importance ratio. The tail of the ratios is fitted by
a generalised Pareto distribution whose shape k-hat is the certificate: below 0.7 the corrected
draws can be trusted, above they cannot.

References
----------
Vehtari, Simpson, Gelman, Yao & Gabry, "Pareto smoothed importance sampling", JMLR 2024.
"""

from typing import NamedTuple

import numpy as np

__all__ = ["PSIS", "TRUSTED", "importance_weights", "resample"]

TRUSTED = 0.7


class PSIS(NamedTuple):
    """What importance sampling says of an approximation.

    Attributes
    ----------
    khat
        Pareto shape of the tail of the ratios; trusted below 0.7.
    effective
        Effective number of the draws, 1 / sum of squared weights.
    weights
        Smoothed normalised weights, shape (n_draws,).
    """

    khat: float
    effective: float
    weights: np.ndarray

    def good(self, n: int) -> bool:
        """Return whether the `n` draws are trusted and worth at least half as many."""
        return self.khat < TRUSTED and self.effective >= n / 2


def importance_weights(log_ratio: np.ndarray) -> PSIS:
    """Return the certificate of draws with these log importance ratios, shape (n_draws,).

    Ratios that do not vary (an exact method) have k-hat minus infinity.
    """
    from arviz_stats.base import array_stats

    n = len(log_ratio)
    if not np.isfinite(log_ratio).all():
        return PSIS(np.inf, 1.0, np.full(n, 1.0 / n))
    if np.ptp(log_ratio) < 1e-10:
        return PSIS(-np.inf, float(n), np.full(n, 1.0 / n))
    log_weights, khat = array_stats.psislw(-log_ratio)  # it takes minus the log ratio
    weights = np.exp(np.asarray(log_weights))
    weights /= weights.sum()
    return PSIS(float(khat), float(1.0 / np.sum(weights**2)), weights)


def resample(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return indices of an equally weighted sample of the same size, in random order.

    Systematic resampling: each draw is kept floor or ceiling of n x weight times.
    """
    n = len(weights)
    points = (np.arange(n) + rng.uniform()) / n
    kept = np.searchsorted(np.cumsum(weights), points, side="right")
    return rng.permutation(np.minimum(kept, n - 1))
