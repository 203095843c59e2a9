"""How well chains mix: R-hat, and the effective number of their draws.

References
----------
Vehtari, Gelman, Simpson, Carpenter & Bürkner, "Rank-normalization, folding, and localization: an
improved R-hat for assessing convergence of MCMC", Bayesian Analysis 2021. As ArviZ computes them,
for all quantities at once; `tests/inference/test_mixing.py` holds the two equal.
"""

import numpy as np
from scipy.special import ndtri

__all__ = ["bulk_ess", "rhat", "tail_ess"]

TAIL = 0.11  # posterior mass of either tail, as ArviZ takes it


def rhat(draws: np.ndarray) -> np.ndarray:
    """Return the rank-normalised split R-hat of each quantity, of place or spread, the larger.

    `draws` has shape (chains, draws, quantities).
    """
    halves = _split(draws)
    found = []
    for values in (halves, abs(halves - np.median(halves, axis=(0, 1)))):
        normal = _normal(values)
        within = normal.var(axis=1, ddof=1).mean(axis=0)
        between = normal.mean(axis=1).var(axis=0, ddof=1)
        with np.errstate(invalid="ignore"):  # a constant has none
            found.append(np.sqrt(between / within + 1 - 1 / normal.shape[1]))
    return np.maximum(*found)


def bulk_ess(draws: np.ndarray) -> np.ndarray:
    """Return the effective number of draws for the middle; `draws` as those of `rhat`."""
    return _effective(_normal(_split(draws)))


def tail_ess(draws: np.ndarray) -> np.ndarray:
    """Return the effective number of draws for the 11 and 89 % quantiles, the smaller."""
    below = [draws <= np.quantile(draws, p, axis=(0, 1)) for p in (TAIL, 1 - TAIL)]
    return np.minimum(*(_effective(_split(values).astype(float)) for values in below))


def _split(draws: np.ndarray) -> np.ndarray:
    """Return each chain as two, without the draw in the middle of an odd number."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normal(draws: np.ndarray) -> np.ndarray:
    """Return normal scores of the ranks of each quantity; equal draws have their mean rank."""
    flat = draws.reshape(-1, draws.shape[2])
    order = np.argsort(flat, axis=0)
    ordered = np.take_along_axis(flat, order, axis=0)
    place = np.arange(1.0, len(flat) + 1)[:, None]
    new = np.ones((len(flat) + 1, flat.shape[1]), dtype=bool)
    new[1:-1] = ordered[1:] != ordered[:-1]
    first = np.maximum.accumulate(np.where(new[:-1], place, 0.0))
    last = np.minimum.accumulate(np.where(new[1:], place, np.inf)[::-1])[::-1]
    score = np.empty(flat.shape)
    np.put_along_axis(score, order, (first + last) / 2, axis=0)
    return np.asarray(ndtri((score - 3 / 8) / (len(flat) + 1 / 4))).reshape(draws.shape)


def _effective(draws: np.ndarray) -> np.ndarray:
    """Return the effective number of draws for the mean, by Geyer's initial monotone sequence."""
    chains, n, _ = draws.shape
    wave = np.fft.rfft(draws - draws.mean(axis=1, keepdims=True), 2 ** (2 * n - 1).bit_length(), 1)
    covariance = np.fft.irfft(abs(wave) ** 2, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + draws.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(invalid="ignore"):  # of a constant
        rho = 1 - (within - covariance) / total
    rho[0] = 1.0
    pairs = rho[: n // 2 * 2].reshape(n // 2, 2, -1).sum(axis=1)
    last = (n - 3) // 2  # pair that is looked at
    ends = np.append(pairs[1:last] <= 0, np.ones((1, pairs.shape[1]), dtype=bool), axis=0)
    end = 1 + ends.argmax(axis=0)  # the first pair that is not positive
    kept = np.arange(len(pairs))[:, None] < end
    length = 2 * np.where(kept, np.minimum.accumulate(pairs), 0.0).sum(axis=0) - 1
    length += np.maximum(np.take_along_axis(rho, 2 * end[None], axis=0)[0], 0.0)
    size = chains * n
    found = size / np.maximum(length, 1 / np.log10(size))
    return np.where(np.ptp(draws, axis=(0, 1)) < 1e-15, float(size), found)
