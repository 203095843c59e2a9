"""Conditions of duels to come: what is read, what is missing, and what is taken instead."""

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner
from scipy.special import expit

import bayesduel as bd
from bayesduel import models
from bayesduel.cli import main
from bayesduel.models import (
    BradleyTerry,
    CategoryEffects,
    Covariates,
    DuelCovariates,
    JudgeReliability,
    JudgeTastes,
    RandomEffects,
    SideAdvantage,
    Sources,
    Term,
    TimeVarying,
    Touch,
)
from bayesduel.models.term import Part
from bayesduel.posterior.conditions import ExtrapolationWarning
from bayesduel.posterior.predict import notes, predict

N = 240


@dataclass(frozen=True)
class Warmth(Term):
    """A term of one's own: left out of a duel that does not say how warm it was."""

    name: ClassVar[str] = "warmth"
    parameter: ClassVar[str] = "warmth_effect"
    reads: ClassVar[tuple[str, ...]] = ("warm",)
    reads_order: ClassVar[bool] = True

    def columns(self, log: Any) -> dict[str, np.ndarray]:
        place = log.votes.covariate_names.index("warm")
        return {"warm_of_cell": log.votes.covariates[:, place] - 4.0}

    def design(self, cells: Any) -> tuple[Touch, ...]:
        return (Touch((), cells["warm_of_cell"]),) if "warm_of_cell" in cells else ()

    def deviation(self, scales: Any, cells: Any, unit: Any) -> Any:
        return 0.5 * unit


@dataclass(frozen=True)
class Mild(Warmth):
    """A term of one's own that takes a duel as warm where this is not said."""

    name: ClassVar[str] = "mild"

    def design(self, cells: Any) -> tuple[Touch, ...]:
        warm = cells.get("warm_of_cell", np.ones(np.shape(cells["first"])))
        return (Touch((), warm),)


def votes() -> pd.DataFrame:
    """Return duels of four arms with everything that a term may read."""
    rng = np.random.default_rng(3)
    pairs = np.array([rng.permutation(list("abcd"))[:2] for _ in range(N)])
    frame = pd.DataFrame({"model_a": pairs[:, 0], "model_b": pairs[:, 1]})
    frame["len_a"] = rng.integers(1, 9, N)
    frame["len_b"] = rng.integers(1, 9, N)
    frame["warm"] = rng.normal(4, 1, N).round(2)
    frame["judge"] = rng.choice(["ann", "bob", "cyd"], N)
    frame["language"] = rng.choice(["de", "en", "zh"], N, p=[0.5, 0.3, 0.2])
    frame["source"] = rng.choice(["human", "gpt"], N)
    frame["time"] = np.arange(N)
    better = {"a": 1.0, "b": 0.4, "c": -0.4, "d": -1.0}
    apart = frame["model_a"].map(better) - frame["model_b"].map(better)
    chance = expit(apart + 0.15 * (frame["len_a"] - frame["len_b"]))
    frame["winner"] = np.where(rng.random(N) < chance, "model_a", "model_b")
    return frame


@cache
def fitted(model: Any) -> xr.DataTree:
    """Return a quick fit of the votes."""
    return fit_of(model, votes())


def fit_of(model: Any, log: pd.DataFrame) -> xr.DataTree:
    """Return a quick fit of a log that was read with the covariates of the model alone."""
    read = {name for part in model.terms for name in part.reads}
    duels = bd.read_duels(
        log,
        covariates=sorted(read & {"len", "warm"}),
        keep=["language", "source"],
    )
    return bd.fit(duels, model, draws=200, method="laplace", clusters=False)


def with_reliability() -> xr.DataTree:
    """Return a fit of judges' sensitivities, whose draws are made here."""
    model = BradleyTerry() + JudgeReliability()
    rng = np.random.default_rng(4)
    drawn = {
        "score": (("chain", "draw", "arm"), rng.normal(size=(1, 50, 4))),
        "sensitivity": (("chain", "draw", "judge"), 1 + np.tile([-0.8, 0.3, 0.5], (1, 50, 1))),
        "judge_spread": (("chain", "draw"), np.full((1, 50), 0.7)),
    }
    coords = {"arm": list("abcd"), "judge": ["ann", "bob", "cyd"]}
    cells = {name: ("cell", [k]) for k, name in enumerate(("first", "second", "n"))}
    groups = {
        "posterior": xr.Dataset(drawn, coords=coords),
        "constant_data": xr.Dataset(cells, coords={"arm": list("abcd")}),
    }
    fit = xr.DataTree.from_dict(groups)
    settings = json.dumps(model.settings)
    fit.attrs.update(model=model.name, model_settings=settings, importance_ess=50.0)
    return fit


