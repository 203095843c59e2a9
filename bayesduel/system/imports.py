"""Imports without what libraries bring in vain, and without looking for garbage.

SciPy asks NumPy for all its parts, among them a compiler of Fortran; xarray imports its tutorial.
Such a module runs when an attribute of it is first asked for (:class:`importlib.util.LazyLoader`).
"""

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

__all__ = ["LATER", "Later", "quick_imports"]

LATER = frozenset(
    f"{package}.{name}".removeprefix(".")
    for package, names in {
        "": "asyncio multiprocessing",
        "numpy": "ctypeslib f2py polynomial testing",
        "pandas": "testing",
        "pandas.api": "executors indexers interchange internals typing",
        "scipy": "sparse spatial",
        "xarray": "groupers indexes testing tutorial ufuncs",
    }.items()
    for name in names.split()
)


class Later:
    """A finder of the modules that are left for later."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load a module of `LATER` when it is used, or None for others."""
        found = PathFinder.find_spec(name, path, target) if name in LATER else None
        if found is not None and found.loader is not None:
            found.loader = LazyLoader(found.loader)
        return found


@contextmanager
def quick_imports() -> Iterator[None]:
    """Leave what is in `LATER` for later, and garbage: all that imports make stays."""
    collecting = gc.isenabled()
    gc.disable()
    sys.meta_path.insert(0, Later)
    try:
        yield
    finally:
        sys.meta_path.remove(Later)
        if collecting:
            if not gc.get_freeze_count():  # all of it becomes old, as if it had been looked through
                gc.freeze()
                gc.unfreeze()
            gc.enable()
