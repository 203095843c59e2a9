"""Read a log of pulls: one row for each item that was shown, with a reward of 0 or 1."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.pulls import Pulls
from bayesduel.data.read.columns import take
from bayesduel.data.read.faults import label_of, shown
from bayesduel.data.read.rows import Coded
from bayesduel.data.read.source import bad_row, open_source
from bayesduel.data.read.words import DOWN, UP
from bayesduel.system.arguments import check_names

if TYPE_CHECKING:
    from bayesduel.data.read.in_memory import Readable

__all__ = ["read_pulls"]

REWARDS = {**dict.fromkeys(UP, 1.0), **dict.fromkeys(DOWN, 0.0)}


def read_pulls(path_or_frame: "Readable", *, item: str = "item", reward: str = "reward") -> Pulls:
    """Read a log of items shown one at a time.

    Labels and missing values are read as by :func:`bayesduel.read_duels`.

    Parameters
    ----------
    path_or_frame
        Files or a frame, as for :func:`bayesduel.read_duels`.
    item
        Column of the items' labels.
    reward
        Column of the rewards: 1 or 0, true or false, yes or no, up or down (a thumb).

    Returns
    -------
    The counts of each item.

    Raises
    ------
    OSError
        If a file does not exist or cannot be opened.
    TypeError
        If `path_or_frame` is neither a path nor a frame.
    ValueError
        If a column is missing, a file is malformed, a label is missing, or a reward is none of
        these; the message gives file, line, column and value.

    Examples
    --------
    >>> import pandas as pd
    >>> bd.read_pulls(pd.DataFrame({"item": ["a", "b", "a"], "reward": [1, 0, 1]}))
    <Pulls: 3 of 2 items, 67% paid>
    """
    check_names(item, "item")
    check_names(reward, "reward")
    with open_source(path_or_frame) as source:
        columns = take(source.columns(), source.name, {"item": item, "reward": reward})
        read = source.texts(columns)
        labels = _mapped(read["item"], {text: label_of(text) for text in read["item"].values})
        rewards = _mapped(read["reward"], {text: _reward(text) for text in read["reward"].values})
        if not len(labels):
            raise ValueError(f"{source.name}: should contain at least one pull, got no rows")
        if None in labels or None in rewards:
            raise bad_row(source, columns, lambda values: _fault(values, columns.taken))
        return Pulls.from_rows(labels, rewards, source=source.words)


def _mapped(column: Coded, meaning: Mapping[str, Any]) -> np.ndarray:
    """Return what each entry means, None where missing."""
    found = [*(meaning[text] for text in column.values), None]
    return np.array(found, dtype=object)[column.code]


def _reward(text: str) -> float | None:
    word = "".join(re.split(r"[\s_]+", text.casefold()))
    return REWARDS.get(word.removesuffix("\ufe0f"))  # which makes a sign a picture


def _fault(values: Mapping[str, str | None], column: Mapping[str, str]) -> str:
    label = values["item"]
    reward = values["reward"]
    if label is None or label_of(label) is None:
        return f"column {column['item']!r} should name an item, got {shown(label)}"
    if reward is None or _reward(reward) is None:
        return (
            f"column {column['reward']!r} should be 1 or 0 (true or false, yes or no, up or down), "
            f"got {shown(reward)}"
        )
    return ""
