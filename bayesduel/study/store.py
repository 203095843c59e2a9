"""The store of a study: every ask, answer and correction, in SQLite or another database.

Nothing is ever overwritten: an outcome that is corrected stays in the audit trail. Every change is
one transaction, on disk before it is acknowledged.
"""

import json
import sqlite3
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    create_engine,
    event,
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

__all__ = ["Event", "Store", "StudyError"]

FORMAT = 1
BUSY = 60.0  # seconds that a writer waits for another

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


class StudyError(ValueError):
    """A study cannot be opened, or cannot do what it was asked."""


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


class Store:
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
        self.path = path
        self._file = None if path is None or "://" in str(path) else Path(path)
        if self._file is not None and self._file.exists():
            self._file = None  # not made by this call
        self.url, self.engine = _engine(path)
        weakref.finalize(self, self.engine.dispose)
        self.is_new = not self._has_tables()
        if not self.is_new:
            found = self.setting("format")
            if found is None or int(found) > FORMAT:
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
        with self._errors():
            with self.engine.begin() as connection:
                _exclusive(connection)
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

    def discard(self) -> None:
        """Close the connections, and remove the file that was made for a study that was refused."""
        self.close()
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    # -- reading ---------------------------------------------------------------------------

    def setting(self, name: str) -> Any:
        """Return a setting, or None."""
        with self.reading() as connection:
            found = connection.execute(select(settings.c.value).where(settings.c.name == name))
            value = found.scalar_one_or_none()
        return None if value is None else json.loads(value)

    def all_settings(self) -> dict[str, Any]:
        """Return every setting by name."""
        with self.reading() as connection:
            rows = connection.execute(select(settings.c.name, settings.c.value)).all()
        return {row.name: json.loads(row.value) for row in rows}

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
        told = (
            select(
                outcomes.c.number,
                outcomes.c.ticket,
                tickets.c.left,
                tickets.c.right,
                tickets.c.judge,
                outcomes.c.version,
                outcomes.c.outcome,
                outcomes.c.margin,
                outcomes.c.reason,
                outcomes.c.told,
            )
            .join(tickets, tickets.c.number == outcomes.c.ticket)
            .where(outcomes.c.number > number)
            .order_by(outcomes.c.number)
        )
        asked = (
            select(tickets.c.batch, func.count(), func.max(tickets.c.known))
            .where(tickets.c.number > ticket, tickets.c.batch > 0)
            .group_by(tickets.c.batch)
            .order_by(tickets.c.batch)
        )
        with self.reading() as connection:
            counts = _counts(connection)
            if counts == (ticket, number):
                return [], [], counts
            events = [Event._make(row) for row in connection.execute(told)]
            asks = [(first, n, known) for first, n, known in connection.execute(asked)]
        return events, asks, counts

    def pending(self) -> list[tuple[int, int, int, str | None, float]]:
        """Return number, arms, judge and time of every ticket without an outcome."""
        with self.reading() as connection:
            return _pending(connection)

    def ticket(self, number: int) -> tuple[int, int, str | None] | None:
        """Return the arms and the judge of a ticket, or None."""
        query = select(tickets.c.left, tickets.c.right, tickets.c.judge)
        with self.reading() as connection:
            row = connection.execute(query.where(tickets.c.number == number)).one_or_none()
        return None if row is None else (row.left, row.right, row.judge)

    def latest(self, number: int) -> Event | None:
        """Return the outcome of a ticket as last corrected, or None."""
        query = (
            select(outcomes, tickets.c.left, tickets.c.right, tickets.c.judge)
            .join(tickets, tickets.c.number == outcomes.c.ticket)
            .where(outcomes.c.ticket == number)
            .order_by(outcomes.c.version.desc())
            .limit(1)
        )
        with self.reading() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else Event(**{n: getattr(row, n) for n in Event._fields})

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
            if _counts(held) != seen:
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
            query = select(outcomes).where(outcomes.c.ticket == ticket)
            told = connection.execute(query.order_by(outcomes.c.version.desc())).first()
            if told is not None and reason is None:
                row = {n: getattr(told, n) for n in ("number", "ticket", "version", "outcome")}
                row |= {n: getattr(told, n) for n in ("margin", "reason", "told")}
                return Event(left=-1, right=-1, judge=None, **row)
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
            n_tickets, n_outcomes = _counts(connection)
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

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()

    # -- transactions ----------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that reads one state of the study."""
        with self._errors(), self.engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection on which all is stored, or nothing; one writer at a time."""
        with self._errors(), self.engine.begin() as connection:
            _exclusive(connection)
            yield connection

    def _has_tables(self) -> bool:
        with self._errors():
            names = set(inspect(self.engine).get_table_names())
        if names and "settings" not in names:
            raise StudyError(f"{self.url} is a database without a study in it.")
        return bool(names)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            raise
        except (OperationalError, DatabaseError) as error:
            said = str(error.orig)
            raise StudyError(f"{self.url} {_explained(said)}") from error
        except SQLAlchemyError as error:
            raise StudyError(f"{self.url} cannot be used: {error}") from error


def _engine(path: str | Path | None) -> tuple[str, Engine]:
    """Return how messages call the database, and its engine."""
    if path is None:
        memory = create_engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
        event.listen(memory, "connect", _in_memory)
        event.listen(memory, "begin", _begin)
        return "The study in memory", memory
    if isinstance(path, str) and "://" in path:
        try:
            engine = create_engine(path)
        except ModuleNotFoundError as error:
            command = "pip install 'bayesduel[study]' for postgresql+psycopg://"
            raise StudyError(
                f"The driver of the database should be installed ({command}): {error}"
            ) from error
        except SQLAlchemyError as error:
            raise StudyError(f"The database URL cannot be used: {error}") from error
        return engine.url.render_as_string(hide_password=True), engine
    file = Path(path)
    if not file.parent.is_dir():
        raise StudyError(f"{file} should be in a folder that exists, got {file.parent}.")
    if file.is_dir():
        raise StudyError(f"{file} should be a file, got a folder.")
    engine = create_engine(f"sqlite:///{file}", connect_args={"timeout": BUSY})
    event.listen(engine, "connect", _on_disk)
    event.listen(engine, "begin", _begin)
    return str(file), engine


def _in_memory(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where `_exclusive` says


def _on_disk(connection: Any, _: Any) -> None:
    """Write ahead, and wait for the disk before anything is acknowledged."""
    connection.isolation_level = None
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
    except sqlite3.DatabaseError:
        connection.close()
        raise


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN DEFERRED")


def _exclusive(connection: Connection) -> None:
    """Let one writer at a time into the study."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    elif connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7206417)")
    else:
        connection.execute(select(settings.c.name).with_for_update())


def _pending(connection: Connection) -> list[tuple[int, int, int, str | None, float]]:
    waiting = select(tickets).where(tickets.c.told == 0).order_by(tickets.c.number)
    return [
        (row.number, row.left, row.right, row.judge, row.asked)
        for row in connection.execute(waiting)
    ]


def _counts(connection: Connection) -> tuple[int, int]:
    asked = connection.execute(select(func.max(tickets.c.number))).scalar() or 0
    told = connection.execute(select(func.max(outcomes.c.number))).scalar() or 0
    return int(asked), int(told)


def _explained(said: str) -> str:
    """Return what is wrong and what to do, given the database's own message."""
    if "malformed" in said:
        return "is damaged: restore it from a copy, or export what can be read with sqlite3."
    if "not a database" in said:
        return "is not a study: it should be a file made by Study(path)."
    if "full" in said:
        return "cannot be written: the disk is full. Free some room and repeat the call."
    if "locked" in said:
        return f"is in use by another process that did not finish within {BUSY:.0f} seconds."
    if "readonly" in said or "unable to open" in said:
        return f"cannot be opened for writing: {said}."
    return f"cannot be used: {said}."
