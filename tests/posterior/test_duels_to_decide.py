"""How many more duels decide a pair."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.models import BradleyTerry, Davidson, ThurstoneScore
from bayesduel.posterior.duels_to_decide import _needed, _share
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
    information = np.array([[p * (1 - p)]])
    needed = _needed(apart.mean(keepdims=True), information, apart.mean(0), apart.var(0), 1.6449)
    n = np.ceil(needed[0, 0])
    wins = duels.tally().wins.copy()
    wins[1, 2] += round(n * p)
    wins[2, 1] += n - round(n * p)
    again = bd.fit(bd.Duels.from_wins(wins, ["a", "b", "c"]), BradleyTerry(scale=2.0), seed=0)
    after = bd.duels_to_decide(again, [("b", "c")]).iloc[0]
    assert after["beats_probability"] == pytest.approx(0.95, abs=0.01)


def test_near_certainty_a_difference_takes_no_more_duels_than_a_smaller_one():
    """There a duel says nothing of the size of a difference, and its sign takes few duels."""
    apart = np.array([[1.0], [20.0], [-1.0], [-25.0], [3.0], [0.0]])
    information = 1 / (4 * np.cosh(apart / 2) ** 2)
    mean, variance = np.array([0.1]), np.array([1.0])
    needed = _needed(apart, information, mean, variance, 1.6449)
    share = _share(apart, needed, np.argsort(apart, axis=0))
    assert needed[1] > 1e3 * needed[4] and needed[3] > 1e3 * needed[2]
    found = (needed * share).ravel()
    assert found[1] == pytest.approx(found[4]) and found[3] == pytest.approx(found[2])
    np.testing.assert_array_equal(share[[0, 2, 4, 5]], 1.0)


@pytest.mark.parametrize(
    "model", [Davidson(), pytest.param(ThurstoneScore(), marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_more_draws_of_what_differs_beside_the_difference_take_no_fewer_duels(model):
    """And the Monte Carlo errors are those of fits with other seeds."""
    rng = np.random.default_rng(1)
    left = rng.integers(0, 3, 90)
    right = (left + rng.integers(1, 3, 90)) % 3
    margin = np.round(0.3 * (right - left) + rng.normal(0, 1, 90), 1)
    margin[abs(margin) < 0.3] = 0
    points = (np.sign(margin) + 1) / 2
    log = bd.Duels.from_votes(left.astype(str), right.astype(str), points, margin=margin)
    few = [
        bd.duels_to_decide(bd.fit(log, model, draws=500, seed=seed), [("0", "1")]).iloc[0]
        for seed in range(20)
    ]
    many = bd.duels_to_decide(bd.fit(log, model, draws=20_000), [("0", "1")]).iloc[0]
    assert 0 < many["expected_error"] < many["expected"] / 10
    for name in ("expected", "median"):
        values = np.array([row[name] for row in few])
        said = np.sqrt(np.mean([row[f"{name}_error"] ** 2 for row in few]))
        # The standard deviation of 20 normal numbers is within a factor 2 but with 1e-4.
        assert 0.5 < values.std(ddof=1) / said < 2.2
        assert (
            abs(values.mean() - many[name]) < 5 * said / np.sqrt(20) + many[f"{name}_error"] + 0.5
        )


def test_one_win_in_a_duel_without_noise():
    """With d known and v = 1, n I d = z sqrt(1 / v + n I) - m / v; here m = 0, d = 2, z = 1."""
    n = _needed(np.array([[2.0]]), np.array([[0.01]]), np.zeros(1), np.ones(1), 1.0)[0, 0]
    x = (1 + np.sqrt(1 + 16)) / 8
    assert n == pytest.approx(x / 0.01)


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
