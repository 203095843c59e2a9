"""Warnings that name the user's line, however deep in the package they are raised."""

import contextlib
import os
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path

__all__ = ["BayesduelWarning", "unwarned", "warn"]

PACKAGE = Path(__file__).parents[1]


class BayesduelWarning(UserWarning):
    """A warning of the package: what other libraries warn of is not one."""


def warn(message: str, category: type[Warning] = BayesduelWarning) -> None:
    """Warn at the line that called the package."""
    warnings.warn(message, category, skip_file_prefixes=_own_files())


def unwarned() -> "warnings.catch_warnings[None]":
    """Return a context in which the package warns of nothing: for fits of parts of a log."""
    return warnings.catch_warnings(action="ignore", category=BayesduelWarning)


@cache
def _own_files() -> tuple[str, ...]:
    """Return how the names of files begin whose lines are not the user's."""
    models = find_spec("bayesduel.models")  # found, not imported: it brings PyMC
    folders = [PACKAGE, *map(Path, models.submodule_search_locations or ())] if models else []
    # A name that is the whole of a file's is not skipped by Python 3.13, so its ending is left out.
    context_managers = str(Path(contextlib.__file__).with_suffix(""))
    return (*(f"{folder}{os.sep}" for folder in folders), context_managers)
