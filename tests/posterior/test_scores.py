"""Scores with intervals, and ratings on the Elo scale."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.posterior.draws import draws_of
from tests.support.drawn_by_hand import beta_draws, matrix_draws, score_draws, tree


@pytest.fixture(scope="module")
def drawn():
    return np.array([0.0, 1.0, 0.2, -0.8]) + 0.25 * np.random.default_rng(4).normal(size=(2000, 4))


def test_scores_are_differences_from_the_mean(drawn):
    table = bd.scores(tree(score_draws(drawn)))
    assert list(table.index) == ["b", "c", "a", "d"]
    apart = drawn - drawn.mean(1, keepdims=True)
    np.testing.assert_allclose(table.loc[[*"abcd"], "score_mean"], apart.mean(0))
    assert table["score_mean"].sum() == pytest.approx(0, abs=1e-12)
    rating = 1000 + 400 / np.log(10) * table["score_mean"]
    np.testing.assert_allclose(table["rating"], rating)
    assert (table["rating_lower"] < table["rating"]).all()


def test_400_points_are_odds_of_10_to_1():
    table = bd.scores(tree(score_draws(np.tile([np.log(10), 0.0], (200, 1)))))
    assert table.loc["a", "rating"] - table.loc["b", "rating"] == pytest.approx(400)


def test_an_anchor_has_its_points_and_no_interval(drawn):
    table = bd.scores(tree(score_draws(drawn)), anchor="c", points=1500)
    assert table.loc["c", ["rating", "rating_lower", "rating_upper"]].tolist() == [1500] * 3
    apart = drawn[:, 1] - drawn[:, 2]
    assert table.loc["b", "score_mean"] == pytest.approx(apart.mean())
    assert table.loc["b", "score_sd"] == pytest.approx(apart.std())
    assert "difference from c" in table.attrs["sentence"]


def test_what_moves_all_arms_alike_is_not_seen(drawn):
    moved = drawn + 10 * np.random.default_rng(5).normal(size=(2000, 1))
    one, two = (bd.scores(tree(score_draws(s))) for s in (drawn, moved))
    np.testing.assert_allclose(one.to_numpy(), two.to_numpy(), atol=1e-8)


def test_flat_prior_scores_are_maximum_likelihood():
    """The table of choix (ilsr_pairwise) on the shipped log, which uses the same likelihood."""
    import choix

    from bayesduel.models import BradleyTerry

    duels = bd.datasets.load("citations")
    wins = duels.tally("half").wins
    pairs = [(i, j) for i in range(4) for j in range(4) for _ in range(int(2 * wins[i, j]))]
    expected = choix.ilsr_pairwise(4, pairs)
    found = bd.scores(bd.fit(duels, BradleyTerry(scale=np.inf), seed=0)).loc[list(duels.arms)]
    error = found["score_sd"] / np.sqrt(1000)
    assert (abs(found["score_mean"] - (expected - expected.mean())) < 5 * error).all()


def test_margins_have_their_own_unit_and_no_rating():
    duels = bd.datasets.load("icehockey")
    table = bd.scores(bd.fit(duels, "thurstone-score", draws=200, seed=0))
    assert table.attrs["unit"] == "units of the margins"
    assert "rating" not in table


def test_bad_input(drawn):
    fit = tree(score_draws(drawn))
    with pytest.raises(ValueError, match="anchor should be an arm of the log, got 'e'"):
        bd.scores(fit, anchor="e")
    matrix = beta_draws(np.ones((3, 3), int), 50, np.random.default_rng(0))
    with pytest.raises(ValueError, match="one score per arm"):
        bd.scores(tree(matrix_draws(matrix)))


def test_with_two_degrees_of_freedom_or_less_a_score_is_a_median():
    """Student's t has no variance then: the mean of its draws is noise."""
    rng = np.random.default_rng(3)
    left, right = rng.integers(0, 4, 240), rng.integers(1, 4, 240)
    right = (left + right) % 4
    won = rng.random(240) < 1 / (1 + np.exp(0.6 * (left - right)))
    log = bd.Duels.from_votes(
        [f"a{i}" for i in left],
        [f"a{i}" for i in right],
        won,
        judge=[*"x" * 160, *"y" * 40, *"z" * 40],
    )
    fit = bd.fit(log, draws=400)
    degrees = fit["clusters"].dataset["score_degrees_cluster"].sel(clustering="judge").values
    assert (degrees <= 2).all()
    table = bd.scores(fit)
    apart = draws_of(fit, "judge")[0].score
    apart = apart - apart.mean(1, keepdims=True)
    for k in range(4):
        assert table.loc[f"a{k}", "score_mean"] == pytest.approx(np.median(apart[:, k]))
    plain = bd.scores(fit, covariance="model")
    own = draws_of(fit, "model")[0].score
    assert plain.loc["a0", "score_mean"] == pytest.approx((own - own.mean(1)[:, None])[:, 0].mean())