def with_tastes() -> xr.DataTree:
    table = pd.DataFrame({"item": list("abcd"), "sweet": [2.0, 1.0, 0.5, -1.0]})
    return fitted(BradleyTerry(Covariates(bd.read_items(table)) + JudgeTastes()))


# What reads conditions: the fit, the condition, what stands for it where duels say nothing, and
# what stands for it where it alone is missing.
TERMS: dict[str, tuple[Any, str, str, str]] = {
    "RandomEffects": (
        BradleyTerry() + RandomEffects("language"),
        "language",
        *["a new language"] * 2,
    ),
    "CategoryEffects": (
        BradleyTerry() + CategoryEffects("language"),
        "language",
        *["the average over the languages, by their votes"] * 2,
    ),
    "JudgeReliability": (with_reliability, "judge", *["a judge of average sensitivity"] * 2),
    "JudgeTastes": (with_tastes, "judge", *["a judge of average tastes"] * 2),
    "Sources": (
        BradleyTerry(Sources("source", target="human")),
        "source",
        *["the target, human"] * 2,
    ),
    "Sources of all": (
        BradleyTerry(Sources("source")),
        "source",
        *["the average over the sources, each with equal weight"] * 2,
    ),
    "SideAdvantage": (
        BradleyTerry() + SideAdvantage(by="judge"),
        "judge",
        *["no side advantage"] * 2,
    ),
    "DuelCovariates": (BradleyTerry() + DuelCovariates(("len",)), "len", *["len 0"] * 2),
    "DuelCovariates by level": (
        BradleyTerry() + DuelCovariates(("len",), by="judge"),
        "judge",
        *["no effect of len"] * 2,
    ),
    "TimeVarying": (
        BradleyTerry() + TimeVarying(periods=3),
        "time",
        *[f"the end of the log, {N - 1}"] * 2,
    ),
    "Warmth": (BradleyTerry() + Warmth(), "warm", "the term 'warmth' is left out", "warm 0"),
}


def test_every_term_that_reads_a_condition_is_tested():
    """A term says itself what stands for its conditions, and stands in the table above."""
    silent = set()
    for name in models.__all__:
        kind = getattr(models, name)
        if isinstance(kind, type) and issubclass(kind, Part):
            reads = kind.reads if isinstance(kind.reads, tuple) else None
            if reads != () and kind.neutral in (Part.neutral, Term.neutral):
                silent.add(name)
            if "reads" in vars(kind) or "by" in getattr(kind, "__annotations__", {}):
                silent |= {name} - TERMS.keys()
    assert silent <= {"ByLevel", "Modifier", "Part", "Term", "ArmTerm", *no_conditions()}, silent


def no_conditions() -> set[str]:
    """Return the terms that read no condition of a duel."""
    kinds = {name: getattr(models, name) for name in models.__all__}
    return {
        name
        for name, kind in kinds.items()
        if isinstance(kind, type) and issubclass(kind, Part) and kind.reads is Part.reads
    }


