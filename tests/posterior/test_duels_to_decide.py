"""How many more duels decide a pair."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.models import BradleyTerry
from bayesduel.posterior.duels_to_decide import _needed, _no_more_than_smaller
from tests.support.drawn_by_hand import score_draws, tree


@pytest.fixture(scope="module")
def fitted():
    wins = np.array([[0, 33, 34], [17, 0, 26], [16, 24, 0]])
    duels = bd.Duels.from_wins(wins, ["a", "b", "c"])
    return duels, bd.fit(duels, BradleyTerry(scale=2.0), draws=2000, seed=0)


def test_neighbours_are_the_rows(fitted):
    table = bd.duels_to_decide(fitted[1])
    assert list(zip(table["first"], table["second"], strict=True)) == [("a", "b"), ("b", "c")]
    assert table["duels"].tolist() == [50, 50]


def test_a_decided_pair_needs_no_duel(fitted):
    row = bd.duels_to_decide(fitted[1], [("a", "c")]).iloc[0]
    assert row["decided"]
    assert row["beats_probability"] > 0.95
    assert row[["expected", "lower", "median", "upper"]].tolist() == [0, 0, 0, 0]


def test_quantiles_are_ordered_and_confidence_costs_duels(fitted):
    less, more = (bd.duels_to_decide(fitted[1], confidence=c).iloc[1] for c in (0.95, 0.99))
    assert 0 < less["lower"] <= less["median"] <= less["upper"]
    assert less["median"] < more["median"]
    assert less["expected"] < more["expected"]


def test_that_many_duels_decide_the_pair(fitted):
    """The log with the duels of the mean difference, as expected, is as sure as was asked."""
    duels, fit = fitted
    before = bd.duels_to_decide(fit, [("b", "c")]).iloc[0]
    assert not before["decided"]
    score = fit["posterior"]["score"].values[0]
    apart = (score[:, 1] - score[:, 2])[:, None]
    p = 1 / (1 + np.exp(-apart.mean()))
    n = _needed(apart.mean(keepdims=True), np.array([[p * (1 - p)]]), apart.mean(0),
                apart.var(0), 1.6449)[0, 0]  # fmt: skip
    wins = duels.tally().wins.copy()
    wins[1, 2] += round(n * p)
    wins[2, 1] += n - round(n * p)
    again = bd.fit(bd.Duels.from_wins(wins, ["a", "b", "c"]), BradleyTerry(scale=2.0), seed=0)
    after = bd.duels_to_decide(again, [("b", "c")]).iloc[0]
    assert after["beats_probability"] == pytest.approx(0.95, abs=0.01)


def test_near_certainty_a_difference_takes_no_more_duels_than_a_smaller_one():
    """There a duel says nothing of the size of a difference, and its sign takes few duels."""
    apart = np.array([[1.0], [20.0], [-1.0], [-25.0], [3.0], [0.0]])
    needed = np.array([[10.0], [1e8], [12.0], [1e9], [4.0], [np.inf]])
    for side in (1, -1):
        needed = _no_more_than_smaller(needed, side * apart)
    np.testing.assert_array_equal(needed.ravel(), [10, 4, 12, 12, 4, np.inf])


def test_one_win_in_a_duel_without_noise():
    """With d known and v = 1, n I d = z sqrt(1 / v + n I) - m / v; here m = 0, d = 2, z = 1."""
    n = _needed(np.array([[2.0]]), np.array([[0.01]]), np.zeros(1), np.ones(1), 1.0)[0, 0]
    x = (1 + np.sqrt(1 + 16)) / 8
    assert n == np.ceil(x / 0.01)


def test_no_difference_is_never_decided():
    fit = tree(score_draws(np.full((500, 2), 0.3)))
    level = bd.Duels.from_wins([[0, 5], [5, 0]], ["a", "b"])
    fit["constant_data"] = bd.fit(level, seed=0)["constant_data"].dataset
    row = bd.duels_to_decide(fit).iloc[0]
    assert row["equal_probability"] == 1
    assert not row["decided"]
    assert np.isinf(row["lower"])


def test_bad_input(fitted):
    with pytest.raises(ValueError, match="pairs should be pairs of arms of the log"):
        bd.duels_to_decide(fitted[1], [("a", "nobody")])
    with pytest.raises(ValueError, match="confidence should be in"):
        bd.duels_to_decide(fitted[1], confidence=2)
