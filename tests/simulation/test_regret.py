"""Regret is derived from what happened, under the stated formula."""

import json

import matplotlib
import numpy as np
import pytest

import bayesduel as bd
from bayesduel.intervals import median_interval
from bayesduel.problems import LogisticItems, RandomProblem, ScoreDuels, uniform
from bayesduel.simulation.regret import FORMULAS, pair_costs, uniform_slope
from bayesduel.simulation.regret_lower_bound import least_slope

matplotlib.use("Agg")

pytestmark = pytest.mark.plain


@pytest.fixture(scope="module")
def trace():
    policies = [bd.policies.DTS(), bd.policies.Uniform()]
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
    cyclic = bd.simulate(bd.policies.DTS(), "mslr-5-c3", 50, detail="arms")
    with pytest.raises(ValueError, match="'condorcet', but the problem has no Condorcet winner"):
        bd.regret(cyclic, "condorcet")
    with pytest.raises(ValueError, match="detail='pairs'"):
        bd.regret(cyclic, "weak")


def test_arms_suffice_for_sums_over_arms(trace):
    again = bd.simulate(
        [bd.policies.DTS(), bd.policies.Uniform()],
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
    assert labels == [
        "DTS",
        "Uniform",
        "uniform, expected",
        "asymptotic slope C* ln T (no bound), C* = 66.27",
    ]
    bands = len(ax.collections)
    assert bands == 4  # standard error and quartiles of each policy
    mean = bd.regret(trace).sel(policy="DTS").mean("replication")
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), mean)
    assert "dark" in ax.get_title(loc="left")
    twice = bd.plot_regret(trace, "copeland_sum")
    label = twice.get_legend().get_texts()[-1].get_text()
    assert label == "asymptotic slope 2 C* ln T (no bound), C* = 66.27"
    np.testing.assert_allclose(
        twice.get_lines()[-1].get_ydata(), 2 * ax.get_lines()[-1].get_ydata()
    )
    other = bd.plot_regret(trace, "weak", log_regret=True)
    assert "weak" in other.get_ylabel()
    assert other.get_yscale() == "log"
    matplotlib.pyplot.close("all")


def test_the_floor_of_drawn_truths_is_the_mean_one_and_may_be_left_out():
    family = bd.problems.RandomProblem(n_arms=4, generator=bd.problems.uniform)
    drawn = bd.simulate(bd.policies.DTS(), family, 100, replications=3, seed=1)
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
    large = bd.simulate(
        bd.policies.Uniform(), bd.problems.named("linear", n_arms=130), 50, detail="arms"
    )
    last = bd.plot_regret(large).get_legend().get_texts()[-1].get_text()
    assert last == "asymptotic slope C* ln T left out (floor=True)"
    matplotlib.pyplot.close("all")


def test_regrets_far_apart_are_drawn_on_a_log_axis():
    problem = bd.problems.named("arithmetic-8")
    near = bd.simulate(
        [bd.policies.Uniform(), bd.policies.RCS()], problem, 100, replications=2, seed=1
    )
    assert bd.plot_regret(near).get_yscale() == "linear"
    clear = np.array([[0.5, 1.0], [0.0, 0.5]])
    far = bd.simulate(
        [bd.policies.Uniform(), bd.policies.DTS()], clear, 1000, replications=2, seed=1
    )
    ax = bd.plot_regret(far)
    assert ax.get_yscale() == "log"
    assert ax.get_ylim()[0] == 1
    matplotlib.pyplot.close("all")


