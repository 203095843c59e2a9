"""Outcomes of a study: as told, as stored, as rows of a log, and in its audit trail."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.votes import FINITE, LARGEST_SIZE
from bayesduel.study.schema import REPEAT, Event, Row
from bayesduel.study.sources import SourcePosterior
from bayesduel.study.tickets import ticket_id
from bayesduel.system.arguments import shown_value

__all__ = [
    "CANNOT_TELL",
    "as_told",
    "audit_trail",
    "export_rows",
    "log_rows",
    "moment",
    "outcome_value",
    "told_duels",
]

CANNOT_TELL = "cannot tell"
SIDES = {"left": 1.0, "right": 0.0, "tie": 0.5, CANNOT_TELL: None}
NAMES = {value: name for name, value in SIDES.items()}


def outcome_value(outcome: Any, kind: str) -> tuple[float | None, float | None]:
    """Return an outcome as it is stored: 1, 0 or 0.5 by left's success, and the margin.

    "cannot tell" has none of both.

    outcome: "left", "right" or "tie", or a margin; or "cannot tell".
    kind: of the model's outcomes; "margin" where they are margins.
    Raises ValueError if the outcome is none of that kind.
    """
    if kind == "margin" and not (isinstance(outcome, str) and outcome == CANNOT_TELL):
        if isinstance(outcome, bool) or not isinstance(outcome, int | float | np.number):
            raise ValueError(f"outcome should be a margin, a number, got {shown_value(outcome)}")
        if not -LARGEST_SIZE <= outcome <= LARGEST_SIZE:  # also of whole numbers beyond floats
            raise ValueError(f"outcome should be {FINITE}, got {shown_value(outcome)}")
        return 0.5 + 0.5 * float(np.sign(outcome)), float(outcome)
    if not isinstance(outcome, str) or outcome not in SIDES:
        raise ValueError(
            "outcome should be 'left', 'right' or 'tie', or 'cannot tell', "
            f"got {shown_value(outcome)}"
        )
    return SIDES[outcome], None


def as_told(outcome: float | None, margin: float | None) -> str | float:
    """Return an outcome as it was told, given as it is stored."""
    return NAMES[outcome] if margin is None else margin


def log_rows(
    duels: Duels, index: Sequence[int], kind: str, sources: SourcePosterior | None = None
) -> list[tuple[int, int, None, str | None, float, float | None]]:
    """Return the duels of a log one by one: left, right, item, judge, outcome, margin.

    The items are None, and so are margins under a model of who wins.

    index: the study's numbers of the log's arms.
    kind: of the model's outcomes.
    sources: of a study that has several: votes of another than the target, as the log's column
        says, are judged by that source.
    Raises ValueError if the model needs margins and the log has none, or votes do not count alike.
    """
    duels.check_single("a study")
    votes = duels.rows
    if not duels.plain:
        raise ValueError("duels should count alike in a study, got soft votes or sampling weights")
    margins = votes.margin if kind == "margin" else None
    if kind == "margin" and margins is None:
        raise ValueError("duels should have margins, as the study's model has, got none")
    level = None if sources is None else votes.level(sources.by)
    found = []
    for row in range(len(votes)):
        code = -1 if votes.judge is None else int(votes.judge[row])
        judge = None if code < 0 else votes.judges[code]
        if level is not None and sources is not None and level[0][row] >= 0:
            source = level[1][level[0][row]]
            if source not in sources.names:
                raise ValueError(
                    f"{sources.by} should be one of {', '.join(sources.names)}, got {source!r}"
                )
            judge = judge if source == sources.names[sources.target] else source
        margin = None if margins is None else float(margins[row])
        sides = index[votes.left[row]], index[votes.right[row]]
        outcome = (1 + int(votes.outcome[row])) / 2
        found += [(*sides, None, judge, outcome, margin)] * int(votes.weight[row])
    return found


def audit_trail(
    events: Iterable[Event], labels: Sequence[str], items: Sequence[str], key: str
) -> list[dict[str, Any]]:
    """Return all that happened, in order, as dictionaries.

    labels, items: of all arms, and of all items.
    key: of the study, which begins the ids of its tickets.
    """
    return [
        {
            "ticket": None if e.ticket is None else ticket_id(key, e.ticket),
            "left": None if e.left is None else labels[e.left],
            "right": None if e.right is None else labels[e.right],
            "item": None if e.item is None else items[e.item],
            "judge": e.judge,
            "event": e.kind,
            "outcome": as_told(e.outcome, e.margin) if e.kind in ("told", "corrected") else None,
            "correction": e.kind in ("corrected", "withdrawn"),
            "reason": e.reason,
            "by": e.who,
            "told": moment(e.at),
            "gold": e.gold is not None,
            "repeat": e.batch == REPEAT,
        }
        for e in events
    ]


def export_rows(told: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return duels as rows of a table that ``read_duels`` reads, without empty columns.

    told: what ``Study.rows`` returned. Those that cannot tell are no duels.
    """
    duels = [{"ticket": row["id"], **row} for row in told if row["outcome"] != CANNOT_TELL]
    names = ("ticket", "left", "right", "outcome", "judge", "source", "item", "told")
    kept = [n for n in names if any(row[n] is not None for row in duels)]
    rows = [{n: row[n] for n in kept} for row in duels]
    margins = all(isinstance(row["outcome"], float) for row in rows)
    for row in rows:
        if margins:
            row["margin"] = row.pop("outcome")
        elif isinstance(row["outcome"], float):  # of a log imported by an earlier version
            row["outcome"] = NAMES[outcome_value(row["outcome"], "margin")[0]]
    return rows


def moment(seconds: float) -> str:
    """Return seconds since 1970 as a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def told_duels(
    told: Iterable[Row],
    labels: Sequence[str],
    items: Sequence[str] = (),
    sources: SourcePosterior | None = None,
) -> Duels:
    """Return outcomes as a log.

    told: tickets with an outcome.
    labels: of all arms.
    items: of all items: where there are any, the log keeps the column "item".
    sources: of a study that has several: the log keeps the column of that of each vote.
    Raises ValueError if there is no outcome of two different arms.
    """
    told = [row for row in told if row.left != row.right and row.outcome is not None]
    if not told:
        raise ValueError("a study should have an outcome to make a log of, got none")
    margins = [row.margin for row in told]
    judges = [row.judge for row in told]
    keep: dict[str, list[Any]] = {}
    if items:
        keep["item"] = [None if row.item is None else items[row.item] for row in told]
    if sources is not None:
        keep[sources.by] = [sources.names[sources.source_of(judge)] for judge in judges]
    return Duels.from_votes(
        [labels[row.left] for row in told],
        [labels[row.right] for row in told],
        [float(row.outcome or 0) for row in told],
        margin=None if None in margins else [float(m) for m in margins if m is not None],
        judge=None if set(judges) == {None} else judges,
        keep=keep or None,
        arms=list(labels),
    )
