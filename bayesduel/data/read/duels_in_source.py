"""The rows of a source as a log of duels: read, checked, the bad ones found and named."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.health import OutlierWarning
from bayesduel.data.rankings import Rankings
from bayesduel.data.read import log_from_rows
from bayesduel.data.read.coding import options_of
from bayesduel.data.read.columns import Roles
from bayesduel.data.read.components import remark_on_components
from bayesduel.data.read.duckdb_source import FileSource
from bayesduel.data.read.faults import (
    EMPTY,
    PLACE,
    Examined,
    columns_of,
    decide_first,
    decide_meaning,
    examine,
    explain,
    missing_labels,
    named_like_missing,
    prepared,
    refusal,
)
from bayesduel.data.read.line_numbers import Numbered
from bayesduel.data.read.reading import notice_of, understood
from bayesduel.data.read.reading_options import OnBad
from bayesduel.data.read.rows import Rows
from bayesduel.data.sides import sides_of
from bayesduel.data.votes import ReadSummary
from bayesduel.system.arguments import as_options, text_of
from bayesduel.system.warnings import warn
from bayesduel.text import count, join

if TYPE_CHECKING:
    from bayesduel.data.read.narwhals_source import FrameSource

    type Source = FileSource | FrameSource


__all__ = ["duels_in"]


@dataclass(frozen=True)
class _Fault:
    """A row that was left out: its place, what is wrong, the number of rows, and the part."""

    where: str
    what: str
    n: int
    part: str | None


def duels_in(
    source: "Source", roles: Roles, options: dict[str, Any], on_bad: OnBad, both_bad: str | None
) -> Duels | Rankings | dict[str, Any]:
    """Return the log of a source whose columns have these roles; with ``by`` one for each label.

    options, on_bad, both_bad: of :func:`bayesduel.read_duels`.
    Raises ValueError as said there.
    """
    roles, rows, examined, faults = _checked(source, roles, on_bad, options["missing"])
    _say_names_like_missing(source, rows)
    _check_faults(source, rows, examined, faults)
    _warn_of_outliers(source, roles, rows)
    log = log_from_rows.label_rows(
        rows, examined, roles.covariates, roles.kept, teams=roles.teams is not None
    )
    told = [(f.where, f.what, f.n) for f in faults]
    record = understood(source, roles, rows, examined, told, both_bad)
    source.say(*notice_of(record, roles, examined.reading))
    if roles.time is not None and rows.time_kind not in ("number", "date"):
        options = options | {"time_format": rows.time_kind}
    taken = set(roles.taken.values())
    unread = tuple(name for name in source.columns() if name not in taken)
    repeated = None
    if (roles.judge is not None or roles.time is not None) and not roles.counted:
        repeated = source.duplicates(roles, rows)
    whole = ReadSummary(
        source=source.words,
        files=source.files,
        columns=roles.words,
        guessed=roles.guessed,
        unread=unread,
        reading=options_of(roles, examined.reading, options),
        other_codings=() if examined.reading is None else examined.reading.others,
        n_rows=int(rows.n.sum()),
        n_left_out=int(rows.n[examined.left_out].sum()),
        understood=record,
        n_duplicates=None if repeated is None else sum(repeated.values()),
        n_bad_rows=sum(f.n for f in faults),
        bad_rows=tuple((f.where, f.what) for f in faults),
    )

    def log_of(rows: log_from_rows.Labelled, summary: ReadSummary) -> Duels | Rankings:
        if both_bad is not None:
            return log_from_rows.assemble_choices(rows, both_bad, summary)
        return log_from_rows.assemble(rows, options["ties"], summary, roles.by_vote, source.ordered)

    if roles.by is not None:
        return _logs_of_parts(source, roles, log, faults, whole, repeated, log_of)
    try:
        found = log_of(log, whole)
        if isinstance(found, Duels):
            remark_on_components(source, roles, found)
            remark = sides_of(found).remark
            if remark:
                source.say(remark)
    except ValueError as error:
        raise ValueError(f"{source.name}: {error}") from None
    return found


def _logs_of_parts(
    source: "Source",
    roles: Roles,
    log: log_from_rows.Labelled,
    faults: Sequence[_Fault],
    whole: ReadSummary,
    repeated: Mapping[Any, int] | None,
    log_of: Callable[[log_from_rows.Labelled, ReadSummary], Duels | Rankings],
) -> dict[str, Any]:
    """Return a log for each label of ``by``; parts that are none are named on standard error.

    whole: the summary of all rows. repeated: rows that repeat an earlier one, by the value of
    ``by``.
    """
    result = {}
    parts = log_from_rows.parts_of(log)
    for label, part in parts.items():
        ours = [f for f in faults if f.part in (label, None)]
        n_bad = sum(f.n for f in ours)
        again = None
        if repeated is not None:
            again = sum(n for value, n in repeated.items() if _part_of(value, roles) == label)
        summary = replace(
            whole,
            source=f"{source.words}, {roles.by}={label}",
            n_rows=int(part.n.sum()) + n_bad,
            n_duplicates=again,
            n_bad_rows=n_bad,
            bad_rows=tuple((f.where, f.what) for f in ours),
        )
        try:
            result[label] = log_of(part, summary)
        except ValueError as error:
            print(f"left out {source.name}, {roles.by}={label}: {error}", file=sys.stderr)
    for lost in dict.fromkeys(f.part for f in faults if f.part not in (*parts, None)):
        ours = [f for f in faults if f.part == lost]
        first = ours[0]
        n_bad = sum(f.n for f in ours)
        print(
            f"left out {source.name}, {roles.by}={lost}: {n_bad:,} bad rows only, the first at "
            f"{first.where}: {first.what}",
            file=sys.stderr,
        )
    if not result:
        raise ValueError(f"{source.name}: should contain a log for some {roles.by}, got none")
    return result


def _say_names_like_missing(source: "Source", rows: Rows) -> None:
    """Say which names of arms could stand for a missing arm."""
    names = named_like_missing(rows)
    if not names:
        return
    several = len(names) > 1
    are_arms = "are names of arms" if several else "is the name of an arm"
    them = "them" if several else "it"
    labels = join(names, quote=True)
    option = as_options(missing=[*names])
    source.say(f"{labels} {are_arms} here ({option} takes {them} as missing)")


def _check_faults(
    source: "Source", rows: Rows, examined: Examined, faults: Sequence[_Fault]
) -> None:
    """Raise ValueError if the rows have changed since they were examined, or all are bad."""
    n_faulty = sum(fault.n for fault in faults)
    if n_faulty != examined.n_bad:
        raise ValueError(
            f"{source.name}: should not change while it is read, got {examined.n_bad:,} bad rows, "
            f"and then {n_faulty:,}; read it again"
        )
    n_rows = int(rows.n.sum())
    if examined.n_bad == n_rows:
        first = faults[0]
        raise ValueError(
            f"{source.name}: should contain a valid row, got {n_rows:,} bad rows, the first at "
            f"{first.where}: {first.what}"
        )


def _checked(
    source: "Source", roles: Roles, on_bad: OnBad, missing: Sequence[str]
) -> tuple[Roles, Rows, Examined, list[_Fault]]:
    """Return the rows, what is wrong with them, and the bad ones with their places.

    The roles are returned with the texts that stand for missing labels in these rows.

    Rows that are all valid are those that the engine of the source read or counted. Else, or if
    it did not find as many rows as there are, they are read one by one, and those count.
    """
    rows = source.rows(roles)
    if rows is not None and "time" in roles.guessed and _unreadable_times(rows):
        n_rows = count(_unreadable_times(rows), "row")
        option = as_options(time=None)
        source.say(
            f"{roles.time!r} is not used as the time: {n_rows} cannot be read as dates "
            f"or numbers ({option} for an error that names the first)"
        )
        guessed = tuple(role for role in roles.guessed if role != "time")
        roles = replace(roles, time=None, guessed=guessed)
        rows = source.rows(roles)
    if rows is not None:
        roles, rows, examined = _examined(source, rows, roles, missing)
        if not examined.n_bad and EMPTY not in examined.no_duel:  # not lines that cannot be read
            return roles, rows, examined, []
        if on_bad == "error":
            first = next(_locate(source, roles, rows, examined), None)
            if first is not None:
                n_more = examined.n_bad - first.n
                raise refusal(first.where, first.what, n_more, skipped=True)
    source.check_votes(roles)
    broken: list[np.ndarray] = []

    def batches() -> Iterator[Any]:
        for chunk in source.numbered(roles):
            broken.append(_broken(chunk))
            yield chunk.batch

    rows = Rows.from_batches(batches(), roles.taken, roles.time_format)
    rows = replace(rows, broken=np.concatenate([np.zeros(0, dtype=bool), *broken]))
    roles, rows, examined = _examined(source, rows, roles, missing)
    faults = list(_locate(source, roles, rows, examined)) if examined.n_bad else []
    if faults and on_bad == "error":
        first = faults[0]
        n_more = examined.n_bad - first.n
        raise refusal(first.where, first.what, n_more, skipped=True)
    return roles, rows, examined, faults


def _unreadable_times(rows: Rows) -> int:
    """Return the number of rows whose time cannot be read."""
    if rows.unreadable_time is None:
        return 0
    n_rows = rows.n[rows.unreadable_time]
    return int(n_rows.sum())


def _examined(
    source: "Source", rows: Rows, roles: Roles, missing: Sequence[str]
) -> tuple[Roles, Rows, Examined]:
    """Return the roles with the texts that are missing labels, the rows, and what is wrong."""
    if len(rows) == 0:
        raise ValueError(f"{source.name}: should contain duels, got no rows")
    found = missing_labels(rows, missing, own_nulls=source.own_nulls)
    roles = replace(roles, missing=found)
    rows = prepared(rows, roles)
    try:
        reading = decide_meaning(rows, roles)
        first = decide_first(rows, roles)
    except ValueError as error:
        raise ValueError(f"{source.name}: {error}") from None
    return replace(roles, first=first), rows, examine(rows, reading, first)


def _locate(source: "Source", roles: Roles, every: Rows, examined: Examined) -> Iterator[_Fault]:
    """Yield the bad rows with their places, given all rows and what is wrong with them."""
    reading = examined.reading
    for chunk, rows in _chunks(source, roles, every):
        rows = prepared(rows, roles)
        found = examine(rows, reading, roles.first)
        for i in np.flatnonzero((found.fault > 0) | (rows.n_bad_weight > 0)):
            fault = int(found.fault[i]) or PLACE["weight"]
            n = int(rows.n[i] if found.fault[i] else rows.n_bad_weight[i])
            values = {name: chunk.batch.column(name)[i].as_py() for name in roles.taken}
            if "n_rows" in chunk.batch.schema.names:
                values.pop("weight", None)  # a sum: the bad ones are not in it
            what = chunk.reasons.get(int(i)) or explain(fault, roles, reading, values)
            what += f" ({n:,} rows)" if n > 1 else ""
            part = None if roles.by is None else _part_of(values["by"], roles)
            yield _Fault(chunk.places[i], what, n, part)


def _warn_of_outliers(source: "Source", roles: Roles, rows: Rows) -> None:
    """Warn of margins and covariates that are far larger than the others, with the first's place.

    Far is over 1,000 times the median size of those that are not 0: as metres are among kilometres.
    """
    for role, values in rows.measured.items():
        known = np.isfinite(values) & (values != 0)
        sizes = abs(values[known])
        if not len(sizes):
            continue
        median = float(np.median(sizes))
        limit = 1_000 * median
        n = int((sizes > limit).sum())
        if not n:
            continue
        where, value = next(
            (chunk.places[k], part.measured[role][k])
            for chunk, part in _chunks(source, roles, rows)
            for k in np.flatnonzero(abs(part.measured[role]) > limit)
        )
        column = columns_of(role, roles)
        words = (
            f"{where}: column {column} has an outlier that may decide the scores, "
            f"{value:g} (median size {median:g})"
        )
        if n > 1:
            others = count(n - 1, "more such row")
            words += f", and {others}"
        warn(words, OutlierWarning)


def _chunks(source: "Source", roles: Roles, every: Rows) -> Iterator[tuple[Numbered, Rows]]:
    """Yield the rows one by one with their places, in chunks; times as of `every` row."""
    for chunk in source.numbered(roles):
        rows = Rows.from_batches([chunk.batch], roles.taken, every.time_kind)
        yield chunk, replace(rows, broken=_broken(chunk))


def _broken(chunk: Numbered) -> np.ndarray:
    """Return which rows of a chunk could not be read, bool."""
    rows = np.arange(len(chunk.batch))
    return np.isin(rows, [*chunk.reasons])


def _part_of(value: Any, roles: Roles) -> str | None:
    text = text_of(value)
    if text is None or text.strip() in roles.missing.get("by", ()):
        return None
    return text.strip()
