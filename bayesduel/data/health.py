"""Health of a log: what an analyst should know before any model runs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.data.graph import components, win_graph_is_connected
from bayesduel.data.health_report import DUELS_PER_SCORE, sentences, table
from bayesduel.intervals import wilson
from bayesduel.text import json_ready

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["DisconnectedWarning", "Health", "Repeats", "ThinDataWarning", "health"]


class DisconnectedWarning(UserWarning):
    """The log falls into components that never met: across them only the prior speaks."""


class ThinDataWarning(UserWarning):
    """The log has few duels for its arms: intervals are wide and lean on the prior."""


@dataclass(frozen=True)
class Repeats:
    """Votes that share a unit, such as a judge and a pair, so are not independent.

    Attributes
    ----------
    unit
        "judge and pair" or "group and pair".
    n_votes
        Votes that name the judge or group, weights counted.
    n_units
        Different units among them.
    """

    unit: str
    n_votes: int
    n_units: int

    @property
    def n_repeated(self) -> int:
        """Votes beyond the first of their unit."""
        return self.n_votes - self.n_units


@dataclass(frozen=True, kw_only=True)
class Health:
    """What a log holds and what is the matter with it; made by :func:`health`.

    Attributes
    ----------
    source, columns, guessed, n_rows, n_self_duels, n_both_bad, n_ties_dropped, n_zero_weight,
    n_duplicates, n_bad_rows, bad_rows
        As in :class:`bayesduel.data.votes.Intake`.
    n_duels, n_arms, n_ties, tie_rule
        As in :class:`bayesduel.Duels`.
    never_won, never_lost
        Arms that duelled without a win, or without a loss; ties are neither.
    n_pairs, n_pairs_met, n_pairs_both_ways
        Pairs of arms there are, K (K - 1) / 2, those that met, and those that met with either
        arm listed first.
    duels_per_arm
        Least, median and most duels of an arm.
    n_decisive
        Duels that are no tie.
    first_share, first_interval
        Share of decisive duels won by the arm listed first, and its 95 % Wilson interval; NaN
        without decisive duels. An order effect where the sides mean something.
    n_judges, n_groups
        Judges and groups the log names, or None where it has no such column.
    repeats
        For each of these columns, the votes that share a unit.
    components
        Arms that duels connect, the largest component first.
    strongly_connected
        Whether maximum-likelihood scores exist (Ford 1957): wins lead from every arm to every
        other.
    alike
        Pairs of labels that differ only in case or as numbers are written.
    warnings
        What to heed, in sentences.
    """

    source: str
    columns: dict[str, str]
    guessed: tuple[str, ...]
    n_rows: int
    n_duels: int
    n_arms: int
    n_ties: int
    tie_rule: str
    n_both_bad: int
    n_ties_dropped: int
    n_self_duels: int
    n_zero_weight: int
    n_duplicates: int | None
    n_bad_rows: int
    bad_rows: tuple[tuple[str, str], ...]
    never_won: tuple[str, ...]
    never_lost: tuple[str, ...]
    n_pairs: int
    n_pairs_met: int
    n_pairs_both_ways: int
    duels_per_arm: tuple[int, float, int]
    n_decisive: int
    first_share: float
    first_interval: tuple[float, float]
    n_judges: int | None
    n_groups: int | None
    repeats: tuple[Repeats, ...]
    components: tuple[tuple[str, ...], ...]
    strongly_connected: bool
    alike: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...] = ()

    @property
    def n_pairs_never_met(self) -> int:
        """Pairs of arms that never met."""
        return self.n_pairs - self.n_pairs_met

    @property
    def is_thin(self) -> bool:
        """Whether there are fewer than five duels for each score to be learned.

        References
        ----------
        Vittinghoff & McCulloch, "Relaxing the rule of ten events per variable in logistic and
        Cox regression", American Journal of Epidemiology 165(6), 2007, 710-718.
        """
        return self.n_duels < DUELS_PER_SCORE * (self.n_arms - 1)

    @property
    def table(self) -> list[tuple[str, str]]:
        """What a person reads, as (what, how much) line by line."""
        return table(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON takes it; NaN becomes None."""
        found = asdict(self)
        found["repeats"] = [{**asdict(r), "n_repeated": r.n_repeated} for r in self.repeats]
        found |= {"n_pairs_never_met": self.n_pairs_never_met, "is_thin": self.is_thin}
        return json_ready(found)

    def __repr__(self) -> str:
        rows = table(self)
        width = max(len(name) for name, _ in rows)
        lines = [f"Health of {self.source}", *(f"  {n:<{width}}  {v}" for n, v in rows)]
        lines += [f"! {sentence}" for sentence in self.warnings]
        lines += [f"  {where}: {what}" for where, what in self.bad_rows]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in table(self)
        )
        notes = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.warnings)
        bad = "".join(f"<li>{escape(w)}: {escape(x)}</li>" for w, x in self.bad_rows)
        return (
            f"<table><caption>Health of {escape(self.source)}</caption>{rows}</table>"
            f"<ul>{notes}</ul>" + (f"<p>Rows left out:</p><ul>{bad}</ul>" if bad else "")
        )


