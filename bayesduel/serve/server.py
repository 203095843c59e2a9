"""The server of the pages: Uvicorn, whose connections have to send their requests in time.

Uvicorn closes a connection that is idle after an answer, and none whose request never ends (its
issue 157); a middleware is called only once the head of a request is there. So the limits are kept
where bytes arrive. A connection *waits* while it has no complete request: it is new, or its request
is half sent, or its last answer is out. It may wait `LONGEST` seconds. Where too many wait, the one
that has waited longest is closed: a browser sends its request within milliseconds of connecting,
so the connections of an attacker go first. A browser opens one that was closed again by itself.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["LONGEST", "SETTINGS", "Connection"]

# Seconds until a request is complete. A body has at most 64 KiB (`limits.BODY`): 35 kbit a second,
# less than the slowest mobile networks carry.
LONGEST = 15.0
# Connections that wait, of all addresses and of one. 200 are left for requests that are complete.
MOST_WAITING = 300
MOST_WAITING_AT_ADDRESS = 100


class Connection(H11Protocol):
    """A connection whose requests have to be complete in time."""

    _deadline: asyncio.TimerHandle | None = None  # runs while the connection waits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait; close who waited longest where too many do."""
        super().connection_made(transport)
        self._wait()
        waiting = [c for c in self.connections if isinstance(c, Connection) and c._deadline]
        here = [c for c in waiting if c._address == self._address]
        crowded = here if len(here) > MOST_WAITING_AT_ADDRESS else waiting
        if crowded is here or len(waiting) > MOST_WAITING:
            min(crowded, key=Connection._until)._drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._go_on()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a complete request ends the wait."""
        super().data_received(data)
        if self._is_asked:
            self._go_on()

    def on_response_complete(self) -> None:
        """Wait for the next request, where it did not come already."""
        super().on_response_complete()
        if not self._is_asked and not self.transport.is_closing():
            self._wait()

    @property
    def _is_asked(self) -> bool:
        """Whether a complete request has no complete answer yet."""
        cycle = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    @property
    def _address(self) -> str:
        return "" if self.client is None else self.client[0]

    def _until(self) -> float:
        return 0.0 if self._deadline is None else self._deadline.when()

    def _wait(self) -> None:
        self._go_on()
        self._deadline = self.loop.call_later(LONGEST, self._drop)

    def _go_on(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _drop(self) -> None:
        """Close the connection, once what was answered is sent."""
        self._go_on()
        if self.transport.get_write_buffer_size():
            self.transport.close()
        else:
            self.transport.abort()


# What Uvicorn is started with, beside the application and the address.
SETTINGS: dict[str, Any] = {
    "http": Connection,
    "ws": "none",
    "access_log": False,
    "log_level": "warning",
    "server_header": False,
    # Connections at once, those that are answered included. Half of the 1,024 files that a process
    # may open on most Linux systems; 100 of them may be streams (`watch.STREAMS`).
    "limit_concurrency": 500,
    "timeout_graceful_shutdown": 3,
    "h11_max_incomplete_event_size": 32 * 1024,
}
