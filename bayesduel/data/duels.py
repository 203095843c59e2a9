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
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from bayesduel.data.build import parts_of_votes, parts_of_wins
from bayesduel.data.subset import LogParts, of_arms, of_units
from bayesduel.data.votes import Cells, Pairs, ReadSummary, Tally, TieRule, Votes
from bayesduel.system.arguments import check_log, check_one_of, shown_value
from bayesduel.system.memory import TABLE_ARMS, check_square

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Duels"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Duels:
    """A log of duels between K labelled arms.

    Build one with :func:`bayesduel.read_duels`, :meth:`from_votes` or :meth:`from_wins`.

    Attributes
    ----------
    arms
        Labels, sorted; the index of an arm is its position here.
    cells
        Counts by ordered pair (left, right).
    tie_rule
        "keep": ties are an outcome; "half": each is half a win for both; "drop": left out.
    votes
        Votes, if the log has judges, groups, times or margins; else None.
    read_summary
        Counts made while the log was read.
    ordered
        Whether left and right say how a pair was presented (at home, shown first). False: they
        carry no meaning, as in a matrix of wins, and an order effect is not considered.
    """

    arms: tuple[str, ...]
    cells: Cells
    tie_rule: TieRule = "keep"
    votes: Votes | None = None
    read_summary: ReadSummary = field(default_factory=ReadSummary)
    ordered: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.arms, tuple) or not all(isinstance(a, str) for a in self.arms):
            raise TypeError(f"arms should be a tuple of labels, got {shown_value(self.arms)}")
        if not isinstance(self.cells, Cells):
            raise TypeError(
                f"cells should be bayesduel.data.duels.Cells, got {shown_value(self.cells)}"
            )
        if len(self.arms) < 2:
            raise ValueError(f"a log should contain at least two arms, got {list(self.arms)}")
        if len(set(self.arms)) != len(self.arms):
            repeated = sorted({a for a in self.arms if self.arms.count(a) > 1})
            raise ValueError(f"arms should have distinct labels, got repeated {repeated}")
        if not isinstance(self.tie_rule, str) or self.tie_rule not in ("keep", "half", "drop"):
            raise ValueError(
                f"tie_rule should be 'keep', 'half' or 'drop', got {shown_value(self.tie_rule)}"
            )
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
        judge: Iterable[Any] | None = None,
        group: Iterable[Any] | None = None,
        time: np.ndarray | None = None,
        covariates: Mapping[str, Iterable[float]] | None = None,
        category: Iterable[Any] | None = None,
        keep: Mapping[str, Iterable[Any]] | None = None,
        arms: Sequence[str] | None = None,
        tie_rule: TieRule = "keep",
        read_summary: ReadSummary | None = None,
    ) -> "Duels":
        """Build a log from one entry per vote.

        Parameters
        ----------
        left, right
            Labels of the two arms, length n.
        outcome
            1 if left won, 0 if right won, 0.5 for a tie, length n.
        weight
            Numbers of identical duels, whole, length n. Default: 1 each.
        margin
            Left's score minus right's, length n.
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
        arms
            Labels of the log, including those that do not occur. Default: those that occur.
        tie_rule
            How ties count, as in the class.
        read_summary
            Counts made while the votes were read. Default: those of this call.

        Raises
        ------
        ValueError
            If lengths differ, a label is missing, an outcome is not 0, 0.5 or 1, a weight is
            not a whole number, a margin is not finite, an arm is not in `arms`, or fewer
            than two arms occur.
        """
        return cls(
            **parts_of_votes(
                left,
                right,
                outcome,
                weight=weight,
                margin=margin,
                judge=judge,
                group=group,
                time=time,
                covariates=covariates,
                category=category,
                keep=keep,
                arms=arms,
                tie_rule=tie_rule,
                read_summary=read_summary,
            )
        )

    @classmethod
    def from_wins(
        cls,
        wins: Any,
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
        return cls(**parts_of_wins(wins, arms, ties=ties, tie_rule=tie_rule))

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
        from bayesduel.data.categories import parts_of_categories

        if not isinstance(logs, Mapping):
            raise TypeError(f"logs should be a dict of logs, got {shown_value(logs)}")
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
        from bayesduel.data.join import parts_of_two

        check_log(other, Duels, "other")
        return type(self)(**parts_of_two(self, other))

    @property
    def n_arms(self) -> int:
        """Number of arms, K."""
        return len(self.arms)

    @property
    def n_duels(self) -> int:
        """Number of duels, with weights and without self-duels."""
        return int(self.cells.left_wins.sum() + self.cells.right_wins.sum() + self.n_ties)

    @property
    def n_ties(self) -> int:
        """Number of ties that count (0 under ``tie_rule="drop"``)."""
        return int(self.cells.ties.sum())

    def tally(self, ties: TieRule | None = None) -> Tally:
        """Return dense counts, ``wins[i, j]`` = times i beat j.

        Parameters
        ----------
        ties
            "keep" leaves ties in their own matrix, "half" adds half a win each way,
            "drop" leaves them out. Default: the log's own `tie_rule`.
        """
        if self.n_arms > TABLE_ARMS:
            what, instead = (
                "a log that is tallied in matrices",
                "analyse a part: Duels.subset(arms)",
            )
            check_square(self.n_arms, 4, what, instead)
        if ties is not None:
            check_one_of(ties, "ties", get_args(TieRule))
        rule = ties or self.tie_rule
        wins = np.zeros((self.n_arms, self.n_arms))
        tied = np.zeros_like(wins)
        cells = self.cells
        np.add.at(wins, (cells.left, cells.right), cells.left_wins)
        np.add.at(wins, (cells.right, cells.left), cells.right_wins)
        np.add.at(tied, (cells.left, cells.right), cells.ties)
        tied = tied + tied.T
        if rule == "half":
            return Tally(wins + tied / 2, np.zeros_like(tied))
        return Tally(wins, tied if rule == "keep" else np.zeros_like(tied))

    def pairs(self) -> Pairs:
        """Return counts by unordered pair that met, sorted by (first, second)."""
        cells = self.cells
        first = np.minimum(cells.left, cells.right)
        second = np.maximum(cells.left, cells.right)
        swapped = cells.left > cells.right
        key, place = np.unique(first.astype(np.int64) * self.n_arms + second, return_inverse=True)
        forward = np.where(swapped, cells.right_wins, cells.left_wins)
        backward = np.where(swapped, cells.left_wins, cells.right_wins)
        counts = (
            np.bincount(place, c, minlength=len(key)).astype(np.int64)
            for c in (forward, backward, cells.ties)
        )
        return Pairs(
            (key // self.n_arms).astype(np.int32), (key % self.n_arms).astype(np.int32), *counts
        )

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
        parts = LogParts(self.arms, self.cells, self.votes)
        if judges is not None or groups is not None:
            parts = of_units(parts, judges, groups)
        if arms is not None:
            parts = of_arms(parts, arms)
        return replace(self, **parts._asdict())

    def summary(self) -> "pd.DataFrame":
        """Return one row per arm, in order of win rate.

        Columns: duels, wins, losses, ties, opponents (number of arms met) and win_rate
        (half a win for a tie).
        """
        import pandas as pd

        pairs, n_arms = self.pairs(), self.n_arms

        def by_arm(first: np.ndarray, second: np.ndarray) -> np.ndarray:
            return np.bincount(pairs.first, first, n_arms) + np.bincount(
                pairs.second, second, n_arms
            )

        won = by_arm(pairs.first_wins, pairs.second_wins)
        lost = by_arm(pairs.second_wins, pairs.first_wins)
        tied = by_arm(pairs.ties, pairs.ties)
        met = (pairs.first_wins + pairs.second_wins + pairs.ties > 0).astype(float)
        opponents = by_arm(met, met).astype(int)
        total = won + lost + tied
        with np.errstate(invalid="ignore"):
            rate = (won + tied / 2) / total
        frame = pd.DataFrame(
            {
                "duels": total.astype(int),
                "wins": won.astype(int),
                "losses": lost.astype(int),
                "ties": tied.astype(int),
                "opponents": opponents,
                "win_rate": rate,
            },
            index=pd.Index(self.arms, name="arm"),
        )
        return frame.sort_values(["win_rate", "duels"], ascending=False, kind="stable")

    def __len__(self) -> int:
        return self.n_duels

    def __repr__(self) -> str:
        parts = [f"{self.n_duels:,} duels", f"{self.n_arms:,} arms"]
        if self.n_ties:
            parts.append(
                f"{self.n_ties:,} ties" + (" (half a win each)" * (self.tie_rule == "half"))
            )
        if self.votes is not None:
            if self.votes.judge is not None:
                parts.append(f"{len(self.votes.judges):,} judges")
            if self.votes.group is not None:
                parts.append(f"{len(self.votes.groups):,} groups")
            if self.votes.category is not None:
                parts.append(f"{len(self.votes.categories):,} categories")
            parts += [n for n in ("margin", "time") if getattr(self.votes, n) is not None]
            parts += self.votes.covariate_names
            parts += [f"{len(levels):,} of {by}" for by, (_, levels) in self.votes.kept.items()]
        return f"<Duels: {', '.join(parts)}; from {self.read_summary.source}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(repr(self)[1:-1])}</p>{self.summary().to_html(max_rows=20)}"