def test_success_and_opportunity_cost_are_of_every_kind_of_trace():
    """The recommended arm or item, or the selected set, against the truth by hand."""
    P = np.array([[0.5, 0.6, 0.6], [0.4, 0.5, 0.9], [0.4, 0.1, 0.5]])
    trace = bd.simulate(bd.policies.DTS(), P, 60, replications=8, seed=2)
    named = trace["trace"]["recommended"]
    np.testing.assert_allclose(bd.opportunity_cost(trace), np.array([0, 0.5, 1])[named])
    borda = np.array([0.05, 0, 0.4])[named]  # means 0.6, 0.65, 0.25
    np.testing.assert_allclose(bd.opportunity_cost(trace, "borda"), borda, atol=1e-12)
    gaps = np.array([0, 0.1, 0.1])[named]
    np.testing.assert_allclose(bd.opportunity_cost(trace, "condorcet"), gaps, atol=1e-12)
    right = bd.success_rate(trace)
    np.testing.assert_array_equal(right["success"], named == 0)
    drawn = bd.simulate(
        bd.policies.DTS(), RandomProblem(n_arms=3, generator=uniform), 60, replications=4, seed=2
    )
    assert (bd.opportunity_cost(drawn).min("time") >= 0).all()
    assert ((right["low"] <= right["rate"]) & (right["rate"] <= right["high"])).all()

    family = LogisticItems(n_arms=6, n_attributes=2)
    trace = bd.simulate(bd.policies.LogisticThompson(), family, 60, replications=4, seed=2)
    lost = trace["problem"]["best"] - trace["trace"]["recommended_worth"]
    cost = bd.opportunity_cost(trace)
    np.testing.assert_allclose(cost, lost.transpose(*cost.dims))
    np.testing.assert_array_equal(bd.success_rate(trace)["success"], cost <= 1e-9)
    with pytest.raises(ValueError, match="criterion should be None for a trace of items"):
        bd.success_rate(trace, criterion="borda")
    with pytest.raises(ValueError, match="criterion should be 'copeland', 'borda', 'condorcet'"):
        bd.opportunity_cost(bd.simulate(bd.policies.DTS(), P, 5), "elo")

    selection = bd.simulate(bd.policies.Uniform(), P, 60, k=2, seed=2)
    with pytest.raises(ValueError, match="or items, got a trace of a selection"):
        bd.regret(selection)


def test_one_function_plays_pairs_items_and_margins():
    scored = ScoreDuels([[0.0, 1.0], [-1.0, 0.0]], np.ones((2, 2)) - np.eye(2))
    with pytest.raises(ValueError, match=r"k \(how many arms to select\) should be given for"):
        bd.simulate(bd.policies.Uniform(), scored, 10)
    with pytest.raises(ValueError, match="index should be False without k"):
        bd.simulate(bd.policies.DTS(), "cyclic-4", 10, index=True)
    with pytest.raises(ValueError, match="detail should be 'auto' when k is given, got 'arms'"):
        bd.simulate(bd.policies.Uniform(), scored, 10, k=1, detail="arms")
    for trace in (
        bd.simulate(bd.policies.Uniform(), "cyclic-4", 10),
        bd.simulate(bd.policies.Uniform(), scored, 10, k=1),
        bd.simulate(bd.policies.KLUCB(), LogisticItems(n_arms=3, n_attributes=2), 10),
    ):
        assert json.loads(trace.attrs["plan"])["horizon"] == 10
        assert bd.success_rate(trace)["success"].dims == ("policy", "replication", "time")


def gap(P, a, b):
    """What the better of two arms lacks of the best, by the mean of its row."""
    return float(P.mean(1).max() - max(P[a].mean(), P[b].mean()))


def test_a_regret_of_ones_own(trace):
    P = bd.problems.named("mslr-5").P
    costs = np.array([[gap(P, a, b) for b in range(5)] for a in range(5)])
    np.testing.assert_allclose(pair_costs(P, gap), costs)
    values = bd.regret(trace, gap)
    assert values.name == "gap"
    # Uniform play costs the mean over pairs, and a replication differs by chance only.
    uniform_play = values.sel(policy="Uniform").isel(time=-1)
    np.testing.assert_allclose(uniform_play / 600, uniform_slope(P, gap), rtol=0.02)
    assert bd.plot_regret(trace, gap).get_ylabel() == "cumulative gap regret,  gap(P, a, b)"
    with pytest.raises(ValueError, match=r"side\(P, a, b\) should be a finite number and the same"):
        bd.regret(trace, side)
    with pytest.raises(TypeError, match="criterion should be the name of a regret or a function"):
        bd.regret(trace, 3)
    for wrong in ("0.5", None, [1.0, 2.0]):

        def wordy(P, a, b, wrong=wrong):
            return wrong

        with pytest.raises(
            TypeError, match=r"wordy\(P, a, b\) should be a finite number, got"
        ) as got:
            bd.regret(trace, wordy)
        assert str(got.value).endswith(f"got {wrong!r} for (0, 0)")


def side(P, a, b):
    """Depends on the side."""
    return float(a)