@pytest.mark.parametrize("term", TERMS)
def test_what_is_taken_for_a_condition_is_what_is_computed(term):
    """Without the condition a duel is that of the scores, or of a new level, and that is said."""
    model, name, unsaid, missing = TERMS[term]
    fit = model() if callable(model) else fitted(model)
    plain = predict(fit, "a", "c")
    assert f"'{name}' (taken: {unsaid})" in plain.attrs["not_given"]
    none = predict(fit, "a", "c", **{name: None})
    assert f"{name} = none (taken: {missing})" in none.attrs["given"]
    rows = pd.DataFrame({"left": ["a", "a"], "right": ["c", "c"], name: [None, None]})
    both = predict(fit, rows)
    assert both.attrs["missing"] == f"Missing: {name!r} in 2 of 2 duels (taken: {missing})."
    np.testing.assert_allclose(both["win"], float(none["win"]), rtol=1e-12)
    score = fit["posterior"]["score"].stack(sample=("chain", "draw")).transpose("sample", "arm")
    apart = (score.sel(arm="a") - score.sel(arm="c")).to_numpy()
    expected = expit(apart).mean()
    if term == "RandomEffects":
        spread = fit["posterior"]["language_scale"].to_numpy().ravel()
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        moved = apart[:, None] + np.sqrt(2.0) * spread[:, None] * nodes
        expected = (expit(moved) @ weights / weights.sum()).mean()
    assert float(plain["win"]) == pytest.approx(expected, abs=1e-6)
    if unsaid == missing:
        assert float(none["win"]) == pytest.approx(expected, abs=1e-6)
    else:
        effect = fit["posterior"]["warmth_effect"].to_numpy().ravel()
        assert float(none["win"]) == pytest.approx(expit(apart - 4.0 * effect).mean())


def test_a_term_that_is_not_left_out_is_not_said_to_be():
    fit = fitted(BradleyTerry() + Mild())
    taken = "'warm' (taken: what the term 'mild' is without it)"
    assert taken in predict(fit, "a", "c").attrs["not_given"]


def test_terms_that_read_the_same_condition_both_say_what_is_taken():
    fit = fitted(BradleyTerry() + RandomEffects("judge") + SideAdvantage(by="judge"))
    words = "Not given: 'judge' (taken: a new judge; no side advantage)."
    assert predict(fit, "a", "c").attrs["not_given"] == words


@pytest.mark.parametrize("file", [True, False])
@pytest.mark.parametrize("sides", [("model_a", "model_b"), ("left", "right")])
@pytest.mark.parametrize("by", [None, "judge"])
def test_a_difference_of_two_columns_is_predicted_as_it_was_read(by, sides, file, tmp_path):
    fit = fitted(BradleyTerry() + DuelCovariates(("len",), by=by))
    ahead = pd.DataFrame({sides[0]: ["a", "b", "d"], sides[1]: ["c", "d", "a"]})
    ahead["judge"] = "ann"
    own = ahead.assign(len_a=[8, 1, 3], len_b=[1, 7, None])
    coming = own
    if file:
        coming = tmp_path / "coming.csv"
        own.to_csv(coming, index=False)
    found = predict(fit, coming)
    read = predict(fit, ahead.assign(len=[7, -6, None]))
    np.testing.assert_array_equal(found["win"], read["win"])
    level = predict(fit, ahead[:1].assign(len=0))["win"].item()
    assert abs(found["win"][0].item() - level) > 0.01
    assert "len = 'len_a' - 'len_b'" in found.attrs["given"]
    assert "'len_a - len_b' in 1 of 3 duels" in found.attrs["missing"]
    assert ("judge" in found.attrs.get("not_read", "")) is (by is None)
    with pytest.raises(ValueError, match="len_a should be a number, got 'long'"):
        predict(fit, own.assign(len_a="long"))


@pytest.mark.parametrize(
    ("left", "right", "difference"), [(8, 1, 7), ("8", 1.0, 7), ([8, 1], 7, [1, -6])]
)
def test_two_conditions_by_name_are_a_difference_as_two_columns_are(left, right, difference):
    fit = fitted(BradleyTerry() + DuelCovariates(("len",)))
    arms = ("a", "c") if np.ndim(difference) == 0 else (["a", "b"], ["c", "d"])
    found = predict(fit, *arms, len_a=left, len_b=right)
    read = predict(fit, *arms, len=difference)
    np.testing.assert_array_equal(found["win"], read["win"])
    value = "7 " if np.ndim(difference) == 0 else ""
    sides = "('len_a' - 'len_b')" if value else "'len_a' - 'len_b'"
    assert f"len = {value}{sides}" in found.attrs["given"]
    with pytest.raises(ValueError, match="does not depend on 'len_a'; did you mean 'len'"):
        predict(fit, *arms, len_a=left)


def test_only_the_two_columns_that_were_read_are_a_difference():
    log = votes().assign(len=lambda frame: (frame["len_a"] - frame["len_b"]) / 10)
    fit = fit_of(BradleyTerry() + DuelCovariates(("len",)), log)
    ahead = pd.DataFrame({"left": ["a"], "right": ["c"], "len_a": [8], "len_b": [1]})
    found = predict(fit, ahead)
    assert found.attrs["not_given"] == "Not given: 'len' (taken: len 0)."
    assert found.attrs["not_read"] == "Not read: 'len_a' and 'len_b'."


