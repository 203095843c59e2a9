"""RMED1 and RMED2 by hand, and their sums against the definition."""

from math import ceil, log

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.beliefs import record, shares
from bayesduel.beliefs.kl import divergence_from_half
from bayesduel.policies import RMED1, RMED2, RMED2FH
from bayesduel.policies.rmed import CURRENT, DRAWN
from bayesduel.problems import named
from tests.support.asking import ask, remembered

pytestmark = pytest.mark.plain


def divergences(wins):
    """I_i by its definition."""
    n = wins + wins.T
    total = np.zeros(len(wins))
    for i in range(len(wins)):
        for j in range(len(wins)):
            if i != j and n[i, j] > 0 and wins[i, j] / n[i, j] <= 0.5:
                total[i] += n[i, j] * divergence_from_half(wins[i, j] / n[i, j])
    return total


def test_first_every_pair_once():
    trace = bd.simulate([RMED1(), RMED2()], "mslr-5", 10, permute=False)
    for name in ("RMED1", "RMED2"):
        wins = trace["trace"]["wins"].sel(policy=name).isel(replication=0, time=-1).values
        np.testing.assert_array_equal(wins + wins.T, 1 - np.eye(5))


@pytest.mark.parametrize("policy", [RMED1(), RMED2(alpha=5)], ids=repr)
def test_the_first_pair_that_lacks_duels_comes_first(policy):
    """By a search from the start, where the policy goes on from the last."""
    P = named("linear", n_arms=6).P
    belief, memory = policy.belief.init(6), policy.init(6)
    rng, coins = np.random.default_rng(1), np.random.default_rng(2)
    forced, main_step = 0, False
    for t in range(1, 400):
        due = 1.0
        if main_step and isinstance(policy, RMED2) and t >= 3:
            due = 5 * log(log(t))
        met = belief.wins + belief.wins.T
        lacking = [(i, j) for i in range(6) for j in range(i + 1, 6) if met[i, j] < due]
        pair = policy.select(belief, memory, t, rng)
        if lacking:
            assert pair == lacking[0]
            forced += 1
        main_step = main_step or met[np.triu_indices(6, 1)].min() >= 1
        record(belief, pair, float(coins.random() < P[pair]))
    assert forced == 15 if type(policy) is RMED1 else forced > 60


WINS = np.array([[0, 60, 50, 70], [40, 0, 55, 30], [50, 45, 0, 60], [30, 70, 40, 0.0]])


def test_the_list_goes_round_and_everyone_meets_the_likely_winner():
    policy = RMED1()
    # I = (0 [the tie with 2 costs nothing], I_1, I_2, I_3): 0 is the likely winner i*.
    total = divergences(WINS)
    assert total[0] == 0
    assert (total[1:] > 0).all()
    # The first of the list is arm 0. Its opponents O = {2} (share 1/2) do not hold i* = 0, and
    # are not empty, so it meets the one it does worst against: 2.
    pair, memory = remembered(policy, WINS, 491)
    np.testing.assert_allclose(memory.divergence, total)
    assert pair == (0, 2)
    for arm, expected in ((1, 0), (2, 0), (3, 0)):

        def drawn(memory, arm=arm):
            memory.place[DRAWN] = arm - 1
            memory.lists[1, :arm] = False

        assert ask(policy, WINS, 491, prepare=drawn, seeds=range(5)) == {(arm, expected): 5}


def test_a_new_list_holds_who_may_still_win():
    def last(memory):
        memory.place[DRAWN] = 3
        memory.lists[1, :] = False

    _, memory = remembered(RMED1(), WINS, 491, prepare=last)
    allowed = divergences(WINS) <= log(490) + 0.3 * 4**1.01
    assert allowed.tolist() == [True, False, True, False]
    np.testing.assert_array_equal(memory.lists[CURRENT], allowed)


def test_a_sure_winner_meets_itself():
    wins = np.array([[0, 90, 80, 70], [10, 0, 55, 30], [20, 45, 0, 60], [30, 70, 40, 0.0]])
    assert ask(RMED1(), wins, 601) == {(0, 0): 60}


