"""Comparisons of policies against SciPy, and intervals against the truth of made regrets."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import bayesduel as bd
from bayesduel.intervals import adjusted, clopper_pearson, median_interval, rejected
from bayesduel.simulation.policy_comparison import compare_regrets

pytestmark = pytest.mark.plain


def made(values):
    """Return regrets (problem, policy, replication) with labels."""
    names = [f"p{k}" for k in range(values.shape[1])]
    return xr.DataArray(values, dims=("problem", "policy", "replication"), coords={"policy": names})


@pytest.mark.parametrize("shape", [(1, 3, 12), (1, 2, 5), (6, 3, 5), (20, 2, 1), (7, 2, 4)])
@pytest.mark.parametrize("ci_prob", [0.5, 0.95, 0.99])
def test_each_number_is_that_of_scipy(shape, ci_prob):
    values = np.random.default_rng(sum(shape)).gamma(2.0, size=shape)
    found = compare_regrets(made(values), ci_prob=ci_prob)
    for place in range(shape[1]):
        at = found.isel(policy=place)
        ratios = values[:, place] / values[:, 0]
        units = ratios[0] if shape[0] == 1 else np.exp(np.median(np.log(ratios), axis=1))
        assert at["ratio"] == pytest.approx(np.exp(np.median(np.log(units))))
        scipy = stats.quantile_test(units, q=1, p=0.5)
        ends = scipy.confidence_interval(ci_prob)
        low, high = np.nan_to_num(ends.low, nan=0.0), np.nan_to_num(ends.high, nan=np.inf)
        assert (at["ratio_low"], at["ratio_high"]) == pytest.approx((low, high))
        if place:
            assert at["p"] == pytest.approx(scipy.pvalue)
        assert at["lower"] == pytest.approx(np.mean(ratios < 1) + np.mean(ratios == 1) / 2)
        assert at["iqm_ratio"] == pytest.approx(stats.trim_mean(ratios.ravel(), 0.25))
        means = values.mean(axis=2)
        assert at["mean_ratio"] == pytest.approx(stats.gmean(means[:, place] / means[:, 0]))
        law = stats.ecdf(ratios.ravel()).cdf.evaluate(found["ratio_at"].values)
        np.testing.assert_allclose(at["profile"], law, atol=1 / ratios.size + 1e-12)


def test_the_share_of_the_reference_is_known():
    values = np.random.default_rng(0).gamma(2.0, size=(2, 3, 12))
    found = compare_regrets(made(values), "p1").sel(policy="p1")
    for end in ("profile_low", "profile_high"):
        np.testing.assert_array_equal(found[end], found["profile"])


@pytest.mark.parametrize("most", [1.02, 1.3, 4.0, 6.0, 80.0, 5e4])
@pytest.mark.parametrize("plot", [bd.plots.plot_policies, bd.plots.plot_profiles])
def test_ratios_are_labelled_by_numbers_that_can_be_read(plot, most):
    values = np.full((1, 2, 5), 1.0)
    values[:, 1] = np.geomspace(1.0, most, 5)
    axis = plot(compare_regrets(made(values))).xaxis
    axis.figure.canvas.draw()
    low, high = axis.get_view_interval()
    texts = [tick.label1.get_text() for tick in axis.get_major_ticks()]
    places = [float(text) for text in texts if text]
    assert not any(tick.label1.get_text() for tick in axis.get_minor_ticks())
    assert 2 <= sum(low <= place <= high for place in places) <= 10
    assert len({*places}) == len(places)


@pytest.mark.parametrize("n", [1, 7, 30])
def test_exact_intervals_of_shares_are_those_of_scipy(n):
    for hits in range(n + 1):
        ends = stats.binomtest(hits, n).proportion_ci(0.9, method="exact")
        assert clopper_pearson(hits, n, 0.9) == pytest.approx((ends.low, ends.high))


# Laws of one run's regret: light, with rare or frequent runs that end with a wrong winner, and one
# without a mean. The two policies' runs are independent, so that the median ratio is exactly 1/2.
def with_wrong_winners(share):
    return lambda rng, shape: np.where(rng.random(shape) < share, 40, 1) * rng.gamma(8, size=shape)


LAWS = {
    "light": with_wrong_winners(0),
    "rare wrong winners": with_wrong_winners(0.03),
    "a quarter of wrong winners": with_wrong_winners(0.25),
    "without a mean": lambda rng, shape: np.exp(rng.standard_cauchy(shape).clip(-300, 300)),
}


@pytest.mark.parametrize("n", [6, 10, 25])
@pytest.mark.parametrize("law", LAWS)
def test_intervals_of_medians_hold_whatever_the_law_is(law, n):
    """2,000 sets; the limit is the exact binomial one at 1e-6."""
    rng = np.random.default_rng([n, list(LAWS).index(law)])
    first, second = LAWS[law](rng, (2, 2000, n))
    low, high = median_interval(first / (2 * second), 0.95)
    covered = int(((low <= 0.5) & (high >= 0.5)).sum())
    assert stats.binomtest(covered, 2000, 0.95, alternative="less").pvalue > 1e-6


def test_few_runs_have_no_interval():
    found = compare_regrets(made(np.random.default_rng(0).gamma(2.0, size=(1, 2, 5))))
    assert found["ratio_low"][1] == 0 and np.isinf(found["ratio_high"][1])
    assert np.isinf(median_interval(np.arange(5.0), 0.95)).all()
    assert median_interval(np.arange(6.0), 0.95) == (0, 5)


def test_runs_without_regret_are_equal():
    """Both none: a tie. One none: a ratio of 0, or an infinite one."""
    values = np.array([[[0.0, 0, 0, 1, 1, 2, 2], [0.0, 0, 1, 0, 1, 1, 1]]])
    found = compare_regrets(made(values)).isel(policy=1)
    assert found["lower"] == pytest.approx((3 + 3 / 2) / 7)
    assert found["ratio"] == 1
    assert (found["ratio_low"], found["ratio_high"]) == (0, np.inf)
    assert found["p"] == pytest.approx(stats.binomtest(1, 4).pvalue)


def test_rare_runs_move_the_mean_alone():
    """One run in ten has a hundred times the regret."""
    rng = np.random.default_rng(5)
    values = rng.gamma(8.0, size=(1, 2, 20))
    spoilt = values.copy()
    spoilt[0, 1, :2] *= 100
    before, after = (compare_regrets(made(one)).isel(policy=1) for one in (values, spoilt))
    assert after["mean_ratio"] > 5 * before["mean_ratio"]
    assert float(after["ratio"]) == pytest.approx(float(before["ratio"]), rel=0.15)


def test_holm_rejects_what_the_procedure_rejects():
    p = np.array([0.04, 0.001, 0.02, 0.5, 0.012])
    by_hand = [0.08, 0.005, 0.06, 0.5, 0.048]  # 2 * 0.04, 5 * 0.001, 3 * 0.02, 1 * 0.5, 4 * 0.012
    np.testing.assert_allclose(adjusted(p), by_hand)
    for level in (0.003, 0.05, 0.07, 0.6):
        assert (adjusted(p) <= level).sum() == rejected(np.sort(p), level)


def test_of_a_trace_with_one_or_several_problems():
    policies = [bd.policies.Uniform(), bd.policies.WinnerStays()]
    trace = bd.simulate(policies, ["cyclic-4", "mslr-5"], 200, replications=6, seed=0, workers=1)
    found = bd.compare_policies(trace, "WinnerStays")
    assert found["ratio"].sel(policy="Uniform") > 1
    assert np.isnan(found["p"].sel(policy="WinnerStays"))
    one = bd.compare_policies(trace.children["mslr-5"])
    assert one.attrs["reference"] == "Uniform"
    assert one["ratio_low"][1] < one["ratio"][1] < one["ratio_high"][1]
    bars = [bd.plots.plot_policies(each).collections[0].get_segments() for each in (found, one)]
    assert [len(drawn) for drawn in bars] == [0, 2]  # two problems have no interval
    bd.plots.plot_profiles(found)
    with pytest.raises(ValueError, match="reference should be one of"):
        bd.compare_policies(trace, "DTS")
    with pytest.raises(ValueError, match="got a Dataset of P"):
        bd.plots.plot_policies(trace.children["mslr-5"]["problem"].to_dataset())
