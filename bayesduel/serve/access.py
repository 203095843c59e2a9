"""Who may see what: invitations with unguessable tokens, stored as hashes.

A token is 256 random bits. The database holds its SHA-256 hash, so that nobody who reads the
database can enter; tokens expire and can be revoked, which takes effect with the next request.

An open link makes a judge of each participant who opens it: the participant takes a seat. The seat
belongs to the browser that took it. The token of the seat is computed from a secret of that
browser, so that another browser cannot have it, whatever name it gives.
"""

import base64
import hmac
import json
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import chain, count
from typing import Any, NamedTuple

import sqlalchemy as sa

from bayesduel.serve.operations import Refused
from bayesduel.study.invitations import arrivals, invitations, metadata, seats
from bayesduel.study.judge_name import judge_name
from bayesduel.study.schema import excluded, tickets
from bayesduel.study.store import Store
from bayesduel.system.arguments import check_one_of, shown_value
from bayesduel.text import count as count_of

__all__ = ["DAY", "ROLES", "Access", "Full", "Invitation"]

DAY = 86_400.0  # seconds
LONGEST = 366  # days that an invitation is valid, at most: a year, of a link that may be lost
NAME = 100  # characters of the name of a judge, at most
# judge: judges; open: makes a judge of everyone who opens the link; viewer: sees the standings.
ROLES = ("judge", "open", "viewer", "admin")
# What is said to participants who are not let in.
TAKEN = (
    "Somebody began with this link in another browser. Open it in the browser where you began. If "
    "you cannot, ask the person who sent the link for a new one, and give this name: {}."
)
REVOKED = "Your invitation was revoked. Ask the person who sent the link."
FULL = (
    "This link has places for {}, and all are taken. Ask the person who sent it for another link."
)

INVITATIONS = sa.select(invitations).where(invitations.c.study == sa.bindparam("own"))
VISITOR = INVITATIONS.where(invitations.c.hash == sa.bindparam("hash"))
HASHED = sa.select(invitations.c.number).where(invitations.c.hash == sa.bindparam("hash"))
NAMED = (  # whether a judge is invited, or was asked
    sa.select(sa.literal(1))
    .where(invitations.c.study == sa.bindparam("own"), invitations.c.judge == sa.bindparam("judge"))
    .union_all(
        sa.select(sa.literal(1)).where(
            tickets.c.study == sa.bindparam("own"), tickets.c.judge == sa.bindparam("judge")
        )
    )
    .limit(1)
)
OF_LINK = seats.c.study == sa.bindparam("own"), seats.c.link == sa.bindparam("link")
IS_OUT = sa.exists().where(  # the seat of a judge who is excluded is free again
    excluded.c.study == seats.c.study,
    excluded.c.judge == invitations.c.judge,
    invitations.c.number == seats.c.invitation,
)
SEATED = sa.select(sa.func.count()).select_from(seats).where(*OF_LINK, ~IS_OUT)
ARRIVED = (  # the last that a link said of a judge
    sa.select(arrivals.c.fields)
    .join(invitations, invitations.c.number == arrivals.c.invitation)
    .where(arrivals.c.study == sa.bindparam("own"), invitations.c.judge == sa.bindparam("judge"))
    .order_by(arrivals.c.invitation.desc())
    .limit(1)
)
SEAT = (  # the judge of a participant
    sa.select(invitations.c.judge)
    .join(seats, seats.c.invitation == invitations.c.number)
    .where(*OF_LINK, seats.c.participant == sa.bindparam("participant"))
)
CONSENTED = (
    sa.select(invitations.c.number)
    .where(invitations.c.study == sa.bindparam("own"), invitations.c.judge == sa.bindparam("judge"))
    .where(invitations.c.consented.is_not(None))
    .limit(1)
)


