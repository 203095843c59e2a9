"""Who may see what: invitations with unguessable tokens, stored as hashes.

A token is 256 random bits. The database holds its SHA-256 hash, so that nobody who reads the
database can enter; tokens expire and can be revoked, which takes effect with the next request.
"""

import re
import secrets
import time
from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest
from typing import Any, NamedTuple

import sqlalchemy as sa

from bayesduel.study.store import Store
from bayesduel.system.arguments import check_one_of, shown_value

__all__ = ["DAY", "ROLES", "Access", "Invitation"]

DAY = 86_400.0  # seconds
LONGEST = 366  # days that an invitation is valid, at most
NAME = 100  # characters of the name of a judge, at most
# judge: judges; open: makes a judge of everyone who opens the link; viewer: sees the standings.
ROLES = ("judge", "open", "viewer", "admin")

metadata = sa.MetaData()
invitations = sa.Table(
    "invitations",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("study", sa.Integer, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),
    sa.Column("role", sa.String(10), nullable=False),
    sa.Column("judge", sa.String, nullable=False),
    sa.Column("made", sa.Float, nullable=False),
    sa.Column("expires", sa.Float, nullable=False),
    sa.Column("revoked", sa.Float),
    sa.Column("opened", sa.Float),
    sa.Column("consented", sa.Float),
)
INVITATIONS = sa.select(invitations).where(invitations.c.study == sa.bindparam("own"))
VISITOR = INVITATIONS.where(invitations.c.hash == sa.bindparam("hash"))
CONSENTED = (
    sa.select(invitations.c.number)
    .where(invitations.c.study == sa.bindparam("own"), invitations.c.judge == sa.bindparam("judge"))
    .where(invitations.c.consented.is_not(None))
    .limit(1)
)


class Invitation(NamedTuple):
    """An invitation as stored, without its token. Times are seconds since 1970, or None."""

    number: int
    role: str
    judge: str
    made: float
    expires: float
    revoked: float | None
    opened: float | None
    consented: float | None

    @property
    def state(self) -> str:
        """Return "valid", "revoked" or "expired"."""
        if self.revoked is not None:
            return "revoked"
        return "valid" if time.time() < self.expires else "expired"


class Access:
    """The invitations of one study."""

    def __init__(self, store: Store) -> None:
        self._database, self._study = store, store.study
        with store.writing() as connection:
            metadata.create_all(connection)

    def invite(self, judge: str, role: str, days: float) -> tuple[Invitation, str]:
        """Store a new invitation; return it and its token, which is stored nowhere.

        Raises ValueError if the role is none, the name is empty, too long or has control
        characters, or the number of days is out of range.
        """
        check_one_of(role, "role", ROLES)
        name = " ".join(judge.split())
        if not 0 < len(name) <= NAME or re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", name):
            raise ValueError(
                f"judge should be a name of 1 to {NAME} characters, got {shown_value(judge)}"
            )
        if not 0 < days <= LONGEST:
            raise ValueError(f"days should be in (0, {LONGEST}], got {shown_value(days)}")
        token, now = secrets.token_urlsafe(32), time.time()
        expires = now + days * DAY
        row = {"role": role, "judge": name, "made": now, "expires": expires}
        with self._database.writing() as connection:
            stored = sa.insert(invitations).values(study=self._study, hash=_hash(token), **row)
            number = connection.execute(stored).inserted_primary_key
        assert number is not None
        return Invitation(number[0], role, name, now, expires, None, None, None), token

    def visitor(self, token: str) -> Invitation | None:
        """Return the invitation of a token, None unless it is valid now."""
        digest = _hash(token)
        row = next(iter(self._database.found(VISITOR, hash=digest)), None)
        if row is None or not compare_digest(row.hash, digest):
            return None
        found = _invitation(row)
        return found if found.state == "valid" else None

    def mark(self, number: int, name: str) -> None:
        """Store the time of a first: "opened", "consented" or "revoked"."""
        column = invitations.c[name]
        change = sa.update(invitations).where(
            invitations.c.number == number, invitations.c.study == self._study, column.is_(None)
        )
        with self._database.writing() as connection:
            connection.execute(change.values({name: time.time()}))

    def consented(self, judge: str) -> bool:
        """Return whether a judge has agreed to begin, by any invitation."""
        return bool(self._database.found(CONSENTED, judge=judge))

    def all(self) -> Sequence[Invitation]:
        """Return every invitation, the newest first."""
        newest = INVITATIONS.order_by(invitations.c.number.desc())
        return [_invitation(row) for row in self._database.found(newest)]


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _invitation(row: Any) -> Invitation:
    return Invitation(*(row._mapping[name] for name in Invitation._fields))