@pytest.mark.sampled(3)
@pytest.mark.parametrize("nothing", [None, float("nan"), "", "  ", pd.NA], ids=repr)
@pytest.mark.parametrize("name", ["warm", "language", "judge"])
def test_missing_cells_are_counted_and_what_is_taken_is_said(name, nothing):
    fit = fitted(
        BradleyTerry() + Covariates(["warm"]) + CategoryEffects("language") + RandomEffects("judge")
    )
    value = {"warm": 5.0, "language": "zh", "judge": "ann"}[name]
    column = pd.Series([value, nothing, nothing], dtype=object)
    ahead = pd.DataFrame({"left": ["a"] * 3, "right": ["c"] * 3, name: column})
    found = predict(fit, ahead)
    taken = {
        "warm": "warm 0",
        "language": "the average over the languages, by their votes",
        "judge": "a new judge",
    }[name]
    assert found.attrs["missing"] == f"Missing: {name!r} in 2 of 3 duels (taken: {taken})."
    assert found.attrs["missing"] in " ".join(repr(found).split())
    win = found["win"].to_numpy()
    assert win[1] == win[2] != win[0]
    assert win[1] == pytest.approx(float(predict(fit, "a", "c")["win"]))
    whole = predict(fit, ahead[:1])
    assert "missing" not in whole.attrs


@pytest.mark.parametrize("further", [None, "language"])
def test_columns_that_are_not_read_are_named_and_as_keywords_refused(further):
    """With every condition there, and without one."""
    model = BradleyTerry() if further is None else BradleyTerry() + RandomEffects(further)
    fit = fitted(model)
    ahead = pd.DataFrame({"model_a": ["a"], "model_b": ["c"], "judge": ["ann"], "language": ["de"]})
    unread = "'judge'" if further else "'judge' and 'language'"
    found = predict(fit, ahead)
    assert found.attrs["not_read"] == f"Not read: {unread}."
    assert f"Not read: {unread}." in " ".join(repr(found).split())
    assert "not_given" not in found.attrs
    with pytest.raises(ValueError, match="does not depend on 'judge'"):
        predict(fit, "a", "c", judge="ann")
    beside = predict(fit, ahead, **({} if further is None else {"language": "en"}))
    assert beside.attrs["not_read"] == "Not read: 'judge' and 'language'."


@pytest.mark.parametrize("term", [RandomEffects, CategoryEffects])
def test_unknown_levels_are_counted_in_a_frame_and_refused_by_name(term):
    fit = fitted(BradleyTerry() + term("language"))
    taken = fit.duel.model.terms.deviating[0].neutral("language")
    ahead = pd.DataFrame({"left": "a", "right": "c", "language": ["fr", "zh", "fr", "it", None]})
    words = re.escape(
        f"column 'language' has 2 values that the fit does not know ('fr' and 'it', 3 duels): "
        f"predictions there are those of {taken}"
    )
    with pytest.warns(ExtrapolationWarning, match=words):
        found = predict(fit, ahead)
    told = f"'language' in 3 of 5 duels, 'fr' and 'it' (taken: {taken})."
    assert found.attrs["unknown"] == f"Not known to the fit: {told}"
    assert found.attrs["missing"] == f"Missing: 'language' in 1 of 5 duels (taken: {taken})."
    win = found["win"].to_numpy()
    assert (win[[0, 2, 3, 4]] == win[0]).all() and win[1] != win[0]
    for value in ("fr", ["fr", "zh"]):
        with pytest.raises(ValueError, match=f"or language=None for {taken}, got 'fr'"):
            predict(fit, ["a", "b"], ["c", "d"], language=value)


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ({"at": {"language": "zh"}}, "zh"),
        (
            {"weights": {"language": {"zh": 1, "de": 3}}},
            "the average over languages, by weight: zh 0.25 and de 0.75",
        ),
    ],
)
@pytest.mark.parametrize("term", [RandomEffects, CategoryEffects])
def test_answers_of_an_estimand_say_which_duels_they_are_about(term, asked, taken):
    fit = bd.estimand(fitted(BradleyTerry() + term("language")), **asked)
    found = predict(fit, "a", "c")
    assert found.attrs["not_given"] == f"Not given: 'language' (taken: {taken})."
    score = fit["posterior"]["score"]
    apart = (score.sel(arm="a") - score.sel(arm="c")).to_numpy()
    assert float(found["win"]) == pytest.approx(expit(apart).mean())
    printed = [repr(bd.winners(fit)), repr(bd.top_k(fit, 1)), repr(bd.top_k(fit, 2))]
    printed += [bd.scores(fit).attrs["controls"], bd.next_pairs(fit).attrs["controls"]]
    for text in printed:
        words = " ".join(text.split())
        assert ("language is zh" if "at" in asked else taken) in words


