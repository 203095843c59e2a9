"""Files of duels, read through DuckDB: tallied there, or as votes batch by batch."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from glob import has_magic
from itertools import groupby
from typing import Any

import duckdb
import pyarrow as pa

from bayesduel.columns import Roles
from bayesduel.formats import LogFile, expand, keys_of, open_bytes, recognise, verify
from bayesduel.locating import (
    Numbered,
    explain_lines,
    numbered_records,
    numbered_rows,
    parse_fault,
    refused_lines,
)
from bayesduel.rows import NUMBER, Rows, TimeKind

__all__ = ["FileSource", "open_files"]

LARGEST = 2**53  # counts beyond it are not exact in float64


@contextmanager
def open_files(path: Any, *, skip: bool) -> Iterator["FileSource"]:
    """Open the files of one log.

    Parameters
    ----------
    path
        A path, a glob, or a list of either.
    skip
        Whether lines that cannot be parsed are left out (and told of) or refused.

    Raises
    ------
    OSError
        If a file is not there or cannot be opened.
    ValueError
        If a file is not what its name says, or the files' columns differ.
    """
    with (
        tempfile.TemporaryDirectory(prefix="bayesduel-") as folder,
        duckdb.connect(config={"temp_directory": os.path.join(folder, "spilled")}) as con,
    ):
        con.execute("SET TimeZone = 'UTC'")
        yield FileSource(path, con, folder, skip)


class FileSource:
    """The files of one log; see :func:`open_files`."""

    def __init__(self, path: Any, con: duckdb.DuckDBPyConnection, folder: str, skip: bool) -> None:
        self.skip = skip
        self.refused: list[tuple[str, str]] = []
        self._con = con
        self._files = [recognise(name) for name in expand(path)]
        self.name = str(path) if isinstance(path, str | os.PathLike) else self.words
        self._plain = {f.path: self._unpacked(f, folder) for f in self._files}
        self._types = self._check_columns()

    # -- what a reader asks -------------------------------------------------------------

    @property
    def words(self) -> str:
        """The files, as a log tells of its source."""
        if len(self._files) == 1:
            return self._files[0].path
        return f"{len(self._files)} files: {', '.join(f.path for f in self._files)}"

    def columns(self, wanted: set[str]) -> list[str]:
        """Return the names of the columns; JSON lines are searched to the end for `wanted`."""
        for file in self._files:
            if file.format == "jsonl" and wanted - set(self._types):
                keys = keys_of(file.path, file.compression, float("inf"))
                self._types.update(dict.fromkeys(keys, "VARCHAR"))
        return [name for name in self._types if name]

    def rows(self, roles: Roles, kind: TimeKind | None = None) -> Rows:
        """Return the log's votes, or its tallies where `roles` needs no more.

        Raises
        ------
        ValueError
            If a file is damaged, or lines cannot be parsed and are not to be skipped.
        """
        for file in self._files:
            if file.compression != "none" and file.format != "parquet":
                verify(file.path, file.compression)
        query = self._log(roles, self.skip) if roles.by_vote else self._tally(roles, self.skip)
        try:
            rows = Rows.from_batches(self._batches(query), roles.taken, kind)
            if self.skip:
                self.refused = self._refused(must_go_on=True)
        except duckdb.Error as error:
            raise self._explained(error, roles) from None
        return rows

    def numbered(self, roles: Roles) -> Iterator[Numbered]:
        """Yield the rows, with the line or row each is on, in chunks."""
        for file in self._files:
            if file.format != "parquet":
                yield from numbered_records(file, roles)
                continue
            columns = ", ".join(f"{_name(c)} AS {_name(r)}" for r, c in roles.taken.items())
            path = _text(self._plain[file.path])
            yield from numbered_rows(
                file,
                self._batches(
                    f"SELECT {columns}, file_row_number "
                    f"FROM read_parquet({path}, file_row_number=true)"
                ),
            )

    def duplicates(self, roles: Roles) -> dict[str | None, int]:
        """Return how many rows equal an earlier one in every column, by label of `roles.by`.

        Rows are compared by a 64-bit hash: among n different rows, two are taken for equal
        with probability about n^2 / 2^65.
        """
        columns = sorted(self.columns(set()))
        parts = []
        for file, scan in self._scans(self.skip, tell=False):
            key = self._field(file, roles.by) if roles.by else "NULL"
            fields = ", ".join(self._field(file, c) for c in columns)
            parts.append(f"SELECT {key} AS part, hash({fields}) AS h FROM {scan}")
        counted = "SELECT part, count(*) - count(DISTINCT h)"
        query = f"{counted} FROM ({' UNION ALL '.join(parts)}) GROUP BY part"
        return dict(self._con.execute(query).fetchall())

    # -- queries ------------------------------------------------------------------------

    def _log(self, roles: Roles, skip: bool) -> str:
        """Return the query for the columns of `roles`, named by role, one row a vote."""
        parts = []
        for file, scan in self._scans(skip):
            taken = [f"{self._field(file, c)} AS {_name(r)}" for r, c in roles.taken.items()]
            parts.append(f"SELECT {', '.join(taken)} FROM {scan}")
        return " UNION ALL ".join(parts)

    def _tally(self, roles: Roles, skip: bool) -> str:
        """Return the query that counts equal rows."""
        keys = ", ".join(_name(r) for r in roles.taken if r != "weight")
        log, counts = self._log(roles, skip), "count(*) AS n_rows"
        if roles.weight is not None:
            number = "weight::DOUBLE"
            if self._types[roles.weight] == "VARCHAR":
                number = f"CASE WHEN regexp_full_match(trim(weight), '{NUMBER}') THEN {number} END"
            whole = f"w >= 0 AND w <= {LARGEST} AND w = floor(w)"
            log = f"SELECT {keys}, {number} AS w FROM ({log})"
            log = f"SELECT {keys}, CASE WHEN {whole} THEN w::HUGEINT END AS w FROM ({log})"
            counts += (
                ", sum(w)::DOUBLE AS weight, count(*) FILTER (w IS NULL) AS n_bad_weight, "
                "count(*) FILTER (w = 0) AS n_zero_weight"
            )
        return f"SELECT {keys}, {counts} FROM ({log}) GROUP BY {keys}"

    def _scans(self, skip: bool, *, tell: bool = True) -> Iterator[tuple[LogFile, str]]:
        """Yield a table function for each kind of file, with the first file of the kind."""

        def kind(file: LogFile) -> tuple[Any, ...]:
            return (file.format, file.compression, file.delimiter, file.columns)

        for _, alike in groupby(self._files, kind):
            files = list(alike)
            paths = f"[{', '.join(_text(self._plain[f.path]) for f in files)}]"
            yield files[0], self._scan(files[0], paths, skip, tell)

    def _scan(self, file: LogFile, paths: str, skip: bool, tell: bool) -> str:
        """Return the table function that reads some files, every field of text as text."""
        if file.format == "parquet":
            return f"read_parquet({paths})"
        packed = file.compression != "none"
        packing = f", compression={_text(file.compression)}" if packed else ""
        if file.format == "jsonl":
            fields = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in self._types)
            return (
                f"read_json({paths}, format='newline_delimited', auto_detect=false, "
                f"columns={{{fields}}}, ignore_errors={str(skip).lower()}{packing})"
            )
        fields = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(file.columns)))
        telling = (
            ", store_rejects=true, rejects_limit=0, rejects_table='refused', "
            "rejects_scan='refused_scans'"
        )
        skipping = f", ignore_errors=true{telling if tell else ''}" if skip else ""
        return (
            f"read_csv({paths}, auto_detect=false, header=true, columns={{{fields}}}, "
            f"delim={_text(file.delimiter)}, quote='\"', escape='\"', nullstr='', "
            f"strict_mode=true, null_padding=false{skipping}{packing})"
        )

    def _field(self, file: LogFile, column: str) -> str:
        return f"c{file.columns.index(column)}" if file.format == "csv" else _name(column)

    def _batches(self, query: str) -> Iterator[pa.RecordBatch]:
        yield from pa.RecordBatchReader.from_stream(self._con.sql(query))

    # -- checks -------------------------------------------------------------------------

    def _unpacked(self, file: LogFile, folder: str) -> str:
        """Return where DuckDB finds a file.

        Compressed Parquet is unpacked; a name that DuckDB would take for a glob gets another.
        """
        place = os.path.join(folder, f"{self._files.index(file)}.{file.format}")
        if file.format != "parquet" or file.compression == "none":
            if not has_magic(file.path):
                return file.path
            os.symlink(os.path.abspath(file.path), place)
            return place
        verify(file.path, file.compression)
        with open_bytes(file.path, file.compression) as packed, open(place, "wb") as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)
        return place

    def _check_columns(self) -> dict[str, str]:
        """Return the columns of the log with their types; refuse files that differ."""
        first = self._columns_of(self._files[0])
        everything = dict(first)
        for file in self._files[1:]:
            ours = self._columns_of(file)
            everything |= ours
            if ours != first and file.format != "jsonl":
                differ = sorted(set(ours.items()) ^ set(first.items()))
                said = ", ".join(f"{name!r} ({kind})" for name, kind in differ[:4])
                raise ValueError(
                    f"{file.path}, line 1: the files of a log should have the same columns, this "
                    f"one and {self._files[0].path} differ in {said}"
                )
        return everything

    def _columns_of(self, file: LogFile) -> dict[str, str]:
        if file.format != "parquet":
            return dict.fromkeys(file.columns, "VARCHAR")
        query = f"DESCRIBE FROM read_parquet({_text(self._plain[file.path])})"
        try:
            return {row[0]: row[1] for row in self._con.sql(query).fetchall()}
        except duckdb.Error as error:
            raise parse_fault(file, error) from None

    def _explained(self, error: duckdb.Error, roles: Roles) -> ValueError:
        """Return what the failure of a query says about the files, with the line if it can."""
        for file in self._files:
            found = explain_lines(file) if file.format == "jsonl" else None
            if found is not None:
                return found
        named = [f for f in self._files if self._plain[f.path] in str(error)]
        fault = parse_fault(named[0] if named else self._files[0], error)
        try:
            for _ in self._batches(self._log(roles, True)):  # to the end, refusing lines
                pass
            refused = self._refused(must_go_on=False)
        except duckdb.Error:
            return fault
        if not refused:
            return fault
        (where, what), more = refused[0], len(refused) - 1
        return ValueError(f"{where}: {what}" + (f" (and {more:,} more such lines)" * (more > 0)))

    def _refused(self, *, must_go_on: bool) -> list[tuple[str, str]]:
        """Return where and why lines of text files were refused."""
        texts = [file for file in self._files if file.format == "csv"]
        return refused_lines(self._con, texts, must_go_on=must_go_on) if texts else []


def _name(name: str) -> str:
    """Return a column's name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + value.replace("'", "''") + "'"
