"""Isotonic regression of a preference matrix along an order of its arms.

Strong stochastic transitivity along an order says: an arm placed better does at least as well
against every opponent. Above the diagonal P then rises along each row and falls down each
column, and is at least 1/2.
"""

import numpy as np

from bayesduel.jit import compiled

__all__ = ["isotonic_matrix"]

SWEEPS = 50
CLOSE = 1e-3


@compiled
def isotonic_matrix(y, weight):
    """Return the matrix nearest to `y` that is strongly transitive, its arms best first.

    Weighted least squares by Dykstra's alternating projections on rows and columns, each by
    pooling adjacent violators; bounds at the end, which keeps it the projection.

    y: estimates of P, arms best first, shape (K, K); read above the diagonal only.
    weight: their weights, > 0, shape (K, K).
    Returns P, shape (K, K), to within about 1e-3.

    References
    ----------
    Dykstra & Robertson, "An algorithm for isotonic regression for two or more independent
    variables", Annals of Statistics 1982.
    """
    n_arms = len(y)
    fit = y.copy()
    by_row, by_column = np.zeros_like(y), np.zeros_like(y)
    for _ in range(SWEEPS):
        moved = 0.0
        for i in range(n_arms - 1):
            given = fit[i, i + 1 :] + by_row[i, i + 1 :]
            found = _pool(given, weight[i, i + 1 :])
            by_row[i, i + 1 :] = given - found
            fit[i, i + 1 :] = found
        for j in range(1, n_arms):
            given = (fit[:j, j] + by_column[:j, j])[::-1].copy()
            found = _pool(given, weight[:j, j][::-1].copy())
            for i in range(j):
                moved = max(moved, abs(found[j - 1 - i] - fit[i, j]))
                by_column[i, j] = given[j - 1 - i] - found[j - 1 - i]
                fit[i, j] = found[j - 1 - i]
        if moved < CLOSE:
            break
    for i in range(n_arms):
        fit[i, i] = 0.5
        for j in range(i + 1, n_arms):
            fit[i, j] = min(max(fit[i, j], 0.5), 1.0)
            fit[j, i] = 1.0 - fit[i, j]
    return fit


@compiled
def _pool(y, weight):
    """Return the non-decreasing sequence nearest to `y`."""
    n = len(y)
    level, mass = np.empty(n), np.empty(n)
    count = np.empty(n, dtype=np.int64)
    m = 0
    for i in range(n):
        level[m], mass[m], count[m] = y[i], weight[i], 1
        m += 1
        while m > 1 and level[m - 2] > level[m - 1]:
            both = mass[m - 2] + mass[m - 1]
            level[m - 2] = (level[m - 2] * mass[m - 2] + level[m - 1] * mass[m - 1]) / both
            mass[m - 2] = both
            count[m - 2] += count[m - 1]
            m -= 1
    out = np.empty(n)
    k = 0
    for block in range(m):
        for _ in range(count[block]):
            out[k] = level[block]
            k += 1
    return out
