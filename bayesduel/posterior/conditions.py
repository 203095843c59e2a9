"""Conditions: under which circumstances a duel is, as the columns of a model's cells.

What is not said is neutral: today, neither side at an advantage, covariates of 0. A judge or a
prompt that is not said is a new one. What other columns have is said by `Part.neutral`.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import xarray as xr

from bayesduel.data.duels import Duels
from bayesduel.data.read.coding import reading_of
from bayesduel.data.read.columns import Columns
from bayesduel.data.read.dates import date_in_form, format_of_dates
from bayesduel.data.read.decimals import columns_with_commas, text_with_point
from bayesduel.data.read.rows import times
from bayesduel.data.read.source import open_source
from bayesduel.data.teams import Teams
from bayesduel.data.votes import Votes
from bayesduel.models import Model
from bayesduel.models.term import NEW
from bayesduel.posterior.estimand import averaged_words
from bayesduel.system.arguments import by_reader, did_you_mean, shown_value, text_of
from bayesduel.system.warnings import BayesduelWarning, warn
from bayesduel.text import count, join

__all__ = [
    "ExtrapolationWarning",
    "column_of",
    "conditions",
    "duels_in_file",
    "extent_of",
    "is_missing",
    "neutral_words",
    "numbers_of",
    "observed_conditions",
    "shown_number",
    "times_of",
]

DATE = np.datetime64("2026-12-31")  # an example of one


class ExtrapolationWarning(BayesduelWarning):
    """A prediction is about a time, a covariate or a level that the log does not have."""


def observed_conditions(fit: xr.DataTree, model: Model) -> dict[str, np.ndarray]:
    """Return the conditions of a fit's observations: of each vote with a margin, else each cell."""
    design = fit["constant_data"].dataset
    labels = tuple(map(str, design["arm"].to_numpy()))
    if model.response.outcome == "margin":
        columns = {}
        for name, variable in design.items():
            if str(name).startswith("vote_"):
                column = str(name).removeprefix("vote_")
                columns[column] = variable.to_numpy()
        columns["first"] = columns.pop("left")
        columns["second"] = columns.pop("right")
        del columns["weight"]
    else:
        columns = {}
        for name, variable in design.items():
            if variable.dims[:1] == ("cell",):
                columns[str(name)] = variable.to_numpy()
        del columns["n"]
    first = columns["first"]
    columns |= model.seats(fit.duel.teams, first, columns["second"])
    if model.terms.reads_order:
        columns["left_first"] = np.ones(len(first))
    return columns | model.terms.tables(labels)


def conditions(
    fit: xr.DataTree,
    model: Model,
    left: np.ndarray,
    right: np.ndarray,
    said: Mapping[str, Any],
    *,
    side_advantage: bool = False,
    teams: Teams | None = None,
    labels: tuple[str, ...] | None = None,
    arguments: Iterable[str] = (),
) -> dict[str, np.ndarray]:
    """Return the conditions of duels that are asked about, of arms or of `teams` (indices).

    labels: of the arms, by default those of the fit.
    arguments: other names that the caller takes, which may have been meant.

    `said` has by name what the terms read, one value or one per duel; a missing value is neutral.
    Of a term by level the level is said wherever something else that it reads is.
    """
    labels = fit.duel.arms if labels is None else labels
    known = dict.fromkeys(name for part in model.terms for name in part.reads)
    unknown = [name for name in said if name not in known]
    if unknown:
        got = join(unknown, 8, quote=True, word="or")
        terms = "None of its terms depends on a condition of the duel."
        if known:
            shown = [_with_column(fit, name) for name in sorted(known)]
            terms = f"Its terms read {join(shown, 8)}."
        suited = "TimeVarying" if unknown == ["time"] else "RandomEffects or Covariates"
        first = unknown[0]
        begun = [name for name in arguments if name.startswith(first)]
        meant = begun[0] if begun else first
        near = did_you_mean(meant, (*known, *arguments))
        raise ValueError(
            f"{model.name} does not depend on {got}{near or '.'} {terms} A model "
            f"with a term such as {suited} can depend on {got}"
        )
    columns: dict[str, np.ndarray] = {"first": left, "second": right}
    columns |= model.seats(teams, left, right)
    if side_advantage:
        columns["left_first"] = np.ones(len(left))
    coords = fit["posterior"].coords
    asked = _asked(model, said, side_advantage=side_advantage)
    unsaid = {}
    for part in asked:
        for name in part.reads:
            if name not in said:
                unsaid[name] = part.key
    neutral = neutral_words(fit, model, said, side_advantage=side_advantage)
    for name, key in unsaid.items():
        if name in coords:
            given = [*said]
            if side_advantage:
                given.append("side_advantage")
            raise ValueError(
                f"{key} depends on {name!r}: say {by_reader('', '--given ')}{name}=..., or "
                f"{_none(name)} for {neutral[name]}, got only {join(given, 8, quote=True)}"
            )
    if asked:
        extent = extent_of(fit, model, asked)
        held = {*map(str, coords), *extent}
        read = [name for part in asked for name in part.reads]
        nothing = dict.fromkeys(name for name in read if name in held)
        covariates = dict.fromkeys(unsaid)  # of 0
        values = nothing | dict(said) | covariates
        log = _log(fit, labels, left, right, teams, values, extent, neutral)
        for part in asked:
            columns |= part.columns(log) | part.beyond(log)
    return columns | model.terms.tables(labels)


