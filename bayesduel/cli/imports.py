"""Imports of ``FILE.py:NAME`` on a command line: a class, a function or an object of a file."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from bayesduel.system.arguments import did_you_mean

__all__ = ["FILE_NAME", "of_file"]

FILE_NAME = re.compile(r"""([^(),='"]+\.py):\s*(\w+)""")


def of_file(file: str, name: str, option: str) -> Any:
    """Return what a file of the user's calls `name`; its module is one that processes find."""
    import sys
    from importlib import import_module

    path = Path(file).resolve()
    if not path.is_file():
        raise click.UsageError(f"{option} should name a file, got {file!r}, which does not exist")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # behind what is installed
    module = import_module(path.stem)
    if Path(str(module.__file__)).resolve() != path:
        raise click.UsageError(
            f"{option} should name a file whose name is not that of a module, got {file!r}"
        )
    if not hasattr(module, name):
        own = [n for n, one in vars(module).items() if _is_of(one, module)]
        has = f" ({', '.join(own)})" if own else ""
        hint = did_you_mean(name, own)
        raise click.UsageError(f"{option} should name what {file} has{has}, got {name!r}{hint}")
    return getattr(module, name)


def _is_of(value: Any, module: ModuleType) -> bool:
    """Return whether a class, a function or an object is made in a module."""
    made = value if hasattr(value, "__qualname__") else type(value)
    return getattr(made, "__module__", None) == module.__name__
