"""The rows of a source one by one: line numbers of text files, row numbers of Parquet files.

A text file is parsed here by the standard library, record by record, and what is wrong with a
record is said. A valid file is read by DuckDB instead; where the two differ, these rows count.

DuckDB's own table of rejected rows (``store_rejects``, tried with DuckDB 2.0) does not serve: its
lines are numbers of records, so that it names another line after a text with a line break; it knows
no JSON; and a value that no rule allows is no fault to it.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pyarrow as pa

from bayesduel.data.read.columns import Columns, Roles
from bayesduel.data.read.faults import shown
from bayesduel.data.read.formats import (
    LONGEST_LINE,
    SAVED,
    LogFile,
    json_object,
    json_objects,
    open_bytes,
    open_csv,
    open_lines,
)
from bayesduel.text import count, from_spreadsheet

__all__ = [
    "LineEndError",
    "Numbered",
    "explain_lines",
    "numbered_records",
    "numbered_rows",
    "parse_fault",
]

CHUNK = 20_000  # rows at a time: a few MB of Python's texts
NOT_CLOSED = "has a quote that is not closed, or closed inside a field"


class LineEndError(ValueError):
    """The lines of a file end in more than one way."""


@dataclass
class Numbered:
    """Rows of a log and their places."""

    places: list[str]  # the place of each row, such as "votes.csv, line 17"
    batch: pa.RecordBatch  # columns named by role
    # what is wrong with rows that could not be parsed, by their index here
    reasons: dict[int, str] = field(default_factory=dict)


def numbered_records(file: LogFile, roles: Roles | Columns) -> Iterator[Numbered]:
    """Yield the rows of a text file in chunks, those that cannot be parsed with the reason.

    Raises ValueError if a quote that is not closed spans lines: the rows after it cannot be
    separated.
    """
    lines = _csv_rows(file, roles) if file.format == "csv" else _json_rows(file, roles)
    while chunk := list(islice(lines, CHUNK)):
        columns = {
            role: pa.array([values[k] for _, values, _ in chunk], pa.string())
            for k, role in enumerate(roles.taken)
        }
        yield Numbered(
            [_place(file, line) for line, _, _ in chunk],
            pa.RecordBatch.from_pydict(columns),
            {i: reason for i, (_, _, reason) in enumerate(chunk) if reason},
        )


def numbered_rows(file: LogFile, batches: Iterable[pa.RecordBatch]) -> Iterator[Numbered]:
    """Yield rows of a Parquet file with their numbers from 0."""
    start = 0
    for batch in batches:
        rows = range(start, start + len(batch))
        yield Numbered([f"{file.path}, row {row} (the first is 0)" for row in rows], batch)
        start += len(batch)


def explain_lines(file: LogFile) -> ValueError | None:
    """Return an error for the first record of a text file that cannot be parsed, or None."""
    lines = _csv_records(file) if file.format == "csv" else _json_lines(file)
    try:
        faults = ((line, reason) for line, reason, _ in lines if reason)
        first = next(faults, None)
        if first is None:
            return None
        more = sum(1 for _ in faults)
    except ValueError as error:
        return error
    also = f" (and {count(more, 'more such line')})" if more else ""
    return ValueError(f"{_place(file, first[0])}: {first[1]}{also}")


def parse_fault(file: LogFile, error: Exception) -> ValueError:
    """Return an error for a file that cannot be read, with the line if it can be found."""
    reason = str(error).split("\n")[0].removeprefix("Invalid Input Error: ").rstrip(". ")
    if "invalid state" in reason:
        line = _odd_line_end(file)
        if line:
            return LineEndError(
                f"{file.path}, line {line}: should end as line 1 does, got another line ending "
                f"or a carriage return inside the line"
            )
    if "No magic bytes" in reason or "too small" in reason:
        with open_bytes(file.path, file.compression) as stream:
            size = len(stream.read()) if file.compression != "none" else stream.seek(0, 2)
        reason = f"the Parquet file is truncated: no closing PAR1 before its end at byte {size:,}"
        return ValueError(f"{file.path}: {reason}")
    return ValueError(f"{file.path}: cannot be read as {file.format}: {reason}")


def _place(file: LogFile, number: int) -> str:
    """Return the place of a line, or of an object of a list of JSON."""
    if file.format in ("array", "object"):
        return f"{file.path}, row {number} (the first is 0)"
    return f"{file.path}, line {number}"


def _csv_rows(file: LogFile, roles: Roles | Columns) -> Iterator[tuple[int, list[str | None], str]]:
    """Yield (line, the fields of the roles, what is wrong) for each record."""
    places = [file.columns.index(column) for column in roles.taken.values()]
    nothing: list[str | None] = [None] * len(places)
    for line, reason, record in _csv_records(file):
        if file.of_study:
            record = [from_spreadsheet(text) for text in record]
        yield line, nothing if reason else [record[k] or None for k in places], reason


def _csv_records(file: LogFile) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (line, what is wrong, the fields) for each record after the header line."""
    with open_csv(file.path, file.compression, file.delimiter, strict=True) as (reader, lines):
        next(reader)
        while True:
            line = reader.line_num + 1
            lines.clear()
            try:
                record = next(reader)
                if any(text.lstrip(" ").startswith('"') for text in record if text[:1] == " "):
                    record = _spaced(lines, file.delimiter) or record
                reason = "" if not record else _record_fault(record, lines, file)
            except StopIteration:
                return
            except csv.Error:
                record = _spaced(lines, file.delimiter)
                reason = f"{NOT_CLOSED}: {_got(lines)}" if not record else ""
                if len(lines) > 1:
                    raise ValueError(
                        f"{file.path}, line {line}: {reason}, so the rows after it cannot be "
                        f"separated"
                    ) from None
                reason = reason or _record_fault(record, lines, file)
            if record or reason:
                yield line, reason, record


