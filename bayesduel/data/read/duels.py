"""Read a log of duels from files or a frame.

The way of a log: the columns are given roles (``columns``), its rows come in as codes, tallied
where they live if the votes themselves are not needed (``files``, ``frames``, ``rows``), the
outcomes are understood (``outcomes``), what is wrong with a row is found (``examining``) and
where it is (``locating``), and what is sound becomes a log (``assembling``).
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.read.columns import Given, Roles, assign
from bayesduel.data.read.faults import WEIGHT, decide_reading, examine, explain, label_of, refusal
from bayesduel.data.read.log_from_rows import assemble, label_rows, parts_of
from bayesduel.data.read.outcomes import Reading
from bayesduel.data.read.rows import Rows, TimeKind, text_of
from bayesduel.data.read.source import open_source
from bayesduel.data.votes import ReadSummary, TieRule

if TYPE_CHECKING:
    from bayesduel.data.read.duckdb_source import FileSource
    from bayesduel.data.read.narwhals_source import FrameSource

__all__ = ["read_duels"]

OnBad = Literal["error", "skip"]


@dataclass(frozen=True)
class _Fault:
    """A row that was left out: where, what is wrong, how many rows, and of which part."""

    where: str
    what: str
    n: int
    part: str | None


if TYPE_CHECKING:  # at run time the registry of overloads would keep DuckDB past its end

    @overload
    def read_duels(path_or_frame: Any, *, by: None = None, **options: Any) -> Duels: ...
    @overload
    def read_duels(path_or_frame: Any, *, by: str, **options: Any) -> dict[str, Duels]: ...


def read_duels(  # type: ignore[misc]
    path_or_frame: Any,
    *,
    left: str = "left",
    right: str = "right",
    outcome: str | bool = "outcome",
    margin: Given | tuple[str, str] = None,
    judge: Given = None,
    group: Given = None,
    time: Given = None,
    weight: Given = None,
    ties: TieRule = "keep",
    on_bad: OnBad = "error",
    by: str | None = None,
) -> Duels | dict[str, Duels]:
    """Read a log of duels.

    Columns that are not given are found by their usual names, and what was guessed is printed
    to stderr; the rules are in :mod:`bayesduel.data.read.columns`. The spellings of outcomes that
    are understood are in :mod:`bayesduel.data.read.outcomes`. Labels are kept as written, but for
    white space around them; those of a numeric column are its numbers as text (1 and 1.0 differ).
    A label spelled like a missing value ("", NA, NaN, null, None) is a bad row.

    Parameters
    ----------
    path_or_frame
        A path, a glob, or a list of either: CSV, TSV (UTF-8, with a header line), JSON lines
        or Parquet, each plain, .gz or .zst. Or a frame: pandas, Polars, PyArrow, DuckDB, Dask,
        PySpark, Ibis; lazy ones are tallied where they live.
    left, right
        Columns of the two arms.
    outcome
        Column of who won. False: left won every duel, or the margin says who.
    margin
        Column of left's score minus right's, or the two columns of their scores. Where there
        is no outcome its sign says who won. False: none, whatever the columns are called.
    judge, group, time
        Columns of who judged, of the unit within which votes are not independent, and of when.
        False: none. Where one of them or a margin is there, the votes are kept.
    weight
        Column of how many identical duels a row stands for, whole numbers. False: none.
    ties
        "keep" them as an outcome, count "half" a win for each arm, or "drop" them.
    on_bad
        "error" refuses a log with a bad row, naming it; "skip" leaves bad rows out and lists
        them in the log's ``read_summary`` (and, with `by`, leaves out parts that are no log, and
        says so on stderr).
    by
        Column whose every value is a log of its own.

    Returns
    -------
    The log; with `by`, a dictionary of logs by label.

    Raises
    ------
    OSError
        If a file is not there or cannot be opened.
    ValueError
        If a column is not there, a file is malformed, a row is bad (under
        ``on_bad="error"``), or no duel between two arms is left.
    TypeError
        If an argument is of the wrong kind.
    """
    if ties not in get_args(TieRule):
        raise ValueError(f"ties should be 'keep', 'half' or 'drop', got {ties!r}")
    if on_bad not in get_args(OnBad):
        raise ValueError(f"on_bad should be 'error' or 'skip', got {on_bad!r}")
    given = {"left": left, "right": right, "outcome": outcome, "margin": margin, "judge": judge,
             "group": group, "time": time, "weight": weight}  # fmt: skip
    _check_arguments(given, by)
    with open_source(path_or_frame, skip=on_bad == "skip") as source:
        asked = {c for c in (*given.values(), by) if isinstance(c, str)}
        asked |= set(margin) if isinstance(margin, tuple) else set()
        roles = assign(source.columns(asked), source.name, **given, by=by)  # type: ignore[arg-type]
        if roles.notice:
            print(f"read {source.name}: {roles.notice}", file=sys.stderr)
        for column in roles.unused:
            print(
                f"read {source.name}: {column!r} is not used: sampling weights are not supported",
                file=sys.stderr,
            )
        return _read(source, roles, ties, on_bad)


def _read(
    source: "FileSource | FrameSource", roles: Roles, ties: TieRule, on_bad: OnBad
) -> Duels | dict[str, Duels]:
    rows = source.rows(roles)
    n_rows = int(rows.n.sum()) + len(source.refused)
    if n_rows == 0:
        raise ValueError(f"{source.name}: should hold duels, holds no rows")
    try:
        reading = decide_reading(rows, roles)
    except ValueError as error:
        raise ValueError(f"{source.name}: {error}") from None
    examined = examine(rows, reading, dates=_are_dates(rows))
    faults: list[_Fault] = []
    if examined.n_bad:
        found = _locate(source, roles, reading, "date" if _are_dates(rows) else "number")
        if on_bad == "error":
            first = next(found)
            raise refusal(first.where, first.what, examined.n_bad - first.n)
        faults = list(found)
    lines = [_Fault(where, what, 1, None) for where, what in source.refused]
    if len(lines) + examined.n_bad == n_rows:
        first = next(iter((*lines, *faults)))
        raise ValueError(
            f"{source.name}: should hold a sound row, all {n_rows:,} are bad, the first at "
            f"{first.where}: {first.what}"
        )
    log = label_rows(rows, examined)
    repeated = None
    if roles.judge is not None or roles.time is not None:
        repeated = source.duplicates(roles)

    def read_summary(part: str | None, n: int) -> ReadSummary:
        ours = [f for f in faults if part is None or f.part in (part, None)]
        again = None
        if repeated is not None:
            again = sum(k for p, k in repeated.items() if part is None or _part_of(p) == part)
        return ReadSummary(
            source=source.words if part is None else f"{source.words}, {roles.by}={part}",
            columns=roles.words,
            guessed=roles.guessed,
            n_rows=n,
            n_duplicates=again,
            n_bad_rows=sum(f.n for f in (*lines, *ours)),
            bad_rows=tuple((f.where, f.what) for f in (*lines, *ours)),
        )

    try:
        if roles.by is None:
            return assemble(log, ties, read_summary(None, n_rows), by_vote=roles.by_vote)
    except ValueError as error:
        raise ValueError(f"{source.name}: {error}") from None
    result = {}
    for label, part in parts_of(log).items():
        n_bad = sum(f.n for f in faults if f.part == label)
        told = read_summary(label, int(part.n.sum()) + n_bad)
        try:
            result[label] = assemble(part, ties, told, by_vote=roles.by_vote)
        except ValueError as error:
            fault = f"{source.name}, {roles.by}={label}: {error}"
            if on_bad == "error":
                raise ValueError(fault) from None
            print(f"left out {fault}", file=sys.stderr)
    if not result:
        raise ValueError(f"{source.name}: should hold a log in some {roles.by}, holds none")
    return result


def _check_arguments(given: dict[str, Any], by: Any) -> None:
    """Refuse arguments that are no names of columns."""
    for name, value in given.items():
        if name in ("left", "right"):
            allowed = isinstance(value, str)
        elif name == "margin" and isinstance(value, tuple):
            allowed = len(value) == 2 and all(isinstance(v, str) for v in value)
        else:
            allowed = (
                isinstance(value, str) or value is False or (value is None and name != "outcome")
            )
        if not allowed:
            raise TypeError(f"{name} should be the name of a column, got {value!r}")
    if by is not None and not isinstance(by, str):
        raise TypeError(f"by should be the name of a column, got {by!r}")


def _locate(
    source: "FileSource | FrameSource", roles: Roles, reading: Reading | None, kind: TimeKind
) -> Iterator[_Fault]:
    """Yield the bad rows with the places they are in."""
    for chunk in source.numbered(roles):
        rows = Rows.from_batches([chunk.batch], roles.taken, kind)
        found = examine(rows, reading, dates=kind == "date")
        for i in np.flatnonzero((found.fault > 0) | (rows.n_bad_weight > 0)):
            fault = int(found.fault[i]) or WEIGHT
            n = int(rows.n[i] if found.fault[i] else rows.n_bad_weight[i])
            values = {name: chunk.batch.column(name)[i].as_py() for name in roles.taken}
            if "n_rows" in chunk.batch.schema.names:
                values.pop("weight", None)  # a sum: the bad ones are not in it
            what = chunk.reasons.get(int(i)) or explain(fault, roles, reading, values)
            what += f" ({n:,} rows)" if n > 1 else ""
            part = None if roles.by is None else _part_of(values["by"])
            yield _Fault(chunk.places[i], what, n, part)


def _part_of(value: Any) -> str | None:
    """Return the label of the part that a value of the column `by` names."""
    text = text_of(value)
    return None if text is None else label_of(text)


def _are_dates(rows: Rows) -> bool:
    return rows.time is not None and rows.time.dtype.kind == "M"
