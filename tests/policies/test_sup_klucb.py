"""Hand-worked rounds of Sup-KLUCB, its indices, and its absorbing state."""

from math import exp, inf, log

import numpy as np
import pytest
from scipy.special import rel_entr

import bayesduel as bd
from bayesduel.beliefs.kl import largest_within, log_upper_gap
from bayesduel.policies import ConfirmedSupKLUCB, SupKLUCB
from bayesduel.policies.sup_klucb import nth_pair, scores
from tests.support.asking import ask, remembered

pytestmark = pytest.mark.plain


def test_first_every_pair_once_with_the_diagonal():
    trace = bd.simulate(SupKLUCB(), "mslr-5", 15, permute=False)
    wins = trace["trace"]["wins"].isel(policy=0, replication=0, time=-1).values
    np.testing.assert_array_equal(wins + wins.T, 1 - np.eye(5))
    assert (trace["trace"]["self_duels"].isel(time=-1) == 1).all()
    assert [nth_pair(3, n) for n in range(6)] == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]


def test_condorcet_is_another_name_of_copeland():
    names = {"copeland": SupKLUCB(), "condorcet": SupKLUCB(score="condorcet")}
    wins = bd.simulate(names, "mslr-5", 200, replications=2, seed=1)["trace"]["wins"]
    np.testing.assert_array_equal(wins.sel(policy="copeland"), wins.sel(policy="condorcet"))


def test_index_agrees_with_the_inverted_divergence_and_goes_on_where_it_rounds():
    rng = np.random.default_rng(1)
    for _ in range(500):
        p, c = float(rng.uniform(0.001, 0.999)), float(np.exp(rng.uniform(-6, 3)))
        room = log_upper_gap(p, c)
        assert 1 - exp(room) == pytest.approx(largest_within(p, c), abs=1e-13)
        if room > -30:
            q = 1 - exp(room)
            assert rel_entr(p, q) + rel_entr(1 - p, 1 - q) == pytest.approx(c, rel=1e-3)
    assert largest_within(0.9, 5.0) == largest_within(0.9, 6.0) == 1  # both round to 1 ...
    assert log_upper_gap(0.9, 6.0) < log_upper_gap(0.9, 5.0) < -40  # ... but they do not tie
    assert log_upper_gap(1.0, 0.1) == -inf
    assert log_upper_gap(0.0, 0.7) == -0.7


@pytest.mark.parametrize("score", ["copeland", "borda"])
def test_no_larger_index_is_passed_over(score):
    """All indices, one by one: the pair asked has the largest."""
    rng = np.random.default_rng(2)
    policy, n_arms, t = SupKLUCB(score=score), 6, 500
    for _ in range(100):
        wins = rng.integers(1, 9, (n_arms, n_arms)) * (1 - np.eye(n_arms))
        alone = rng.integers(1, 20, n_arms)
        pair, memory = remembered(
            policy, wins, t, prepare=lambda m, own=alone: np.copyto(m.self_duels, own)
        )
        share = wins / np.maximum(wins + wins.T, 1)
        won = (share > 0.5).sum(axis=1) if score == "copeland" else share.sum(axis=1)
        times = wins + wins.T + np.diag(memory.self_duels)
        later = log(t - 21)
        budget = 2 / 6 * later + (3 / 6 + 40 / 16) * log(later + 1)
        rooms = {
            (i, j): log_upper_gap(won[i] * won[j] / 25, budget / times[i, j])
            for i in range(n_arms)
            for j in range(i, n_arms)
        }
        assert rooms[pair] == pytest.approx(min(rooms.values()), rel=1e-12)
        assert list(memory.score) == pytest.approx(won / 5)


def test_a_round_by_hand():
    # K = 3, t = 8: f(2) = 2/3 ln 2 + 41 ln(ln 2 + 1). Shares: 0 beats 1 beats 2 beats 0, each
    # 2 : 1. Scores 1/2 each, every mean 1/4: the pair met least has the largest index.
    wins = np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0.0]])

    def alone(memory):
        memory.self_duels[:] = [2, 4, 4]

    assert ask(SupKLUCB(), wins, 8, prepare=alone) == {(0, 0): 60}

    # All indices exceed 0.9: in steps of 0.1 all six pairs tie.
    coarse = SupKLUCB(index_tolerance=0.1)
    assert len(ask(coarse, wins, 8, prepare=alone)) == 6

    def alone_often(memory):
        memory.self_duels[:] = 4

    # The three pairs tie exactly at n = 3.
    assert set(ask(SupKLUCB(), wins, 8, prepare=alone_often)) == {(0, 1), (0, 2), (1, 2)}


