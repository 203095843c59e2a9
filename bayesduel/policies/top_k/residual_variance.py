"""Restricted maximum likelihood of the residual variance of mean margins.

The mean margin of a pair is ``gamma_i - gamma_j + eps_ij``, ``eps_ij ~ N(0, d^2)``. The
likelihood of d is that of the pairs' sample means: of each pair the variance is integrated
out against its posterior given the scatter (flat on its logarithm), and the scores by their
normal approximation, as in restricted maximum likelihood; with the maximum likelihood scores d
would be far too low, since the most precise pairs are fitted almost exactly.

References
----------
None: ours. Patterson & Thompson, Biometrika 1971 (restricted likelihood); Wilson & Hilferty,
PNAS 1931 (quantiles of the chi-squared law).
"""

from math import exp, log, sqrt

import numpy as np
from scipy.special import ndtri

from bayesduel.jit import compiled
from bayesduel.margins.newton import least_squares, misfit

__all__ = ["grid_of_sizes", "learned_square", "quantiles"]

POINTS = 8  # of a variance's posterior


def grid_of_sizes() -> np.ndarray:
    """Return the grid of d, in pooled standard deviations of a margin."""
    return np.concatenate([[0.0], np.geomspace(0.03, 3, 16)])


def quantiles() -> np.ndarray:
    """Return the normal quantiles at which the posterior of a variance is evaluated."""
    levels = (np.arange(POINTS) + 0.5) / POINTS
    return np.asarray(ndtri(levels))


@compiled
def learned_square(moments, score, sizes, normal):
    """Return the posterior mean of d^2 under a uniform prior on the grid.

    moments: of pairs that met at least twice.
    score: where reweighted least squares starts, shape (K,); not written.
    sizes, normal: ``grid_of_sizes()`` and ``quantiles()``.
    """
    n_arms = len(score)
    unit = max(moments.pooled, moments.floor)
    fitted = score.copy()
    weight = np.zeros((n_arms, n_arms))
    apart = np.ones((n_arms, n_arms))
    value = np.empty(len(sizes))
    for place in range(len(sizes) - 1, -1, -1):  # from the flattest likelihood on
        square = sizes[place] ** 2 * unit
        # 4 rounds of reweighted least squares for each d
        for _ in range(4):
            weigh(moments, fitted, square, normal, weight)
            for i in range(n_arms):
                for j in range(i):
                    v = moments.n[i, j] / weight[i, j]
                    apart[i, j] = v
                    apart[j, i] = v
            least_squares(moments.n, moments.mean, apart, fitted)
        likelihood = weigh(moments, fitted, square, normal, weight)
        system = -weight[1:, 1:].copy()
        for i in range(1, n_arms):
            system[i - 1, i - 1] = weight[i].sum()
        _, log_determinant = np.linalg.slogdet(system)
        value[place] = likelihood - 0.5 * log_determinant
    chance = np.exp(value - value.max())
    mean_square = (chance * sizes**2).sum() / chance.sum()
    return mean_square * unit


@compiled
def weigh(moments, score, square, normal, weight):
    """Write each pair's expected precision about the scores; return the log likelihood."""
    n_arms = len(score)
    total = 0.0
    for i in range(n_arms):
        for j in range(i):
            met = moments.n[i, j]
            freedom = met - 1
            of_root = 2 / (9 * freedom)  # its variance, by Wilson & Hilferty
            squares = moments.scatter[i, j] + moments.floor
            e = misfit(moments.mean, score, i, j)
            chance = 0.0
            precision = 0.0
            for z in normal:
                root = 1 - of_root + z * sqrt(of_root)
                chi_squared = max(freedom * root**3, 1e-3)
                v = square + squares / (chi_squared * met)
                exponent = -0.5 * e * e / v
                density = exp(exponent) / sqrt(v) + 1e-300
                chance += density
                precision += density / v
            total += log(chance)
            expected = precision / chance
            weight[i, j] = expected
            weight[j, i] = expected
    return total
