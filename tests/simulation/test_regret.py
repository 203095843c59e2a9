"""Regret is derived from what happened, under the stated formula."""

import json

import matplotlib
import numpy as np
import pytest

import bayesduel as bd
from bayesduel.problems import LogisticItems, RandomProblem, ScoreDuels, uniform
from bayesduel.simulation.regret import FORMULAS, pair_costs, uniform_slope
from bayesduel.simulation.regret_lower_bound import least_slope

matplotlib.use("Agg")

pytestmark = pytest.mark.plain


@pytest.fixture(scope="module")
def trace():
    policies = [bd.DTS(), bd.Uniform()]
    return bd.simulate(policies, "mslr-5", 600, replications=3, seed=5, record_at=[1, 10, 300, 600])


def test_costs_by_hand():
    P = np.array([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]])
    # Copeland scores 1, 1/2, 0; gaps to the Condorcet winner 0, 0.1, 0.4; Borda 0.75, 0.55, 0.2.
    by_hand = {
        "copeland": [[0, 0.25, 0.5], [0.25, 0.5, 0.75], [0.5, 0.75, 1]],
        "copeland_sum": [[0, 0.5, 1], [0.5, 1, 1.5], [1, 1.5, 2]],
        "condorcet": [[0, 0.05, 0.2], [0.05, 0.1, 0.25], [0.2, 0.25, 0.4]],
        "condorcet_sum": [[0, 0.1, 0.4], [0.1, 0.2, 0.5], [0.4, 0.5, 0.8]],
        "weak": [[0, 0, 0], [0, 0.1, 0.1], [0, 0.1, 0.4]],
        "strong": [[0, 0.1, 0.4], [0.1, 0.1, 0.4], [0.4, 0.4, 0.4]],
        "borda": [[0, 0.1, 0.275], [0.1, 0.2, 0.375], [0.275, 0.375, 0.55]],
    }
    assert by_hand.keys() == FORMULAS.keys()
    for criterion, costs in by_hand.items():
        np.testing.assert_allclose(pair_costs(P, criterion), costs, atol=1e-12)
        off = ~np.eye(3, dtype=bool)
        assert uniform_slope(P, criterion) == pytest.approx(np.array(costs)[off].mean())


@pytest.mark.parametrize("criterion", FORMULAS)
def test_regret_is_the_sum_of_what_each_duel_cost(trace, criterion):
    P = bd.problems.named("mslr-5").P
    values = bd.regret(trace, criterion)
    assert values.dims == ("policy", "replication", "time")
    assert values.name == criterion
    assert values.attrs["formula"] == FORMULAS[criterion]
    wins = trace["trace"]["wins"].values
    met = np.triu(np.ones((5, 5)), 1) * (wins + np.swapaxes(wins, -1, -2))
    alone = trace["trace"]["self_duels"].values[..., None] * np.eye(5)
    expected = ((met + alone) * pair_costs(P, criterion)).sum((-2, -1))
    np.testing.assert_allclose(values, expected, atol=1e-9)
    assert (np.diff(values, axis=-1) >= -1e-9).all()


def test_names_and_missing_winners_are_refused(trace):
    with pytest.raises(ValueError, match=r"criterion should be one of copeland, .* got 'regret'"):
        bd.regret(trace, "regret")
    cyclic = bd.simulate(bd.DTS(), "mslr-5-c3", 50, detail="arms")
    with pytest.raises(ValueError, match="has a winner of, got 'condorcet'"):
        bd.regret(cyclic, "condorcet")
    with pytest.raises(ValueError, match="detail='pairs'"):
        bd.regret(cyclic, "weak")


def test_arms_suffice_for_sums_over_arms(trace):
    again = bd.simulate(
        [bd.DTS(), bd.Uniform()],
        "mslr-5",
        600,
        replications=3,
        seed=5,
        record_at=[1, 10, 300, 600],
        detail="arms",
    )
    for criterion in ("copeland", "condorcet", "borda"):
        np.testing.assert_array_equal(bd.regret(again, criterion), bd.regret(trace, criterion))
    np.testing.assert_array_equal(again["trace"]["wins"], trace["trace"]["wins"].isel(time=-1))


def test_uniform_play_costs_what_is_drawn(trace):
    regret = bd.regret(trace).sel(policy="Uniform", time=600)
    # 600 duels are 60 whole rounds of 10 pairs: exact.
    slope = uniform_slope(bd.problems.named("mslr-5").P)
    np.testing.assert_allclose(regret, 600 * slope)


def test_figure_has_the_formula_the_floor_and_uniform(trace):
    ax = bd.plot_regret(trace)
    assert FORMULAS["copeland"] in ax.get_ylabel()
    assert ax.get_xscale() == "log"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["DTS", "Uniform", "uniform, expected", "slope C* ln T, C* = 66.27"]
    bands = len(ax.collections)
    assert bands == 4  # standard error and quartiles of each policy
    mean = bd.regret(trace).sel(policy="DTS").mean("replication")
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), mean)
    assert "dark" in ax.get_title(loc="left")
    twice = bd.plot_regret(trace, "copeland_sum")
    label = twice.get_legend().get_texts()[-1].get_text()
    assert label == "slope 2 C* ln T, C* = 66.27"
    np.testing.assert_allclose(
        twice.get_lines()[-1].get_ydata(), 2 * ax.get_lines()[-1].get_ydata()
    )
    other = bd.plot_regret(trace, "weak", log_regret=True)
    assert "weak" in other.get_ylabel()
    assert other.get_yscale() == "log"
    matplotlib.pyplot.close("all")


