"""Duels that tie, and batches of duels: outcomes, traces, and every policy."""

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner
from scipy import stats

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.problems import (
    FromFit,
    Matrix,
    RandomProblem,
    Replay,
    bradley_terry,
    davidson,
    noise_floor,
)
from tests.contracts.test_policies import FAST, label

pytestmark = pytest.mark.plain
TIED = davidson([1.0, 0.5, 0.0], nu=1.0)


def test_davidsons_problem_is_its_formula():
    """Weights exp(d/2), exp(-d/2) and nu; without ties it is Bradley-Terry to the bit."""
    weights = np.array([np.exp(0.25), np.exp(-0.25), 1.0])
    win, loss, tie = weights / weights.sum()
    assert TIED.ties[0, 1] == TIED.ties[1, 0] == pytest.approx(tie)
    assert TIED.P[0, 1] == pytest.approx(win + tie / 2)
    assert TIED.P[1, 0] == pytest.approx(loss + tie / 2)
    plain = davidson([1.0, 0.5, 0.0], 0.0)
    assert plain.ties is None
    np.testing.assert_array_equal(
        plain.P, 1 / (1 + np.exp(np.subtract.outer([1, 0.5, 0.0], [1, 0.5, 0]).T))
    )


def test_a_coin_gives_each_outcome_its_probability():
    coins = (np.arange(10_000) + 0.5) / 10_000
    found = np.array([TIED.duel((0, 2), coin) for coin in coins])
    assert (found == 0.5).mean() == pytest.approx(TIED.ties[0, 2], abs=2e-4)
    assert found.mean() == pytest.approx(TIED.P[0, 2], abs=2e-4)


def test_a_trace_counts_a_tie_as_half_a_win():
    trace = bd.simulate(bd.policies.Uniform(), TIED, 3000, seed=3, detail="duels", permute=False)
    first, second, won = trace["trace"]["sequence"].values[0, 0].T
    score = np.where(won == -1, 0.5, won)
    wins = np.zeros((3, 3))
    np.add.at(wins, (first, second), score)
    np.add.at(wins, (second, first), 1 - score)
    np.testing.assert_array_equal(trace["trace"]["wins"].isel(time=-1)[0, 0], wins)
    np.testing.assert_array_equal(trace["problem"]["ties"], TIED.ties)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        of_pair = won[((first == i) & (second == j)) | ((first == j) & (second == i))]
        n, tied = len(of_pair), int((of_pair == -1).sum())
        assert stats.binomtest(tied, n, TIED.ties[i, j]).pvalue > 1e-6


@pytest.mark.parametrize("policy", FAST, ids=label)
def test_every_policy_plays_ties_and_batches(policy):
    for problem in (TIED, "cyclic-4"):
        asked = {"seed": 1, "record_at": [60], "workers": 1}
        trace = bd.simulate(policy, problem, 60, batch=7, **asked)["trace"]
        assert trace["wins"].sum() + trace["self_duels"].sum() == 60


def test_a_batch_of_one_gives_the_numbers_without():
    asked = {"horizon": 200, "seed": 1, "workers": 1}
    whole = bd.simulate([bd.policies.DTS(), bd.policies.RUCB()], TIED, **asked)[
        "trace"
    ].to_dataset()
    one = bd.simulate([bd.policies.DTS(), bd.policies.RUCB()], TIED, batch=1, **asked)[
        "trace"
    ].to_dataset()
    xr.testing.assert_identical(one, whole)


def test_a_rule_sees_outcomes_at_the_ends_of_batches_only():
    """Its choices within a batch do not depend on the outcomes of the batch."""
    P = np.array([[0.5, 1.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5]])
    first, second = (
        bd.simulate(bd.policies.RUCB(), M, 40, seed=5, detail="duels", batch=20, permute=False)
        for M in (P, P.T.copy())
    )
    pairs = [trace["trace"]["sequence"].values[0, 0, :, :2] for trace in (first, second)]
    np.testing.assert_array_equal(pairs[0][:20], pairs[1][:20])
    assert (pairs[0][20:] != pairs[1][20:]).any()


ITEMS = (
    (bd.policies.LogisticUCB(), bd.problems.LogisticItems(n_arms=6, n_attributes=3)),
    (bd.policies.TwoPhase(), bd.problems.UnitSphere(n_attributes=3)),
    (bd.policies.LogisticThompson(), bd.problems.UnitSphere(n_attributes=3)),
    (bd.policies.LogisticDuelThompson(), bd.problems.LogisticDuels(n_arms=6, n_attributes=3)),
    (bd.policies.BETCGLM(), bd.problems.LogisticDuels(n_arms=6, n_attributes=3)),
    (bd.policies.MaxInP(), bd.problems.ContextualDuels(n_arms=4, n_attributes=3)),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("policy", "problem"), ITEMS, ids=lambda one: type(one).__name__)
def test_items_are_shown_in_batches(policy, problem):
    """One batch of all steps shows nothing; batches of one are the steps one by one."""
    asked = {"horizon": 60, "replications": 2, "seed": 4, "workers": 1, "record_at": [30, 60]}
    shown = {n: bd.simulate(policy, problem, batch=n, **asked) for n in (1, 7, 60)}
    alone = bd.simulate(policy, problem, **asked)
    xr.testing.assert_identical(shown[1]["trace"].to_dataset(), alone["trace"].to_dataset())
    for trace in shown.values():
        assert np.isfinite(trace["trace"]["worth"]).all()
        assert trace["problem"]["best"].equals(alone["problem"]["best"])
        if "pulls" in trace["trace"] and problem.setting == "items":
            on_table = trace["trace"]["pulls"].sum("item")
            assert (
                (on_table == 60 * problem.shows) | isinstance(problem, bd.problems.UnitSphere)
            ).all()


