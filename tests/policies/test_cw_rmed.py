"""CW-RMED and ECW-RMED: their allocations against an independent solver, rounds by hand."""

from math import log, sqrt

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.policies import CWRMED, ECWRMED
from bayesduel.policies.cw_rmed_allocation import (
    broken_row,
    cheapest,
    costs,
    is_sure,
    is_sure_relaxed,
    lacking,
    relaxed,
    repair,
)
from bayesduel.problems import named, uniform
from bayesduel.simulation.regret_lower_bound import slopes_by_winner
from tests.support.asking import remembered
from tests.support.ecw_rmed import divergence_from_half, relaxed_slope

pytestmark = pytest.mark.plain

NAMES = ("cyclic-4", "mslr-5-c3", "mslr-5-c1", "arithmetic-8", "tennis-8", "hudry-13", "sushi-16")


@pytest.mark.parametrize("name", NAMES)
def test_allocations_cost_what_highs_finds(name):
    P = np.array(named(name).P)
    cost = costs(P)
    closed = []
    for i1, slope in slopes_by_winner(P).items():
        x = cheapest(P, cost, i1)
        np.testing.assert_array_equal(x, x.T)
        assert is_sure(P, x, i1)
        assert not is_sure(P, 0.999 * x, i1)
        assert (x * cost).sum() / 2 == pytest.approx(slope, rel=1e-8)
        y = relaxed(P, cost, i1)
        assert is_sure_relaxed(P, y, i1)
        assert is_sure(P, y, i1)  # the smaller set is within the larger
        assert not is_sure_relaxed(P, 0.999 * y, i1)
        closed.append((y * cost).sum() / 2)
    assert min(closed) == pytest.approx(relaxed_slope(P), rel=1e-9)


@pytest.mark.slow
def test_allocations_on_random_problems():
    rng = np.random.default_rng(1)
    for n_arms in (2, 3, 3, 4, 5, 6, 7, 9, 12, 15):
        if n_arms == 2:
            P = np.array([[0.5, 0.7], [0.3, 0.5]])
        else:
            P = np.array(uniform(n_arms, unique_winner=False, rng=rng).P)
        for i1, slope in slopes_by_winner(P).items():
            x = cheapest(P, costs(P), i1)
            assert (x * costs(P)).sum() / 2 == pytest.approx(slope, rel=1e-7)


def test_cyclic_4_by_hand():
    # Arm 0 wins 3, the others 1: a rival lacks 3, of (0, j) twice, (j, i2) once and (0, i2) at
    # two wins. E.g. rival 1: items x_02, x_03, x_31; (A) their sum >= 1; (B) x_01 + the
    # smallest >= 1. By symmetry of the three, x_0j = x and the cycle y: 2x + y >= 1 and
    # x + min(x, y) >= 1. Costs 0.3333 / d(0.6) for x and 0.6667 / d(0.9) for y.
    P = np.array(named("cyclic-4").P)
    assert [lacking(P, 0, j) for j in (1, 2, 3)] == [3, 3, 3]
    a = (1 / 3) / divergence_from_half(0.6)
    b = (2 / 3) / divergence_from_half(0.9)
    candidates = [(x, y) for x in np.linspace(0, 1, 201) for y in np.linspace(0, 1, 201)]
    feasible = [(x, y) for x, y in candidates if 2 * x + y >= 1 and x + min(x, y) >= 1]
    best = min(3 * (a * x + b * y) for x, y in feasible)
    assert slopes_by_winner(P)[0] == pytest.approx(best, rel=1e-9)


def test_the_rule_of_the_direct_duel_needs_a_win():
    """0 beats 2 and ties with 1: against 1 the row of rule (B) is never broken."""
    P, row = np.array([[0.5, 0.5, 0.8], [0.5, 0.5, 0.8], [0.2, 0.2, 0.5]]), np.zeros((3, 3), bool)
    assert broken_row(P, np.zeros((3, 3)), 0, 1, True, row) == np.inf
    assert broken_row(P, np.full((3, 3), 0.3), 0, 2, True, row) == 0.3
    assert np.argwhere(row).tolist() == [[0, 2]]


