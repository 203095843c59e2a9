"""PBR: races by hand, and what they select."""

from math import log

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.policies import PBR, RankEl
from bayesduel.policies.pbr import BORDA, COPELAND, WALK, scores, stationary
from bayesduel.preference import random_walk_scores
from bayesduel.problems import named
from tests.support.asking import remembered
from tests.support.races import listed, over, tallies

pytestmark = pytest.mark.plain


def test_a_round_duels_every_active_pair_once():
    trace = bd.simulate([PBR(), RankEl()], "mslr-5", 10, permute=False)
    for name in ("PBR", "RankEl"):
        wins = trace["trace"]["wins"].sel(policy=name).isel(replication=0, time=-1).values
        np.testing.assert_array_equal(wins + wins.T, 1 - np.eye(5))


def test_copeland_race_by_hand():
    policy = PBR(horizon=1000)
    assert policy.init(4).budget == pytest.approx(log(2 * 16 * 1000 * 1000))
    # 0 surely beats 1 and 2; (0, 3) and the others open: lo = (2, 0, 0, 0), hi = (3, 2, 2, 3).
    pair, memory = remembered(policy, tallies({(0, 1): 0.8, (0, 2): 0.8}), 8401, prepare=over)
    assert not memory.selected.any()
    assert not memory.discarded.any()
    assert listed(memory, pair) == {(0, 3), (1, 2), (1, 3), (2, 3)}
    # With 3 over 1 and 2 as well, hi_1 = hi_2 = 1 < lo_0: they are out, and (1, 2) with them.
    decided = {(0, 1): 0.8, (0, 2): 0.8, (3, 1): 0.8, (3, 2): 0.8}
    pair, memory = remembered(policy, tallies(decided), 16_201, prepare=over)
    assert memory.discarded.tolist() == [False, True, True, False]
    assert listed(memory, pair) == {(0, 3)}
    # For the two best, 0 and 3 are in, and nothing is left to duel.
    pair, memory = remembered(PBR(k=2, horizon=1000), tallies(decided), 16_201, prepare=over)
    assert memory.selected.tolist() == [True, False, False, True]
    assert pair in ((0, 0), (3, 3))


def test_borda_race_by_hand():
    shares = {(0, 1): 0.9, (0, 2): 0.9, (0, 3): 0.9, (1, 2): 0.5, (1, 3): 0.5, (2, 3): 0.5}
    pair, memory = remembered(
        PBR(criterion="borda", horizon=1000), tallies(shares), 1, prepare=over
    )
    assert memory.selected.tolist() == [True, False, False, False]
    assert memory.discarded.tolist() == [False, True, True, True]
    assert pair == (0, 0)


def test_the_answer_and_its_time_stay():
    policy = PBR(criterion="borda", horizon=1000)
    belief, memory = policy.belief.init(4), policy.init(4)
    belief.wins[:] = tallies({(0, 1): 0.9, (0, 2): 0.9, (0, 3): 0.9})
    over(memory)
    for t in (12_301, 12_302, 20_000):
        assert policy.select(belief, memory, t, np.random.default_rng(0)) == (0, 0)
        assert memory.answer.time[0] == 12_300


def test_on_score_duels_the_budget_stands_for_the_horizon():
    race = PBR(criterion="borda").on_margins(2, 500)
    assert (race.horizon, race.delta, race.cap) == (500, 1 / 500, 500)
    race = PBR(criterion="borda", horizon=90, delta=0.1, cap=7).on_margins(2, 500)
    assert (race.horizon, race.delta, race.cap) == (90, 0.1, 7)


def test_scores_of_each_criterion_by_hand():
    """0 beats 1 by 3 : 1, 1 beats 2 by 3 : 1, 2 and 0 are even."""
    belief = PBR().belief.init(3)
    belief.wins[:] = [[0, 3, 1], [1, 0, 3], [1, 1, 0]]
    assert scores(belief, COPELAND).tolist() == [1, 1, 0]
    assert scores(belief, BORDA).tolist() == [1.75, 1.5, 1.25]
    share = np.array([[0.5, 0.75, 0.5], [0.25, 0.5, 0.75], [0.5, 0.25, 0.5]])
    np.testing.assert_allclose(scores(belief, WALK), random_walk_scores(share))


