"""The likelihood of margins by whole arrays, and its optimum by a generic optimiser."""

import numpy as np
from scipy import optimize


def objective(margins, floor):
    """Minus the profile log likelihood of scores and its gradient, by whole arrays."""
    i, j = np.nonzero(np.tril(margins.n))
    n = margins.n[i, j]
    mean = margins.total[i, j] / n
    scatter = margins.squares[i, j] / n - mean**2

    def value(x):
        v = scatter + (mean - x[i] + x[j]) ** 2
        inside = np.log(np.maximum(v, floor)) + np.where(v > floor, 0, v / floor - 1)
        return float((0.5 * n * inside).sum())

    def slope(x):
        e = mean - x[i] + x[j]
        w = n * e / np.maximum(scatter + e**2, floor)
        n_arms = len(x)
        return np.bincount(j, w, n_arms) - np.bincount(i, w, n_arms)

    return value, slope


def generic(margins, start, floor):
    value, slope = objective(margins, floor)
    result = optimize.minimize(value, start, jac=slope, method="BFGS", options={"gtol": 1e-11})
    return result.x - result.x.mean()
