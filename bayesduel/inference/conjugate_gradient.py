"""Conjugate gradients with Jacobi's preconditioner, for one or many right-hand sides.

References
----------
Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition, 2003, algorithm 9.1 (with the
diagonal as the preconditioner). Deviations: several right-hand sides side by side, each with its
own steps.
"""

from typing import Any

import numpy as np

__all__ = ["EXACT", "ITERATIONS", "LOOSE", "conjugate_gradient", "inner"]

# In exact arithmetic, K arms take at most K iterations; more than 2,000 are a matrix near singular.
ITERATIONS = 2000
# Relative residual of a solution that is a result: with a tenth and ten times of it crossed fits
# are equal, and 3,000 scores on a graph.
EXACT = 1e-4
# That of a solution that a later step corrects has half the digits: with a quarter and four times
# of it crossed fits are equal.
LOOSE = EXACT**0.5


def conjugate_gradient(
    off: Any,
    diagonal: np.ndarray,
    right: np.ndarray,
    start: np.ndarray | None = None,
    *,
    tolerance: float,
) -> np.ndarray:
    """Return x with ``diag(diagonal) x - off x = right``, a positive definite system.

    `off` is a sparse matrix or a linear operator; `right` is (K,) or (K, columns), and its type is
    that of the arithmetic; the search starts at `start`, else at 0. `tolerance` is of the
    residual's norm over that of `right`, in the metric of the preconditioner. Raises
    FloatingPointError if an iteration does not converge.
    """
    d = diagonal if right.ndim == 1 else diagonal[:, None]
    x = right / d if start is None else start.astype(right.dtype)
    r = right - (d * x - off @ x)
    goal = tolerance**2 * inner(right, right / d)
    z = r / d
    p = z.copy()
    rz = inner(r, z)
    for _ in range(ITERATIONS):
        if (rz <= goal).all():
            return np.asarray(x)
        product = d * p - off @ p
        step = _ratio(rz, inner(p, product))
        step = np.where(rz > goal, step, 0).astype(r.dtype)
        x += step * p
        r -= step * product
        np.divide(r, d, out=z)
        before = rz
        rz = inner(r, z)
        turn = _ratio(rz, before)
        p *= np.where(before > 0, turn, 0).astype(r.dtype)
        p += z
    raise FloatingPointError(f"conjugate gradients did not converge in {ITERATIONS:,} iterations")


def inner(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the inner product of each column, in double precision."""
    return np.einsum("i...,i...->...", a, b, dtype=float)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a / b, and a where b is not positive."""
    divisor = np.where(b > 0, b, 1)
    return a / divisor
