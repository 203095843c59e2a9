"""Read a table of items and their attributes.

What a model could not tell apart (a column that never varies, one that the others already say)
is refused by name, as are missing values and items that are there twice.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.items import Attribute, Items, dependent
from bayesduel.text import join

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_items", "table_of"]

MISSING = ("", "na", "nan", "null", "none", "n/a")


def read_items(
    path_or_frame: Any,
    *,
    item: str = "item",
    columns: Iterable[str] | None = None,
    leave_out: Iterable[str] = (),
    reference: Mapping[str, str] | None = None,
    like: Items | None = None,
) -> Items:
    """Read a table of items and their attributes, one row an item.

    Parameters
    ----------
    path_or_frame
        A path (CSV, TSV, JSON lines or Parquet), or a frame that narwhals knows (pandas,
        Polars, PyArrow). A pandas frame may have the items' labels as its index.
    item
        Column of the items' labels.
    columns
        Attributes to take. Default: every other column.
    leave_out
        Columns not to take.
    reference
        Level that a column of words is told against. Default: its most frequent level (of
        those equally frequent the first in the alphabet).
    like
        Read new items into the attributes of these: same columns, levels, means and
        deviations; `columns`, `leave_out` and `reference` are not looked at.

    Returns
    -------
    The items. A column whose entries are all numbers is numeric; any other is words.

    Raises
    ------
    OSError
        If a file is not there.
    TypeError
        If `path_or_frame` is neither a path nor a frame.
    ValueError
        If a column is missing, has missing values, never varies, is a combination of others,
        or differs for every item though it is words; or if an item is there twice. The
        message names them.
    """
    table, source = table_of(path_or_frame, item)
    if item not in table:
        raise ValueError(
            f"item should be a column of {source} ({join(table, word='or', quote=True)}), "
            f"got {item!r}"
        )
    labels = _labels(table.pop(item), item)
    if like is not None:
        rows = [_again(table, a, like, source, labels) for a in like.attributes]
        values = np.stack(rows, axis=1)
        return Items(labels=labels, attributes=like.attributes, values=values, source=source)
    wanted = _wanted(table, columns, leave_out, source)
    parts: list[tuple[Attribute, np.ndarray]] = []
    for name in wanted:
        numbers = _numbers(_complete(table[name], name, labels), name, labels)
        if numbers is None:
            parts += _indicators(table[name], name, (reference or {}).get(name))
        else:
            parts.append((Attribute(name, name, "", "", *_spread(numbers)), numbers))
    for name in reference or {}:
        if not any(a.column == name and a.level for a, _ in parts):
            raise ValueError(f"reference should be of a column of words, got {name!r}")
    constant = [a.name for a, _ in parts if a.deviation == 0]
    if constant:
        raise ValueError(
            f"attributes should vary; the same for every item: {join(constant, quote=True)}; "
            "leave them out (leave_out, or --leave-out)"
        )
    attributes, values = tuple(a for a, _ in parts), np.stack([v for _, v in parts], axis=1)
    items = Items(labels=labels, attributes=attributes, values=values, source=source)
    told = dependent(items.matrix())
    if told is not None:
        column, others = items.names[told[0]], [items.names[k] for k in told[1]]
        raise ValueError(f"attributes should say different things: {column!r} is a combination "
                         f"of {join(others, quote=True)}; leave one of them out "
                         "(leave_out, or --leave-out)")  # fmt: skip
    return items


# -- in calling order ----------------------------------------------------------------------


def table_of(path_or_frame: Any, item: str) -> tuple[dict[str, "pd.Series"], str]:
    """Return the columns by name, and where they came from."""
    import pandas as pd

    if isinstance(path_or_frame, (str, Path)):
        path = Path(path_or_frame)
        if not path.exists():
            raise FileNotFoundError(f"no such file of items: {path}")
        suffixes = path.suffixes
        kind = next((s for s in reversed(suffixes) if s not in (".gz", ".zst")), ".csv")
        if kind == ".parquet":
            frame = pd.read_parquet(path)
        elif kind in (".json", ".jsonl", ".ndjson"):
            frame = pd.read_json(path, lines=True, dtype=False)
        else:
            comma = "\t" if kind == ".tsv" else ","
            frame = pd.read_csv(path, sep=comma, dtype=str, keep_default_na=False)
        source = path.name
    elif isinstance(path_or_frame, pd.DataFrame):
        frame, source = path_or_frame, "a frame"
    else:
        import narwhals as nw

        try:
            frame = nw.from_native(path_or_frame, eager_only=True).to_pandas()
        except TypeError:
            raise TypeError(
                f"path_or_frame should be a path or a frame, got {type(path_or_frame).__name__}"
            ) from None
        source = "a frame"
    if item not in frame.columns and frame.index.name == item:
        frame = frame.reset_index()
    if frame.columns.duplicated().any():
        twice = frame.columns[frame.columns.duplicated()]
        raise ValueError(f"columns should have distinct names, got {join(twice, quote=True)} twice")
    return {str(name): frame[name] for name in frame.columns}, source


def _labels(column: "pd.Series", item: str) -> tuple[str, ...]:
    labels = [str(x).strip() for x in column]
    for row, label in enumerate(labels):
        if label.lower() in MISSING:
            raise ValueError(f"{item} should name an item in every row, got none in row {row + 1}")
    twice = (
        sorted({x for x in labels if labels.count(x) > 1}) if len(set(labels)) < len(labels) else []
    )
    if twice:
        raise ValueError(
            f"items should be there once each, got more than one row of {join(twice, quote=True)}"
        )
    if not labels:
        raise ValueError("a table of items should have at least one row, got none")
    return tuple(labels)


def _wanted(
    table: Mapping[str, Any],
    columns: Iterable[str] | None,
    leave_out: Iterable[str],
    source: str,
) -> list[str]:
    asked = list(table) if columns is None else list(columns)
    left = list(leave_out)
    for name in (*asked, *left):
        if name not in table:
            raise ValueError(f"{source} has no column {name!r}; it has {join(table, quote=True)}")
    wanted = [name for name in asked if name not in left]
    if not wanted:
        raise ValueError(f"{source} should have at least one attribute beside the labels, got none")
    return wanted


def _complete(column: "pd.Series", name: str, labels: tuple[str, ...]) -> "pd.Series":
    gone = [
        label
        for label, x in zip(labels, column, strict=True)
        if x is None or x != x or str(x).strip().lower() in MISSING
    ]
    if gone:
        raise ValueError(
            f"column {name!r} should have no missing values, got none for {join(gone, quote=True)}"
        )
    return column


def _numbers(column: "pd.Series", name: str, labels: tuple[str, ...]) -> np.ndarray | None:
    """Return the entries as numbers, or None where one of them is none."""
    try:
        numbers = np.array([float(x) for x in column])
    except (TypeError, ValueError):
        return None
    endless = [label for label, x in zip(labels, numbers, strict=True) if not np.isfinite(x)]
    if endless:
        raise ValueError(
            f"column {name!r} should be finite, got infinity for {join(endless, quote=True)}"
        )
    return numbers


def _first_word(words: Iterable[str]) -> str:
    for word in words:
        try:
            float(word)
        except ValueError:
            return word
    return ""


def _spread(numbers: np.ndarray) -> tuple[float, float]:
    if np.ptp(numbers) == 0:
        return float(numbers[0]), 0.0
    return float(numbers.mean()), float(numbers.std())


def _indicators(
    column: "pd.Series", name: str, reference: str | None
) -> list[tuple[Attribute, np.ndarray]]:
    words = np.array([str(x).strip() for x in column], dtype=object)
    levels, count = np.unique(words.astype(str), return_counts=True)
    if len(levels) == len(words) and len(words) > 2:
        raise ValueError(
            f"column {name!r} is words that differ for every item (the first that is no number: "
            f"{_first_word(words)!r}), so it says nothing of them in common; leave it out "
            "(leave_out, or --leave-out)"
        )
    if reference is None:
        reference = str(levels[count.argmax()])
    if reference not in levels:
        raise ValueError(
            f"reference of {name!r} should be {join(levels, word='or', quote=True)}, "
            f"got {reference!r}"
        )
    if len(levels) == 1:
        return [(Attribute(name, name, reference, reference, 0.0, 0.0), np.zeros(len(words)))]
    return [
        (
            Attribute(f"{name}: {level}", name, str(level), reference, 0.0, 1.0),
            1.0 * (words == level),
        )
        for level in levels
        if level != reference
    ]


def _again(
    table: Mapping[str, Any],
    attribute: Attribute,
    like: Items,
    source: str,
    labels: tuple[str, ...],
) -> np.ndarray:
    """Return one attribute of new items, on its original scale."""
    name = attribute.column
    if name not in table:
        raise ValueError(
            f"{source} should have the columns of the items before; it has no {name!r}"
        )
    column = _complete(table[name], name, labels)
    if not attribute.level:
        numbers = _numbers(column, name, labels)
        if numbers is None:
            raise ValueError(f"column {name!r} should be numbers, as in the items before")
        return numbers
    known = {a.level for a in like.attributes if a.column == name} | {attribute.reference}
    words = [str(x).strip() for x in column]
    unknown = sorted(set(words) - known)
    if unknown:
        raise ValueError(
            f"column {name!r} should be {join(sorted(known), word='or', quote=True)}, "
            f"got {join(unknown, quote=True)}"
        )
    return np.array([float(word == attribute.level) for word in words])
