"""Cells: a log tallied once, by pair and by what a model asks of each duel."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.rankings import Rankings
from bayesduel.data.teams import Teams
from bayesduel.data.votes import ROLES, Pairs, distinct, unordered
from bayesduel.models.settings import Arrays, Named
from bayesduel.text import join

type Log = Duels | Rankings

__all__ = [
    "TABLES",
    "Log",
    "ModelCells",
    "Seen",
    "check_covariates",
    "data_of_rows",
    "levels_of",
    "margins_of",
    "seat_columns",
    "seats",
    "seats_of_both",
    "seen_in",
    "votes_of",
]

# Data that are not by cell, and their dimensions.
TABLES: dict[str, tuple[str, ...] | None] = {"unit": None, "table": ("arm", "attribute")}
# Dimensions of the data of a model, where they are not ("cell",).
DIMS: dict[str, tuple[str, ...] | None] = {
    "counts": ("cell", "result"),
    "margins": ("cell", "statistic"),
    "covariate_values": ("cell", "covariate"),
    **TABLES,
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Seen:
    """Who met whom and how it ended, in the cells that a model distinguishes."""

    # ``first`` and ``second`` (indices of arms, or of the log's teams) and what was asked for, each
    # (cells, ...). Where the order counts, first is left, and ``left_first`` is
    # 1 in every cell.
    columns: Arrays
    counts: np.ndarray  # first wins, second wins and ties, shape (cells, 3)
    # the cell of each vote, shape (votes,); None where only tallies were needed
    of_vote: np.ndarray | None = None
    # what each vote adds to the counts of its cell, (votes, 3); None as `of_vote`
    added: np.ndarray | None = None
    each: bool = False  # whether every vote is a cell of its own, first being left

    def __len__(self) -> int:
        return len(self.counts)

    def kinds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the cell and the outcome of each kind of vote, and the kind of each vote.

        Votes are of one kind whose cell and outcome are the same.
        """
        assert self.added is not None
        cell, outcome = np.nonzero(self.counts)
        kind = np.full(self.counts.shape, -1)
        kind[cell, outcome] = np.arange(len(cell))
        outcome_of_vote = self.added.argmax(axis=1)
        return cell, outcome, kind[self.of_vote, outcome_of_vote]


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelCells:
    """A log as one model's likelihood sees it; ``Model.cells`` makes it."""

    log: Any  # the log itself
    seen: Seen | None  # its cells and their counts; None for a log that is not of duels
    # what the model registers as ``pm.Data``, by name: first axis cells, but for tables of the arms
    # and single numbers
    data: Arrays
    coords: Named = field(default_factory=dict)  # coordinates of the model's dimensions
    # the vote of each cell where a vote is of several (a ranking), (cells,); else None
    vote: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.data["n"])

    def take(self, rows: np.ndarray | slice) -> "ModelCells":
        """Return the cells at `rows` (indices or a slice)."""
        vote = self.vote
        if vote is not None:
            vote = vote[rows]
        return replace(self, data=data_of_rows(self.data, rows), vote=vote)

    def register(self) -> dict[str, Any]:
        """Register `data` as ``pm.Data`` of the model in context; return it by name."""
        import pymc as pm

        found = {}
        for name, values in self.data.items():
            dims = DIMS.get(name, ("cell",))
            found[name] = pm.Data(name, values, dims=dims)
        return found


def data_of_rows(data: Arrays, rows: np.ndarray | slice) -> dict[str, np.ndarray]:
    """Return the data of some cells; tables of the arms and single numbers stay whole."""
    found = {}
    for name, values in data.items():
        found[name] = values if name in TABLES else values[rows]
    return found


