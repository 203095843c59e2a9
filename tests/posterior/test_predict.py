"""Predictions against closed forms, and what they refuse."""

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from scipy.special import expit

import bayesduel as bd
from bayesduel.models import (
    BradleyTerry,
    Covariates,
    Davidson,
    DuelCovariates,
    PerturbedThurstone,
    RandomEffects,
    SideAdvantage,
    Thurstone,
    ThurstoneScore,
    TimeVarying,
)
from bayesduel.posterior import predict as predicting
from bayesduel.posterior.conditions import ExtrapolationWarning
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
    model = base + SideAdvantage()
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
    found = predict(fit, ["ash", "cedar"], ["beech", "beech"], side_advantage=advantage)
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


HOME = {"home": ["ash", "beech", "cedar"] * 8, "away": ["beech", "cedar", "ash"] * 8}


@pytest.mark.parametrize("names", [("home", "away"), ("left", "right")])
def test_a_frame_with_the_columns_of_the_log_has_the_advantage_of_the_side(names):
    games = pd.DataFrame(dict(zip(names, HOME.values(), strict=True)))
    games["outcome"] = [*["left"] * 18, *["right"] * 6]
    log = bd.read_duels(games, left=names[0], right=names[1])
    fit = bd.fit(log, BradleyTerry() + SideAdvantage(), draws=100)
    asked = games[:2]
    at_home, neutral = (
        predict(fit, *(asked[name].tolist() for name in names), side_advantage=yes)
        for yes in (True, False)
    )
    assert (at_home["win"] > neutral["win"] + 0.05).all()
    told = predict(fit, asked)
    np.testing.assert_array_equal(told["win"], at_home["win"])
    column = "" if names[0] == "left" else f" (column '{names[0]}')"
    assert told.attrs["sides"] == f"Side advantage: added for the left side{column}."
    refused = predict(fit, asked, side_advantage=False)
    np.testing.assert_array_equal(refused["win"], neutral["win"])
    assert refused.attrs["sides"].endswith("left out.")
    labels = predict(fit, "ash", "beech")
    assert float(labels["win"]) == float(neutral["win"][0]) and "left out" in labels.attrs["sides"]
    if names == ("home", "away"):  # a frame of other columns than those of the log
        other = predict(fit, asked.rename(columns={"home": "left", "away": "right"}))
        np.testing.assert_array_equal(other["win"], neutral["win"])


def test_an_advantage_that_was_not_learned_is_refused():
    fit = tree("bradley-terry", score=np.zeros((5, 3)))
    with pytest.raises(ValueError, match="needs a fit that has learned a side advantage"):
        predict(fit, "ash", "beech", side_advantage=True)


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
    assert predict(fit, *pairs) == whole


