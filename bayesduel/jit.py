"""Compiled functions whose cache on disk goes stale when anything they call changes.

Numba stamps a cached function with the file it stands in. A policy's `select` calls the
belief layer, which stands in other files: edit those and the old machine code would be
loaded without a word. ``compiled`` is ``numba.njit(cache=True)`` with a stamp that also
covers every compiled function the module names.

``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from numba import njit

__all__ = ["compiled", "with_globals"]


def compiled(function: Callable[..., Any]) -> Any:
    """Return `function` compiled on first use, cached on disk and stamped by what it calls.

    The functions it calls should be names of its module (or of an import at the top):
    a function received as an argument or held in a closure would be compiled again in
    every process.
    """
    dispatcher: Any = njit(cache=True)(function)
    stamps = {
        stamp
        for value in getattr(function, "__globals__", {}).values()
        for stamp in getattr(value, "_bayesduel_stamps", ())
    }
    index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    own = getattr(index, "_source_stamp", None)
    if own is not None:  # Otherwise not compiled (NUMBA_DISABLE_JIT) or no cache folder.
        file = function.__code__.co_filename
        dispatcher._bayesduel_stamps = frozenset({*stamps, (file, own)})
        index._source_stamp = (own, tuple(sorted(dispatcher._bayesduel_stamps)))
    return dispatcher


def with_globals(function: Any, name: str, **names: Any) -> Any:
    """Return a compiled copy of a plain function in which some global names mean others.

    Parameters
    ----------
    function
        A plain Python function of some module: the pattern.
    name
        What to call the copy; its cache on disk is kept under this name.
    names
        The global names to replace, e.g. ``select=dts.select``.
    """
    scope = {**function.__globals__, **names}
    copy = FunctionType(function.__code__, scope, name, function.__defaults__)
    copy.__qualname__ = name
    copy.__module__ = function.__module__
    return compiled(copy)
