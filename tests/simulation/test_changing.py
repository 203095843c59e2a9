"""Every kind of changing problem under several policies: workers, resumption, regret, commands."""

import json

import matplotlib
import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.problems import (
    Matrix,
    PiecewiseStationary,
    RandomChanges,
    RandomProblem,
    ScoreWalk,
    bradley_terry,
    fixed_gap,
)
from bayesduel.simulation.regret import FORMULAS, pair_costs, uniform_regret
from bayesduel.simulation.replication import streams
from bayesduel.simulation.trace import StoredTrace

matplotlib.use("Agg")
pytestmark = pytest.mark.plain

HORIZON, RUNS = 150, 2
POLICIES = [
    *(
        bd.policies.Uniform(),
        bd.policies.VersatileDB(),
        bd.policies.BeatTheWinnerReset(),
        bd.policies.DTS(),
    ),
    *(
        bd.policies.DETECT(window=8, threshold=2.0),
        bd.policies.MDB(gamma=0.5, window=8, threshold=2.0),
    ),
]
PROBLEMS = {
    "known": PiecewiseStationary(["mslr-5", "mslr-5-c3", "mslr-5-c1"], [2, 90]),
    "drawn": RandomChanges(family=RandomProblem(n_arms=5, generator=bradley_terry)),
    "drift": ScoreWalk(n_arms=5, n_changes=20),
    "adversary": RandomChanges(family=RandomProblem(n_arms=5, generator=fixed_gap), n_changes=40),
}
TEXTS = {
    "known": "PiecewiseStationary(['mslr-5','mslr-5-c3','mslr-5-c1'],[2,90])",
    "drawn": "RandomChanges(n_changes=4,family=bradley_terry(n_arms=5))",
    "drift": "ScoreWalk(n_arms=5,n_changes=20)",
    "adversary": "RandomChanges(family=fixed_gap(n_arms=5),n_changes=40)",
}
SETTINGS = {"replications": RUNS, "seed": 3, "progress": False}
each = pytest.mark.parametrize("name", PROBLEMS)


@pytest.fixture(scope="module")
def traces():
    settings = SETTINGS | {"detail": "duels", "workers": 1}
    return {n: bd.simulate(POLICIES, p, HORIZON, **settings) for n, p in PROBLEMS.items()}


def notions(name):
    """The regrets that have a winner in every segment."""
    everywhere = ("copeland", "copeland_sum", "borda")
    return FORMULAS if name in ("drawn", "drift") else everywhere


@each
@pytest.mark.sampled(2)
def test_each_duel_costs_by_the_matrix_in_force(name, traces):
    trace = traces[name]
    truth = trace["problem"].to_dataset()
    P, start = (np.broadcast_to(truth[k], (RUNS, *truth[k].shape[-n:])) for k, n in DIMS)
    duel = np.arange(1, HORIZON + 1)
    for criterion in (*notions(name), gap):
        found = bd.regret(trace, criterion)
        for r in range(RUNS):
            at = np.searchsorted(start[r], duel, side="right") - 1
            a, b, _ = np.moveaxis(trace["trace"]["sequence"].values[:, r], -1, 0)
            paid = np.cumsum(pair_costs(P[r], criterion)[at, a, b], axis=-1)
            np.testing.assert_allclose(found[:, r], paid[:, trace["time"].values - 1], atol=1e-9)


DIMS = (("P", 3), ("start", 1))


def gap(P, a, b):
    """A regret of one's own."""
    return abs(P[a, b] - 0.5)


@each
@pytest.mark.sampled(4)
def test_two_workers_and_a_resumed_trace_are_the_same(name, traces, tmp_path, monkeypatch):
    settings = SETTINGS | {"detail": "duels", "out": tmp_path / "trace.zarr"}
    write, written = StoredTrace.write, []

    def until_the_third(self, *run):
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(run[:2])
        write(self, *run)

    monkeypatch.setattr(StoredTrace, "write", until_the_third)
    with pytest.raises(KeyboardInterrupt):
        bd.simulate(POLICIES, PROBLEMS[name], HORIZON, workers=1, **settings)
    monkeypatch.setattr(StoredTrace, "write", write)
    bd.simulate(POLICIES, PROBLEMS[name], HORIZON, workers=2, **settings)
    again = bd.open_trace(settings["out"])
    for group in ("trace", "problem"):
        xr.testing.assert_identical(
            again[group].to_dataset().load(), traces[name][group].to_dataset()
        )
    other = Matrix(PROBLEMS["known"].P[0])
    with pytest.raises(ValueError, match="trace of the same simulation"):
        bd.simulate(POLICIES, other, HORIZON, **settings)


@each
@pytest.mark.sampled(2)
def test_the_trace_of_arms_the_command_and_the_figure_agree(name, traces, tmp_path):
    policies = POLICIES[:3]
    arms = bd.simulate(policies, PROBLEMS[name], HORIZON, detail="arms", workers=1, **SETTINGS)
    notion = notions(name)[-1] if name == "known" else "borda"
    expected = bd.regret(traces[name], notion).isel(policy=slice(3))
    np.testing.assert_allclose(bd.regret(arms, notion), expected, atol=1e-9)
    args = ["simulate", "--problem", TEXTS[name]]
    args += ["--policies", ",".join(type(policy).__name__ for policy in policies)]
    args += ["--horizon", str(HORIZON), "--replications", str(RUNS), "--seed", "3", "--json"]
    told = CliRunner().invoke(main, [*args, "--workers", "1", "--regret", notion])
    rows = json.loads(told.output)["policies"]
    last = expected.isel(time=-1).mean("replication")
    np.testing.assert_allclose([row["mean"] for row in rows], last, rtol=1e-6)
    ax = bd.plot_regret(traces[name], notion)
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    np.testing.assert_array_equal(lines["uniform, expected"], uniform_regret(arms, notion))
    np.testing.assert_allclose(lines["Uniform"][-1], last[0])
    matplotlib.pyplot.close("all")


