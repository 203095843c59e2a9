"""The tables of stored studies: settings, arms, items, tickets, and what happened to them.

A ticket holds its answer as it stands now; the events hold everything that was ever said.
"""

from typing import Any, NamedTuple

from sqlalchemy import Column, Float, Index, Integer, MetaData, String, Table, UniqueConstraint

__all__ = [
    "FORMAT",
    "REPEAT",
    "TRAINING",
    "Event",
    "Question",
    "Row",
    "arms",
    "events",
    "excluded",
    "items",
    "metadata",
    "settings",
    "studies",
    "tickets",
]

FORMAT = 5  # of the tables; a study of another one is refused
REPEAT = -1  # the batch of a ticket that asks a judge again, and is no duel
TRAINING = -2  # the batch of a ticket that a judge practises on, and is no duel

metadata = MetaData()


def _number(name: str) -> Column[int]:
    return Column(name, Integer, primary_key=True, autoincrement=False)


def _of_study(name: str, *columns: Any) -> Table:
    """Return a table of all studies whose rows are numbered within each."""
    return Table(name, metadata, _number("study"), _number("number"), *columns)


studies = Table(
    "studies", metadata, _number("number"), Column("name", String(200), nullable=False, unique=True)
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
    "items", Column("label", String, nullable=False), UniqueConstraint("study", "label")
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
    # The first ticket of the same call of ask, 0 if none asked for it, REPEAT of a repeat, TRAINING
    # of practice; the last event that it knew.
    Column("batch", Integer, nullable=False),
    Column("known", Integer, nullable=False),
    Column("gold", Float),  # the right outcome of a gold question, which is no duel
    Column("cost", Float),  # of the answer, where it was named
    Column("said", String),  # what was said beside the outcome, JSON: ``asking.Said``
    Column("seen", Float),  # when the pair came on the screen, where a page said it
    Index("tickets_by_state", "study", "state", "asked"),
    Index("tickets_by_judge", "study", "judge", "state", "number"),
)
# Judges whose answers are stored and do not count, and why.
excluded = Table(
    "excluded",
    metadata,
    _number("study"),
    Column("judge", String, primary_key=True),
    Column("because", String, nullable=False),
)
# What happened, in order: told, corrected, withdrawn, skipped, cancelled, reissued; arms; a judge
# excluded, included; the study ended, resumed.
events = _of_study(
    "events",
    Column("ticket", Integer),
    Column("kind", String(10), nullable=False),
    Column("outcome", Float),
    Column("margin", Float),
    Column("reason", String),
    Column("who", String),
    Column("at", Float, nullable=False),
    Column("said", String),
    Index("events_by_ticket", "study", "ticket"),
    Index("events_by_who", "study", "who", "number"),
)


class Question(NamedTuple):
    """What a ticket asks: numbers of the arms and the item, which may be None."""

    left: int
    right: int
    item: int | None = None
    gold: float | None = None  # the right outcome of a gold question, None for a duel
    batch: int = 0  # REPEAT where the judge has answered it before, TRAINING of practice


class Row(NamedTuple):
    """A ticket as it stands."""

    number: int  # from 1
    left: int  # numbers of the arms and the item, which may be None
    right: int
    item: int | None
    judge: str | None  # who is to judge, or did, or None
    asked: float  # seconds since 1970
    state: str  # "open", "told", "skipped" or "cancelled"
    # 1 if left won, 0 if right won, 0.5 for a tie, None for "cannot tell" and before an answer
    outcome: float | None
    margin: float | None  # left's score minus right's, or None
    answered: float | None
    gold: float | None = None  # the right outcome of a gold question, None for a duel
    cost: float | None = None  # of the answer, or None
    said: str | None = None  # what was said beside the outcome, as JSON
    batch: int = 0  # as stored: REPEAT, TRAINING, or which call of ask it is of
    seen: float | None = None  # when the pair came on the screen, where a page said it
    taken_back: int = 0  # how often an answer was taken back, counted where a page needs it, else 0


class Event(NamedTuple):
    """Something that happened to a ticket, to the arms, to a judge, or to the study."""

    number: int  # in the order of the store, from 1
    # number of the ticket, its arms and item (numbers), judge, right outcome and batch; None for
    # what happened to arms, to a judge or to the study
    ticket: int | None
    left: int | None
    right: int | None
    item: int | None
    judge: str | None
    gold: float | None
    batch: int | None
    # "told", "corrected", "withdrawn", "skipped", "cancelled", "reissued", "arms", "excluded",
    # "included", "ended" or "resumed"
    kind: str
    outcome: float | None  # as of a ticket
    margin: float | None
    reason: str | None  # of a correction or an end; the judge, and why, of an exclusion
    who: str | None  # who told, corrected, skipped or ended, or None
    at: float  # seconds since 1970
    said: str | None = None  # as of a ticket

    @property
    def is_duel(self) -> bool:
        """Whether its ticket is a duel: no gold question, and no repeat."""
        return self.gold is None and self.batch != REPEAT