def test_scores():
    belief = SupKLUCB().belief.init(3)
    belief.wins[:] = [[0, 3, 1], [1, 0, 1], [1, 0, 0]]
    np.testing.assert_allclose(scores(belief, True), [0.5, 0.5, 0])
    np.testing.assert_allclose(scores(belief, False), [0.625, 0.625, 0.25])


@pytest.mark.slow
def test_the_absorbing_state():
    """An arm that beats all others in the data is played against itself for ever."""
    wins = np.array([[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0.0]])

    def alone(memory):
        memory.self_duels[:] = 1

    for t in (11, 1000, 10**9):
        assert ask(SupKLUCB(), wins, t, prepare=alone) == {(0, 0): 60}
    trace = bd.simulate(
        SupKLUCB(), "cyclic-4", 4000, replications=40, seed=5, record_at=[2000, 4000]
    )
    regret = bd.regret(trace).isel(policy=0)
    later = regret.isel(time=1) - regret.isel(time=0)
    stuck = later > 0.3 * 2000  # each wrong self-duel costs 2/3
    assert 0 < stuck.sum() < 20
    assert float(later.median()) < 1  # the median hides what the mean shows
    assert float(later.mean()) > 10


def test_a_confirmed_arm_alone_meets_itself():
    """One win against each is absorbing in the literal rule and not confident at any t > 1."""
    wins = np.array([[0, 1, 2, 3], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0.0]])

    def alone(memory):
        memory.self_duels[:] = 1

    assert ask(SupKLUCB(), wins, 100, prepare=alone) == {(0, 0): 60}
    assert ask(ConfirmedSupKLUCB(), wins, 100, prepare=alone) == {(0, 1): 60}
    # At t = 100 a sign is confident from ln 100 + 3 ln ln 100 = 9.19 = 13.25 ln 2 on: 14 of 14.
    wins[0, 1:] = 14
    assert ask(ConfirmedSupKLUCB(), wins, 100, prepare=alone) == {(0, 0): 60}
    wins[0, 2] = 13
    assert ask(ConfirmedSupKLUCB(), wins, 100, prepare=alone) == {(0, 2): 60}


@pytest.mark.slow
def test_no_run_is_absorbed_once_arms_are_confirmed():
    """On the problem, the runs and the times of ``test_the_absorbing_state``."""
    trace = bd.simulate(
        ConfirmedSupKLUCB(), "cyclic-4", 4000, replications=40, seed=5, record_at=[2000, 4000]
    )
    regret = bd.regret(trace).isel(policy=0)
    later = regret.isel(time=1) - regret.isel(time=0)
    assert later.max() < 0.3 * 2000


@pytest.mark.slow
def test_a_coarse_index_explores_longer():
    literal, coarse = bd.policies.SupKLUCB(), bd.policies.SupKLUCB(index_tolerance=0.01)
    trace = bd.simulate([literal, coarse], "cyclic-4", 3000, replications=30, seed=6)
    alone = trace["trace"]["self_duels"].isel(time=-1).sum("arm").mean("replication").values
    assert alone[1] < alone[0]
    assert list(trace["policy"].values) == ["SupKLUCB", "SupKLUCB(index_tolerance=0.01)"]


def test_settings_are_checked():
    with pytest.raises(ValueError, match="n_arms should be at least 3 for SupKLUCB, got 2"):
        SupKLUCB().init(2)
    with pytest.raises(ValueError, match=r"score should be one of .*, got 'elo'"):
        SupKLUCB(score="elo")
    with pytest.raises(ValueError, match=r"index_tolerance should be in \[0, 1\), got 1"):
        SupKLUCB(index_tolerance=1)
    assert log(2) > 0