class Full(Refused):
    """There is no place for a participant."""


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
        self._database = store
        self._study = store.study
        self._sources = {name for name, _ in store.setting("sources") or ()}
        with store.writing() as connection:
            metadata.create_all(connection)

    def invite(self, judge: str, role: str, days: float) -> tuple[Invitation, str]:
        """Store a new invitation; return it and its token, which is stored nowhere.

        Raises ValueError if the role is none, the name is empty, too long, has invisible
        characters or is that of a source, or the number of days is out of range.
        """
        check_one_of(role, "role", ROLES)
        name = judge_name(judge)
        if len(name) > NAME:
            raise ValueError(
                f"judge should be a name of 1 to {NAME} characters, got {shown_value(judge)}"
            )
        if role == "judge" and name in self._sources:
            raise ValueError(
                f"judge should not have the same name as a source of votes, got {shown_value(name)}"
            )
        if not 0 < days <= LONGEST:
            raise ValueError(f"days should be in (0, {LONGEST}], got {shown_value(days)}")
        token = secrets.token_urlsafe(32)
        return self._stored(token, name, role, time.time() + days * DAY), token

    def seat(
        self, link: Invitation, participant: str, browser: str, known: str, most: int
    ) -> tuple[Invitation, str]:
        """Return the invitation and the token of the judge who came by an open invitation.

        link: the open invitation.
        participant: name in the address of the link, "" where there is none.
        browser: the secret of the browser.
        known: token by which the browser is a judge already, or "".
        most: judges of the link.
        Raises Refused if the name is none, or the seat is another browser's or revoked; Full if
        the link has `most` judges, those who are excluded left out.
        """
        if participant and not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", participant):
            raise Refused(400, "participant should have 1 to 64 letters, digits, - or _")
        token = _seat_token(browser, link, participant)
        with self._database.writing() as connection:
            own = self.visitor(token)
            if own is not None:
                return own, token
            if self._database.found(HASHED, hash=_hash(token)):
                raise Refused(403, REVOKED)
            before = self.visitor(known) if known else None
            given = {"link": link.number, "participant": participant}
            taken = self._database.found(SEAT, **given) if participant else ()
            # Before there were seats, the name alone said who came by which link.
            judge = taken[0].judge if taken else f"{link.judge}-{participant}"
            if before is not None and before.role != "judge":
                before = None
            if before is not None and (not participant or before.judge == judge):
                return before, known
            if taken:
                raise Refused(403, TAKEN.format(shown_value(judge)))
            if self._database.found(SEATED, link=link.number)[0][0] >= most:
                raise Full(403, FULL.format(count_of(most, "judge")))
            name = self._free_name(f"{link.judge}-{participant or secrets.token_hex(6)}")
            made = self._stored(token, name, "judge", link.expires)
            row = {"invitation": made.number, "study": self._study, **given}
            connection.execute(sa.insert(seats), row | {"participant": participant or None})
        return made, token

    def arrived(self, number: int, fields: Mapping[str, str]) -> None:
        """Store what the link of a recruiter said of who has an invitation, over an earlier one."""
        row = {"invitation": number, "study": self._study, "fields": json.dumps(dict(fields))}
        with self._database.writing() as connection:
            connection.execute(sa.delete(arrivals).where(arrivals.c.invitation == number))
            connection.execute(sa.insert(arrivals), row)

    def arrival(self, judge: str) -> dict[str, str]:
        """Return what the link of a recruiter said of a judge, {} where there was none."""
        found = self._database.found(ARRIVED, judge=judge)
        return dict(json.loads(found[0].fields)) if found else {}

    def _free_name(self, name: str) -> str:
        """Return a name, or it and a number where a judge or a source is called like that."""
        names = chain([name], (f"{name}-{k}" for k in count(2)))
        free = (each for each in names if each not in self._sources)
        return next(each for each in free if not self._database.found(NAMED, judge=each))

    def _stored(self, token: str, judge: str, role: str, expires: float) -> Invitation:
        now = time.time()
        row = {"role": role, "judge": judge, "made": now, "expires": expires}
        with self._database.writing() as connection:
            stored = sa.insert(invitations).values(study=self._study, hash=_hash(token), **row)
            number = connection.execute(stored).inserted_primary_key
        assert number is not None
        return Invitation(number[0], role, judge, now, expires, None, None, None)

    def visitor(self, token: str) -> Invitation | None:
        """Return the invitation of a token, None unless it is valid now."""
        digest = _hash(token)
        row = next(iter(self._database.found(VISITOR, hash=digest)), None)
        if row is None or not hmac.compare_digest(row.hash, digest):
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


def _seat_token(browser: str, link: Invitation, participant: str) -> str:
    """Return the token of a seat: 256 bits that only the browser with this secret can compute."""
    digest = hmac.digest(browser.encode(), f"{link.number} {participant}".encode(), sha256)
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _invitation(row: Any) -> Invitation:
    return Invitation(*(row._mapping[name] for name in Invitation._fields))
