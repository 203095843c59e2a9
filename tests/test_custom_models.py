"""docs/how_to/custom_models.md runs as it stands; classes of one's own need no registration."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.models import (
    BradleyTerry,
    Davidson,
    JudgeReliability,
    Scores,
    SideAdvantage,
    Term,
    Touch,
    model_from_settings,
    model_settings,
)

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "how_to" / "custom_models.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:^`([\w/.]+)`:\n\n)?^```python\n(.*?)^```$", flags=re.M | re.S)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Run the page in a folder; return its names and the folder."""
    folder = tmp_path_factory.mktemp("page")
    scope = {"__name__": "example"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        for file, text in BLOCK.findall(TEXT):
            if file:
                (folder / file).write_text(text, encoding="utf-8")
            else:
                exec(compile(text, "docs/how_to/custom_models.md", "exec"), scope)
        yield scope, folder
    sys.modules.pop("travel", None)


@pytest.mark.slow
def test_the_page_runs_from_start_to_report(page):
    scope, folder = page
    fit, model = scope["fit"], scope["model"]
    assert fit.attrs["method"] == "laplace"  # linear: no NUTS
    assert "travel" in (folder / "travel.html").read_text(encoding="utf-8")
    assert set(scope["compared"].table.index) == {"order", "order and travel"}
    back = scope["again"].duel.model
    assert back == model and hash(back) == hash(model)
    assert isinstance(back.terms.find(scope["Travel"]).places, np.ndarray)
    assert "Unfinished should define design, deviation, name and parameter" in TEXT


@pytest.mark.slow
def test_another_process_is_told_what_to_pass(page):
    _, folder = page
    asked = (
        "import sys, bayesduel as bd\n"
        "classes = []\n"
        "{first}\n"
        "try:\n"
        "    print(bd.winners(bd.load('travel.nc', classes=classes)).sizes['arm'])\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", asked.format(first=first)],
            cwd=folder, capture_output=True, text=True, check=True,
        ).stdout.strip()
        for first in ("", "import travel; classes = [travel.Travel]")
    ]  # fmt: skip
    assert "the class 'travel:Travel'" in found[0]
    assert found[1] == "7"


SHIFT = np.triu(np.ones((3, 3)), 1) - np.tril(np.ones((3, 3)), -1)


@dataclass(frozen=True)
class Bias(Term):
    """A known shift of each pair, times a learned number."""

    shift: np.ndarray

    name: ClassVar[str] = "bias"
    parameter: ClassVar[str] = "bias"
    splits: ClassVar[bool] = False

    def design(self, cells):
        return (Touch((), self.shift[cells["first"], cells["second"]]),)

    def deviation(self, scales, cells, unit):
        return 1.0


@dataclass(frozen=True)
class Wide(Scores):
    """Scores with a prior of their own."""

    weights: np.ndarray = field(default_factory=lambda: np.ones(2))

    @property
    def settings(self):
        return {"scale": self.scale, "weights": self.weights}


@pytest.fixture(scope="module")
def fit():
    rng = np.random.default_rng(1)
    i = rng.integers(0, 3, 60)
    j = (i + rng.integers(1, 3, 60)) % 3
    log = bd.Duels.from_votes(i, j, rng.integers(0, 2, 60).astype(float))
    return bd.fit(log, BradleyTerry() + Bias(SHIFT), draws=200, seed=1)


def test_a_term_that_is_not_registered_takes_the_laplace_path(fit):
    assert fit.attrs["method"] == "laplace"
    assert fit.duel.model == BradleyTerry() + Bias(SHIFT)
    assert bd.winners(fit).sizes["arm"] == 3 and float(bd.predict(fit, "0", "1")["win"]) < 1


def test_dims_that_are_missing_are_named(fit):
    from bayesduel.inference.datatree import datatree
    from bayesduel.inference.draws import PosteriorDraws
    from bayesduel.inference.psis import Certificate, Tails

    certificate = Certificate(khat=0.1, effective=4, n_draws=4, tails=Tails.of_exact(4))
    drawn = PosteriorDraws({"bias": np.zeros((4, 2))}, {}, None, certificate)
    with pytest.raises(ValueError, match="should name the dimensions of 'bias'"):
        datatree(fit.duel.model, None, drawn, (2, 2), {})


def test_arrays_among_settings_compare_and_come_back():
    one, other = Bias(SHIFT), Bias(SHIFT.copy())
    assert one == other and hash(one) == hash(other) and one != Bias(2 * SHIFT)
    assert one != SideAdvantage()
    for model in (
        Davidson() + Bias(SHIFT) + SideAdvantage(),
        BradleyTerry(Wide(2.0)),
        BradleyTerry(Wide()) + Bias(SHIFT) + JudgeReliability(),
    ):
        assert model_from_settings(json.loads(json.dumps(model_settings(model)))) == model
    assert "classes" not in model_settings(Davidson() + SideAdvantage())


def test_a_study_holds_a_model_of_ones_own(tmp_path):
    model = BradleyTerry(Wide(1.0))
    assert bd.Study(tmp_path / "s.db", arms=list("abc"), model=model, seed=1).model == model
    assert bd.Study(tmp_path / "s.db").model == model


