"""Terms on the command line: one option, one grammar, every command that fits; predict."""

import importlib
import json
import re
import sys
from itertools import product

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.cli.options import chosen_model
from bayesduel.cli.study import command as study
from bayesduel.inference.default_model import choose_model
from bayesduel.models import (
    TERMS,
    BradleyTerry,
    CategoryEffects,
    DuelCovariates,
    RandomEffects,
    Scores,
    SideAdvantage,
    TimeVarying,
    named,
    registry,
    term_named,
)

WORDS = {
    "order": "order",
    "time": "time",
    "time:3": "time",
    "category": "category",
    "category:topic": "category:topic",
    "random:topic": "random:topic",
    "judge": "random:judge",
    "reliability": "reliability",
    "cycles": "cycles",
    "covariate:length": "covariates",
    "sources:topic=t0": "sources:topic=t0",
}
COMMANDS = {
    "fit": ["-o", "fit.nc"],
    "winners": [],
    "top-k": ["--k", "1"],
    "report": ["-o", "page.html"],
    "export": ["-o", "tables"],
    "site": ["-o", "public"],
    "judges": [],
    "check": ["--quick"],
}


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("terms") / "log.csv"
    rows = ["left,right,outcome,judge,time,length,topic,category"]
    pairs = ("ab", "bc", "ca", "ba", "cb", "ac")
    for k in range(60):
        won = "left" if k % 3 else "right"
        common = f"j{k % 2},{k},{(k % 5) - 2},t{k % 3},c{k % 2}"
        rows.append(f"{pairs[k % 6][0]},{pairs[k % 6][1]},{won},{common}")
    path.write_text("\n".join(rows) + "\n")
    return path


NAMED = {  # what --model and --term say together, and the model that Python calls so
    "davidson + order": ("davidson", ["order"]),
    "Davidson+time:3": ("davidson", ["time:3"]),
    "auto + time:3": ("auto", ["time:3"]),
    "thurstone + random:topic + order": ("thurstone", ["random:topic", "order"]),
}


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_terms_in_the_name_of_a_model_are_those_of_the_option_of_terms(name, apart, log, tmp_path):
    label, words = NAMED[name]
    *first, last = words
    given = ["--model", " + ".join([label, *first]), "--term", last]
    if not apart:
        given = ["--model", name]
    path = tmp_path / "fit.nc"
    answer = run("fit", log, *given, "--method", "laplace", "--draws", "100", "-o", path)
    assert answer.exit_code == 0, answer.stderr
    asked = bd.load(path).duel.model
    wanted = chosen_model(label, {"term": tuple(words)}).choose(bd.read_duels(log)).model
    assert sorted(term.name for term in asked.terms) == sorted(t.name for t in wanted.terms)
    assert asked.label == wanted.label


@pytest.mark.parametrize("name", ["davidon + order", "davidson + ordr", "davidson +"])
def test_a_name_of_a_model_with_a_slip_is_refused_with_the_nearest(name, log, tmp_path):
    answer = run("fit", log, "--model", name, "-o", tmp_path / "fit.nc")
    assert answer.exit_code == 2 and len(answer.stderr.splitlines()) == 1
    assert "did you mean" in answer.stderr and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_page_shows_the_limits_of_periods_as_dates(tmp_path):
    rows = [
        f"{'ab'[k % 2]},c,{'left' if k % 3 else 'right'},2026-05-{k % 28 + 1:02}" for k in range(56)
    ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["left,right,outcome,time", *rows]) + "\n")
    page = tmp_path / "page.html"
    given = ["--model", "bradley-terry + time:3", "--method", "laplace", "--draws", "100"]
    assert run("report", path, *given, "-o", page).exit_code == 0
    assert "time edges = 2026-05-01, 2026-05-10, 2026-05-19, 2026-05-28" in page.read_text()