def of_ties(share: float) -> pd.DataFrame:
    log = votes()
    log.loc[: int(share * N) - 1, "winner"] = "tie"
    return log


@pytest.mark.sampled(4, "davidson-0.25")
@pytest.mark.parametrize("share", [0.0, 0.25])
@pytest.mark.parametrize("model", ["bradley-terry", "thurstone", "preference-matrix", "davidson"])
def test_a_model_without_ties_says_that_a_tie_counts_half(model, share, tmp_path):
    fit = bd.fit(bd.read_duels(of_ties(share)), model, draws=100, clusters=False)
    found = predict(fit, "a", "c")
    half = "25 % of the duels of the log are ties, and the model has no ties: a tie counts half a"
    halved = share > 0 and model != "davidson"
    assert ("tie_share" in found.attrs) is halved
    assert any(words.startswith(half) for words in notes(found)) is halved
    assert (half in " ".join(repr(found).split())) is halved
    path = tmp_path / "fit.nc"
    fit.to_netcdf(path)
    answer = CliRunner().invoke(main, ["predict", str(path), "a", "c"])
    line = "Win: the probability that the left arm wins" + ", a tie counting half" * halved
    assert f"{line}, by {fit.attrs['model']}." in " ".join(answer.stdout.split())


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone", "preference-matrix"])
@pytest.mark.parametrize("rule", ["keep", "half", "drop"])
def test_a_log_that_was_read_without_ties_says_so(model, rule):
    duels = bd.read_duels(of_ties(0.25), ties=rule)
    found = predict(bd.fit(duels, model, draws=100, clusters=False), "a", "c")
    words = "The log was read without ties: predictions are of duels that are decided."
    assert (words in notes(found)) is (rule == "drop")


@pytest.mark.parametrize("form", [(), ("--csv",), ("--json",)])
@pytest.mark.slow
def test_the_command_tells_an_unknown_level_once(form, tmp_path):
    path = tmp_path / "fit.nc"
    fitted(BradleyTerry() + CategoryEffects("language")).to_netcdf(path)
    coming = tmp_path / "coming.csv"
    coming.write_text("left,right,language\na,c,fr\n")
    answer = CliRunner().invoke(main, ["predict", str(path), str(coming), *form])
    assert answer.exit_code == 0 and answer.stderr.count("'fr'") == 1
    assert "Not known" not in answer.output or form == ("--json",)


@pytest.mark.parametrize("form", ["--csv", "--json"])
def test_the_command_says_on_stderr_what_is_not_read_and_not_given(form, tmp_path):
    path = tmp_path / "fit.nc"
    fitted(BradleyTerry() + Covariates(["len", "warm"]) + RandomEffects("judge")).to_netcdf(path)
    coming = tmp_path / "coming.csv"
    coming.write_text("left,right,len_a,len_b,judge,notes\na,c,8,1,ann,x\nb,d,8,,,y\n")
    answer = CliRunner().invoke(main, ["predict", str(path), "--pairs", str(coming), form])
    assert answer.exit_code == 0, answer.stderr
    own = predict(bd.load(path), coming)
    assert "Not read: 'notes'." in answer.stderr
    assert "Not given: 'warm' (taken: warm 0)." in answer.stderr
    missing = "Missing: 'judge' in 1 of 2 duels (taken: a new judge) and 'len_a - len_b' in 1 of 2"
    assert missing in answer.stderr
    assert repr(float(own["win"][0])) in answer.stdout
