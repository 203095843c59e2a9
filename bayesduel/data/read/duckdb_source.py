"""Files read through DuckDB: counted there, or as rows batch by batch."""

import codecs
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from glob import has_magic
from itertools import groupby, islice, product
from os import PathLike
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayesduel.data.read import formats, line_numbers
from bayesduel.data.read.columns import Columns, Roles
from bayesduel.data.read.in_memory import WinsMatrix, wins_in_columns
from bayesduel.data.read.record_count import count_records
from bayesduel.data.read.rows import Coded, Rows, coded
from bayesduel.data.read.shape import Source
from bayesduel.data.read.sql import as_json, count_query, labelled, name_of, text_in_sql
from bayesduel.system.arguments import shown_value
from bayesduel.system.memory import limited
from bayesduel.text import FORMULA, join, printable

__all__ = ["ENTRY", "PEEKED", "FileSource", "connected"]

COUNTED = re.compile(r"U?[A-Z]*INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|BOOLEAN|VARCHAR|\"NULL\"")
MOST_KEYS = 10_000  # of JSON objects, each a column: more are values written as keys
COMPRESSIONS = ("none", "gzip", "zstd")
LAYOUTS = {"jsonl": "newline_delimited", "array": "array", "object": "unstructured"}
LARGEST_OBJECT = 1 << 24  # bytes of an object of JSON, one of several
MOST_LABELS = 100_000  # of a column whose hashes are counted in their place: a few MB of text
ENTRY = 100  # bytes that a row, or a count of equal rows, takes at most until it is in the log
PEEKED = 10_000  # rows by which columns are told apart
VOTE_ROLES = ("margin", "sampling_weight", "judge", "group", "time", "covariate_0", "kept_0")
LOCAL: dict[str, Any] = {  # no extension comes from a network or from the home folder
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}


@contextmanager
def connected(
    memory: int | None = None, *, alone: bool = False
) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """Connect to DuckDB, with a folder for temporary files.

    Opening a database takes as long as reading a small log, so that readings without a limit share
    one, in connections of their own: none sees the temporary tables and frames of another.

    memory: bytes that reading may take: one half is DuckDB's limit, beyond which it counts out of
        core (in the folder for temporary files), the other half is for what it returns. None: no
        limit.
    alone: whether the database should be its own, for what is attached, loaded or set in it.
    """
    limit = {} if memory is None else {"memory_limit": f"{memory // 2}B"}
    if limited():
        limit["threads"] = "1"  # each thread takes addresses
    own = alone or bool(limit)
    with tempfile.TemporaryDirectory(prefix="bayesduel-") as folder:
        database = _opened(folder, limit) if own else _shared()
        with database if own else database.cursor() as con:
            con.execute("SET TimeZone = 'UTC'")
            yield con, folder


def _opened(folder: str, limit: dict[str, str]) -> duckdb.DuckDBPyConnection:
    """Return a database whose temporary files are in a folder."""
    spilled = {"temp_directory": os.path.join(folder, "spilled")}
    return duckdb.connect(config=LOCAL | limit | spilled)


def _shared() -> duckdb.DuckDBPyConnection:
    """Return the database of this process, a new one if an error was fatal to the last."""
    try:
        _kept().cursor().execute("SELECT 1")
    except duckdb.Error:
        _kept.cache_clear()
    return _kept()


@cache
def _kept() -> duckdb.DuckDBPyConnection:
    """Open the database of this process; its folder is removed once no reading has it."""
    folder = tempfile.mkdtemp(prefix="bayesduel-")
    database = _opened(folder, {})
    weakref.finalize(database, shutil.rmtree, folder, ignore_errors=True)
    return database


if hasattr(os, "register_at_fork"):  # a child would lack the threads of its database
    os.register_at_fork(before=_kept.cache_clear)