def each_command_with(name, values, step):
    """Every command with every value: slow but for one of `step` values of each command."""
    cases = []
    for (k, command), (n, value) in product(enumerate(COMMANDS), enumerate(values)):
        told = value if isinstance(value, tuple) else (value,)
        marks = () if (n - k) % step == 0 else pytest.mark.slow
        cases.append(pytest.param(command, *told, marks=marks))
    return pytest.mark.parametrize(("command", *name), cases)


@each_command_with(["word"], WORDS, step=4)
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_every_command_gives_its_model_the_term(command, word, log, tmp_path, monkeypatch):
    """The model that reaches the fit, and the columns that were read for it."""
    seen = []

    class Reached(ValueError):
        pass

    def stop(duels, *others, **options):
        models = options["model"] if "model" in options else others[0]
        several = [*models.values()] if isinstance(models, dict) else [models]
        seen.append((duels, several[-1]))
        raise Reached("reached")

    places = {
        "report": "bayesduel.reporting.report.report",
        "export": "bayesduel.reporting.export.export",
        "site": "bayesduel.reporting.site.site",
        "check": "bayesduel.criticism.check.check",
    }
    place = places.get(command, "bayesduel.inference.fit.fit")
    module, name = place.rsplit(".", 1)
    monkeypatch.setattr(importlib.import_module(module), name, stop)
    monkeypatch.chdir(tmp_path)
    answer = run(command, log, *COMMANDS[command], "--term", word)
    assert answer.exit_code == 2 and "reached" in answer.stderr, answer.stderr
    duels, model = seen[-1]
    model = choose_model(model, duels).model
    own = "" if word == "order" or command == "check" else " + order"  # found in the log
    own += ":topic" * (bool(own) and word.startswith("sources"))  # an advantage for each
    assert model.name == f"bradley-terry + {WORDS[word]}{own}"
    for part in model.terms:
        part.columns(duels)  # raises where the log lacks one


@each_command_with(
    ["args", "words"],
    [
        (["--term", "foo"], "--term foo"),
        (["--term", "time:x"], "process should be 'walk' or 'smooth', got 'x'"),
        (["--term", "order", "--term", "order"], "--term order cannot be used"),
        (["--term", "order", "--no-side-advantage"], "contradict each other"),
        (["--term", "random:nope"], "no column 'nope' for --term random:nope"),
        (["--term", "covariate:nope"], "no column 'nope' for --term covariate:nope"),
        (["--keep", "nope"], "no column 'nope' for keep"),
        (["--term", "tastes"], "it needs the attributes of items (bayesduel attributes)"),
    ],
    step=2,
)
def test_a_term_that_cannot_be_is_refused_in_one_line(command, args, words, log, tmp_path):
    own = [a if a.startswith("-") or a == "1" else tmp_path / a for a in COMMANDS[command]]
    answer = run(command, log, *own, *args)
    assert answer.exit_code == 2 and answer.stderr.count("\n") <= 2  # and what was guessed
    assert words in answer.stderr, answer.stderr


@pytest.mark.parametrize("word", ["time", "judge", "reliability", "category"])
def test_a_log_without_the_column_is_refused(word, tmp_path):
    answer = run("fit", "tennis1990", "-o", tmp_path / "fit.nc", "--term", word)
    assert answer.exit_code == 2
    assert f"--term {word}" in answer.stderr


def test_help_offers_each_command_the_terms_that_it_can_have():
    """By the contract: a term that needs items is for the command that has them."""
    found = {}
    for group, context in ((main, click.Context(main)), (study, click.Context(study))):
        for name in group.list_commands(context):
            for option in group.get_command(context, name).params:
                if option.name == "term" and option.expose_value:  # else of a saved fit
                    found[name] = re.split("[,:]", option.help.partition("of the model: ")[2])
    others = {"attributes", "audit", "calibrate", "panel", "sources", "new"}
    assert found.keys() == {*COMMANDS, *others}
    for command, words in found.items():
        for word, kind in TERMS.items():
            if kind.needs_items and word != "item-effects":  # which attributes has already
                assert (f" {word}" in words) == (command == "attributes"), (command, word)