def test_random_walk_scores_are_those_of_preference():
    rng = np.random.default_rng(1)
    for n_arms in (2, 3, 7):
        P = rng.uniform(0.05, 0.95, (n_arms, n_arms))
        P = np.triu(P, 1) + np.tril(1 - P.T, -1) + np.eye(n_arms) / 2
        np.testing.assert_allclose(stationary(P), random_walk_scores(P), atol=1e-12)


def test_random_walk_race_stops_when_the_gap_is_wide():
    wins = np.zeros((3, 3))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        wins[i, j], wins[j, i] = 9e6, 1e6
    pair, memory = remembered(PBR(criterion="random_walk", horizon=1000), wins, 1, prepare=over)
    assert pair == (0, 0)
    pair, memory = remembered(
        PBR(criterion="random_walk", horizon=1000), wins / 1e5, 1, prepare=over
    )
    assert listed(memory, pair) == {(0, 1), (0, 2), (1, 2)}


def test_the_cap_ends_the_race_with_the_best_so_far():
    policy = PBR(k=2, horizon=1000, cap=100)
    wins = np.array([[0, 60, 70, 80], [40, 0, 60, 70], [30, 40, 0, 60], [20, 30, 40, 0.0]])
    pair, memory = remembered(policy, wins, 601, prepare=over)
    assert pair == (0, 0)
    belief = policy.belief.init(4)
    belief.wins[:] = wins
    assert policy.selection(belief, memory).tolist() == [True, True, False, False]


@pytest.mark.slow
def test_errors_are_at_most_delta_and_racing_longer_as_delta_shrinks():
    lengths = []
    for delta in (0.2, 0.002):
        problem = named("flat", n_arms=3, e=0.1)
        trace = bd.simulate(
            PBR(delta=delta), problem, 8000, replications=200, seed=4, record_at=[8000]
        )
        wrong = int((trace["trace"]["recommended"] != 0).sum())
        assert wrong <= stats.binom.isf(1e-6, 200, delta)
        lengths.append(float(trace["trace"]["answered"].mean()))
    assert lengths[1] > 1.1 * lengths[0]


def duels_for_a_random_walk(P, horizon):
    """The duels in all after which the gap exceeds the bound, were the shares the truth."""
    n_arms, law = len(P), random_walk_scores(P)
    ones = np.outer(np.ones(n_arms), law)
    group_inverse = np.linalg.inv(np.eye(n_arms) - (P / P.sum(axis=0)).T + ones) - ones
    gap = np.diff(np.sort(law))[-1]
    radius = gap * P.sum(axis=0).min() / (6 * n_arms * np.abs(group_inverse).max())
    each = np.log(2 * n_arms**2 * horizon**2) / (2 * radius**2)  # delta = 1 / horizon
    return each * n_arms * (n_arms - 1) / 2


@pytest.mark.slow
def test_random_walk_race_lasts_as_long_as_its_bound_says():
    P = np.array([[0.5, 0.9], [0.1, 0.5]])
    expected = duels_for_a_random_walk(P, 20_000)
    trace = bd.simulate(PBR(criterion="random_walk"), P, 20_000, replications=6, record_at=[20_000])
    np.testing.assert_allclose(trace["trace"]["answered"], expected, rtol=0.02)
    # As the docstring tells: far beyond 1e5 on Cyclic-4, where it indeed does not stop.
    assert duels_for_a_random_walk(named("cyclic-4").P, 1e5) == pytest.approx(6 * 526_246, rel=1e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PBR(criterion="elo"), "criterion should be one of"),
        (lambda: PBR(k=0), "k should be at least 1, got 0"),
        (lambda: PBR(k=4, horizon=10).init(4), "n_arms should be more than k = 4, got 4"),
        (lambda: PBR(horizon=0), "horizon should be at least 1, got 0"),
        (lambda: PBR(delta=2), r"delta should be in \(0, 1\), got 2"),
        (lambda: PBR(cap=0), "cap should be at least 1, got 0"),
        (lambda: PBR().init(4), "horizon should be given outside a simulation"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
