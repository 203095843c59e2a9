"""Units and folds of a log that are left out, and their log likelihood under any model.

Models see a log in cells of their own (by pair, by judge, by time). They can only be compared
on the same observations: here the outcomes *in their order*, of a single duel or of a whole pair,
judge, category or period, so that no number of orders enters and sums over finer cells mean the
same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesduel.criticism.levels import levels_by, with_votes, without_votes
from bayesduel.data.duels import Duels
from bayesduel.data.votes import Cells, cells_of, distinct
from bayesduel.models.cells import ModelCells, Seen, seen_in

__all__ = ["Units", "cut", "log_likelihoods", "rows_of", "units_of", "without"]

CHUNK = 4_000_000  # draws x cells worked on at once


@dataclass(frozen=True, eq=False)
class Units:
    """The units that are left out one at a time, in the cells of one model."""

    # "pair": all duels of an unordered pair. "duel": one duel. Else the column (a judge, a
    # category, a period of time), of whose levels each is a unit.
    unit: str
    # how many observations of the log each unit stands for (identical duels), (units,)
    times: np.ndarray
    first: np.ndarray | None  # the arms, indices, (units,); None of the levels of a column
    second: np.ndarray | None
    cells: ModelCells  # cells of the model, sorted by unit
    stops: np.ndarray  # unit k is the cells up to ``stops[k]``, (units,)
    # of a single duel: 0 where first won, 1 where second did, 2 for a tie, (units,); or None
    result: np.ndarray | None = None
    # the unit of each vote of the log, (votes,), or None where no model asked for votes; -1 of a
    # vote without a level, which is never left out
    of_vote: np.ndarray | None = None
    labels: tuple[str, ...] = ()  # the levels, where units are those of a column

    def __len__(self) -> int:
        return len(self.times)

    def take(self, start: int, stop: int) -> "Units":
        """Return the units from `start` up to `stop`."""
        here = slice(int(self.stops[start - 1]) if start else 0, int(self.stops[stop - 1]))
        rows = slice(start, stop)
        return Units(
            self.unit,
            self.times[rows],
            None if self.first is None else self.first[rows],
            None if self.second is None else self.second[rows],
            self.cells.take(here),
            self.stops[rows] - here.start,
        )


def units_of(duels: Duels, models: Sequence[Any], unit: str) -> list[Units]:
    """Return the units of a log, the same ones in the same order, as each of `models` sees them.

    Single duels are in different units where any of the models distinguishes them.
    """
    if unit == "pair":
        return [_by_pair(duels, model) for model in models]
    if unit != "duel":
        code, labels = levels_by(with_votes(duels), unit)
        held = np.unique(code[code >= 0])
        level = np.where(code >= 0, np.searchsorted(held, code), -1)
        names = tuple(labels[k] for k in held)
        return [_by_level(duels, model, unit, level, names) for model in models]
    columns = {(k, n): c for k, m in enumerate(models) for n, c in m.terms.columns(duels).items()}
    seen = seen_in(
        duels,
        {str(key): column for key, column in columns.items()},
        ordered=any(m.terms.reads_order for m in models),
        each=any(not m.response.counts_add_up for m in models),
    )
    cell, outcome = np.nonzero(seen.counts)
    times = seen.counts[cell, outcome].astype(np.int64)
    of_vote = None
    if seen.of_vote is not None and seen.added is not None:
        unit_at = np.full(seen.counts.shape, -1)
        unit_at[cell, outcome] = np.arange(len(cell))
        of_vote = unit_at[seen.of_vote, np.argmax(seen.added, axis=1)]
    found = []
    for k, model in enumerate(models):
        own = {n: seen.columns[str((j, n))] for (j, n) in columns if j == k}
        shared = ["first", "second", *(["left_first"] if model.terms.reads_order else [])]
        own |= {n: seen.columns[n] for n in shared}
        single = Seen(
            columns={name: column[cell] for name, column in own.items()},
            counts=np.eye(3)[outcome],
            of_vote=of_vote,
            each=seen.each,
        )
        cells = model.cells(duels, seen=single, unit="duel")
        found.append(
            Units(
                "duel",
                times,
                own["first"][cell],
                own["second"][cell],
                cells,
                np.arange(1, len(cell) + 1),
                outcome,
                of_vote,
            )
        )
    return found


def log_likelihoods(
    model: Any, posterior: Mapping[str, np.ndarray], units: Units
) -> Iterator[np.ndarray]:
    """Yield the log likelihood of each draw and unit, (draws, n), units in chunks.

    A tie is the model's own outcome, or half a win for each side where it has none. What only
    one unit has information on (the win probability of a pair under a model without a ranking) is
    integrated out where that unit is left out.
    """
    draws = len(next(iter(posterior.values())))
    most = max(1, CHUNK // draws)
    start = 0
    while start < len(units):
        begun = units.stops[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(units.stops, begun + most, side="right")))
        part = units.take(start, stop)
        total = model.log_likelihood(posterior, part.cells, part.unit)
        if len(part.stops) < total.shape[1]:
            total = np.add.reduceat(total, np.append(0, part.stops[:-1]), axis=1)
        yield total
        start = stop


def without(duels: Duels, units: Units, held: np.ndarray) -> Duels:
    """Return the log without the units at indices `held`; every arm and judge keeps its place.

    Of identical duels one is left out.
    """
    if units.labels:
        assert units.of_vote is not None
        return without_votes(with_votes(duels), np.isin(units.of_vote, held))
    assert units.first is not None and units.second is not None
    if units.unit == "pair":
        gone = units.first[held].astype(np.int64) * duels.n_sides + units.second[held]
        cells = Cells(*(a[~_hit(duels.cells, duels.n_sides, gone)] for a in duels.cells))
        votes = duels.votes
        if votes is not None:
            votes = votes.take(~_hit(votes, duels.n_sides, gone))
        return replace(duels, cells=cells, votes=votes)
    if duels.votes is not None and units.of_vote is not None:
        gone = np.unique(units.of_vote, return_index=True)[1][held]  # the first vote of each
        weight = duels.votes.weight.copy()
        weight[gone] -= 1
        votes = replace(duels.votes, weight=weight).take(weight > 0)
        return replace(duels, votes=votes, cells=cells_of(votes, duels.n_sides))
    counts = np.stack([duels.cells.left_wins, duels.cells.right_wins, duels.cells.ties])
    for k in held:
        _take_one(duels, counts, units, int(k))
    keep = counts.sum(axis=0) > 0
    cells = Cells(duels.cells.left[keep], duels.cells.right[keep], *counts[:, keep])
    return replace(duels, cells=cells, votes=None)


def rows_of(duels: Duels, *, by_vote: bool = False) -> tuple[np.ndarray, str]:
    """Return left, right, wins, losses, ties and unit, shape (6, n), and the unit's name.

    One row is an ordered pair that met, or one vote: where that is asked for, because its judge,
    time or margin goes with it, and where the log repeats a pair by the same judge or in the same
    group; then such votes are a unit.
    """
    cells = duels.cells
    votes = duels.votes
    found = None if votes is None else _repeated(votes)
    if votes is not None and (by_vote or found is not None):
        unit, name = (np.arange(len(votes)), "vote") if found is None else found
        counts = [votes.weight * (votes.outcome == o) for o in (1, -1, 0)]
        return np.stack([votes.left, votes.right, *counts, unit]).astype(np.int64), name
    counts = [cells.left_wins, cells.right_wins, cells.ties]
    rows = np.stack([cells.left, cells.right, *counts, np.arange(len(cells.left))])
    return rows.astype(np.int64), "duel"


def cut(rows: np.ndarray, unit: str, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return wins, losses and ties of each fold, shape (3, n), folds of even size."""
    if unit != "duel":
        fold = rng.permutation(np.arange(rows[5].max() + 1) % folds)[rows[5]]
        return [np.where(fold == k, rows[2:5], 0) for k in range(folds)]
    which = np.repeat(np.arange(3 * rows.shape[1]), rows[2:5].ravel())
    fold = rng.permutation(np.arange(len(which)) % folds)
    shape = (3, rows.shape[1])
    return [
        np.bincount(which[fold == k], minlength=shape[0] * shape[1]).reshape(shape)
        for k in range(folds)
    ]


