"""Policies asked by hand: to ask again changes nothing, and a run is the simulated one."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel import policies
from bayesduel.problems import named
from bayesduel.simulation.replication import label, streams

OF_PAIRS = [getattr(policies, name)() for name in policies.__all__]
OF_PAIRS = [p.for_horizon(150) for p in OF_PAIRS if p.setting == "pairs"]
LAPLACE = bd.DTS(belief=bd.Laplace(bd.models.BradleyTerry(), draws=100))
P = named("cyclic-4").P
ARMS = named("cyclic-4").arms


def played(policy, seed, n_duels, asked_again=0):
    """A run against the coins of a simulation's first replication."""
    run, coins = bd.Study(policy, ARMS, seed=seed), streams(seed, 0)[1]
    for _ in range(n_duels):
        left, right = run.ask()
        for _ in range(asked_again):
            assert run.ask() == (left, right)
        i, j = ARMS.index(left), ARMS.index(right)
        run.tell(left if coins.random() < P[i, j] else right)
    return run


@pytest.mark.parametrize(
    "policy", [*OF_PAIRS, pytest.param(LAPLACE, marks=pytest.mark.slow)], ids=label
)
def test_a_run_is_the_simulated_one_however_often_is_asked(policy):
    horizon = 40 if policy is LAPLACE else 150
    run = played(policy, 5, horizon, asked_again=2)
    trace = bd.simulate(policy, "cyclic-4", horizon, seed=5, permute=False, record_at=[horizon])
    there = trace["trace"].to_dataset().isel(policy=0, replication=0)
    tally = run.duels.tally()
    np.testing.assert_array_equal(tally.wins, there["wins"].isel(time=0))
    assert run.n_duels == horizon
    assert run.recommended == ARMS[int(there["recommended"][0])]
    assert run.answered == bool(there["answered"] >= 0)


def test_an_answer_meets_itself():
    run = bd.Study(bd.SAVAGE(horizon=2000), ["a", "b", "c"], seed=1)
    while not run.answered:
        left, right = run.ask()
        run.tell(min(left, right))
    assert run.ask() == ("a", "a") == (run.recommended,) * 2
    before = run.duels.tally().wins
    run.tell("a")
    np.testing.assert_array_equal(run.duels.tally().wins, before)


def test_ties_are_half_a_win_each():
    run = bd.Study(bd.Uniform(), ["a", "b"])
    assert set(run.ask()) == {"a", "b"}
    run.tell(None)
    assert run.duels.tally().ties[0, 1] == 1


def test_bad_input_is_refused():
    for arms in (["a"], ["a", "a"], ["1", 1], "ab"):
        with pytest.raises(ValueError, match="arms should be at least two different labels"):
            bd.Study(bd.DTS(), arms)
    with pytest.raises(ValueError, match="seed should be a whole number >= 0, got -1"):
        bd.Study(bd.DTS(), "a b".split(), seed=-1)
    for policy in (bd.TwoPhase(), bd.POCBAm(k=1), "DTS"):
        with pytest.raises(TypeError, match="policy should be one of pairs"):
            bd.Study(policy, ["a", "b"])
    with pytest.raises(ValueError, match="horizon should be given"):
        bd.Study(bd.SAVAGE(), ["a", "b"])
    run = bd.Study(bd.DTS(), ["a", "b"])
    with pytest.raises(ValueError, match="tell should follow ask"):
        run.tell("a")
    run.ask()
    with pytest.raises(ValueError, match=r"winner should be '[ab]', '[ab]' or None, got 'c'"):
        run.tell("c")
    with pytest.raises(ValueError, match="log should contain at least one duel"):
        _ = run.duels