def neutral_words(
    fit: xr.DataTree, model: Model, said: Iterable[str], *, side_advantage: bool = False
) -> dict[str, str]:
    """Return in words what stands for each condition where duels do not say it, by name.

    said: names of the conditions that duels say, or some of them do.
    """
    asked = _asked(model, said, side_advantage=side_advantage)
    first = np.zeros(1, dtype=int)
    second = first + 1
    cells: dict[str, np.ndarray] = {"first": first, "second": second}
    cells |= model.seats(fit.duel.teams, first, second)
    cells |= model.terms.tables(fit.duel.arms)
    weights = json.loads(fit.attrs.get("estimand", "{}"))
    coords = fit["posterior"].coords
    found: dict[str, list[str]] = {}
    for part in model.terms:
        is_asked = part in asked
        seen = None if is_asked else cells
        for name in part.reads:
            words = part.neutral(name, seen)
            if is_asked and name in coords and words == f"{name} 0":
                words = f"no {name}"  # a level that a term of one's own reads
            if part in model.terms.exhaustive and name in weights:
                words = averaged_words(name, weights[name])
            found.setdefault(name, []).append(words)
    neutral = {}
    for name, of_parts in found.items():
        neutral[name] = "; ".join(dict.fromkeys(of_parts))
    return neutral


def _asked(model: Model, said: Iterable[str], *, side_advantage: bool) -> list[Any]:
    """Return the parts that read something that duels say, or the side that has its advantage."""
    names = {*said}
    found = []
    for part in model.terms:
        by_side = side_advantage and part.reads_order
        is_said = not names.isdisjoint(part.reads)
        if is_said or (by_side and part.reads):
            found.append(part)
    return found


def extent_of(fit: xr.DataTree, model: Any, parts: Iterable[Any]) -> dict[str, np.ndarray]:
    """Return the least and the largest number that terms have seen of what they read, by name."""
    seen = observed_conditions(fit, model)
    coords = {}
    for name, values in fit["posterior"].coords.items():
        coords[str(name)] = values
    found: dict[str, np.ndarray] = {}
    for part in parts:
        found.update(part.extent(seen, coords))
    return found


def shown_number(value: Any) -> str:
    """Return a number of a log, or a date without zeros behind, as text."""
    if value.dtype.kind == "M":
        return str(np.datetime_as_string(value, unit="auto"))
    return f"{value:g}"


def _with_column(fit: xr.DataTree, name: str) -> str:
    """Return the name of a condition in quotes, with that of its column where it has another."""
    column = reading_of(fit).get(name, name)
    if column == name:
        return repr(name)
    return f"{name!r}, which is the column {column!r}"


