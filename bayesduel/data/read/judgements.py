"""Judgements in the formats of tools for evaluating language models, as a source of duels.

DuckDB turns the records of each file by the query of its format (``judgement_formats``) into rows
of one table, from which a log is read as from any other frame; where a row is bad, its file and
record are known.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import duckdb

from bayesduel.data.read.columns import Columns, Roles, take
from bayesduel.data.read.faults import shown
from bayesduel.data.read.judgement_formats import (
    HIDDEN,
    ITEMS,
    Format,
    as_text,
    format_of,
    long_scores,
    named,
    number_of,
    others,
    recognisable,
    wide_scores,
)
from bayesduel.data.read.line_numbers import Numbered
from bayesduel.data.read.narwhals_source import FrameSource
from bayesduel.data.read.sql import name_of
from bayesduel.text import count, join

__all__ = ["Judgements", "Part", "parts_of"]

PEEK = 1_000  # rows by which columns of numbers are told
NEEDED = ("model_a", "model_b", "winner")
COMMON = ("part", "item", "round", "source", "judge")  # columns that some formats lack
# A row without a verdict is of a judge who gave none, unless it names no models either.
DUELS = """
SELECT *, CASE WHEN winner IS NULL THEN verdict END AS wrong,
    verdict IS NOT NULL OR model_a IS NULL OR model_b IS NULL AS judged
FROM ({rows})"""
SCORES = """
SELECT * REPLACE (CASE WHEN isfinite(number) THEN number END AS number,
                  CASE WHEN lower(written) <> 'nan' THEN written END AS written),
    CASE WHEN isfinite(number) AND number IS NOT NULL AND item IS NOT NULL AND model IS NOT NULL
               THEN to_json([item, round, source, judge])::VARCHAR END AS same
FROM ({rows})"""
# The pairs of scores of an item, and the scores that are none as rows without a winner.
PAIRS = """
SELECT a.file, a.row_of_file, a.part, a.model AS model_a, b.model AS model_b,
    CASE WHEN a.number > b.number THEN 'model_a' WHEN a.number < b.number THEN 'model_b'
         ELSE 'tie' END AS winner, {margin}
    a.item AS prompt, a.source, a.judge, NULL AS wrong, true AS judged
FROM scores a JOIN scores b ON a.same = b.same AND a.model < b.model
UNION ALL BY NAME
SELECT file, row_of_file, part, model AS model_a, item AS prompt, source, judge,
    CASE WHEN number IS NULL THEN written END AS wrong,
    written IS NOT NULL OR model IS NULL OR item IS NULL AS judged
