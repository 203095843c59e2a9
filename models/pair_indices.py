"""Indices of pairs: the place of two arms among all pairs of ``triu_indices(K, 1)``."""

import numpy as np

__all__ = ["empty_by_pair", "n_arms_of", "of_pairs", "pair_place"]


def pair_place(first: np.ndarray, second: np.ndarray, n_arms: int) -> np.ndarray:
    """Return the place of pairs, in either order, among all pairs of ``triu_indices(K, 1)``."""
    low = np.minimum(first, second)
    high = np.maximum(first, second)
    low = low.astype(np.int64)
    row = low * n_arms - low * (low + 1) // 2
    return row + high - low - 1


def of_pairs(values: np.ndarray, left: np.ndarray, right: np.ndarray, n_arms: int) -> np.ndarray:
    """Return each pair's entry of `values` (..., all pairs), (..., n); 0 for an arm itself."""
    itself = left == right
    pair = pair_place(left, right, n_arms)
    place = np.where(itself, 0, pair)
    of_pair = values[..., place]
    return np.where(itself, 0.0, of_pair)


def n_arms_of(by_pair: np.ndarray) -> int:
    """Return the number of arms of an array whose last axis is all pairs."""
    n_pairs = np.shape(by_pair)[-1]
    discriminant = 1 + 8 * n_pairs  # of K (K - 1) / 2 = n_pairs
    root = np.sqrt(discriminant)
    return round((1 + root) / 2)


def empty_by_pair(draws: int, n_arms: int) -> np.ndarray:
    """Return an empty array of draws of all pairs, in single precision where it is large."""
    n_pairs = n_arms * (n_arms - 1) // 2
    is_small = draws * n_pairs < 2**23
    kind = np.float64 if is_small else np.float32
    return np.empty((draws, n_pairs), dtype=kind)