def test_costs_by_hand_where_a_pair_ties():
    """Wins 2, 1, 1, 1: a tie is no win, and its duels tell nothing."""
    P = np.array(
        [[0.5, 0.6, 0.8, 0.4], [0.4, 0.5, 0.5, 0.9], [0.2, 0.5, 0.5, 0.9], [0.6, 0.1, 0.1, 0.5]]
    )
    cost = costs(P)
    np.testing.assert_allclose(cost, cost.T)
    assert cost[1, 2] == 0
    # Regrets (2 - 3/2) / 3 of 0 with another, and (2 - 1) / 3 of two others.
    assert cost[0, 1] == pytest.approx(0.5 / 3 / divergence_from_half(0.6))
    assert cost[2, 3] == pytest.approx(1 / 3 / divergence_from_half(0.9))


def test_a_programme_without_a_solution_is_refused():
    """s = -1 - x for x, s >= 0."""
    numbers = [np.array(part) for part in ([[-1.0, 0.0]], [-1.0], [2], [0, 1], [1.0, 1.0])]
    with pytest.raises(RuntimeError, match="linear programme of CW-RMED has no solution"):
        repair(*numbers)


def test_first_pairs_that_are_hardly_known():
    pair, _ = remembered(CWRMED(), np.zeros((3, 3)), 1)
    assert pair == (1, 0)
    wins = np.array([[0, 20, 20], [10, 0, 20], [10, 10, 0.0]])
    # alpha sqrt(ln 91) = 6.37 <= 30 and |2/3 - 1/2| > 0.01: on to the list.
    assert 3 * sqrt(log(91)) < 30
    pair, memory = remembered(CWRMED(), wins, 91)
    assert pair == (0, 1)
    assert not memory.current[0, 1]
    wins[1, 2], wins[2, 1] = 15, 15  # an exact tie is too close to call, whatever beta
    assert remembered(CWRMED(beta=0), wins, 91)[0] == (2, 1)
    wins[1, 2], wins[2, 1] = 1, 3  # 4 duels are fewer than 6.3
    assert remembered(CWRMED(beta=0), wins, 65)[0] == (2, 1)


@pytest.mark.parametrize("policy", [CWRMED(), ECWRMED()])
def test_a_sure_winner_meets_itself_and_else_the_list_holds_what_is_lacking(policy):
    def empty(memory):
        memory.current[:] = False

    # Everything is known far beyond ln t: 0 is sure.
    wins = np.array([[0, 400, 400], [100, 0, 400], [100, 100, 0.0]])
    pair, memory = remembered(policy, wins, 1501, prepare=empty)
    assert pair == (0, 0)
    assert not memory.current.any()
    # (0, 1) has had 20 duels: y = 20 d(0.8) / ln t = 0.56 < 1, and either plan wants 1.
    wins[0, 1], wins[1, 0] = 16, 4
    assert 20 * divergence_from_half(0.8) / log(1021) < 1
    pair, memory = remembered(policy, wins, 1021, prepare=empty)
    assert pair == (0, 0)  # the winner itself is always on the list
    assert np.argwhere(memory.current).tolist() == [[0, 1]]


@pytest.mark.slow
def test_exact_skips_what_does_not_matter():
    """On cyclic-4 the exact plan is 1.8 times cheaper than the closed form, and it shows."""
    trace = bd.simulate(
        [CWRMED(), ECWRMED()], "cyclic-4", 30_000, replications=12, seed=3, record_at=[30_000]
    )
    regret = bd.regret(trace).isel(time=-1).mean("replication").values
    assert regret[0] < regret[1]
    assert (trace["trace"]["recommended"] == 0).all()


def test_settings_are_checked():
    for policy in (CWRMED, ECWRMED):
        with pytest.raises(ValueError, match="alpha should be > 0, got 0"):
            policy(alpha=0)
        with pytest.raises(ValueError, match=r"beta should be >= 0, got -0\.1"):
            policy(beta=-0.1)