def _none(name: str) -> str:
    """Return how a condition is said to be no level of the fit."""
    return by_reader(f"{name}=None", f"--given {name}=none")


def _log(
    fit: xr.DataTree,
    labels: tuple[str, ...],
    left: np.ndarray,
    right: np.ndarray,
    teams: Teams | None,
    said: Mapping[str, Any],
    extent: Mapping[str, np.ndarray],
    neutral: Mapping[str, str],
) -> Duels:
    """Return the duels that are asked about as a log, whose levels are those of the fit.

    neutral: what stands for a condition that is missing, in words, by name.

    Numbers beyond the extent of the log that was fitted are warned of.
    """
    n = len(left)
    sides = labels if teams is None else teams.tuples(labels)
    given = {name: column_of(value, n) for name, value in said.items()}
    coords = fit["posterior"].coords
    of_levels = [name for name in given if name in coords]
    levels = {name: given.pop(name) for name in of_levels}
    time = given.pop("time", None)
    if time is not None:
        form = reading_of(fit).get("time_format")
        if "time" in extent:
            time = _times(time, extent["time"], form)
        else:
            time = times_of(time, form=form)
    covariates = {name: numbers_of(values, name) for name, values in given.items()}
    numbers = covariates if time is None else covariates | {"time": time}
    for name, ends in extent.items():
        _check_within(name, numbers[name], ends)
    log = Duels.from_votes(
        [sides[k] for k in left],
        [sides[k] for k in right],
        np.full(n, 0.5),  # open: a log that left won throughout would list the winners there
        time=time,
        covariates=covariates or None,
        arms=labels,
    )
    if not levels:
        return log
    votes: Any = log.votes or Votes(
        left=left,
        right=right,
        outcome=np.zeros(n, dtype=np.int8),
        weight=np.ones(n, dtype=np.int64),
    )
    for name, values in levels.items():
        of_fit = coords[name].to_numpy()
        known = tuple(map(str, of_fit))
        place = {level: k for k, level in enumerate(known)}
        code = np.full(n, NEW)
        for k in np.flatnonzero(~is_missing(values)):
            level = text_of(values[k])
            if level not in place:
                raise ValueError(
                    f"{name} should be one of the fit ({join(known, 5, quote=True)}), or "
                    f"{_none(name)} for {neutral[name]}, got {level!r}{did_you_mean(level, known)}"
                )
            code[k] = place[level]
        votes = votes.with_level(name, code, known)
    return replace(log, votes=votes)


def column_of(value: Any, n: int) -> np.ndarray:
    """Return a condition of each of n duels; ValueError where it has another number of values."""
    kind = None if np.ndim(value) else object
    values = np.asarray(value, dtype=kind)
    if values.dtype.kind == "U":  # a missing value among texts is not the text "nan"
        values = np.asarray(value, dtype=object)
    if values.ndim == 0:
        return np.broadcast_to(values, (n,))
    if len(values) != n:
        got = len(values)
        raise ValueError(
            f"a condition should have one value, or one for each of the {n} duels, got {got}"
        )
    return values


def numbers_of(values: np.ndarray, name: str, missing: float = 0.0) -> np.ndarray:
    """Return values as numbers, `missing` for one; raise ValueError for one that is none."""
    found = np.full(len(values), missing)
    for k in np.flatnonzero(~is_missing(values)):
        try:
            found[k] = float(values[k])
        except (TypeError, ValueError):
            got = shown_value(values[k])
            raise ValueError(f"{name} should be a number, got {got}") from None
    return found


def _times(values: np.ndarray, ends: np.ndarray, form: str | None) -> np.ndarray:
    """Return times as the log that was fitted has them, its last where one is missing.

    form: how its dates are written, as :func:`time.strftime` has it; None: as ISO 8601, or unknown.
    """
    there = ~is_missing(values)
    dated = ends.dtype.kind == "M"
    last = ends[1]
    found = np.full(len(values), last)
    if not there.any():
        return found
    own = values[there]
    other = Real if dated else np.datetime64
    if isinstance(own[0], other):
        kind = "dates" if dated else "numbers"
        got = shown_value(own[0])
        raise ValueError(f"time should be {kind} as in the log, got {got}")
    found[there] = times_of(own, found.dtype, form, last)
    return found


