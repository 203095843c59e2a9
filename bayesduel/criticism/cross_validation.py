"""Units and folds of a log that are left out, and their log likelihood under any model.

Models see a log in cells of their own (by pair, by judge, by time). They can only be compared
on the same observations: here the outcomes *in their order*, of a single duel or of a whole pair,
judge, category or period, so that no number of orders enters and sums over finer cells mean the
same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.criticism.levels import levels_by, log_of_votes, with_votes, without_votes
from bayesduel.data.duels import Duels
from bayesduel.data.votes import distinct, pair_codes, unordered
from bayesduel.models.cells import ModelCells, Seen, seen_in

if TYPE_CHECKING:
    from bayesduel.data.votes import Votes
    from bayesduel.models.model import Model

__all__ = ["Units", "cut", "log_likelihoods", "rows_of", "units_of", "without"]


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
    # the unit of each vote (of rows of identical duels, where the log has no votes), (votes,); -1
    # of a vote without a level, which is never left out; None of pairs
    of_vote: np.ndarray | None = None
    labels: tuple[str, ...] = ()  # the levels, where units are those of a column

    def __len__(self) -> int:
        return len(self.times)

    def take(self, start: int, stop: int) -> "Units":
        """Return the units from `start` up to `stop`."""
        first_cell = int(self.stops[start - 1]) if start else 0
        last_cell = int(self.stops[stop - 1])
        cells = slice(first_cell, last_cell)
        rows = slice(start, stop)
        return Units(
            unit=self.unit,
            times=self.times[rows],
            first=None if self.first is None else self.first[rows],
            second=None if self.second is None else self.second[rows],
            cells=self.cells.take(cells),
            stops=self.stops[rows] - first_cell,
        )


def units_of(duels: Duels, models: Sequence[Any], unit: str) -> list[Units]:
    """Return the units of a log, the same ones in the same order, as each of `models` sees them.

    Single duels are in different units where any of the models distinguishes them.
    """
    if unit == "pair":
        return [_by_pair(duels, model) for model in models]
    log = with_votes(duels)
    if unit == "duel":
        return _by_duel(log, models)
    code, labels = levels_by(log, unit)
    known = code >= 0
    held = np.unique(code[known])  # a level without votes is no unit
    place = np.searchsorted(held, code)
    level = np.where(known, place, -1)
    names = tuple(labels[k] for k in held)
    return [_by_level(duels, model, unit, level, names) for model in models]


def _by_duel(log: Duels, models: Sequence[Any]) -> list[Units]:
    """Return single duels as units: those that one of the models distinguishes, by their result."""
    columns = {}
    for k, model in enumerate(models):
        for name, column in model.terms.columns(log).items():
            columns[f"{k} {name}"] = column
    seen = seen_in(
        log,
        columns,
        ordered=any(model.terms.reads_order for model in models),
        each=any(not model.response.counts_add_up for model in models),
        by_vote=True,
    )
    cell, result, of_vote = seen.kinds()
    times = seen.counts[cell, result].astype(np.int64)
    stops = 1 + np.arange(len(cell))
    found = []
    for k, model in enumerate(models):
        stored = {"first": "first", "second": "second"}
        for name in model.terms.columns(log):
            stored[name] = f"{k} {name}"
        if model.terms.reads_order:
            stored["left_first"] = "left_first"
        own = {}
        for name, column in stored.items():
            own[name] = seen.columns[column][cell]
        one_duel = np.eye(3)[result]
        single = Seen(columns=own, counts=one_duel, of_vote=of_vote, each=seen.each)
        cells = model.cells(log, seen=single, unit="duel")
        units = Units(
            unit="duel",
            times=times,
            first=own["first"],
            second=own["second"],
            cells=cells,
            stops=stops,
            of_vote=of_vote,
        )
        found.append(units)
    return found


def log_likelihoods(
    model: "Model", posterior: Mapping[str, np.ndarray], units: Units
) -> Iterator[np.ndarray]:
    """Yield the log likelihood of each draw and unit, (draws, n), units in chunks.

    A tie is the model's own outcome, or half a win for each side where it has none. What only
    one unit has information on (the win probability of a pair under a model without a ranking) is
    integrated out where that unit is left out.
    """
    draws = len(next(iter(posterior.values())))
    # 4,000,000 draws x cells worked on at once
    most = max(1, 4_000_000 // draws)
    start = 0
    while start < len(units):
        begun = units.stops[start - 1] if start else 0
        fitting = int(np.searchsorted(units.stops, begun + most, side="right"))
        stop = max(start + 1, fitting)
        part = units.take(start, stop)
        total = model.log_likelihood(posterior, part.cells, part.unit)
        if len(part.stops) < total.shape[1]:
            starts = np.append(0, part.stops[:-1])
            total = np.add.reduceat(total, starts, axis=1)
        yield total
        start = stop


def without(duels: Duels, units: Units, held: np.ndarray) -> Duels:
    """Return the log without the units at indices `held`; every arm and judge keeps its place.

    Of identical duels one is left out.
    """
    log = with_votes(duels)
    votes: Any = log.votes
    if units.of_vote is None:
        assert units.first is not None and units.second is not None
        gone = pair_codes(units.first[held], units.second[held], log.n_sides)
        pair_of_vote = pair_codes(votes.left, votes.right, log.n_sides)
        return without_votes(log, np.isin(pair_of_vote, gone))
    if units.labels:
        return without_votes(log, np.isin(units.of_vote, held))
    _, first = np.unique(units.of_vote, return_index=True)
    weight = votes.weight.copy()
    weight[first[held]] -= 1
    reduced = replace(votes, weight=weight)
    return log_of_votes(log, reduced.take(weight > 0))


def rows_of(duels: Duels, *, by_vote: bool = False) -> tuple[np.ndarray, str]:
    """Return left, right, wins, losses, ties and unit, shape (6, n), and the unit's name.

    One row is an ordered pair that met, or one vote: where that is asked for, because its judge,
    time or margin goes with it, and where the log repeats a pair by the same judge or in the same
    group; then such votes are a unit.
    """
    votes = duels.votes
    repeated = None if votes is None else _repeated(votes)
    if votes is None or (repeated is None and not by_vote):
        cells = duels.cells
        unit = np.arange(len(cells.left))
        rows = np.stack([*cells, unit])
        return rows.astype(np.int64), "duel"
    each = np.arange(len(votes))
    unit, name = repeated or (each, "vote")
    weight = votes.weight
    outcome = votes.outcome
    wins = weight * (outcome == 1)
    losses = weight * (outcome == -1)
    ties = weight * (outcome == 0)
    rows = np.stack([votes.left, votes.right, wins, losses, ties, unit])
    return rows.astype(np.int64), name


def cut(rows: np.ndarray, unit: str, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return wins, losses and ties of each fold, shape (3, n), folds of even size."""
    counts = rows[2:5]
    if unit != "duel":
        of_row = rows[5]
        fold_of_unit = _even_folds(of_row.max() + 1, folds, rng)
        fold = fold_of_unit[of_row]
        return [np.where(fold == k, counts, 0) for k in range(folds)]
    which = np.repeat(np.arange(counts.size), counts.ravel())  # result and row of each duel
    fold = _even_folds(len(which), folds, rng)
    found = []
    for k in range(folds):
        held = np.bincount(which[fold == k], minlength=counts.size)
        found.append(held.reshape(counts.shape))
    return found


