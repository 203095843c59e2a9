"""Centred scores and their free numbers: K numbers that sum to zero, and K - 1 without a rule."""

import numpy as np

__all__ = ["centre", "laplacian", "reduce", "uncentre"]


def centre(free: np.ndarray) -> np.ndarray:
    """Map K - 1 free numbers (..., K - 1) to K centred scores (..., K), keeping lengths."""
    n_arms = free.shape[-1] + 1
    total = free.sum(axis=-1, keepdims=True)
    root = np.sqrt(n_arms)
    return np.concatenate([free - total / (n_arms + root), -total / root], axis=-1)


def uncentre(score: np.ndarray) -> np.ndarray:
    """Map scores (..., K) to their K - 1 free numbers (..., K - 1): the inverse of `centre`."""
    n_arms = score.shape[-1]
    inner, last = score[..., :-1], score[..., -1:]
    total = inner.sum(axis=-1, keepdims=True)
    return inner - total / (n_arms + np.sqrt(n_arms)) - last / np.sqrt(n_arms)


def reduce(matrix: np.ndarray) -> np.ndarray:
    """Return Q' matrix Q, (K - 1, K - 1), where Q is the linear map `centre` and matrix (K, K)."""
    n_arms = len(matrix)
    c, r = 1.0 / (n_arms + np.sqrt(n_arms)), 1.0 / np.sqrt(n_arms)
    inner, edge, corner = matrix[:-1, :-1], matrix[:-1, -1], matrix[-1, -1]
    rows = inner.sum(axis=1)
    side = c * rows + r * (edge - c * edge.sum())
    constant = c * c * rows.sum() + r * r * corner
    result = inner - (side - constant)[:, None]
    result -= side
    return result


def laplacian(weight: np.ndarray, first: np.ndarray, second: np.ndarray, n_arms: int) -> np.ndarray:
    """Return sum over cells of weight (e_first - e_second)(e_first - e_second)', (K, K)."""
    place = first.astype(np.int64) * n_arms + second
    result = np.bincount(place, -weight, minlength=n_arms * n_arms).reshape(n_arms, n_arms)
    result += result.T.copy()
    result.flat[:: n_arms + 1] = -result.sum(axis=1)
    return result