def test_what_is_missing_is_named():
    with pytest.raises(TypeError, match="Half should define design, deviation, name and parameter"):
        type("Half", (Term,), {})()

    class Bare(Term):
        weight: float = 1.0
        name: ClassVar[str] = "bare"
        parameter: ClassVar[str] = "bare"
        design = deviation = lambda *a: None

    with pytest.raises(TypeError, match="Bare should be a dataclass: write @dataclass"):
        Bare()


def test_a_term_that_is_no_dataclass_is_named():
    class Plain(Term):
        name = "plain"
        parameter = "plain_effect"
        design = deviation = lambda *a: None

    with pytest.raises(TypeError, match="Plain should be a dataclass: write @dataclass"):
        Plain()


def test_cells_that_lack_what_a_design_reads_are_named():
    @dataclass(frozen=True)
    class Reads(Term):
        name = "reads"
        parameter = "reads_effect"

        def design(self, cells):
            return (Touch((), cells["prompt"]),)

        def deviation(self, scales, cells, unit):
            return 1.0

    words = r"Reads.design reads cells\['prompt'\], which these cells have not: they have 'first'"
    with pytest.raises(KeyError, match=words):
        bd.fit(LOG, BradleyTerry() + Reads(), draws=100)
    with pytest.raises(KeyError, match=words):  # a neutral duel
        Reads().apply(0.0, {}, {"first": np.array([0]), "second": np.array([1])})


LOG = bd.Duels.from_wins([[0, 9, 8], [4, 0, 9], [3, 4, 0]], list("abc"))
DESIGNS = {
    "no tuple": (lambda n: Touch((), np.ones(n)), TypeError, "a tuple of Touch"),
    "numbers alone": (lambda n: (np.ones(n),), TypeError, "a tuple of Touch"),
    "a place": (lambda n: (Touch(0, np.ones(n)),), ValueError, r"one place per cell, \(3,\)"),
    "one place": (lambda n: (Touch((0,), np.ones(n)),), ValueError, "one place per cell"),
    "a number": (lambda n: (Touch((), 1.0),), ValueError, r"a number per cell, \(3,\)"),
    "a gap": (
        lambda n: (Touch((), np.where(np.arange(n), 1.0, np.nan)),),
        ValueError,
        "finite numbers, got nan in 1 of 3 cells",
    ),
    "turned": (lambda n: (Touch((), np.ones((2, n))),), ValueError, r"the shape \(2, 3\)"),
}


@pytest.mark.parametrize("case", DESIGNS)
def test_a_design_of_another_form_is_refused_in_words(case):
    made, error, words = DESIGNS[case]

    @dataclass(frozen=True)
    class Own(Term):
        name = "own"
        parameter = "own_effect"

        def design(self, cells):
            return made(len(cells["first"]))

        def deviation(self, scales, cells, unit):
            return 1.0

    with pytest.raises(error, match=f"Own.design should .*{words}"):
        bd.fit(LOG, BradleyTerry() + Own())


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"dims": ("size",)}, r"Own.dims should be the dimensions of each parameter by its name"),
        ({"coords": {"size": ["a", "b"]}}, "Own.coords should be a method that takes the log"),
    ],
)
def test_dimensions_of_another_form_are_refused_in_words(own, words):
    with pytest.raises(TypeError, match=words):
        type("Own", (Term,), own)


# What multiplies the coefficients of a term, and whether that is a difference of sides.
ORIENTED = {
    "difference": (lambda cells: (Touch((), cells["gap"]),), True),
    "scores": (
        lambda cells: (
            Touch((cells["first"],), np.ones(len(cells["first"]))),
            Touch((cells["second"],), -np.ones(len(cells["first"]))),
        ),
        True,
    ),
    "constant": (lambda cells: (Touch((), np.ones(len(cells["first"]))),), False),
    "squared": (lambda cells: (Touch((), cells["gap"] ** 2),), False),
    "first alone": (lambda cells: (Touch((cells["first"],), np.ones(len(cells["first"]))),), False),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("about_sides", [True, False])
@pytest.mark.parametrize("kind", ORIENTED)
def test_a_term_that_does_not_turn_with_the_sides_says_so(kind, about_sides):
    """Before, such a term was an advantage of a side that nobody asked for."""
    touched, turns = ORIENTED[kind]

    @dataclass(frozen=True)
    class Oriented(Term):
        name = "oriented"
        parameter = "oriented_effect"
        dims = {"oriented_effect": ("arm",)} if kind in ("scores", "first alone") else {}
        reads = ("gap",)
        reads_order = about_sides

        def columns(self, log):
            return {"gap": log.votes.covariates[:, 0]}

        def design(self, cells):
            return touched(cells) if "gap" in cells else ()

        def deviation(self, scales, cells, unit):
            return 0.5 * unit

    rng = np.random.default_rng(2)
    votes = {"left": list("abca" * 10), "right": list("bcab" * 10), "gap": rng.normal(size=40)}
    log = bd.read_duels(votes | {"outcome": rng.integers(0, 2, 40)}, covariates=["gap"])
    model = bd.models.Thurstone() + Oriented()
    if turns or about_sides:
        assert "oriented" in bd.fit(log, model, draws=100, method="laplace").attrs["model"]
        return
    with pytest.raises(ValueError, match=r"Oriented\.design should change its sign"):
        bd.fit(log, model, draws=100, method="laplace")
