"""The store of a study: every ask, answer and correction, in SQLite or another database.

Nothing is ever lost: an outcome that is corrected stays among the events. Queries are made once,
so that each costs little more than the database takes.
"""

import json
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BindParameter,
    Connection,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    inspect,
    select,
    update,
)

from bayesduel.study.asking import Answer
from bayesduel.study.database import Database, StudyError, earlier, exclusive
from bayesduel.study.end import End, end_of
from bayesduel.study.schema import (
    FORMAT,
    REPEAT,
    TRAINING,
    Event,
    Question,
    Row,
    arms,
    events,
    excluded,
    items,
    metadata,
    settings,
    studies,
    tickets,
)

if TYPE_CHECKING:
    from sqlalchemy.sql.base import Executable

__all__ = [
    "ANSWERED",
    "COST",
    "COUNTED",
    "DUELS",
    "ENDS",
    "EXPIRED",
    "OF_JUDGE",
    "PENDING",
    "SHARED",
    "TICKETS",
    "UNNAMED",
    "USED",
    "Store",
    "StudyError",
]

UNNAMED = "study"  # name of a study that was given none

Cells = list[tuple[int, int, float | None, int]]
Asks = list[tuple[int, int, int]]

own: BindParameter[int] = bindparam("own")
OUTCOMES = (None, 0.0, 0.5, 1.0)
N_TICKETS = select(func.max(tickets.c.number)).where(tickets.c.study == own).scalar_subquery()
N_EVENTS = select(func.max(events.c.number)).where(events.c.study == own).scalar_subquery()
COUNTS = select(func.coalesce(N_TICKETS, 0), func.coalesce(N_EVENTS, 0))
SETTINGS = select(settings.c.name, settings.c.value).where(settings.c.study == own)
SETTING = SETTINGS.where(settings.c.name == bindparam("name"))
ARMS = select(arms.c.label, arms.c.retired).where(arms.c.study == own).order_by(arms.c.number)
ITEMS = select(items.c.label).where(items.c.study == own).order_by(items.c.number)
COLUMNS_OF = [tickets.c[name] for name in Row._fields if name != "taken_back"]
TICKETS = select(*COLUMNS_OF).where(tickets.c.study == own).order_by(tickets.c.number)
TAKEN_BACK = (
    select(func.count())
    .where(
        events.c.study == tickets.c.study,
        events.c.ticket == tickets.c.number,
        events.c.kind == "withdrawn",
    )
    .correlate(tickets)
    .scalar_subquery()
)
COUNTED = TICKETS.add_columns(TAKEN_BACK)
TICKET = COUNTED.where(tickets.c.number == bindparam("number"))
DUEL = tickets.c.left, tickets.c.right
PAIR = (
    case((tickets.c.left < tickets.c.right, tickets.c.left), else_=tickets.c.right),
    case((tickets.c.left < tickets.c.right, tickets.c.right), else_=tickets.c.left),
)
OUT = exists().where(excluded.c.study == tickets.c.study, excluded.c.judge == tickets.c.judge)
EXCLUDED = select(excluded.c.judge, excluded.c.because).where(excluded.c.study == own)
RETIRED = select(arms.c.number).where(arms.c.study == own, arms.c.retired == 1).scalar_subquery()
LATE = (
    (tickets.c.asked <= bindparam("late"))
    | tickets.c.left.in_(RETIRED)
    | tickets.c.right.in_(RETIRED)
    | OUT
)
PENDING = TICKETS.where(tickets.c.state == "open", ~LATE)
EXPIRED = TICKETS.where(tickets.c.state == "open", LATE)
IS_DUEL = tickets.c.gold.is_(None) & (tickets.c.batch != REPEAT) & ~OUT
ANSWERED = TICKETS.where(tickets.c.state == "told", IS_DUEL)
DUELS = ANSWERED.where(tickets.c.outcome.is_not(None))
OF_JUDGE = COUNTED.where(tickets.c.judge == bindparam("judge"), tickets.c.state != "cancelled")
TOLD = (tickets.c.study == own) & (tickets.c.state == "told") & IS_DUEL
TOLD_CELLS = (
    select(*DUEL, tickets.c.outcome, func.count()).where(TOLD).group_by(*DUEL, tickets.c.outcome)
)
OPEN = (tickets.c.study == own) & (tickets.c.state == "open") & IS_DUEL
RESERVED = select(*DUEL, func.count()).where(OPEN, ~LATE).group_by(*DUEL)
USED = (
    select(*DUEL, tickets.c.item, func.count())
    .where(tickets.c.study == own, tickets.c.state.in_(("open", "told")), IS_DUEL)
    .group_by(*DUEL, tickets.c.item)
)
ASKS = (  # with 1 after the first ticket of a call
    select(tickets.c.batch, func.count(), func.max(tickets.c.known))
    .where(tickets.c.study == own, tickets.c.number > bindparam("number"), tickets.c.batch > 0)
    .group_by(tickets.c.batch)
    .order_by(tickets.c.batch)
)
OF_TICKET = (tickets.c.study == events.c.study) & (tickets.c.number == events.c.ticket)
OF_THE_TICKET = ("left", "right", "item", "judge", "gold", "batch")
COLUMNS = {name: (tickets if name in OF_THE_TICKET else events).c[name] for name in Event._fields}
EVENTS = (
    select(*COLUMNS.values())
    .select_from(events.outerjoin(tickets, OF_TICKET))
    .where(events.c.study == own, events.c.number > bindparam("number"))
    .order_by(events.c.number)
)
LAST_TOLD = (
    select(events.c.ticket, func.max(events.c.number).label("number"))
    .where(events.c.study == own, events.c.kind == "told")
    .group_by(events.c.ticket)
    .subquery()
)
REPLAY = (  # outcomes as they stand, in the order in which they were last told
    select(LAST_TOLD.c.number, tickets.c.left, tickets.c.right, tickets.c.outcome)
    .join(LAST_TOLD, LAST_TOLD.c.ticket == tickets.c.number)
    .where(TOLD, tickets.c.outcome.is_not(None))
    .order_by(LAST_TOLD.c.number)
)
ENDS = ("ended", "resumed")
BESIDE_THE_LOG = ("skipped", "cancelled", "reissued", *ENDS)  # events that change no outcome
LAST_OUTCOME = (
    select(events.c.number)
    .where(events.c.study == own, events.c.kind.not_in(BESIDE_THE_LOG))
    .order_by(events.c.number.desc())
    .limit(1)
)
LAST_END = (  # what happened last of these, looked up from the last event on
    select(events.c.kind, events.c.reason, events.c.who, events.c.at)
    .where(events.c.study == own, events.c.kind.in_(ENDS))
    .order_by(events.c.number.desc())
    .limit(1)
)
STATE = select(tickets.c.state).where(OF_TICKET).correlate(events).scalar_subquery()
LAST = (  # the ticket that someone answered or skipped last, where that stands
    select(events.c.ticket)
    .where(
        events.c.study == own,
        events.c.who == bindparam("who"),
        events.c.kind.in_(("told", "skipped")),
    )
    .where(STATE.in_(("told", "skipped")))  # looked up from the last event on: no join of all
    .order_by(events.c.number.desc())
    .limit(1)
    .scalar_subquery()
)
LATER = events.alias().c
TOUCHED = (
    select(LATER.who)
    .where(LATER.study == own, LATER.ticket == LAST)
    .order_by(LATER.number.desc())
    .limit(1)
    .scalar_subquery()
)
N_TOLD = (
    select(func.count())
    .where(
        tickets.c.study == own,
        tickets.c.judge == bindparam("who"),
        tickets.c.state == "told",
        tickets.c.batch != TRAINING,
    )
    .scalar_subquery()
)
DONE_BY = select(N_TOLD, LAST, TOUCHED)
SHARED = (  # what judges other than one answered, and how many of them did
    select(*PAIR, tickets.c.item, func.count(tickets.c.judge.distinct()))
    .where(TOLD, tickets.c.outcome.is_not(None), tickets.c.judge != bindparam("judge"))
    .group_by(*PAIR, tickets.c.item)
)
COST = select(func.coalesce(func.sum(tickets.c.cost), 0.0)).where(tickets.c.study == own)
NO_ANSWER = Answer(None)
CHANGE = update(tickets).where(tickets.c.study == own, tickets.c.number == bindparam("ticket"))


