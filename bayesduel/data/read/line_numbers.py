"""Line numbers of bad rows in text files, row numbers in Parquet files.

Nothing here runs for a valid file.
"""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import duckdb
import pyarrow as pa

from bayesduel.data.read.columns import Columns, Roles
from bayesduel.data.read.faults import shown
from bayesduel.data.read.formats import LogFile, json_object, open_bytes, open_csv

__all__ = [
    "Numbered",
    "explain_lines",
    "numbered_records",
    "numbered_rows",
    "parse_fault",
    "refused_lines",
]

CHUNK = 20_000
BLOCK = 1 << 20


@dataclass
class Numbered:
    """Rows of a log and their places.

    Attributes
    ----------
    places
        The place of each row, such as "votes.csv, line 17".
    batch
        Columns named by role.
    reasons
        What is wrong with rows that could not be parsed, by their index here.
    """

    places: list[str]
    batch: pa.RecordBatch
    reasons: dict[int, str] = field(default_factory=dict)


def numbered_records(file: LogFile, roles: Roles | Columns) -> Iterator[Numbered]:
    """Yield the rows of a text file in chunks; lines that are not records are left out."""
    lines = _csv_rows(file, roles) if file.format == "csv" else _json_rows(file, roles)
    while chunk := list(islice(lines, CHUNK)):
        columns = {
            role: pa.array([values[k] for _, values, _ in chunk], pa.string())
            for k, role in enumerate(roles.taken)
        }
        yield Numbered(
            [f"{file.path}, line {line}" for line, _, _ in chunk],
            pa.RecordBatch.from_pydict(columns),
            {i: reason for i, (_, _, reason) in enumerate(chunk) if reason},
        )


def numbered_rows(file: LogFile, batches: Iterable[pa.RecordBatch]) -> Iterator[Numbered]:
    """Yield rows of a Parquet file, whose last column is the row's number from 0."""
    for batch in batches:
        rows = batch.column(batch.num_columns - 1).to_pylist()
        yield Numbered([f"{file.path}, row {row} (the first is 0)" for row in rows], batch)


def explain_lines(file: LogFile) -> ValueError | None:
    """Return an error for the first line of a file that is not a JSON object, or None."""
    faults = ((line, reason) for line, reason, _ in _json_lines(file) if reason)
    first = next(faults, None)
    if first is None:
        return None
    more = sum(1 for _ in faults)
    also = f" (and {more:,} more such lines)" if more else ""
    return ValueError(f"{file.path}, line {first[0]}: {first[1]}{also}")


def refused_lines(
    con: duckdb.DuckDBPyConnection, files: Sequence[LogFile], *, must_go_on: bool
) -> list[tuple[str, str]]:
    """Return the places of lines that DuckDB refused, and the reasons, in order.

    Raises
    ------
    ValueError
        With `must_go_on`, if an open quote spans lines: the rows after it cannot be read.
    """
    found = con.execute(
        "SELECT DISTINCT ON (file_path, line_byte_position) file_path, line_byte_position, "
        "error_type::VARCHAR, csv_line, error_message "
        "FROM refused JOIN refused_scans USING (scan_id, file_id) ORDER BY ALL"
    ).fetchall()
    con.execute("DROP TABLE refused")
    con.execute("DROP TABLE refused_scans")
    result = []
    for file in files:
        ours = [row[1:] for row in found if row[0] == file.path]
        lines = _lines_at(file, [row[0] - 1 for row in ours])
        for line, (_, kind, text, message) in zip(lines, ours, strict=True):
            where = f"{file.path}, line {line}"
            what = _refusal(kind, text or "", message, len(file.columns))
            if must_go_on and kind == "UNQUOTED VALUE" and len((text or "").splitlines()) > 1:
                raise ValueError(f"{where}: {what}, so the rows after it cannot be separated")
            result.append((where, what))
    return result


