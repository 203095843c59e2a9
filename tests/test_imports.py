"""Imports point one way: a room imports only rooms above it in one list."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = (
    "system",
    "jit",
    "intervals",
    "text",
    "preference",
    "data",
    "models",
    "inference",
    "posterior",
    "beliefs",
    "policies",
    "problems",
    "criticism",
    "simulation",
    "study",
    "plots",
    "reporting",
    "sklearn",
    "serve",
    "cli",
)


def modules():
    """Return the name of every module of the package and the file it is in."""
    found = {}
    rooms = ((ROOT / "bayesduel", "bayesduel"), (ROOT / "models", "bayesduel.models"))
    for folder, prefix in rooms:
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join((prefix, *(p for p in parts if p != "__init__")))] = path
    return found


def imports_of(path, known):
    """Return the modules of the package that `path` imports, lazily or for types only too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
        for other in imports_of(path, set(found))
        if room(name) in ROOMS and room(other) in ROOMS
        if ROOMS.index(room(other)) > ROOMS.index(room(name))
    )
    assert not upward, "\n".join(upward)


def test_no_circle_of_modules():
    """Depth-first search over all imports, lazy and type-only ones too."""
    found = modules()
    arrows = {name: imports_of(path, set(found)) & set(found) for name, path in found.items()}
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