class Store(Database):
    """Tickets and events of one study.

    path: a file, a database URL such as "postgresql://...", or None for memory.
    name: of the study; None where the database holds one, or is to.
    Raises StudyError if the file is no study, is damaged, is of another format or holds several
    studies.
    """

    def __init__(self, path: str | Path | None, name: str | None = None) -> None:
        super().__init__(path)
        names = {} if self.is_new else self.names()
        if name is None and len(names) > 1:
            raise StudyError(
                f"{self.url} holds several studies: name should be one of {', '.join(names)}."
            )
        self.name = name or next(iter(names), UNNAMED)
        self.is_new = self.name not in names
        self.study = names.get(self.name, 0)
        if not self.is_new:
            found = self.setting("format")
            if found in (3, 4):  # tables lack columns that may be empty, or whole tables, at most
                self._grow()
                found = FORMAT
            if isinstance(found, int) and 0 < found < FORMAT:
                raise StudyError(earlier(self.url, found))
            if found != FORMAT:
                raise StudyError(
                    f"{self.url} was made by a newer version of bayesduel (format {found}, this "
                    f"version reads {FORMAT}): install that version to open it."
                )

    def _grow(self) -> None:
        """Add the columns and tables that earlier formats do not have, which loses nothing.

        Raises StudyError if the file cannot be written.
        """
        if self.read_only:
            raise StudyError(
                f"{self.url} was made by an earlier version of bayesduel. Open it once "
                "with permission to write: it then gets the columns of this version."
            )
        with self.writing() as connection:
            metadata.create_all(connection)
            for table in (tickets, events):
                known = {c["name"] for c in inspect(connection).get_columns(table.name)}
                for column in table.columns:
                    if column.name not in known:
                        kind = column.type.compile(connection.dialect)
                        change = f"ALTER TABLE {table.name} ADD COLUMN {column.name} {kind}"
                        connection.exec_driver_sql(change)
            self.set(format=FORMAT)

    def create(
        self, values: dict[str, Any], labels: Sequence[str], prompts: Sequence[str] = ()
    ) -> None:
        """Make the tables and store the settings, arms and items of a new study.

        Raises StudyError if another process made the study at the same time.
        """
        with self.errors(), self.engine.begin() as connection:
            exclusive(connection)
            metadata.create_all(connection)
            if connection.execute(select(studies).where(studies.c.name == self.name)).first():
                raise StudyError(f"{self.url} already holds a study {self.name!r}.")
            most = connection.execute(select(func.max(studies.c.number))).scalar()
            self.study = (most or 0) + 1
            connection.execute(insert(studies).values(number=self.study, name=self.name))
            stored = {"format": FORMAT, **values}.items()
            rows: dict[Any, list[dict[str, Any]]] = {
                settings: [{"name": k, "value": json.dumps(v)} for k, v in stored],
                arms: [{"number": i, "label": a, "retired": 0} for i, a in enumerate(labels)],
                items: [{"number": i, "label": p} for i, p in enumerate(prompts)],
            }
            for table, own_rows in rows.items():
                if own_rows:
                    connection.execute(
                        insert(table), [{"study": self.study, **r} for r in own_rows]
                    )
        self.is_new = False

    # -- reading ---------------------------------------------------------------------------

    def found(self, query: "Executable", **given: Any) -> Sequence[Any]:
        """Return the rows of a query of this study."""
        return super().found(query, own=self.study, **given)

    def setting(self, name: str) -> Any:
        """Return a setting, or None."""
        return self._read(self.found(SETTING, name=name)).get(name)

    def all_settings(self) -> dict[str, Any]:
        """Return every setting by name."""
        return self._read(self.found(SETTINGS))

    def _read(self, rows: Iterable[Any]) -> dict[str, Any]:
        values = {}
        for name, value in rows:
            try:
                values[name] = json.loads(value)
            except (RecursionError, ValueError) as error:
                raise StudyError(
                    f"{self.url} is damaged: its {name} should be JSON: {error}"
                ) from None
        return values

    def items(self) -> tuple[str, ...]:
        """Return the labels of the items, in order."""
        return tuple(label for (label,) in self.found(ITEMS))

    def excluded(self) -> dict[str, str]:
        """Return the judges whose answers do not count, and why."""
        return dict(tuple(row) for row in self.found(EXCLUDED))

    def last_outcome(self) -> int:
        """Return the number of the last event that changed the log or its arms, 0 without any."""
        for (number,) in self.found(LAST_OUTCOME):
            return int(number)
        return 0

    def end(self) -> End | None:
        """Return who ended the study, when and why; None where it goes on."""
        for event in self.found(LAST_END):
            return end_of(event)
        return None

    def snapshot(self) -> tuple[list[tuple[str, bool]], Cells, tuple[int, int]]:
        """Return the arms, the outcomes by cell and the last numbers, read at one moment.

        Label and whether retired of every arm; left, right, outcome and count of what was told;
        and the numbers of the last ticket and event.

        Raises StudyError if a ticket names an arm or an item that there is not, or an outcome that
        is none.
        """
        with self.reading():
            known = [(label, bool(retired)) for label, retired in self.found(ARMS)]
            cells: Cells = [tuple(row) for row in self.found(TOLD_CELLS)]
            now = self.counts()
            n_items = len(self.items())
            for name, most in (("left", len(known)), ("right", len(known)), ("item", n_items)):
                place = tickets.c[name]
                wrong = select(tickets.c.number, place).where(
                    tickets.c.study == own, (place < 0) | (place >= most)
                )  # fmt: skip
                for number, value in self.found(wrong.limit(1)):
                    what = "items" if name == "item" else "arms"
                    raise StudyError(
                        f"{self.url} is damaged: ticket {number} should be of {what} 0 to "
                        f"{most - 1}, got {value}."
                    )
        for _, _, outcome, _ in cells:
            if outcome not in OUTCOMES:
                raise StudyError(
                    f"{self.url} is damaged: an outcome should be 0, 0.5 or 1, got {outcome!r}."
                )
        return known, cells, now

    def counts(self) -> tuple[int, int]:
        """Return the numbers of the last ticket and of the last event.

        In a transaction that writes they are read once: it alone can add to them.
        """
        known: tuple[int, int] | None = getattr(self._held, "counts", None)
        if known is None:
            ((n_tickets, n_events),) = self.found(COUNTS)
            known = int(n_tickets), int(n_events)
            if getattr(self._held, "writes", False):
                self._held.counts = known
        return known

    def events(self, number: int = 0) -> list[Event]:
        """Return what happened after event `number`, in order."""
        return [Event._make(row) for row in self.found(EVENTS, number=number)]

    def asks(self, number: int) -> Asks:
        """Return the calls of ask after ticket `number`.

        The first ticket of each, how many it has, and the last event that the call knew.
        """
        return [tuple(row) for row in self.found(ASKS, number=number)]

    def replay(self) -> list[tuple[int, int, int, float]]:
        """Return number of the event, left, right and outcome of all that is told, in order."""
        return [tuple(row) for row in self.found(REPLAY)]

    def rows(self, query: "Executable", **given: Any) -> list[Row]:
        """Return the tickets of a query, in order."""
        return [Row(*row) for row in self.found(query, **given)]

    def row(self, number: int) -> Row | None:
        """Return a ticket, or None."""
        return next(iter(self.rows(TICKET, number=number)), None)

    def reserved(self, late: float) -> list[tuple[int, int, int]]:
        """Return the pairs of the open tickets that did not expire, and how many each has.

        late: when the last of those that expired by time was asked.
        """
        return [tuple(row) for row in self.found(RESERVED, late=late)]

    def done_by(self, who: str) -> tuple[int, int | None, str | None]:
        """Return how many tickets someone has told; the one that they answered or skipped last.

        And who touched that one last. None where there is none.
        """
        (found,) = self.found(DONE_BY, who=who)
        return found[0], found[1], found[2]

    # -- writing ---------------------------------------------------------------------------

    def writing(self) -> AbstractContextManager[Connection]:
        """Give a connection on which all is stored, or nothing; one writer at a time."""
        return self.exclusively(self.study)

    def set(self, **values: Any) -> None:
        """Store settings, over those of the same name."""
        with self.writing() as connection:
            for name, value in values.items():
                text = json.dumps(value)
                same = (settings.c.study == self.study) & (settings.c.name == name)
                if not connection.execute(update(settings).where(same).values(value=text)).rowcount:
                    row = {"study": self.study, "name": name, "value": text}
                    connection.execute(insert(settings), row)

    def keep(self, **values: Any) -> None:
        """Store what would otherwise be computed again, where the study can be written."""
        if not self.read_only:
            self.set(**values)

    def ask(
        self,
        asked: Sequence[Question],
        judge: str | None,
        counts: tuple[int, int],
        chosen: bool = True,
    ) -> list[Row]:
        """Store tickets, and return them.

        asked: what each is to ask.
        judge: who is to judge.
        counts: the numbers of the last ticket and event, as read in the same transaction.
        chosen: whether the policy chose them, so that its memory has to be brought up to it.
        """
        with self.writing() as connection:
            last, known = counts
            now = time.time()
            rows = [
                Row(
                    last + k,
                    q.left,
                    q.right,
                    q.item,
                    judge,
                    now,
                    "open",
                    None,
                    None,
                    None,
                    q.gold,
                    batch=q.batch or (last + 1) * chosen,
                )
                for k, q in enumerate(asked, start=1)
            ]
            more = {"study": self.study, "known": known}
            new = [{**more, **_columns(row)} for row in rows]
            connection.execute(insert(tickets), new if len(new) > 1 else new[0])  # one round trip
            self._held.counts = rows[-1].number, known
        return rows

    def happen(
        self, row: Row, kind: str, state: str, *, answer: Answer | None = None,
        reason: str | None = None, who: str | None = None, **changes: Any,
    ) -> None:  # fmt: skip
        """Store that something happened to a ticket, and bring it up to that.

        row: the ticket, read in the same transaction.
        answer: of the event and of the ticket after it; by default none.
        changes: other columns of the ticket, by name.
        """
        now = time.time()
        given = (answer or NO_ANSWER)._asdict()
        with self.writing() as connection:
            event = {"ticket": row.number, "kind": kind, "reason": reason, "who": who, "at": now}
            self._add_event(**event, **given)
            changes = {"state": state, "answered": None if state == "open" else now, **changes}
            mine = {"own": self.study, "ticket": row.number}
            connection.execute(CHANGE, {**mine, **given, **changes})

    def load(
        self,
        rows: Sequence[tuple[int, int, int | None, str | None, Answer]],
        reason: str | None,
    ) -> list[Row]:
        """Store told tickets: left, right, item, judge and answer of each."""
        with self.writing() as connection:
            n_tickets, n_events = self.counts()
            now = time.time()
            made = [
                Row(
                    n_tickets + k,
                    i,
                    j,
                    item,
                    judge,
                    now,
                    "told",
                    answer.outcome,
                    answer.margin,
                    now,
                    said=answer.said,
                )
                for k, (i, j, item, judge, answer) in enumerate(rows, start=1)
            ]
            for start in range(0, len(made), 5000):
                part = made[start : start + 5000]
                asked = {"study": self.study, "known": n_events}
                connection.execute(insert(tickets), [{**asked, **_columns(r)} for r in part])
                told = {"study": self.study, "kind": "told", "reason": reason, "at": now}
                connection.execute(
                    insert(events),
                    [
                        {**told, "number": n_events + start + k, "ticket": r.number,
                         "outcome": r.outcome, "margin": r.margin, "said": r.said, "who": r.judge}
                        for k, r in enumerate(part, start=1)
                    ],
                )  # fmt: skip
            self._held.counts = n_tickets + len(made), n_events + len(made)
        return made

    def add_arms(self, labels: Sequence[str], by: str | None) -> None:
        """Store arms behind those that are there."""
        with self.writing() as connection:
            known = [label for label, _ in self.found(ARMS)]
            for label in labels:
                if label in known:
                    raise StudyError(f"arms should be new to the study, got {label!r}")
            rows = [
                {"study": self.study, "number": len(known) + k, "label": a, "retired": 0}
                for k, a in enumerate(labels)
            ]
            connection.execute(insert(arms), rows)
            reason = f"added: {', '.join(labels)}"
            self._add_event(kind="arms", reason=reason, who=by, at=time.time())

    def retire_arms(self, numbers: Sequence[int], retired: bool, by: str | None) -> None:
        """Mark arms as retired, or as no longer so."""
        mine = (arms.c.study == self.study) & arms.c.number.in_(numbers)
        with self.writing() as connection:
            connection.execute(update(arms).where(mine).values(retired=int(retired)))
            labels = connection.execute(select(arms.c.label).where(mine)).scalars()
            reason = f"{'retired' if retired else 'restored'}: {', '.join(labels)}"
            self._add_event(kind="arms", reason=reason, who=by, at=time.time())

    def exclude(self, judge: str, because: str, by: str | None, *, out: bool = True) -> None:
        """Let the answers of a judge count no more, or again.

        because: why.
        by: who does it.
        """
        mine = (excluded.c.study == self.study) & (excluded.c.judge == judge)
        with self.writing() as connection:
            connection.execute(delete(excluded).where(mine))
            if out:
                row = {"study": self.study, "judge": judge, "because": because}
                connection.execute(insert(excluded), row)
            kind = "excluded" if out else "included"
            self._add_event(kind=kind, reason=f"{judge}: {because}", who=by, at=time.time())

    def set_end(self, reason: str, by: str | None, *, ended: bool) -> None:
        """Store that the study is ended, or resumed.

        reason: why, "" where nobody said it.
        by: who does it.
        """
        kind = "ended" if ended else "resumed"
        self._add_event(kind=kind, reason=reason or None, who=by, at=time.time())

    def _add_event(self, **values: Any) -> None:
        with self.writing() as connection:
            n_tickets, n_events = self.counts()
            row = {"study": self.study, "number": n_events + 1, **values}
            connection.execute(insert(events), row)
            self._held.counts = n_tickets, n_events + 1


def _columns(row: Row) -> dict[str, Any]:
    found = row._asdict()
    del found["taken_back"]
    return found