def _check_within(name: str, values: np.ndarray, ends: np.ndarray) -> None:
    """Warn of numbers beyond those of the log that was fitted, but for the times after it."""
    first, last = ends
    beyond = values < first
    done = "takes the scores of the first period of the log"
    if name != "time":
        beyond = beyond | (values > last)
        done = "extrapolates"
    if not beyond.any():
        return
    within = f"{shown_number(first)} to {shown_number(last)}"
    got = shown_number(values[beyond][0])
    warn(
        f"{name} should be within the log that was fitted, {within}, got {got} "
        f"({count(int(beyond.sum()), 'duel')}): the prediction {done}",
        ExtrapolationWarning,
    )


def is_missing(values: np.ndarray) -> np.ndarray:
    """Return which values are None, pandas' NA, not a number or blank text, bool."""
    if values.dtype.kind == "M":
        return np.isnat(values)
    found = [_is_blank(value) for value in values.tolist()]
    return np.array(found, dtype=bool)


def _is_blank(value: Any) -> bool:
    """Return whether a value is None, pandas' NA, not a number or blank text."""
    if value is None or value is pd.NA:
        return True
    return value != value or not str(value).strip()


def times_of(
    values: np.ndarray, kind: Any = None, form: str | None = None, example: Any = DATE
) -> np.ndarray:
    """Return times as a log has them: datetime64, or numbers; of that kind if one is given.

    form: how the log writes dates, as :func:`time.strftime` has it; None: as ISO 8601, or unknown.
    example: a date for messages.
    """
    if kind is None and values.dtype.kind in "Mfiu":
        return values
    dated = kind is not None and kind.kind == "M"
    may_be_dates = dated or form is not None
    if may_be_dates and all(isinstance(value, str) for value in values):
        return _dates(values, form, example)
    kinds = ("float", "datetime64[us]") if kind is None else (kind,)
    for known in kinds:
        with suppress(TypeError, ValueError):
            return values.astype(known)
    what = "numbers"
    if dated:
        what = _dates_such_as(form, example)
    elif kind is None:
        what = f"numbers or {_dates_such_as(form, example)}"
    got = shown_value(values[0])
    raise ValueError(f"time should be {what}, got {got}")


def _dates(texts: np.ndarray, form: str | None, example: Any) -> np.ndarray:
    """Return dates in the form of the log, or without one in any that leaves no doubt.

    Raises ValueError for the first that is not.
    """
    known = [text.strip() for text in texts]
    distinct = sorted({*known})
    kind = form or format_of_dates(distinct) or "date"
    column = pa.array(known, pa.string())
    found, unreadable, _ = times([column], "time", kind)
    if unreadable.any():
        first = np.flatnonzero(unreadable)[0]
        got = shown_value(texts[first])
        what = _dates_such_as(form, example)
        raise ValueError(f"time should be {what}, got {got}")
    return found


def _dates_such_as(form: str | None, example: Any) -> str:
    """Return which dates are understood, in words, with an example in each form."""
    iso = shown_number(example.astype("datetime64[D]"))
    if form is None:
        return f"dates such as {iso}"
    return f"dates as the log has them, such as {date_in_form(example, form)}, or as {iso}"


def duels_in_file(path: str | PathLike[str], fit: xr.DataTree) -> pd.DataFrame:
    """Return the duels to come of a file as text, read as a log is; an empty condition is None."""
    decimal = reading_of(fit).get("decimal")
    with open_source(path) as source:
        names = source.columns()
        read = source.texts(Columns(dict(zip(names, names, strict=True))))
        commas = columns_with_commas(source, decimal)
    found: dict[str, list[str | None]] = {}
    for name, column in read.items():
        texts = [(text or "").strip() for text in column.texts]
        if name in commas:
            texts = [text_with_point(text, decimal) for text in texts]
        found[name] = [text or None for text in texts]
    return pd.DataFrame(found, dtype=object)
