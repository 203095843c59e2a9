"""Gains of a duel: the compiled formulas against plain ones, quadrature and inverses."""

from itertools import combinations

import numpy as np
import pytest
from scipy import special, stats

from bayesduel.policies.top_k import fit_margins
from bayesduel.policies.top_k.aepcs import (
    best_pair,
    best_pair_by_gain,
    log_normal_cdf,
    log_unit_loss,
)
from bayesduel.policies.top_k.pkg import log_gains
from bayesduel.policies.top_k.score_covariance import choice_gains, score_covariance
from tests.support.dealing import accounts, dealt, log_gains_of_pairs

pytestmark = pytest.mark.plain


def aepcs(mu, spread, k, threshold):
    """The product over arms, as printed."""
    top = np.argsort(-mu)[:k]
    z = (mu - threshold) / np.sqrt(spread)
    z[np.setdiff1d(np.arange(len(mu)), top)] *= -1
    return stats.norm.cdf(z).prod()


def test_the_log_of_the_normal_cdf_is_accurate_in_both_tails():
    z = np.r_[np.linspace(-60, 36, 400), 0.0]
    ours = np.array([log_normal_cdf(x) for x in z])
    np.testing.assert_allclose(ours, special.log_ndtr(z), rtol=3e-8)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_gains_are_ratios_of_the_printed_products(k):
    margins, _ = dealt(6, 4, k)
    _, variance, mu, spread = accounts(margins)
    gain = log_gains_of_pairs(mu, spread, variance, margins.n, k)
    order = np.argsort(-mu)
    a, b = order[k - 1], order[k]
    sa, sb = np.sqrt(spread[a]), np.sqrt(spread[b])
    c = (sb * mu[a] + sa * mu[b]) / (sa + sb)
    for i, j in combinations(range(6), 2):
        more = margins.n.copy()
        more[i, j] += 1
        more[j, i] += 1
        fresh = (variance / (more + np.eye(6))).sum(axis=1)
        ratio = aepcs(mu, fresh, k, c) / aepcs(mu, spread, k, c)
        np.testing.assert_allclose(gain[i, j], np.log(ratio), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_arms", [5, 30, 100])
def test_the_pair_named_is_the_best_without_underflow(n_arms):
    margins, _ = dealt(n_arms, 3, n_arms)
    _, variance, mu, spread = accounts(margins)
    k = n_arms * 2 // 5
    gain = log_gains_of_pairs(mu, spread, variance, margins.n, k)
    assert np.isfinite(gain).all()
    i, j = best_pair_by_gain(mu, spread, variance, margins.n, k, np.random.default_rng(0))
    assert i < j
    assert gain[i, j] == gain.max() > 0


def test_equal_gains_are_drawn_at_random():
    ones = np.ones((4, 4)) - np.eye(4)
    mu, spread = np.array([1.0, 1.0, -1.0, -1.0]), np.full(4, 3.0)
    rng = np.random.default_rng(1)
    named = [best_pair_by_gain(mu, spread, ones, 4 * ones, 2, rng) for _ in range(600)]
    for pairs in (named, [best_pair(ones, rng) for _ in range(600)]):
        counts = np.unique(pairs, axis=0, return_counts=True)[1]
        assert len(counts) == 6
        assert stats.chisquare(counts).pvalue > 1e-6


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_knowledge_gradient_is_the_expected_rise_of_the_best_sum(k):
    """Against quadrature over the move of the two scores."""
    margins, _ = dealt(5, 4, 20 + k)
    _, variance, mu, _ = accounts(margins)
    gain = np.exp(log_gains(mu, variance, margins.n, k))
    move = np.linspace(-9, 9, 36001)
    density = stats.norm.pdf(move)
    for i, j in combinations(range(5), 2):
        s = np.sqrt(variance[i, j] / (4 * 5))
        scores = np.tile(mu, (len(move), 1))
        scores[:, i] += s * move
        scores[:, j] -= s * move
        best = np.sort(scores, axis=1)[:, -k:].sum(axis=1) - np.sort(mu)[-k:].sum()
        expected = np.trapezoid(best * density, move)
        np.testing.assert_allclose(gain[i, j], expected, rtol=1e-4, atol=1e-12)


def laplacian(n, variance):
    weight = n / np.where(n > 0, variance, 1)
    return np.diag(weight.sum(axis=1)) - weight


def log_chance(score, covariance, k):
    order = np.argsort(-score)
    p, q = np.repeat(order[:k], len(score) - k), np.tile(order[k:], k)
    v = covariance[p, p] + covariance[q, q] - 2 * covariance[p, q]
    return stats.norm.logcdf((score[p] - score[q]) / np.sqrt(v)).sum()


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_laplace_gain_is_the_slope_of_the_chance(k):
    """Against a full inverse after a hundredth of a duel more of each pair, up to a factor."""
    margins, _ = dealt(6, 20, k)
    fit = fit_margins(margins)
    covariance = score_covariance(margins.n, fit.variance)
    centre = np.eye(6) - 1 / 6
    pseudo = np.linalg.pinv(laplacian(margins.n, fit.variance))
    np.testing.assert_allclose(centre @ covariance @ centre, pseudo, atol=1e-14)
    gain = choice_gains(fit.score, covariance, fit.variance, k)
    base = log_chance(fit.score, pseudo, k)
    ratios = []
    for i, j in combinations(range(6), 2):
        more = margins.n.copy()
        more[i, j] += 0.01
        more[j, i] += 0.01
        fresh = np.linalg.pinv(laplacian(more, fit.variance))
        lead = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        whole = 1 / (1 + lead / fit.variance[i, j])  # a whole duel teaches less than 100 parts
        ratios.append(gain[i, j] / (100 * (log_chance(fit.score, fresh, k) - base) * whole))
    np.testing.assert_allclose(ratios, np.mean(ratios), rtol=0.02)


def test_the_covariance_of_scores_counts_pairs_that_met_once():
    n, rng = np.zeros((5, 5)), np.random.default_rng(2)
    for i, j, duels in ((0, 1, 1), (1, 2, 1), (2, 3, 4), (3, 4, 1), (0, 4, 2)):
        n[i, j] = n[j, i] = duels
    variance = rng.uniform(0.5, 2, (5, 5))
    variance = np.where(n > 0, variance + variance.T, 0)
    centre = np.eye(5) - 1 / 5
    covariance = centre @ score_covariance(n, variance) @ centre
    np.testing.assert_allclose(covariance, np.linalg.pinv(laplacian(n, variance)), atol=1e-12)


def test_the_laplace_gain_does_not_underflow():
    margins, _ = dealt(6, 20, 1)
    fit = fit_margins(margins)
    covariance = score_covariance(margins.n, fit.variance)
    gain = choice_gains(1e4 * np.arange(6.0), covariance, fit.variance, 2)
    assert np.isfinite(gain).all() and gain.max() > 0


def test_the_unit_loss_does_not_underflow():
    z = np.array([0.0, 1.0, 5.0, 12.0, 34.9, 35.1, 50.0])
    ours = np.array([log_unit_loss(x) for x in z])
    y = 1 / z[3:] ** 2
    leading = -0.5 * z[3:] ** 2 - 0.5 * np.log(2 * np.pi) - 2 * np.log(z[3:])
    np.testing.assert_allclose(ours[3:], leading + np.log(1 - 3 * y + 15 * y**2), atol=1e-3)
    exact = stats.norm.pdf(z[:3]) - z[:3] * stats.norm.sf(z[:3])
    np.testing.assert_allclose(ours[:3], np.log(exact), rtol=1e-9)
