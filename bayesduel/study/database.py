"""The database of a study: connections, transactions, and what its errors mean.

Every change is one transaction, on disk before it is acknowledged; one writer at a time.
"""

import logging
import os
import re
import sqlite3
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock, local
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from bayesduel.study.schema import FORMAT, settings, studies
from bayesduel.system.arguments import shown_value
from bayesduel.system.atomic_write import replace_file
from bayesduel.system.warnings import warn

if TYPE_CHECKING:
    from os import PathLike

    from sqlalchemy.sql.base import Executable


__all__ = ["Database", "StudyError", "earlier", "exclusive", "masked"]

log = logging.getLogger("bayesduel.study")

BUSY = 60.0  # seconds that a writer waits for another, whose writing takes milliseconds
PAUSE = 0.01  # seconds until it is tried again to begin the use of the log, which takes some ms
# Connections that are kept: making one costs more than many queries (a process of PostgreSQL).
POOL: dict[str, Any] = {"pool_size": 5, "max_overflow": 0, "pool_timeout": BUSY}
# Times that a handle tries to end the use of the log while another has the file open: a look of
# `_lacks_log` has it open for about 1 ms in each `PAUSE`.
TRIES = 3
# One thread at a time may need to be the only one that has the file open: two refuse each other.
_alone_here = RLock()  # may be entered again, because a finalizer runs anywhere
USES_LOG = b"\x02\x02"  # bytes 18 and 19: "Database File Format" of sqlite.org, section 1.3.3
SCHEMA = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
# What stands for a password in an address, as SQLAlchemy and libpq take it: behind the user, up to
# the last @, as it may hold any character; or a word of the query.
ADDRESS = re.compile(r"[A-Za-z][\w+.-]*:/")
BEHIND_THE_USER = re.compile(r"^([\w+.-]+:/+[^:/@?]*):.*@")
OF_THE_QUERY = re.compile(r"((?:password|passwd|pwd)=)[^&]*", re.IGNORECASE)


class StudyError(ValueError):
    """A study cannot be opened, or cannot do what it was asked.

    Examples
    --------
    >>> try:
    ...     bd.studies("no.study")
    ... except bd.study.StudyError as error:
    ...     print(error)
    no.study holds no study.
    """


class Database:
    """Connections to a database of studies.

    path: a file, a database URL such as "postgresql://...", or None for memory.
    Raises StudyError if it cannot be opened, or is a database of something else.
    """

    def __init__(self, path: str | Path | None) -> None:
        path = _file_of(path)
        self.path = path
        self._held = local()  # the connection in use by a thread, and what is known by it
        self._file = None if path is None or "://" in str(path) else Path(path)
        if self._file is not None and self._file.exists():
            self._file = None  # not made by this call
        self.read_only = self._file is None and _unwritable(path)
        self.url, self.engine = _engine(path)
        self._kept = self._written()
        weakref.finalize(self, _released, self.engine, self._kept)
        self.is_new = not self.tables()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that reads one state of the study.

        Within another use of this thread it is the same one, so that what is read and stored
        together is one transaction.
        """
        held: Connection | None = getattr(self._held, "connection", None)
        if held is not None:
            yield held
            return
        with self.errors(), self.engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with self._holding(connection, writes=False):
                yield connection

    def found(self, query: "Executable", **given: Any) -> Sequence[Any]:
        """Return the rows of a query, in a transaction of its own where there is none."""
        held: Connection | None = getattr(self._held, "connection", None)
        if held is not None:
            return held.execute(query, given).all()
        with self.errors(), self.engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            return connection.execute(query, given).all()

    @contextmanager
    def exclusively(self, study: int) -> Iterator[Connection]:
        """Give a connection on which all is stored, or nothing; one writer of a study at a time."""
        if getattr(self._held, "writes", False):
            yield self._held.connection
            return
        with self.errors(), self.engine.begin() as connection:
            exclusive(connection, study)
            with self._holding(connection, writes=True):
                yield connection

    @contextmanager
    def _holding(self, connection: Connection, *, writes: bool) -> Iterator[None]:
        held = self._held
        before = getattr(held, "connection", None), getattr(held, "writes", False), None
        held.connection = connection
        held.writes = writes
        held.counts = None
        try:
            yield
        finally:
            held.connection, held.writes, held.counts = before

    def _written(self) -> Path | None:
        """Return the file that this handle writes, None for another database."""
        if self.path is None or "://" in str(self.path) or self.read_only:
            return None
        return Path(self.path).resolve()

    def close(self) -> None:
        """Close the connections; the file then holds all that its log does."""
        _released(self.engine, self._kept)

    def backup(self, copy: Path) -> None:
        """Write a copy of the database as it stands now, whoever uses it, into a new file.

        Raises StudyError if it is no SQLite database, or the file or a log of it is there.
        """
        if self.engine.dialect.name != "sqlite":
            raise StudyError(
                f"Only a study in a file can be copied here, got {self.url}. Copy a database with "
                "its own program, such as pg_dump for PostgreSQL."
            )
        for there in (copy, _log_of(copy)):
            if there.exists():
                raise StudyError(
                    f"The copy should be a new file, but {there} exists already: give another name."
                )
        with self.errors(), replace_file(copy) as draft:
            connection = self.engine.raw_connection()
            try:
                with closing(sqlite3.connect(draft)) as target:
                    source: Any = connection.driver_connection
                    source.backup(target)
                    target.execute("PRAGMA journal_mode=DELETE")  # the copy needs no log
            finally:
                connection.close()

    def discard(self) -> None:
        """Close the connections, and remove the file that was made for a study that was refused."""
        self.close()
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def names(self) -> dict[str, int]:
        """Return the numbers of the studies of the database, by name.

        Raises StudyError if it was made by an earlier version, which held one study without a name.
        """
        if "studies" not in self.tables():
            raise StudyError(earlier(self.url, 1))
        with self.reading() as connection:
            return {name: k for k, name in connection.execute(select(studies))}

    def tables(self) -> set[str]:
        """Return the names of the tables."""
        with self.errors():
            names = set(inspect(self.engine).get_table_names())
            if self.engine.dialect.name == "sqlite":
                self._check_schema()
        if names and "settings" not in names:
            raise StudyError(f"{self.url} is a database without a study in it.")
        return names

    def _check_schema(self) -> None:
        """Raise StudyError if a file holds more than tables and indexes, which no study does.

        A trigger would change what is stored, a view or a virtual table stand in place of a table.
        """
        with self.engine.connect() as connection:
            for kind, name, text in connection.exec_driver_sql(SCHEMA).all():
                virtual = str(text).upper().startswith("CREATE VIRTUAL")
                if kind not in ("table", "index") or virtual:
                    what = "virtual table" if virtual else kind
                    raise StudyError(
                        f"{self.url} should hold only the tables and indexes of a study, "
                        f"got the {what} {shown_value(name)}. Do not use a file from "
                        "somebody you do not trust."
                    )

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Say what an error of the database means."""
        try:
            yield
        except IntegrityError:
            raise
        except (OperationalError, DatabaseError) as error:
            said = _explained(self._without_password(error.orig))
            raise StudyError(f"{self.url} {said}") from error
        except SQLAlchemyError as error:
            said = self._without_password(error)
            raise StudyError(f"{self.url} cannot be used: {said}") from error

    def _without_password(self, error: Any) -> str:
        """Return what an error of the driver says, without the password of the database."""
        said = str(error)
        url = self.engine.url
        for secret in (url.password, url.query.get("password")):
            said = said.replace(str(secret), "***") if secret else said
        return said


