"""The tables of a stored study: settings, arms, tickets, and outcomes with their corrections."""

from typing import NamedTuple

from sqlalchemy import Column, Float, Integer, MetaData, String, Table, UniqueConstraint

__all__ = ["FORMAT", "Event", "arms", "metadata", "outcomes", "settings", "tickets"]

FORMAT = 1  # of the tables; a study of a later one is refused

metadata = MetaData()
settings = Table(
    "settings",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", String, nullable=False),
)
arms = Table(
    "arms",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("label", String, nullable=False, unique=True),
    Column("retired", Integer, nullable=False, default=0),
)
tickets = Table(
    "tickets",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("left", Integer, nullable=False),
    Column("right", Integer, nullable=False),
    Column("judge", String),
    Column("asked", Float, nullable=False),
    Column("told", Integer, nullable=False, index=True),
    # The first ticket of the same call of ask, 0 if imported; how many outcomes it knew.
    Column("batch", Integer, nullable=False),
    Column("known", Integer, nullable=False),
)
# Outcomes and their corrections, in the order they came. The first of a ticket is the outcome.
outcomes = Table(
    "outcomes",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("ticket", Integer, nullable=False, index=True),
    Column("version", Integer, nullable=False),
    Column("outcome", Float, nullable=False),
    Column("margin", Float),
    Column("reason", String),
    Column("told", Float, nullable=False),
    UniqueConstraint("ticket", "version"),
)


class Event(NamedTuple):
    """One stored outcome.

    Attributes
    ----------
    number
        In the order of the store, from 1.
    ticket, left, right, judge
        Number of the ticket, its arms (numbers) and judge.
    version
        0 for the outcome, more for its corrections.
    outcome
        1 if left won, 0 if right won, 0.5 for a tie.
    margin
        Left's score minus right's, or None.
    reason
        Of a correction.
    told
        Seconds since 1970.
    """

    number: int
    ticket: int
    left: int
    right: int
    judge: str | None
    version: int
    outcome: float
    margin: float | None
    reason: str | None
    told: float
