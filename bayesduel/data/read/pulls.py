"""Read a log of pulls: one row an item that was shown, and whether it paid."""

from typing import Any

import numpy as np

from bayesduel.data.pulls import Pulls
from bayesduel.data.read.items import MISSING, table_of
from bayesduel.text import join

__all__ = ["read_pulls"]

PAID = ("1", "1.0", "true", "t", "yes", "y")
UNPAID = ("0", "0.0", "false", "f", "no", "n")


def read_pulls(path_or_frame: Any, *, item: str = "item", reward: str = "reward") -> Pulls:
    """Read a log of items shown one at a time.

    Parameters
    ----------
    path_or_frame
        A path (CSV, TSV, JSON lines or Parquet), or a frame that narwhals knows.
    item
        Column of the items' labels.
    reward
        Column of what happened: 1 or 0, true or false, yes or no.

    Raises
    ------
    OSError
        If a file is not there.
    TypeError
        If `path_or_frame` is neither a path nor a frame.
    ValueError
        If a column is missing, a row names no item, or a reward is none of these; the message
        names file, row (from 1, the header not counted), column and value.
    """
    table, source = table_of(path_or_frame, item)
    for role, name in (("item", item), ("reward", reward)):
        if name not in table:
            raise ValueError(
                f"{role} should be a column of {source} ({join(table, word='or', quote=True)}), "
                f"got {name!r}"
            )
    labels = [str(x).strip() for x in table[item]]
    paid = np.zeros(len(labels))
    for row, (label, entry) in enumerate(zip(labels, table[reward], strict=True)):
        word = str(entry).strip().lower()
        if label.lower() in MISSING:
            raise ValueError(
                f"{source}, row {row + 1}, column {item!r} should name an item, got {label!r}"
            )
        if word not in PAID and word not in UNPAID:
            raise ValueError(
                f"{source}, row {row + 1}, column {reward!r} should be 1 or 0 (true or false, yes "
                f"or no), got {str(entry)!r}"
            )
        paid[row] = word in PAID
    if not labels:
        raise ValueError(f"{source} should hold at least one pull, got none")
    return Pulls.from_rows(labels, paid, source=source)
