"""The tables of stored studies: settings, arms, items, tickets, and what happened to them.

A ticket holds its answer as it stands now; the events hold everything that was ever said.
"""

from typing import Any, NamedTuple

from sqlalchemy import Column, Float, Index, Integer, MetaData, String, Table, UniqueConstraint

__all__ = [
    "FORMAT",
    "Event",
    "Row",
    "arms",
    "events",
    "items",
    "metadata",
    "settings",
    "studies",
    "tickets",
]

FORMAT = 3  # of the tables; a study of another one is refused

metadata = MetaData()


def _number(name: str) -> Column[int]:
    return Column(name, Integer, primary_key=True, autoincrement=False)


def _of_study(name: str, *columns: Any) -> Table:
    """Return a table of all studies whose rows are numbered within each."""
    return Table(name, metadata, _number("study"), _number("number"), *columns)


studies = Table(
    "studies",
    metadata,
    _number("number"),
    Column("name", String(200), nullable=False, unique=True),
)
settings = Table(
    "settings",
    metadata,
    _number("study"),
    Column("name", String(40), primary_key=True),
    Column("value", String, nullable=False),
)
arms = _of_study(
    "arms",
    Column("label", String, nullable=False),
    Column("retired", Integer, nullable=False, default=0),
    UniqueConstraint("study", "label"),
)
items = _of_study(
    "items",
    Column("label", String, nullable=False),
    UniqueConstraint("study", "label"),
)
tickets = _of_study(
    "tickets",
    Column("left", Integer, nullable=False),
    Column("right", Integer, nullable=False),
    Column("item", Integer),
    Column("judge", String),
    Column("asked", Float, nullable=False),
    Column("state", String(10), nullable=False),  # open, told, skipped or cancelled
    # The answer as it stands; without an outcome: "cannot tell".
    Column("outcome", Float),
    Column("margin", Float),
    Column("answered", Float),
    # The first ticket of the same call of ask, 0 if none asked for it; the last event it knew.
    Column("batch", Integer, nullable=False),
    Column("known", Integer, nullable=False),
    Column("gold", Float),  # the right outcome of a gold question, which is no duel
    Column("cost", Float),  # of the answer, where it was named
    Index("tickets_by_state", "study", "state", "asked"),
    Index("tickets_by_judge", "study", "judge", "state", "number"),
)
# What happened, in order: told, corrected, withdrawn, skipped, cancelled, reissued; arms.
events = _of_study(
    "events",
    Column("ticket", Integer),
    Column("kind", String(10), nullable=False),
    Column("outcome", Float),
    Column("margin", Float),
    Column("reason", String),
    Column("who", String),
    Column("at", Float, nullable=False),
    Index("events_by_ticket", "study", "ticket"),
    Index("events_by_who", "study", "who", "number"),
)


class Row(NamedTuple):
    """A ticket as it stands.

    Attributes
    ----------
    number
        From 1.
    left, right, item
        Numbers of the arms and the item, which may be None.
    judge
        Who is to judge, or did, or None.
    asked, answered
        Seconds since 1970.
    state
        "open", "told", "skipped" or "cancelled".
    outcome
        1 if left won, 0 if right won, 0.5 for a tie, None for "cannot tell" and before an answer.
    margin
        Left's score minus right's, or None.
    gold
        The right outcome of a gold question, None for a duel.
    cost
        Of the answer, or None.
    taken_back
        How often an answer was taken back, counted where a page needs it, else 0.
    """

    number: int
    left: int
    right: int
    item: int | None
    judge: str | None
    asked: float
    state: str
    outcome: float | None
    margin: float | None
    answered: float | None
    gold: float | None = None
    cost: float | None = None
    taken_back: int = 0


class Event(NamedTuple):
    """Something that happened to a ticket, or to the arms.

    Attributes
    ----------
    number
        In the order of the store, from 1.
    ticket, left, right, item, judge, gold
        Number of the ticket, its arms and item (numbers), judge and right outcome; None for what
        happened to arms.
    kind
        "told", "corrected", "withdrawn", "skipped", "cancelled", "reissued" or "arms".
    outcome, margin
        As of a ticket.
    reason
        Of a correction.
    who
        Who told, corrected or skipped, or None.
    at
        Seconds since 1970.
    """

    number: int
    ticket: int | None
    left: int | None
    right: int | None
    item: int | None
    judge: str | None
    gold: float | None
    kind: str
    outcome: float | None
    margin: float | None
    reason: str | None
    who: str | None
    at: float
