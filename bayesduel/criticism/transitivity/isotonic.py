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
    fit, turned = y.copy(), weight[::-1].T.copy()  # columns are read upwards: from the diagonal
    by_row, by_column = np.zeros_like(y), np.zeros_like(y)
    given, found = np.empty(n_arms), np.empty(n_arms)
    room = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms + 1, dtype=np.int64)
    for _ in range(SWEEPS):
        moved = 0.0
        for i in range(n_arms - 1):
            n = n_arms - 1 - i
            for k in range(n):
                given[k] = fit[i, i + 1 + k] + by_row[i, k]
            _pool(given[:n], weight[i, i + 1 :], found, room)
            for k in range(n):
                by_row[i, k] = given[k] - found[k]
                fit[i, i + 1 + k] = found[k]
        for j in range(1, n_arms):
            for k in range(j):
                given[k] = fit[j - 1 - k, j] + by_column[j, k]
            _pool(given[:j], turned[j, n_arms - j :], found, room)
            for k in range(j):
                moved = max(moved, abs(found[k] - fit[j - 1 - k, j]))
                by_column[j, k] = given[k] - found[k]
                fit[j - 1 - k, j] = found[k]
        if moved < CLOSE:
            break
    for i in range(n_arms):
        fit[i, i] = 0.5
        for j in range(i + 1, n_arms):
            fit[i, j] = min(max(fit[i, j], 0.5), 1.0)
            fit[j, i] = 1.0 - fit[i, j]
    return fit


@compiled
def _pool(y, weight, found, room):
    """Write the non-decreasing sequence nearest to `y` to `found`; `room` is for its blocks."""
    level, mass, start = room
    m = 0
    for i in range(len(y)):
        mean, total, begin = y[i], weight[i], i
        while m > 0 and level[m - 1] > mean:
            m -= 1
            both = mass[m] + total
            mean, total, begin = (level[m] * mass[m] + mean * total) / both, both, start[m]
        level[m], mass[m], start[m] = mean, total, begin
        m += 1
    start[m] = len(y)
    for block in range(m):
        found[start[block] : start[block + 1]] = level[block]
