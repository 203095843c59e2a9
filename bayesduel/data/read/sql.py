"""SQL that counts equal rows of a log.

Rows are grouped by the two arms, the outcome as written and whatever else is kept of votes. If the
labels of a column of text are known and their hashes differ, rows are grouped by these hashes,
which is faster than by text; :func:`labelled` turns them into labels.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from bayesduel.data.read.rows import NUMBER, WHITE_SPACE
from bayesduel.data.votes import LARGEST

__all__ = ["as_json", "count_query", "labelled", "name_of", "text_in_sql"]

COUNTS = {"n_rows": "count(*)"}
WEIGHTED = {
    "weight": "sum(weight)",
    "n_bad_weight": "count_if(weight IS NULL)",
    "n_zero_weight": "count_if(weight = 0)",
}


def count_query(
    log: str, roles: Sequence[str], weight: str | None, hashed: Iterable[str] = ()
) -> str:
    """Return the query that counts the rows of the query `log`.

    log: query whose columns are named by role.
    roles: its columns except the weight.
    weight: SQL type of the column of weights, or None to count rows.
    hashed: those of `roles` that are replaced by their hashes.
    """
    grouped = ", ".join(name_of(role) for role in roles)
    counts = COUNTS
    if weight is not None:
        counts = COUNTS | WEIGHTED
        number = "weight::DOUBLE"
        if weight == "VARCHAR":
            text = f"trim(weight, {text_in_sql(WHITE_SPACE)})"
            matched = f"regexp_full_match({text}, '{NUMBER}')"
            number = f"CASE WHEN {matched} THEN TRY_CAST({text} AS DOUBLE) END"
        whole = f"w >= 0 AND w <= {LARGEST} AND w = floor(w)"
        log = f"SELECT {grouped}, {number} AS w FROM ({log})"
        count = f"CASE WHEN {whole} THEN TRY_CAST(w AS HUGEINT) END"  # of NaN, CAST would fail
        log = f"SELECT {grouped}, {count} AS weight FROM ({log})"
    if hashed:
        swapped = ", ".join(f"hash({name_of(r)}) AS {name_of(r)}" for r in hashed)
        log = f"SELECT * REPLACE ({swapped}) FROM ({log})"
    columns = [f"({count})::DOUBLE AS {name}" for name, count in counts.items()]
    return f"SELECT {grouped}, {', '.join(columns)} FROM ({log}) GROUP BY {grouped}"


def labelled(
    batches: Iterable[pa.RecordBatch], labels: Mapping[str, tuple[pa.Array, pa.Array]]
) -> Iterator[pa.RecordBatch]:
    """Yield the counts with hashes replaced by labels.

    batches: counts by hashes.
    labels: labels and their hashes by column; a label whose hash is not among them is missing.
    """
    for batch in batches:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name, (texts, hashes) in labels.items():
            place = pc.index_in(columns[name], value_set=hashes)
            columns[name] = pa.DictionaryArray.from_arrays(place, texts)
        yield pa.RecordBatch.from_pydict(columns)


def as_json(fields: Mapping[str, str], names: Iterable[str], written: Collection[str] = ()) -> str:
    """Return columns of a query as JSON: those in `fields`, by name; others are missing.

    Those that are `written` contain JSON as text.
    """
    found = []
    for name in names:
        field = fields.get(name, "NULL")
        made = f"{field}::JSON" if name in written or name not in fields else f"to_json({field})"
        found.append(f"{made} AS {name_of(name)}")
    return ", ".join(found)


def name_of(column: str) -> str:
    """Return the name of a column quoted for SQL."""
    return '"' + column.replace('"', '""') + '"'


def text_in_sql(value: str) -> str:
    """Return a text quoted for SQL."""
    return "'" + value.replace("'", "''") + "'"
