"""The worked examples of CONTRIBUTING.md run as they stand there."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

import bayesduel as bd
from bayesduel import models
from bayesduel.data import datasets

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
    for table in ("MODELS", "LAYERS"):
        monkeypatch.setattr(models, table, dict(getattr(models, table)))


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


def test_a_policy(run):
    trace = run("Add a policy")["trace"]
    assert float(bd.regret(trace, "copeland").isel(time=-1).min()) > 0


def test_a_model(run, tmp_path):
    found = run("Add a model")
    fit, duels = found["fit"], found["duels"]
    assert fit.attrs["model"] == "order-effect(lapse)" and fit.attrs["method"] == "laplace"
    assert bd.winners(fit).sizes["arm"] == duels.n_arms
    P = next(bd.preference_draws(fit))
    assert P.min() > 0.01 and P.max() < 0.99
    path = bd.report(fit, tmp_path / "report.html", duels=duels)
    assert "lapse + order effect" in path.read_text(encoding="utf-8")


def test_a_layer(run):
    fit = run("Add a layer")["fit"]
    assert fit.attrs["method"] == "laplace"
    assert fit["posterior"].sizes["judge"] == 8


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


def test_a_dataset(run, tmp_path, monkeypatch):
    folder = tmp_path / "shipped"
    shutil.copytree(Path(datasets.__file__).parent, folder)
    blocks = {language: text for _, language, text in section("Add a dataset")}
    (folder / "teas.csv").write_text(blocks["csv"], encoding="utf-8")
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
    rooms = re.search(
        r"^ROOMS = \((.*?)^\)", (ROOT / "tests/test_imports.py").read_text(), re.M | re.S
    )
    table = re.findall(r"^\| (`.*?) \|", TEXT, flags=re.M)
    named = [n.removesuffix(".py").rstrip("/") for n in re.findall(r"`([\w/.]+)`", " ".join(table))]
    assert [n for n in named if "bayesduel." not in n] == re.findall(r'"(\w+)"', rooms.group(1))


class Unregistered(models.BradleyTerry):
    """A model without the decorator."""


def test_a_model_that_is_not_registered_is_found_again():
    model = models.OrderEffect(Unregistered())
    held = json.loads(json.dumps(models.model_settings(model)))
    assert models.model_from_settings(held) == model != models.OrderEffect()
    with pytest.raises(ValueError, match="import the module 'elsewhere' first"):
        models.model_from_settings(held | {"classes": {"gone": "elsewhere:Unregistered"}})


def test_register_refuses_the_name_of_another_model(registries):
    with pytest.raises(ValueError, match="should not be that of another model"):
        models.register(Unregistered)


def test_register_takes_the_same_class_again(registries):
    assert models.register(models.BradleyTerry) is models.BradleyTerry