def health(duels: "Duels") -> Health:
    """Return what an analyst should know of a log before any model runs."""
    intake, cells, votes = duels.intake, duels.cells, duels.votes
    n_arms = duels.n_arms

    def by_arm(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        counts = np.bincount(cells.left, left, n_arms) + np.bincount(cells.right, right, n_arms)
        return counts.astype(np.int64)

    won = by_arm(cells.left_wins, cells.right_wins)
    lost = by_arm(cells.right_wins, cells.left_wins)
    total = won + lost + by_arm(cells.ties, cells.ties)
    arms = np.asarray(duels.arms, dtype=object)
    first, second = int(cells.left_wins.sum()), int(cells.right_wins.sum())
    low, high = (float(end) for end in wilson(first, first + second))
    n_met = len(duels.pairs().first)
    found = Health(
        source=intake.source,
        columns=dict(intake.columns),
        guessed=intake.guessed,
        n_rows=intake.n_rows,
        n_duels=duels.n_duels,
        n_arms=n_arms,
        n_ties=duels.n_ties,
        tie_rule=duels.tie_rule,
        n_both_bad=intake.n_both_bad,
        n_ties_dropped=intake.n_ties_dropped,
        n_self_duels=intake.n_self_duels,
        n_zero_weight=intake.n_zero_weight,
        n_duplicates=intake.n_duplicates,
        n_bad_rows=intake.n_bad_rows,
        bad_rows=intake.bad_rows,
        never_won=tuple(arms[(won == 0) & (total > 0)]),
        never_lost=tuple(arms[(lost == 0) & (total > 0)]),
        n_pairs=n_arms * (n_arms - 1) // 2,
        n_pairs_met=n_met,
        n_pairs_both_ways=_ordered_pairs(duels) - n_met,
        duels_per_arm=(int(total.min()), float(np.median(total)), int(total.max())),
        n_decisive=first + second,
        first_share=first / (first + second) if first + second else float("nan"),
        first_interval=(low, high),
        n_judges=None if votes is None or votes.judge is None else len(votes.judges),
        n_groups=None if votes is None or votes.group is None else len(votes.groups),
        repeats=tuple(r for role in ("judge", "group") if (r := _repeats(duels, role))),
        components=tuple(components(duels)),
        strongly_connected=win_graph_is_connected(duels),
        alike=_alike(duels.arms),
    )
    return replace(found, warnings=tuple(sentences(found)))


def _ordered_pairs(duels: "Duels") -> int:
    """Return how many ordered pairs met."""
    cells = duels.cells
    met = cells.left_wins + cells.right_wins + cells.ties > 0
    code = cells.left[met].astype(np.int64) * duels.n_arms + cells.right[met]
    return len(np.unique(code))


def _repeats(duels: "Duels", role: str) -> Repeats | None:
    """Return how many votes share a unit of `role` and pair, or None without such a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    votes = duels.votes
    code = None if votes is None else getattr(votes, role)
    if votes is None or code is None:
        return None
    known = code >= 0
    low = np.minimum(votes.left, votes.right)[known].astype(np.int64)
    high = np.maximum(votes.left, votes.right)[known]
    unit = (low * duels.n_arms + high) * (len(getattr(votes, f"{role}s")) + 1) + code[known]
    n_units = pc.count_distinct(pa.array(unit)).as_py()  # by hashing: faster than np.unique
    return Repeats(f"{role} and pair", int(votes.weight[known].sum()), n_units)


def _alike(arms: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the labels that differ from an earlier one only in case or as numbers."""
    seen: dict[Any, str] = {}
    pairs = []
    for arm in arms:
        key: Any = " ".join(arm.casefold().split())
        try:
            key = float(key)
        except ValueError:
            pass
        if key in seen:
            pairs.append((seen[key], arm))
        seen.setdefault(key, arm)
    return tuple(pairs)
