"""TOP, active ranking and racing: sure orders, rounds by hand, and when they stop."""

import numpy as np
import pytest

from bayesduel.beliefs import KL, Bernstein, Hoeffding
from bayesduel.policies import PBR
from bayesduel.policies.top_k import ActiveRanking, SelectTop, no_margins, record_margin
from bayesduel.policies.top_k.active_ranking import decide
from bayesduel.policies.top_k.margin_race import radii
from bayesduel.policies.top_k.select_top import most_matches
from tests.support.dealing import play

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(("n_arms", "k"), [(2, 1), (5, 1), (10, 4), (7, 6), (23, 5)])
def test_top_takes_the_k_best_of_a_sure_order(n_arms, k):
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(n_arms)
        rule = SelectTop(k=k, budget=3 * most_matches(n_arms, k))
        margins, memory = play(
            rule, n_arms, rule.budget, lambda i, j, rng, o=order: float(o[i] - o[j]), seed
        )
        taken = rule.scores(margins, memory) == 2
        assert set(order[taken].tolist()) == set(range(n_arms - k, n_arms))
        played = margins.n_duels[0]
        assert played <= rule.budget
        assert played % 3 == 0  # three duels a match
        if k == 1:
            assert played == 3 * (n_arms - 1)


def test_top_counts_matches_by_hand():
    assert most_matches(5, 1) == 4
    # Groups of 3, 3, 2, 2: 6 matches; sorting 4 winners 1 + 2 + 2; three refills of at most
    # 1, 1 and 0 matches, each with an insertion among 3 of at most 2.
    assert most_matches(10, 4) == 6 + 5 + 2 + 6
    # Two groups of 6: 5 matches each; one to sort the winners; one refill of at most 4, and one
    # insertion.
    assert most_matches(12, 2) == 10 + 1 + 4 + 1


def test_active_ranking_stops_when_all_arms_are_placed():
    score = np.array([0.0, 3.0, 1.0, 4.0, 2.0])
    rule = ActiveRanking(k=2)
    margins, memory = play(
        rule, 5, 20_000, lambda i, j, rng: score[i] - score[j] + rng.normal(0, 0.1)
    )
    assert margins.n_duels[0] < 20_000
    np.testing.assert_array_equal(memory.place, [-1, 1, -1, 1, -1])
    assert rule.select(margins, memory, 20_000, np.random.default_rng(0)) == (-1, -1)
    placed = rule.scores(margins, memory)
    assert set(np.argsort(-placed)[:2].tolist()) == {1, 3}


def test_active_ranking_decides_at_four_radii_by_hand():
    """50 duels each with unit variance, delta = 0.1: radius sqrt(2 beta / 50)."""
    inner = np.log(4 / 0.1)
    beta = inner + 0.75 * np.log(inner) + 1.5 * np.log(1 + np.log(25))
    gap = 4 * np.sqrt(2 * beta / 50)
    for factor, place in ((0.99, [0, 0, 0, 0]), (1.01, [1, 1, -1, -1])):
        memory = ActiveRanking(k=2, delta=0.1).init(4)
        memory.duels[:], memory.scatter[:] = 50, 49
        memory.mean[:] = [gap * factor, gap * factor, 0, 0]
        decide(memory)
        assert memory.place.tolist() == place
    memory = ActiveRanking(k=2, delta=0.1).init(4)  # the best is far ahead, the last far behind
    memory.duels[:], memory.scatter[:] = 50, 49
    memory.mean[:] = [9, 0.1, 0, -9]
    decide(memory)
    assert memory.place.tolist() == [1, 0, 0, -1]


def test_active_ranking_keeps_only_the_asking_arms_record():
    rule = ActiveRanking(k=1)
    margins, memory = play(rule, 4, 8, lambda i, j, rng: 1.0)
    rule.scores(margins, memory)  # enters the last duel
    np.testing.assert_array_equal(memory.duels, [2, 2, 2, 2])
    np.testing.assert_array_equal(memory.mean, 1.0)


def race(bernstein=False, delta=0.05, horizon=20_000):
    belief = Bernstein() if bernstein else Hoeffding()
    rule = PBR(criterion="borda", belief=belief, delta=delta, horizon=horizon)
    return rule.on_margins(2, horizon)


@pytest.mark.parametrize("bernstein", [False, True])
def test_racing_stops_when_all_arms_are_placed(bernstein):
    score = np.array([0.0, 3.0, 1.0, 4.0, 2.0])
    rule = race(bernstein)
    margins, memory = play(
        rule, 5, 20_000, lambda i, j, rng: score[i] - score[j] + rng.normal(0, 0.5)
    )
    assert margins.n_duels[0] < 20_000
    np.testing.assert_array_equal(memory.place, [-1, 1, -1, 1, -1])
    placed = rule.scores(margins, memory)
    assert set(np.argsort(-placed)[:2].tolist()) == {1, 3}