def exclusive(connection: Connection, study: int = 0) -> None:
    """Let one writer at a time into a study; 0 for all of the database that are to be made."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    elif connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock(7206417, {int(study)})")
    else:
        own = settings.c.study == study
        connection.execute(select(settings.c.name).where(own).with_for_update())


def _file_of(path: str | Path | None) -> str | Path | None:
    """Return the file of an address such as sqlite:///taste.study; a path as it is."""
    text = str(path)
    return text.removeprefix("sqlite:///") or None if text.startswith("sqlite:///") else path


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
            engine = create_engine(path, **POOL)
        except ModuleNotFoundError as error:
            command = "pip install 'bayesduel[study]' for postgresql+psycopg://"
            raise StudyError(
                f"The driver of the database is not installed: {command}. Python says: {error}"
            ) from error
        except (SQLAlchemyError, ValueError):  # whose words may hold a part of the password
            raise StudyError(_no_address(path)) from None
        if "@" in (engine.url.host or ""):  # of a password, which is not to be looked up as a host
            raise StudyError(_no_address(path))
        return masked(engine.url.render_as_string(hide_password=True)), engine
    if ADDRESS.match(str(path)):
        raise StudyError(
            f"{masked(path)} should be the path of a file, or a text with :// for a database."
        )
    file = Path(path)
    if not file.parent.is_dir():
        raise StudyError(
            f"{file} cannot be opened, because the folder {file.parent} does not exist."
        )
    if file.is_dir():
        raise StudyError(f"{file} should be a file, but it is a folder.")
    left = _log_of(file)
    if not file.exists() and left.exists():
        raise StudyError(
            f"{file} is missing, but {left} is still there. Restore the file, or delete "
            f"{left} to make a new study."
        )
    if _lacks_log(file):
        warn(
            f"{file} was in use when it was last written, and its write-ahead log "
            f"({left.name}) is missing. If it is a copy of a running study, its last "
            "answers are missing. Copy a study by `bayesduel study backup`."
        )
    if _unwritable(path):
        return str(file), _read_only(file)
    engine = create_engine(f"sqlite:///{file}", connect_args={"timeout": BUSY}, **POOL)
    event.listen(engine, "connect", _on_disk)
    event.listen(engine, "begin", _begin)
    return str(file), engine


def _no_address(path: str) -> str:
    return (
        f"{masked(path)} cannot be used: it should be an address such as "
        "postgresql+psycopg://user:password@host:5432/database. In the password, "
        "characters such as @, : and / should be percent-encoded."
    )