def seen_in(
    duels: Duels,
    columns: Arrays | None = None,
    *,
    ordered: bool = False,
    each: bool = False,
    by_vote: bool = False,
) -> Seen:
    """Return the cells of `duels`: pairs, split by the values of `columns`.

    columns: numbers by name, one or a row per vote: votes that differ in one are in other cells.
        Real numbers are left minus right: their sign follows the orientation of the cell.
    ordered: whether (left, right) and (right, left) are different cells.
    each: whether every vote is a cell of its own, first being left.
    by_vote: whether the cell of each vote is needed though no column is asked for.
    """
    given = dict(columns or {})
    if duels.plain and not (given or each or by_vote):
        pairs = Pairs(*duels.cells) if ordered else duels.as_sides().pairs()
        counts = np.stack([pairs.first_wins, pairs.second_wins, pairs.ties], axis=-1)
        found = {"first": pairs.first, "second": pairs.second}
        return Seen(columns=_with_order(found, ordered), counts=counts.astype(float))
    columns = {}
    differences: dict[str, np.ndarray] = {}
    for name, column in given.items():
        if np.issubdtype(column.dtype, np.floating):
            differences[name] = column
        else:
            columns[name] = column
    votes = duels.rows
    first = votes.left
    second = votes.right
    added = votes.counts
    if each:
        own = {"first": first, "second": second} | columns | differences
        return Seen(
            columns=_with_order(own, ordered),
            counts=added,
            of_vote=np.arange(len(first)),
            added=added,
            each=True,
        )
    if not ordered:
        swap = first > second
        first, second = unordered(votes.left, votes.right)
        turned = added[:, [1, 0, 2]]
        added = np.where(swap[:, None], turned, added)
        sign = np.where(swap, -1.0, 1.0)
        for name, difference in differences.items():
            signed = (sign * difference.T).T
            differences[name] = signed + 0.0
    codes = []
    for difference in differences.values():
        rows = difference.reshape(len(difference), -1)
        _, code = np.unique(rows, axis=0, return_inverse=True)  # equal rows have one code
        codes.append(code.ravel())
    row, place = distinct(first, second, *columns.values(), *codes)
    found = {"first": first[row], "second": second[row]}
    for name, column in (columns | differences).items():
        found[name] = column[row]
    counts = np.empty((len(row), added.shape[1]))
    for outcome, of_vote in enumerate(added.T):
        counts[:, outcome] = np.bincount(place, of_vote, minlength=len(row))
    return Seen(columns=_with_order(found, ordered), counts=counts, of_vote=place, added=added)


def seat_columns(
    teams: Teams | None, first: np.ndarray, second: np.ndarray, *, mean: bool = False
) -> dict[str, np.ndarray]:
    """Return who is in each seat of the sides of cells, and how much this member counts.

    Columns ``first_0`` (an arm) and ``first_share_0`` (a number), ``first_1``, ..., and those of
    second; a seat that is not taken counts 0. None where sides are single arms.

    mean: whether a member counts 1 over the size of the side, else 1.
    """
    if teams is None:
        return {}
    arms = np.maximum(teams.members, 0)
    shares = teams.shares(mean=mean)
    found = {}
    for name, side in (("first", first), ("second", second)):
        for seat in range(teams.members.shape[1]):
            found[f"{name}_{seat}"] = arms[side, seat]
            found[f"{name}_share_{seat}"] = shares[side, seat]
    return found


def seats(cells: Named, side: str) -> list[tuple[Any, Any]]:
    """Return the members of a side of cells, "first" or "second": an arm, and what it counts.

    Of a side that is one arm this arm, which counts 1. For arrays and for tensors.

    Examples
    --------
    >>> from bayesduel.models.cells import seats
    >>> seats({"first": np.array([2, 0])}, "first")
    [(array([2, 0]), 1.0)]
    """
    if f"{side}_0" not in cells:
        return [(cells[side], 1.0)]
    found: list[tuple[Any, Any]] = []
    while (name := f"{side}_{len(found)}") in cells:
        share = cells[f"{side}_share_{len(found)}"]
        found.append((cells[name], share))
    return found


def seats_of_both(cells: Named) -> list[tuple[Any, Any]]:
    """Return the members of both sides of cells: an arm and what it counts, negative in second."""
    found = seats(cells, "first")
    for arm, share in seats(cells, "second"):
        found.append((arm, -share))
    return found


