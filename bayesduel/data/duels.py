"""Duels: a log of pairwise comparisons, as labels, counts and, where needed, votes.

One orientation everywhere: ``wins[i, j]`` is the number of times arm i beat arm j.
A log has three levels, each derived from the one before:

- ``votes``, one row per vote, only if the log has judges, groups, times or margins;
- ``cells``, one row per *ordered* pair that met, which keeps the order of presentation (home
  side, first shown);
- ``tally()``, dense ``(K, K)`` matrices, and ``pairs()``, one row per *unordered* pair.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np

from bayesduel.data.categories import parts_of_categories, parts_of_logs
from bayesduel.data.duels_summary import table_of, words_of
from bayesduel.data.read.reading_options import TieRule
from bayesduel.data.reading import Reading
from bayesduel.data.shards import counted
from bayesduel.data.subset import LogParts, of_arms, of_units
from bayesduel.data.teams import Teams
from bayesduel.data.vote_columns import (
    arms_of,
    check_agree,
    entries,
    known_labels,
    named_sides,
    times_of,
)
from bayesduel.data.votes import (
    Cells,
    Pairs,
    ReadSummary,
    Tally,
    Votes,
    by_arm,
    cells_of,
    coded_columns,
    distinct,
    duels_among,
    is_whole,
    unordered,
)
from bayesduel.system.arguments import (
    check_flag,
    check_labels,
    check_log,
    check_one_of,
    check_type,
    numbers,
    shown_value,
    whole,
)
from bayesduel.system.memory import TABLE_ARMS, check_square

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from bayesduel.data.read.in_memory import Readable

__all__ = ["Duels"]

STANDS = "sampling_weight"
COUNTED = ("left", "right", "outcome", "weight")  # columns of votes that counts hold as well


@dataclass(frozen=True, eq=False, kw_only=True)
class Duels:
    """A log of duels between K labelled arms.

    Build one with :func:`bayesduel.read_duels`, :meth:`from_votes`, :meth:`from_scores` or
    :meth:`from_wins`.

    Attributes
    ----------
    arms
        Labels, sorted; the index of an arm is its position here.
    cells
        Counts by ordered pair (left, right), indices of arms; of a log with teams, of its sides.
    tie_rule
        "keep": ties are an outcome; "half": each is half a win for both; "drop": left out.
    votes
        Votes, if the log has judges, groups, times or margins; else None.
    read_summary
        Counts made while the log was read.
    ordered
        Whether left and right say how a pair was presented (at home, shown first). False: they
        carry no meaning, as in a matrix of wins, and a side advantage is not considered.
    teams
        The members of each side, where sides have several arms (doubles, teams, systems made of
        parts); else None. Votes and cells name sides then, and `arms` are the members.

    Examples
    --------
    >>> duels = bd.Duels.from_wins([[0, 7], [3, 0]], ["tea", "coffee"])
    >>> duels
    <Duels: 10 duels, 2 arms; from memory>
    >>> duels.tally()
    Tally(wins=array([[0., 3.],
           [7., 0.]]), ties=array([[0., 0.],
           [0., 0.]]))
    """

    arms: tuple[str, ...]
    cells: Cells
    tie_rule: TieRule = "keep"
    votes: Votes | None = None
    read_summary: ReadSummary = field(default_factory=ReadSummary)
    ordered: bool = True
    teams: Teams | None = None

    def __post_init__(self) -> None:
        check_labels(self.arms)
        check_type(self.cells, Cells, "cells", "bayesduel.data.duels.Cells")
        if len(self.arms) < 2:
            raise ValueError(f"a log should contain at least two arms, got {list(self.arms)}")
        if len(set(self.arms)) != len(self.arms):
            repeated = sorted({a for a in self.arms if self.arms.count(a) > 1})
            raise ValueError(f"arms should have distinct labels, got repeated {repeated}")
        check_one_of(self.tie_rule, "tie_rule", get_args(TieRule))
        if not self.n_duels > 0:
            raise ValueError("a log should contain at least one duel between two arms, got none")
        for array in self.cells:
            array.setflags(write=False)

    @classmethod
    def from_votes(
        cls,
        left: Iterable[Any],
        right: Iterable[Any],
        outcome: Iterable[float],
        *,
        weight: Iterable[int] | None = None,
        margin: Iterable[float] | None = None,
        grade: Iterable[int] | None = None,
        judge: Iterable[Any] | None = None,
        group: Iterable[Any] | None = None,
        time: np.ndarray | None = None,
        covariates: Mapping[str, Iterable[float]] | None = None,
        category: Iterable[Any] | None = None,
        keep: Mapping[str, Iterable[Any]] | None = None,
        sampling_weight: Iterable[float] | None = None,
        arms: Sequence[str] | None = None,
        tie_rule: TieRule = "keep",
        read_summary: ReadSummary | None = None,
    ) -> "Duels":
        """Build a log from one entry per vote.

        Parameters
        ----------
        left, right
            Labels of the two arms, length n: texts, or numbers as Python writes them, so that 1
            and 1.0 differ (as in :func:`bayesduel.read_duels`). Floats that are all whole are
            whole numbers where the other side is of these: NumPy and pandas make such. A tuple or
            a list of labels is a side of several arms, in any order.
        outcome
            1 if left won, 0 if right won, 0.5 for a tie, length n; of a soft vote the
            probability that left is better, a number between.
        weight
            Numbers of identical duels, whole, length n. Default: 1 each.
        margin
            Left's score minus right's, length n.
        grade
            How much better left is, in ordered grades, whole and of the sign of the outcome (2
            "much better", 1 "better", 0 a tie, -1 "worse"), length n.
        judge, group
            Labels of the judge, and of the group within which votes are not independent.
        time
            datetime64 or float array, length n.
        covariates
            What differs between the sides, left minus right, by name, each of length n.
        category
            Labels of the category of each duel (topic, league, criterion), length n.
        keep
            Further labels by name (a prompt, a league), each of length n, None where missing.
        sampling_weight
            How many of the population a vote stands for, positive, in any unit, length n.
        arms
            Labels of the log, including those that do not occur. Default: those that occur.
        tie_rule
            How ties count, as in the class.
        read_summary
            Counts made while the votes were read. Default: those of this call.

        Raises
        ------
        ValueError
            If lengths differ, a label is missing, an outcome is not from 0 to 1, a weight is
            not a whole number, a sampling weight not positive, a margin not finite, an arm is
            not in `arms`, or fewer than two arms occur. Of sides of several arms: if one is
            empty or names a member twice.

        Examples
        --------
        Doubles: the arms are the players.

        >>> left, right = [("ann", "bo"), ("ann", "cy")], [("cy", "di"), ("di", "bo")]
        >>> duels = bd.Duels.from_votes(left, right, [1, 0])
        >>> duels
        <Duels: 2 duels, 4 arms, sides of 2 arms; from memory>
        >>> duels.sides
        ('ann + bo', 'ann + cy', 'bo + di', 'cy + di')
        """
        # One argument for each column of a log: each is checked here and put into `Votes`, a
        # record, without passing through further functions.
        check_one_of(tie_rule, "tie_rule", get_args(TieRule))
        points = entries(outcome, None, "outcome")
        n = len(points)
        named = named_sides(left, right, n)
        weights = np.ones(n) if weight is None else entries(weight, n, "weight")
        check_type(covariates, Mapping | None, "covariates", "a dict of columns")
        differences = {}
        for name, column in (covariates or {}).items():
            differences[str(name)] = entries(column, n, f"covariates[{name!r}]")
        measures: dict[str, Any] = {
            name: entries(column, n, name)
            for name, column in (("margin", margin), ("grade", grade), (STANDS, sampling_weight))
            if column is not None
        }
        times = None if time is None else times_of(time, n)
        if n == 0:
            raise ValueError("a log should contain at least one duel between two arms, got none")
        if "grade" in measures:
            check_agree(measures["grade"], points)
            measures["grade"] = measures["grade"].astype(np.int8)
        soft = ~np.isin(points, (0.0, 0.5, 1.0))
        labels = arms_of(named.seen, arms)
        teams, left_code, right_code = named.coded(labels)
        votes = Votes(
            left=left_code,
            right=right_code,
            outcome=np.sign(2 * points - 1).astype(np.int8),
            weight=weights.astype(np.int64),
            time=times,
            covariates=np.column_stack(list(differences.values())) if differences else None,
            covariate_names=tuple(differences),
            share=np.where(soft, points, np.nan) if soft.any() else None,
            **measures,
            **coded_columns(n, "outcome", keep, judge=judge, group=group, category=category),
        )
        counted, left_out = duels_among(votes, tie_rule)
        if read_summary is None:
            n_zero = int((votes.weight == 0).sum())
            read_summary = ReadSummary(n_rows=n, n_zero_weight=n_zero, **left_out)
        votes = votes.take(counted)
        return cls(
            arms=labels,
            cells=cells_of(votes, len(labels if teams is None else teams)),
            teams=teams,
            tie_rule=tie_rule,
            votes=votes if votes.kept or len(votes.columns) > len(COUNTED) else None,
            read_summary=read_summary,
        )

    @classmethod
    def from_wins(
        cls,
        wins: "ArrayLike",
        arms: Sequence[str] | None = None,
        *,
        ties: Any = None,
        tie_rule: TieRule = "keep",
    ) -> "Duels":
        """Build a log from a matrix of wins.

        Parameters
        ----------
        wins
            Times i beat j, whole numbers, shape (K, K), diagonal 0.
        arms
            K labels. Default: "0", "1", ...
        ties
            Times i and j tied, whole numbers, symmetric, shape (K, K).
        tie_rule
            How ties count, as in the class.

        Raises
        ------
        ValueError
            If a matrix is not square, negative, fractional, or `ties` is not symmetric.
        """
        check_one_of(tie_rule, "tie_rule", get_args(TieRule))
        wins = numbers(wins, "wins")
        if wins.ndim != 2 or wins.shape[0] != wins.shape[1]:
            raise ValueError(f"wins should be a square matrix, got shape {wins.shape}")
        if len(wins) < 2:
            raise ValueError(f"wins should be of at least two arms, got shape {wins.shape}")
        ties = np.zeros_like(wins) if ties is None else numbers(ties, "ties")
        if ties.shape != wins.shape:
            raise ValueError(f"ties should have shape {wins.shape} like wins, got {ties.shape}")
        for name, matrix in (("wins", wins), ("ties", ties)):
            if not is_whole(matrix).all():
                bad = matrix[~is_whole(matrix)][0]
                raise ValueError(f"{name} should contain whole numbers >= 0, got {bad}")
            if matrix.diagonal().any():
                raise ValueError(f"{name} should have a diagonal of 0, got {matrix.diagonal()}")
        if not (ties == ties.T).all():
            i, j = np.argwhere(ties != ties.T)[0]
            raise ValueError(f"ties should be symmetric, got {ties[i, j]} and {ties[j, i]}")
        n_arms = len(wins)
        labels = [str(i) for i in range(n_arms)] if arms is None else known_labels(arms)
        if len(labels) != n_arms:
            raise ValueError(f"arms should have {n_arms} labels, got {len(labels)}")
        order = np.argsort(np.array(labels, dtype=object), kind="stable")
        wins = wins[np.ix_(order, order)]
        ties = ties[np.ix_(order, order)]
        i, j = np.nonzero(np.triu(wins + wins.T + ties, 1))
        tied = ties[i, j]
        if tie_rule == "drop":
            tied = np.zeros(len(i))
        counts = [wins[i, j], wins[j, i], tied]
        keep = sum(counts) > 0
        cells = Cells(
            i[keep].astype(np.int32),
            j[keep].astype(np.int32),
            *(c[keep].astype(np.int64) for c in counts),
        )
        dropped = int(np.triu(ties).sum()) if tie_rule == "drop" else 0
        return cls(
            arms=tuple(labels[k] for k in order),
            cells=cells,
            tie_rule=tie_rule,
            read_summary=ReadSummary(n_rows=len(i), n_ties_dropped=dropped),
            ordered=False,
        )

    @classmethod
    def from_scores(
        cls,
        path_or_frame: "Readable",
        *,
        item: str | None = None,
        model: str | None = None,
        score: str | None = None,
        margin: bool = False,
        lower_is_better: bool | None = None,
        tie_rule: TieRule = "keep",
    ) -> "Duels":
        """Build a log from scores of several arms (models) on the same items.

        Each pair of arms with a score of an item is a duel, won by the higher score, tied where
        they are equal. The item is the group of its duels, so that cluster-robust errors are by
        item: the duels of an item share its scores.

        Parameters
        ----------
        path_or_frame
            A frame, a dictionary of columns, or files, as :func:`bayesduel.read_duels` takes them:
            a row per score (columns of the item, the model and the score, and of the judge if there
            are several), or a row per item and a column of numbers a model.
        item, model, score
            Names of these columns. Default: by their usual names; without columns of models and
            scores, each column of numbers is a model, and without a column of items each row an
            item.
        margin
            Whether the duels have a margin, the difference of the two scores.
        lower_is_better
            Whether the lower score won (seconds, errors, ranks). Default: the higher one, unless
            each row may be a ranking of the arms, 1 to their number: then it should be said.
        tie_rule
            How ties count, as in the class.

        Raises
        ------
        ValueError
            If there is no such column, a score is no number, a model has two scores of an item,
            fewer than two models are scored on the same item, or each row may be a ranking and
            `lower_is_better` is not given.

        Examples
        --------
        >>> table = {"question": ["q1", "q2", "q3"], "small": [0, 1, 0], "large": [1, 1, 1]}
        >>> bd.Duels.from_scores(table).summary()[["wins", "ties"]].to_dict("index")
        {'large': {'wins': 2, 'ties': 1}, 'small': {'wins': 0, 'ties': 1}}
        """
        from bayesduel.data.read.scores import votes_of_scores

        check_flag(margin, "margin")
        if lower_is_better is not None:
            check_flag(lower_is_better, "lower_is_better")
        for name, column in (("item", item), ("model", model), ("score", score)):
            check_type(column, str | None, name, "the name of a column")
        given = {
            "item": item,
            "model": model,
            "score": score,
            "margin": margin,
            "lower_is_better": lower_is_better,
        }
        log = cls.from_votes(**votes_of_scores(path_or_frame, given), tie_rule=tie_rule)
        return replace(log, ordered=False)

    @classmethod
    def from_categories(cls, logs: "Mapping[str, Duels]") -> "Duels":
        """Join logs of several categories into one whose votes carry their category.

        Parameters
        ----------
        logs
            Logs by the label of their category, as ``read_duels(..., by=COLUMN)`` returns them.

        Raises
        ------
        ValueError
            If there is none, or logs have different columns or tie rules.
        """
        check_type(logs, Mapping, "logs", "a dict of logs")
        for log in logs.values():
            check_log(log, Duels, "logs")
        return cls(**parts_of_categories(logs))

    def join(self, other: "Duels") -> "Duels":
        """Return the log of the duels of both, with the arms of either.

        Raises
        ------
        ValueError
            If the logs have different columns or tie rules.
        """
        check_log(other, Duels, "other")
        parts = parts_of_logs({"first": self, "second": other})
        if self.votes is None and other.votes is None:
            parts["votes"] = None
        return type(self)(**parts)

    def counted(self, shard: str) -> "Duels":
        """Return the log with equal votes as one row, which has their number as its weight.

        What is fitted is the same, cluster-robust errors too: a row is of one judge. The order of
        the votes is lost.

        Parameters
        ----------
        shard
            Name of this part of a larger log, which every row keeps as a column ``shard`` (unless
            it has one), so that :func:`bayesduel.merge` takes the part once.
        """
        return replace(self, votes=counted(self.rows, shard))

    @property
    def n_arms(self) -> int:
        """Number of arms, K."""
        return len(self.arms)

    @property
    def sides(self) -> tuple[str, ...]:
        """Labels of the sides that cells and votes name: the arms, or teams such as "d + e"."""
        return self.arms if self.teams is None else self.teams.labels(self.arms)

    @property
    def n_sides(self) -> int:
        """Number of sides that cells and votes name: the arms, or the teams."""
        return self.n_arms if self.teams is None else len(self.teams)

    def as_sides(self) -> "Duels":
        """Return the log in which each side is an arm of its own, whoever its members are.

        Of a log without teams the same. What is said of pairs that met is said of this log.
        """
        return self if self.teams is None else replace(self, arms=self.sides, teams=None)

    def check_single(self, what: str) -> None:
        """Raise ValueError unless each side is one arm, as `what` needs."""
        if self.teams is not None:
            raise ValueError(
                f"duels should have one arm a side for {what}, got sides of several; take each "
                "side as an arm of its own (Duels.as_sides)"
            )

    def opponents(self) -> Cells:
        """Return counts by ordered pair of arms on opposite sides, indices of arms.

        Of a log without teams its cells. In doubles each duel counts for four pairs.
        """
        return self.cells if self.teams is None else self.teams.opponents(self.cells)

    @property
    def n_duels(self) -> int:
        """Number of duels, with weights and without self-duels."""
        return int(self.cells.left_wins.sum() + self.cells.right_wins.sum() + self.n_ties)

    @property
    def n_ties(self) -> int:
        """Number of ties that count (0 under ``tie_rule="drop"``)."""
        return int(self.cells.ties.sum())

    @property
    def rows(self) -> Votes:
        """The votes; of a log without them its counts, a row per pair and outcome."""
        return Votes.of_cells(self.cells) if self.votes is None else self.votes

    @property
    def reading(self) -> Reading:
        """How the log was read: the role of each column, the meaning of each value."""
        summary = self.read_summary
        if summary.understood is not None:
            return summary.understood
        shape = "one duel per row"
        if "left_wins" in summary.columns:
            shape = "one pair per row, with counts"
        known = {"left_wins": f"{self.n_duels:,} duels"}
        return Reading.of_summary(summary, shape, self.n_arms, known)

    @property
    def plain(self) -> bool:
        """Whether no vote is soft and none has a sampling weight."""
        return self.votes is None or self.votes.plain

    def as_plain(self) -> "Duels":
        """Return the log with each soft vote as one for its side, without sampling weights.

        What is said of the votes themselves (tallies, tests, predictions of a vote) is said of
        this log; models of the scores share out a soft vote and count sampling weights.
        """
        if self.plain:
            return self
        votes = replace(cast(Votes, self.votes), share=None)
        return replace(self, votes=votes).unweighted()

    def with_votes(self, rows: np.ndarray, weight: np.ndarray) -> "Duels":
        """Return the log with these rows of its votes (indices, which may repeat), so weighted.

        Its counts stay: the weights of a row that is repeated add up to its own.
        """
        return replace(self, votes=replace(self.rows.take(rows), weight=weight))

    def unweighted(self) -> "Duels":
        """Return the log without sampling weights."""
        if self.votes is None or self.votes.sampling_weight is None:
            return self
        return replace(self, votes=replace(self.votes, sampling_weight=None))

    def tally(self, ties: TieRule | None = None) -> Tally:
        """Return dense counts, ``wins[i, j]`` = times i beat j.

        Parameters
        ----------
        ties
            "keep" leaves ties in their own matrix, "half" adds half a win each way,
            "drop" leaves them out. Default: the log's own `tie_rule`.

        Notes
        -----
        Of a log with teams, i and j are members on opposite sides: a duel of doubles counts for
        four pairs.
        """
        if self.n_arms > TABLE_ARMS:
            what = "a log that is tallied in matrices"
            instead = "analyse a part: Duels.subset(arms)"
            check_square(self.n_arms, 4, what, instead)
        if ties is not None:
            check_one_of(ties, "ties", get_args(TieRule))
        rule = ties or self.tie_rule
        wins = np.zeros((self.n_arms, self.n_arms))
        tied = np.zeros_like(wins)
        cells = self.opponents()
        np.add.at(wins, (cells.left, cells.right), cells.left_wins)
        np.add.at(wins, (cells.right, cells.left), cells.right_wins)
        np.add.at(tied, (cells.left, cells.right), cells.ties)
        tied = tied + tied.T
        if rule == "half":
            return Tally(wins + tied / 2, np.zeros_like(tied))
        return Tally(wins, tied if rule == "keep" else np.zeros_like(tied))

    def pairs(self) -> Pairs:
        """Return counts by unordered pair that met, sorted by (first, second).

        Of a log with teams, of members on opposite sides: a duel of doubles counts for four pairs.
        """
        cells = self.opponents()
        first, second = unordered(cells.left, cells.right)
        swapped = cells.left > cells.right
        row, place = distinct(first, second)
        forward = np.where(swapped, cells.right_wins, cells.left_wins)
        backward = np.where(swapped, cells.left_wins, cells.right_wins)
        counts = (
            np.bincount(place, c, minlength=len(row)).astype(np.int64)
            for c in (forward, backward, cells.ties)
        )
        arms = [side[row].astype(np.int32) for side in (first, second)]
        return Pairs(*arms, *counts)

    def subset(
        self,
        arms: Iterable[str] | None = None,
        *,
        judges: Iterable[str] | None = None,
        groups: Iterable[str] | None = None,
    ) -> "Duels":
        """Return the duels among `arms`, by `judges`, in `groups` (each optional).

        Raises
        ------
        KeyError
            If a label is not in the log.
        ValueError
            If the log has no judges or groups, or if no duel is left.
        """
        parts = LogParts(self.arms, self.cells, self.votes, self.teams)
        if judges is not None or groups is not None:
            parts = of_units(parts, judges, groups)
        if arms is not None:
            parts = of_arms(parts, arms)
        return replace(self, **parts._asdict())

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per vote; of a log without votes, one per pair and outcome.

        Columns: left, right, outcome ("left", "right" or "tie") and, where the log has them,
        weight, kept columns, covariates (left minus right), judge, group, category, margin and
        time: as :func:`bayesduel.read_duels` reads them. Of a log with teams, left and right are
        tuples of labels, as :meth:`from_votes` takes them.
        """
        return self.rows.to_frame(self._named_in_frames)

    @property
    def _named_in_frames(self) -> Sequence[Any]:
        """What a frame calls the sides: labels of arms, or of teams the tuples of members."""
        return self.arms if self.teams is None else self.teams.tuples(self.arms)

    def head(self, n: int = 5) -> "pd.DataFrame":
        """Return the first `n` rows of :meth:`to_frame`."""
        return self.rows.take(slice(whole(n, "n", 0))).to_frame(self._named_in_frames)

    def __getitem__(self, rows: slice | Sequence[int] | np.ndarray) -> "Duels":
        """Return the log of some rows of :meth:`to_frame`: a slice, a mask or their places.

        Raises
        ------
        TypeError, IndexError
            If `rows` are none of these, or a place is beyond the last row.
        ValueError
            If no duel is left.
        """
        votes = self.rows
        at = rows if isinstance(rows, slice) else np.asarray(rows)
        if not isinstance(at, slice) and (at.ndim != 1 or at.dtype.kind not in "biu"):
            raise TypeError(
                f"rows should be a slice, a mask or places of rows, got {shown_value(rows)}"
            )
        votes = votes.take(np.arange(len(votes))[at])
        taken = None if self.votes is None else votes
        cells = cells_of(votes, self.n_sides)
        parts = of_arms(LogParts(self.arms, cells, taken, self.teams), None)
        return replace(self, **parts._asdict())

    def summary(self) -> "pd.DataFrame":
        """Return one row per arm, in order of their share of wins.

        Columns: duels, wins, losses, ties, opponents (number of arms met) and win_share
        (of its duels; half a win for a tie).
        """
        return table_of(self)

    def results_by_arm(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the duels that each arm won, lost and tied, alone or in a team, (K,) each."""
        cells = self.cells
        each = partial(by_arm, cells.left, cells.right, self.n_arms)
        if self.teams is not None:
            each = partial(self.teams.by_arm, cells, self.n_arms)
        return (
            each(cells.left_wins, cells.right_wins),
            each(cells.right_wins, cells.left_wins),
            each(cells.ties, cells.ties),
        )

    def __len__(self) -> int:
        return self.n_duels

    def __repr__(self) -> str:
        return words_of(self)

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.summary().to_html(max_rows=20)}"
