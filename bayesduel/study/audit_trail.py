"""The audit trail of a study, and the log of its duels."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from bayesduel.data.duels import Duels
from bayesduel.study.outcomes import as_told
from bayesduel.study.schema import Event
from bayesduel.study.tickets import ticket_id

__all__ = ["audit_trail", "told_duels"]


def audit_trail(events: Iterable[Event], labels: Sequence[str], key: str) -> list[dict[str, Any]]:
    """Return every outcome and correction, in order, as dictionaries.

    Parameters
    ----------
    events
        As stored.
    labels
        Of all arms.
    key
        Of the study, which begins the ids of its tickets.
    """
    return [
        {
            "ticket": ticket_id(key, e.ticket),
            "left": labels[e.left],
            "right": labels[e.right],
            "judge": e.judge,
            "outcome": as_told(e),
            "correction": e.version > 0,
            "reason": e.reason,
            "told": datetime.fromtimestamp(e.told, UTC).isoformat(timespec="seconds"),
        }
        for e in events
    ]


def told_duels(events: Iterable[Event], labels: Sequence[str]) -> Duels:
    """Return outcomes as a log.

    Parameters
    ----------
    events
        The outcome of each ticket as last corrected.
    labels
        Of all arms.

    Raises
    ------
    ValueError
        If there is no outcome of two different arms.
    """
    told = [e for e in events if e.left != e.right]
    if not told:
        raise ValueError("a study should have an outcome to make a log of, got none")
    margins = [e.margin for e in told]
    judges = [e.judge for e in told]
    return Duels.from_votes(
        [labels[e.left] for e in told],
        [labels[e.right] for e in told],
        [e.outcome for e in told],
        margin=None if None in margins else [float(m) for m in margins if m is not None],
        judge=None if None in judges else judges,
        arms=list(labels),
    )
