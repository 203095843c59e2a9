"""Rankings: a log whose rows order three or more arms, or name the best, or the best and worst.

A ranking is a sequence of groups, best first. Groups of one arm are places; the last group may hold
several arms, which are below the others in no order (a partial ranking, the best of n). A group of
several arms before a last one is what is left where the best and the worst are named.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesduel.data.categories import joined_ballots, summed
from bayesduel.data.duels import Duels
from bayesduel.data.reading import Reading
from bayesduel.data.votes import Ballots, ReadSummary, coded_columns, is_whole
from bayesduel.system.arguments import check_log, column_of, labels_of, listed, shown_value
from bayesduel.text import count

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Choices", "Rankings", "order_fault"]


class Choices(NamedTuple):
    """Rankings as choices, one row for each pair of the chosen arm and another alternative."""

    first: np.ndarray  # the better and the worse arm, indices, shape (rows,)
    second: np.ndarray
    stage: np.ndarray  # the choice that the row belongs to, increasing, shape (rows,)
    ranking: np.ndarray  # the ranking of each row, shape (rows,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Rankings:
    """A log of rankings of K labelled arms.

    Build one with :func:`bayesduel.read_rankings` or :meth:`from_orders`.

    Attributes
    ----------
    arms
        Labels, sorted; the index of an arm is its position here.
    ranking
        The ranking of each entry, from 0, increasing, shape (entries,).
    arm
        Its arm, index, shape (entries,).
    place
        Its group, 1 is the best, increasing within a ranking, shape (entries,).
    votes
        What else is known of each ranking: its ``weight``, ``judge``, ``group`` and ``kept``
        columns, as those of the votes of :class:`bayesduel.Duels`.
    read_summary
        Counts made while the log was read.

    Examples
    --------
    >>> bd.Rankings.from_orders([["a", "b", "c"], ["b", "a", "c"]]).arms
    ('a', 'b', 'c')
    """

    arms: tuple[str, ...]
    ranking: np.ndarray
    arm: np.ndarray
    place: np.ndarray
    votes: Ballots
    read_summary: ReadSummary = field(default_factory=ReadSummary)

    @classmethod
    def from_orders(
        cls,
        orders: Iterable[Iterable[Any]],
        *,
        weight: Iterable[float] | None = None,
        judge: Iterable[Any] | None = None,
        group: Iterable[Any] | None = None,
        keep: Mapping[str, Iterable[Any]] | None = None,
        read_summary: ReadSummary | None = None,
    ) -> "Rankings":
        """Build a log from one order of arms per ranking, best first.

        Rankings of one judge, or in one group, are not independent. A fit then has standard errors
        that are cluster-robust by judge and group, as a fit of duels has.

        Parameters
        ----------
        orders
            Labels, or lists of labels that share a place: ``["a", "b", "c"]`` is a ranking of
            three, ``["a", ["b", "c", "d"]]`` names the best of four, ``["a", ["b", "c"], "d"]``
            the best and the worst.
        weight
            Numbers of identical rankings, whole. Default: 1 each.
        judge, group
            Labels of who ranked, and of the unit within which rankings are not independent, one
            for each ranking; None where missing.
        keep
            Further labels by name (a country, a session), for :meth:`split`.
        read_summary
            Counts made while the rankings were read.

        Raises
        ------
        ValueError
            If a ranking orders no two arms, has an arm twice or a tie within its places, or a
            weight is not a whole number, or columns differ in length.
        """
        groups = [_groups(order, k) for k, order in enumerate(listed(orders, "orders"))]
        if not groups:
            raise ValueError("orders should hold at least one ranking, got none")
        arms = tuple(sorted({arm for own in groups for group in own for arm in group}))
        index = {arm: k for k, arm in enumerate(arms)}
        entries = [
            (k, index[arm], place)
            for k, own in enumerate(groups)
            for place, group in enumerate(own, 1)
            for arm in group
        ]
        ranking, arm, place = np.array(entries, dtype=np.int64).T
        n = len(groups)
        weights = np.ones(n) if weight is None else column_of(weight, "weight")
        allowed = is_whole(weights) & (weights > 0)
        if len(weights) != n or not allowed.all():
            raise ValueError(
                f"weight should be a whole number > 0 for each of {n} rankings, "
                f"got {shown_value(weights)}"
            )
        coded = coded_columns(n, "orders", keep, judge=judge, group=group)
        if read_summary is None:
            read_summary = ReadSummary(n_rows=n)
        return cls(
            arms=arms,
            ranking=ranking,
            arm=arm,
            place=place,
            votes=Ballots(weight=weights.astype(np.int64), **coded),
            read_summary=read_summary,
        )

    @property
    def reading(self) -> Reading:
        """How the log was read: the role of each column, and what was left out."""
        summary = self.read_summary
        if summary.understood is not None:
            return summary.understood
        known = {"ranking": count(self.n_rankings, "ranking"), "rank": "1 is best"}
        for role, levels in (("judge", self.votes.judges), ("group", self.votes.groups)):
            known[role] = count(len(levels), role)
            without = self.votes.n_without(role)
            if without:
                known[role] += f"; {without:,} without a {role}"
        unit = "arm of a ranking" if "rank" in summary.columns else "ranking"
        return Reading.of_summary(summary, f"one {unit} per row", self.n_arms, known)

    @property
    def n_arms(self) -> int:
        """Number of arms, K."""
        return len(self.arms)

    @property
    def weight(self) -> np.ndarray:
        """Number of identical rankings that each stands for, whole, shape (rankings,)."""
        return self.votes.weight

    @property
    def n_rankings(self) -> int:
        """Number of rankings, with weights."""
        return int(self.weight.sum())

    def __len__(self) -> int:
        return self.n_rankings

    def __repr__(self) -> str:
        counts = f"{self.n_rankings:,} rankings, {self.n_arms:,} arms"
        return f"<Rankings: {counts}; from {self.read_summary.source}>"

    @cached_property
    def choices(self) -> Choices:
        """The choices that the rankings are made of: of the best of what is left, or the worst."""
        rows: list[np.ndarray] = []
        stage = 0
        for k, here in enumerate(self.slices):
            arm = self.arm[here]
            place = self.place[here]
            sizes = np.bincount(place)[1:]
            chosen = 0  # arms that are placed
            while chosen < len(arm) - 1 and sizes[place[chosen] - 1] == 1:
                rows.append(_rows(arm[chosen], arm[chosen + 1 :], stage, k))
                stage = stage + 1
                chosen = chosen + 1
            if chosen < len(arm) - 1 and place[chosen] != place[-1]:
                rows.append(_rows(arm[chosen:-1], arm[-1], stage, k))
                stage += 1
        return Choices(*np.concatenate(rows, axis=1))

    @cached_property
    def duels(self) -> Duels:
        """The pairs of which a ranking says who is better, as duels grouped by their ranking.

        For counts: duels of one ranking are not independent, so that no model of duels is a model
        of rankings. They keep the judges.
        """
        first, second, _, ranking = self.choices
        names = np.array(self.arms, dtype=object)
        level = self.votes.level("judge")
        judge = None
        if level is not None:
            code, judges = level
            by_code = np.array([*judges, None], dtype=object)
            judge = by_code[code[ranking]]
        left = np.minimum(first, second)
        right = np.maximum(first, second)
        found = Duels.from_votes(
            names[left],
            names[right],
            first < second,
            weight=self.weight[ranking],
            judge=judge,
            group=[str(k) for k in ranking],
            arms=self.arms,
            read_summary=self.read_summary,
        )
        return replace(found, ordered=False)

    def with_votes(self, rows: np.ndarray, weight: np.ndarray | None = None) -> "Rankings":
        """Return the rankings at `rows` (a mask or indices, which may repeat).

        Parameters
        ----------
        rows
            Which, as NumPy takes them.
        weight
            Their weights. Default: those that they have.
        """
        rows = np.arange(len(self.votes))[rows]
        size = np.bincount(self.ranking, minlength=len(self.votes))
        start = np.cumsum(size) - size
        own = size[rows]
        own_start = np.cumsum(own) - own
        within = np.arange(own.sum()) - np.repeat(own_start, own)
        entry = np.repeat(start[rows], own) + within
        votes = self.votes.take(rows)
        if weight is not None:
            votes = replace(votes, weight=weight)
        return replace(
            self,
            ranking=np.repeat(np.arange(len(rows)), own),
            arm=self.arm[entry],
            place=self.place[entry],
            votes=votes,
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return the rankings as :func:`bayesduel.read_rankings` reads them, a row for each arm.

        The columns are ``ranking``, ``arm`` and ``rank``, ``judge`` and ``group`` where there are
        any, and those that were kept. Identical rankings are as many rankings.

        Examples
        --------
        >>> bd.Rankings.from_orders(["ab", "ba"]).to_frame()["arm"].tolist()
        ['a', 'b', 'b', 'a']
        """
        import pandas as pd

        rankings = np.repeat(np.arange(len(self.votes)), self.weight)
        each = self.with_votes(rankings)
        arms = np.array(self.arms, dtype=object)
        columns: dict[str, Any] = {
            "ranking": each.ranking + 1,
            "arm": arms[each.arm],
            "rank": each.place,
        }
        for name in ("judge", "group", *each.votes.kept):
            level = each.votes.level(name)
            if level is not None:
                code, labels = level
                by_code = np.array([*labels, None], dtype=object)
                columns[name] = by_code[code[each.ranking]]
        return pd.DataFrame(columns)

    def join(self, other: "Rankings") -> "Rankings":
        """Return the log of the rankings of both, with the arms of either.

        Raises
        ------
        ValueError
            If only one has a judge or a group, or they have kept different columns.

        Examples
        --------
        >>> monday = bd.Rankings.from_orders(["abc", "bac"])
        >>> monday.join(bd.Rankings.from_orders(["acd"])).n_rankings
        3
        """
        check_log(other, Rankings, "other")
        arms = tuple(sorted({*self.arms, *other.arms}))
        index = {arm: k for k, arm in enumerate(arms)}
        own_index = np.array([index[arm] for arm in self.arms])
        other_index = np.array([index[arm] for arm in other.arms])
        own_arm = own_index[self.arm]
        other_arm = other_index[other.arm]
        other_ranking = other.ranking + len(self.votes)
        return replace(
            self,
            arms=arms,
            ranking=np.concatenate([self.ranking, other_ranking]),
            arm=np.concatenate([own_arm, other_arm]),
            place=np.concatenate([self.place, other.place]),
            votes=joined_ballots(self.votes, other.votes),
            read_summary=replace(self.read_summary, **summed([self, other])),
        )

    def split(self, by: str) -> dict[str, "Rankings"]:
        """Return the rankings of each level of a column, by its label.

        Each has the arms of the whole log.

        Parameters
        ----------
        by
            "judge", "group", or a column that was kept.

        Raises
        ------
        ValueError
            If the log has no such column.

        Examples
        --------
        >>> log = bd.Rankings.from_orders(["abc", "bac", "acb"], keep={"country": ["x", "y", "x"]})
        >>> {label: part.n_rankings for label, part in log.split("country").items()}
        {'x': 2, 'y': 1}
        """
        found = self.votes.level(by)
        if found is None:
            there = [name for name in ("judge", "group") if self.votes.level(name)]
            there += self.votes.kept
            raise ValueError(f"by should be one of {there}, got {shown_value(by)}")
        code, levels = found
        return {label: self.with_votes(code == k) for k, label in enumerate(levels)}

    @property
    def slices(self) -> list[slice]:
        """The entries of each ranking."""
        last = np.flatnonzero(np.diff(self.ranking, append=-1))
        ends = last + 1
        starts = [0, *ends[:-1]]
        return [slice(start, end) for start, end in zip(starts, ends, strict=True)]


