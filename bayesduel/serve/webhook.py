"""The webhook: what happens in a study is posted to an address, in order, until it is taken.

What is to be posted is kept in the study's database. A receiver that is away, and a server that is
killed, lose nothing; an answer never waits for a receiver. A post may come twice, with the same
id.

References
----------
Standard Webhooks (standardwebhooks.com): the headers webhook-id, webhook-timestamp and
webhook-signature, an HMAC-SHA256 of "id.timestamp.body".
"""

import base64
import hmac
import http.client
import json
import logging
import secrets
import socket
import ssl
import time
from collections.abc import Mapping
from hashlib import sha256
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa

from bayesduel.study.store import Store
from bayesduel.study.tickets import ticket_id

__all__ = ["Webhook", "signature"]

PATIENCE = 10.0  # seconds that a receiver may take, as GitHub's webhooks wait
POSTED = ("told", "corrected", "withdrawn")
SECRET = "webhook_secret"  # the setting that holds the key of the signatures

log = logging.getLogger("bayesduel.serve")
metadata = sa.MetaData()
deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("study", sa.Integer, nullable=False),
    sa.Column("key", sa.String(200), nullable=False),  # what happened, once
    sa.Column("body", sa.String, nullable=False),
    sa.Column("sent", sa.Float),  # when it was taken
    sa.UniqueConstraint("study", "key"),
)
OWN = deliveries.c.study == sa.bindparam("own")
WAITING = (
    sa.select(deliveries)
    .where(OWN, deliveries.c.sent.is_(None))
    .order_by(deliveries.c.number)
    .limit(100)  # the next look posts those that are left
)
KNOWN = sa.select(deliveries.c.number).where(OWN, deliveries.c.key == sa.bindparam("key"))


class Webhook:
    """The posts of one study.

    address: where they go.
    private: whether a name may stand for an address of a private network. An address that names
        such a one by its number, or localhost, is taken as it is.
    """

    def __init__(self, store: Store, address: str, *, private: bool = False) -> None:
        self._store = store
        self._address = urlsplit(address)
        self._private = private
        self._due = 0.0
        self._tries = 0
        with store.writing() as connection:
            metadata.create_all(connection)
            if store.setting("webhook_event") is None:  # what happened before is not posted
                store.set(webhook_event=store.counts()[1])
            if store.setting(SECRET) is None:
                store.set(**{SECRET: base64.b64encode(secrets.token_bytes(32)).decode()})
        self._secret = base64.b64decode(store.setting(SECRET))

    @property
    def secret(self) -> str:
        """The key of the signatures, as receivers take it."""
        return f"whsec_{base64.b64encode(self._secret).decode()}"

    def keep(self, event: str, key: str, **data: Any) -> None:
        """Store that something is to be posted after what was told; once for each key."""
        key = key if len(key) <= 200 else sha256(key.encode()).hexdigest()
        if not self._store.found(KNOWN, key=key):
            with self._store.writing():
                self._collect()
                self._add(event, key, data)

    def _add(self, event: str, key: str, data: Mapping[str, Any]) -> None:
        body = json.dumps({"event": event, "study": self._store.name, **data})
        row = {"study": self._store.study, "key": key, "body": body}
        with self._store.writing() as connection:
            if not self._store.found(KNOWN, key=key):
                connection.execute(sa.insert(deliveries), row)

    def post(self) -> None:
        """Store what was told since the last time, and post what waits, in order."""
        self._collect()
        if time.monotonic() < self._due:
            return
        for row in self._store.found(WAITING):
            if not self._is_taken(row):
                # 300 seconds between two tries, at most; they begin with one second and double
                self._due = time.monotonic() + min(2.0**self._tries, 300.0)
                self._tries += 1
                return
            self._tries = 0
            own = deliveries.c.number == row.number
            with self._store.writing() as connection:
                connection.execute(sa.update(deliveries).where(own).values(sent=time.time()))

    def _collect(self) -> None:
        known = int(self._store.setting("webhook_event"))
        if self._store.counts()[1] == known:
            return
        with self._store.writing():
            key = str(self._store.setting("key"))
            for event in self._store.events(known):
                if event.kind in POSTED and event.ticket is not None:
                    ticket = ticket_id(key, event.ticket)
                    more = {"ticket": ticket, "judge": event.judge, "at": event.at}
                    self._add(event.kind, f"event-{event.number}", more)
                known = event.number
            self._store.set(webhook_event=known)

    def _is_taken(self, row: Any) -> bool:
        try:
            status = self._sent(f"{self._store.setting('key')}-{row.number}", row.body.encode())
        except (OSError, http.client.HTTPException, ValueError) as error:
            log.warning("the webhook did not answer: %s", type(error).__name__)
            return False
        if not 200 <= status < 300:
            log.warning("the webhook answered with status %d", status)
        return 200 <= status < 300

    def _sent(self, name: str, body: bytes) -> int:
        """Post once, and return the status; an answer that leads elsewhere is not followed."""
        host = self._address.hostname or ""
        is_https = self._address.scheme == "https"
        port = self._address.port or (443 if is_https else 80)
        connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
        plain = socket.create_connection(self._place(host, port), timeout=PATIENCE)
        try:
            connection.sock = (
                ssl.create_default_context().wrap_socket(plain, server_hostname=host)
                if is_https
                else plain
            )
            path = self._address._replace(scheme="", netloc="", fragment="").geturl() or "/"
            headers = {"content-type": "application/json", "user-agent": "bayesduel"}
            headers |= signature(self._secret, name, str(int(time.time())), body)
            connection.request("POST", path, body, headers)
            return connection.getresponse().status
        finally:
            connection.close()
            plain.close()

    def _place(self, host: str, port: int) -> tuple[str, int]:
        """Return the number to connect to, looked up once.

        Raises ValueError if a name stands for a private one and may not.
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0]
        is_named = host == "localhost" or _is_number(host)
        if not (is_named or self._private or ip_address(str(found)).is_global):
            raise ValueError("the address of the webhook is of a private network")
        return str(found), port


def signature(secret: bytes, name: str, at: str, body: bytes) -> Mapping[str, str]:
    """Return the headers that sign a post.

    name: its id.
    at: seconds since 1970.
    """
    digest = hmac.digest(secret, f"{name}.{at}.".encode() + body, sha256)
    signed = f"v1,{base64.b64encode(digest).decode()}"
    return {"webhook-id": name, "webhook-timestamp": at, "webhook-signature": signed}


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
