"""Predictions against closed forms, and what they refuse."""

import json

import numpy as np
import pytest
import xarray as xr
from scipy import stats
from scipy.special import expit

from bayesduel.models import (
    BradleyTerry,
    Davidson,
    OrderEffect,
    PerturbedThurstone,
    Thurstone,
    ThurstoneScore,
)
from bayesduel.posterior import predict as predicting
from bayesduel.posterior.predict import predict

LABELS = ["ash", "beech", "cedar"]


def tree(model: str, settings: str = "{}", **posterior: np.ndarray) -> xr.DataTree:
    dims = {"score": ("arm",), "strength": ("arm",), "theta": ("pair",), "residual": ("pair",)}
    data = {n: (("chain", "draw", *dims.get(n, ())), v[None]) for n, v in posterior.items()}
    fit = xr.DataTree.from_dict({"posterior": xr.Dataset(data, coords={"arm": LABELS})})
    n = len(next(iter(posterior.values())))
    fit.attrs.update(model=model, model_settings=settings, importance_ess=float(n))
    return fit


def test_known_scores_give_known_probabilities():
    fit = tree("bradley-terry", score=np.tile([1.0, 0.0, -1.0], (5, 1)))
    one = predict(fit, "ash", "cedar")
    assert one.sizes == {}
    assert float(one["win"]) == pytest.approx(expit(2))
    assert float(one["win_lower"]) == float(one["win_upper"]) == pytest.approx(expit(2))
    assert float(one["loss"]) == pytest.approx(1 - expit(2))
    assert "tie" not in one
    assert (str(one["left"].values), str(one["right"].values)) == ("ash", "cedar")


def test_sequences_and_one_against_many():
    fit = tree("bradley-terry", score=np.tile([1.0, 0.0, -1.0], (5, 1)))
    two = predict(fit, ["ash", "beech"], ["beech", "cedar"])
    np.testing.assert_allclose(two["win"], expit([1, 1]))
    many = predict(fit, "ash", ["beech", "cedar"])
    np.testing.assert_allclose(many["win"], expit([1, 2]))
    assert many["left"].values.tolist() == ["ash", "ash"]
    np.testing.assert_allclose(predict(fit, np.array(["beech"]), "ash")["win"], expit([-1]))


def test_davidson_has_three_outcomes():
    score, tie = np.tile([1.0, 0.0, -1.0], (5, 1)), np.full(5, np.log(0.5))
    found = predict(tree("davidson", score=score, tie=tie), "ash", "beech")
    weights = np.array([np.exp(0.5), 0.5, np.exp(-0.5)])
    for name, share in zip(("win", "tie", "loss"), weights / weights.sum(), strict=True):
        assert float(found[name]) == pytest.approx(share)


@pytest.mark.parametrize(
    "base",
    [BradleyTerry(), Thurstone(), Davidson(), ThurstoneScore(), PerturbedThurstone()],
    ids=lambda model: model.name,
)
@pytest.mark.parametrize("advantage", [False, True])
def test_the_advantage_of_the_left_side_is_added_under_every_response(base, advantage):
    model = base + OrderEffect()
    score, residual = np.array([1.0, 0.0, -1.0]), np.array([0.3, -0.2, 0.1])  # pairs 01, 02, 12
    order, noise, tie = 0.4, 0.5, np.log(0.5)
    posterior = {
        "score": np.tile(score, (5, 1)),
        "order": np.full(5, order),
        "noise": np.full(5, noise),
        "residual": np.tile(residual, (5, 1)),
        "residual_scale": np.full(5, 0.2),
        "tie": np.full(5, tie),
    }
    fit = tree(model.name, json.dumps(model.settings), **posterior)
    found = predict(fit, ["ash", "cedar"], ["beech", "beech"], left_advantage=advantage)
    difference = np.array([score[0] - score[1], score[2] - score[1]]) + order * advantage
    off = np.array([residual[0], -residual[2]])
    if base.name == "davidson":
        weights = np.stack([np.exp(difference / 2), np.exp(-difference / 2), [0.5, 0.5]])
        win, loss, tied = weights / weights.sum(axis=0)
        np.testing.assert_allclose(found["tie"], tied)
    else:
        win = {
            "bradley-terry": expit(difference),
            "thurstone": stats.norm.cdf(difference),
            "thurstone-score": stats.norm.cdf(difference / noise),
            "perturbed-thurstone": stats.norm.cdf((difference + off) / noise),
        }[base.name]
        loss = 1 - win
    np.testing.assert_allclose(found["win"], win)
    np.testing.assert_allclose(found["loss"], loss)
    if base.response.outcome == "margin":
        middle = difference + (off if base.name == "perturbed-thurstone" else 0.0)
        np.testing.assert_allclose(found["margin"], middle, atol=1e-9)
        half = stats.norm.ppf(0.975) * noise
        np.testing.assert_allclose(found["margin_upper"] - found["margin"], half)
        np.testing.assert_allclose(found["margin"] - found["margin_lower"], half)


