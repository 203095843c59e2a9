"""Imports of commands, without what libraries bring in vain.

SciPy asks NumPy for all its parts, among them a compiler of Fortran; xarray imports its tutorial.
Such a module runs when an attribute of it is first asked for (:class:`importlib.util.LazyLoader`).
"""

import sys
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

__all__ = ["LATER", "Later"]

LATER = frozenset(
    f"{package}.{name}".removeprefix(".")
    for package, names in {
        "": "asyncio multiprocessing",
        "numpy": "ctypeslib f2py polynomial testing",
        "pandas": "testing",
        "pandas.api": "executors indexers interchange internals typing",
        "scipy": "sparse spatial",
        "xarray": "groupers testing tutorial ufuncs",
    }.items()
    for name in names.split()
)


class Later:
    """A finder of the modules that are left for later."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load a module of `LATER` when it is used, or None for others.

        To import a part of a package that was left for later runs the package, which may import
        that part: it is taken as it is, else there would be two of it.
        """
        if target is None and name in sys.modules:
            return ModuleSpec(name, _Present(sys.modules[name]))
        found = PathFinder.find_spec(name, path, target) if name in LATER else None
        if found is not None and found.loader is not None:
            found.loader = LazyLoader(found.loader)
        return found


class _Present(Loader):
    """A loader of a module that is imported already."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
