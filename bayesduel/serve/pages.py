"""The study behind the pages, and what the pages keep of it."""

import logging
import threading
import time
from typing import Any

from bayesduel.serve.access import Access, Invitation
from bayesduel.serve.content import Content, Contents, read_page
from bayesduel.serve.options import Options
from bayesduel.serve.standings import standings
from bayesduel.serve.uploads import Uploads
from bayesduel.serve.webhook import Webhook
from bayesduel.study.study import Study

__all__ = ["Pages"]

log = logging.getLogger("bayesduel.serve")


class Pages:
    """One study as the pages see it; threads may share it.

    study: the study. Its outcomes are left, right or tie.
    contents: what judges see of the arms, or the folder to which an administrator uploads it.
    options: what the pages say and allow.
    paused: whether no judge is asked at the moment.
    before: what judges read before the pairs ("instructions", "consent"), by its name.
    Raises ValueError if the study is of margins, or a picture of the instructions is missing.
    """

    def __init__(self, study: Study, contents: Contents | Uploads, options: Options) -> None:
        if study.model.response.outcome == "margin":
            raise ValueError(
                "the pages ask who is better, but the model of the study "
                f"({study.model.name!r}) needs margins"
            )
        self.study = study
        self.options = options
        self.uploads = contents if isinstance(contents, Uploads) else None
        self.contents = (
            contents
            if isinstance(contents, Contents)
            else contents.published(study.store.setting("content"))
        )
        self.before = {
            "instructions": read_page(options.instructions),
            "consent": Content("", "") if options.consent is None else read_page(options.consent),
        }
        self.store = study.store
        self.access = Access(self.store)
        self.webhook: Webhook | None = None
        if options.webhook is not None:
            self.webhook = Webhook(self.store, options.webhook, private=options.webhook_private)
        self.key = str(self.store.setting("key"))
        self.paused = bool(self.store.setting("paused"))
        self._standings_lock = threading.Lock()
        self._standings: dict[str, Any] = {}
        self._seen: tuple[int, int] | None = None
        self._due = 0.0

    def pause(self, paused: bool) -> None:
        """Ask no judge until told otherwise, or go on; it is stored."""
        self.store.set(paused=paused)
        self.paused = paused

    def publish(self) -> None:
        """Make the draft of the uploads what judges see; it is stored."""
        assert self.uploads is not None
        number, self.contents = self.uploads.publish()
        self.store.set(content=number)

    def invited(self, judge: str, role: str, days: float) -> tuple[Invitation, str]:
        """Return a new invitation and its link. The token stands behind #, which no server sees."""
        invitation, token = self.access.invite(judge, role, days)
        return invitation, f"{self.options.public_url}/enter#{token}"

    def renewed(self) -> Contents:
        """Return the contents, read again if their file changed."""
        arms = self.study.arms
        items = self.study.items
        try:
            self.contents = self.contents.renewed(arms, items)
        except (OSError, ValueError) as error:
            log.error("the contents could not be read again: %s", error)
        return self.contents

    # -- standings -------------------------------------------------------------------------

    def standings(self) -> dict[str, Any]:
        """Return the standings, at most as old as ten times what they cost to compute."""
        with self._standings_lock:
            began = time.monotonic()
            version = self.store.counts()
            if self._seen != version and began >= self._due:
                self._standings = standings(self.study, self.options.noun)
                self._seen = version
                now = time.monotonic()
                # 10 seconds between two looks at the standings, in terms of what one costs
                # 1 second between two looks, at least
                self._due = now + max(1.0, 10.0 * (now - began))
            return self._standings | {"paused": self.paused}
