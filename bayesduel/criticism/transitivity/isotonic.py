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
    """Write the non-decreasing sequence nearest to `y` to `found`; `room` is for its blocks.

    Blocks have sums and masses; their means are compared without a division.
    """
    sums, masses, starts = room
    m, start, mass, total = 0, 0, weight[0], y[0] * weight[0]  # of the last block
    for i in range(1, len(y)):
        one = y[i] * weight[i]
        if one * mass < total * weight[i]:
            total, mass = total + one, mass + weight[i]
            while m > 0 and total * masses[m - 1] < sums[m - 1] * mass:
                m -= 1
                total, mass, start = total + sums[m], mass + masses[m], starts[m]
        else:
            sums[m], masses[m], starts[m] = total, mass, start
            m, start, mass, total = m + 1, i, weight[i], one
    sums[m], masses[m], starts[m], starts[m + 1] = total, mass, start, len(y)
    for block in range(m + 1):
        level = sums[block] / masses[block]
        for i in range(starts[block], starts[block + 1]):
            found[i] = level