@pytest.mark.parametrize(("command", "option"), [("check", "--unit"), ("audit", "--change")])
def test_a_column_that_is_missing_is_named_by_the_option_that_asks_for_it(command, option, log):
    answer = run(command, log, option, "nope")
    assert answer.exit_code == 2 and f"no column 'nope' for {option}; " in answer.stderr


@pytest.mark.parametrize("word", WORDS)
def test_a_model_without_scores_takes_no_terms(word, log, tmp_path):
    options = ["--model", "preference-matrix", "--term", word]
    answer = run("fit", log, "-o", tmp_path / "fit.nc", *options)
    words = f"--term {word} cannot be used with --model preference-matrix"
    assert answer.exit_code == 2 and words in answer.stderr


def test_the_grammar_of_names_is_that_of_the_option():
    terms = {
        "time:12": TimeVarying(periods=12),
        "time:smooth": TimeVarying("smooth"),
        "category": CategoryEffects(),
        "category:topic": CategoryEffects("topic"),
        "judge": RandomEffects("judge"),
        "covariate:a": DuelCovariates(("a",)),
    }
    for word, term in terms.items():
        assert term_named(word) == term
        assert named(f"bradley-terry + {word}") == BradleyTerry(Scores() + term)
    both = named("bradley-terry + covariate:a + order + covariate:b")
    assert both == BradleyTerry(Scores() + DuelCovariates(("a", "b")) + SideAdvantage())
    given = {"covariates": "a", "side_advantage": True, "term": ("covariate:b",)}
    chosen = chosen_model("bradley-terry", given)
    assert chosen.choose(bd.Duels.from_wins(np.ones((3, 3)) - np.eye(3))).model == both


def test_a_study_has_terms(tmp_path):
    path = tmp_path / "s.db"
    answer = run("study", "new", path, "--arms", "a,b,c", "--term", "order")
    assert answer.exit_code == 0, answer.stderr
    from bayesduel.study.study import Study

    assert Study(str(path)).model.name == "bradley-terry + order"


@pytest.fixture(scope="module")
def fit(log, tmp_path_factory):
    path = tmp_path_factory.mktemp("predict") / "fit.nc"
    options = ["--term", "order", "--term", "covariate:length", "--term", "judge"]
    answer = run("fit", log, "-o", path, "--draws", 100, *options)
    assert answer.exit_code == 0, answer.stderr
    return path


@pytest.mark.slow
def test_predict_is_that_of_python(fit, tmp_path):
    given = ["--given", "judge=j1", "--given", "length=0.5", "--side-advantage"]
    answer = run("predict", fit, "a", "b", *given, "--json")
    assert answer.exit_code == 0, answer.stderr
    found = json.loads(answer.stdout)["duels"][0]
    own = bd.predict(bd.load(fit), "a", "b", judge="j1", length=0.5, side_advantage=True)
    assert found["win"] == pytest.approx(float(own["win"]))
    assert (found["judge"], found["length"]) == ("j1", "0.5")
    (tmp_path / "pairs.csv").write_text("left,right,judge\na,b,j0\nb,c,\n")
    answer = run("predict", fit, "--pairs", tmp_path / "pairs.csv", "--csv")
    assert answer.exit_code == 0, answer.stderr
    second = answer.stdout.splitlines()[2].split(",")
    at_home, neutral = (
        float(bd.predict(bd.load(fit), "b", "c", side_advantage=yes)["win"])
        for yes in (True, False)
    )
    assert float(second[3]) == pytest.approx(at_home) and at_home != neutral
    answer = run("predict", fit, "--pairs", tmp_path / "pairs.csv", "--csv", "--neutral")
    assert float(answer.stdout.splitlines()[2].split(",")[3]) == pytest.approx(neutral)
    shown = run("predict", fit, "a", "b", *given)
    assert " ".join(shown.stdout.split()).startswith("left right win loss a b ")
    given = "Predictions are for the conditions given: judge = j1 and length = 0.5."
    assert given in " ".join(shown.stdout.split())


