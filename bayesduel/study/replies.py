"""Replies of a machine judge: each is stored as it comes, so that none is paid for twice.

A reply is of a ticket and of the arm that was shown on the left. A run that was killed finds the
replies of its open tickets here and asks only for what is missing.
"""

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from bayesduel.study.desk import Desk

if TYPE_CHECKING:
    from sqlalchemy.sql.base import Executable

__all__ = ["Replies", "Reply"]

metadata = sa.MetaData()
# A table of its own: a study that was made before there were replies has none.
replies = sa.Table(
    "replies",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("study", sa.Integer, nullable=False),
    sa.Column("judge", sa.String, nullable=False),
    sa.Column("ticket", sa.Integer, nullable=False),
    sa.Column("left", sa.String, nullable=False),  # label of the arm that was shown on the left
    # The word that it was read as, of several criteria JSON of them; None where it was none.
    sa.Column("answer", sa.String),
    sa.Column("text", sa.String, nullable=False),
    sa.Column("read", sa.Integer),  # tokens of the prompt and of the reply, None where not named
    sa.Column("written", sa.Integer),
    sa.Column("cost", sa.Float, nullable=False),
    sa.Column("at", sa.Float, nullable=False),  # seconds since 1970
    sa.Index("replies_by_ticket", "study", "ticket"),
)
OWN = replies.c.study == sa.bindparam("own")
OF_JUDGE = sa.select(replies).where(OWN, replies.c.judge == sa.bindparam("judge"))
OF_ORDER = OF_JUDGE.where(
    replies.c.ticket == sa.bindparam("ticket"), replies.c.left == sa.bindparam("left")
)


class Reply(NamedTuple):
    """A reply as it is stored."""

    ticket: int
    left: str
    answer: str | dict[str, str] | None  # of several criteria, by their names
    text: str
    read: int | None
    written: int | None
    cost: float


class Replies:
    """The replies of one machine judge.

    desk: the study, whose database holds them.
    judge: name of the machine in the study.
    """

    def __init__(self, desk: Desk, judge: str) -> None:
        self._desk = desk
        self._judge = judge
        with desk.together(), desk.store.writing() as connection:
            metadata.create_all(connection)

    def add(self, reply: Reply) -> None:
        """Store a reply; it is on disk when this returns."""
        own = {"study": self._desk.store.study, "judge": self._judge, "at": time.time()}
        if self._desk.asking.criteria and reply.answer is not None:
            reply = reply._replace(answer=json.dumps(reply.answer))
        with self._desk.together(), self._desk.store.writing() as connection:
            connection.execute(sa.insert(replies).values(**own, **reply._asdict()))

    def of_order(self, ticket: int, left: str) -> list[Reply]:
        """Return the replies to a ticket that was shown with an arm on the left."""
        return self._found(OF_ORDER, ticket=ticket, left=left)

    def all(self) -> list[Reply]:
        """Return all replies of the judge, in the order in which they came."""
        return self._found(OF_JUDGE.order_by(replies.c.number))

    def _found(self, query: "Executable", **given: Any) -> list[Reply]:
        rows: Sequence[Any] = self._desk.store.found(query, judge=self._judge, **given)
        found = [Reply(*(getattr(row, name) for name in Reply._fields)) for row in rows]
        if not self._desk.asking.criteria:
            return found
        return [
            reply if reply.answer is None else reply._replace(answer=json.loads(str(reply.answer)))
            for reply in found
        ]