def test_rmed2_takes_the_cheapest_refutation():
    # Arm 3 loses to 0 (0.45) and, far more clearly, to 1 (0.1). With p_03 = 0.55, p_01 = 0.55:
    # b = 0: (0.55 + 0.5 - 1) / d(0.45) = 9.98; b = 1: (0.55 + 0.55 - 1) / d(0.1) = 0.27.
    wins = np.array([[0, 55, 55, 55], [45, 0, 60, 90], [45, 40, 0, 50], [45, 10, 50, 0.0]])

    def before_3(memory):
        memory.place[DRAWN] = 2
        memory.lists[1, :3] = False

    assert ask(RMED2(), wins, 601, prepare=before_3, seeds=range(5)) == {(3, 1): 5}
    assert ask(RMED1(), wins, 601, prepare=before_3, seeds=range(5)) == {(3, 0): 5}
    # Unless the likely winner has been met too seldom: N_30 < N_31 / ln ln t.
    seldom = wins.copy()
    seldom[0, 3], seldom[3, 0] = 11, 9
    assert ask(RMED2(), seldom, 601, prepare=before_3, seeds=range(5)) == {(3, 0): 5}


def test_rmed2fh_opens_by_its_horizon_and_keeps_its_opponents():
    trace = bd.simulate(RMED2FH(horizon=1000), "mslr-5", 60, permute=False)
    wins = trace["trace"]["wins"].isel(policy=0, replication=0, time=-1).values
    np.testing.assert_array_equal(wins + wins.T, 6 * (1 - np.eye(5)))  # ceil(3 ln ln 1000)
    wins = np.array([[0, 55, 55, 55], [45, 0, 60, 90], [45, 40, 0, 50], [45, 10, 50, 0.0]])

    def before_3(memory):
        memory.place[DRAWN] = 2
        memory.lists[1, :3] = False

    pair, memory = remembered(RMED2FH(horizon=601), wins, 601, prepare=before_3)
    assert pair == (3, 1)  # as RMED2
    assert memory.cheapest[3] == 1

    def kept(memory):
        before_3(memory)
        memory.cheapest[:] = [-1, 0, 1, 0]

    assert remembered(RMED2FH(horizon=601), wins, 601, prepare=kept)[0] == (3, 0)


def test_rmed2fh_leaves_an_opponent_that_the_arm_has_come_to_beat():
    """3 beats 0, its cheapest opponent after the opening, by now: 1 refutes it instead."""
    wins = np.array([[0, 55, 55, 48], [45, 0, 60, 90], [45, 40, 0, 50], [52, 10, 50, 0.0]])

    def kept(memory):
        memory.place[DRAWN] = 2
        memory.lists[1, :3] = False
        memory.cheapest[:] = [-1, 0, 0, 0]

    assert remembered(RMED2FH(horizon=601), wins, 601, prepare=kept)[0] == (3, 1)


def test_rmed2_keeps_every_pair_at_its_floor():
    policy, P = RMED2(alpha=3.0), named("mslr-5").P
    belief, memory = policy.belief.init(5), policy.init(5)
    rng, coins = np.random.default_rng(0), np.random.default_rng(1)
    for t in range(1, 3001):
        i, j = policy.select(belief, memory, t, rng)
        if t > 100:
            n = (belief.wins + belief.wins.T)[np.triu_indices(5, 1)]
            floor = ceil(3 * log(log(t)))
            assert n.min() >= floor - 1
            assert n.min() >= floor or belief.wins[i, j] + belief.wins[j, i] < floor
        record(belief, (i, j), float(coins.random() < P[i, j]))
    policy.select(belief, memory, 3001, rng)
    np.testing.assert_allclose(memory.divergence, divergences(belief.wins), rtol=1e-12)
    assert shares(belief)[0, 4] > 0.5


def test_settings_are_checked():
    for policy in (RMED1, RMED2):
        with pytest.raises(ValueError, match="slack should be >= 0, got -1"):
            policy(slack=-1)
    with pytest.raises(ValueError, match="alpha should be > 0, got 0"):
        RMED2(alpha=0)
    with pytest.raises(ValueError, match="horizon should be finite, got inf"):
        RMED2FH(horizon=float("inf"))
    with pytest.raises(ValueError, match="horizon should be given outside a simulation"):
        RMED2FH().init(3)
