"""Tables of pairs with their counts: one row per pair, columns of wins of each side and of ties."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.read.columns import Columns
from bayesduel.data.read.faults import shown
from bayesduel.data.read.reading_options import TieRule
from bayesduel.data.read.roles import wins_columns
from bayesduel.data.read.rows import NUMBER
from bayesduel.data.read.shape import repeats_header
from bayesduel.data.read.source import bad_row
from bayesduel.data.read.sql import name_of
from bayesduel.data.reading import HEADER_AGAIN
from bayesduel.data.votes import LARGEST, ReadSummary
from bayesduel.system.arguments import as_options
from bayesduel.text import count

if TYPE_CHECKING:
    from bayesduel.data.read.duckdb_source import FileSource
    from bayesduel.data.read.narwhals_source import FrameSource


__all__ = ["read_pair_counts"]


def read_pair_counts(
    source: "FileSource | FrameSource",
    columns: Sequence[str],
    given: Mapping[str, Any],
    ties: TieRule,
) -> Duels | None:
    """Return the log of a table with a row per pair, or None where it has no columns of wins.

    given: columns of the arms, the judge, the group, the time and the weight, as in
        :func:`bayesduel.read_duels`.
    Raises ValueError if a label is missing, a count is not a whole number, a weight is not the
        number of duels of its row, every pair is there from both sides, or there is a column of
        judges, groups, times or weights in `given`.
    """
    taken = wins_columns(columns, source.name, given["left"], given["right"], given["weight"])
    if taken is None:
        return None
    for role in ("judge", "group", "time", "weight"):
        if isinstance(given[role], str):
            raise ValueError(
                f"{source.name}: {role} should be left out, as {taken['left_wins']!r} and "
                f"{taken['right_wins']!r} are counts of duels, got {given[role]!r}"
            )
    wanted = Columns(taken)
    texts = {role: column.texts for role, column in source.texts(wanted).items()}
    every = [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]
    rows = [row for row in every if not repeats_header(row, taken)]
    if any(_fault(row, taken) for row in rows):
        raise bad_row(source, wanted, lambda values: _fault(values, taken))
    n_again = len(every) - len(rows)
    if n_again:
        source.say(f"left out: {HEADER_AGAIN} ({count(n_again, 'row')})")
    left, right = ([row[side].strip() for row in rows] for side in ("left", "right"))
    outcomes = {"left_wins": 1.0, "right_wins": 0.0, "ties": 0.5}
    counts = [[float(row.get(role, 0)) for row in rows] for role in outcomes]
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
    summary = ReadSummary(
        source=source.words,
        files=source.files,
        columns={role: column for role, column in taken.items() if role != "weight"},
        guessed=tuple(taken),
        n_rows=len(every),
        n_left_out=n_again,
        n_zero_weight=0,
        n_ties_dropped=int(sum(counts[2])) if ties == "drop" else 0,
    )
    return Duels.from_votes(
        left * 3,
        right * 3,
        np.repeat(list(outcomes.values()), len(rows)),
        weight=np.concatenate(counts),
        tie_rule=ties,
        read_summary=summary,
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
    """Return the number that a text is, -1 if it is none."""
    text = (text or "").strip()
    return float(text) if re.fullmatch(NUMBER, text) else -1.0
