"""The package as installed: every subpackage is shipped, and imports point one way."""

import ast
import tomllib
from pathlib import Path

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


def test_every_public_name_loads():
    for name in bayesduel.__all__:
        assert getattr(bayesduel, name) is not None


def imports_of(path):
    """Return the bayesduel modules that `path` imports when it is itself imported."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bayesduel"):
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.startswith("bayesduel.")}
    return {name.split(".")[1] if "." in name else name for name in found}


def test_imports_point_one_way():
    """Lower layers never import higher ones at module level."""
    above = {
        "models": {
            "beliefs",
            "policies",
            "simulation",
            "fitting",
            "plots",
            "reporting",
            "analysis",
            "cli",
        },
        "beliefs": {"policies", "simulation", "plots", "reporting", "cli"},
        "policies": {"simulation", "fitting", "plots", "reporting", "cli"},
        "inference": {"policies", "simulation", "fitting", "plots", "reporting", "cli"},
        "problems": {"policies", "simulation", "plots", "reporting", "cli"},
        "preference": {"reading", "winning", "inference", "fitting", "reporting", "cli"},
        "reading": {"inference", "fitting", "winning", "plots", "reporting", "cli"},
        "winning": {"reading", "plots", "reporting", "cli", "commands"},
        "simulation": {"plots", "reporting", "cli", "commands"},
        "plots": {"reporting", "analysis", "cli", "commands"},
    }
    for room, forbidden in above.items():
        folder = ROOT / "models" if room == "models" else ROOT / "bayesduel" / room
        for path in folder.rglob("*.py"):
            assert not imports_of(path) & forbidden, f"{path.name} imports a higher layer"
    lowest = [ROOT / "bayesduel" / "duels.py", ROOT / "bayesduel" / "tallies.py"]
    for path in [*lowest, *(ROOT / "bayesduel" / "preference").rglob("*.py")]:
        low = imports_of(path) - {"preference"}
        assert not low & (set(above) | {"fitting", "reporting", "cli", "health"}), path.name


def test_no_room_is_named_after_nothing():
    vague = {"utils", "util", "core", "base", "common", "helpers", "misc"}
    modules = [*(ROOT / "bayesduel").rglob("*.py"), *(ROOT / "models").rglob("*.py")]
    assert not {path.stem for path in modules} & vague
