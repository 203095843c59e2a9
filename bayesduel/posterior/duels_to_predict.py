"""Duels to come, as frames, files and conditions say them."""

from collections.abc import Mapping, Sequence
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayesduel.data.read.coding import reading_of
from bayesduel.data.read.faults import label_of
from bayesduel.data.teams import SEPARATOR
from bayesduel.posterior.conditions import duels_in_file, is_missing, numbers_of
from bayesduel.system.arguments import shown_value, text_of
from bayesduel.text import join

__all__ = [
    "DuelsToPredict",
    "by_role",
    "condition_names",
    "conditions_read",
    "duels_of_frame",
    "is_label",
    "members_of",
]


class DuelsToPredict(NamedTuple):
    """What a frame says of duels to come."""

    left: Any  # of each duel
    right: Any
    conditions: dict[str, Any]
    sides: tuple[Any, ...]  # columns of the sides
    named: dict[str, tuple[str, ...]]  # column of each condition, or two with their difference
    unread: list[str]  # other columns
    unknown: dict[str, list[str]]  # levels that the fit does not know, one per duel


def duels_of_frame(fit: xr.DataTree, frame: Any, given_apart: Mapping[str, Any]) -> DuelsToPredict:
    """Return what a frame, or a file, says of duels to come.

    given_apart: conditions that are given beside it.
    """
    import narwhals as nw

    if isinstance(frame, str | PathLike) and Path(frame).is_file():
        frame = duels_in_file(frame, fit)
    try:
        given = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TypeError(
            "give the arms of both sides, a frame, or a file, with columns left and right, "
            f"got {shown_value(frame)} and None"
        ) from None
    read = reading_of(fit)

    def named(role: str) -> Any:
        return role if role in given.columns else read.get(role)

    def column(role: str) -> list[Any] | None:
        name = named(role)
        if isinstance(name, list) and {*name} <= {*given.columns}:  # a column for each member
            seats = [given[one].to_list() for one in name]
            sides = []
            for side in zip(*seats, strict=True):
                members = tuple(member for member in side if member is not None)
                sides.append(members)
            return sides
        if name not in given.columns:
            return None
        return given[name].to_list()

    sides = {}
    for name in ("left", "right"):
        labels = column(name)
        if labels is None:
            have = join(given.columns, 8, quote=True)
            raise ValueError(
                f"the duels should have the columns 'left' and 'right', but they have {have}: "
                "rename those of the sides"
            )
        if fit.duel.teams is not None:
            teams = []
            for label in labels:
                side = members_of(label, fit.duel.arms, read.get("teams"))
                teams.append((side,) if is_label(side) else side)
            labels = teams
        sides[name] = labels
    found = {}
    columns: dict[str, tuple[str, ...]] = {}
    unknown = {}
    differences = _differences(fit, given.columns)
    for name in sorted(conditions_read(fit) - given_apart.keys()):
        values = column(name)
        if values is not None:
            columns[name] = (str(named(name)),)
        elif name in differences:
            pair = differences[name]
            columns[name] = pair
            left, right = pair
            values = _difference(given[left].to_list(), given[right].to_list(), pair)
        if values is not None:
            found[name], new = _levels(fit, name, values)
            if new:
                unknown[name] = new
    of_sides = named("left"), named("right")
    used: set[str] = set()
    for both in columns.values():
        used.update(both)
    for name in of_sides:
        used.update(name if isinstance(name, list) else [name])
    unread = [name for name in given.columns if name not in used]
    return DuelsToPredict(sides["left"], sides["right"], found, of_sides, columns, unread, unknown)


def by_role(
    fit: xr.DataTree, conditions: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """Return conditions by the names that terms have, and the two that each difference is of.

    conditions: by these names, or by those that columns of the log have. Two whose difference is a
        covariate of the fit give that covariate.
    """
    roles = condition_names(fit)
    named: dict[str, tuple[str, ...]] = {}
    found = {}
    for name, value in conditions.items():
        role = roles.get(name, name)
        found[role] = value
    for name, pair in _differences(fit, list(conditions)).items():
        if name not in found:
            left, right = map(found.pop, pair)
            found[name] = _difference(left, right, pair)
            named[name] = pair
    return found, named


def condition_names(fit: xr.DataTree) -> dict[str, str]:
    """Return the names of conditions by the columns of the log that hold them."""
    read = reading_of(fit)
    names = {}
    for name in conditions_read(fit):
        if name in read:
            column = str(read[name])
            names[column] = name
    return names


def conditions_read(fit: xr.DataTree) -> set[str]:
    """Return the names of the conditions that terms of the model read."""
    return {name for part in fit.duel.model.terms for name in part.reads}


def members_of(side: object, labels: Sequence[str], mark: str | None = None) -> Any:
    """Return the labels of a side that is written as one text; else the side itself.

    It is written as "d + e", or with the `mark` that its log has between members.
    """
    if not isinstance(side, str) or side in labels:
        return side
    between = SEPARATOR
    if mark is not None and SEPARATOR not in side:
        between = mark
    return [member.strip() for member in side.split(between)]


def is_label(side: object) -> bool:
    """Return whether this is one label, not a sequence of them."""
    is_sequence = isinstance(side, Sequence | np.ndarray | xr.DataArray)
    return isinstance(side, str) or not is_sequence


def _levels(fit: xr.DataTree, name: str, values: list[Any]) -> tuple[list[Any], list[str]]:
    """Return the levels of a column of duels to come, and the labels that the fit does not know.

    A level is None where it is missing or not known.
    """
    if name not in fit["posterior"].coords:
        return values, []
    levels = fit["posterior"].coords[name].to_numpy()
    known = set(map(str, levels))
    with_none = np.array([*values, None], dtype=object)
    blank = is_missing(with_none)
    found: list[Any] = []
    unknown = []
    for value, no_value in zip(values, blank, strict=False):
        text = "" if no_value else str(text_of(value))
        label = text if text in known else label_of(text)
        if label is not None and label not in known:
            unknown.append(label)
            label = None
        found.append(label)
    return found, unknown


def _differences(fit: xr.DataTree, columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the two columns of each covariate that was read as their difference, by its name."""
    names = reading_of(fit).get("covariates", ())
    lines = [line for line in fit.duel.reading.lines if line.role == "covariate"]
    pairs = {}
    # A fit keeps the text alone. Two pairs have one text only if names of columns contain " - ", as
    # "a - b" and "c", "a" and "b - c" do, and all four are among `columns`.
    for left, right in product(columns, repeat=2):
        pairs[f"{left} - {right}"] = (left, right)
    found = {}
    for name, line in zip(names, lines, strict=False):
        if line.column in pairs:
            found[name] = pairs[line.column]
    return found


def _difference(left: Any, right: Any, names: tuple[str, str]) -> Any:
    """Return one or several numbers minus others, NaN where one is missing."""
    sides = []
    for value, name in zip((left, right), names, strict=True):
        with_none = np.array([*np.atleast_1d(value), None], dtype=object)
        numbers = numbers_of(with_none, name, np.nan)
        sides.append(numbers[:-1])
    first, second = sides
    found = (first - second).tolist()
    one_duel = is_label(left) and is_label(right)
    return found[0] if one_duel else found