def _unwritable(path: str | Path | None) -> bool:
    if path is None or "://" in str(path) or not Path(path).is_file():
        return False
    return not all(os.access(place, os.W_OK) for place in (path, Path(path).parent))


def _read_only(file: Path) -> Engine:
    """Return an engine on a file that cannot be written: it can be read all the same."""
    left = _log_of(file)
    whole = not left.exists() or not left.stat().st_size  # nothing is left to be read beside it
    name = f"{file.resolve().as_uri()}?mode=ro{'&immutable=1' * whole}"
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(name, uri=True))
    event.listen(engine, "connect", _in_memory)
    event.listen(engine, "begin", _begin)
    return engine


def _in_memory(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # transactions begin where `exclusive` says


def _on_disk(connection: sqlite3.Connection, _: object) -> None:
    """Write ahead, and wait for the disk before anything is acknowledged."""
    connection.isolation_level = None
    try:
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA trusted_schema=OFF")
        # After 40 pages of the log (4 kB each), about ten answers, they are written into the file
        # itself. SQLite's own number, 1,000, leaves hundreds of answers in the log alone.
        connection.execute("PRAGMA wal_autocheckpoint=40")
    except sqlite3.DatabaseError:
        connection.close()
        raise


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Begin to use the log, which SQLite refuses at once while another handle begins or ends."""
    deadline = time.monotonic() + BUSY
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("SELECT count(*) FROM sqlite_master")  # makes the log
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(PAUSE)


def _released(engine: Engine, file: Path | None) -> None:
    """Close the connections, and write the log into the file.

    The last handle ends the use of the log. A file that still uses it, without a log beside it, is
    the copy of a file in use: this is how `_lacks_log` knows.
    """
    pool: Any = engine.pool
    unused = file is not None and not pool.checkedin() and not pool.checkedout()
    engine.dispose()
    if unused or file is None or not file.exists():
        return
    try:
        _left(file)
    except sqlite3.DatabaseError as error:  # the answers are on disk, in the log
        log.debug("the write-ahead log of %s could not be written into the file: %s", file, error)


def _left(file: Path) -> None:
    """End the use of the log, unless another handle still uses it, which ends it later.

    Handles of two processes that try at once refuse each other. SQLite deletes the log with the
    last of them, so that who finds no log tries again.
    """
    deadline = time.monotonic() + BUSY
    tries = 0
    while tries < TRIES and time.monotonic() < deadline:
        with _alone_here, closing(_alone(file)) as connection:
            if _ends_log(connection):
                return
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        if _log_of(file).exists():
            tries += 1
        time.sleep(PAUSE / TRIES)


def _lacks_log(file: Path) -> bool:
    """Return whether a file uses a log that is not beside it, and no other handle has it open."""
    if not file.is_file() or _log_of(file).exists():
        return False
    if _unwritable(file):  # nobody has it open, so that it may be read beside SQLite's locks
        with file.open("rb") as stream:
            return stream.read(20)[18:] == USES_LOG
    try:
        # 50 looks: between two calls, who opens the file has no log for some ms.
        for _ in range(50):
            with _alone_here, closing(_alone(file)) as connection:
                ((mode,),) = connection.execute("PRAGMA journal_mode").fetchall()
            if mode != "wal" or _log_of(file).exists():
                return False
            time.sleep(PAUSE)
        with _alone_here, closing(_alone(file)) as connection:
            return _ends_log(connection)
    except sqlite3.DatabaseError:  # no database, or in use: what opens it says so
        return False


def _alone(file: Path) -> sqlite3.Connection:
    """Return a connection to a file that is there, which waits for nobody."""
    uri = f"{file.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)


def _ends_log(connection: sqlite3.Connection) -> bool:
    """Write the log into the file and end its use; return whether no other handle prevented it."""
    try:
        connection.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        return False
    return True


def _log_of(file: Path) -> Path:
    """Return the write-ahead log of a file."""
    return file.with_name(f"{file.name}-wal")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN DEFERRED")


def _explained(said: str) -> str:
    if "malformed" in said:
        return "is damaged: restore it from a copy, or export what can be read with sqlite3."
    if "not a database" in said:
        return "is not a study: it should be a file made by Study(path)."
    if "full" in said:
        return "cannot be written: the disk is full. Free some room and repeat the call."
    if "disk I/O error" in said:
        return "cannot be written: no room is left, the disk failed, or a file beside it changed."
    if "locked" in said:
        return (
            f"is in use by another process, which did not finish within {BUSY:.0f} seconds. "
            "Try again later."
        )
    if "readonly" in said or "unable to open" in said:
        return f"cannot be opened for writing: {said}."
    return f"cannot be used: {said}."


def masked(path: "str | PathLike[str]") -> str:
    """Return how messages call the place of a study: an address without its password."""
    text = str(path)
    if not ADDRESS.match(text):
        return text
    return OF_THE_QUERY.sub(r"\1***", BEHIND_THE_USER.sub(r"\1:***@", text))


def earlier(url: str, found: int) -> str:
    """Return what is said of a study of an earlier format."""
    return (
        f"{url} was made by an earlier version of bayesduel (format {found}, this version reads "
        f"{FORMAT}): export it with that version, and import the log into a new study."
    )
