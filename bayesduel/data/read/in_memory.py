"""Logs in plain Python: lists of tuples or dictionaries, columns by name, matrices of wins."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from bayesduel.system.arguments import check_utf8, listed, shown_value, text_of

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame


__all__ = ["Readable", "WinsMatrix", "as_frame", "wins_in_columns", "wins_matrix"]

# A path or several, rows, columns by name, a matrix, or a frame of any library.
type Readable = str | Path | Sequence[Any] | Mapping[str, Any] | np.ndarray | IntoFrame


class WinsMatrix(NamedTuple):
    """A square matrix of wins: times the arm of the row beat the arm of the column."""

    wins: np.ndarray
    arms: list[str]


def wins_matrix(given: Any) -> WinsMatrix | None:
    """Return a square matrix of wins, or None for anything else.

    A two-dimensional array has arms "0", "1", ...; a pandas frame of numbers with the same labels
    as index and as columns has these. A list of tuples is a log.

    Raises ValueError if an array is not square, or a list of lists may be a matrix or a log.
    """
    if isinstance(given, np.ndarray):
        if given.ndim != 2 or given.shape[0] != given.shape[1]:
            raise ValueError(f"wins should be a square matrix, got shape {given.shape}")
        return WinsMatrix(given, [str(k) for k in range(len(given))])
    if isinstance(given, list) and _are_rows_of_numbers(given):
        size = len(given)
        raise ValueError(
            f"{size} lists of {size} numbers with a diagonal of 0 may be a log or a "
            "matrix "
            "of wins. For a log, give tuples (left, right, outcome) or (winner, loser). For a "
            "matrix, give an array or Duels.from_wins(wins)"
        )
    index = getattr(given, "index", None)
    if index is None or not hasattr(given, "columns") or not hasattr(given, "to_numpy"):
        return None
    rows = [str(label) for label in index]
    columns = [str(label) for label in given.columns]
    if not _are_same(rows, columns):
        return None
    named = given.set_axis(rows, axis=0).set_axis(columns, axis=1)
    named = named[rows]  # columns in the order of the rows
    if not all(kind.kind in "biuf" for kind in named.dtypes):
        return None
    wins = named.to_numpy(dtype=float)
    check_counts(wins)
    return WinsMatrix(wins, rows)


def as_frame(given: object) -> tuple[Any, str | None]:
    """Return lists and dictionaries as a PyArrow table, and in words; anything else as it is.

    A list of tuples holds left, right and, as the third, the outcome; where all have two entries,
    the first won. A list of dictionaries holds rows, a dictionary columns.

    Raises ValueError if the entries of a list differ in kind, or the columns in length.
    """
    if isinstance(given, Mapping):
        by_name = {str(name): listed(values, f"column {name!r}") for name, values in given.items()}
        sizes = {name: len(values) for name, values in by_name.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"columns should have the same length, got {sizes}")
        columns = {name: list(values) for name, values in by_name.items()}
        return _table(columns), "a dictionary of columns"
    if not isinstance(given, list) or not given:
        return given, None
    if isinstance(given[0], str | os.PathLike):
        return given, None
    if all(isinstance(row, Mapping) for row in given):
        names = dict.fromkeys(str(name) for row in given for name in row)
        columns = {name: [row.get(name) for row in given] for name in names}
        return _table(columns), "a list of dictionaries"
    lengths = {len(row) if isinstance(row, tuple | list) else 0 for row in given}
    if lengths not in ({2}, {3}):
        got = shown_value(_first_other(given, lengths))
        raise ValueError(
            "a list should hold tuples (left, right, outcome), tuples (winner, loser), "
            f"dictionaries or paths, got {got}"
        )
    roles = ("left", "right", "outcome") if lengths == {3} else ("winner", "loser")
    values = zip(*given, strict=True)
    columns = {role: list(own) for role, own in zip(roles, values, strict=True)}
    return _table(columns), "a list of tuples"


def _are_same(rows: Sequence[str], columns: Sequence[str]) -> bool:
    """Return whether rows and columns are of the same arms, two or more, each once."""
    each_once = len({*rows}) == len(rows)
    return each_once and len(rows) > 1 and sorted(rows) == sorted(columns)


def wins_in_columns(columns: Mapping[str, Sequence[str]]) -> WinsMatrix | None:
    """Return the matrix of wins of a table of text, or None if it holds no such matrix.

    Its first column holds the labels of the rows, which are those of the other columns.
    """
    (_, rows), *others = columns.items()
    labels = [row.strip() for row in rows]
    names = [name.strip() for name, _ in others]
    if not _are_same(labels, names):
        return None
    against = []  # the wins over each arm, a column of the table
    try:
        for name, (_, values) in zip(names, others, strict=True):
            over = zip(labels, values, strict=True)
            column = [_count(value, own=label == name) for label, value in over]
            against.append(column)
    except ValueError:
        return None
    order = [names.index(label) for label in labels]
    wins = np.array(against).T[:, order]
    check_counts(wins)
    return WinsMatrix(wins, labels)


def _count(text: str, *, own: bool) -> float:
    """Return a cell of a matrix; an arm's own may hold a sign such as "-" or "x".

    Raises ValueError if any other is not a number.
    """
    own_sign = own and not re.search("[0-9]", text)
    if own_sign or not text.strip():
        return 0.0
    return float(text)


def check_counts(wins: np.ndarray) -> None:
    """Raise ValueError for a matrix of proportions, which add up to 1 over the diagonal."""
    above = np.triu_indices(len(wins), 1)
    both = wins[above] + wins.T[above]
    halves = np.flatnonzero(wins != np.floor(wins))
    of_halves = np.array_equal(2 * wins, np.round(2 * wins))
    if of_halves and len(halves) and both.max() > 1:
        raise ValueError(
            f"a matrix should hold counts of wins, got {wins.flat[halves[0]]:g}; of halves for "
            "ties give a row for each pair, with columns of left, right, wins_a, wins_b and ties"
        )
    met = both[both > 0]
    shares = np.allclose(met, 1, atol=0.02)
    if not shares or np.array_equal(wins, np.round(wins)):
        return
    raise ValueError(
        "a matrix should have counts of wins (how often the row beat the column), got "
        f"proportions, such as {wins[above][0]:g} and {wins.T[above][0]:g}. Multiply each by the "
        "number of duels of its pair. Or give a row for each pair: left, right, "
        "outcome (the proportion) and weight (the number of duels)"
    )


def _are_rows_of_numbers(rows: list[Any]) -> bool:
    """Return whether a list holds equally many numbers in as many lists, 0 in its diagonal."""
    return len(rows) > 1 and all(
        isinstance(row, list)
        and len(row) == len(rows)
        and all(isinstance(v, int | float | np.number) for v in row)
        and row[k] == 0
        for k, row in enumerate(rows)
    )


def _table(columns: Mapping[str, list[Any]]) -> pa.Table:
    for name in columns:
        check_utf8(name, "columns should have names of UTF-8 text")
    return pa.table({name: _column(values, name) for name, values in columns.items()})


def _column(values: list[Any], name: str) -> pa.Array:
    """Return a column; values of different types become text."""
    for value in values:
        if isinstance(value, str):
            check_utf8(value, f"column {name!r} should contain UTF-8 text")
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if v is None or v != v else text_of(v) for v in values])


def _first_other(rows: list[Any], lengths: set[int]) -> Any:
    """Return the first entry that is no tuple of two or three."""
    for row in rows:
        if not isinstance(row, tuple | list) or len(row) not in (2, 3):
            return row
    sizes = " and ".join(map(str, sorted(lengths)))
    return f"tuples of {sizes} entries"