def test_a_winner_that_a_segment_lacks_is_refused_by_name(traces):
    with pytest.raises(ValueError, match=r"'weak', but the matrix P\[1\] of the problem has no"):
        bd.regret(traces["known"], "weak")
    with pytest.raises(ValueError, match=r"'condorcet', but the matrix P\[0, \d+\] of the"):
        bd.regret(traces["adversary"], "condorcet")
    args = ["simulate", "--policies", "DTS", "--horizon", "9", "--problem", TEXTS["known"]]
    told = CliRunner().invoke(main, [*args, "--regret", "strong"])
    assert told.exit_code != 0


def test_uniform_play_costs_what_is_expected():
    settings = SETTINGS | {"replications": 30, "record_at": [1, 60, 150], "workers": 1}
    trace = bd.simulate(bd.policies.Uniform(), PROBLEMS["known"], HORIZON, **settings)
    mean = bd.regret(trace).mean("replication").values[0]
    np.testing.assert_allclose(mean, uniform_regret(trace), rtol=0.02, atol=0.2)


def test_the_choice_is_judged_by_the_segment_it_is_made_in():
    """The best of the first segment is the worst of the second."""
    P = bd.problems.named("linear", n_arms=4).P
    problem = PiecewiseStationary([P, P[::-1, ::-1]], [801])
    trace = bd.simulate(bd.policies.Uniform(), problem, 801, record_at=[800, 801], seed=1)
    assert trace["trace"]["recommended"].values.tolist() == [[[0, 0]]]
    assert bd.opportunity_cost(trace).values.tolist() == [[[0, 1]]]
    assert bd.success_rate(trace)["rate"].values.tolist() == [[1, 0]]


def test_equal_segments_are_the_stationary_problem():
    """The same duels, and the same regret, whatever the segments."""
    P = bd.problems.named("mslr-5").P
    settings = SETTINGS | {"workers": 1}
    plain = bd.simulate(POLICIES[2:], Matrix(P), HORIZON, **settings)
    for changes in ([100], [2, 3, 149]):
        problem = PiecewiseStationary([P] * (len(changes) + 1), changes)
        trace = bd.simulate(POLICIES[2:], problem, HORIZON, **settings)
        np.testing.assert_array_equal(trace["trace"]["wins"], plain["trace"]["wins"])
        for criterion in ("copeland", "weak"):
            np.testing.assert_allclose(bd.regret(trace, criterion), bd.regret(plain, criterion))


def test_changes_after_the_horizon_never_come():
    problem = PiecewiseStationary(["mslr-5", "mslr-5-c3"], [200])
    trace = bd.simulate(bd.policies.Uniform(), problem, 150, seed=3)
    plain = bd.simulate(bd.policies.Uniform(), "mslr-5", 150, seed=3)
    np.testing.assert_allclose(bd.regret(trace), bd.regret(plain))


def test_drawn_changes_are_those_of_the_replication(traces):
    for name in ("drawn", "drift", "adversary"):
        problem = PROBLEMS[name].for_horizon(HORIZON)
        truth = traces[name]["problem"].to_dataset()
        for r in range(RUNS):
            one = problem.draw(streams(3, r)[0])
            np.testing.assert_array_equal(truth["P"][r], one.P)
            assert truth["start"][r].values.tolist() == list(one.starts)


def test_the_k_best_of_preferences_that_change_are_refused():
    for problem in (PROBLEMS["known"], PROBLEMS["drift"]):
        with pytest.raises(ValueError, match="preferences that do not change when k is given, got"):
            bd.simulate(bd.policies.SelectTop(), problem, 100, k=2)


@pytest.mark.slow
def test_resets_pay_where_the_winner_changes():
    """Four changes in 200,000 duels: DETECT pays less weak regret than the policy in it."""
    family = RandomProblem(n_arms=5, generator=bradley_terry, settings=(("sd", 1.5),))
    policies = [bd.policies.DETECT(change=0.6), bd.policies.WinnerStays()]
    trace = bd.simulate(
        policies, RandomChanges(family=family), 200_000, replications=20, seed=1, detail="pairs",
        record_at=[200_000],
    )  # fmt: skip
    first, second = bd.regret(trace, "weak").mean("replication").values[:, -1]
    assert first < second / 3


@pytest.mark.parametrize("batch", [7, 50, 1000])
def test_a_change_within_a_batch_shows_no_outcome_and_moves_no_batch(batch):
    """Equal segments in batches are the stationary problem in these batches, tallies too."""
    P = bd.problems.named("cyclic-4").P
    asked = {"replications": 2, "seed": 3, "batch": batch, "workers": 1, "detail": "pairs"}
    changing = PiecewiseStationary([P, P, P], [20, 33])
    whole, parts = (
        bd.simulate([bd.policies.RUCB(), bd.policies.DTS()], one, 120, **asked)
        for one in (P, changing)
    )
    for name in ("wins", "duels", "recommended"):
        np.testing.assert_array_equal(whole["trace"][name], parts["trace"][name])
    before = parts["trace"]["duels_before"].sum("arm")
    np.testing.assert_array_equal(before, np.broadcast_to([0, 2 * 19, 2 * 32], before.shape))
