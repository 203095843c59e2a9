"""Draws of one number whose density is known on a grid, by inversion: levels and quantiles.

References
----------
Devroye, "Non-Uniform Random Variate Generation", 1986, section II.2 (the inversion method).
"""

from typing import Any

import numpy as np

__all__ = ["inverted", "middles", "normalised", "stratified"]


def stratified(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return levels in [0, 1), one in each n-th part, in random order, (n,)."""
    part = rng.permutation(n)
    return (part + rng.uniform(size=n)) / n


def normalised(log_weights: np.ndarray) -> np.ndarray:
    """Return weights with these logarithms, which add up to 1, (n,)."""
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    return weights


def middles(values: np.ndarray) -> np.ndarray:
    """Return the mean of each of values (n,) and the next, (n - 1,)."""
    ends = values[1:] + values[:-1]
    return np.asarray(ends / 2)


def inverted(grid: np.ndarray, log_density: np.ndarray, level: Any) -> Any:
    """Return quantiles at levels in [0, 1) of a density on a grid, by the trapezoidal rule."""
    height = np.exp(log_density - log_density.max())
    area = middles(height)  # between a node and the next, as wide as all others
    cumulative = np.append(0.0, np.cumsum(area))
    below = level * cumulative[-1]
    return np.interp(below, cumulative, grid)
