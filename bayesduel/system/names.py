"""Public names of a package whose modules load when a name is first asked for (PEP 562)."""

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["names_on_demand"]


def names_on_demand(
    package: str,
    homes: Mapping[str, str],
    rooms: Mapping[str, str],
    extras: Mapping[str, str] | None = None,
    bases: Mapping[str, str] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    package: its name
    homes: the public names of each module of the package, parted by spaces; a module of another
        package is named from here, with dots in front
    rooms: the packages that are reached as attributes, by the attribute
    extras: further ones, which are not listed
    bases: further names as in `homes`, which are not listed
    renamed: names of today by earlier ones
    """
    reached = {**rooms, **(extras or {})}
    public = list(_home_of(homes))
    home_of = _home_of({**homes, **(bases or {})})

    def named(name: str) -> Any:
        if name in reached:
            return import_module(reached[name])
        if renamed and name in renamed:
            raise AttributeError(f"{package}.{name} is now called {package}.{renamed[name]}")
        if name not in home_of:
            where = place(name, package, rooms) or longer(name, package, public)
            raise AttributeError(f"module {package!r} has no attribute {name!r}{where}")
        home = home_of[name]
        module = home if home.startswith(".") else f".{home}"
        value = getattr(import_module(module, package), name)
        setattr(sys.modules[package], name, value)
        return value

    return public, named, lambda: sorted([*public, *rooms])


def _home_of(homes: Mapping[str, str]) -> dict[str, str]:
    """Return the module of each name."""
    return {name: home for home, names in homes.items() for name in names.split()}


def place(name: str, package: str, rooms: Mapping[str, str]) -> str:
    """Return in which of the rooms a name is, in words, or nothing. No room is loaded for it.

    Names with an underscore are those that tools ask every module for.
    """
    if name.startswith("_"):
        return ""
    for room, module in rooms.items():
        if name in words_of(module):
            return f"; it is {package}.{room}.{name}"
    return ""


def longer(name: str, package: str, public: Sequence[str]) -> str:
    """Return in words which names go on where `name` ends, or nothing."""
    found = [f"{package}.{other}" for other in public if other.startswith(f"{name}_")]
    return f"; there is {' and '.join(found)}" if found else ""


def words_of(module: str) -> set[str]:
    """Return the words of the texts in the code of a package: a table of names, or ``__all__``."""
    top, room, *inner = module.split(".")
    spec = find_spec(f"{top}.{room}")
    if spec is None or spec.origin is None:
        return set()
    path = Path(spec.origin).parent.joinpath(*inner, "__init__.py")
    _, *code = ast.parse(path.read_text(encoding="utf-8")).body  # the first is the docstring
    nodes = [node for part in code for node in ast.walk(part)]
    modules = {key for node in nodes if isinstance(node, ast.Dict) for key in node.keys}
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and node not in modules)
    return {word for text in texts if isinstance(text, str) for word in text.split()}
