"""A log whose covariates the model does not include: a warning, once, and only there."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.inference.fit import UnusedCovariatesWarning
from bayesduel.models import (
    BradleyTerry,
    Covariates,
    Davidson,
    RandomEffects,
    Scores,
    SideAdvantage,
    Term,
    Touch,
)

N = 60
OWN = """
from dataclasses import dataclass
from typing import ClassVar

from bayesduel.models import Term, Touch


@dataclass(frozen=True)
class Own(Term):
    name: ClassVar[str] = "own"
    parameter: ClassVar[str] = "own_effect"
    reads: ClassVar = ("x",)

    def columns(self, log):
        return {"own": log.votes.covariates[:, log.votes.covariate_names.index("x")]}

    def design(self, cells):
        return (Touch((), cells["own"]),) if "own" in cells else ()

    def deviation(self, scales, cells, unit):
        return 0.5
"""


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    pairs = [("a", "b"), ("b", "c"), ("c", "a")] * (N // 3)
    rows = pd.DataFrame(pairs, columns=["left", "right"])
    return rows.assign(outcome=rng.choice(["left", "right"], N), x=rng.normal(size=N), y=0.1)


def told(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught if w.category is UnusedCovariatesWarning]


def with_x(wrap=lambda model: model):
    return wrap(BradleyTerry(Scores() + Covariates(["x"])))


def test_covariates_that_the_model_lacks_are_told_once(frame):
    log = bd.read_duels(frame, covariates=["x"])
    (said,) = told(lambda: bd.fit(log, BradleyTerry(), draws=100))
    assert "covariates that bradley-terry does not include" in said and "'x'" in said


@pytest.mark.parametrize(
    "model", [with_x(), with_x(lambda model: model + SideAdvantage())], ids=["scores", "order"]
)
def test_a_model_that_has_them_is_silent(frame, model):
    log = bd.read_duels(frame, covariates=["x"])
    assert told(lambda: bd.fit(log, model, draws=100)) == []
    more = bd.read_duels(frame.assign(y=frame["x"] ** 2), covariates=["x", "y"])
    (said,) = told(lambda: bd.fit(more, model, draws=100))
    assert "'y'" in said and "'x'" not in said


@dataclass(frozen=True)
class Bounded(Term):
    """An effect of a covariate that levels off: a term of a user's own."""

    name: ClassVar[str] = "bounded"
    parameter: ClassVar[str] = "bounded_effect"

    def columns(self, log):
        return {"bounded": np.tanh(log.votes.covariates[:, 0])}

    def design(self, cells):
        return (Touch((), cells["bounded"]),) if "bounded" in cells else ()

    def deviation(self, scales, cells, unit):
        return 0.5


@dataclass(frozen=True)
class Named(Bounded):
    """The same, which says what it reads."""

    name: ClassVar[str] = "named"
    reads: ClassVar = ("x",)


def test_a_term_of_ones_own_may_read_any_covariate(frame):
    log = bd.read_duels(frame.assign(y=frame["x"] ** 2), covariates=["x", "y"])
    assert told(lambda: bd.fit(log, BradleyTerry() + Bounded(), draws=100)) == []
    (said,) = told(lambda: bd.fit(log, BradleyTerry() + Named(), draws=100))
    assert "'y'" in said and "'x'" not in said
    fit = bd.fit(log, BradleyTerry() + Bounded(), draws=100)
    assert "bounded_effect" in fit["posterior"]


