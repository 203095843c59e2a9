"""Comparisons of policies against SciPy, and the truth of made regrets."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import bayesduel as bd
from bayesduel.intervals import adjusted, rejected
from bayesduel.simulation.policy_comparison import compare_regrets

pytestmark = pytest.mark.plain


def made(values):
    """Return regrets (problem, policy, replication) with labels."""
    names = [f"p{k}" for k in range(values.shape[1])]
    return xr.DataArray(values, dims=("problem", "policy", "replication"), coords={"policy": names})


@pytest.mark.parametrize("shape", [(1, 3, 12), (6, 3, 5), (20, 2, 1)])
@pytest.mark.parametrize("problems", ["sampled", "fixed"])
def test_each_number_is_that_of_scipy(shape, problems):
    if problems == "fixed" and shape[2] == 1:
        return  # one run of each problem tells nothing of further runs: see the next test
    values = np.random.default_rng(sum(shape)).gamma(2.0, size=shape)
    found = compare_regrets(made(values), problems=problems, resamples=50)
    relative = values / values[:, :1].mean(axis=2, keepdims=True)
    for place in range(shape[1]):
        runs = relative[:, place].ravel()
        assert found["iqm"][place] == pytest.approx(stats.trim_mean(runs, 0.25))
        at = found.isel(policy=place)
        law = stats.ecdf(runs).cdf.evaluate(found["ratio_at"].values)
        np.testing.assert_allclose(at["profile"], law, atol=1 / runs.size + 1e-12)
        mean_ratio = stats.gmean(relative[:, place].mean(axis=1))
        assert at["ratio"] == pytest.approx(mean_ratio)
        if problems == "sampled" and shape[0] > 1 and place:
            logs = np.log(relative[:, place].mean(axis=1))
            test = stats.ttest_1samp(logs, 0.0)
            low, high = np.exp(test.confidence_interval(0.95))
            assert at["p"] == pytest.approx(test.pvalue)
            assert (at["ratio_low"], at["ratio_high"]) == pytest.approx((low, high))
        less = (values[:, place] < values[:, 0]) + 0.5 * (values[:, place] == values[:, 0])
        assert at["lower"] == pytest.approx(less.mean())


def test_fixed_problems_need_two_runs_each():
    values = made(np.ones((3, 2, 1)))
    with pytest.raises(ValueError, match="two runs of each policy on each problem"):
        compare_regrets(values, problems="fixed")


def test_the_bootstrap_of_one_problem_is_that_of_scipy():
    values = np.random.default_rng(4).gamma(2.0, size=(1, 2, 40))
    found = compare_regrets(made(values), resamples=4000)
    runs = values[0, 1] / values[0, 0].mean()
    scipy = stats.bootstrap(
        (runs,), lambda x, axis: stats.trim_mean(x, 0.25, axis=axis), n_resamples=4000,
        method="percentile", rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    ends = found["iqm_low"][1], found["iqm_high"][1]
    assert ends == pytest.approx((scipy.low, scipy.high), abs=0.05)


def test_the_interval_of_fixed_problems_covers_the_ratio():
    """400 sets of ten paired runs on three problems; the limits are exact binomial, 1e-6."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        luck = rng.gamma(8.0, size=(3, 1, 10))
        values = luck * rng.gamma(8.0, size=(3, 2, 10)) * np.array([[1.0], [0.5]])
        found = compare_regrets(made(values), problems="fixed", resamples=1).isel(policy=1)
        covered += int(found["ratio_low"] <= 0.5 <= found["ratio_high"])
    assert stats.binomtest(covered, 400, 0.95).pvalue > 1e-6


@pytest.mark.parametrize("n_runs", [10, 12, 40])
def test_the_ratio_of_interquartile_means_is_yuens_for_pairs(n_runs):
    """Beside the formulas of Yuen's paired test, and the jackknife for the order of its error."""
    rng = np.random.default_rng(n_runs)
    luck = rng.gamma(8.0, size=(1, 1, n_runs))
    values = luck * rng.gamma(8.0, size=(1, 2, n_runs))
    found = compare_regrets(made(values), resamples=1).isel(policy=1)
    cut = n_runs // 4
    trimmed = stats.trim_mean(values[0], 0.25, axis=1)
    assert found["iqm_ratio"] == pytest.approx(trimmed[1] / trimmed[0])
    base, other = (
        np.asarray(stats.mstats.winsorize(runs, (cut / n_runs, cut / n_runs))) / mean
        for runs, mean in zip(values[0], trimmed, strict=True)
    )
    left = n_runs - 2 * cut
    error = np.sqrt(((n_runs - 1) * (other - base).var(ddof=1)) / (left * (left - 1)))
    half = stats.t.ppf(0.975, left - 1) * error
    ends = found["iqm_ratio_low"], found["iqm_ratio_high"]
    assert np.log(ends) == pytest.approx(
        np.log(found["iqm_ratio"].item()) + np.array([-half, half])
    )


def test_rare_runs_do_not_move_the_ratio_of_interquartile_means():
    """One run in ten has a hundred times the regret: the middle half stays."""
    rng = np.random.default_rng(5)
    values = rng.gamma(8.0, size=(1, 2, 20))
    spoilt = values.copy()
    spoilt[0, 1, :2] *= 100
    before, after = (
        compare_regrets(made(one), resamples=1).isel(policy=1) for one in (values, spoilt)
    )
    assert after["ratio"] > 5 * before["ratio"]
    assert float(after["iqm_ratio"]) == pytest.approx(float(before["iqm_ratio"]), rel=0.15)


def test_holm_rejects_what_the_procedure_rejects():
    p = np.array([0.04, 0.001, 0.02, 0.5, 0.012])
    by_hand = [0.08, 0.005, 0.06, 0.5, 0.048]  # 2 * 0.04, 5 * 0.001, 3 * 0.02, 1 * 0.5, 4 * 0.012
    np.testing.assert_allclose(adjusted(p), by_hand)
    for level in (0.003, 0.05, 0.07, 0.6):
        assert (adjusted(p) <= level).sum() == rejected(np.sort(p), level)


def test_of_a_trace_with_one_or_several_problems():
    policies = [bd.Uniform(), bd.WinnerStays()]
    trace = bd.simulate(policies, ["cyclic-4", "mslr-5"], 200, replications=3, seed=0, workers=1)
    found = bd.compare_policies(trace, "WinnerStays", resamples=20)
    again = bd.compare_policies(trace, "WinnerStays", resamples=20)
    xr.testing.assert_identical(found, again)
    assert found["ratio"].sel(policy="Uniform") > 1
    assert np.isnan(found["p"].sel(policy="WinnerStays"))
    one = bd.compare_policies(trace.children["mslr-5"], resamples=20)
    assert one.attrs["reference"] == "Uniform"
    assert one["ratio_low"][1] < one["ratio"][1] < one["ratio_high"][1]
    bd.plot_profiles(found)
    bd.plot_policies(found, measure="iqm")
    with pytest.raises(ValueError, match="reference should be one of"):
        bd.compare_policies(trace, "DTS")
    with pytest.raises(ValueError, match="got a Dataset of P"):
        bd.plot_policies(trace.children["mslr-5"]["problem"].to_dataset())
