"""The allocation under a mixed model: covariance, gains, residual variance."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from bayesduel.margins.moments import sample_moments
from bayesduel.policies.top_k import LaplaceAllocation, fit_margins, laplace_residual
from bayesduel.policies.top_k.residual_variance import grid_of_sizes, learned_square, quantiles
from bayesduel.policies.top_k.score_covariance import choice_gains, score_covariance
from tests.support.dealing import dealt

pytestmark = pytest.mark.plain


def fitted(margins, square, k=2):
    """A memory with the fit at a given d^2, and the account it leads to."""
    memory = laplace_residual.initial_memory(len(margins.n), k, 3, 0.0)
    memory.square[0] = square
    memory.done[1] = margins.n_duels[0]  # d is not learned
    mean = laplace_residual.refit(margins, memory)
    for _ in range(200):  # to the end of the climb
        memory.done[0] -= 1
        laplace_residual.refit(margins, memory)
    return memory, mean, *laplace_residual.predicted(margins.n, mean, memory)


def conditioned(n, mean, variance, square):
    """Mean and covariance of the scores by conditioning one big normal law."""
    n_arms = len(n)
    pairs = list(combinations(range(n_arms), 2))
    design = np.zeros((len(pairs), n_arms))
    for row, (i, j) in enumerate(pairs):
        design[row, i], design[row, j] = 1, -1
    residuals = np.sqrt(square) * np.eye(len(pairs))
    whole = np.hstack([design[:, 1:], residuals])  # the first arm's score is 0
    weight = np.array([n[p] / variance[p] for p in pairs])
    before = np.r_[np.zeros(n_arms - 1), np.ones(len(pairs))]  # scores are free
    after = np.linalg.inv(whole.T * weight @ whole + np.diag(before))
    sums = design.T @ whole
    seen = whole.T @ (weight * np.array([mean[p] for p in pairs]))
    return sums @ after @ seen, sums @ after @ sums.T


@pytest.mark.parametrize("square", [0.0, 0.01, 0.3])
def test_the_prediction_is_the_posterior_of_the_scores(square):
    margins, _ = dealt(6, 9, 4, 0.2)
    memory, mean, mu, own, weight = fitted(margins, square)
    expected, covariance = conditioned(margins.n, mean, memory.variance, square)
    np.testing.assert_allclose(mu, expected, atol=1e-5)
    ours = laplace_residual.score_law(margins.n, own, weight, memory)[0]
    np.testing.assert_allclose(ours, covariance, atol=1e-5)


def test_its_ends_are_the_model_and_the_sample_means():
    margins, _ = dealt(6, 9, 5)
    memory, mean, mu, own, weight = fitted(margins, 0.0)
    fit = fit_margins(margins)
    np.testing.assert_allclose(mu, 6 * fit.score, atol=1e-4)
    np.testing.assert_allclose(memory.variance, fit.variance, rtol=1e-3)
    ours = laplace_residual.choice_gains(margins.n, mu, own, weight, memory)
    covariance = score_covariance(margins.n, memory.variance)
    plain = choice_gains(memory.fitted, covariance, memory.variance, 2)
    above = np.triu_indices(6, 1)
    np.testing.assert_allclose(ours[above] / ours.max(), plain[above] / plain.max(), rtol=1e-6)
    mu = fitted(margins, 1e6)[2]
    np.testing.assert_allclose(mu, mean.sum(axis=1), atol=1e-5)


@pytest.mark.parametrize("square", [0.003, 0.1])
def test_the_gain_is_the_slope_of_the_chance(square):
    """Against conditioning anew after a hundredth of a duel more of each pair."""
    margins, _ = dealt(6, 20, 7, 0.2)
    memory, mean, mu, own, weight = fitted(margins, square)
    gain = laplace_residual.choice_gains(margins.n, mu, own, weight, memory)
    covariance, _, model = laplace_residual.score_law(margins.n, own, weight, memory)

    def log_chance(covariance):
        order = np.argsort(-mu)
        total = 0.0
        for p in order[:2]:
            for q in order[2:]:
                v = covariance[p, p] + covariance[q, q] - 2 * covariance[p, q]
                total += stats.norm.logcdf((mu[p] - mu[q]) / np.sqrt(v))
        return total

    base = log_chance(covariance)
    ratios = []
    for i, j in combinations(range(6), 2):
        more = margins.n.copy()
        more[i, j] += 0.01
        more[j, i] += 0.01
        fresh = conditioned(more, mean, memory.variance, square)[1]
        lead = model[i, i] + model[j, j] - 2 * model[i, j]
        v = own[i, j] + weight[i, j] ** 2 * lead
        whole = 1 / (1 + v / memory.variance[i, j])  # a whole duel teaches less than 100 parts
        ratios.append(gain[i, j] / (100 * (log_chance(fresh) - base) * whole))
    np.testing.assert_allclose(ratios, np.mean(ratios), rtol=0.03)


@pytest.mark.parametrize("d", [0.1, 0.4])
@pytest.mark.sampled(2)
def test_d_is_learned(d):
    """With 60 duels a pair, 12 logs: d^2 is known up to a chi-squared law of 12 times 36
    degrees of freedom, here at 1e-6, and 15 % for the noise and the skew of its posterior."""
    found = []
    for seed in range(12):
        margins, _ = dealt(10, 60, seed, d)
        moments = sample_moments(margins, 0.0)
        start = moments.mean.sum(axis=1) / 10
        arguments = (moments, start, grid_of_sizes(), quantiles())
        found.append(learned_square(*arguments))
        np.testing.assert_array_equal(start, moments.mean.sum(axis=1) / 10)
    ratio = np.mean(found) / d**2
    low, high = stats.chi2.ppf([1e-6, 1 - 1e-6], 12 * 36) / (12 * 36)
    assert low - 0.15 < ratio < high + 0.15


def test_no_residual_is_found_where_there_is_none():
    """d is below a quarter of the spread of the scores, whose range is 1."""
    for seed in range(6):
        margins, _ = dealt(10, 30, 50 + seed)
        moments = sample_moments(margins, 0.0)
        start = moments.mean.sum(axis=1) / 10
        arguments = (moments, start, grid_of_sizes(), quantiles())
        assert np.sqrt(learned_square(*arguments)) < 0.08


@pytest.mark.slow
def test_asking_for_scores_changes_nothing():
    margins, _ = dealt(5, 4, 1, 0.1)
    rule = LaplaceAllocation(k=2, residual="learned")
    often, once = rule.init(5), rule.init(5)
    rng = np.random.default_rng
    for _ in range(3):
        told = rule.scores(margins, often)
    pair = rule.select(margins, often, 1000, rng(0))
    assert pair == rule.select(margins, once, 1000, rng(0))
    np.testing.assert_array_equal(told, rule.scores(margins, once))


def test_what_it_is_not_is_refused():
    with pytest.raises(ValueError, match="residual should be one of 'none', 'learned', got 'some'"):
        LaplaceAllocation(residual="some")
