"""The study behind the pages, and what the pages keep of it."""

import threading
import time
from typing import Any

from sqlalchemy import func, select

from bayesduel.serve.access import Access, Invitation
from bayesduel.serve.content import Contents
from bayesduel.serve.options import Options
from bayesduel.serve.standings import standings
from bayesduel.study.queries import counts
from bayesduel.study.schema import events, tickets
from bayesduel.study.store import Store
from bayesduel.study.study import Study

__all__ = ["Pages"]

SHARE = 10.0  # seconds between two looks at the standings, in terms of what one costs
SOONEST = 1.0  # seconds between two looks, at least


class Pages:
    """One study as the pages see it; threads may share it.

    Parameters
    ----------
    study
        The study. Its outcomes are left, right or tie.
    contents
        What judges see of the arms.
    options
        What the pages say and allow.
    path
        File or database URL of the study.

    Raises
    ------
    ValueError
        If the study is of margins.

    Attributes
    ----------
    lock
        Held while a judge's answer is checked and stored.
    """

    def __init__(self, study: Study, contents: Contents, options: Options, path: Any) -> None:
        if study.model.response.outcome == "margin":
            raise ValueError(
                f"the model should take left, right and tie, got {study.model.name!r}: margins"
            )
        self.study, self.contents, self.options = study, contents, options
        self.store = Store(path, study.name)
        self.access = Access(self.store)
        self.key = str(self.store.setting("key"))
        self.lock = threading.Lock()
        self._standings_lock = threading.Lock()
        self._standings: dict[str, Any] = {}
        self._seen: tuple[int, int] | None = None
        self._due = 0.0
        self._remembered = 0

    @property
    def paused(self) -> bool:
        """Whether no judge is asked at the moment."""
        return self.access.note("paused") == "yes"

    def invited(self, judge: str, role: str, days: float) -> tuple[Invitation, str]:
        """Return a new invitation and its link. The token stands behind #, which no server sees."""
        invitation, token = self.access.invite(judge, role, days)
        return invitation, f"{self.options.public_url}/enter#{token}"

    # -- of a judge ------------------------------------------------------------------------

    def answered(self, judge: str) -> int:
        """Return how many tickets a judge has told."""
        own = tickets.c.study == self.store.study, tickets.c.judge == judge
        query = select(func.count()).where(*own, tickets.c.state == "told")
        with self.store.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def answers(self) -> dict[str, dict[str, int]]:
        """Return how many tickets of each judge are in each state, by judge."""
        query = (
            select(tickets.c.judge, tickets.c.state, func.count())
            .where(tickets.c.study == self.store.study, tickets.c.judge.is_not(None))
            .group_by(tickets.c.judge, tickets.c.state)
        )
        found: dict[str, dict[str, int]] = {}
        with self.store.reading() as connection:
            for judge, state, n in connection.execute(query):
                found.setdefault(judge, {})[state] = n
        return found

    def taken_back(self, number: int) -> int:
        """Return how often an answer to a ticket was taken back."""
        own = events.c.study == self.store.study, events.c.ticket == number
        query = select(func.count()).where(*own, events.c.kind == "withdrawn")
        with self.store.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def version(self) -> tuple[int, int]:
        """Return the numbers of the last ticket and of the last event."""
        with self.store.reading() as connection:
            return counts(connection, self.store.study)

    # -- standings -------------------------------------------------------------------------

    def remember(self) -> None:
        """Let the study store the probability of its answer, where there are new duels."""
        n = self.study.n_duels
        if n != self._remembered:
            self.study.status(check=False)
            self._remembered = n

    def standings(self, fresh: bool = False) -> dict[str, Any]:
        """Return the standings, at most as old as ten times what they cost to compute."""
        with self._standings_lock:
            began, version = time.monotonic(), self.version()
            if not self._standings or (self._seen != version and (fresh or began >= self._due)):
                self._seen, self._standings = version, standings(self.study)
                now = time.monotonic()
                self._due = now + max(SOONEST, SHARE * (now - began))
            return self._standings | {"paused": self.paused}