class FileSource(Source):
    """The files of one log.

    path: a path, a folder, a glob, or a list of these.
    con, folder: of :func:`connected`.
    skip: whether lines that cannot be parsed are left out (and listed) or refused.
    memory: as in :func:`connected`.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        con: duckdb.DuckDBPyConnection,
        folder: str,
        skip: bool,
        memory: int | None,
    ) -> None:
        self._skip = skip
        self._memory = memory
        self._con = con
        self._files = [formats.recognise(name) for name in formats.expand(path)]
        formats.check_once([file.path for file in self._files])
        names = [file.path for file in self._files]
        self.name = formats.called(path, names)
        self.words = formats.called(names, names)
        self.files = tuple(map(os.path.abspath, names))
        self.delimiter = self._files[0].delimiter
        self.own_nulls = all(file.format != "csv" for file in self._files)
        self._plain = {f.path: self._unpacked(f, folder) for f in self._files}
        for file in self._files:
            if file.format == "csv":
                formats.check_encoding(file, skip=skip)
        self._own_names: dict[str, dict[str, str]] = {}  # DuckDB's, by path and column
        self._schemas: dict[str, dict[str, str]] = {}  # types of the columns of Parquet, by path
        self._types = self._check_columns()
        self._first: dict[str, pa.ChunkedArray] = {}  # the first rows of columns
        self._hashes: list[np.ndarray] = []  # of the rows read, where duplicates will be asked for

    # -- for readers ------ -------------------------------------------------------------

    def matrix(self) -> WinsMatrix | None:
        """Return the matrix of wins that a text file holds, or None if it holds none."""
        file = self._files[0]
        if len(self._files) > 1 or file.format != "csv" or len(file.columns) < 3:
            return None
        wanted = len(file.columns)  # a matrix has as many records as columns, with its header
        with formats.open_csv(file.path, file.compression, file.delimiter) as (reader, _):
            records = [record for record in islice(reader, wanted + 1) if record]
        if len(records) != wanted or any(len(record) != wanted for record in records):
            return None
        _, *body = records
        first, *others = file.columns
        names = (f"0 {first}", *others)
        columns = zip(*body, strict=True)
        try:
            return wins_in_columns(dict(zip(names, columns, strict=True)))
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        return [name for name in self._types if name]

    def records(self, con: duckdb.DuckDBPyConnection, names: Sequence[str]) -> str:
        """Return the query of some columns as JSON, null where there is none, with row numbers."""
        there = [name for name in names if name in self._types]
        parts = []
        for file, scan in self._scans(self._skip, there):
            json = file.is_json
            fields = {name: name_of(name) if json else self._field(file, name) for name in there}
            columns = as_json(fields, names)
            parts.append(f"SELECT {columns} FROM {scan}")
        every = " UNION ALL ".join(parts)
        return f"SELECT row_number() OVER () - 1 AS row_of_file, * FROM ({every})"

    def places(self) -> list[str]:
        """Return the place of each row."""
        first = Columns({"any": self.columns()[0]})
        return [place for chunk in self.numbered(first) for place in chunk.places]

    def rows(self, roles: Roles) -> Rows | None:
        """Return the votes of the log, or counts of equal rows if `roles` needs no votes.

        None if a line cannot be parsed and lines that cannot be parsed are left out, if there are
        not as many rows as records in the files, or if a label may be a JSON object or list: the
        rows should then be read one by one.

        Raises ValueError if a file is damaged, or a line cannot be parsed.
        """
        if not roles.tallied:
            self.check_votes(roles)
        try:
            with self.explaining():
                batches = self._tally(roles) if roles.tallied else self._votes(roles)
                batches = self._few_enough(batches)
                rows = Rows.from_batches(batches, roles.taken, roles.time_format)
        except _LineFault:
            self._hashes = []
            if self._skip:
                return None
            raise
        n_rows = int(rows.n.sum())
        if self._nested(rows.texts) or n_rows != self._count(roles):
            self._hashes = []
            return None
        return rows

    def check_votes(self, roles: Roles) -> None:
        """Raise ValueError if all rows, one by one, do not fit in the memory allowed."""
        if self._memory is None:
            return
        n = self._count(roles)
        most = self._memory // 2 // ENTRY
        if n > most:
            why = "which are read one by one where one is bad"
            remedy = "leave bad rows out before"
            kept = join([r for r in VOTE_ROLES if r in roles.taken], quote=True)
            if kept:
                why = f"kept for {kept}"
                remedy = "leave these out to count equal rows"
            raise ValueError(
                f"{self.name}: rows should be at most {most:,} in {self._memory:,} bytes of "
                f"memory, got {n:,}, {why}; allow more memory, or {remedy}"
            )

    def texts(self, columns: Columns) -> dict[str, Coded]:
        """Return columns as text by role, row by row.

        Raises ValueError if a file is damaged, or a line cannot be parsed.
        """
        with self.explaining():
            query = self._log(columns)
            found = coded(self._batches(query), columns.taken)
        any_column = next(iter(found.values()))
        complete = len(any_column.code) == self._count(columns)
        if complete and not self._nested(found.values()):
            return found
        return coded(self._sound(columns), columns.taken)

    def peek(self, columns: Columns, n: int) -> dict[str, Coded]:
        """Return the first `n` rows of columns as text by role; nested columns are empty.

        `n` is at most `PEEKED`, the rows that are read once. Only the rows asked for are made
        codes: for 10,000 different numbers that takes as long as reading them.
        """
        names = {*columns.taken.values()} - self._first.keys()
        if names:
            every = self.columns()
            # 50 columns up to which the first rows of all are read at once
            read = every if len(every) <= 50 else [*names]
            wanted = Columns({f"c{k}": name for k, name in enumerate(read)})
            query = f"FROM ({self._log(wanted)}) LIMIT {PEEKED}"
            try:
                first = self._table(query)
            except (duckdb.Error, OSError):  # a line that cannot be parsed: who reads all says it
                nothing = np.zeros(0, dtype=np.int32)
                return {role: Coded([], nothing) for role in columns.taken}
            values = first.combine_chunks().columns
            self._first |= dict(zip(read, values, strict=True))
        asked = {}
        for role, name in columns.taken.items():
            asked[role] = self._first[name].slice(0, n)
        batches = pa.table(asked).to_batches()
        return coded(batches, columns.taken, lenient=True)

    def numbered(self, roles: Roles | Columns) -> Iterator[line_numbers.Numbered]:
        """Yield the rows in chunks, with the line or row number of each."""
        for file in self._files:
            if file.format != "parquet":
                yield from line_numbers.numbered_records(file, roles)
                continue
            path = text_in_sql(self._plain[file.path])
            scan = self._scan(file, path, skip=False)
            query = self._selection(file, scan, roles)
            yield from line_numbers.numbered_rows(file, self._batches(query))

    def duplicates(self, roles: Roles, rows: Rows) -> dict[str | None, int]:
        """Return how many rows equal an earlier one in every column, by label of `roles.by`.

        Rows are compared by a 64-bit hash: among n different rows, two have equal
        hashes with probability about n^2 / 2^65. None is needed where all votes differ.
        """
        if rows.all_differ():
            return {}
        if self._hashes and not roles.by:
            ordered = np.sort(np.concatenate(self._hashes))
            repeats = ordered[1:] == ordered[:-1]
            return {None: int(repeats.sum())}
        parts = []
        for file, scan in self._scans(self._skip):
            key = self._field(file, roles.by) if roles.by else "NULL"
            row_hash = self._hash(file)
            parts.append(f"SELECT {key} AS part, {row_hash} AS h FROM {scan}")
        every = " UNION ALL ".join(parts)
        counted = "SELECT part, count(*) - count(DISTINCT h)"
        query = f"{counted} FROM ({every}) GROUP BY part"
        return dict(self._con.execute(query).fetchall())

    def _sound(self, columns: Columns) -> Iterator[pa.RecordBatch]:
        """Yield the rows one by one; raise ValueError for the first that cannot be parsed."""
        for chunk in self.numbered(columns):
            for place, reason in chunk.reasons.items():
                raise ValueError(f"{chunk.places[place]}: {reason}")
            yield chunk.batch

    def _nested(self, columns: Iterable[Coded]) -> bool:
        """Return whether a text may be an object or a list of JSON, which DuckDB gives as text."""
        if not any(file.is_json for file in self._files):
            return False
        return any(text[:1] in ("{", "[") for column in columns for text in column.values)

    # -- queries ------------------------------------------------------------------------

    def _log(self, roles: Roles | Columns, *, hashed: bool = False) -> str:
        """Return the query for the columns of `roles`, named by role, one row per vote.

        With the hash of all columns, as ``row_hash``, where `hashed`.
        """
        parts = (self._selection(*part, roles, hashed=hashed) for part in self._scans())
        return " UNION ALL ".join(parts)

    def _selection(
        self, file: formats.LogFile, scan: str, roles: Roles | Columns, *, hashed: bool = False
    ) -> str:
        taken = []
        for role, column in roles.taken.items():
            field = self._field(file, column)
            taken.append(f"{field} AS {name_of(role)}")
        if hashed:
            row_hash = self._hash(file)
            taken.append(f"{row_hash} AS row_hash")
        columns = ", ".join(taken)
        return f"SELECT {columns} FROM {scan}"

    def _votes(self, roles: Roles) -> Iterator[pa.RecordBatch]:
        """Yield the rows; the hashes of all their columns are kept where duplicates are counted."""
        self._hashes = []
        hashed = roles.judge is not None
        if roles.time is not None:  # votes at different times differ
            # 1,000 rows by which it is seen whether times differ
            first = self.peek(Columns({"time": roles.time}), 1_000)
            times = first["time"].code
            hashed = 2 * len(np.unique(times)) < len(times)
        query = self._log(roles, hashed=hashed)
        for batch in self._batches(query):
            if hashed:
                self._hashes.append(batch.column("row_hash").to_numpy())
            yield batch

    def _tally(self, roles: Roles) -> Iterator[pa.RecordBatch]:
        log = self._log(roles)
        keys = [r for r in roles.taken if r != "weight"]
        weight = None if roles.weight is None else self._types[roles.weight]
        if weight is not None and not COUNTED.fullmatch(weight):
            raise ValueError(
                f"{self.name}: column {roles.weight!r} should contain numbers, got {weight}"
            )
        labels = self._labels(keys, roles, log)
        query = count_query(log, keys, weight, labels)
        yield from labelled(self._batches(query), labels)

    def _few_enough(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches; raise ValueError once they exceed the memory allowed."""
        n = 0
        most = None if self._memory is None else self._memory // 2 // ENTRY
        for batch in batches:
            n += len(batch)
            if most is not None and n > most:
                raise ValueError(
                    f"{self.name}: the log should have at most {most:,} different rows of arms and "
                    f"outcome in {self._memory:,} bytes of memory, got more; allow more memory"
                )
            yield batch

    def _labels(
        self, keys: Sequence[str], roles: Roles, log: str
    ) -> dict[str, tuple[pa.Array, pa.Array]]:
        """Return the labels and their hashes of text columns that are quick to read twice.

        A column is left out if it has over 100,000 labels, or two with the same hash (that of a
        missing label is one).
        """
        if any(f.format != "parquet" for f in self._files):
            return {}
        found = {}
        for role in keys:
            column = roles.taken[role]
            if self._types[column] != "VARCHAR":
                continue
            limit = MOST_LABELS + 1
            labels = f"SELECT DISTINCT {name_of(role)} AS label FROM ({log}) LIMIT {limit}"
            table = self._table(f"SELECT label, hash(label) AS hash FROM ({labels})")
            n_hashes = pc.count_distinct(table["hash"], mode="all").as_py()
            if n_hashes == len(table) and 0 < len(table) <= MOST_LABELS:
                valid = pc.is_valid(table["label"])
                known = table.filter(valid)
                found[role] = known["label"].combine_chunks(), known["hash"].combine_chunks()
        return found

    def _scans(
        self, skip: bool = False, names: Sequence[str] | None = None
    ) -> Iterator[tuple[formats.LogFile, str]]:
        """Yield a table function for each kind of file, with the first file of the kind.

        names: as in :meth:`_scan`.
        """

        def kind(file: formats.LogFile) -> tuple[Any, ...]:
            columns = file.columns or tuple(self._columns_of(file))  # Parquet has a schema
            return (file.format, file.compression, file.delimiter, columns)

        for _, alike in groupby(self._files, kind):
            files = list(alike)
            yield files[0], self._scan(files[0], self._paths(files), skip, names)

    def _paths(self, files: Sequence[formats.LogFile]) -> str:
        """Return the paths of files in a query."""
        paths = ", ".join(text_in_sql(self._plain[file.path]) for file in files)
        return f"[{paths}]"

    def _scan(
        self, file: formats.LogFile, paths: str, skip: bool, names: Sequence[str] | None = None
    ) -> str:
        """Return the table function that reads some files, every field of text as text.

        With `names`, these columns of JSON as JSON.

        Names of folders such as "left=a" are no columns (DuckDB's Hive partitioning).
        """
        if file.format == "parquet":
            return f"read_parquet({paths}, hive_partitioning=false)"
        ignored = "true" if skip else "false"
        options = f"hive_partitioning=false, ignore_errors={ignored}"
        if file.is_json:
            kind, taken = ("VARCHAR", self._types) if names is None else ("JSON", names)
            fields = ", ".join(f"{text_in_sql(name)}: '{kind}'" for name in taken if name)
            layout = self._layout(file)
            return (
                f"read_json({paths}, {layout}, auto_detect=false, columns={{{fields}}}, {options})"
            )
        if file.compression != "none":
            packed = text_in_sql(file.compression)
            options += f", compression={packed}"
        fields = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(file.columns)))
        delimiter = text_in_sql(file.delimiter)
        return (
            f"read_csv({paths}, auto_detect=false, header=true, columns={{{fields}}}, "
            f"delim={delimiter}, quote='\"', escape='\"', nullstr='', "
            f"strict_mode=true, null_padding=false, {options})"
        )

    def _field(self, file: formats.LogFile, column: str) -> str:
        """Return a column in a query; DuckDB renames those of Parquet that differ by case only."""
        if file.format == "csv":
            place = file.columns.index(column)
            field = f"c{place}"
        else:
            own_names = self._own_names.get(file.path, {})
            field = name_of(own_names.get(column, column))
        if file.of_study:
            formula = text_in_sql(f"^'({FORMULA})")
            field = f"regexp_replace({field}, {formula}, '\\1')"
        return field

    def _hash(self, file: formats.LogFile) -> str:
        """Return the hash of a row in a query."""
        fields = ", ".join(self._field(file, column) for column in sorted(self.columns()))
        return f"hash({fields})"

    def _batches(self, query: str) -> Iterator[pa.RecordBatch]:
        yield from pa.RecordBatchReader.from_stream(self._con.sql(query))

    def _table(self, query: str) -> pa.Table:
        return pa.RecordBatchReader.from_stream(self._con.sql(query)).read_all()

    # -- checks -------------------------------------------------------------------------

    def _unpacked(self, file: formats.LogFile, folder: str) -> str:
        """Verify a compressed file, and return the path of a file for DuckDB.

        It is absolute, so that nothing in it is a URL or a home folder. Compressed Parquet and
        a compressed object of JSON are decompressed, JSON loses its byte-order mark; a name that is
        also a glob, or not UTF-8, is replaced by a link.
        """
        number = self._files.index(file)
        place = os.path.join(folder, f"{number}.{file.format}")
        packed = None if file.compression == "none" else file.compression
        if packed:
            formats.verify(file.path, packed, lines_end=file.format in ("csv", "jsonl"))
        whole = file.format in ("parquet", "object")  # which DuckDB reads decompressed
        with formats.open_bytes(file.path, file.compression) as stream:
            marked = file.is_json and stream.read(3) == codecs.BOM_UTF8
        if not marked and not (packed and whole):
            path = os.path.abspath(file.path)
            usable = printable(path) == path and not has_magic(path)
            if usable:
                return path
            os.symlink(path, place)
            return place
        packed = None if whole else packed
        with (
            formats.open_bytes(file.path, file.compression) as stream,
            pa.output_stream(place, compression=packed) as copy,
        ):
            stream.read(len(codecs.BOM_UTF8) if marked else 0)
            shutil.copyfileobj(stream, copy, 1 << 20)
        return place

    def _check_columns(self) -> dict[str, str]:
        """Return the columns of all files with their types; raise ValueError if types differ."""
        first = self._columns_of(self._files[0])
        everything = dict(first)
        unused: dict[str, None] = {}
        for file in self._files[1:]:
            ours = self._columns_of(file)
            differ = {name for name, kind in ours.items() if everything.get(name, kind) != kind}
            if differ and not file.is_json:
                name = min(differ)
                raise ValueError(
                    f"{file.path}, line 1: the files of a log should agree on the type of a "
                    f"column, got {ours[name]} for {name!r}, which is {everything[name]} in "
                    f"{self._files[0].path}"
                )
            if not file.is_json:
                lost = sorted(set(everything) ^ set(ours))
                unused |= dict.fromkeys(lost)
                everything = {name: kind for name, kind in everything.items() if name in ours}
            everything |= {name: kind for name, kind in ours.items() if name not in unused}
        if unused:
            self.say(f"{join(unused, quote=True)}: not in every file, not used")
        if any(file.is_json for file in self._files):
            everything |= dict.fromkeys(self._keys(), "VARCHAR")
            self._check_keys(list(everything))
        return everything

    def _keys(self) -> list[str]:
        keys: set[str] = set()
        with self.explaining():
            for packed, layout in product(COMPRESSIONS, LAYOUTS):
                alike = [f for f in self._files if (f.compression, f.format) == (packed, layout)]
                if alike:
                    objects = self._objects(alike)
                    query = f"SELECT DISTINCT unnest(json_keys(json)) FROM {objects}"
                    keys.update(key for (key,) in self._con.sql(query).fetchall())
        return sorted(keys)

    def _objects(self, files: Sequence[formats.LogFile]) -> str:
        """Return the table function that reads files of JSON of a kind, a whole object per row."""
        paths = self._paths(files)
        layout = self._layout(files[0])
        return f"read_json_objects({paths}, {layout}, ignore_errors=true)"

    def _layout(self, file: formats.LogFile) -> str:
        """Return the options by which DuckDB reads a file of JSON."""
        largest = LARGEST_OBJECT
        packed = file.compression
        if file.format == "object":
            size = os.path.getsize(self._plain[file.path])
            largest = max(LARGEST_OBJECT, size)
            packed = "none"
        layout = text_in_sql(LAYOUTS[file.format])
        compression = text_in_sql(packed)
        return f"format={layout}, maximum_object_size={largest}, compression={compression}"

    def _check_keys(self, keys: list[str]) -> None:
        if not keys:
            raise ValueError(f"{self.name}: should contain JSON objects, got none with a key")
        if len(keys) > MOST_KEYS:
            raise ValueError(
                f"{self.name}: JSON objects should have at most {MOST_KEYS:,} different keys, "
                f"got {len(keys):,}"
            )
        seen: dict[str, str] = {}
        for key in keys:
            other = seen.setdefault(key.casefold(), key)
            if other != key:
                raise ValueError(
                    f"{self.name}: keys of JSON objects should differ in more than case, "
                    f"got {shown_value(other)} and {shown_value(key)}"
                )

    def _columns_of(self, file: formats.LogFile) -> dict[str, str]:
        """Return the columns of a file with their types."""
        if file.format != "parquet":
            return dict.fromkeys(file.columns, "VARCHAR")
        if file.path not in self._schemas:  # each is asked for by every query
            self._schemas[file.path] = self._schema_of(file)
        return self._schemas[file.path]

    def _schema_of(self, file: formats.LogFile) -> dict[str, str]:
        """Return the columns of a file of Parquet with their types; keep DuckDB's own names."""
        path = text_in_sql(self._plain[file.path])
        query = f"DESCRIBE FROM read_parquet({path}, hive_partitioning=false)"
        schema = f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({path})"
        try:
            found = self._con.sql(query).fetchall()
            (_, n_columns), *nodes = self._con.sql(schema).fetchall()
        except duckdb.Error as error:
            raise line_numbers.parse_fault(file, error) from None
        names = []
        below = 0  # the nodes come in depth-first order
        for name, n_children in nodes:
            if not below:
                names.append(name)
            below = max(below - 1, 0) + n_children
        own_names = [own for own, *_ in found]
        kinds = [kind for _, kind, *_ in found]
        if len(names) != n_columns or len(set(names)) < n_columns:
            names = own_names
        self._own_names[file.path] = dict(zip(names, own_names, strict=True))
        return dict(zip(names, kinds, strict=True))

    def _count(self, roles: Roles | Columns) -> int:
        """Return the number of records in the files, not by parsing; -1 if that is not possible."""
        counts = []
        for file in self._files:
            if file.format in ("array", "object"):
                objects = self._objects([file])
                query = f"SELECT count(*) FROM {objects}"
                counts += [n for (n,) in self._con.execute(query).fetchall()]
                continue
            if file.format != "parquet":
                keys = list(roles.taken.values())
                counts.append(count_records(file, keys))
                continue
            path = text_in_sql(self._plain[file.path])
            query = f"SELECT sum(num_rows)::BIGINT FROM parquet_file_metadata({path})"
            counts += [n for (n,) in self._con.execute(query).fetchall()]
        return -1 if min(counts) < 0 else sum(counts)

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Raise a failed query as an error that names the file, and the line if it can."""
        try:
            yield
        except duckdb.Error as error:
            raise self._explained(error) from None

    def _explained(self, error: duckdb.Error) -> ValueError:
        """Return an error for a failed query that names the file, and the line if it can."""
        if isinstance(error, duckdb.OutOfMemoryException):
            allowed = "free" if self._memory is None else f"{self._memory:,} bytes of"
            first_line, *_ = str(error).splitlines()
            return ValueError(
                f"{self.name}: counting should fit in the {allowed} memory and disk for temporary "
                f"files, got: {first_line}"
            )
        named = [file for file in self._files if self._plain[file.path] in str(error)]
        # the longest: the path of another file may be its start
        faulty = max(named, key=lambda file: len(file.path), default=self._files[0])
        fault = line_numbers.parse_fault(faulty, error)
        if isinstance(fault, line_numbers.LineEndError):
            return fault
        for file in self._files:
            if file.format == "parquet":
                continue
            found = line_numbers.explain_lines(file)
            if found is not None:
                return _LineFault(str(found))
        return fault


class _LineFault(ValueError):
    """A line that cannot be parsed."""
