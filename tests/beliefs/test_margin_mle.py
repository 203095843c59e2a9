"""The fast climb against generic optimisers, least squares and hand-worked fits."""

import numpy as np
import pytest
from scipy import optimize, stats

from bayesduel.margins.newton import profile
from bayesduel.margins.tallies import Moments
from bayesduel.policies.top_k import fit_margins, no_margins, record_margin
from tests.support.dealing import dealt
from tests.support.margin_objective import generic, objective

pytestmark = pytest.mark.plain


def sample_start(margins):
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(margins.total / margins.n).sum(axis=1) / len(margins.n)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("n_arms", "d"), [(4, 0.0), (10, 0.0), (10, 0.05)])
def test_pair_variances_reach_the_optimum_of_a_generic_optimiser(n_arms, d, seed):
    """With 12 duels a pair both climb to the same optimum from the same start.

    Not at d = 0.3, where the model is false: there the optima are many, and BFGS, whose first
    steps are long, may climb another hill than ours.
    """
    margins, _ = dealt(n_arms, 12, seed, d)
    fit = fit_margins(margins, floor=1e-4)
    expected = generic(margins, sample_start(margins), 1e-4)
    np.testing.assert_allclose(fit.score, expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_with_few_duels_the_end_is_a_local_optimum_all_the_same(seed):
    """Three duels a pair: many optima. From ours a generic optimiser has nowhere to go."""
    margins, _ = dealt(10, 3, seed)
    fit = fit_margins(margins, floor=1e-4)
    value, slope = objective(margins, 1e-4)
    assert np.abs(slope(fit.score)).max() < 1e-7
    np.testing.assert_allclose(generic(margins, fit.score, 1e-4), fit.score, atol=1e-8)
    assert value(fit.score) < value(sample_start(margins))
    rng = np.random.default_rng(seed)
    for _ in range(20):
        assert value(fit.score + 1e-3 * rng.standard_normal(10)) > value(fit.score) - 1e-12


def test_a_warm_start_reaches_the_same_optimum_sooner():
    margins, _ = dealt(10, 12, 5)
    before = fit_margins(margins)
    record_margin(margins, 2, 7, 0.3)
    cold, warm = fit_margins(margins), fit_margins(margins, start=before.score)
    np.testing.assert_allclose(warm.score, cold.score, atol=1e-9)
    assert warm.rounds < cold.rounds


def test_a_common_variance_is_least_squares():
    margins, rows = dealt(6, 4, 1)
    design = np.zeros((len(rows), 6))
    design[np.arange(len(rows)), rows[:, 0].astype(int)] = 1
    design[np.arange(len(rows)), rows[:, 1].astype(int)] -= 1
    expected = np.linalg.lstsq(design, rows[:, 2])[0]
    fit = fit_margins(margins, "common")
    np.testing.assert_allclose(fit.score, expected - expected.mean(), atol=1e-12)
    residual = rows[:, 2] - design @ expected
    np.testing.assert_allclose(fit.variance[0, 1], (residual**2).mean(), rtol=1e-12)
    sd = np.sqrt((residual**2).mean())
    log_likelihood = -0.5 * (residual / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(fit.log_likelihood, log_likelihood.sum(), rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_variances_by_arm_reach_the_optimum_of_a_generic_optimiser(seed):
    """Likelihood, scores and variances, from the same start, within 1e-8 and relative 1e-7."""
    rng, n_arms, margins = np.random.default_rng(seed), 5, no_margins(5)
    i, j = (np.repeat(side, 30) for side in np.tril_indices(n_arms, -1))
    tau, gamma = rng.uniform(0.5, 1.5, n_arms), rng.random(n_arms)
    drawn = rng.normal(gamma[i] - gamma[j], np.hypot(tau[i], tau[j]))
    for a, b, margin in zip(i, j, drawn, strict=True):
        record_margin(margins, a, b, margin)

    def value(x):
        own = np.exp(x[n_arms:])
        v = own[i] + own[j]
        e = drawn - x[i] + x[j]
        by_score = np.bincount(j, e / v, n_arms) - np.bincount(i, e / v, n_arms)
        by_v = 0.5 * (1 / v - e**2 / v**2)
        by_own = own * (np.bincount(i, by_v, n_arms) + np.bincount(j, by_v, n_arms))
        return float(0.5 * (np.log(2 * np.pi * v) + e**2 / v).sum()), np.r_[by_score, by_own]

    fit = fit_margins(margins, "arm", floor=1e-9, tolerance=1e-14, max_rounds=200_000)
    v = fit.variance  # of arms a and b: tau_a^2 + tau_b^2
    own = [v[a, b] / 2 + v[a, c] / 2 - v[b, c] / 2 for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1))]
    start = np.r_[sample_start(margins), np.full(n_arms, np.log(0.1))]
    found = optimize.minimize(value, start, jac=True, method="BFGS", options={"gtol": 1e-10})
    assert (found.x[n_arms:] > np.log(1e-6)).all(), "the optimum should be inside"
    np.testing.assert_allclose(-fit.log_likelihood, found.fun, rtol=1e-12)
    np.testing.assert_allclose(fit.score, found.x[:5] - found.x[:5].mean(), atol=1e-8)
    np.testing.assert_allclose(own, np.exp(found.x[n_arms : n_arms + 3]), rtol=1e-7)


def test_variances_by_arm_count_a_pair_that_met_once():
    """At the maximum the slope in an arm's variance vanishes, unless that is at the floor."""
    margins, rng = no_margins(4), np.random.default_rng(2)
    for i, j, n_duels in ((0, 2, 12), (0, 3, 9), (1, 2, 8), (1, 3, 12)):
        for margin in rng.normal(0.3 * (i - j), 1.0, n_duels):
            record_margin(margins, i, j, margin)
    record_margin(margins, 0, 1, 3.0)
    fit = fit_margins(margins, "arm", floor=1e-9)
    n, v = margins.n, fit.variance + np.eye(4)
    mean = margins.total / np.maximum(n, 1)
    error = mean - fit.score[:, None] + fit.score
    squares = margins.squares - n * mean**2 + n * error**2
    np.testing.assert_allclose((n * error / v).sum(axis=1), 0, atol=1e-8)
    slope = (n / v - squares / v**2).sum(axis=1)
    own = (fit.variance.sum(axis=1) - fit.variance.sum() / 6) / 2
    np.testing.assert_allclose(np.minimum(slope, own), 0, atol=1e-6)
    assert (own > 0.1).sum() == 3


@pytest.mark.parametrize("variances", ["common", "arm", "pair"])
def test_a_round_is_counted_once(variances):
    """The first is the last where scores may move by so much."""
    assert fit_margins(dealt(4, 12, 2)[0], variances, tolerance=1e6).rounds == 1


def test_the_floor_holds_where_a_pair_is_fitted_exactly():
    margins, _ = dealt(5, 6, 3)
    for _ in range(6):
        record_margin(margins, 0, 1, 10.0)  # adds scatter to no pair but (0, 1)
    margins.n[0, 1] = margins.n[1, 0] = 6
    margins.total[0, 1], margins.total[1, 0] = 1.2, -1.2
    margins.squares[0, 1] = margins.squares[1, 0] = 6 * 0.2**2  # six margins of 0.2
    fit = fit_margins(margins, floor=1e-3)
    assert fit.variance[0, 1] == pytest.approx(1e-3)
    np.testing.assert_allclose(generic(margins, fit.score, 1e-3), fit.score, atol=1e-8)


def test_shrinkage_draws_variances_together():
    margins, _ = dealt(6, 3, 2)
    above = np.triu_indices(6, 1)
    spreads = [np.log(fit_margins(margins, shrinkage=s).variance[above]).std() for s in (0, 2, 50)]
    assert spreads[0] > spreads[1] > spreads[2]
    fit = fit_margins(margins, shrinkage=1e9)
    plain = fit_margins(margins, "common")
    np.testing.assert_allclose(fit.score, plain.score, atol=1e-6)


def test_two_arms_by_hand():
    margins = no_margins(2)
    for margin in (1.0, 2.0, 6.0):
        record_margin(margins, 0, 1, margin)
    fit = fit_margins(margins)
    np.testing.assert_allclose(fit.score, [1.5, -1.5])
    np.testing.assert_allclose(fit.variance, [[0, 14 / 3], [14 / 3, 0]])


def test_equal_margins_do_not_break_the_fit():
    margins = no_margins(4)
    for i in range(4):
        for j in range(i):
            for _ in range(3):
                record_margin(margins, i, j, 0.0)
    fit = fit_margins(margins)
    np.testing.assert_array_equal(fit.score, 0)
    assert (fit.variance[np.triu_indices(4, 1)] > 0).all()


def test_bad_input_is_refused():
    margins, _ = dealt(4, 3, 0)
    with pytest.raises(ValueError, match="variances should be 'common', 'arm' or 'pair'"):
        fit_margins(margins, "each")
    with pytest.raises(ValueError, match="floor should be positive, got 0"):
        fit_margins(margins, floor=0)
    with pytest.raises(ValueError, match="shrinkage should be >= 0"):
        fit_margins(margins, shrinkage=-1)
    with pytest.raises(ValueError, match="start should be 4 finite scores"):
        fit_margins(margins, start=[1.0, 2.0])
    with pytest.raises(RuntimeError, match="not reached in max_rounds = 1 rounds"):
        fit_margins(margins, max_rounds=1)
    alone = no_margins(3)
    record_margin(alone, 0, 1, 1.0)
    with pytest.raises(ValueError, match="connect all arms"):
        fit_margins(alone)
    record_margin(margins, 0, 1, np.inf)
    with pytest.raises(ValueError, match="margins should be finite"):
        fit_margins(margins)


@pytest.mark.plain
def test_a_pair_at_the_floor_has_the_density_of_the_floor():
    margins, floor = np.array([1.0, 1.2, 0.9, 1.1]), 4.0
    n, mean = np.array([[0.0, 4.0], [4.0, 0.0]]), margins.mean() * np.array([[0, 1.0], [-1.0, 0]])
    scatter = ((margins - margins.mean()) ** 2).sum() * (1 - np.eye(2))
    scores = np.array([[0.5, -0.5], [0.1, 0.4]])
    moments = Moments(n, mean, scatter, scatter / 4, 1.0, floor, 0.0)
    values = [profile(moments, score) for score in scores]
    logs = [stats.norm.logpdf(margins, a - b, floor**0.5).sum() for a, b in scores]
    assert values[1] - values[0] == pytest.approx(logs[0] - logs[1], rel=1e-12)
