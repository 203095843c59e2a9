"""The package as installed: every subpackage is shipped, every public name loads."""

import re
import tomllib
from pathlib import Path

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


def test_the_usual_models_are_at_hand_and_others_say_where_they_live():
    for name in ("BradleyTerry", "Thurstone", "Davidson", "CumulativeLogit", "ThurstoneScore"):
        assert getattr(bayesduel, name) is getattr(bayesduel.models, name)
    with pytest.raises(AttributeError, match=r"it is bayesduel\.models\.OrderEffect"):
        _ = bayesduel.OrderEffect
    with pytest.raises(AttributeError, match=r"no attribute 'Nothing'$"):
        _ = bayesduel.Nothing
