"""The worked examples of CONTRIBUTING.md run as they stand there."""

import json
import re
import shutil
import sys
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from click.testing import CliRunner
from pytensor.compile.mode import Mode
from scipy.special import ndtr

import bayesduel as bd
from bayesduel import models
from bayesduel.beliefs import record
from bayesduel.criticism.calibration import held_out
from bayesduel.data import datasets
from bayesduel.data.read import tools
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models import registry
from bayesduel.posterior.verdict import Kind
from tests.test_imports import ROOMS

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:^`([\w/.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", flags=re.M | re.S)


def section(title):
    """Return the blocks under a heading: (file it is to be written to or "", language, text)."""
    (text,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, flags=re.M | re.S)
    return BLOCK.findall(text)


@pytest.fixture
def registries(monkeypatch):
    """Forget what an example registers."""
    for table in ("MODELS", "TERMS", "_KNOWN"):
        monkeypatch.setattr(registry, table, dict(getattr(registry, table)))


@pytest.fixture
def run(tmp_path, monkeypatch, registries):
    """Write the files of a section, import them by running the other blocks; return the names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    written = []

    def running(title):
        scope = {"__name__": "example"}
        for file, language, text in section(title):
            if file:
                path = tmp_path / Path(file).name
                path.write_text(text, encoding="utf-8")
                written.append(path.stem)
            elif language == "python":
                exec(compile(text, f"CONTRIBUTING.md, {title}", "exec"), scope)
        assert written, f"no file in section {title!r}"
        return scope

    yield running
    for name in written:
        sys.modules.pop(name, None)


@pytest.mark.plain
def test_a_policy(run):
    trace = run("Add a policy")["trace"]
    assert float(bd.regret(trace, "copeland").isel(time=-1).min()) > 0


@pytest.mark.plain
def test_a_rule_that_reads_the_last_outcome(run):
    """The chances by which it draws are those of EXP3 by its own outcomes."""
    found = run("Read the last outcome")
    assert np.isfinite(bd.regret(found["trace"], "borda")).all()
    policy = found["EXP3"](horizon=200)
    belief, memory = policy.belief.init(3), policy.init(3)
    rng, coins = np.random.default_rng(1), np.random.default_rng(2)
    gains = np.zeros((2, 3))
    for t in range(1, 201):
        i, j = (int(k) for k in policy.select(belief, memory, t, rng))
        grown = np.exp(memory.gamma / 3 * gains)
        chances = (1 - memory.gamma) * grown / grown.sum(axis=1, keepdims=True) + memory.gamma / 3
        np.testing.assert_allclose(memory.chances, chances)
        won = float(coins.random() < (0.9 if i < j else 0.1))
        record(belief, (i, j), won)
        if i == j:
            won = float(deepcopy(rng).random() < 0.5)
        gains[0, i] += won / chances[0, i]
        gains[1, j] += (1 - won) / chances[1, j]
    assert memory.chances[:, 0].min() > 0.4  # arm 0 beats the others


@pytest.mark.plain
def test_a_problem(run):
    trace = run("Add a problem")["trace"]
    assert bd.regret(trace).sizes["problem"] == 2
    truths = trace["ladder"]["problem"]["P"].values
    assert truths.shape == (6, 8, 8) and (truths[0] != truths[1]).any()


@pytest.mark.plain
def test_a_format(monkeypatch, capsys):
    monkeypatch.setattr(tools, "TOOLS", dict(tools.TOOLS))
    scope = {}
    ((_, _, text),) = section("Add a format")
    exec(compile(text, "CONTRIBUTING.md, Add a format", "exec"), scope)
    assert (scope["log"].n_duels, scope["log"].n_ties) == (2, 1)
    assert "a log of Duet: model_a=lhs" in capsys.readouterr().err


def test_a_model(run, tmp_path):
    found = run("Add a model")
    fit, duels = found["fit"], found["duels"]
    assert fit.attrs["model"] == "lapse + order" and fit.attrs["method"] == "laplace"
    assert bd.winners(fit).sizes["arm"] == duels.n_arms
    P = next(bd.preference_draws(fit))
    assert P.min() > 0.01 and P.max() < 0.99
    path = bd.report(fit, tmp_path / "report.html", duels=duels)
    assert "lapse + order" in path.read_text(encoding="utf-8")


def test_the_derivatives_of_the_model_are_exact(run):
    found = run("Add a model")
    model = found["Lapse"]()
    here = linear_predictor(model, model.cells(found["duels"]))
    x, step = np.linspace(-1.5, 1.0, here.size), 1e-5
    parts, axes = here.parts(x, 0.1), step * np.eye(here.size)
    ahead, behind = ([here.parts(x + s * e, 0.1) for e in axes] for s in (1, -1))
    both = list(zip(ahead, behind, strict=True))
    slope = [(a.value - b.value) / (2 * step) for a, b in both]
    bend = np.array([(a.gradient - b.gradient) / (2 * step) for a, b in both])
    np.testing.assert_allclose(slope, parts.gradient, atol=1e-5)
    np.testing.assert_allclose(bend, -parts.precision, atol=1e-5)


def test_a_term(run):
    (text,) = [text for file, _, text in section("Add a term") if file]
    assert len(text.splitlines()) < 66
    found = run("Add a term")
    fit, duels, JudgeOrder = found["fit"], found["duels"], found["JudgeOrder"]
    assert fit.attrs["method"] == "laplace" and fit.attrs["model"] == "thurstone + judge-order"
    assert fit["posterior"].sizes["judge"] == 8
    assert fit["clusters"]["clustering"].values.tolist() == ["judge"]
    # Under its condition: the judge's own advantage, and none in a neutral duel.
    draws = {n: v.values.reshape(-1, *v.shape[2:]) for n, v in fit["posterior"].items()}
    apart = draws["score"][:, 0] - draws["score"][:, 1]
    one, other = duels.arms[:2]
    own = ndtr(apart + draws["judge_order"][:, 3]).mean()
    told = bd.predict(fit, one, other, judge=duels.votes.judges[3], side_advantage=True)
    plain = bd.predict(fit, one, other)
    assert float(told["win"]) == pytest.approx(own)
    assert float(plain["win"]) == pytest.approx(ndtr(apart).mean())
    made = bd.posterior_predictive(fit, draws=100)
    points = made["posterior_predictive"]["outcome"].values[0]
    model, cells = fit.duel.model, fit["constant_data"]["n"].values
    under = {n: fit["constant_data"][n].values for n in ("first", "second", "judge_of_cell")}
    under["left_first"] = np.ones(len(cells))
    drawn = fit.duel.posterior("model")  # a model's new votes are independent
    expected = cells * model.outcomes(drawn, under)["win"].mean(axis=0)
    away = (points.mean(axis=0) - expected) / (points.std(axis=0) / 10)
    assert 0.8 < np.sqrt((away**2).mean()) < 1.2
    for unit in ("pair", "duel"):
        compared = bd.compare_models(
            duels, {"alike": fit, "none": models.Thurstone()}, unit=unit, draws=400, folds=0
        )
        assert np.isfinite(compared.table["elpd"]).all()
    assert held_out(duels, models.Thurstone() + JudgeOrder(), folds=2, draws=100).n.sum() == 1600


@pytest.mark.slow
def test_a_term_in_a_check_and_a_report(run, tmp_path):
    found = run("Add a term")
    fit, duels = found["fit"], found["duels"]
    checked = bd.check(duels, models=["thurstone", models.Thurstone() + found["JudgeOrder"]()])
    assert "judge-order" in repr(checked.comparison.table)
    page = bd.report(fit, tmp_path / "report.html", duels=duels).read_text(encoding="utf-8")
    assert "judge-order" in page


@pytest.mark.parametrize(
    "model",
    [models.Davidson(), models.ThurstoneScore(), models.ThurstoneScore(variances="pair")],
    ids=["ties", "margins", "margins by pair"],
)
def test_a_term_has_one_density_with_any_response(run, model):
    """A term that reads who was left enters cells that keep it, also where pairs share noise."""
    model = model + run("Add a term")["JudgeOrder"]()
    rng = np.random.default_rng(1)
    i = rng.integers(0, 4, 80)
    j, margin = (i + rng.integers(1, 4, 80)) % 4, rng.normal(size=80).round(1)
    log = bd.Duels.from_votes(
        i, j, (np.sign(margin) + 1) / 2, margin=margin, judge=[f"j{g}" for g in np.arange(80) % 5]
    )
    built = model.settled(log).build(log)
    names = {v.name for v in built.deterministics} & {"judge_order", "score", "pair_noise"}
    outcome = built.logp(vars=[built["outcome"]], sum=False)[0]
    values = built.replace_rvs_by_values(built.unobserved_RVs)
    point = {n: v + rng.normal(0, 0.3, np.shape(v)) for n, v in built.initial_point().items()}
    *drawn, terms = built.compile_fn([*values, outcome], mode=Mode("py", None))(point)
    draws = {v.name: d[None] for v, d in zip(built.unobserved_RVs, drawn, strict=True)}
    assert names >= {"judge_order", "score"}
    found = model.log_likelihood(draws, model.cells(log))[0]
    np.testing.assert_allclose(found, terms, rtol=1e-8)
    moved = model.log_likelihood(
        draws | {"judge_order": 1 + draws["judge_order"]}, model.cells(log)
    )
    assert (moved[0] != found).any()


@pytest.mark.plain
def test_a_bound(run):
    found = run("Add a bound")
    assert float(bd.regret(found["trace"], "copeland").isel(time=-1).min()) > 0
    belief = bd.beliefs.Beta().init(3)
    belief.wins[0, 1], belief.wins[1, 0] = 7, 3
    lower, upper = found["wilson_bounds"](belief, 2.0)
    assert (lower <= upper).all() and (upper == 1 - lower.T).all()
    wide = found["wilson_bounds"](belief, 3.0)
    assert wide[0][0, 1] < lower[0, 1] < 0.7 < upper[0, 1] < wide[1][0, 1]


def test_a_section(run):
    found = run("Add a section of the report")
    assert "8 judges cast 1,600 votes." in found["html"]


def test_the_wording_of_a_verdict(capsys):
    ((_, _, text),) = section("Change the wording of a verdict")
    exec(compile(text, "CONTRIBUTING.md", "exec"), {})
    tied, data, sentence = capsys.readouterr().out.splitlines()
    assert tied.startswith("tea and mate are tied in practice")
    kind, _, rest = data.partition(" ")
    arms, _ = json.JSONDecoder().raw_decode(rest)
    assert kind in get_args(Kind)
    assert all(arm in sentence for arm in arms)


def test_an_option():
    ((_, _, text),) = section("Add an option of the command line")
    scope = {"__name__": "example"}
    exec(compile(text, "CONTRIBUTING.md", "exec"), scope)
    run = partial(CliRunner().invoke, scope["command"])
    assert run([]).output == "60\n" and run(["--share", "0.25"]).output == "50\n"
    assert "Share of the cups" in run(["--help"]).output
    assert "'--share': 2.0 is not in the range" in run(["--share", "2"]).output
    with pytest.raises(ValueError, match=r"share should be in \(0, 1\), got 2"):
        scope["cups"](40, share=2)


def test_a_dataset(run, tmp_path, monkeypatch):
    folder = tmp_path / "shipped"
    shutil.copytree(Path(datasets.__file__).parent, folder)
    blocks = {language: text for _, language, text in section("Add a dataset")}
    (folder / "teas.csv").write_text(blocks["text"], encoding="utf-8")
    known = json.loads((folder / "catalogue.json").read_text(encoding="utf-8"))
    known |= json.loads(blocks["json"])
    (folder / "catalogue.json").write_text(json.dumps(known), encoding="utf-8")
    monkeypatch.setattr(datasets, "files", lambda package: folder)
    datasets._catalogue.cache_clear()
    try:
        run("Add a dataset")
        described, log = bd.datasets.describe("teas"), bd.datasets.load("teas", ties="keep")
    finally:
        datasets._catalogue.cache_clear()
    assert (described.n_duels, described.n_arms) == (log.n_duels, log.n_arms) == (29, 3)
    assert described.n_ties == log.n_ties == 2


def test_every_room_is_in_the_plan():
    """The table of rooms has those of tests/test_imports.py, in their order."""
    table = re.findall(r"^\| (`.*?) \|", TEXT, flags=re.M)
    named = [n.removesuffix(".py").rstrip("/") for n in re.findall(r"`([\w/.]+)`", " ".join(table))]
    assert [n for n in named if "bayesduel." not in n] == list(ROOMS)


class Unregistered(models.BradleyTerry):
    """A model without the decorator."""


def test_a_model_that_is_not_registered_is_found_again(registries):
    model = Unregistered() + models.SideAdvantage()
    held = json.loads(json.dumps(models.model_settings(model)))
    assert (
        models.model_from_settings(held) == model != models.BradleyTerry() + models.SideAdvantage()
    )
    with pytest.raises(ValueError, match=r"bayesduel.load\(path, classes=\[...\]\)"):
        models.model_from_settings(held | {"classes": {"gone": "elsewhere:Unregistered"}})


def test_register_refuses_the_name_of_another_model(registries):
    with pytest.raises(ValueError, match="should be new, but another"):
        models.register(Unregistered)


def test_register_takes_the_same_class_again(registries):
    assert models.register(models.BradleyTerry) is models.BradleyTerry
