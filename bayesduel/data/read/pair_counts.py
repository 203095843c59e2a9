"""Tables of pairs with their counts: one row per pair, columns of wins of each side and of ties."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesduel.data.read.columns import Columns, rows_by_role
from bayesduel.data.read.duckdb_source import PEEKED
from bayesduel.data.read.faults import shown
from bayesduel.data.read.reading_options import Given
from bayesduel.data.read.roles import wins_columns
from bayesduel.data.read.rows import NUMBER
from bayesduel.data.read.shape import Asked, Part, Shape, listed, repeats_header, text_of_column
from bayesduel.data.read.source import bad_row
from bayesduel.data.read.sql import name_of
from bayesduel.data.votes import LARGEST
from bayesduel.system.arguments import as_options
from bayesduel.text import join

if TYPE_CHECKING:
    import duckdb

    from bayesduel.data.read.duckdb_source import FileSource
    from bayesduel.data.read.narwhals_source import FrameSource
    from bayesduel.data.read.shaped_source import ShapedSource

__all__ = ["OF_COUNTS", "columns_of_wins", "counted_votes"]

WINNERS = {"left_wins": "left", "right_wins": "right", "ties": "tie"}  # by column of counts
# How the rows that are made of counts are read, whatever else the table has.
OF_COUNTS: dict[str, Any] = {
    "shape": "counts",
    "outcome": "winner",
    "weight": "weight",
    "margin": False,
    "tie": False,
    "coding": None,
    "means": None,
    "grades": None,
}
# A row for each count that is not 0, and one for a pair that did not meet.
COUNTED = """
SELECT row_of_file, number, winner, winner AS verdict, weight FROM (
    SELECT row_of_file, unnest({numbers}) AS number, unnest({winners}) AS winner,
        unnest({counts}) AS weight, unnest({first}) AS first
    FROM records)
WHERE weight > 0 OR first"""


def columns_of_wins(
    source: "FileSource | FrameSource", columns: Sequence[str], given: Mapping[str, Any]
) -> dict[str, str] | None:
    """Return the columns of a table with a row per pair by role, or None where it has no wins.

    given: the columns of the arms and of the weight, as in :func:`bayesduel.read_duels`.
    """

    def peek(names: Sequence[str]) -> dict[str, Any]:
        return source.peek(Columns({name: name for name in names}), PEEKED)

    sides = (given["left"], given["right"])
    if not all(isinstance(column, str) for column in sides):  # of several members
        return None
    return wins_columns(columns, source.name, *sides, given["weight"], peek)


def counted_votes(
    source: "FileSource | FrameSource",
    taken: dict[str, str],
    weight: Given,
    con: "duckdb.DuckDBPyConnection",
) -> "ShapedSource":
    """Return a table with a row per pair as a source with a row for each side that won.

    Its other columns are kept.

    taken: its columns by role.
    weight: the column of weights that was given.
    con: a connection of its own.
    Raises ValueError if a label is missing, a count is not a whole number, a weight is not the
        number of duels of its row, every pair is there from both sides, or a column of weights was
        given.
    """
    from bayesduel.data.read.shaped_source import ShapedSource

    if isinstance(weight, str):
        raise ValueError(
            f"{source.name}: weight should be left out, as {taken['left_wins']!r} and "
            f"{taken['right_wins']!r} are counts of duels, got {weight!r}"
        )
    _check(source, taken)
    return ShapedSource(con, [Part(_shape(taken), source)], source.name, Asked())


def _shape(taken: Mapping[str, str]) -> Shape:
    """Return the shape of a table whose columns have these roles."""
    there = {taken[role]: winner for role, winner in WINNERS.items() if role in taken}
    counts = [f"coalesce(TRY_CAST({text_of_column(name)} AS DOUBLE), 0)" for name in there]
    nothing = f"{' + '.join(counts)} = 0"
    query = COUNTED.format(
        numbers=listed(str(k) for k in range(len(there))),
        winners=listed(f"'{winner}'" for winner in there.values()),
        counts=listed(counts),
        first=listed([nothing, *["false"] * (len(counts) - 1)]),
    )
    named = join([*there])
    said = f"left={taken['left']}, right={taken['right']}"
    said += f", wins={taken['left_wins']}, {taken['right_wins']}"
    said += f", ties={taken['ties']}" if "ties" in taken else ""
    beside = [taken["weight"]] if "weight" in taken else []
    return Shape(
        "counts by pair, a row for each side that won",
        (*there, *beside),
        query,
        said,
        open=True,
        key="counts",
        order=("row_of_file", "number"),
        roles={"winner": named, "weight": named},
    )


def _check(source: "FileSource | FrameSource", taken: dict[str, str]) -> None:
    """Raise ValueError if counts are none, or every pair is there from both sides."""
    wanted = Columns(taken)
    rows = [row for row in rows_by_role(source, taken) if not repeats_header(row, taken)]
    if any(_fault(row, taken) for row in rows):
        raise bad_row(source, wanted, lambda values: _fault(values, taken))
    left, right = ([row[side].strip() for row in rows] for side in ("left", "right"))
    counts = [[float(row.get(role, 0)) for row in rows] for role in WINNERS]
    seen = Counter(zip(left, right, *counts, strict=True))
    mirrored = Counter(zip(right, left, counts[1], counts[0], counts[2], strict=True))
    # rows of single duels may mirror one another by chance
    several = any(max(column, default=0) > 1 for column in counts)
    if several and seen == mirrored:
        first = f"{name_of(taken['left'])} < {name_of(taken['right'])}"
        raise ValueError(
            f"{source.name}: each pair should have its counts once, got every row a second time "
            f"from the other side; {as_options(where=first)} keeps one of the two"
        )


def _fault(row: Mapping[str, str | None], column: Mapping[str, str]) -> str:
    """Return what is wrong with a row, "" if nothing."""
    if repeats_header(row, column):
        return ""
    for role in ("left", "right"):
        if not (row[role] or "").strip():
            return f"column {column[role]!r} should name an arm, got {shown(row[role])}"
    counts = {role: _number(row[role]) for role in column if role not in ("left", "right")}
    weight = counts.pop("weight", None)
    for role, value in counts.items():
        if not (0 <= value <= LARGEST and value.is_integer()):
            rule = f"should be a whole number of {'ties' if role == 'ties' else 'wins'}"
            commas = "," in (row[role] or "")
            signs = f"; commas for thousands: {as_options(decimal='.')}" if commas else ""
            return f"column {column[role]!r} {rule}, got {shown(row[role])}{signs}"
    n = sum(counts.values())
    if weight is not None and weight != n:
        return (
            f"column {column['weight']!r} should be the number of duels of the row, {n:g} "
            f"({as_options(weight=False)} ignores it), got {shown(row['weight'])}"
        )
    return ""


def _number(text: str | None) -> float:
    """Return the number that a text is, -1 if it is not a number."""
    text = (text or "").strip()
    return float(text) if re.fullmatch(NUMBER, text) else -1.0
