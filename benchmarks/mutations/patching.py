"""A mutation of imported code: functions get new code in place, and nothing is imported anew."""

import gc
import inspect
from pathlib import Path
from types import CodeType, FunctionType

from benchmarks.mutations.mutation import Mutation

__all__ = ["Index", "alive", "apply", "changed", "index"]

Place = tuple[str, int]  # qualified name and first line of a function
Index = dict[tuple[str, str, int], list[FunctionType]]


def changed(mutation: Mutation, root: Path) -> dict[Place, CodeType] | None:
    """Return the new code of the functions that a mutation changes.

    None if it changes what runs at import: a constant, a default or the body of a class. Empty if
    the code is the same with it.
    """
    path = root / mutation.path
    text = path.read_text(encoding="utf-8")
    before = compile(text, str(path), "exec", dont_inherit=True)
    after = compile(mutation.applied(text), str(path), "exec", dont_inherit=True)
    if before == after:
        return {}
    old, new = _functions(before), _functions(after)
    found = {place: code for place, code in new.items() if old.get(place) != code}
    return found or None


def index(root: str) -> Index:
    """Return all function objects of a folder, by file, qualified name and first line."""
    found: Index = {}
    gc.unfreeze()  # tests/conftest.py hides what is there once the tests are collected
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename.startswith(root):
            code = thing.__code__
            place = (code.co_filename, code.co_qualname, code.co_firstlineno)
            found.setdefault(place, []).append(thing)
    return found


def alive(
    new: dict[Place, CodeType], path: str, functions: Index
) -> list[tuple[FunctionType, CodeType]]:
    """Return the function objects of a file that have new code, each with it."""
    return [
        (function, code)
        for place, code in new.items()
        for function in functions.get((path, *place), ())
    ]


def apply(found: list[tuple[FunctionType, CodeType]]) -> None:
    """Give functions their new code."""
    for function, code in found:
        function.__code__ = code


def _functions(code: CodeType) -> dict[Place, CodeType]:
    """Return the functions of a module and of its classes; those inside functions are theirs."""
    found = {}
    for part in code.co_consts:
        if isinstance(part, CodeType):
            if part.co_flags & inspect.CO_OPTIMIZED:
                found[part.co_qualname, part.co_firstlineno] = part
            else:
                found |= _functions(part)
    return found
