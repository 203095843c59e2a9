"""The mixing distribution of a mixture model by nonparametric maximum likelihood.

Each observation has a likelihood at every point of a grid; the mixing distribution gives the
points weights. Expectation maximisation comes near them where equal weights are far away; the
constrained Newton method finds them in about five steps, each a least squares problem with weights
of at least 0.

References
----------
Laird, "Nonparametric maximum likelihood estimation of a mixing distribution", JASA 1978; Wang,
"On fast computation of the non-parametric maximum likelihood estimate of a mixing distribution",
JRSS B 2007 (the method; deviation: the points are those of a fixed grid).
"""

import numpy as np

__all__ = ["mixing_weights"]

CLOSE = 1e-6  # largest directional derivative at the end, in nats an observation
STEPS = 100
EXCHANGES = 1_000  # a point, at most, in a step; three are too few where pairs are unanimous
FAR = 10.0  # directional derivative above which Newton's steps, badly scaled, are not taken
SHORTEST = 1e-6  # step: below it no increase is possible in double precision
ONE = 1e3  # weight of the equation that says that weights sum to 1
ENOUGH = 1 / 3  # of the increase that a linear function would have (Armijo)


def mixing_weights(likelihood: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return the weights of the points of a grid, shape (n_points,), of sum 1.

    `likelihood` is positive somewhere in each row, shape (n_observations, n_points); `number`
    is how often each observation was made, > 0.
    """
    from scipy.optimize import nnls

    n_points = likelihood.shape[1]
    weights = np.full(n_points, 1 / n_points)
    root, total = np.sqrt(number), number.sum()
    while (gain := number @ (likelihood / (likelihood @ weights)[:, None]) / total).max() > FAR:
        weights = weights * gain  # a step of expectation maximisation (Laird)
    value = number @ np.log(likelihood @ weights)
    one = ONE * np.sqrt(total)
    for _ in range(STEPS):
        relative = likelihood / (likelihood @ weights)[:, None]
        if (number @ relative).max() / total - 1 < CLOSE:
            break
        rows = np.vstack([root[:, None] * relative, np.full(n_points, one)])
        target, _ = nnls(rows, np.append(2 * root, one), maxiter=EXCHANGES * n_points)
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
