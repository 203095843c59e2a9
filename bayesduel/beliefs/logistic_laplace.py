"""Bayesian logistic regression by mode and curvature, online or over all tallied pulls.

References
----------
Chapelle & Li, "An empirical evaluation of Thompson sampling", NIPS 2011, Algorithm 3, for the
Gaussian posterior that is the prior of the next rewards. Deviations: one reward at a time, the
full curvature, and the mode exactly on the line along which one reward moves it.
"""

from math import exp

import numpy as np

from bayesduel.jit import compiled

__all__ = ["draw_preference", "learn", "overwrite", "refit", "sigmoid"]


@compiled
def learn(belief, x, success, weight=1.0):
    """Move mode and curvature by one reward of the direction `x`, shape (n,), of some weight."""
    side = belief.covariance @ x
    room = x @ side
    at = x @ belief.mode
    low = -weight  # the mode moves by s * side, s = weight * (success - chance then)
    high = weight
    s = weight * (success - sigmoid(at))
    for _ in range(60):
        p = sigmoid(at + s * room)
        bend = weight * room * p * (1 - p)
        miss = weight * (success - p) - s
        if miss > 0:
            low = s
        else:
            high = s
        step = miss / (1 + bend)
        if abs(step) < 1e-13:
            break
        new = s + step
        s = new if low < new < high else (low + high) / 2
    p = sigmoid(at + s * room)
    bend = weight * p * (1 - p)
    grown = 1 + bend * room
    n = len(x)
    for k in range(n):
        belief.mode[k] += s * side[k]
        for j in range(n):
            belief.precision[k, j] += bend * x[k] * x[j]
            belief.covariance[k, j] -= bend * side[k] * side[j] / grown
    if belief.n_pulls[0] % 1000 == 0:  # what rounding has left in the updates goes
        inverse = np.linalg.inv(belief.precision)
        for k in range(n):
            overwrite(belief.covariance[k], inverse[k])


@compiled
def refit(belief):
    """Find the posterior mode over all tallied rewards, and the curvature there."""
    n = len(belief.mode)
    z = belief.mode.copy()
    for _ in range(50):
        gradient = belief.stiffness @ (belief.centre - z)
        precision = belief.stiffness.copy()
        for k in range(belief.n_rows[0]):
            x = belief.rows[k]
            tries = belief.tries[k]
            p = sigmoid(x @ z)
            excess = belief.paid[k] - tries * p
            bend = tries * p * (1 - p)
            for a in range(n):
                gradient[a] += excess * x[a]
                for b in range(n):
                    precision[a, b] += bend * x[a] * x[b]
        step = np.linalg.solve(precision, gradient)
        gain = step @ gradient
        share = 1.0
        if gain < 1e-8:  # so near that Newton's steps need no check, and values cannot give one
            z = z + step
            if gain < 1e-20:
                break
            continue
        value = log_posterior(belief, z)
        new = z + share * step
        while log_posterior(belief, new) < value and share > 1e-9:
            share /= 2
            new = z + share * step
        z = new
    overwrite(belief.mode, z)
    inverse = np.linalg.inv(precision)
    for k in range(n):
        overwrite(belief.precision[k], precision[k])
        overwrite(belief.covariance[k], inverse[k])


@compiled
def overwrite(old, new):
    """Write the numbers of one vector over those of another.

    Numba compiles ``old[:] = new`` for seconds in each function: its message of unequal shapes.
    """
    for k in range(len(old)):
        old[k] = new[k]


@compiled
def log_posterior(belief, z):
    """Return the log posterior density of the tallied rewards at `z`, up to a constant."""
    away = z - belief.centre
    pulled = belief.stiffness @ away
    total = -0.5 * (away @ pulled)
    for k in range(belief.n_rows[0]):
        utility = belief.rows[k] @ z
        tail = np.log1p(np.exp(-abs(utility)))
        soft = tail + max(utility, 0.0)
        gained = belief.paid[k] * utility
        total += gained - belief.tries[k] * soft
    return total


@compiled
def draw_preference(belief, rng, spread=1.0):
    """Return one draw of the preference vector, shape (n,), normal around the mode.

    Its standard deviations are `spread` times those of the posterior.
    """
    root = np.linalg.cholesky(belief.covariance)
    normal = rng.standard_normal(len(belief.mode))
    return belief.mode + spread * (root @ normal)


@compiled
def sigmoid(x):
    """Return 1 / (1 + e^-x) without overflow."""
    if x >= 0:
        return 1 / (1 + exp(-x))
    small = exp(x)
    return small / (1 + small)
