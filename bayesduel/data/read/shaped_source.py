"""A table in a shape of its own, as a source of duels or of rankings.

DuckDB turns the records of each file by the query of its shape (``shapes``, ``tools``) into rows of
one table, from which a log is read as from any other frame; where a row is bad, its file and record
are known.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import duckdb

from bayesduel.data.read.columns import Columns, Roles
from bayesduel.data.read.conditions import Dropped, keep_where
from bayesduel.data.read.decimals import columns_with_commas, with_points
from bayesduel.data.read.faults import shown
from bayesduel.data.read.line_numbers import Numbered
from bayesduel.data.read.narwhals_source import FrameSource
from bayesduel.data.read.rows import MEMBERS, are_numbers
from bayesduel.data.read.shape import OTHER, Asked, Part, text_in_json, text_of_column
from bayesduel.data.read.sql import name_of, text_in_sql
from bayesduel.data.reading import HEADER_AGAIN
from bayesduel.system.arguments import as_options
from bayesduel.text import count, join

if TYPE_CHECKING:
    from bayesduel.data.read.duckdb_source import FileSource

__all__ = ["ShapedSource"]

HIDDEN = (
    "file",
    "row_of_file",
    "part",
    "verdict",
    "silent",
    "wrong",
    "judged",
    "number",
    "written",
)
DUEL = ("model_a", "model_b", "winner")
NEEDED = {"duels": DUEL, "scores": DUEL, "rankings": ("ranking", "arm", "rank")}  # by a log
# columns that some shapes lack
COMMON = (
    "part",
    "item",
    "round",
    "source",
    "judge",
    "model_a",
    "model_b",
    "verdict",
    "winner",
    "silent",
)
UNKNOWN = "neither true nor false, because a column is empty"  # a condition, as SQL has NULL
# A row without a verdict is of a judge who gave none, unless it names no models either.
DUELS = """
SELECT *, CASE WHEN winner IS NULL THEN verdict END AS wrong,
    silent IS NULL AND (verdict IS NOT NULL OR model_a IS NULL OR model_b IS NULL) AS judged
FROM ({rows})"""
SCORES = """
SELECT * REPLACE (CASE WHEN isfinite(number) THEN {sign}number END AS number,
                  CASE WHEN lower(written) <> 'nan' THEN written END AS written),
    CASE WHEN isfinite(number) AND number IS NOT NULL AND item IS NOT NULL AND model IS NOT NULL
               THEN to_json([item, round, source, judge])::VARCHAR END AS same
FROM ({rows})"""
# The pairs of scores of an item, and the scores that are none as rows without a winner.
PAIRS = """
SELECT a.file, a.row_of_file, a.part, a.model AS model_a, b.model AS model_b,
    CASE WHEN a.number > b.number THEN 'left' WHEN a.number < b.number THEN 'right'
         ELSE 'tie' END AS winner, {margin}
    a.item AS prompt, a.source, a.judge, NULL AS wrong, true AS judged
FROM scores a JOIN scores b ON a.same = b.same AND a.model < b.model
UNION ALL BY NAME
SELECT file, row_of_file, part, model AS model_a, item AS prompt, source, judge,
    CASE WHEN number IS NULL THEN written END AS wrong,
    written IS NOT NULL OR model IS NULL OR item IS NULL AS judged