def test_differences_of_regret_are_paired(trace):
    found = bd.regret_difference(
        trace=trace, policy="DTS", other="Uniform", criterion="weak", ci_prob=0.9
    )
    values = bd.regret(trace, "weak")
    ours, theirs = values.sel(policy="DTS").values, values.sel(policy="Uniform").values
    expected = median_interval((ours - theirs).T, 0.9)  # tests of its own: test_policy_comparison
    np.testing.assert_allclose(found["difference"], np.median(ours - theirs, axis=0))
    np.testing.assert_allclose(found["mean"], (ours - theirs).mean(axis=0))
    np.testing.assert_allclose((found["low"], found["high"]), expected)
    assert found["lower"].values[-1] == (ours < theirs)[:, -1].mean()
    with pytest.raises(
        ValueError, match=r"other should be one of \['DTS', 'Uniform'\], got 'RUCB'"
    ):
        bd.regret_difference(trace, "DTS", "RUCB")
    one = bd.regret_difference(trace.isel(replication=[0]), "DTS", "Uniform")
    assert np.isneginf(one["low"]).all() and np.isposinf(one["high"]).all()


def test_several_problems_are_one_trace(tmp_path):
    P = bd.problems.named("mslr-5").P
    settings = {"replications": 2, "seed": 3, "record_at": [10, 100]}
    names = ["mslr-5", "mslr-5-c3"]
    alone = [bd.regret(bd.simulate(bd.policies.Uniform(), name, 100, **settings)) for name in names]
    kept = bd.simulate(bd.policies.Uniform(), names, 100, out=tmp_path / "both", **settings)
    for trace in (
        kept,
        bd.open_trace(tmp_path / "both"),
        bd.simulate(bd.policies.Uniform(), names, 100, **settings),
    ):
        values = bd.regret(trace)
        assert values.dims == ("problem", "policy", "replication", "time")
        assert values["problem"].values.tolist() == names
        np.testing.assert_array_equal(values, alone)
        assert bd.success_rate(trace)["rate"].sizes["problem"] == 2
        assert bd.opportunity_cost(trace).sizes["problem"] == 2
    with pytest.raises(
        ValueError, match=r"of one problem, such as trace\['mslr-5'\], got a trace of 2"
    ):
        bd.plot_regret(kept)
    mapped = bd.simulate(bd.policies.Uniform(), {"a": P, "b": "mslr-5"}, 100, **settings)
    np.testing.assert_array_equal(*bd.regret(mapped))
    matrix = bd.simulate(
        bd.policies.Uniform(), P.tolist(), 100, **settings
    )  # a list of rows is one matrix
    np.testing.assert_array_equal(bd.regret(matrix), alone[0])
    for wrong, message in (
        ({"problem": ["mslr-5", "mslr-5"]}, "should have different labels"),
        ({"problem": {}}, "should have different labels"),
        ({"problem": {"a/b": P}}, "should have no slash, got 'a/b'"),
        ({"problem": names, "out": tmp_path / "a.nc"}, "a folder for several problems"),
    ):
        with pytest.raises(ValueError, match=message):
            bd.simulate(bd.policies.Uniform(), horizon=100, **wrong)


def test_the_sequence_of_duels(tmp_path):
    settings = {"replications": 2, "seed": 3, "record_at": [10, 100]}
    policies = [bd.policies.DTS(), bd.policies.PivotIndex()]
    plain = bd.simulate(policies, "mslr-5", 100, **settings)
    noted = bd.simulate(policies, "mslr-5", 100, detail="duels", out=tmp_path / "t.nc", **settings)
    np.testing.assert_array_equal(bd.regret(plain), bd.regret(noted))
    sequence = noted["trace"]["sequence"]
    assert sequence.dims == ("policy", "replication", "duel", "part")
    first, second, won = np.moveaxis(sequence.values, -1, 0)
    wins = np.zeros((2, 2, 5, 5), int)
    at = np.indices(first.shape)[:2]
    apart = first != second
    winner, loser = np.where(won, first, second), np.where(won, second, first)
    np.add.at(wins, (*(one[apart] for one in at), winner[apart], loser[apart]), 1)
    np.testing.assert_array_equal(wins, noted["trace"]["wins"].isel(time=-1))
    with pytest.raises(ValueError, match="for items, got 'duels'"):
        bd.simulate(bd.policies.KLUCB(), LogisticItems(n_arms=20), 10, detail="duels")


@pytest.mark.parametrize("plot", [bd.plot_regret, bd.plot_success])
def test_plots_take_one_problem_of_any_horizon(plot):
    trace = bd.simulate(bd.policies.Uniform(), ["mslr-5", "hudry-13"], 1, workers=1)
    with pytest.raises(ValueError, match="trace should be of one problem"):
        plot(trace)
    low, high = plot(trace["mslr-5"]).get_xlim()  # without a warning
    assert low < high