def margins_of(duels: Duels, seen: Seen) -> dict[str, np.ndarray]:
    """Return the sufficient statistics of the margins in each cell; raise as `votes_of`.

    ``n`` margins, ``n_left`` of them with first at the left; ``margins`` (cell, statistic):
    their mean where first was left, their mean where it was right (0 where there is none), and
    the sum of squares of margins about the mean of their side; of a cell that is one vote the
    margin itself, 0 and 0. Weights count.
    """
    votes = votes_of(duels)
    margin = np.asarray(votes.margin)
    weight = votes.counts.sum(axis=1)
    if seen.each:
        statistics = np.stack([margin, 0 * margin, 0 * margin], axis=1)
        return {"n": weight, "n_left": weight, "margins": statistics}
    assert seen.of_vote is not None
    place = seen.of_vote
    n_cells = len(seen)
    first = np.asarray(seen.columns["first"])
    swapped = votes.left != first[place]
    own = np.where(swapped, -margin, margin)
    side = 2 * place + swapped
    counts = np.bincount(side, weight, minlength=2 * n_cells)
    weighted = weight * own
    total = np.bincount(side, weighted, minlength=2 * n_cells)
    means = total / np.maximum(counts, 1.0)
    squares = weight * (own - means[side]) ** 2
    scatter = np.bincount(place, squares, minlength=n_cells)
    n_left, n_right = counts.reshape(-1, 2).T
    mean_left, mean_right = means.reshape(-1, 2).T
    return {
        "n": n_left + n_right,
        "n_left": n_left,
        "margins": np.column_stack([mean_left, mean_right, scatter]),
    }


def votes_of(duels: Duels) -> Any:
    """Return the votes of a log of margins.

    Raises ValueError if the log has no margins, or left out those of ties.
    """
    votes = duels.votes
    if votes is None or votes.margin is None:
        raise ValueError(
            "this model needs margins, but the log has only outcomes: read the column of margins "
            "with read_duels(..., margin=...) or --margin"
        )
    missing = np.flatnonzero(~np.isfinite(votes.margin))
    if len(missing):
        row = int(missing[0])
        raise ValueError(f"margin should be finite, got {votes.margin[row]} at vote {row}")
    if duels.read_summary.n_ties_dropped:
        raise ValueError(
            f"this model needs the ties, but {duels.read_summary.n_ties_dropped} ties (margins of "
            "0) were left out of the log: read the log with ties='keep'"
        )
    return votes


def levels_of(duels: Duels, by: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the level of each vote in a column, -1 where it has none, and the levels' labels.

    `by` is "judge", "group", "category", or a column that was kept.

    Raises ValueError if the log has no such column, or fewer than two levels of it.
    """
    votes = duels.votes
    found = None if votes is None else votes.level(by)
    if found is None:
        how = "" if by in ROLES else f": read it with read_duels(..., keep=[{by!r}]) or --keep {by}"
        for role, column in duels.read_summary.columns.items():
            if column == by and role in ROLES:
                how = f", because that column is its {role}: say {role!r} in place of {by!r}"
                break
        raise ValueError(f"duels should have the {by} of each vote, got a log without {by}{how}")
    _, levels = found
    if len(levels) < 2:
        raise ValueError(f"duels should have at least two levels of {by}, got {list(levels)}")
    return found


def check_covariates(log: Any, names: Iterable[str]) -> None:
    """Raise ValueError unless the votes of a log have these columns: numbers, or texts kept."""
    votes = log.votes
    covariates = () if votes is None else votes.covariate_names
    known = {*covariates, *ROLES, "time"}  # a term that reads a role asks for it by itself
    if votes is not None:
        known |= {*votes.kept, *votes.columns}
    missing = [name for name in names if name not in known]
    if missing:
        has = f"it has {join(covariates, 8, quote=True)}" if covariates else "it has no covariates"
        raise ValueError(
            f"the log should have the covariates {join(missing, 8, quote=True)}, but {has}: "
            "read them with read_duels(..., covariates=[...]) or --covariates"
        )


def _with_order(columns: dict[str, np.ndarray], ordered: bool) -> dict[str, np.ndarray]:
    if not ordered:
        return columns
    return columns | {"left_first": np.ones(len(columns["first"]))}
