"""Queries of a stored study: what was asked and told, as rows."""

from typing import Any

from sqlalchemy import Connection, Select, func, select

from bayesduel.study.schema import Event, outcomes, tickets

__all__ = [
    "asked_since",
    "counts",
    "last_outcome",
    "told_since",
    "waiting",
]


def counts(connection: Connection) -> tuple[int, int]:
    """Return the numbers of the last ticket and of the last outcome."""
    asked = connection.execute(select(func.max(tickets.c.number))).scalar() or 0
    told = connection.execute(select(func.max(outcomes.c.number))).scalar() or 0
    return int(asked), int(told)


def told_since(connection: Connection, number: int) -> list[Event]:
    """Return the outcomes and corrections after outcome `number`, in order."""
    told = _events().where(outcomes.c.number > number).order_by(outcomes.c.number)
    return [Event(**row._mapping) for row in connection.execute(told)]


def asked_since(connection: Connection, number: int) -> list[tuple[int, int, int]]:
    """Return the calls of ask after ticket `number`.

    The first ticket of each, how many it has, and how many outcomes the call knew.
    """
    asked = (
        select(tickets.c.batch, func.count(), func.max(tickets.c.known))
        .where(tickets.c.number > number, tickets.c.batch > 0)
        .group_by(tickets.c.batch)
        .order_by(tickets.c.batch)
    )
    return [(first, n, known) for first, n, known in connection.execute(asked)]


def last_outcome(connection: Connection, ticket: int) -> Event | None:
    """Return the outcome of a ticket as last corrected, or None."""
    told = _events().where(outcomes.c.ticket == ticket)
    row = connection.execute(told.order_by(outcomes.c.version.desc()).limit(1)).one_or_none()
    return None if row is None else Event(**row._mapping)


def waiting(connection: Connection) -> list[tuple[int, int, int, str | None, float]]:
    """Return number, arms, judge and time of every ticket without an outcome, in order."""
    open_ = select(tickets).where(tickets.c.told == 0).order_by(tickets.c.number)
    return [
        (row.number, row.left, row.right, row.judge, row.asked) for row in connection.execute(open_)
    ]


def _events() -> Select[Any]:
    """Return the query of all outcomes, with the tickets they are of."""
    return select(outcomes, tickets.c.left, tickets.c.right, tickets.c.judge).join(
        tickets, tickets.c.number == outcomes.c.ticket
    )
