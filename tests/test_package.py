"""The package as installed: every subpackage is shipped, every public name loads."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import bayesduel

ROOT = Path(__file__).parents[1]


def settings():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_subpackage_is_listed_for_shipping():
    listed = set(settings()["tool"]["setuptools"]["packages"])
    found = {
        ".".join(("bayesduel", *path.parent.relative_to(ROOT / "bayesduel").parts))
        for path in (ROOT / "bayesduel").rglob("__init__.py")
    }
    assert listed == found | {"bayesduel.models"}


def test_mypy_reads_the_models_under_their_shipped_name():
    """Else ``bayesduel.models`` is Any to mypy, and nothing that uses a model is checked."""
    mypy = settings()["tool"]["mypy"]
    seen = ROOT / mypy["mypy_path"] / "bayesduel" / "models"
    assert seen.resolve() == ROOT / "models"
    assert str(seen.relative_to(ROOT)) in mypy["files"]
    assert "models" not in mypy["files"]


def test_every_public_name_loads():
    for name in bayesduel.__all__:
        assert getattr(bayesduel, name) is not None


def test_no_room_is_named_after_nothing():
    vague = {"utils", "util", "core", "base", "common", "helpers", "misc"}
    modules = [*(ROOT / "bayesduel").rglob("*.py"), *(ROOT / "models").rglob("*.py")]
    assert not {path.stem for path in modules} & vague


def test_nobody_asks_a_model_what_kind_it_is():
    """The contract (bayesduel.models.Model) answers; a new kind of model needs no new question."""
    allowed = r"Model\)|ScoreModel\)|str\)|xr\."
    asked = re.compile(rf"hasattr\(model|model\.(link|name) ==|isinstance\(model, (?!{allowed})")
    for path in [*(ROOT / "bayesduel").rglob("*.py"), *(ROOT / "models").rglob("*.py")]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not asked.search(line), f"{path.relative_to(ROOT)}:{number}: {line.strip()}"


ROOMS = [name for name in bayesduel.__all__ if isinstance(getattr(bayesduel, name), ModuleType)]
OF_ROOMS = {name for room in ROOMS for name in getattr(bayesduel, room).__all__}
ELSEWHERE = sorted(OF_ROOMS - {*bayesduel.__all__, "text"})  # bayesduel.text is a module


def test_names_on_bd_are_few_and_the_usual_ones():
    assert len(bayesduel.__all__) <= 90
    for name in ("BradleyTerry", "Thurstone", "Davidson", "CumulativeLogit", "ThurstoneScore"):
        assert getattr(bayesduel, name) is getattr(bayesduel.models, name)
    for name in ("plot_ranking", "plot_winners", "plot_preference", "plot_regret"):
        assert getattr(bayesduel, name) is getattr(bayesduel.plots, name)
    assert bayesduel.Study is bayesduel.study.Study
    assert {"DTS", "top_k"} <= {*dir(bayesduel.policies)}


@pytest.mark.parametrize(
    "name", ["HorizonPolicy", "IdentificationPolicy", "ItemPolicy", "PairPolicy"]
)
def test_what_a_policy_inherits_from_is_in_the_room_of_policies(name):
    base = getattr(bayesduel.policies, name)
    assert base.__module__ == "bayesduel.policies.policy"
    assert name not in bayesduel.policies.__all__  # which lists policies that play


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_name_of_a_room_says_where_it_lives(name):
    with pytest.raises(AttributeError) as refused:
        getattr(bayesduel, name)
    place = str(refused.value).partition("; it is bayesduel.")[2]
    room, _, own = place.partition(".")
    assert own == name
    assert name in getattr(bayesduel, room).__all__
    assert getattr(getattr(bayesduel, room), own) is not None


@pytest.mark.parametrize("name", ["Nothing", "plot_nothing", "__wrapped__", "_repr_html_"])
def test_a_name_of_nothing_says_nothing_more(name):
    for room in (bayesduel, bayesduel.policies, bayesduel.study, bayesduel.plots):
        with pytest.raises(AttributeError, match=rf"no attribute '{name}'$"):
            getattr(room, name)


def test_the_start_of_names_says_what_they_are():
    with pytest.raises(AttributeError) as refused:
        bayesduel.compare  # noqa: B018  # what users of ArviZ ask for
    found = "there is bayesduel.compare_models and bayesduel.compare_policies"
    assert str(refused.value).endswith(f"; {found}")


def test_a_missing_name_loads_no_room():
    code = (
        "import sys, bayesduel\n"
        "before = set(sys.modules)\n"
        "for name in ('DTS', 'Budget', 'SideAdvantage', 'plot_judges', 'Nothing', 'describe'):\n"
        "    assert not hasattr(bayesduel, name)\n"
        "print(*(name for name in set(sys.modules) - before if 'bayesduel' in name))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []
