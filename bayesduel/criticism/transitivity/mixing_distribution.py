"""The mixing distribution of a mixture model by nonparametric maximum likelihood.

Each observation has a likelihood at every point of a grid; the mixing distribution gives the
points weights. The constrained Newton method finds them in about five steps, each a least squares
problem with weights of at least 0.

References
----------
Laird, "Nonparametric maximum likelihood estimation of a mixing distribution", JASA 1978; Wang,
"On fast computation of the non-parametric maximum likelihood estimate of a mixing distribution",
JRSS B 2007 (the method; deviation: the points are those of a fixed grid). Lawson & Hanson, "Solving
Least Squares Problems", 1974, algorithm NNLS (to import SciPy's takes longer than a test).
"""

import numpy as np

__all__ = ["mixing_weights"]

CLOSE = 1e-6  # largest directional derivative at the end, in nats an observation
STEPS = 100
SHORTEST = 1e-6  # step: below it no increase is possible in double precision
ONE = 1e3  # weight of the equation that says that weights sum to 1
ROUNDING = 1e-12  # relative: what is smaller is 0
ENOUGH = 1 / 3  # of the increase that a linear function would have (Armijo)


def mixing_weights(likelihood: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return the weights of the points of a grid, shape (n_points,), of sum 1.

    `likelihood` is positive somewhere in each row, shape (n_observations, n_points); `number`
    is how often each observation was made, > 0.
    """
    n_points = likelihood.shape[1]
    weights = np.full(n_points, 1 / n_points)
    value = number @ np.log(likelihood @ weights)
    root, total = np.sqrt(number), number.sum()
    one = ONE * np.sqrt(total)
    for _ in range(STEPS):
        relative = likelihood / (likelihood @ weights)[:, None]
        if (number @ relative).max() / total - 1 < CLOSE:
            break
        rows = np.vstack([root[:, None] * relative, np.full(n_points, one)])
        target = _nonnegative(rows, np.append(2 * root, one))
        direction = target / target.sum() - weights
        slope = number @ (relative @ direction)
        step = 1.0
        while True:
            moved = weights + step * direction
            chance = likelihood @ moved
            reached = number @ np.log(chance) if chance.min() > 0 else -np.inf
            if reached >= value + ENOUGH * step * slope or step < SHORTEST:
                break
            step /= 2
        weights, value = moved, reached
    return weights


def _nonnegative(rows: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the weights >= 0 with the least squares of ``rows @ weights - right``."""
    n_points = rows.shape[1]
    reduced = np.linalg.qr(np.column_stack([rows, right]), mode="r")
    rows, right = reduced[:, :-1], reduced[:, -1]
    weights, free = np.zeros(n_points), np.zeros(n_points, dtype=bool)
    least = ROUNDING * np.abs(rows.T @ right).max()
    for _ in range(3 * n_points):  # as many steps as SciPy takes at most
        gain = np.where(free, -np.inf, rows.T @ (right - rows @ weights))
        if gain.max() <= least:
            break
        free[gain.argmax()] = True
        while True:
            found = np.zeros(n_points)
            found[free] = np.linalg.lstsq(rows[:, free], right)[0]
            low = free & (found <= 0)
            if not low.any():
                break
            weights += (weights[low] / (weights[low] - found[low])).min() * (found - weights)
            free &= weights > ROUNDING * weights.max()
            weights[~free] = 0
        weights = found
    return weights
