"""The options of :func:`bayesduel.read_duels`, checked."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, get_args

from bayesduel.data.read.coding import OF_SOURCE
from bayesduel.data.read.meaning import means_of
from bayesduel.data.read.outcomes import CODINGS
from bayesduel.data.read.reading_options import COLUMNS, TieRule
from bayesduel.data.votes import LARGEST_GRADE
from bayesduel.system.arguments import (
    check_flag,
    check_one_of,
    check_type,
    listed,
    shown_value,
    texts_of,
)

__all__ = ["NAMES", "SIDES", "checked_options"]

SIDES = ("left", "right")
NAMES = ("covariates", "keep")  # options that are lists of columns


def checked_options(given: dict[str, Any], by: object) -> dict[str, Any]:
    """Return options with tuples for lists; raise TypeError or ValueError for a wrong one."""
    check_one_of(given["ties"], "ties", get_args(TieRule))
    if given["coding"] is not None:
        check_one_of(given["coding"], "coding", CODINGS)
    for name, value in (given | {"by": by}).items():
        if name in COLUMNS:
            _check_column(name, value)
    check_flag(given["lower_is_better"], "lower_is_better")
    if given["means"] is not None:
        means_of(given["means"])
    if given["grades"] is not None:
        _check_ends(given["grades"])
    if given["shape"] is not False:
        check_type(given["shape"], str | None, "shape", "the name of a shape, None or False")
    for name in OF_SOURCE[1:]:
        check_type(given[name], str | None, name, "a text or None")
    if given["teams"] is not None:
        check_type(given["teams"], str, "teams", "the text between the members of a side")
        if not given["teams"]:
            raise ValueError("teams should be a text such as ',', got ''")
    lists = {name: _names_of(given[name], name) for name in NAMES}
    for side in SIDES:
        if not isinstance(given[side], str):
            lists[side] = _names_of(given[side], side)
    return given | lists | {"missing": texts_of(given["missing"], "missing")}


def _check_ends(ends: object) -> None:
    """Raise TypeError or ValueError unless the ends of a scale of grades are two whole numbers."""
    rule = (
        "grades should be the whole numbers that are best for left and for right, such as (1, 5), "
        f"at most {2 * LARGEST_GRADE} apart, got {shown_value(ends)}"
    )
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        raise TypeError(rule)
    if not all(isinstance(end, Integral) and not isinstance(end, bool) for end in ends):
        raise TypeError(rule)
    best_for_left, best_for_right = ends
    if not 0 < abs(best_for_left - best_for_right) <= 2 * LARGEST_GRADE:
        raise ValueError(rule)


def _check_column(name: str, value: object) -> None:
    if name in SIDES and isinstance(value, list | tuple):
        allowed = bool(value)
    elif name == "margin" and isinstance(value, tuple):
        allowed = len(value) == 2 and all(isinstance(v, str) for v in value)
    else:
        none = value is None and name not in ("left", "right", "outcome")
        allowed = isinstance(value, str) or none
        allowed |= value is False and name not in ("left", "right", "by")
    if not allowed:
        raise TypeError(f"{name} should be the name of a column, got {shown_value(value)}")


def _names_of(given: object, option: str) -> tuple[str, ...]:
    """Return the names of an option; raise TypeError unless they are distinct names."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise TypeError(f"{option} should be a list of names of columns, got {shown_value(given)}")
    names = listed(given, option)
    are_texts = all(isinstance(name, str) for name in names)
    if not are_texts or len(set(names)) < len(names):
        raise TypeError(f"{option} should be different names of columns, got {shown_value(given)}")
    return names
