"""Approximate expected probability of correct selection (AEPCS), the criterion of POCBAm.

Each arm's score is taken as ``N(mu_i, s_i^2)``; the selection is correct if all of the k best lie
above a threshold c and all others below. One more duel of i and j reduces only s_i and s_j, so the
product over arms is kept as a sum of logarithms of which two terms change.

References
----------
Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits", section 3 (AEPCS, the approximate expected probability of correct selection).
Deviations: logarithms in place of products, which underflow at K = 100.
"""

from math import erfc, exp, log, log1p, pi, sqrt

import numpy as np

from bayesduel.jit import compiled

__all__ = [
    "best_pair",
    "best_pair_by_gain",
    "distances",
    "log_normal_cdf",
    "log_unit_loss",
    "taken_by_duel",
]


@compiled
def log_normal_cdf(z):
    """Return ln Phi(z), accurate in both tails."""
    if z > 0:
        return log1p(-0.5 * erfc(z / sqrt(2.0)))
    if z > -30:
        return log(0.5 * erfc(-z / sqrt(2.0)))
    y = 1 / (z * z)
    tail = 1 - 5 * y * (1 - 7 * y)
    series = 1 - y * (1 - 3 * y * tail)
    leading = -0.5 * z * z - log(-z) - 0.5 * log(2 * pi)
    return leading + log(series)


@compiled
def distances(mu, spread, k):
    """Return the distance of each arm from the threshold, on its side, shape (K,).

    mu, spread: means and variances of the scores, shape (K,).
    k: how many to select, in 1..K-1.
    Returns ``mu_i - c`` for the k best, ``c - mu_i`` for the others, where ``c = (s_b mu_a + s_a
    mu_b) / (s_a + s_b)``, a the k-th and b the next.
    """
    order = np.argsort(-mu)
    a = order[k - 1]
    b = order[k]
    of_a = sqrt(spread[a])
    of_b = sqrt(spread[b])
    weight = of_b / (of_a + of_b)
    c = weight * mu[a] + (1 - weight) * mu[b]
    away = mu - c
    for i in order[k:]:
        away[i] = c - mu[i]
    return away


@compiled
def best_pair_by_gain(mu, spread, variance, n, k, rng):
    """Return the pair whose next duel increases AEPCS most, ties at random.

    A pair is skipped if its gain cannot exceed that of the best pair so far.

    mu, spread: means and variances of the scores, shape (K,).
    variance: of one margin of each pair, shape (K, K).
    n: duels so far, shape (K, K), at least 1 off the diagonal.
    k: how many to select, in 1..K-1.
    """
    n_arms = len(mu)
    away = distances(mu, spread, k)
    base = np.empty(n_arms)
    for i in range(n_arms):
        base[i] = log_normal_cdf(away[i] / sqrt(spread[i]))
    order = np.argsort(base)
    first = 0
    second = 1
    ties = 0
    most = -np.inf
    for later in range(1, n_arms):
        j = order[later]
        for place in range(later):
            i = order[place]
            if -base[i] - base[j] < most:
                break  # the gains of the arms after i are smaller still
            less = taken_by_duel(variance[i, j], n[i, j])
            up = log_normal_cdf(away[i] / sqrt(spread[i] - less)) - base[i]
            up += log_normal_cdf(away[j] / sqrt(spread[j] - less)) - base[j]
            if up > most:
                most = up
                ties = 0
            if up == most:
                ties += 1
                if ties == 1 or rng.random() * ties < 1:
                    first = min(i, j)
                    second = max(i, j)
    return first, second


@compiled
def taken_by_duel(variance, n):
    """Return what one more duel takes off the variance of a mean of n margins."""
    return variance / (n * (n + 1))


@compiled
def best_pair(gain, rng):
    """Return the pair i < j of the largest entry, ties at random."""
    n_arms = len(gain)
    first = 0
    second = 1
    ties = 0
    most = -np.inf
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            up = gain[i, j]
            if up > most:
                most = up
                ties = 0
            if up == most:
                ties += 1
                if ties == 1 or rng.random() * ties < 1:
                    first = i
                    second = j
    return first, second


@compiled
def log_unit_loss(z):
    """Return ``ln(phi(z) - z Phi(-z))`` for z >= 0."""
    if z < 35:
        density = exp(-0.5 * z * z) / sqrt(2 * pi)
        beyond = z * 0.5 * erfc(z / sqrt(2.0))
        return log(density - beyond)
    y = 1 / (z * z)
    series = 1 - 3 * y * (1 - 5 * y)
    leading = -0.5 * z * z - 0.5 * log(2 * pi) - 2 * log(z)
    return leading + log(series)