@pytest.fixture(scope="module", params=["dates", "numbers"])
def conditional(request):
    """A fit whose model reads a time, two covariates and a column of true and false."""
    n = np.arange(60)
    day = np.datetime64("2024-01-01", "us") + n * np.timedelta64(1, "D")
    duels = bd.Duels.from_votes(
        n % 3,
        (n + 1 + n % 2) % 3,
        (n % 4 > 0) * 1.0,
        time=day if request.param == "dates" else 2.0 * n,
        covariates={"length": np.sin(n).round(1), "lists": n % 5 - 2.0},
        keep={"hard": n % 7 < 3},
    )
    by = "hard" if request.param == "numbers" else None
    terms = Covariates(["length", "lists"], by=by) + TimeVarying(periods=3) + RandomEffects("hard")
    return bd.fit(duels, BradleyTerry() + terms, draws=100)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"length": 3}, "length should be within .* -1 to 1, got 3 .2 duels.: the prediction"),
        ({"length": [0, -3.5]}, "length .* got -3.5"),
        ({"lists": 2}, None),
        ({"lists": 2, "length": 0.5}, None),
        ({"lists": float("nan")}, None),
        ({"time": {"dates": "2023-12-31", "numbers": "-1"}}, "time should be .* first period"),
        ({"time": {"dates": "2024-03-01", "numbers": 119}}, None),
        ({"time": {"dates": np.datetime64("2024-02-29"), "numbers": 118}}, None),
        ({"time": {"dates": "2024", "numbers": "0"}}, None),
        ({"time": None}, None),
    ],
)
@pytest.mark.sampled(3)
def test_a_number_beyond_those_of_the_log_is_warned_of(conditional, given, words):
    kind = "dates" if conditional.posterior["period"].dtype.kind == "M" else "numbers"
    given = {n: v[kind] if isinstance(v, dict) else v for n, v in given.items()}
    given |= {"hard": None} if by_level(conditional) else {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = predict(conditional, ["0", "1"], "2", **given)
    assert np.isfinite(found["win"]).all()
    assert [w.category for w in said] == [ExtrapolationWarning] * (words is not None)
    for warning in said:
        assert re.match(words, str(warning.message)) and Path(warning.filename) == Path(__file__)


def by_level(fit):
    """Return whether effects of covariates are by a level, which a prediction has to say."""
    return fit.duel.model.terms.find(DuelCovariates).by is not None


def test_what_is_not_said_is_neutral(conditional):
    plain = predict(conditional, "0", "1")
    level = {"hard": None} if by_level(conditional) else {}
    for given in ({"lists": 0}, {"length": None}, {"time": None}, {"hard": None}):
        assert predict(conditional, "0", "1", **level | given).equals(plain)
    if level:
        with pytest.raises(ValueError, match="covariates:hard depends on 'hard': say hard="):
            predict(conditional, "0", "1", length=0.5)
    rows = pd.DataFrame({"left": "0", "right": "1", "hard": [True, False], "lists": [1, None]})
    both = predict(conditional, rows)
    for k, given in enumerate(({"hard": "true", "lists": 1}, {"hard": "false"})):
        assert predict(conditional, "0", "1", **given)["win"] == both["win"][k]


def test_times_of_another_kind_are_refused(conditional):
    dated = conditional.posterior["period"].dtype.kind == "M"
    wrong = 3.0 if dated else np.datetime64("2024-02-01")
    with pytest.raises(ValueError, match=f"time should be {'dates' if dated else 'numbers'}"):
        predict(conditional, "0", "1", time=wrong)


@pytest.mark.slow
def test_a_fit_that_xarray_opened_is_predicted_from(tmp_path):
    bd.fit(bd.datasets.load("springall"), draws=100).to_netcdf(tmp_path / "fit.nc")
    code = (
        "import bayesduel as bd, xarray as xr; fit = xr.open_datatree('fit.nc'); "
        "arms = fit['posterior']['arm'].values; print(bd.predict(fit, arms[0], arms[1])['win'])"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_an_unknown_label_is_told_its_neighbour():
    fit = tree("bradley-terry", score=np.zeros((5, 3)))
    with pytest.raises(KeyError, match="arm 'beach' is not in the fit; did you mean 'beech'"):
        predict(fit, "ash", "beach")
    with pytest.raises(KeyError, match="right, row 2 of 2: arm 'beach' is not in the fit"):
        predict(fit, pd.DataFrame({"left": ["ash", "ash"], "right": ["cedar", "beach"]}))
    with pytest.raises(KeyError, match="arm '7' is not in the fit; its arms are 'ash'"):
        predict(fit, 7, "ash")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["ash", "beech"], ["beech", "cedar", "ash"]), "same number of labels.* got 2 and 3"),
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


@pytest.mark.parametrize(
    ("said", "term"), [({"time": 3.0}, "TimeVarying"), ({"prompt": "p1"}, "RandomEffects")]
)
def test_a_condition_that_no_term_reads_names_the_term_that_would(said, term):
    fit = bd.fit(bd.datasets.load("tennis1990"), "bradley-terry")
    with pytest.raises(ValueError, match=f"such as {term}"):
        bd.predict(fit, *fit.duel.arms[:2], **said)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("base", ["davidson", "thurstone"])