def test_a_pair_of_placed_arms_is_not_duelled_again():
    """Arms 3 and 4 are surely in and 0 is surely out; 1 and 2 are still to be told apart."""
    score = np.array([0.0, 9.95, 10.05, 30.0, 40.0])
    rule = PBR(criterion="borda", delta=0.05, horizon=20_000).on_margins(3, 20_000)
    margins, memory = play(rule, 5, 700, lambda i, j, rng: score[i] - score[j] + rng.normal(0, 1))
    np.testing.assert_array_equal(memory.place, [-1, 0, 0, 1, 1])
    assert margins.n[3, 4] == margins.n[0, 3] == margins.n[0, 4] < margins.n[1, 2] - 10


def test_radii_by_hand():
    """Wins alone: n = 4 a pair, all shares 1/2, so that every variance is 1/4."""
    margins = no_margins(3)
    for i in range(3):
        for j in range(i):
            for margin in (0.5, -0.5, 0.5, -0.5):
                record_margin(margins, i, j, margin)
    mean, hoeffding = radii(margins, 3.0, False)
    level = 3 + np.log(2)
    np.testing.assert_array_equal(mean, 0)
    np.testing.assert_allclose(hoeffding[0, 1], np.sqrt(3 / (2 * 4)))
    bernstein = radii(margins, 3.0, True)[1]
    np.testing.assert_allclose(bernstein[0, 1], np.sqrt(level / 8) + 7 * level / (3 * 3))
    np.testing.assert_allclose(rule_budget(), np.log(2 * 9 * 500 / 0.1))
    assert np.isinf(radii(no_margins(3), 3.0, False)[1][0, 1])
    margins = no_margins(3)
    for i, j, margin in ((0, 1, 0.5), (0, 2, 0.5), (0, 2, -0.5)):
        record_margin(margins, i, j, margin)
    # Once is enough for Hoeffding's radius and not for Bernstein's, which needs a variance.
    assert np.isfinite(radii(margins, 3.0, False)[1][0, :]).all()
    assert np.isfinite(radii(margins, 3.0, True)[1][0, :]).tolist() == [True, False, True]


def rule_budget():
    return PBR(criterion="borda", delta=0.1, horizon=500).on_margins(2, 9).init(3).budget


def test_racing_refuses_what_it_cannot_race():
    with pytest.raises(
        ValueError, match="criterion should be 'borda' on score duels, got 'copeland'"
    ):
        PBR().on_margins(2, 100)
    with pytest.raises(ValueError, match=r"Hoeffding\(\) or Bernstein\(\) on score duels"):
        PBR(criterion="borda", belief=KL()).on_margins(2, 100)
    with pytest.raises(ValueError, match="policies should select k = 2 arms"):
        PBR(criterion="borda", k=3).on_margins(2, 100)


@pytest.mark.parametrize("seed", range(6))
def test_a_match_of_top_goes_by_the_sum_of_all_its_margins(seed):
    rule = SelectTop(k=2, budget=3 * most_matches(8, 2))
    told = []

    def margin(i, j, rng):
        told.append((i, j, rng.normal()))
        return told[-1][2]

    margins, memory = play(rule, 8, rule.budget, margin, seed)
    rule.scores(margins, memory)  # enters the last duel
    assert len(told) % 3 == 0
    for match in range(len(told) // 3):
        duels = told[3 * match : 3 * match + 3]
        assert {duel[:2] for duel in duels} == {duels[0][:2]}
        i, j, _ = duels[0]
        assert memory.winners[match] == (i if sum(duel[2] for duel in duels) > 0 else j)


def test_racing_duels_no_pair_more_often_than_the_cap():
    rule = PBR(criterion="borda", cap=3, horizon=1000).on_margins(2, 1000)
    margins, _ = play(rule, 4, 100, lambda i, j, rng: rng.normal())
    np.testing.assert_array_equal(margins.n, 3 * (1 - np.eye(4)))


def test_a_match_of_top_without_a_winner_goes_by_its_coin():
    rule = SelectTop(k=3, budget=2 * most_matches(12, 3))
    pairs = []
    margins, memory = play(rule, 12, rule.budget, lambda i, j, rng: pairs.append((i, j)) or 0.0)
    rule.scores(margins, memory)
    for match, (i, j) in enumerate(pairs[::2]):
        assert memory.winners[match] == (i if memory.coins[match] < 0.5 else j)
