"""The store of a study: every ask, answer and correction, in SQLite or another database.

Nothing is ever overwritten: an outcome that is corrected stays in the audit trail.
"""

import json
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, insert, inspect, select, update

from bayesduel.study.database import Database, StudyError, exclusive
from bayesduel.study.queries import asked_since, counts, last_outcome, told_since, waiting
from bayesduel.study.schema import FORMAT, Event, arms, metadata, outcomes, settings, tickets

__all__ = ["Event", "Store", "StudyError"]


class Store(Database):
    """Tickets and outcomes of one study.

    Parameters
    ----------
    path
        A file, a database URL such as "postgresql://...", or None for memory.

    Raises
    ------
    StudyError
        If the file is no study, is damaged or was made by a newer version.
    """

    def __init__(self, path: str | Path | None) -> None:
        super().__init__(path)
        if not self.is_new:
            found = self.setting("format")
            if not isinstance(found, int) or found > FORMAT:
                raise StudyError(
                    f"{self.url} was made by a newer version of bayesduel (format {found}, this "
                    f"version reads up to {FORMAT}): install that version to open it."
                )

    def create(self, values: dict[str, Any], labels: Sequence[str]) -> None:
        """Make the tables and store the settings and arms of a new study.

        Raises
        ------
        StudyError
            If another process made the study at the same time.
        """
        with self.errors():
            with self.engine.begin() as connection:
                exclusive(connection)
                if inspect(connection).has_table("settings"):
                    raise StudyError(f"{self.url} holds a study already.")
                metadata.create_all(connection)
                rows = {"format": FORMAT, **values}
                connection.execute(
                    insert(settings),
                    [{"name": k, "value": json.dumps(v)} for k, v in rows.items()],
                )
                connection.execute(
                    insert(arms),
                    [{"number": i, "label": a, "retired": 0} for i, a in enumerate(labels)],
                )
        self.is_new = False

    # -- reading ---------------------------------------------------------------------------

    def setting(self, name: str) -> Any:
        """Return a setting, or None."""
        with self.reading() as connection:
            found = connection.execute(select(settings.c.value).where(settings.c.name == name))
            value = found.scalar_one_or_none()
        return None if value is None else self._read(name, value)

    def all_settings(self) -> dict[str, Any]:
        """Return every setting by name."""
        with self.reading() as connection:
            rows = connection.execute(select(settings.c.name, settings.c.value)).all()
        return {row.name: self._read(row.name, row.value) for row in rows}

    def _read(self, name: str, value: str) -> Any:
        try:
            return json.loads(value)
        except (RecursionError, ValueError) as error:
            raise StudyError(f"{self.url} is damaged: its {name} should be JSON: {error}") from None

    def arms(self) -> list[tuple[str, bool]]:
        """Return label and whether retired of every arm, in order."""
        with self.reading() as connection:
            rows = connection.execute(select(arms).order_by(arms.c.number)).all()
        return [(row.label, bool(row.retired)) for row in rows]

    def changes(
        self, ticket: int, number: int
    ) -> tuple[list[Event], list[tuple[int, int, int]], tuple[int, int]]:
        """Return what came since ticket `ticket` and outcome `number`, read at one moment.

        Outcomes and corrections in order; the calls of ask (first ticket, how many, and how many
        outcomes they knew); and the numbers of the last ticket and outcome.
        """
        with self.reading() as connection:
            now = counts(connection)
            if now == (ticket, number):
                return [], [], now
            return told_since(connection, number), asked_since(connection, ticket), now

    def pending(self) -> list[tuple[int, int, int, str | None, float]]:
        """Return number, arms, judge and time of every ticket without an outcome."""
        with self.reading() as connection:
            return waiting(connection)

    def ticket(self, number: int) -> tuple[int, int, str | None] | None:
        """Return the arms and the judge of a ticket, or None."""
        query = select(tickets.c.left, tickets.c.right, tickets.c.judge)
        with self.reading() as connection:
            row = connection.execute(query.where(tickets.c.number == number)).one_or_none()
        return None if row is None else (row.left, row.right, row.judge)

    def latest(self, number: int) -> Event | None:
        """Return the outcome of a ticket as last corrected, or None."""
        with self.reading() as connection:
            return last_outcome(connection, number)

    # -- writing ---------------------------------------------------------------------------

    def set(self, **values: Any) -> None:
        """Store settings, over those of the same name."""
        with self.writing() as connection:
            for name, value in values.items():
                text = json.dumps(value)
                same = settings.c.name == name
                if not connection.execute(update(settings).where(same).values(value=text)).rowcount:
                    connection.execute(insert(settings).values(name=name, value=text))

    def ask(
        self,
        pairs: Sequence[tuple[int, int]],
        judge: str | None,
        seen: tuple[int, int],
        connection: Connection | None = None,
    ) -> list[int] | None:
        """Store a ticket for each pair and return their numbers.

        None if tickets or outcomes came since `seen` (counts), so that the pairs are stale. Where
        the pairs were chosen with the study locked, `connection` is that of ``writing``.
        """
        with self.writing() if connection is None else nullcontext(connection) as held:
            if counts(held) != seen:
                return None
            numbers = [seen[0] + 1 + place for place in range(len(pairs))]
            now = time.time()
            asked = {"told": 0, "batch": numbers[0], "known": seen[1]}
            held.execute(
                insert(tickets),
                [
                    {"number": n, "left": i, "right": j, "judge": judge, "asked": now, **asked}
                    for n, (i, j) in zip(numbers, pairs, strict=True)
                ],
            )
        return numbers

    def tell(
        self,
        ticket: int,
        outcome: float,
        margin: float | None,
        *,
        reason: str | None = None,
    ) -> Event | None:
        """Store an outcome, or with a `reason` its correction; return what was told before.

        None where this is the first outcome of the ticket. An outcome that is told again is
        not stored.
        """
        with self.writing() as connection:
            told = last_outcome(connection, ticket)
            if told is not None and reason is None:
                return told
            last = connection.execute(select(func.max(outcomes.c.number))).scalar() or 0
            connection.execute(
                insert(outcomes).values(
                    number=last + 1,
                    ticket=ticket,
                    version=0 if told is None else told.version + 1,
                    outcome=outcome,
                    margin=margin,
                    reason=reason,
                    told=time.time(),
                )
            )
            if told is None:
                mine = tickets.c.number == ticket
                connection.execute(update(tickets).where(mine).values(told=1))
        return None

    def load(
        self, rows: Sequence[tuple[int, int, str | None, float, float | None]], reason: str
    ) -> None:
        """Store many told tickets at once: left, right, judge, outcome and margin of each."""
        with self.writing() as connection:
            n_tickets, n_outcomes = counts(connection)
            now = time.time()
            for start in range(0, len(rows), 5000):
                part = list(enumerate(rows[start : start + 5000], start=start + 1))
                connection.execute(
                    insert(tickets),
                    [
                        {
                            "number": n_tickets + k,
                            "left": left,
                            "right": right,
                            "judge": judge,
                            "asked": now,
                            "told": 1,
                            "batch": 0,
                            "known": n_outcomes,
                        }
                        for k, (left, right, judge, _, _) in part
                    ],
                )
                connection.execute(
                    insert(outcomes),
                    [
                        {
                            "number": n_outcomes + k,
                            "ticket": n_tickets + k,
                            "version": 0,
                            "outcome": outcome,
                            "margin": margin,
                            "reason": reason,
                            "told": now,
                        }
                        for k, (_, _, _, outcome, margin) in part
                    ],
                )

    def add_arms(self, labels: Sequence[str]) -> None:
        """Store arms behind those that are there."""
        with self.writing() as connection:
            first = connection.execute(select(func.count()).select_from(arms)).scalar_one()
            connection.execute(
                insert(arms),
                [{"number": first + k, "label": a, "retired": 0} for k, a in enumerate(labels)],
            )

    def retire_arms(self, numbers: Sequence[int]) -> None:
        """Mark arms as retired."""
        with self.writing() as connection:
            connection.execute(update(arms).where(arms.c.number.in_(numbers)).values(retired=1))