FROM scores WHERE same IS NULL
ORDER BY 1, 2, 3, 4, 5"""
TWICE = """
SELECT any_value(file), min(row_of_file), any_value(part), model, item, count(*)
FROM scores WHERE same IS NOT NULL GROUP BY same, model, item HAVING count(*) > 1 ORDER BY 1, 2"""


class Part(NamedTuple):
    """A file or a frame, and the format of its records."""

    format: Format
    source: Any


def parts_of(
    con: duckdb.DuckDBPyConnection, sources: Iterable[Any], scores: Mapping[str, Any] | None
) -> list[Part]:
    """Return sources with their formats; none where one of them is not recognised.

    scores: columns of a table of scores, which each is; None: what they are is recognised.
    Raises ValueError if one should be a table of scores and is none.
    """
    parts = []
    for source in sources:
        columns = source.columns()
        found = None
        if scores is not None:
            found = _table_of_scores(con, source, scores)
            if found is None:
                raise ValueError(
                    f"{source.name}: a table of scores should have columns of an item, a model "
                    "and a score (item=, model=, score=), or a column of numbers for each of "
                    f"several models, got {join(columns, quote=True)}"
                )
        elif recognisable(columns):
            found = format_of(columns)
            if found is None and source.matrix() is None:
                found = _table_of_scores(con, source, {})
        if found is None:
            return []
        parts.append(Part(found, source))
    return parts


class Judgements(FrameSource):
    """Judgements as a source of duels; see the module.

    parts: files, or a frame, and their formats.
    name: what they are called.
    scores: whether the ``margin`` is the difference of two scores; None: it is not.
    most: rows that fit in the memory allowed; None: any number.
    Raises ValueError if records cannot be parsed or do not fit, or a model has two scores of an
    item.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        parts: Sequence[Part],
        name: str,
        scores: Mapping[str, Any] | None = None,
        most: int | None = None,
    ) -> None:
        self._con, self._parts = con, parts
        for k, part in enumerate(parts):
            with part.source.explaining():
                con.execute(f"CREATE TEMP TABLE part_{k} AS {_rows(con, k, part)}")
        nothing = ", ".join(f"NULL::VARCHAR AS {column}" for column in COMMON)
        queries = []
        for scored in (False, True):
            ours = [f"FROM part_{k}" for k, p in enumerate(parts) if p.format.scored == scored]
            if not ours:
                continue
            rows = " UNION ALL BY NAME ".join([*ours, f"SELECT {nothing} WHERE false"])
            if scored:
                con.execute(f"CREATE TEMP TABLE scores AS {SCORES.format(rows=rows)}")
                self._check_once()
                margin = scores is not None and scores["margin"]
                difference = "a.number - b.number AS margin," if margin else ""
                queries.append(PAIRS.format(margin=difference))
            else:
                queries.append(DUELS.format(rows=rows))
        con.execute(f"CREATE TEMP TABLE duels AS ({') UNION ALL BY NAME ('.join(queries)})")
        columns = [c for (c, *_) in con.sql("DESCRIBE duels").fetchall() if c not in HIDDEN]
        counts = ", ".join(["count(*)", *(f"count({name_of(c)})" for c in columns)])
        ((n_rows, *known),) = con.sql(f"SELECT {counts} FROM duels").fetchall()
        if most is not None and n_rows > most:
            raise ValueError(
                f"{name}: rows should be at most {most:,} in the memory allowed, got {n_rows:,}; "
                "allow more memory"
            )
        kept = [c for c, n in zip(columns, known, strict=True) if n or c in NEEDED]
        taken = ", ".join(map(name_of, kept))
        super().__init__(con.sql(f"SELECT {taken} FROM duels WHERE judged"), name)
        self.files = tuple(file for part in parts for file in part.source.files)
        self.words = f"{name} ({join([*self._by_format()])})"
        self.ordered = all(part.format.ordered for part in parts)
        soft = "SELECT count(TRY_CAST(winner AS DOUBLE)) FROM duels"
        if con.sql(soft).fetchall()[0][0]:
            self.coding = "probability"

    def said(self, notice: str) -> list[str]:
        """Return what was recognised and what was taken as what, a line a format."""
        query = "SELECT file, count(*) FROM duels WHERE NOT judged GROUP BY file"
        missing = dict(self._con.sql(query).fetchall())
        lines = []
        for name, places in self._by_format().items():
            own = self._parts[places[0]].format
            said = f"{notice}; {own.said}" if own.open else own.said
            files = f" ({len(places):,} files)" if len(places) > 1 else ""
            n = sum(missing.get(k, 0) for k in places)
            left_out = f"; {count(n, 'row')} without a verdict left out" if n else ""
            lines.append(f"{name}{files}: {said}{left_out}")
        if "source" in self.columns():
            query = "SELECT DISTINCT source FROM duels WHERE source IS NOT NULL ORDER BY source"
            sources = [source for (source,) in self._con.sql(query).fetchall()]
            if len(sources) > 1:
                lines.append(
                    f"{count(len(sources), 'source')}, {join(sources, quote=True)}, which "
                    "keep=['source'] (--keep source) and the term Sources tell apart"
                )
        return lines

    def numbered(self, roles: Roles | Columns) -> Iterator[Numbered]:
        """Yield the rows with the file and the record of each."""
        query = "SELECT file, row_of_file, part, wrong FROM duels WHERE judged"
        own, start = self._con.sql(query).fetchall(), 0
        places = {k: self._parts[k].source.places() for k in {file for file, *_ in own}}
        for chunk in super().numbered(roles):
            rows = own[start : start + len(chunk.places)]
            start += len(rows)
            found = [_place(places[file], row, part) for file, row, part, _ in rows]
            reasons = {}
            for i, (file, _, _, wrong) in enumerate(rows):
                if wrong is not None:
                    column, rule = self._parts[file].format.accepted
                    reasons[i] = f"column {column!r} should be {rule}, got {shown(wrong)}"
            yield Numbered(found, chunk.batch, reasons)

    def _tallied(self, roles: Roles | Columns) -> bool:
        return False

    def _by_format(self) -> dict[str, list[int]]:
        """Return the parts of each format, by its name."""
        found: dict[str, list[int]] = {}
        for k, part in enumerate(self._parts):
            found.setdefault(part.format.name, []).append(k)
        return found

    def _check_once(self) -> None:
        """Raise ValueError unless there are two models, each with one score of an item."""
        models = self._con.sql("SELECT DISTINCT model FROM scores LIMIT 2").fetchall()
        if len(models) < 2:
            raise ValueError(
                f"{self._parts[0].source.name}: scores should be of at least two models on the "
                f"same items, got those of {shown(models[0][0] if models else None)} (a folder or "
                "a list of files is one log)"
            )
        twice = self._con.sql(TWICE).fetchall()
        if twice:
            file, row, part, model, item, n = twice[0]
            place = _place(self._parts[file].source.places(), row, part)
            raise ValueError(
                f"{place}: a model should have one score of an item, got {n:,} of {shown(model)} "
                f"on {shown(item)}"
            )


def _table_of_scores(
    con: duckdb.DuckDBPyConnection, source: Any, given: Mapping[str, Any]
) -> Format | None:
    """Return the format of a table of scores of models on items, or None if it is none.

    given: columns of ``item``, ``model`` and ``score``; else found by their names. Without columns
        of models and scores each row is an item, and each column of numbers a model.
    """
    columns = source.columns()
    take(columns, source.name, {k: v for k, v in given.items() if isinstance(v, str)})
    found = long_scores(columns, given)
    if found is not None:
        return found
    item = given.get("item") or named(columns, ITEMS)
    beside = [name for name in columns if name != item]
    if len(beside) < 2:
        return None
    numbers = ", ".join(
        f"2 * count({number_of(f"({name_of(name)} ->> '$')")}) >= count(*)" for name in beside
    )
    rows = f"SELECT * FROM ({source.records(con, beside)}) LIMIT {PEEK}"
    with source.explaining():
        (are,) = con.sql(f"SELECT {numbers} FROM ({rows})").fetchall()
    models = [name for name, is_number in zip(beside, are, strict=True) if is_number]
    return wide_scores(item, models) if len(models) > 1 else None


def _rows(con: duckdb.DuckDBPyConnection, k: int, part: Part) -> str:
    """Return the query of the rows of part `k`."""
    own, source = part.format, part.source
    beside = others(source.columns()) if own.open else []
    records = source.records(con, list(dict.fromkeys((*own.has, *own.may, *beside))))
    query = own.query.replace("{others}", as_text(beside)) if own.open else own.query
    return f"WITH records AS ({records}) SELECT {k} AS file, * FROM ({query})"


def _place(places: Sequence[str], row: int, part: str | None) -> str:
    return places[row] + ("" if part is None else f", {part}")