@pytest.mark.slow
def test_what_is_taken_for_conditions_that_are_not_given_is_said(base, dated):
    rng = np.random.default_rng(9)
    day = np.arange(60) // 2
    time = np.datetime64("2026-05-01") + day if dated else day
    votes = {
        "left": rng.choice(["a", "b"], 60),
        "right": rng.choice(["c", "d"], 60),
        "outcome": rng.choice(["left", "right", "tie"], 60),
        "time": time,
        "length": rng.normal(size=60).round(2),
    }
    log = bd.read_duels(pd.DataFrame(votes), covariates=["length"])
    model = f"{base} + time:3 + covariate:length"
    fit = bd.fit(log, model, draws=200, method="laplace", clusters=False)
    end = "2026-05-30" if dated else "29"
    length = "'length' (taken: length 0)"
    of_time = f"'time' (taken: the end of the log, {end})"
    assert bd.predict(fit, "a", "c").attrs["not_given"] == f"Not given: {length} and {of_time}."
    assert bd.predict(fit, "a", "c", length=1).attrs["not_given"] == f"Not given: {of_time}."
    ahead = {"length": 1, "time": np.datetime64("2026-06-02") if dated else 31}
    assert "not_given" not in bd.predict(fit, "a", "c", **ahead).attrs
    assert of_time in " ".join(repr(bd.predict(fit, "a", "c")).split())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("term", ["random:group", "random:judge", "random:topic"])
@pytest.mark.parametrize("base", ["bradley-terry", "davidson"])
def test_a_level_of_a_frame_that_the_fit_does_not_know_is_a_new_one(base, term):
    """Duels to come have new prompts: a frame warns of them, a level given by name is refused."""
    rng = np.random.default_rng(1)
    role = term.removeprefix("random:")
    column = {"group": "prompt text", "judge": "annotator", "topic": "topic"}[role]
    votes = pd.DataFrame(
        {
            "left": rng.choice(["a", "b"], 60),
            "right": rng.choice(["c", "d"], 60),
            "outcome": rng.choice(["left", "right", "tie"], 60),
            column: rng.choice(["x", "y", "z"], 60),
        }
    )
    reading = {"keep": ["topic"]} if role == "topic" else {role: column}
    fit = bd.fit(bd.read_duels(votes, **reading), f"{base} + {term}", draws=200, clusters=False)
    ahead = pd.DataFrame({"left": ["a"] * 3, "right": ["c"] * 3, column: ["x", "w", None]})
    with pytest.warns(ExtrapolationWarning, match=f"'w', 1 duel.*a new {role}"):
        found = bd.predict(fit, ahead)
    win = found["win"].to_numpy()
    assert win[1] == win[2] != win[0]
    for name in (role, column):  # the sums over draws are in another order
        assert float(bd.predict(fit, "a", "c", **{name: "x"})["win"]) == pytest.approx(
            win[0], 1e-12
        )
    assert f"{role} by column {column!r}" in found.attrs["given"]
    assert "not_given" not in found.attrs
    assert f"{role} = x." in repr(bd.predict(fit, "a", "c", **{column: "x"}))
    misnamed = bd.predict(fit, ahead.rename(columns={column: "question"}))
    told = f"Not given: {column!r} (taken: a new {role})."
    assert misnamed.attrs["not_given"] == told
    assert misnamed.attrs["not_read"] == "Not read: 'question'."
    assert told in " ".join(repr(misnamed).split())
    plain = bd.predict(fit, "a", "c")
    assert "given" not in plain.attrs and plain.attrs["not_given"] == told
    with pytest.raises(ValueError, match=f"or {role}=None for a new {role}, got 'w'"):
        bd.predict(fit, "a", "c", **{column: "w"})
