"""Imports point one way: a room imports only rooms above it in one list."""

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Rooms that all three wings stand on, and the wings themselves, from the ground up.
GROUND = ("system", "jit", "intervals", "text", "records", "preference", "margins")
ANALYSIS = (
    "data",
    "models",
    "inference",
    "posterior",
    "criticism",
    "plots",
    "reporting",
    "sklearn",
)
BANDITS = ("beliefs", "policies", "problems", "simulation")
STUDIES = ("study", "serve")
ROOMS = (*GROUND, *ANALYSIS, *BANDITS, *STUDIES, "cli")


@cache
def modules():
    """Return the name of every module of the package and the file it is in."""
    found = {}
    rooms = ((ROOT / "bayesduel", "bayesduel"), (ROOT / "models", "bayesduel.models"))
    for folder, prefix in rooms:
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join((prefix, *(p for p in parts if p != "__init__")))] = path
    return found


def statements(node):
    """Yield the statements in a node, at any depth: imports are in no expression."""
    for within in ("body", "orelse", "finalbody", "handlers", "cases"):
        for one in getattr(node, within, ()):
            yield one
            yield from statements(one)


@cache
def imports_of(path):
    """Return the modules of the package that `path` imports, lazily or for types only too."""
    known = set(modules())
    found = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bayesduel"):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & known) or {node.module}
        elif isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.startswith("bayesduel")}
    return found


def room(name):
    """Return the room of a module, or "" for the package itself."""
    return name.split(".")[1] if "." in name else ""


def test_every_module_is_in_a_room():
    assert {room(name) for name in modules()} - set(ROOMS) == {"", "__main__"}


def test_no_room_imports_a_room_below_it():
    found = modules()
    upward = sorted(
        f"{name} -> {other}"
        for name, path in found.items()
        for other in imports_of(path)
        if room(name) in ROOMS and room(other) in ROOMS
        if ROOMS.index(room(other)) > ROOMS.index(room(name))
    )
    assert not upward, "\n".join(upward)


WINGS = {"analysis": (ANALYSIS, (*BANDITS, *STUDIES)), "bandits": (BANDITS, STUDIES)}
REACHED = {  # what people call, and the wings that it never loads
    "bd.report(bd.fit(LOG, draws=100))": (*BANDITS, *STUDIES),
    "bd.simulate(bd.policies.Uniform(), 'cyclic-4', 10, workers=1, seed=1)": STUDIES,
}


@pytest.mark.parametrize("wing", WINGS)
def test_a_wing_stands_without_those_above_it(wing):
    own, above = WINGS[wing]
    found = modules()
    reached = sorted(
        f"{name} -> {other}"
        for name, path in found.items()
        for other in imports_of(path)
        if room(name) in own and room(other) in above
    )
    assert not reached, "\n".join(reached)


@pytest.mark.parametrize("call", REACHED)
def test_a_call_loads_no_room_of_another_wing(call, tmp_path):
    code = f"""import sys
import bayesduel as bd
LOG = bd.Duels.from_wins([[0, 9, 8], [4, 0, 9], [3, 4, 0]], ["a", "b", "c"])
{call}
print(*{{name.split(".")[1] for name in sys.modules if name.startswith("bayesduel.")}})
"""
    plain = {"NUMBA_DISABLE_JIT": "1"} if "simulate" in call else {}  # nothing to compile anew
    how = {"check": True, "capture_output": True, "text": True, "cwd": tmp_path}
    how["env"] = os.environ | plain
    done = subprocess.run([sys.executable, "-c", code], **how)
    loaded = {*done.stdout.split()}
    assert loaded >= {"inference", "models"} or "policies" in loaded  # the rooms are listed
    assert loaded.isdisjoint(REACHED[call])


def test_a_study_loads_no_policies_that_it_does_not_play(tmp_path):
    code = """import sys
import bayesduel as bd
study = bd.Study("own.study", arms=list("abc"), stop=None)
bd.Study("own.study").tell(study.ask(), "left")
print(*[name for name in sys.modules if name.startswith("bayesduel.policies.")])
"""
    how = {"check": True, "capture_output": True, "text": True, "cwd": tmp_path}
    done = subprocess.run([sys.executable, "-c", code], **how)
    loaded = {*done.stdout.split()}
    assert "bayesduel.policies.contrast_allocation" in loaded
    assert len(loaded) <= 6  # of some eighty


def test_no_circle_of_modules():
    """Depth-first search over all imports, lazy and type-only ones too."""
    found = modules()
    arrows = {name: imports_of(path) & set(found) for name, path in found.items()}
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name in done:
            return
        path.append(name)
        for other in sorted(arrows[name] - {"bayesduel", name}):
            visit(other)
        path.pop()
        done.add(name)

    for name in sorted(arrows):
        visit(name)
