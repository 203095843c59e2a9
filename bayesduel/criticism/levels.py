"""Groups of votes: by judge, category, pair, period of time, or a column that was kept."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesduel.data.duels import Duels
from bayesduel.data.votes import Votes, cells_of, pair_codes
from bayesduel.models.cells import levels_of
from bayesduel.system.arguments import check_type

__all__ = [
    "FOLDS",
    "grouped",
    "known_times",
    "levels_by",
    "log_of_votes",
    "rows_of_columns",
    "size_of",
    "sums_by_level",
    "with_votes",
    "without_votes",
]

# Each of ten parts is predicted by nine tenths: Kohavi, "A study of cross-validation and bootstrap
# for accuracy estimation and model selection", IJCAI 1995.
FOLDS = 10


def with_votes(log: Duels) -> Duels:
    """Return the same log with votes; of a tally these are rows of identical duels."""
    if log.votes is not None:
        return log
    left, right, *counts = log.cells
    outcomes = np.array([1, -1, 0], dtype=np.int8)
    votes = Votes(
        left=np.tile(left, 3),
        right=np.tile(right, 3),
        outcome=np.repeat(outcomes, len(left)),
        weight=np.concatenate(counts).astype(np.int64),
    )
    return replace(log, votes=votes.take(votes.weight > 0))


def levels_by(log: Duels, by: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the group of each vote, -1 where it has none, and the labels of the groups.

    `by` is "pair", "time" (periods of about as many votes each), "judge", "group", "category" or a
    column that was kept.
    """
    check_type(by, str, "by", "the name of a column")
    votes: Any = log.votes
    if by == "pair":
        n_sides = log.n_sides
        codes = pair_codes(votes.left, votes.right, n_sides)
        pairs, place = np.unique(codes, return_inverse=True)
        sides = log.sides
        labels = []
        for first, second in zip(*np.divmod(pairs, n_sides), strict=True):
            labels.append(f"{sides[first]} - {sides[second]}")
        return place, tuple(labels)
    if by == "time" and "time" not in votes.kept:
        return _periods(votes.time)
    return levels_of(log, by)


def without_votes(log: Duels, gone: np.ndarray) -> Duels:
    """Return the log without some votes (a mask); every arm and level keeps its place."""
    assert log.votes is not None
    return log_of_votes(log, log.votes.take(~gone))


def log_of_votes(log: Duels, votes: Votes) -> Duels:
    """Return the log with other votes; every arm and level keeps its place."""
    cells = cells_of(votes, log.n_sides)
    return replace(log, votes=votes, cells=cells)


def grouped(place: np.ndarray, n: int) -> sparse.csr_array:
    """Return which of `n` groups each entry belongs to, number ``place[i]``: ones, (n, groups)."""
    n_rows = len(place)
    rows = np.arange(n_rows)
    ones = np.ones(n_rows)
    return sparse.csr_array((ones, (rows, place)), shape=(n_rows, n))


def sums_by_level(level: np.ndarray, values: np.ndarray, n_levels: int) -> np.ndarray:
    """Return the sum of values of votes by level, (n_levels,); a vote of level -1 is in none."""
    known = level >= 0
    return np.bincount(level[known], values[known], n_levels)


def rows_of_columns(
    columns: Mapping[str, np.ndarray], rows: np.ndarray | slice
) -> dict[str, np.ndarray]:
    """Return some rows of columns by name."""
    return {name: column[rows] for name, column in columns.items()}


def size_of(member: sparse.csr_array) -> np.ndarray:
    """Return how many entries each group has, shape (groups,)."""
    return np.asarray(member.sum(axis=0)).ravel()


def _periods(time: np.ndarray | None) -> tuple[np.ndarray, tuple[str, ...]]:
    if time is None:
        raise ValueError("the log has no times: read it with the column of the times (time=)")
    known = known_times(time)
    moments, rank = np.unique(time[known], return_inverse=True)
    if len(moments) < 2:
        raise ValueError(f"duels should have at least two different times, got {len(moments)}")
    n_votes = np.bincount(rank)
    until = np.cumsum(n_votes) - n_votes / 2
    n_periods = min(10, len(moments))  # of about as many votes each, by eye
    period = (until * n_periods / len(rank)).astype(int)
    _, period = np.unique(period, return_inverse=True)
    found = np.full(len(time), -1)
    found[known] = period[rank]
    labels = []
    for k in range(period.max() + 1):
        own = moments[period == k]
        first = _moment_words(own[0])
        last = _moment_words(own[-1])
        labels.append(first if first == last else f"{first} to {last}")
    return found, tuple(labels)


def known_times(time: np.ndarray) -> np.ndarray:
    """Return which times, dates or numbers, are not missing."""
    if _dated(time):
        return ~np.isnat(time)
    return np.isfinite(time)


def _dated(time: Any) -> bool:
    return np.issubdtype(time.dtype, np.datetime64)


def _moment_words(moment: Any) -> str:
    if _dated(moment):
        return str(moment.astype("datetime64[s]"))
    return f"{moment:g}"
