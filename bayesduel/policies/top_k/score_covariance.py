"""The covariance of fitted scores, and the effect of one more duel on the selection.

The criterion is the probability that no rejected arm exceeds a selected one, as if the differences
were independent; the gain of a duel is the first-order increase of its logarithm.

References
----------
None: ours.
"""

from math import exp, sqrt

import numpy as np

from bayesduel.beliefs.score_posterior import contrast
from bayesduel.jit import compiled
from bayesduel.margins.newton import add_weight, inverted
from bayesduel.policies.top_k.aepcs import log_normal_cdf

__all__ = ["choice_gains", "score_covariance", "slopes"]


@compiled
def score_covariance(n, variance):
    """Return the covariance of the scores given the variances, the first held at 0, (K, K)."""
    n_arms = len(n)
    inverse = np.zeros((n_arms - 1, n_arms - 1))
    for i in range(n_arms):
        for j in range(i):
            met = n[i, j]
            if met > 0:
                add_weight(inverse, i, j, met / variance[i, j])
    inverted(inverse)
    covariance = np.zeros((n_arms, n_arms))
    covariance[1:, 1:] = inverse
    return covariance


@compiled
def slopes(score, covariance, k):
    """Return the derivative of ln of the probability by variances of differences, as a Laplacian.

    Scaled by the largest, so that none underflows where all are small. Shape (K, K).
    """
    n_arms = len(score)
    order = np.argsort(-score)
    lead = np.zeros((n_arms, n_arms))
    steep = np.zeros((n_arms, n_arms))
    largest = -np.inf
    for top in range(k):
        for low in range(k, n_arms):
            p = order[top]
            q = order[low]
            v = contrast(covariance, p, q)
            z = (score[p] - score[q]) / sqrt(v)
            of_pair = -0.5 * z * z - log_normal_cdf(z)
            lead[p, q] = z / v
            steep[p, q] = of_pair
            largest = max(largest, of_pair)
    slope = np.zeros((n_arms, n_arms))
    for top in range(k):
        for low in range(k, n_arms):
            p = order[top]
            q = order[low]
            g = lead[p, q] * exp(steep[p, q] - largest)
            slope[p, q] -= g
            slope[q, p] -= g
            slope[p, p] += g
            slope[q, q] += g
    return slope


@compiled
def choice_gains(score, covariance, variance, k):
    """Return the first-order increase of ln of the probability by pair, up to a factor, (K, K).

    One more duel of (i, j) takes ``(c_i - c_j)^2 w / (1 + w v_ij)`` from the variance of each
    difference, c the row of the covariance, v_ij the variance of i's lead over j, w the
    duel's precision.
    """
    n_arms = len(score)
    seen = covariance @ slopes(score, covariance, k) @ covariance
    gain = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(i):
            shown = variance[i, j] + contrast(covariance, i, j)
            rise = contrast(seen, i, j) / shown
            gain[i, j] = rise
            gain[j, i] = rise
    return gain