def order_fault(order: Sequence[Sequence[str]]) -> str:
    """Return what is wrong with the groups of a ranking, best first; "" where nothing is."""
    arms = [arm for group in order for arm in group]
    if len(set(arms)) < len(arms):
        twice = next(arm for arm in arms if arms.count(arm) > 1)
        return f"a ranking should have an arm once, got {twice!r} twice"
    if len(order) < 2:
        return f"a ranking should order two arms or more, got {arms}"
    tied = [k for k, group in enumerate(order) if len(group) > 1]
    one_last = len(order[-1]) == 1
    allowed = len(order) - 2 if one_last else len(order) - 1
    if tied in ([], [allowed]):
        return ""
    first_tied = " = ".join(order[tied[0]])
    return (
        "a ranking should have one arm per place, because the Plackett-Luce model has no ties, got "
        f"{first_tied} above others. Arms may share the last place, or the place "
        "above it if only one arm is last. Order these arms, or leave this ranking out"
    )


def _groups(order: str | Sequence[str | Sequence[str]], row: int) -> list[list[str]]:
    """Return the groups of a ranking as lists of labels; `row` is its place in the log."""
    given: Sequence[Any] = listed(order, f"orders[{row}]")
    found = []
    for group in given:
        several = isinstance(group, list | tuple)
        labels = labels_of(group if several else [group], f"orders[{row}]")
        found.append([label for label in labels if label is not None])
    found = [group for group in found if group]
    fault = order_fault(found)
    if fault:
        raise ValueError(f"orders, row {row}: {fault}")
    return found


def _rows(first: np.ndarray, second: np.ndarray, stage: int, ranking: int) -> np.ndarray:
    """Return the rows of one choice, (4, alternatives)."""
    return np.stack(np.broadcast_arrays(first, second, stage, ranking))