def test_the_floor_of_drawn_truths_is_the_mean_one_and_may_be_left_out():
    family = bd.problems.RandomProblem(n_arms=4, generator=bd.problems.uniform)
    drawn = bd.simulate(bd.DTS(), family, 100, replications=3, seed=1)
    slopes = [least_slope(P) for P in drawn["problem"]["P"].values]
    assert len(set(slopes)) == 3
    ax = bd.plot_regret(drawn)
    np.testing.assert_allclose(
        ax.get_lines()[-1].get_ydata(), np.mean(slopes) * np.log(drawn["time"])
    )
    assert "mean C*" in ax.get_legend().get_texts()[-1].get_text()
    assert "C*" not in " ".join(
        text.get_text() for text in bd.plot_regret(drawn, floor=False).get_legend().get_texts()
    )
    large = bd.simulate(bd.Uniform(), bd.problems.named("linear", n_arms=130), 50, detail="arms")
    last = bd.plot_regret(large).get_legend().get_texts()[-1].get_text()
    assert last == "slope C* ln T left out (floor=True)"
    matplotlib.pyplot.close("all")


def test_regrets_far_apart_are_drawn_on_a_log_axis():
    problem = bd.problems.named("arithmetic-8")
    near = bd.simulate([bd.Uniform(), bd.RCS()], problem, 100, replications=2, seed=1)
    assert bd.plot_regret(near).get_yscale() == "linear"
    clear = np.array([[0.5, 1.0], [0.0, 0.5]])
    far = bd.simulate([bd.Uniform(), bd.DTS()], clear, 1000, replications=2, seed=1)
    ax = bd.plot_regret(far)
    assert ax.get_yscale() == "log"
    assert ax.get_ylim()[0] == 1
    matplotlib.pyplot.close("all")


def test_success_and_opportunity_cost_are_of_every_kind_of_trace():
    """The recommended arm or item, or the selected set, against the truth by hand."""
    P = np.array([[0.5, 0.6, 0.6], [0.4, 0.5, 0.9], [0.4, 0.1, 0.5]])
    trace = bd.simulate(bd.DTS(), P, 60, replications=8, seed=2)
    named = trace["trace"]["recommended"]
    np.testing.assert_allclose(bd.opportunity_cost(trace), np.array([0, 0.5, 1])[named])
    borda = np.array([0.05, 0, 0.4])[named]  # means 0.6, 0.65, 0.25
    np.testing.assert_allclose(bd.opportunity_cost(trace, "borda"), borda, atol=1e-12)
    gaps = np.array([0, 0.1, 0.1])[named]
    np.testing.assert_allclose(bd.opportunity_cost(trace, "condorcet"), gaps, atol=1e-12)
    right = bd.success_rate(trace)
    np.testing.assert_array_equal(right["success"], named == 0)
    drawn = bd.simulate(
        bd.DTS(), RandomProblem(n_arms=3, generator=uniform), 60, replications=4, seed=2
    )
    assert (bd.opportunity_cost(drawn).min("time") >= 0).all()
    assert ((right["low"] <= right["rate"]) & (right["rate"] <= right["high"])).all()

    family = LogisticItems(n_arms=6, n_attributes=2)
    trace = bd.simulate(bd.LogisticThompson(), family, 60, replications=4, seed=2)
    lost = trace["problem"]["best"] - trace["trace"]["recommended_worth"]
    cost = bd.opportunity_cost(trace)
    np.testing.assert_allclose(cost, lost.transpose(*cost.dims))
    np.testing.assert_array_equal(bd.success_rate(trace)["success"], cost <= 1e-9)
    with pytest.raises(ValueError, match="criterion should be None for a trace of items"):
        bd.success_rate(trace, criterion="borda")
    with pytest.raises(ValueError, match="criterion should be 'copeland', 'borda' or 'condorcet'"):
        bd.opportunity_cost(bd.simulate(bd.DTS(), P, 5), "elo")

    selection = bd.simulate(bd.Uniform(), P, 60, k=2, seed=2)
    with pytest.raises(ValueError, match="trace should be of pairs or items, got one of a select"):
        bd.regret(selection)


def test_one_function_plays_pairs_items_and_margins():
    scored = ScoreDuels([[0.0, 1.0], [-1.0, 0.0]], np.ones((2, 2)) - np.eye(2))
    with pytest.raises(ValueError, match="k, how many arms to select, should be given for"):
        bd.simulate(bd.Uniform(), scored, 10)
    with pytest.raises(ValueError, match="index should be given with k only"):
        bd.simulate(bd.DTS(), "cyclic-4", 10, index=True)
    with pytest.raises(ValueError, match="detail should be 'auto' with k, got 'arms'"):
        bd.simulate(bd.Uniform(), scored, 10, k=1, detail="arms")
    for trace in (
        bd.simulate(bd.Uniform(), "cyclic-4", 10),
        bd.simulate(bd.Uniform(), scored, 10, k=1),
        bd.simulate(bd.KLUCB(), LogisticItems(n_arms=3, n_attributes=2), 10),
    ):
        assert json.loads(trace.attrs["plan"])["horizon"] == 10
        assert bd.success_rate(trace)["success"].dims == ("policy", "replication", "time")