def _even_folds(n: int, folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return the fold of each of `n`, at random, folds of even size."""
    in_turn = np.arange(n) % folds
    return rng.permutation(in_turn)


def _by_pair(duels: Duels, model: "Model") -> Units:
    """Return the unordered pairs of a log as units."""
    cells = model.cells(duels, unit="pair")
    given = cells.data
    code = pair_codes(given["first"], given["second"], duels.n_sides)
    pairs, sizes = np.unique(code, return_counts=True)
    first, second = np.divmod(pairs, duels.n_sides)
    return Units(
        unit="pair",
        times=np.ones(len(pairs), dtype=np.int64),
        first=first,
        second=second,
        cells=cells.take(np.argsort(code, kind="stable")),
        stops=np.cumsum(sizes),
    )


def _by_level(
    duels: Duels, model: "Model", unit: str, of_vote: np.ndarray, labels: tuple[str, ...]
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
    seen = replace(seen, columns=columns)
    cells = model.cells(duels, seen=seen, unit=unit)
    order = np.argsort(level, kind="stable")
    order = order[level[order] >= 0]
    n_levels = len(labels)
    sizes = np.bincount(level[order], minlength=n_levels)
    return Units(
        unit=unit,
        times=np.ones(n_levels, dtype=np.int64),
        first=None,
        second=None,
        cells=cells.take(order),
        stops=np.cumsum(sizes),
        of_vote=of_vote,
        labels=labels,
    )


def _repeated(votes: "Votes") -> tuple[np.ndarray, str] | None:
    """Return the unit of each vote, pair and group or judge, and its name; None without repeats."""
    low, high = unordered(votes.left, votes.right)
    alone = -1 - np.arange(len(votes))  # a vote without a judge repeats none
    for role in ("group", "judge"):
        code = getattr(votes, role)
        if code is None:
            continue
        level = np.where(code >= 0, code, alone)
        units, place = distinct(low, high, level)
        several = (votes.weight > 1).any()
        if several or len(units) < len(votes):
            return place, f"pair and {role}"
    return None