def _record_fault(record: list[str], lines: list[str], file: LogFile) -> str:
    """Return what is wrong with a record, "" if nothing."""
    if len(record) != len(file.columns):
        return (
            f"should have {len(file.columns)} fields like the header line, got {len(record)}: "
            f"{_got(lines)}"
        )
    text = "".join(lines)
    if len(text) * 4 > LONGEST_LINE:
        if len(text.encode("utf-8", "surrogateescape")) > LONGEST_LINE:
            return f"should be at most {LONGEST_LINE:,} bytes long: {_got(lines)}"
    if not text.isascii():
        bytes_ = text.encode("utf-8", "surrogateescape")
        try:
            bytes_.decode("utf-8")
        except UnicodeDecodeError as error:
            other = bytes_[error.start : error.start + 1]
            return f"should be UTF-8, got other bytes ({other!r} at byte {error.start}); {SAVED}"
    return ""


def _spaced(lines: list[str], delimiter: str) -> list[str]:
    """Return the fields of a line with spaces around quoted fields, or nothing."""
    text = re.sub(rf'" +(?={re.escape(delimiter)}|\r?\n|$)', '"', "".join(lines))
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True, skipinitialspace=True))
    except csv.Error:
        return []


def _got(lines: list[str]) -> str:
    return shown("".join(lines).rstrip("\r\n"))


def _json_rows(
    file: LogFile, roles: Roles | Columns
) -> Iterator[tuple[int, list[str | None], str]]:
    """Yield (line, the values of the roles as text, what is wrong) for each line."""
    nothing: list[str | None] = [None] * len(roles.taken)
    for line, reason, found in _json_lines(file):
        values = {column: found.get(column) for column in roles.taken.values()}
        for column, value in values.items():
            if isinstance(value, dict | list):
                reason = f"column {column!r} should contain text or a number, got {shown(value)}"
        if reason:
            yield line, nothing, reason
        else:
            yield line, [_json_text(value) for value in values.values()], ""


def _json_lines(file: LogFile) -> Iterator[tuple[int, str, dict[str, Any]]]:
    if file.format in ("array", "object"):
        for number, found in enumerate(json_objects(file.path, file.compression)):
            yield (number, found, {}) if isinstance(found, str) else (number, "", found)
        return
    with open_lines(file.path, file.compression) as raw:
        for number, data in enumerate(raw, start=1):
            if not data.strip():
                continue
            try:
                found = json_object(data.decode("utf-8-sig" if number == 1 else "utf-8"))
            except UnicodeDecodeError as error:
                found = f"should be UTF-8, got {data[error.start :][:1]!r} at byte {error.start}"
            yield (number, found, {}) if isinstance(found, str) else (number, "", found)


def _json_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _odd_line_end(file: LogFile) -> int | None:
    """Return the first line that does not end as line 1 does, or None."""
    with open_lines(file.path, file.compression) as raw:
        first = None
        number = 0
        for data in raw:
            end = b"\r\n" if data.endswith(b"\r\n") else b"\n"
            number += 1
            odd = data.endswith(b"\n") and first not in (None, end)
            if odd or b"\r" in data.removesuffix(end):
                return number
            first = first or end
    return None