FROM scores WHERE same IS NULL
ORDER BY 1, 2, 3, 4, 5"""
MISSING = {"duels": "no verdict", "scores": "no verdict", "rankings": "fewer than two places"}
TWICE = """
SELECT any_value(file), min(row_of_file), any_value(part), model, item, count(*)
FROM scores WHERE same IS NOT NULL GROUP BY same, model, item HAVING count(*) > 1 ORDER BY 1, 2"""


class ShapedSource(FrameSource):
    """A table in a shape of its own as a source; see the module.

    parts: files, or a frame, and their shapes.
    name: what they are called.
    asked: what the caller says of them.
    most: rows that fit in the memory allowed; None: any number.
    Raises ValueError if records cannot be parsed or do not fit, or a model has two scores of an
    item.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        parts: Sequence[Part],
        name: str,
        asked: Asked,
        most: int | None = None,
    ) -> None:
        self._con = con
        self._parts = parts
        self._asked = asked
        self._remarks: list[str] = []
        self._n_headers = 0  # rows that repeat the header line
        self._dropped = Dropped(0, 0)  # rows for which the condition is not true
        for k, part in enumerate(parts):
            with part.source.explaining():
                self._take_part(k, part)
        con.execute(f"CREATE TEMP TABLE duels AS ({self._every_part()})")
        described = con.sql("DESCRIBE duels").fetchall()
        columns = [column for column, *_ in described if column not in HIDDEN]
        counts = ", ".join(["count(*)", *(f"count({name_of(c)})" for c in columns)])
        ((n_rows, *known),) = con.sql(f"SELECT {counts} FROM duels").fetchall()
        self._check_size(name, n_rows, most)
        selected = ", ".join(self._shown(dict(zip(columns, known, strict=True))))
        super().__init__(con.sql(f"SELECT {selected} FROM duels WHERE judged"), name)
        self._describe(name)
        if self.kind == "rankings":
            self._check_ranks()

    def said(self, notice: str) -> list[str]:
        """Return what was recognised and what was taken as what, a line a format."""
        lines = []
        for name, places in self._by_shape().items():
            own = self._parts[places[0]].shape
            said = [own.said]
            if own.open and self.kind == "duels":
                said.insert(0, notice)
            n_files = len(places)
            files = f" ({n_files:,} files)" if n_files > 1 else ""
            text = "; ".join(filter(None, said))
            lines.append(f"{name}{files}: {text}" if name else text)
        if "source" in self.columns():
            query = "SELECT DISTINCT source FROM duels WHERE source IS NOT NULL ORDER BY source"
            sources = [source for (source,) in self._con.sql(query).fetchall()]
            if len(sources) > 1:
                n_sources = count(len(sources), "source")
                names = join(sources, quote=True)
                option = as_options(keep=["source"])
                lines.append(
                    f"{n_sources}, {names}, which {option} and the term Sources tell apart"
                )
        return [line for line in (*lines, *self._remarks) if line]

    def places(self) -> list[str]:
        """Return the place of each row."""
        rows = self._con.sql("SELECT file, row_of_file, part FROM duels WHERE judged").fetchall()
        files = {file for file, *_ in rows}
        places = {file: self._parts[file].source.places() for file in files}
        return [_place(places[file], row, part) for file, row, part in rows]

    def left_out(self) -> list[tuple[str, int]]:
        """Return why rows were left out before they were read, and how many."""
        ((n,),) = self._con.sql("SELECT count(*) FROM duels WHERE NOT judged").fetchall()
        found = [line for part in self._parts for line in part.source.left_out()]
        unfit = f"rows that do not satisfy the condition {self._asked.where}"
        unknown = self._dropped.unknown
        if unknown:
            unfit += f"; in {unknown:,} of them it is {UNKNOWN}"
        found += [(HEADER_AGAIN, self._n_headers), (unfit, self._dropped.rows)]
        found.append((MISSING[self.kind], n))
        return [(why, rows) for why, rows in found if rows]

    def numbered(self, roles: Roles | Columns) -> Iterator[Numbered]:
        """Yield the rows with the file and the record of each."""
        query = "SELECT file, wrong FROM duels WHERE judged"
        own = self._con.sql(query).fetchall()
        places = self.places()
        start = 0
        for chunk in super().numbered(roles):
            end = start + len(chunk.places)
            reasons = {}
            for i, (file, wrong) in enumerate(own[start:end]):
                if wrong is not None:
                    column, rule = self._parts[file].shape.accepted
                    reasons[i] = f"column {column!r} should be {rule}, got {shown(wrong)}"
            yield Numbered(places[start:end], chunk.batch, reasons)
            start = end

    def _tallied(self, roles: Roles | Columns) -> bool:
        return False

    def _take_part(self, k: int, part: Part) -> None:
        """Make the table of the rows of part `k`, those that the caller asks for."""
        con = self._con
        shape = part.shape
        source = part.source
        read = list(dict.fromkeys((*shape.has, *shape.may)))
        beside = _beside(source, shape.has) if shape.open else []
        columns = list(dict.fromkeys((*read, *beside)))
        if self._asked.where:
            columns = source.columns()
        records = source.records(con, columns)
        commas = [c for c in columns_with_commas(source, self._asked.decimal) if c in columns]
        points = with_points(records, commas, self._asked.decimal)
        con.execute(f"CREATE OR REPLACE TEMP TABLE records AS {points}")
        if commas:
            kind = "commas for thousands" if self._asked.decimal == "." else "decimal commas"
            names = join(commas, quote=True)
            self._remarks.append(f"{kind} in {names}")
        if not are_numbers(columns):  # which may be data
            again = " AND ".join(f"{text_of_column(c)} = {text_in_sql(c.strip())}" for c in columns)
            ((n,),) = con.execute(f"DELETE FROM records WHERE {again}").fetchall()
            self._n_headers += n
        if self._asked.where is not None:
            dropped = keep_where(con, source.name, columns, self._asked.where)
            n_rows = self._dropped.rows + dropped.rows
            n_unknown = self._dropped.unknown + dropped.unknown
            self._dropped = Dropped(n_rows, n_unknown)
        others = ""
        for column in beside:
            value = text_in_json(f"r.{name_of(column)}")
            others += f", {value} AS {name_of(OTHER + column)}"
        rows = f"SELECT {k} AS file, made.*{others} FROM ({shape.query}) made"
        if not shape.name:  # each row is as it was
            rows = f"SELECT {k} AS file, r.row_of_file{others} FROM records r"
        elif beside:
            order = ", ".join(f"made.{column}" for column in shape.order)
            rows += f" JOIN records r ON r.row_of_file = made.row_of_file ORDER BY {order}"
        con.execute(f"CREATE TEMP TABLE part_{k} AS {rows}")

    def _every_part(self) -> str:
        """Return the query of the rows of all parts, as of one log."""
        nothing = ", ".join(f"NULL::VARCHAR AS {column}" for column in COMMON)
        queries = []
        for kind, template in (("duels", DUELS), ("scores", ""), ("rankings", "FROM ({rows})")):
            ours = [f"FROM part_{k}" for k, p in enumerate(self._parts) if p.shape.kind == kind]
            if not ours:
                continue
            rows = " UNION ALL BY NAME ".join([*ours, f"SELECT {nothing} WHERE false"])
            query = self._scores(rows) if kind == "scores" else template.format(rows=rows)
            queries.append(query)
        return ") UNION ALL BY NAME (".join(queries)

    def _check_size(self, name: str, n_rows: int, most: int | None) -> None:
        """Raise ValueError if the condition left no row, or more are left than fit in memory."""
        condition = self._asked.where
        if not n_rows and condition is not None:
            some = ""
            if self._dropped.unknown:
                unknown = count(self._dropped.unknown, "row")
                some = f"; in {unknown} it is {UNKNOWN}"
            option = as_options(where=None)
            raise ValueError(
                f"{name}: no row is left where {condition}{some}; {option} "
                "selects the rows that are read"
            )
        if most is not None and n_rows > most:
            raise ValueError(
                f"{name}: rows should be at most {most:,} in the memory allowed, got {n_rows:,}; "
                "allow more memory"
            )

    def _shown(self, known: dict[str, int]) -> list[str]:
        """Return the columns that are shown, in SQL, given how many values each has.

        A column that is kept as it was has its own name, unless one of the shape has it.
        """
        own = {name.casefold() for name, n in known.items() if n and name[:1] != OTHER}
        kept = []
        for column, n in known.items():
            shown_as = column.removeprefix(OTHER)
            is_other = shown_as != column
            if is_other and shown_as.casefold() not in own:
                kept.append(f"{name_of(column)} AS {name_of(shown_as)}")
            if not is_other and (n or self._needs(column)):
                kept.append(name_of(column))
        return kept

    def _describe(self, name: str) -> None:
        """Take what a reader of the source asks for from the shapes of its parts."""
        shapes = [part.shape for part in self._parts]
        first = shapes[0]
        names_of_shapes = self._by_shape()
        named = join([shape for shape in names_of_shapes if shape])
        self.files = tuple(file for part in self._parts for file in part.source.files)
        self.words = f"{name} ({named})" if named else name
        self.shape = named or self.shape
        self.ordered = all(shape.ordered for shape in shapes)
        self.kind = first.kind
        if len(names_of_shapes) == 1:
            self.roles = first.roles
        self.teams = MEMBERS if first.teams else None
        self.used = tuple(role for shape in shapes for role in shape.used)
        if any(shape.kind == "scores" for shape in shapes):
            self.used += ("lower_is_better",)
        self.taken = frozenset(name for shape in shapes for name in (*shape.has, *shape.may))
        keys = {shape.key for shape in shapes} - {""}
        self.recognised = keys.pop() if len(keys) == 1 else None
        if any(shape.soft for shape in shapes):
            query = "SELECT count(TRY_CAST(winner AS DOUBLE)) FROM duels"
            ((n_soft,),) = self._con.sql(query).fetchall()
            self.coding = "probability" if n_soft else None

    def _needs(self, column: str) -> bool:
        """Return whether a log needs a column, even one without values."""
        shapes = [part.shape for part in self._parts]
        kinds = {shape.kind for shape in shapes if not shape.open or shape.kind != "duels"}
        if kinds:
            return any(column in NEEDED[kind] for kind in kinds)
        return column in DUEL[:2] and column in self._con.sql("FROM part_0").columns

    def _scores(self, rows: str) -> str:
        """Make the table of scores, and return the query of their duels."""
        sign = "-" if self._asked.given.get("lower_is_better") else ""
        scores = SCORES.format(rows=rows, sign=sign)
        self._con.execute(f"CREATE TEMP TABLE scores AS {scores}")
        self._check_once()
        difference = "a.number - b.number AS margin," if self._asked.given.get("margin") else ""
        return PAIRS.format(margin=difference)

    def _check_ranks(self) -> None:
        """Raise ValueError for the first value that is no rank."""
        query = "SELECT file, row_of_file, wrong FROM duels WHERE wrong IS NOT NULL"
        found = self._con.sql(f"{query} ORDER BY file, row_of_file LIMIT 1").fetchall()
        for file, row, wrong in found:
            column, rule = self._parts[file].shape.accepted
            place = self._parts[file].source.places()[row]
            raise ValueError(f"{place}: {column} should be {rule}, got {shown(wrong)}")

    def _by_shape(self) -> dict[str, list[int]]:
        """Return the parts of each shape, by its name."""
        found: dict[str, list[int]] = {}
        for k, part in enumerate(self._parts):
            found.setdefault(part.shape.name, []).append(k)
        return found

    def _check_once(self) -> None:
        """Raise ValueError unless there are two models, each with one score of an item."""
        models = self._con.sql("SELECT DISTINCT model FROM scores LIMIT 2").fetchall()
        if len(models) < 2:
            first_file = self._parts[0].source.name
            model = models[0][0] if models else None
            raise ValueError(
                f"{first_file}: scores should be of at least two models on the "
                f"same items, got those of {shown(model)} (a folder or "
                "a list of files is one log)"
            )
        twice = self._con.sql(TWICE).fetchall()
        if twice:
            file, row, part, model, item, n = twice[0]
            place = _place(self._parts[file].source.places(), row, part)
            option = as_options(shape="scores", judge="COLUMN")
            raise ValueError(
                f"{place}: a model should have one score of an item, got {n:,} of {shown(model)} "
                f"on {shown(item)}; where several judges gave them, say who: {option}"
            )


def _beside(source: "FileSource | FrameSource", read: Sequence[str]) -> list[str]:
    """Return the columns that are kept as they are: those that hold neither objects nor lists."""
    free = [name for name in source.columns() if name not in read]
    # 20 rows by which columns of objects and lists are told
    first = source.peek(Columns({name: name for name in free}), 20)
    n_rows = max((len(column.code) for column in first.values()), default=0)
    plain = []
    for name, column in first.items():
        nested = any(text and text[0] in "[{" for text in column.texts)
        if len(column.code) == n_rows and not nested:
            plain.append(name)
    return plain


def _place(places: Sequence[str], row: int, part: str | None) -> str:
    place = places[row]
    return place if part is None else f"{place}, {part}"
