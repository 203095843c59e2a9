"""How well chains mix: R-hat, and the effective number of their draws.

References
----------
Vehtari, Gelman, Simpson, Carpenter & Bürkner, "Rank-normalization, folding, and localization: an
improved R-hat for assessing convergence of MCMC", Bayesian Analysis 2021. As ArviZ computes them,
for all quantities at once; `tests/inference/test_mixing.py` holds the two equal.

Gelman, Carlin, Stern, Dunson, Vehtari & Rubin, "Bayesian Data Analysis", third edition 2013,
section 11.5 (what a few draws should reach).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

__all__ = ["FEW", "MANY", "Mixing", "bulk_ess", "required", "rhat", "tail_ess"]


class Mixing(NamedTuple):
    """What chains have to reach for their draws to be trusted."""

    rhat: float  # R-hat is below it
    effective: int  # effective draws, at least


FEW = Mixing(1.1, 80)  # Gelman and others: 1.1, and 10 draws of each half of four chains
MANY = Mixing(1.01, 400)  # Vehtari and others: 1.01, and 50 draws of each half of four chains


def required(n_draws: int) -> Mixing:
    """Return what chains have to reach that have so many draws in all."""
    thorough = n_draws >= 1000  # fits that take long make fewer
    return MANY if thorough else FEW


def rhat(draws: np.ndarray) -> np.ndarray:
    """Return the rank-normalised split R-hat of each quantity, of place or spread, the larger.

    `draws` has shape (chains, draws, quantities).
    """
    halves = _split(draws)
    middle = np.median(halves, axis=(0, 1))
    away = abs(halves - middle)
    of_place = _rhat_of_place(halves)
    of_spread = _rhat_of_place(away)
    return np.maximum(of_place, of_spread)


def _rhat_of_place(halves: np.ndarray) -> np.ndarray:
    """Return the rank-normalised R-hat of each quantity, of place; a constant has none."""
    normal = _normal(halves)
    n = normal.shape[1]
    variances = normal.var(axis=1, ddof=1)
    within = variances.mean(axis=0)
    means = normal.mean(axis=1)
    between = means.var(axis=0, ddof=1)
    with np.errstate(invalid="ignore"):
        ratio = between / within + 1 - 1 / n
        return np.asarray(np.sqrt(ratio))


def bulk_ess(draws: np.ndarray) -> np.ndarray:
    """Return the effective number of draws for the middle; `draws` as those of `rhat`."""
    halves = _split(draws)
    normal = _normal(halves)
    return _effective(normal)


def tail_ess(draws: np.ndarray) -> np.ndarray:
    """Return the effective number of draws for the 11 and 89 % quantiles, the smaller."""
    lower = _ess_below(draws, 0.11)
    upper = _ess_below(draws, 0.89)
    return np.minimum(lower, upper)


def _ess_below(draws: np.ndarray, level: float) -> np.ndarray:
    """Return the effective number of draws for the share of each quantity below a quantile."""
    quantile = np.quantile(draws, level, axis=(0, 1))
    below = draws <= quantile
    halves = _split(below)
    return _effective(halves.astype(float))


def _split(draws: np.ndarray) -> np.ndarray:
    """Return each chain as two, without the draw in the middle of an odd number."""
    half = draws.shape[1] // 2
    first = draws[:, :half]
    second = draws[:, -half:]
    return np.concatenate([first, second])


def _normal(draws: np.ndarray) -> np.ndarray:
    """Return normal scores of the ranks of each quantity, by Blom's offset of 3/8."""
    n_quantities = draws.shape[2]
    flat = draws.reshape(-1, n_quantities)
    rank = _ranks(flat)
    level = (rank - 3 / 8) / (len(flat) + 1 / 4)
    normal = np.asarray(ndtri(level))
    return normal.reshape(draws.shape)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks in each column from 1; equal values have their mean rank."""
    n, n_quantities = values.shape
    order = np.argsort(values, axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    place = np.arange(1.0, n + 1)[:, None]
    changes = ordered[1:] != ordered[:-1]
    at_end = np.ones((1, n_quantities), dtype=bool)
    begins = np.concatenate([at_end, changes])
    ends = np.concatenate([changes, at_end])
    last_begin = np.where(begins, place, 0.0)
    first = np.maximum.accumulate(last_begin)
    next_end = np.where(ends, place, np.inf)
    backwards = np.minimum.accumulate(next_end[::-1])
    last = backwards[::-1]
    mean_rank = (first + last) / 2
    rank = np.empty(values.shape)
    np.put_along_axis(rank, order, mean_rank, axis=0)
    return rank


def _effective(draws: np.ndarray) -> np.ndarray:
    """Return the effective number of draws for the mean of each quantity."""
    n_chains, n, _ = draws.shape
    covariance = _autocovariance(draws)
    variance = covariance[0]
    within = variance * n / (n - 1)
    means = draws.mean(axis=1)
    between = means.var(axis=0, ddof=1)
    total = variance + between
    with np.errstate(invalid="ignore"):  # of a constant
        correlation = 1 - (within - covariance) / total
    correlation[0] = 1.0
    size = n_chains * n
    # Vehtari and others: of chains that go to and fro, size x log10(size) draws at most
    shortest = 1 / np.log10(size)
    relaxation = np.maximum(_relaxation(correlation), shortest)
    spread = np.ptp(draws, axis=(0, 1))
    constant = spread < 1e-15  # as ArviZ has it
    return np.where(constant, float(size), size / relaxation)


def _autocovariance(draws: np.ndarray) -> np.ndarray:
    """Return the autocovariance of each quantity, (lags, quantities), the mean of all chains."""
    n = draws.shape[1]
    mean = draws.mean(axis=1, keepdims=True)
    away = draws - mean
    padded = 2 ** (2 * n - 1).bit_length()
    wave = np.fft.rfft(away, padded, axis=1)
    power = abs(wave) ** 2
    padded_products = np.fft.irfft(power, axis=1)
    products = padded_products[:, :n]
    return np.asarray(products.mean(axis=0) / n)


def _relaxation(correlation: np.ndarray) -> np.ndarray:
    """Return how many draws are worth one independent draw, by autocorrelations (lags, quantities).

    By Geyer's initial monotone sequence: sums of pairs of lags, while they are positive.
    """
    n, n_quantities = correlation.shape
    n_pairs = n // 2
    kept = correlation[: 2 * n_pairs]
    by_pair = kept.reshape(n_pairs, 2, n_quantities)
    pairs = by_pair.sum(axis=1)
    last = (n - 3) // 2  # pair that is looked at
    at_last = np.ones((1, n_quantities), dtype=bool)
    not_positive = pairs[1:last] <= 0
    ends = np.append(not_positive, at_last, axis=0)
    end = 1 + ends.argmax(axis=0)  # the first pair that is not positive
    before = np.arange(n_pairs)[:, None] < end
    falling = np.minimum.accumulate(pairs)
    monotone = np.where(before, falling, 0.0)
    lag = 2 * end[None]
    after = np.take_along_axis(correlation, lag, axis=0)[0]
    next_lag = np.maximum(after, 0.0)
    total = monotone.sum(axis=0)
    return np.asarray(2 * total - 1 + next_lag)
