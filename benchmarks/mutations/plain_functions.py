"""Pytest plugin: compiled functions of the mutated rooms, and of all that call them, run as Python.

Compiling a changed function takes longer than its tests. What stands below these rooms (models,
preferences) is not mutated and stays compiled, as does what PyTensor compiles.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from bayesduel import jit

__all__ = ["plain"]

BELOW = ("bayesduel.models", "bayesduel.preference")
compiled = jit.compiled


def plain(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return a function as it is, with the attribute that compiled functions have."""
    if function is None:
        return lambda wrapped: plain(wrapped, **options)
    if function.__module__.startswith(BELOW):
        return compiled(function, **options) if options else compiled(function)
    cast(Any, function).py_func = function
    return function


cast(Any, jit).compiled = plain
np.seterr(over="ignore")  # compiled integers wrap around without a warning