def parse_fault(file: LogFile, error: Exception) -> ValueError:
    """Return an error for a file that cannot be read, with the line if it can be found."""
    reason = str(error).split("\n")[0].removeprefix("Invalid Input Error: ").rstrip(". ")
    if "invalid state" in reason:
        line = _odd_line_end(file)
        if line:
            return ValueError(
                f"{file.path}, line {line}: should end as line 1 does, got another line ending "
                f"or a carriage return inside the line"
            )
    if "No magic bytes" in reason or "too small" in reason:
        with open_bytes(file.path, file.compression) as stream:
            size = len(stream.read()) if file.compression != "none" else stream.seek(0, 2)
        reason = f"the Parquet file is truncated: no closing PAR1 before its end at byte {size:,}"
        return ValueError(f"{file.path}: {reason}")
    return ValueError(f"{file.path}: cannot be read as {file.format}: {reason}")


def _refusal(kind: str, text: str, message: str, n_columns: int) -> str:
    """Return what is wrong with a line that DuckDB refused."""
    got = shown(text.rstrip("\r\n"))
    if kind in ("MISSING COLUMNS", "TOO MANY COLUMNS"):
        n = message.rsplit(":", 1)[-1].strip()
        return f"should have {n_columns} fields like the header line, got {n}: {got}"
    if kind == "UNQUOTED VALUE":
        return f"has a quote that is not closed, or closed inside a field: {got}"
    if kind == "INVALID ENCODING":
        return f"should be UTF-8, got other bytes: {got}"
    if kind == "LINE SIZE OVER MAXIMUM":
        return f"should be at most 2,000,000 bytes long: {got}"
    return f"cannot be parsed ({message.splitlines()[0]}): {got}"


def _csv_rows(file: LogFile, roles: Roles | Columns) -> Iterator[tuple[int, list[str | None], str]]:
    """Yield (line, the fields of the roles, "") for each record as long as the header."""
    places = [file.columns.index(column) for column in roles.taken.values()]
    with open_csv(file.path, file.compression, file.delimiter) as reader:
        next(reader)
        line = reader.line_num + 1
        for record in reader:
            if len(record) == len(file.columns):
                yield line, [record[k] or None for k in places], ""
            line = reader.line_num + 1


def _json_rows(
    file: LogFile, roles: Roles | Columns
) -> Iterator[tuple[int, list[str | None], str]]:
    """Yield (line, the values of the roles as text, what is wrong) for each line."""
    nothing: list[str | None] = [None] * len(roles.taken)
    for line, reason, found in _json_lines(file):
        if reason:
            yield line, nothing, reason
        else:
            yield line, [_json_text(found.get(c)) for c in roles.taken.values()], ""


def _json_lines(file: LogFile) -> Iterator[tuple[int, str, dict[str, Any]]]:
    with open_bytes(file.path, file.compression) as raw:
        for number, data in enumerate(io.BufferedReader(raw), start=1):  # type: ignore[type-var]
            if not data.strip():
                continue
            try:
                found = json_object(data.decode("utf-8"))
            except UnicodeDecodeError as error:
                found = f"should be UTF-8, got {data[error.start :][:1]!r} at byte {error.start}"
            if isinstance(found, str):
                yield number, found, {}
            else:
                yield number, "", found


def _json_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _lines_at(file: LogFile, offsets: Sequence[int]) -> list[int]:
    """Return the line of each byte, counted from 1; offsets ascending, from 0."""
    lines, line, start = [], 1, 0
    with open_bytes(file.path, file.compression) as stream:
        for offset in offsets:
            while start < offset:
                block = stream.read(min(BLOCK, offset - start))
                if not block:
                    break
                start += len(block)
                line += block.count(b"\n")
            lines.append(line)
    return lines


def _odd_line_end(file: LogFile) -> int | None:
    """Return the first line that does not end as line 1 does, or None."""
    with open_bytes(file.path, file.compression) as raw:
        first = None
        number = 0
        for data in io.BufferedReader(raw):  # type: ignore[type-var]
            end = b"\r\n" if data.endswith(b"\r\n") else b"\n"
            number += 1
            odd = data.endswith(b"\n") and first not in (None, end)
            if odd or b"\r" in data.removesuffix(end):
                return number
            first = first or end
    return None
