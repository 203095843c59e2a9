"""Compiled functions, cached on disk until anything that they call changes.

Numba stamps a cached function with the file it stands in. A policy's `select` calls the
belief layer, which stands in other files: edit those, and the old machine code would still be
loaded. ``compiled`` is ``numba.njit(cache=True)`` with a stamp that also covers every compiled
function that the module names. Numba is imported by the first call of a compiled function: small
logs need none.

``NUMBA_DISABLE_JIT=1`` runs the same code as plain Python.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property, partial, update_wrapper
from types import FunctionType
from typing import Any, Protocol, cast, overload

__all__ = [
    "Compiled",
    "compiled",
    "interpreted",
    "interpreting",
    "is_compiled",
    "tell_if_it_compiles",
    "with_globals",
]

logger = logging.getLogger(__name__)
_plain: ContextVar[bool | None] = ContextVar("plain", default=None)


class Compiled[**P, R](Protocol):
    """A compiled function.

    py_func: the plain Python function.
    """

    __name__: str
    __module__: str

    @property
    def py_func(self) -> Callable[P, R]:
        """The plain Python function."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the machine code for the types of these arguments, compiled on first use."""


@overload
def compiled[**P, R](function: Callable[P, R], /) -> Compiled[P, R]: ...


@overload
def compiled[**P, R](
    function: None = None, /, **options: Any
) -> Callable[[Callable[P, R]], Compiled[P, R]]: ...


def compiled(function: Any = None, /, **options: Any) -> Any:
    """Return `function` compiled on first use, cached on disk and stamped by what it calls.

    With `options` of ``numba.njit`` alone it is a decorator of these.

    A function that was typed in (standard input, a prompt) is compiled in every process, with
    what calls it.

    The functions it calls should be names of its module (or of an import at the top):
    a function received as an argument or held in a closure would be compiled again in
    every process.
    """
    if function is None:
        return partial(compiled, **options)
    return _OnFirstUse(function, options)


def is_compiled(function: Any) -> bool:
    """Return whether machine code of a compiled function is at hand, in memory or on disk."""
    if not hasattr(function, "overloads"):
        return True  # plain Python (NUMBA_DISABLE_JIT)
    index: Any = getattr(getattr(function, "_cache", None), "_cache_file", None)
    return bool(function.overloads) or (index is not None and bool(index._load_index()))


@contextmanager
def interpreted(yes: bool = True) -> Iterator[None]:
    """Run compiled functions as plain Python meanwhile, in this thread; not so if `yes` is false.

    The outermost use decides.
    """
    outer = _plain.get()
    before = _plain.set(yes if outer is None else outer)
    try:
        yield
    finally:
        _plain.reset(before)


def interpreting[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that runs as plain Python, with every compiled function that it calls."""

    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with interpreted():
            return function(*args, **kwargs)

    return run


def tell_if_it_compiles(function: Any, name: str) -> None:
    """Log that the first call of a function compiles it, if no machine code is at hand."""
    if not is_compiled(function):
        kept = getattr(getattr(function, "_cache", None), "_cache_file", None)
        how = "once per installation" if kept else "in every process (it was typed in)"
        logger.warning("Compiling %s, %s: it may take some minutes.", name, how)


def with_globals[**P, R](function: Callable[P, R], name: str, **names: Any) -> Compiled[P, R]:
    """Return a compiled copy of a plain function in which some global names mean others.

    function: a plain Python function of some module: the pattern.
    name: what to call the copy; its cache on disk is kept under this name.
    names: the global names to replace, e.g. ``select=dts.select``.
    """
    plain = cast(FunctionType, function)
    scope = {**plain.__globals__, **names}
    copy = FunctionType(plain.__code__, scope, name, plain.__defaults__)
    copy.__qualname__ = name
    copy.__module__ = plain.__module__
    return compiled(cast(Callable[P, R], copy))


class _OnFirstUse:
    """A compiled function that hands everything to Numba's dispatcher, made when first needed.

    Code that Numba compiles may call it by name: its ``_numba_type_`` is that of the dispatcher.
    """

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._options = options
        known = function.__globals__.values()
        self._named = [value for value in known if type(value) is _OnFirstUse]  # runs no module

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _plain.get():
            return self.py_func(*args, **kwargs)
        return self._dispatcher(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)

    def __reduce__(self) -> Any:
        made = self._dispatcher
        return _sent, (made, getattr(made, "_bayesduel_stamps", None))

    @cached_property
    def _dispatcher(self) -> Any:
        from numba import njit

        # What calls a function that was typed in has no stamp that would tell of a change.
        stamped = all(hasattr(value, "_bayesduel_stamps") for value in self._named)
        try:
            # no wrapper for C, which nothing calls: a tenth of the time that VACDB compiles
            options = {"no_cfunc_wrapper": True, **self._options}
            made: Any = njit(cache=stamped, **options)(self.py_func)
        except RuntimeError as error:  # typed in: no file beside which to keep machine code
            if "no locator available" not in str(error):
                raise
            made = njit(**self._options)(self.py_func)
        index: Any = getattr(getattr(made, "_cache", None), "_cache_file", None)
        own = getattr(index, "_source_stamp", None)
        if own is not None:  # Otherwise not compiled (NUMBA_DISABLE_JIT) or no cache folder.
            stamps = {(self.py_func.__code__.co_filename, own)}
            stamps.update(*(value._bayesduel_stamps for value in self._named))
            made._bayesduel_stamps = frozenset(stamps)
            index._source_stamp = (own, tuple(sorted(stamps)))
            index._load_index = _loader(index._load_index)
        return made


@cache
def _sent(made: Any, stamps: frozenset[Any] | None) -> _OnFirstUse:
    """Return what another process sent: a function of its main module, with the stamps of there."""
    function = _OnFirstUse(getattr(made, "py_func", made), {})
    function.__dict__["_dispatcher"] = made
    if stamps is not None:
        made._bayesduel_stamps = stamps
    return function


def _loader(load: Callable[[], dict[Any, Any]]) -> Callable[[], dict[Any, Any]]:
    """Return Numba's loader of a cache index, reading an index of lost types as empty.

    The index is a pickle that names the types of arguments: one that was renamed since cannot
    be read, and its machine code is stale anyway.
    """

    def loaded() -> dict[Any, Any]:
        try:
            return load()
        except (AttributeError, ImportError):
            return {}

    return loaded
