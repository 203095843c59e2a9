"""What every request and answer has to keep: sizes, rates, and headers.

Plain ASGI middleware, so that a body is never read beyond its limit and an answer is never kept.
"""

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from bayesduel.serve.operations import Refused
from bayesduel.system.arguments import shown_value
from bayesduel.text import join

__all__ = ["BODY", "BodyLimit", "Headers", "Hosts", "Rate"]

BODY = 64 * 1024  # bytes of a request, at most
TOO_LARGE = "the body should have at most {:,} bytes"
STRANGE = (
    "the host should be {}, got {}. If this server is behind a proxy, let the proxy keep the Host "
    "header. Start `bayesduel study serve` with --public-url and the address in the browser"
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


class Hosts:
    """Refuse requests that name another host, as those of a page that renamed itself to this site.

    allowed: names of this server; ["*"] for any.
    """

    def __init__(self, app: ASGIApp, allowed: Sequence[str]) -> None:
        self._app = app
        self._allowed = {name.lower() for name in allowed}
        self._names = join(sorted(self._allowed), word="or")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and "*" not in self._allowed:
            named = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            host = re.sub(r":\d*$", "", named).strip("[]").lower()
            if host not in self._allowed:
                raise Refused(400, STRANGE.format(self._names, shown_value(named)))
        await self._app(scope, receive, send)


class BodyLimit:
    """Refuse a request whose body is larger than `BODY`, whatever length it names.

    larger: bytes of a body, by the paths that take more.
    """

    def __init__(self, app: ASGIApp, larger: Mapping[str, int]) -> None:
        self._app = app
        self._larger = larger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        named = dict(scope["headers"]).get(b"content-length", b"0")
        most = self._larger.get(scope["path"], BODY)
        read = 0

        async def counted() -> Any:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise Refused(413, TOO_LARGE.format(most))
            return message

        if not named.isdigit() or len(named) > 12 or int(named) > most:
            raise Refused(413, TOO_LARGE.format(most))
        await self._app(scope, counted, send)


class Headers:
    """Add the headers of `HEADERS` that an answer does not set itself.

    secure: whether browsers are to come by HTTPS alone from now on.
    frames: sites whose pages may show these pages in a frame; never those of the administrator.
    forms: other sites to which a page may send a form.
    """

    def __init__(
        self, app: ASGIApp, secure: bool, frames: Sequence[str] = (), forms: Sequence[str] = ()
    ) -> None:
        self._app = app
        more = {"strict-transport-security": "max-age=31536000"} if secure else {}
        own = HEADERS | more
        self._headers = [(k.encode(), v.encode()) for k, v in own.items()]
        policy = POLICY.replace("form-action 'self'", " ".join(["form-action 'self'", *forms]))
        if frames:
            policy = policy.replace("ancestors 'none'", f"ancestors {' '.join(frames)}")
            del own["x-frame-options"]
        own["content-security-policy"] = policy
        self._framed = [(k.encode(), v.encode()) for k, v in own.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                administers = scope["path"].startswith("/admin")
                headers = self._headers if administers else self._framed
                missing = [pair for pair in headers if pair[0] not in own]
                message = {**message, "headers": [*message["headers"], *missing]}
            await send(message)

        await self._app(scope, receive, sent)


class Rate:
    """How often someone may do something: a bucket of tokens each, filled at a constant rate.

    per_second: tokens a second.
    burst: tokens in a full bucket.
    """

    KEPT = 10_000  # buckets; full ones are forgotten beyond that

    def __init__(self, per_second: float, burst: float) -> None:
        self._rate = per_second
        self._burst = burst
        self._buckets: dict[str, tuple[float, float]] = {}

    def wait(self, who: str) -> float:
        """Take a token; return 0, or the seconds until there is one."""
        now = time.monotonic()
        left, since = self._buckets.get(who, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        if left < 1:
            return (1 - left) / self._rate
        self._buckets[who] = left - 1, now
        if len(self._buckets) > self.KEPT:
            full = self._burst / self._rate
            self._buckets = {k: v for k, v in self._buckets.items() if now - v[1] < full}
        return 0.0