@pytest.mark.parametrize("word", ["none", "None", "NONE"])
@pytest.mark.slow
def test_none_is_a_new_judge_on_the_command_line(word, fit):
    answer = run("predict", fit, "a", "b", "--given", f"judge={word}", "--json")
    assert answer.exit_code == 0, answer.stderr
    new = float(bd.predict(bd.load(fit), "a", "b", judge=None, length=0.0)["win"])
    assert json.loads(answer.stdout)["duels"][0]["win"] == pytest.approx(new)
    known = float(bd.predict(bd.load(fit), "a", "b", judge="j1", length=0.0)["win"])
    assert new != known


def test_none_is_a_judge_where_one_has_that_name(tmp_path):
    votes = pd.DataFrame({"left": "a", "right": "b", "annotator": ["none", "ann"] * 20})
    votes["outcome"] = np.where(votes["annotator"] == "none", "left", "right")
    fit = bd.fit(bd.read_duels(votes, judge="annotator"), "bradley-terry + random:judge", draws=200)
    path = tmp_path / "fit.nc"
    fit.to_netcdf(path, engine="h5netcdf")
    wins = []
    for word in ("none", "None"):
        answer = run("predict", path, "a", "b", "--given", f"annotator={word}", "--json")
        assert answer.exit_code == 0, answer.stderr
        wins.append(json.loads(answer.stdout)["duels"][0]["win"])
    own = float(bd.predict(fit, "a", "b", judge="none")["win"])
    new = float(bd.predict(fit, "a", "b", judge=None)["win"])
    assert wins == pytest.approx([own, new]) and own != pytest.approx(new)
    answer = run("predict", path, "a", "b", "--given", "prompt=p1")
    assert (
        "does not depend on 'prompt'. Its terms read 'judge', which is the column 'annotator'"
        in answer.stderr
    )


def test_a_file_of_duels_takes_the_place_of_left(fit, tmp_path):
    coming = tmp_path / "coming.csv"
    coming.write_text("left,right\na,b\n", encoding="utf-8")
    conditions = ("--given", "judge=none", "--json")
    one, other = (run("predict", fit, *named, coming, *conditions) for named in ((), ("--pairs",)))
    assert one.exit_code == 0 and one.stdout == other.stdout, one.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["a"], "give LEFT and RIGHT, or a file of duels (see"),
        (["a", "z"], "arm 'z' is not in the fit"),
        (
            ["a", "b", "--given", "judge=j9"],
            "or --given judge=none for a new judge, got 'j9'",
        ),
        (["a", "b", "--given", "topic=t1"], "does not depend on 'topic'. Its terms read "),
        (["a", "b", "--given", "length=long"], "length should be a number, got 'long'"),
        (["a", "b", "--given", "judge"], "--given should be NAME=VALUE"),
        (["a", "b", "--given", "ci_prob=0.5"], "--given ci_prob should be a condition"),
        (["a", "b", "--given", "left=c"], "--given left should not be a column"),
        (["a", "b", "--json", "--csv"], "should not be given together"),
    ],
)
def test_predict_refuses_in_one_line(args, words, fit):
    answer = run("predict", fit, *args)
    assert answer.exit_code == 2 and answer.stderr.count("\n") == 1
    assert words in answer.stderr, answer.stderr