def test_a_term_of_ones_own_whose_column_the_log_lacks_is_told(frame, tmp_path):
    """However the term reaches for it: a log without votes has not even the place to look."""
    words = "the log should have the covariates 'x', but it has"
    judged = frame.assign(judge=["ann", "bob", "eve"] * (N // 3))
    for log in (
        bd.read_duels(frame),
        bd.read_duels(judged),
        bd.read_duels(frame, covariates=["y"]),
    ):
        with pytest.raises(ValueError, match=words):
            bd.fit(log, BradleyTerry() + Named(), draws=100)
    (tmp_path / "own.py").write_text(OWN)
    frame.drop(columns="x").to_csv(tmp_path / "log.csv", index=False)
    given = ["winners", str(tmp_path / "log.csv"), "--term", f"{tmp_path}/own.py:Own"]
    answer = CliRunner().invoke(main, given)
    assert answer.exit_code == 2 and "no column 'x'" in answer.output


@pytest.mark.slow
def test_a_page_of_a_fit_with_a_term_of_ones_own_leaves_out_what_needs_the_votes(frame, tmp_path):
    fit = bd.fit(bd.read_duels(frame, covariates=["x"]), BradleyTerry() + Named(), draws=100)
    page = bd.report(fit, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Not available for this log: the log should have the covariates" in page


def test_a_column_that_has_a_role_is_named_by_it(frame):
    log = bd.read_duels(frame.assign(prompt=["p", "q", "r"] * (N // 3)), group="prompt")
    with pytest.raises(ValueError, match="that column is its group: say 'group' in place of 'pro"):
        bd.fit(log, BradleyTerry() + RandomEffects("prompt"), draws=100)


@pytest.mark.slow
def test_margins_that_the_model_does_not_use_are_told(frame):
    log = bd.read_duels(grades(frame).rename(columns={"outcome": "margin"}))
    words = "The margins of the log are not used: an outcome of the model is a win"
    for model in (BradleyTerry(), Davidson(), "thurstone"):
        assert words in " ".join(repr(bd.fit(log, model, draws=100)).split()), model
    for model in ("auto", "thurstone-score"):
        assert "not used" not in repr(bd.fit(log, model, draws=100)), model
    assert "margins of the log" not in repr(bd.fit(bd.read_duels(frame), draws=100))


def test_the_attributes_command_names_its_model_and_says_that_margins_are_not_used(frame, tmp_path):
    path = tmp_path / "log.csv"
    items = tmp_path / "items.csv"
    grades(frame).rename(columns={"outcome": "margin"}).to_csv(path, index=False)
    pd.DataFrame({"item": ["a", "b", "c"], "size": [1.0, 2.0, 4.0]}).to_csv(items, index=False)
    given = ["attributes", str(path), "--items", str(items), "--draws", "100"]
    result = CliRunner().invoke(main, given)
    said = " ".join(result.stdout.split())
    assert "Model: Bradley-Terry" in said and "The margins of the log are not used" in said


def test_a_log_without_covariates_is_silent(frame):
    assert told(lambda: bd.fit(bd.read_duels(frame), draws=100)) == []


@pytest.mark.parametrize(
    "command",
    [["winners"], ["check", "--quick"], pytest.param(["check"], marks=pytest.mark.slow)],
)
def test_commands_include_the_covariates_or_leave_them_out_on_purpose(frame, tmp_path, command):
    path = tmp_path / "log.csv"
    frame.to_csv(path, index=False)
    result = CliRunner().invoke(main, [*command, str(path), "--covariates", "x"])
    assert result.exit_code == 0, result.output
    assert "does not include" not in result.output + result.stderr


def grades(frame):
    rng = np.random.default_rng(1)
    return frame.assign(outcome=rng.choice([-2, -1, 1, 2], N))


KINDS = {
    "wins": lambda frame: frame,
    "ties": lambda frame: frame.assign(outcome=["left", "right", "tie"] * (N // 3)),
    "grades": grades,
    "margins": lambda frame: grades(frame).rename(columns={"outcome": "margin"}),
    "prompts": lambda frame: frame.assign(prompt=[f"p{k % 6}" for k in range(N)]),
    "home": lambda frame: frame.rename(columns={"left": "home", "right": "away"}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [["x"], ["x", "z"]], ids=len)
def test_the_default_model_has_the_covariates_that_the_log_was_read_with(frame, kind, names):
    rows = KINDS[kind](frame.assign(z=frame["x"] ** 2))
    coding = {"coding": "grades"} if kind == "grades" else {}
    log = bd.read_duels(rows, covariates=names, **coding)
    chosen = bd.DefaultModel().choose(log)
    plain = bd.DefaultModel().choose(bd.read_duels(rows, **coding))
    (term,) = set(chosen.model.terms) - set(plain.model.terms)
    assert list(term.of) == names
    (said,) = [reason for reason in chosen.reasons if reason.startswith("The covariate")]
    assert "the log was read with" in said and all(name in said for name in names)
    asked = bd.DefaultModel(terms=tuple(f"covariate:{n}" for n in names)).choose(log)
    assert asked.model == chosen.model
