"""The store of a study: every ask, answer and correction, in SQLite or another database.

Nothing is ever lost: an outcome that is corrected stays among the events.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from bayesduel.study import queries
from bayesduel.study.database import Database, StudyError, exclusive
from bayesduel.study.schema import (
    FORMAT,
    Event,
    Row,
    arms,
    events,
    items,
    metadata,
    settings,
    studies,
    tickets,
)

__all__ = ["Event", "Snapshot", "Store", "StudyError"]

Snapshot = tuple[list[tuple[str, bool]], list[tuple[int, int, float | None, int]], tuple[int, int]]


class Store(Database):
    """Tickets and events of one study.

    Parameters
    ----------
    path
        A file, a database URL such as "postgresql://...", or None for memory.
    name
        Of the study; None where the database holds one, or is to.

    Raises
    ------
    StudyError
        If the file is no study, is damaged, is of another format or holds several studies.
    """

    def __init__(self, path: str | Path | None, name: str | None = None) -> None:
        super().__init__(path)
        names = {} if self.is_new else self.names()
        if name is None and len(names) > 1:
            raise StudyError(
                f"{self.url} holds several studies: name should be one of {', '.join(names)}."
            )
        self.name = name or next(iter(names), "study")
        self.is_new = self.name not in names
        self.study = names.get(self.name, 0)
        if not self.is_new:
            self._check_format(self.setting("format"))

    def _check_format(self, found: Any) -> None:
        if found != FORMAT:
            raise StudyError(
                f"{self.url} was made by a newer version of bayesduel (format {found}, this "
                f"version reads {FORMAT}): install that version to open it."
            )

    def create(
        self, values: dict[str, Any], labels: Sequence[str], prompts: Sequence[str] = ()
    ) -> None:
        """Make the tables and store the settings, arms and items of a new study.

        Raises
        ------
        StudyError
            If another process made the study at the same time.
        """
        with self.errors(), self.engine.begin() as connection:
            exclusive(connection)
            metadata.create_all(connection)
            if connection.execute(select(studies).where(studies.c.name == self.name)).first():
                raise StudyError(f"{self.url} holds a study {self.name!r} already.")
            most = connection.execute(select(func.max(studies.c.number))).scalar()
            self.study = (most or 0) + 1
            connection.execute(insert(studies).values(number=self.study, name=self.name))
            own = {"study": self.study}
            rows = {"format": FORMAT, **values}
            connection.execute(
                insert(settings),
                [{**own, "name": k, "value": json.dumps(v)} for k, v in rows.items()],
            )
            connection.execute(
                insert(arms),
                [{**own, "number": i, "label": a, "retired": 0} for i, a in enumerate(labels)],
            )
            if prompts:
                connection.execute(
                    insert(items),
                    [{**own, "number": i, "label": p} for i, p in enumerate(prompts)],
                )
        self.is_new = False

    # -- reading ---------------------------------------------------------------------------

    def setting(self, name: str) -> Any:
        """Return a setting, or None."""
        own = (settings.c.study == self.study) & (settings.c.name == name)
        with self.reading() as connection:
            value = connection.execute(select(settings.c.value).where(own)).scalar_one_or_none()
        return None if value is None else self._read(name, value)

    def all_settings(self) -> dict[str, Any]:
        """Return every setting by name."""
        query = select(settings.c.name, settings.c.value).where(settings.c.study == self.study)
        with self.reading() as connection:
            rows = connection.execute(query).all()
        return {row.name: self._read(row.name, row.value) for row in rows}

    def _read(self, name: str, value: str) -> Any:
        try:
            return json.loads(value)
        except (RecursionError, ValueError) as error:
            raise StudyError(f"{self.url} is damaged: its {name} should be JSON: {error}") from None

    def items(self) -> tuple[str, ...]:
        """Return the labels of the items, in order."""
        query = select(items.c.label).where(items.c.study == self.study).order_by(items.c.number)
        with self.reading() as connection:
            return tuple(connection.execute(query).scalars())

    def snapshot(self) -> Snapshot:
        """Return the arms, the outcomes by cell and the last numbers, read at one moment.

        Label and whether retired of every arm; left, right, outcome and count of what was told;
        and the numbers of the last ticket and event.

        Raises
        ------
        StudyError
            If a ticket names an arm or an item that there is not, or an outcome that is none.
        """
        query = select(arms).where(arms.c.study == self.study).order_by(arms.c.number)
        with self.reading() as connection:
            known = [(row.label, bool(row.retired)) for row in connection.execute(query)]
            cells = queries.told_cells(connection, self.study)
            now = queries.counts(connection, self.study)
            prompts = select(func.count()).where(items.c.study == self.study)
            n_items = connection.execute(prompts).scalar_one()
            for name, most in (("left", len(known)), ("right", len(known)), ("item", n_items)):
                self._check_within(connection, name, most)
        for _, _, outcome, _ in cells:
            if outcome not in (None, 0.0, 0.5, 1.0):
                raise StudyError(
                    f"{self.url} is damaged: an outcome should be 0, 0.5 or 1, got {outcome!r}."
                )
        return known, cells, now

    def _check_within(self, connection: Connection, name: str, most: int) -> None:
        """Raise StudyError if a ticket names an arm or an item that there is not."""
        place = tickets.c[name]
        wrong = (tickets.c.study == self.study) & ((place < 0) | (place >= most))
        row = connection.execute(select(tickets.c.number, place).where(wrong).limit(1)).first()
        if row is not None:
            what = "items" if name == "item" else "arms"
            raise StudyError(
                f"{self.url} is damaged: ticket {row[0]} should be of {what} 0 to {most - 1}, "
                f"got {row[1]}."
            )

    def changes(
        self, ticket: int, number: int, most: int
    ) -> tuple[list[Event], list[tuple[int, int, int]], tuple[int, int]]:
        """Return what came since ticket `ticket` and event `number`, read at one moment.

        Events in order; the calls of ask (first ticket, how many, and the last event they knew);
        and the numbers of the last ticket and event. Of more than `most` events the numbers alone.
        """
        with self.reading() as connection:
            now = queries.counts(connection, self.study)
            if now == (ticket, number) or now[1] > number + most:
                return [], [], now
            found = queries.events_since(connection, self.study, number)
            return found, queries.asked_since(connection, self.study, ticket), now

    def replay(self) -> tuple[list[Event], list[tuple[int, int, int]]]:
        """Return all outcomes as they stand and all calls of ask, in order."""
        with self.reading() as connection:
            found = queries.replay(connection, self.study)
            return found, queries.asked_since(connection, self.study, 0)

    def history(self) -> list[Event]:
        """Return all that happened, in order."""
        with self.reading() as connection:
            return queries.events_since(connection, self.study, 0)

    def rows(self, *where: Any) -> list[Row]:
        """Return the tickets that are as `where` says, in order."""
        with self.reading() as connection:
            return queries.rows(connection, self.study, *where)

    def reserved(self, late: float) -> list[tuple[int, int, int]]:
        """Return the pairs of the open tickets asked after `late`, and how many each has."""
        with self.reading() as connection:
            return queries.reserved(connection, self.study, late)

    def used(self) -> list[tuple[int, int, int | None, int]]:
        """Return left, right and item of the tickets open or told, and how many have them."""
        cell = tickets.c.left, tickets.c.right, tickets.c.item
        asked = (tickets.c.study == self.study) & tickets.c.state.in_(("open", "told"))
        query = select(*cell, func.count()).where(asked).group_by(*cell)
        with self.reading() as connection:
            return [(i, j, item, n) for i, j, item, n in connection.execute(query)]

    def last_of(self, who: str) -> tuple[int, str | None] | None:
        """Return the ticket that someone answered or skipped last, and who touched it last."""
        with self.reading() as connection:
            return queries.last_of(connection, self.study, who)

    # -- writing ---------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection on which all is stored, or nothing; one writer at a time."""
        with self.errors(), self.engine.begin() as connection:
            exclusive(connection, self.study)
            yield connection

    def set(self, **values: Any) -> None:
        """Store settings, over those of the same name."""
        with self.writing() as connection:
            for name, value in values.items():
                text = json.dumps(value)
                same = (settings.c.study == self.study) & (settings.c.name == name)
                if not connection.execute(update(settings).where(same).values(value=text)).rowcount:
                    row = {"study": self.study, "name": name, "value": text}
                    connection.execute(insert(settings).values(**row))

    def ask(
        self,
        asked: Sequence[tuple[int, int, int | None]],
        judge: str | None,
        seen: tuple[int, int],
        connection: Connection | None = None,
    ) -> list[Row] | None:
        """Store a ticket for each pair and item, and return them.

        None if tickets or events came since `seen` (counts), so that the pairs are stale. Where
        the pairs were chosen with the study locked, `connection` is that of ``writing``.
        """
        with self.writing() if connection is None else nullcontext(connection) as held:
            if queries.counts(held, self.study) != seen:
                return None
            first, now = seen[0] + 1, time.time()
            rows = [
                Row(first + k, i, j, item, judge, now, "open", None, None, None)
                for k, (i, j, item) in enumerate(asked)
            ]
            own = {"study": self.study, "batch": first, "known": seen[1]}
            held.execute(insert(tickets), [{**own, **row._asdict()} for row in rows])
        return rows

    def happen(
        self,
        ticket: int,
        kind: str,
        allowed: Sequence[str],
        state: str,
        *,
        outcome: float | None = None,
        margin: float | None = None,
        reason: str | None = None,
        who: str | None = None,
        **changes: Any,
    ) -> Row | None:
        """Store that something happened to a ticket, and bring it up to that.

        Parameters
        ----------
        ticket
            Its number.
        kind
            What happened.
        allowed
            The states in which it may.
        state
            The state after it.
        outcome, margin, reason, who
            Of the event; the ticket holds the answer.
        changes
            Other columns of the ticket, by name.

        Returns
        -------
        None; the ticket as it is where it is in another state: nothing is stored then.
        """
        mine = (tickets.c.study == self.study) & (tickets.c.number == ticket)
        with self.writing() as connection:
            (row,) = queries.rows(connection, self.study, tickets.c.number == ticket)
            if row.state not in allowed:
                return row
            now = time.time()
            answer = {"outcome": outcome, "margin": margin}
            event = {"ticket": ticket, "kind": kind, "reason": reason, "who": who, "at": now}
            self._add_event(connection, **event, **answer)
            answer["answered"] = None if state == "open" else now
            changed = {"state": state, **answer, **changes}
            connection.execute(update(tickets).where(mine).values(**changed))
        return None

    def _add_event(self, connection: Connection, **values: Any) -> None:
        _, last = queries.counts(connection, self.study)
        connection.execute(insert(events).values(study=self.study, number=last + 1, **values))

    def load(
        self,
        rows: Sequence[tuple[int, int, int | None, str | None, float | None, float | None]],
        reason: str | None,
    ) -> list[Row]:
        """Store told tickets: left, right, item, judge, outcome and margin of each."""
        with self.writing() as connection:
            n_tickets, n_events = queries.counts(connection, self.study)
            now, own = time.time(), {"study": self.study}
            made = [
                Row(n_tickets + k, i, j, item, judge, now, "told", outcome, margin, now)
                for k, (i, j, item, judge, outcome, margin) in enumerate(rows, start=1)
            ]
            for start in range(0, len(made), 5000):
                part = made[start : start + 5000]
                asked = own | {"batch": 0, "known": n_events}
                connection.execute(insert(tickets), [{**asked, **r._asdict()} for r in part])
                told = own | {"kind": "told", "reason": reason, "at": now}
                connection.execute(
                    insert(events),
                    [
                        {
                            **told,
                            "number": n_events + start + k,
                            "ticket": r.number,
                            "outcome": r.outcome,
                            "margin": r.margin,
                            "who": r.judge,
                        }
                        for k, r in enumerate(part, start=1)
                    ],
                )
        return made

    def add_arms(self, labels: Sequence[str]) -> None:
        """Store arms behind those that are there."""
        own = {"study": self.study}
        with self.writing() as connection:
            query = select(arms.c.label).where(arms.c.study == self.study)
            known = list(connection.execute(query).scalars())
            for label in labels:
                if label in known:
                    raise StudyError(f"arms should be new to the study, got {label!r}")
            connection.execute(
                insert(arms),
                [
                    {**own, "number": len(known) + k, "label": a, "retired": 0}
                    for k, a in enumerate(labels)
                ],
            )
            said = f"added: {', '.join(labels)}"
            self._add_event(connection, kind="arms", reason=said, at=time.time())

    def retire_arms(self, numbers: Sequence[int], retired: bool) -> None:
        """Mark arms as retired, or as no longer so."""
        own = (arms.c.study == self.study) & arms.c.number.in_(numbers)
        with self.writing() as connection:
            connection.execute(update(arms).where(own).values(retired=int(retired)))
            labels = connection.execute(select(arms.c.label).where(own)).scalars()
            said = f"{'retired' if retired else 'restored'}: {', '.join(labels)}"
            self._add_event(connection, kind="arms", reason=said, at=time.time())