def _by_pair(duels: Duels, model: Any) -> Units:
    """Return the unordered pairs of a log as units."""
    cells = model.cells(duels, unit="pair")
    low = np.minimum(cells.data["first"], cells.data["second"])
    high = np.maximum(cells.data["first"], cells.data["second"])
    order = np.lexsort((high, low))
    low = low[order]
    high = high[order]
    stops = np.flatnonzero(np.append((np.diff(low) != 0) | (np.diff(high) != 0), True)) + 1
    return Units(
        "pair",
        np.ones(len(stops), dtype=np.int64),
        low[stops - 1],
        high[stops - 1],
        cells.take(order),
        stops,
    )


def _by_level(
    duels: Duels, model: Any, unit: str, of_vote: np.ndarray, labels: tuple[str, ...]
) -> Units:
    """Return the levels of a column as units."""
    own = model.terms.columns(duels)
    seen = seen_in(
        with_votes(duels),
        own | {"unit": of_vote},
        ordered=model.terms.reads_order,
        each=model.response.by_vote,
        by_vote=True,
    )
    columns = dict(seen.columns)
    level = columns.pop("unit")
    cells = model.cells(duels, seen=replace(seen, columns=columns), unit=unit)
    order = np.argsort(level, kind="stable")
    order = order[level[order] >= 0]
    stops = np.cumsum(np.bincount(level[order], minlength=len(labels)))
    times = np.ones(len(labels), dtype=np.int64)
    return Units(unit, times, None, None, cells.take(order), stops, of_vote=of_vote, labels=labels)


def _repeated(votes: Any) -> tuple[np.ndarray, str] | None:
    """Return the unit of each vote, pair and group or judge, and its name; None without repeats."""
    low = np.minimum(votes.left, votes.right)
    high = np.maximum(votes.left, votes.right)
    alone = -1 - np.arange(len(votes))  # a vote without a judge repeats none
    for role in ("group", "judge"):
        code = getattr(votes, role)
        if code is None:
            continue
        units, place = distinct(low, high, np.where(code >= 0, code, alone))
        if len(units) < len(votes) or (votes.weight > 1).any():
            return place, f"pair and {role}"
    return None


def _hit(rows: Any, n_sides: int, gone: np.ndarray) -> np.ndarray:
    """Return which of `rows` (cells or votes) are of the pairs `gone`."""
    low = np.minimum(rows.left, rows.right)
    high = np.maximum(rows.left, rows.right)
    return np.isin(low.astype(np.int64) * n_sides + high, gone)


def _take_one(duels: Duels, counts: np.ndarray, units: Units, k: int) -> None:
    """Take one duel of unit `k` out of `counts`, (3, cells) by ordered pair."""
    assert units.result is not None and units.first is not None and units.second is not None
    first = units.first[k]
    second = units.second[k]
    result = int(units.result[k])
    for left, right, row in ((first, second, result), (second, first, (1, 0, 2)[result])):
        at = np.flatnonzero(
            (duels.cells.left == left) & (duels.cells.right == right) & (counts[row] > 0)
        )
        if len(at):
            counts[row, at[0]] -= 1
            return
