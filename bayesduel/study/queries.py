"""Queries of a stored study: what was asked and told, as rows."""

from sqlalchemy import ColumnElement, Connection, func, select

from bayesduel.study.schema import Event, Row, events, tickets

__all__ = [
    "asked_since",
    "counts",
    "events_since",
    "last_of",
    "replay",
    "reserved",
    "rows",
    "told_cells",
]

ROW = [tickets.c[name] for name in Row._fields]


def counts(connection: Connection, study: int) -> tuple[int, int]:
    """Return the numbers of the last ticket and of the last event."""
    found = []
    for table in (tickets, events):
        query = select(func.max(table.c.number)).where(table.c.study == study)
        found.append(int(connection.execute(query).scalar() or 0))
    return found[0], found[1]


def events_since(connection: Connection, study: int, number: int) -> list[Event]:
    """Return what happened after event `number`, in order."""
    same = (tickets.c.study == study) & (tickets.c.number == events.c.ticket)
    own = {"left", "right", "item", "judge"}
    columns = [(tickets if name in own else events).c[name] for name in Event._fields]
    query = (
        select(*columns)
        .select_from(events.outerjoin(tickets, same))
        .where(events.c.study == study, events.c.number > number)
        .order_by(events.c.number)
    )
    return [Event._make(row) for row in connection.execute(query)]


def asked_since(connection: Connection, study: int, number: int) -> list[tuple[int, int, int]]:
    """Return the calls of ask after ticket `number`.

    The first ticket of each, how many it has, and the last event that the call knew.
    """
    asked = (
        select(tickets.c.batch, func.count(), func.max(tickets.c.known))
        .where(tickets.c.study == study, tickets.c.number > number, tickets.c.batch > 0)
        .group_by(tickets.c.batch)
        .order_by(tickets.c.batch)
    )
    return [(first, n, known) for first, n, known in connection.execute(asked)]


def told_cells(connection: Connection, study: int) -> list[tuple[int, int, float | None, int]]:
    """Return left, right and outcome of the tickets that are told, and how many have them."""
    cell = tickets.c.left, tickets.c.right, tickets.c.outcome
    told = (tickets.c.study == study) & (tickets.c.state == "told")
    query = select(*cell, func.count()).where(told).group_by(*cell)
    return [(i, j, outcome, n) for i, j, outcome, n in connection.execute(query)]


def replay(connection: Connection, study: int) -> list[Event]:
    """Return the outcomes as they stand, in the order in which the tickets were last told."""
    last = (
        select(events.c.ticket, func.max(events.c.number).label("number"))
        .where(events.c.study == study, events.c.kind == "told")
        .group_by(events.c.ticket)
        .subquery()
    )
    query = (
        select(last.c.number, tickets.c.number, tickets.c.left, tickets.c.right, tickets.c.outcome)
        .join(last, last.c.ticket == tickets.c.number)
        .where(tickets.c.study == study, tickets.c.state == "told", tickets.c.outcome.is_not(None))
        .order_by(last.c.number)
    )
    return [
        Event(number, ticket, left, right, None, None, "told", outcome, None, None, None, 0.0)
        for number, ticket, left, right, outcome in connection.execute(query)
    ]


def reserved(connection: Connection, study: int, late: float) -> list[tuple[int, int, int]]:
    """Return the pairs of the open tickets asked after `late`, and how many each has."""
    pair = tickets.c.left, tickets.c.right
    query = (
        select(*pair, func.count())
        .where(tickets.c.study == study, tickets.c.state == "open", tickets.c.asked > late)
        .group_by(*pair)
    )
    return [(i, j, n) for i, j, n in connection.execute(query)]


def rows(connection: Connection, study: int, *where: ColumnElement[bool]) -> list[Row]:
    """Return the tickets that are as `where` says, in order."""
    query = select(*ROW).where(tickets.c.study == study, *where).order_by(tickets.c.number)
    return [Row._make(row) for row in connection.execute(query)]


def last_of(connection: Connection, study: int, who: str) -> tuple[int, str | None] | None:
    """Return the ticket that someone answered or skipped last and that still is so.

    With who did the last thing to it; None where there is no such ticket.
    """
    same = (tickets.c.study == study) & (tickets.c.number == events.c.ticket)
    query = (
        select(events.c.ticket)
        .join(tickets, same)
        .where(
            events.c.study == study,
            events.c.who == who,
            events.c.kind.in_(("told", "skipped")),
            tickets.c.state.in_(("told", "skipped")),
        )
        .order_by(events.c.number.desc())
    )
    ticket = connection.execute(query.limit(1)).scalar()
    if ticket is None:
        return None
    done = select(events.c.who).where(events.c.study == study, events.c.ticket == ticket)
    return ticket, connection.execute(done.order_by(events.c.number.desc()).limit(1)).scalar()
