"""The matrix of a fit is that of its winners, its predictions and its draws, under any model."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.models import (
    BradleyTerry,
    CategoryEffects,
    CumulativeLogit,
    Davidson,
    PreferenceMatrix,
    RandomEffects,
    SideAdvantage,
    Thurstone,
    ThurstoneScore,
)

ARMS = ("ant", "bee", "cat", "dog")


def played(whole):
    """Return a log with grades, judges, categories and margins; with ties if margins are whole."""
    rng = np.random.default_rng(5)
    n = 240
    i = rng.integers(0, 4, n)
    j = (i + rng.integers(1, 4, n)) % 4
    margin = 2 * (j - i) + 0.8 + 3 * rng.logistic(size=n)
    if whole:
        margin = np.round(margin)
    grade = np.sign(margin) * (1 + (np.abs(margin) > 3))
    return bd.Duels.from_votes(
        np.array(ARMS)[i],
        np.array(ARMS)[j],
        (1 + np.sign(margin)) / 2,
        margin=margin,
        grade=grade,
        judge=rng.integers(0, 8, n),
        category=rng.integers(0, 3, n),
    )


@pytest.fixture(scope="module")
def log():
    return played(whole=True)


MODELS = [
    *(response() for response in (BradleyTerry, Thurstone, Davidson, CumulativeLogit)),
    *(BradleyTerry() + term for term in (SideAdvantage(), CategoryEffects())),
    Davidson() + SideAdvantage() + RandomEffects("judge"),
    PreferenceMatrix(),
    ThurstoneScore(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.filterwarnings(
    "ignore::bayesduel.posterior.dependence.RepeatedVotesWarning"  # of a parameter a pair
)
@pytest.mark.sampled(3)
def test_the_matrix_is_that_of_winners_predictions_and_draws(log, model):
    if isinstance(model, ThurstoneScore):
        log = played(whole=False)  # predictions of whole margins take draws out of P
    fit = bd.fit(log, model, "laplace", draws=200, seed=0)
    mean = bd.preference(fit)
    assert mean.index.name == "arm"
    assert mean.columns.name == "opponent"
    found = bd.winners(fit)
    assert list(mean.index) == list(mean.columns) == list(found["arm"].values[found["order"]])
    drawn = np.concatenate(list(bd.preference_draws(fit))).mean(axis=0)
    for part in ("mean", "lower", "upper"):
        frame = bd.preference(fit, part)
        among = found[f"preference_{part}"].sel(arm=frame.index, opponent=frame.columns)
        np.testing.assert_array_equal(frame, among)
        mirrored = bd.preference(fit, {"lower": "upper", "upper": "lower"}.get(part, part))
        np.testing.assert_allclose(frame + mirrored.T, 1.0, atol=1e-12)
    np.testing.assert_allclose(mean.loc[list(log.arms), list(log.arms)], drawn, atol=1e-6)
    predicted = bd.predict(fit, ["ant"] * 3, list(ARMS[1:]), side_advantage=False)
    points = predicted["win"] + (predicted["tie"] / 2 if "tie" in predicted else 0.0)
    np.testing.assert_allclose(mean.loc["ant", list(ARMS[1:])], points, atol=1e-6)


def test_the_matrix_of_a_level_and_with_another_interval(log):
    fit = bd.fit(log, BradleyTerry() + CategoryEffects(), "laplace", draws=200)
    chosen = bd.preference(fit, at={"category": "1"})
    again = bd.preference(bd.estimand(fit, at={"category": "1"}))
    np.testing.assert_array_equal(chosen, again)
    assert not np.allclose(chosen, bd.preference(fit).loc[chosen.index, chosen.columns])
    wide = bd.preference(fit, "upper", ci_prob=0.99)
    narrow = bd.preference(fit, "upper", ci_prob=0.5).loc[wide.index, wide.columns]
    apart = ~np.eye(4, dtype=bool)
    assert (wide.to_numpy() > narrow.to_numpy())[apart].all()


def test_the_room_is_still_the_room(log):
    assert bd.preference.kemeny is bd.preference.kemeny
    P = bd.preference_matrix(bd.fit(log, "bradley-terry", draws=200))
    assert bd.preference.condorcet_winner(P) == 0
    assert bd.preference_matrix is not bd.preference


def test_bad_input(log):
    with pytest.raises(TypeError, match=r"fit should be what bayesduel\.fit returned"):
        bd.preference(log)
    with pytest.raises(ValueError, match="part should be 'mean', 'lower' or 'upper', got 'median'"):
        bd.preference(bd.fit(log, "bradley-terry", draws=200), "median")
