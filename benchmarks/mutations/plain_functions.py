"""Pytest plugin: the package's compiled functions run as plain Python.

Compiling a changed function takes longer than its tests. What PyTensor compiles stays compiled.
"""

from collections.abc import Callable
from typing import Any, cast

from bayesduel import jit

__all__ = ["plain"]


def plain(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return a function as it is, with the attribute that compiled functions have."""
    if function is None:
        return plain
    cast(Any, function).py_func = function
    return function


cast(Any, jit).compiled = plain
