"""The watch over a study: who looks at the standings gets them as they change; the webhook."""

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool

from bayesduel.serve.operations import Refused
from bayesduel.serve.pages import Pages

__all__ = ["Watch"]

STREAMS = 100  # open at once
TOLD = ("duels", "paused", "stopped", "pending")  # what a change of the standings is

log = logging.getLogger("bayesduel.serve")


class Watch:
    """Looks at the study every two seconds, and at once after an answer."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._now = asyncio.Event()
        self._ended = False
        self._changed = asyncio.Condition()
        self._found: dict[str, Any] = {}
        self._streams = 0

    def look(self) -> None:
        """Look soon, because something was told."""
        self._now.set()

    def end(self) -> None:
        """End the watch as soon as what it computes is there."""
        self._ended = True
        self._now.set()

    async def post(self) -> None:
        """Post to the webhook until the watch is ended: nobody who judges waits for it."""
        webhook = self._pages.webhook
        while webhook is not None and not self._ended:
            try:
                await run_in_threadpool(webhook.post)
            except Exception:  # of a database that is away for a while
                log.exception("posting to the webhook failed")
            # 0.5 seconds between two looks at what is to be posted
            await asyncio.sleep(0.5)

    async def run(self) -> None:
        """Watch until it is ended."""
        while not self._ended:
            try:
                await self._look()
            except Exception:  # a database that is away for a while ends no watch
                log.exception("the standings could not be computed")
            try:
                # 2 seconds between two looks at what other processes may have told
                await asyncio.wait_for(self._now.wait(), 2.0)
            except TimeoutError:
                continue
            if self._ended:
                return
            await asyncio.sleep(0.3)  # several answers at once are one change
            self._now.clear()

    async def _look(self) -> None:
        if not self._streams and self._pages.webhook is None:
            await run_in_threadpool(partial(self._pages.study.status, check=False))  # is stored
            return
        found = await run_in_threadpool(self._pages.standings)
        await run_in_threadpool(self._tell_stop, found)
        if any(found[name] != self._found.get(name) for name in TOLD):
            async with self._changed:
                self._found = found
                self._changed.notify_all()

    async def changes(self) -> AsyncIterator[dict[str, Any] | None]:
        """Yield the standings whenever they change, None after a silence.

        Raises Refused if too many streams are open.
        """
        if self._streams >= STREAMS:
            raise Refused(429, f"at most {STREAMS} pages may show the standings at once")
        self._streams += 1
        try:
            seen: dict[str, Any] | None = None
            while True:
                async with self._changed:
                    if self._found is seen or not self._found:
                        try:
                            # 15 seconds after which a stream says that it is still there
                            await asyncio.wait_for(self._changed.wait(), 15.0)
                        except TimeoutError:
                            pass
                    new = self._found if self._found is not seen else None
                seen = self._found
                yield new or None
        finally:
            self._streams -= 1

    def _tell_stop(self, found: dict[str, Any]) -> None:
        """Keep the standings for the webhook, once when the study stops."""
        store = self._pages.store
        webhook = self._pages.webhook
        stopped = found["stopped"]
        if webhook is None or stopped == bool(store.setting("posted")):
            return
        kept = {name: value for name, value in found.items() if name != "history"}
        with store.writing():
            if stopped:
                webhook.keep("stopped", f"stopped-{store.counts()[1]}", standings=kept)
            store.set(posted=stopped)
