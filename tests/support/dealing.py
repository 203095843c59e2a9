"""Margins for tests: drawn from scores on a line, told plainly, or asked for by a rule."""

from contextlib import contextmanager
from itertools import combinations

import numpy as np

from bayesduel.policies.top_k import no_margins, record_margin
from bayesduel.policies.top_k.aepcs import distances, log_normal_cdf


def dealt(n_arms, per_pair, seed, d=0.0):
    """`per_pair` margins of every pair, ``N(gamma_i - gamma_j + d eps, sigma_ij^2)``."""
    rng = np.random.default_rng(seed)
    gamma = rng.random(n_arms)
    margins = no_margins(n_arms)
    rows = []
    for i in range(n_arms):
        for j in range(i):
            mean, sd = gamma[i] - gamma[j] + d * rng.standard_normal(), rng.random()
            for margin in rng.normal(mean, sd, per_pair):
                record_margin(margins, i, j, margin)
                rows.append((i, j, margin))
    return margins, np.array(rows)


@contextmanager
def unwritten(margins):
    """Fail where the block writes these margins.

    Arrays that refuse to be written are another type to Numba, which would compile every rule anew.
    """
    before = [array.copy() for array in margins]
    yield margins
    for array, old in zip(margins, before, strict=True):
        np.testing.assert_array_equal(array, old)


def accounts(margins):
    """Sample means, variances, scores and their variances, by whole arrays."""
    n = margins.n + np.eye(len(margins.n))
    mean = margins.total / n
    variance = np.maximum((margins.squares - n * mean**2) / np.maximum(n - 1, 1), 0)
    np.fill_diagonal(variance, 0)
    return mean, variance, mean.sum(axis=1), (variance / n).sum(axis=1)


def play(rule, n_arms, budget, margin, seed=0):
    memory, margins = rule.init(n_arms), no_margins(n_arms)
    rng = np.random.default_rng(seed)
    for t in range(1, budget + 1):
        i, j = rule.select(margins, memory, t, rng)
        if i < 0:
            break
        assert i != j
        record_margin(margins, i, j, margin(i, j, rng))
    return margins, memory


def log_gains_of_pairs(mu, spread, variance, n, k):
    """The increase of ln AEPCS by one more duel of each pair, shape (K, K), pair by pair."""
    away = distances(mu, spread, k)
    gain = np.zeros(variance.shape)
    for i, j in combinations(range(len(mu)), 2):
        for arm in (i, j):
            less = variance[i, j] / (n[i, j] * (n[i, j] + 1))
            gain[i, j] += log_normal_cdf(away[arm] / np.sqrt(spread[arm] - less))
            gain[i, j] -= log_normal_cdf(away[arm] / np.sqrt(spread[arm]))
        gain[j, i] = gain[i, j]
    return gain