def test_an_advantage_that_was_not_learned_is_refused():
    fit = tree("bradley-terry", score=np.zeros((5, 3)))
    with pytest.raises(ValueError, match="learned no advantage of the left side"):
        predict(fit, "ash", "beech", left_advantage=True)


def test_intervals_hold_what_they_say():
    n, law = 20_000, stats.beta(8, 4)
    theta = np.full((n, 3), 0.5)
    theta[:, 1] = law.rvs(n, random_state=np.random.default_rng(0))  # pairs 01, 02, 12
    found = predict(tree("preference-matrix", theta=theta), "ash", "cedar", ci_prob=0.8)
    spread = stats.norm.isf(0.5e-6) * law.std() / np.sqrt(n)
    assert abs(float(found["win"]) - law.mean()) < spread
    k = int(n * 0.1) + 1  # an order statistic's level under the law is Beta(k, n + 1 - k)
    for level in (law.cdf(found["win_lower"]), law.sf(found["win_upper"])):
        assert 1e-6 < stats.beta(k, n + 1 - k).cdf(level) < 1 - 1e-6
    other = predict(tree("preference-matrix", theta=theta), "cedar", "ash", ci_prob=0.8)
    for name in ("", "_lower", "_upper"):
        assert float(other["loss" + name]) == pytest.approx(float(found["win" + name]))


def test_many_duels_are_predicted_in_parts_all_the_same(monkeypatch):
    rng = np.random.default_rng(1)
    fit = tree("bradley-terry", score=rng.normal(size=(50, 3)))
    pairs = rng.permuted(np.tile(LABELS, (40, 1)), axis=1)[:, :2].T.tolist()
    whole = predict(fit, *pairs)
    monkeypatch.setattr(predicting, "CHUNK", 350)
    xr.testing.assert_identical(predict(fit, *pairs), whole)


def test_an_unknown_label_is_told_its_neighbour():
    fit = tree("bradley-terry", score=np.zeros((5, 3)))
    with pytest.raises(KeyError, match="arm 'beach' is not in the fit; the nearest is 'beech'"):
        predict(fit, "ash", ["cedar", "beach"])
    with pytest.raises(KeyError, match="arm '7' is not in the fit; the nearest is"):
        predict(fit, 7, "ash")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["ash", "beech"], ["beech", "cedar", "ash"]), "as many labels.* got 2 and 3"),
        (([], []), "at least one"),
        (("ash", "ash"), "left and right should differ, got 'ash' twice"),
        (("ash", ["cedar", "ash"]), "got 'ash' twice"),
        (("ash", "cedar", 1.0), r"ci_prob should be in \(0, 1\), got 1.0"),
        (("ash", "cedar", 0), r"ci_prob should be in \(0, 1\), got 0"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        predict(tree("bradley-terry", score=np.zeros((5, 3))), *arguments)


def test_what_is_no_fit_is_refused():
    with pytest.raises(TypeError, match=r"fit should be what bayesduel\.fit returned"):
        predict(xr.Dataset(), "ash", "beech")