OWN = """
from dataclasses import dataclass

from bayesduel.models import SideAdvantage, Touch


@dataclass(frozen=True)
class Lead(SideAdvantage):
    name = "lead"
    parameter = "lead"


@dataclass(frozen=True)
class Order(SideAdvantage):
    pass


Nothing = 3
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_terms.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    sys.modules.pop("own_terms", None)
    TERMS.pop("lead", None)


def test_a_term_of_a_file_of_ones_own(own, log):
    """It fits as the term of the package that it is but for its name."""
    mine, ours = (
        json.loads(run("winners", log, "--json", "--term", word).stdout)
        for word in ("own_terms.py:Lead", "order")
    )
    assert mine["scores"] == ours["scores"]
    assert (mine["model"], ours["model"]) == ("bradley-terry + lead", "bradley-terry + order")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (
            "own_terms.py:Order",
            "name of Order should be new, but another class has",
        ),
        ("own_terms.py:Nothing", "classes should be classes of models or terms, got 3"),
        ("own_terms.py:Lost", "--term should name what own_terms.py has (Lead, Order), got 'Lost'"),
        ("lost.py:Lead", "--term should name a file, got 'lost.py'"),
    ],
)
def test_what_is_no_term_of_a_file_is_refused(word, said, own, log):
    answer = run("winners", log, "--term", word)
    assert answer.exit_code == 2 and said in answer.stderr


def test_a_study_takes_no_term_of_a_file(own):
    """As what it stores is read in other processes, which run no code of a file."""
    answer = run("study", "new", "s.study", "--arms", "a,b", "--term", "own_terms.py:Lead")
    assert answer.exit_code == 2 and "term should be one of" in answer.stderr
    assert "own_terms" not in sys.modules


GAP = """
from dataclasses import dataclass

from bayesduel.models import Term, Touch


@dataclass(frozen=True)
class Gap(Term):
    name = "gap"
    parameter = "gap"
    reads = ("length",)

    def columns(self, log):
        here = log.votes.covariate_names.index("length")
        return {"gap": log.votes.covariates[:, here] / 2}

    def design(self, cells):
        return (Touch((), cells["gap"]),) if "gap" in cells else ()

    def deviation(self, scales, cells, unit):
        return 0.5 * unit
"""


@pytest.fixture
def gap(tmp_path, monkeypatch):
    """Return the word of a term in a file that reads the covariate length."""
    (tmp_path / "gap_terms.py").write_text(GAP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield "gap_terms.py:Gap"
    forget()


def forget():
    """Let the term be as unknown as it is to another process."""
    sys.modules.pop("gap_terms", None)
    TERMS.pop("gap", None)
    registry._KNOWN.pop("gap_terms:Gap", None)


@pytest.mark.parametrize("covariates", [["--covariates", "length"], []])
@pytest.mark.slow
def test_a_term_of_a_file_reads_its_covariate_alone(covariates, gap, log):
    """Before, the covariate itself was in the model, too, or was not read."""
    given = ["--term", gap, *covariates, "--method", "laplace", "--draws", "100", "-o", "fit.nc"]
    answer = run("fit", log, *given)
    assert answer.exit_code == 0, answer.stderr
    assert bd.load("fit.nc").duel.model.name == "bradley-terry + gap + order"


OF_A_FIT = {
    "predict": ["a", "b"],
    "winners": [],
    "report": ["-o", "page.html"],
    "top-k": ["--k", "1"],
    "update": ["LOG", "--earlier", "OLD", "-o", "new.nc"],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", OF_A_FIT)
def test_a_saved_fit_of_a_term_of_a_file(command, gap, log):
    given = ["--term", gap, "--method", "laplace", "--draws", "100", "-o", "fit.nc"]
    assert run("fit", log, *given).exit_code == 0
    more = log.with_name("more.csv")
    more.write_text(log.read_text())
    places = {"LOG": str(more), "OLD": str(log)}
    words = [places.get(word, word) for word in OF_A_FIT[command]]
    forget()
    answer = run(command, "fit.nc", *words)
    assert answer.exit_code == 2 and "name its file by --term FILE.py:Gap" in answer.stderr
    answer = run(command, "fit.nc", *words, "--term", gap)
    assert answer.exit_code == 0, answer.stderr