def test_items_learn_at_the_ends_of_batches_only():
    """With opposite preferences the first batch shows the same pulls, and later ones differ."""
    items = np.random.default_rng(3).standard_normal((8, 3))
    pulls = []
    for sign in (1, -1):
        problem = bd.problems.ItemPulls(items, sign * np.array([3.0, -2.0, 1.0]))
        asked = {"seed": 5, "batch": 20, "permute": False, "workers": 1}
        pulls.append(
            [
                bd.simulate(bd.policies.LogisticThompson(), problem, n, **asked)["trace"][
                    "pulls"
                ].values
                for n in (20, 60)
            ]
        )
    np.testing.assert_array_equal(pulls[0][0], pulls[1][0])
    assert (pulls[0][1] != pulls[1][1]).any()


@pytest.mark.slow
def test_regret_grows_with_the_batch():
    """RUCB on cyclic-4; paired over 20 replications, each ten times the last at least as large."""
    costs = [
        bd.regret(
            bd.simulate(bd.policies.RUCB(), "cyclic-4", 5000, replications=20, seed=1, batch=batch)
        )
        for batch in (1, 10, 100, 1000)
    ]
    means = [cost.isel(time=-1).mean() for cost in costs]
    assert means[0] < means[2] < means[3]


def test_a_family_with_ties_can_be_resumed(tmp_path):
    family = RandomProblem(n_arms=4, generator=bradley_terry, settings=(("nu", 1.0),))
    settings = {"replications": 2, "seed": 1, "batch": 5, "workers": 1}
    trace = bd.simulate(bd.policies.RUCB(), family, 100, **settings)
    kept = bd.simulate(bd.policies.RUCB(), family, 100, out=tmp_path / "trace", **settings)
    again = bd.simulate(bd.policies.RUCB(), family, 100, out=tmp_path / "trace", **settings)
    for other in (kept, again):
        for group in ("trace", "problem"):
            xr.testing.assert_identical(other[group].to_dataset().load(), trace[group].to_dataset())
    with pytest.raises(ValueError, match="Its batch is 5, and this simulation has None"):
        bd.simulate(
            bd.policies.RUCB(), family, 100, out=tmp_path / "trace", **settings | {"batch": 1}
        )


@pytest.mark.slow
def test_ties_do_not_depend_on_the_workers():
    alone, split = (
        bd.simulate(bd.policies.RUCB(), TIED, 100, replications=2, batch=5, workers=n)
        for n in (1, 2)
    )
    xr.testing.assert_identical(split["trace"].to_dataset(), alone["trace"].to_dataset())


def test_logs_and_fits_keep_their_ties():
    log = bd.datasets.load("chess3")
    tally = log.tally()
    problem = Replay(log)
    n = tally.wins + tally.wins.T + tally.ties
    np.testing.assert_allclose(problem.ties, tally.ties / np.maximum(n, 1))
    fit = bd.fit(log, bd.models.Davidson(), draws=100)
    drawn = FromFit(fit, 7)
    theta, tie = (fit.duel.posterior("model")[name][7] for name in ("score", "tie"))
    weights = np.exp([(theta[0] - theta[1]) / 2, (theta[1] - theta[0]) / 2, tie])
    assert drawn.ties[0, 1] == pytest.approx(weights[2] / weights.sum())
    assert FromFit(bd.fit(log, bd.models.BradleyTerry(), draws=100)).ties is None


def test_the_command_line_plays_ties_in_batches():
    asked = ["simulate", "--problem", "bradley_terry(n_arms=4,nu=1)", "--policies", "RUCB"]
    done = CliRunner().invoke(main, [*asked, "--horizon", "50", "--batch", "10", "--workers", "1"])
    assert done.exit_code == 0, done.output
    asked[-1] = "Uniform"
    refused = CliRunner().invoke(main, [*asked, "--horizon", "50", "--k", "2", "--batch", "3"])
    assert "batch should be 1 when k is given, got 3" in refused.output


def test_bad_ties_and_batches_are_refused():
    P = np.array([[0.5, 0.8], [0.2, 0.5]])
    for ties, message in (
        ([[0, 0.5], [0.5, 0]], r"ties should be symmetric, in \[0, 2 min\(P, P.T\)\]"),
        ([[0, 0.1], [0.2, 0]], "ties should be symmetric"),
        ([[0.1, 0.1], [0.1, 0]], "0 on the diagonal, got 0.1"),
        ([0.1], r"ties should have the shape of P, \(2, 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            Matrix(P, ties=ties)
    with pytest.raises(ValueError, match="nu should be >= 0 and finite, got -1"):
        davidson([0.0, 1.0], -1)
    with pytest.raises(ValueError, match="problem should have no ties"):
        noise_floor(TIED, 0.1)
    with pytest.raises(ValueError, match="batch should be a whole number >= 1, got 0"):
        bd.simulate(bd.policies.RUCB(), P, 10, batch=0)
