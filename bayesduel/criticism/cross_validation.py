"""Log likelihoods of what can be left out of a log, whatever cells a model sees it in.

Models see a log in cells of their own (by pair, by judge, by time). They can only be compared
on the same observations: here the outcomes *in their order*, of a whole pair or of a single
duel, so that no number of orders enters and sums over finer cells mean the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesduel.data.votes import Cells, cells_of
from bayesduel.models.cells import Seen, tallied
from bayesduel.models.layers import Layer

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["Unit", "Units", "log_likelihoods", "units_of", "without"]

Unit = Literal["pair", "duel"]
CHUNK = 4_000_000  # draws x cells worked on at once
TINY = 1e-300
OUTCOMES = ("win", "loss", "tie")


@dataclass(frozen=True, eq=False)
class Units:
    """What is left out, one at a time, as one model sees it.

    Attributes
    ----------
    unit
        "pair": all duels of an unordered pair. "duel": one duel.
    times
        How many observations of the log each unit stands for (identical duels), (units,).
    first, second
        The arms, indices, (units,).
    cells
        Cells of the model, sorted by unit, by name.
    counts
        First's wins, second's wins, ties of each cell, (cells, 3).
    stops
        Unit k is the cells up to ``stops[k]``, (units,).
    of_vote
        The unit of each vote of the log, (votes,), or None where no model asked for votes.
    """

    unit: Unit
    times: np.ndarray
    first: np.ndarray
    second: np.ndarray
    cells: Mapping[str, np.ndarray]
    counts: np.ndarray
    stops: np.ndarray
    of_vote: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.times)

    def take(self, start: int, stop: int) -> "Units":
        """Return the units from `start` up to `stop`."""
        here = slice(int(self.stops[start - 1]) if start else 0, int(self.stops[stop - 1]))
        rows = slice(start, stop)
        return Units(
            self.unit,
            self.times[rows],
            self.first[rows],
            self.second[rows],
            {name: column[here] for name, column in self.cells.items()},
            self.counts[here],
            self.stops[rows] - here.start,
        )


def units_of(duels: "Duels", models: Sequence[Any], unit: Unit) -> list[Units]:
    """Return the units of a log, the same ones in the same order, as each of `models` sees them.

    Single duels are told apart as finely as any of the models does.
    """
    if unit == "pair":
        return [_pairs(_seen(duels, model)) for model in models]
    owned = {(k, n): c for k, m in enumerate(models) for n, c in _columns(duels, m).items()}
    ordered = any(getattr(m, "ordered", False) for m in models)
    joint: Any = {str(key): column for key, column in owned.items()}
    seen = tallied(duels, joint, ordered=ordered)
    cell, outcome = np.nonzero(seen.counts)
    shared: dict[str, Any] = {n: seen.cells[n] for n in ("first", "second", "left_first")
                              if n in seen.cells}  # fmt: skip
    of_vote = None
    if seen.of_vote is not None:
        unit_at = np.full(seen.counts.shape, -1)
        unit_at[cell, outcome] = np.arange(len(cell))
        of_vote = unit_at[seen.of_vote, seen.result]
    found = []
    for k in range(len(models)):
        own = {n: seen.cells[str((k, n))] for (j, n) in owned if j == k}
        cells = {name: column[cell] for name, column in (shared | own).items()}
        found.append(
            Units(
                "duel",
                seen.counts[cell, outcome].astype(np.int64),
                cells["first"],
                cells["second"],
                cells,
                np.eye(3)[outcome],
                np.arange(1, len(cell) + 1),
                of_vote,
            )
        )
    return found


def log_likelihoods(
    model: Any, posterior: Mapping[str, np.ndarray], units: Units
) -> Iterator[np.ndarray]:
    """Yield the log likelihood of each draw and unit, (draws, n), units in chunks.

    A tie is the model's own outcome, or half a win for each side where it has none. What only
    one unit tells of (the win probability of a pair under a model without a ranking) is
    integrated out where that unit is left out.
    """
    draws = len(next(iter(posterior.values())))
    most = max(1, CHUNK // draws)
    start = 0
    while start < len(units):
        begun = units.stops[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(units.stops, begun + most, side="right")))
        part = units.take(start, stop)
        yield _of(model, posterior, part, draws)
        start = stop


def without(duels: "Duels", units: Units, held: np.ndarray) -> "Duels":
    """Return the log without the units at indices `held`; every arm and judge keeps its place.

    Of identical duels one is left out.

    Raises
    ------
    ValueError
        If nothing is left.
    """
    if units.unit == "pair":
        gone = units.first[held].astype(np.int64) * duels.n_arms + units.second[held]
        cells = Cells(*(a[~_hit(duels.cells, duels.n_arms, gone)] for a in duels.cells))
        votes = duels.votes
        if votes is not None:
            votes = votes.take(~_hit(votes, duels.n_arms, gone))
        return replace(duels, cells=cells, votes=votes)
    if duels.votes is not None and units.of_vote is not None:
        gone = np.unique(units.of_vote, return_index=True)[1][held]  # the first vote of each
        weight = duels.votes.weight.copy()
        weight[gone] -= 1
        votes = replace(duels.votes, weight=weight).take(weight > 0)
        return replace(duels, votes=votes, cells=cells_of(votes, duels.n_arms))
    counts = np.stack([duels.cells.left_wins, duels.cells.right_wins, duels.cells.ties])
    for k in held:
        _take_one(duels, counts, units, int(k))
    keep = counts.sum(axis=0) > 0
    cells = Cells(duels.cells.left[keep], duels.cells.right[keep], *counts[:, keep])
    return replace(duels, cells=cells, votes=None)


# -- in calling order ----------------------------------------------------------------------


def _columns(duels: "Duels", model: Any) -> dict[str, np.ndarray]:
    return model.columns(duels) if hasattr(model, "columns") else {}


def _seen(duels: "Duels", model: Any) -> Seen:
    return tallied(duels, _columns(duels, model), ordered=getattr(model, "ordered", False))


def _pairs(seen: Seen) -> Units:
    low = np.minimum(seen.cells["first"], seen.cells["second"])
    high = np.maximum(seen.cells["first"], seen.cells["second"])
    order = np.lexsort((high, low))
    low, high = low[order], high[order]
    stops = np.flatnonzero(np.append((np.diff(low) != 0) | (np.diff(high) != 0), True)) + 1
    return Units(
        "pair",
        np.ones(len(stops), dtype=np.int64),
        low[stops - 1],
        high[stops - 1],
        {name: column[order] for name, column in seen.cells.items()},
        seen.counts[order],
        stops,
    )


def _of(model: Any, posterior: Mapping[str, np.ndarray], units: Units, draws: int) -> np.ndarray:
    """Return the log likelihood of each draw and unit, all units at once."""
    if units.unit == "pair" and hasattr(model, "integrated"):
        starts = np.append(0, units.stops[:-1])
        forward = np.where(units.cells["first"] < units.cells["second"], 0, 1)
        rows = np.arange(len(forward))
        points = units.counts[rows, forward] + units.counts[:, 2] / 2
        n = units.counts.sum(axis=1)
        points, n = (np.add.reduceat(x, starts) for x in (points, n))
        return model.integrated(posterior, points, n, draws)
    if hasattr(model, "chances"):
        known = model.parameters(posterior) if isinstance(model, Layer) else posterior
        chances = model.chances(model.eta(known, units.cells), known)
    else:
        first, second = units.cells["first"], units.cells["second"]
        chances = model.outcome_probabilities(posterior, first, second)
    counts = units.counts
    if "tie" not in chances:
        counts = counts[:, :2] + counts[:, 2:] / 2
    total = np.zeros((draws, len(counts)))
    for outcome, times in zip(OUTCOMES, counts.T, strict=False):
        happened = times > 0
        chance = np.maximum(chances[outcome][:, happened], TINY)
        total[:, happened] += times[happened] * np.log(chance)
    if len(units.stops) == len(counts):
        return total
    return np.add.reduceat(total, np.append(0, units.stops[:-1]), axis=1)


def _hit(rows: Any, n_arms: int, gone: np.ndarray) -> np.ndarray:
    """Return which of `rows` (cells or votes) are of the pairs `gone`."""
    low, high = np.minimum(rows.left, rows.right), np.maximum(rows.left, rows.right)
    return np.isin(low.astype(np.int64) * n_arms + high, gone)


def _take_one(duels: "Duels", counts: np.ndarray, units: Units, k: int) -> None:
    """Take one duel of unit `k` out of `counts`, (3, cells) by ordered pair."""
    first, second = units.first[k], units.second[k]
    result = int(units.counts[k].argmax())
    for left, right, row in ((first, second, result), (second, first, (1, 0, 2)[result])):
        at = np.flatnonzero(
            (duels.cells.left == left) & (duels.cells.right == right) & (counts[row] > 0)
        )
        if len(at):
            counts[row, at[0]] -= 1
            return
