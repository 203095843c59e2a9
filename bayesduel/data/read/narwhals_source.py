"""Frames read through Narwhals: pandas, Polars, PyArrow, DuckDB, Dask, PySpark, Ibis.

The columns of a frame in memory are converted to Arrow. The rows of a lazy frame (Polars, Dask,
a DuckDB relation, the table at an address, a table of Spark or of a database through Ibis) are
counted by its own engine, and only the counts of equal rows are collected, unless votes are needed
one by one for judges, groups, times or margins.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from bayesduel.data.read.columns import Columns, Roles
from bayesduel.data.read.faults import shown
from bayesduel.data.read.line_numbers import CHUNK, Numbered
from bayesduel.data.read.rows import Coded, Rows, coded
from bayesduel.data.read.shape import Source
from bayesduel.data.read.sql import as_json, name_of
from bayesduel.data.votes import LARGEST
from bayesduel.system.arguments import check_utf8, text_of
from bayesduel.text import to_json

__all__ = ["FrameSource"]

CONVERSION = (pa.ArrowException, nw.exceptions.NarwhalsError, UnicodeError, TypeError)


class FrameSource(Source):
    """A frame as a source of rows.

    frame: any frame that Narwhals supports.
    words: what it is called; None: by its type.
    Raises TypeError if `frame` is not a frame.
    """

    def __init__(self, frame: Any, words: str | None = None) -> None:
        kind = type(frame)
        top, *_ = kind.__module__.split(".")
        package = top.lstrip("_")
        self.name = self.words = words or f"{package} {kind.__qualname__}"
        pandas = hasattr(frame, "set_axis")  # whose names may be numbers
        if pandas and not all(isinstance(name, str) for name in frame.columns):
            frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        try:
            self._frame: Any = nw.from_native(frame)
            self._schema = dict(self._frame.collect_schema())
        except nw.exceptions.DuplicateError:
            names = list(getattr(frame, "column_names", None) or frame.columns)
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"{self.name}: columns should have distinct names, got {shown(twice)} twice"
            ) from None
        except TypeError:
            raise TypeError(
                "path_or_frame should be a path, a glob, a list of paths or a frame that Narwhals "
                f"supports, got {type(frame).__module__}.{type(frame).__qualname__}"
            ) from None
        self._lazy = isinstance(self._frame, nw.LazyFrame)
        for name in self._schema:
            check_utf8(name, f"{self.name}: columns should have names of UTF-8 text")
        self._taken_over: pa.Table | None = None

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._schema)

    def records(self, con: Any, names: Sequence[str]) -> str:
        """Return the query of some columns as JSON, null where there is none, with row numbers.

        The columns are registered with the connection of DuckDB `con`.
        """
        there = Columns({name: name for name in names if name in self._schema})
        objects = [name for name in there.taken if self._schema[name] == nw.Object]
        self._take_over(there, self._votes)
        table: Any = self._taken_over
        for name in objects:  # lists and dictionaries of Python
            texts = [to_json(value, None) for value in self._frame[name].to_list()]
            place = table.schema.get_field_index(name)
            table = table.set_column(place, name, pa.array(texts, pa.string()))
        con.register("frame", table)
        fields = as_json({name: name_of(name) for name in there.taken}, names, objects)
        return f"SELECT row_number() OVER () - 1 AS row_of_file, {fields} FROM frame"

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Raise a failed query as an error that names the frame."""
        try:
            yield
        except duckdb.Error as error:
            raise ValueError(f"{self.name}: cannot be read: {error}") from None

    def places(self) -> list[str]:
        """Return the place of each row."""
        n = self._count_by(self._frame.lazy(), None)[None]
        return [self._place(i) for i in range(n)]

    def _place(self, number: int) -> str:
        return f"{self.name}, row {number} (the first is 0)"

    def rows(self, roles: Roles) -> Rows:
        """Return the votes of the frame, or counts of equal rows if `roles` needs no votes.

        Raises ValueError if they are not as many as the rows of the frame, or weights of a lazy
        frame are text.
        """
        tallied = self._tallied(roles)
        kind = None if roles.weight is None else self._schema[roles.weight]
        if tallied and kind is not None and not kind.is_numeric():
            raise ValueError(
                f"{self.name}: column {roles.weight!r} should contain numbers, got {kind} "
                f"(cast it before reading)"
            )
        self._take_over(roles, self._tally if tallied else self._votes)
        rows = Rows.from_batches(_batches(self._taken_over), roles.taken, roles.time_format)
        n_rows = self._count_by(self._frame.lazy(), None)[None]
        n_read = int(rows.n.sum())
        if n_read != n_rows:
            raise ValueError(
                f"{self.name}: rows read should add up to the {n_rows:,} rows of the frame, got "
                f"{n_read:,}"
            )
        return rows

    def check_votes(self, roles: Roles) -> None:
        """Accept any number of rows: those of a frame are in memory, or counted by its engine."""

    def texts(self, columns: Columns) -> dict[str, Coded]:
        """Return columns as text by role, row by row."""
        self._take_over(columns, self._votes)
        return coded(_batches(self._taken_over), columns.taken)

    def peek(self, columns: Columns, n: int) -> dict[str, Coded]:
        """Return the first `n` rows of columns as text by role; nested columns are empty.

        Of a lazy frame, which may be computed anew each time, they are at most 1,000.
        """
        schema = self._schema
        taken = columns.taken
        flat = {role: name for role, name in taken.items() if not schema[name].is_nested()}
        nothing = np.zeros(0, dtype=np.int32)
        found = {role: Coded([], nothing) for role in columns.taken}
        most = min(n, 1_000) if self._lazy else n
        try:
            table = self._in_arrow(self._selected(Columns(flat)).head(most))
            return found | coded(_batches(table), flat, lenient=True)
        except CONVERSION:  # who reads all rows says which column
            return found

    def numbered(self, roles: Roles | Columns) -> Iterator[Numbered]:
        """Yield the rows with their numbers from 0, counts of equal rows with their content."""
        assert self._taken_over is not None
        table = self._taken_over
        start = 0
        if self._tallied(roles):  # equal rows come in any order
            table = table.sort_by([(r, "ascending") for r in roles.taken if r != "weight"])
        for batch in _batches(table):
            if self._tallied(roles):
                kept = {role: column for role, column in roles.taken.items() if role != "weight"}
                places = []
                for row in batch.to_pylist():
                    cells = [f"{column}={shown(row[role])}" for role, column in kept.items()]
                    places.append(f"{self.name}, where {', '.join(cells)}")
            else:
                numbers = range(start, start + len(batch))
                places = [self._place(i) for i in numbers]
            start += len(batch)
            yield Numbered(places, batch)

    def duplicates(self, roles: Roles, rows: Rows) -> dict[str | None, int] | None:
        """Return how many rows equal an earlier one in every column, by label of `roles.by`.

        None if there are columns that cannot be compared, such as lists or objects.
        """
        if any(dtype.is_nested() or dtype == nw.Object for dtype in self._schema.values()):
            return None
        if rows.all_differ():
            return {}
        frame = self._frame.lazy()
        try:
            counts = self._count_by(frame, roles.by)
            distinct = self._count_by(frame.unique(keep="any"), roles.by)
        except CONVERSION:
            return None
        return {part: n - distinct[part] for part, n in counts.items()}

    def _count_by(self, frame: Any, by: str | None) -> dict[str | None, int]:
        if by is None:
            n = frame.select(n=nw.len()).collect("pyarrow").to_native()
            return {None: int(n["n"][0].as_py())}
        table = frame.group_by(by).agg(nw.len().alias("n")).collect("pyarrow").to_native()
        return {text_of(row[by]): int(row["n"]) for row in table.to_pylist()}

    def _tallied(self, roles: Roles | Columns) -> bool:
        return self._lazy and roles.tallied

    def _take_over(self, roles: Any, table: Callable[[Any], pa.Table]) -> None:
        """Convert the columns of `roles` to Arrow; raise ValueError for one that is no such kind.

        Complex numbers, for instance, or text with half of a surrogate pair.
        """
        try:
            self._taken_over = table(roles)
        except CONVERSION as fault:
            for column in roles.taken.values():
                try:
                    self._votes(Columns({"column": column}))
                except CONVERSION as error:
                    text = getattr(error, "object", None)  # of a UnicodeError
                    rule = "contain text, numbers or times"
                    got = self._schema[column]
                    if text is not None:
                        rule = "contain UTF-8 text"
                        got = shown(text)
                    raise ValueError(
                        f"{self.name}: column {column!r} should {rule}, got {got}"
                    ) from None
            raise ValueError(f"{self.name}: cannot be converted to Arrow: {fault}") from None

    def _selected(self, roles: Roles | Columns) -> Any:
        columns = (self._plain(column).alias(role) for role, column in roles.taken.items())
        return self._frame.select(*columns)

    def _votes(self, roles: Roles | Columns) -> pa.Table:
        return self._in_arrow(self._selected(roles))

    def _in_arrow(self, frame: Any) -> pa.Table:
        if self._lazy:
            frame = frame.collect("pyarrow")
        return frame.to_arrow()

    def _tally(self, roles: Roles) -> pa.Table:
        keys = [role for role in roles.taken if role != "weight"]
        frame = self._selected(roles)
        counts = [nw.len().alias("n_rows")]
        if roles.weight is not None:
            w = nw.col("weight")
            whole = (w >= 0) & (w <= LARGEST) & (w.floor() == w)
            frame = frame.with_columns(weight=w.cast(nw.Float64))
            frame = frame.with_columns(
                weight=nw.when(whole).then(w).otherwise(0.0),
                n_bad_weight=nw.when(whole).then(0).otherwise(1),
                n_zero_weight=nw.when(w == 0).then(1).otherwise(0),
            )
            counts += [nw.col(n).sum() for n in ("weight", "n_bad_weight", "n_zero_weight")]
        return frame.group_by(*keys).agg(*counts).collect("pyarrow").to_arrow()

    def _plain(self, column: str) -> Any:
        """Return a column, cast to text unless it has text, numbers or times."""
        expression = nw.col(column)
        dtype = self._schema[column]
        if dtype in (nw.Categorical, nw.Enum, nw.Object, nw.Int128, nw.UInt128):
            return expression.cast(nw.String)
        return expression


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    return table.to_batches(max_chunksize=50 * CHUNK)
