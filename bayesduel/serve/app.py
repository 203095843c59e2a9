"""The application: routes, who is let in, and how an answer is sent.

A page of a browser says who it is by an HttpOnly cookie and has to come from this site; a program
by the header ``Authorization: Bearer TOKEN``. Tokens stand in no address that a server sees.
"""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, select_autoescape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from bayesduel.serve import admin, judging
from bayesduel.serve.access import DAY, Full, Invitation
from bayesduel.serve.choices import asked_of_judges
from bayesduel.serve.judging import judge_state
from bayesduel.serve.limits import BodyLimit, Headers, Hosts, Rate
from bayesduel.serve.links import Links
from bayesduel.serve.operations import Operation, Refused, checked_body, document, text, typed
from bayesduel.serve.pages import Pages
from bayesduel.serve.recruiters import TURK, arrival, is_preview, participant, way_back
from bayesduel.serve.schedule import Turns
from bayesduel.serve.standings import curve
from bayesduel.serve.uploads import PART
from bayesduel.serve.watch import Watch
from bayesduel.system.arguments import shown_value
from bayesduel.text import plural

__all__ = ["Site"]

STATIC = {"page.css": "text/css", "temml.css": "text/css", "temml.min.js": "text/javascript",
          "formulas.js": "text/javascript", "content.js": "text/javascript",
          "enter.js": "text/javascript",
          "judge.js": "text/javascript",
          "upload.js": "text/javascript",
          "live.js": "text/javascript", "admin.js": "text/javascript",
          "icon.svg": "image/svg+xml"}  # fmt: skip
MEDIA_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
UPLOAD = "/api/admin/upload"
LOOKERS = ("viewer", "admin")
PLACES = {"admin": "/admin", "judge": "/judge", "viewer": "/standings"}  # by role
BROWSER = "browser"  # the cookie that holds the secret of a browser

ELSEWHERE = (
    "the request should come from a page of {}, but it came from a page of {}. If this server is "
    "behind a proxy, start `bayesduel study serve` with --public-url and the address in the browser"
)

type Endpoint = Callable[[Request], Awaitable[Response]]


class Site:
    """Routes of the pages of one study.

    hosts: names by which browsers may reach it; ["*"] for any.
    """

    def __init__(self, pages: Pages, hosts: list[str]) -> None:
        self.pages = pages
        self.watch = Watch(pages)
        self.strangers = Rate(per_second=0.5, burst=30)  # by address: those who show no valid token
        self.known = Rate(per_second=10, burst=60)  # by invitation
        self.heavy = Rate(per_second=0.2, burst=5)  # reports, by invitation
        self.turns = Turns(pages.study)
        self.links = Links()
        self.operations = self._operations()
        self.templates = Environment(
            loader=PackageLoader("bayesduel.serve"), autoescape=select_autoescape(["html"])
        )
        self.templates.globals["curve"] = curve
        folder = files("bayesduel.serve") / "static"
        self.static = {name: (folder / name).read_bytes() for name in STATIC}
        self.app = Starlette(
            routes=self._routes(),
            middleware=[
                Middleware(
                    Headers,
                    secure=pages.options.secure,
                    frames=pages.options.frames,
                    forms=TURK if pages.options.recruiter == "mturk" else (),
                ),
                Middleware(ExceptionMiddleware, handlers={Refused: self._refused}),
                Middleware(Hosts, allowed=hosts),
                Middleware(BodyLimit, larger={UPLOAD: PART}),
            ],
            exception_handlers={
                Refused: self._refused,
                HTTPException: self._not_found,
                ClientDisconnect: _gone,
            },
            lifespan=self._lifespan,
        )

    # -- routes ----------------------------------------------------------------------------

    def _operations(self) -> tuple[Operation, ...]:
        lookers = (*LOOKERS, "judge") if self.pages.options.open_standings else LOOKERS

        def get_standings(pages: Pages, visitor: Invitation, body: dict[str, Any]) -> Any:
            return pages.standings()

        return (
            *judging.OPERATIONS,
            Operation(
                "GET", "/api/standings", lookers, get_standings,
                "Verdict, ranking with intervals, probability over time, agreement of judges.",
            ),
            *admin.OPERATIONS,
        )  # fmt: skip

    def _routes(self) -> list[Route]:
        by_path = {o.path: o for o in self.operations}
        looking = by_path["/api/standings"].roles
        found = [Route(o.path, self._served(o), methods=[o.method]) for o in self.operations]
        return [
            *found,
            Route("/", self._home),
            Route("/enter", self._enter_page),
            Route("/enter", self._enter, methods=["POST"]),
            Route("/leave", self._leave, methods=["POST"]),
            Route("/judge", self._page(("judge",), self._judge_page)),
            Route("/judge/media/{ticket}/{side}/{number}", self._page(("judge",), self._media)),
            Route("/judge/before/{part}/{number}", self._page(("judge",), self._before)),
            Route("/standings", self._page(looking, partial(self._standings, "standings.html"))),
            Route(
                "/standings/part",
                self._page(looking, partial(self._standings, "standings_part.html")),
            ),
            Route("/api/standings/stream", self._page(looking, self._stream)),
            Route("/admin", self._page(("admin",), self._admin_page)),
            Route(UPLOAD, self._page(("admin",), self._upload), methods=["POST"]),
            Route("/admin/content", self._page(("admin",), self._content_page)),
            Route("/admin/content/{answer}/{number}", self._page(("admin",), self._content_file)),
            Route("/admin/links/{key}", self._page(("admin",), self._links_page)),
            *(
                Route(f"/admin/{name}.csv", self._page(("admin",), partial(self._export, name)))
                for name in ("duels", "tickets", "audit")
            ),
            Route("/admin/report.html", self._page(("admin",), self._report)),
            Route("/api/openapi.json", self._document),
            Route("/static/{name}", self._static),
        ]

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(self.watch.run())
        posting = asyncio.create_task(self.watch.post())
        yield
        self.watch.end()
        await posting
        await watching  # a thread that reads the study would outlive a task that is cancelled

    def _served(self, operation: Operation) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            visitor = await self._visitor(request, operation.roles)
            raw = await request.body()
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            form = kind == "application/x-www-form-urlencoded"
            if operation.method == "POST" and kind != "application/json" and not form:
                raise Refused(400, "content-type should be application/json")
            try:
                result = await done(visitor, checked_body(operation, raw, form))
            except Refused as error:
                if not form or not _wants_page(request) or "admin" not in operation.roles:
                    raise
                return await self._admin_page(request, visitor, error, typed(raw))
            if operation.method == "POST":
                self.watch.look()
            if not form:
                return JSONResponse(result)
            place = "/admin"
            if "links" in result:
                place = f"/admin/links/{self.links.keep(visitor.number, result['links'])}"
            return RedirectResponse(place, status_code=303)

        async def done(visitor: Invitation, body: dict[str, Any]) -> Any:
            try:
                call = partial(operation.call, self.pages, visitor, body)
                if operation.roles == ("judge",):
                    return await self.turns.take(call, partial(judge_state, self.pages, visitor))
                return await run_in_threadpool(call)
            except KeyError as error:
                raise Refused(404, str(error.args[0])) from error
            except ValueError as error:
                if visitor.role == "judge":
                    raise Refused(
                        503, "the study has a problem now: please try again later"
                    ) from error
                raise Refused(400, str(error)) from error

        return endpoint

    def _page(self, roles: tuple[str, ...], show: Any) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            try:
                visitor = await self._visitor(request, roles)
            except Refused as error:
                if error.status != 401 or not _wants_page(request):
                    raise
                return self._rendered("enter.html", status=401, wrong=False)
            answer: Response = await show(request, visitor)
            return answer

        return endpoint

    # -- who is there ----------------------------------------------------------------------

    async def _visitor(self, request: Request, roles: tuple[str, ...]) -> Invitation:
        """Return who sends a request; refuse who has no token of a role, or asks too often."""
        header = request.headers.get("authorization", "")
        tokens = [header.removeprefix("Bearer ")] if header.startswith("Bearer ") else []
        if not tokens:
            if request.method not in ("GET", "HEAD"):
                self._check_same_site(request)
            names = [_cookie(self.pages, role) for role in ("judge", "viewer", "admin")]
            tokens = [request.cookies[n] for n in names if n in request.cookies]
        found = [
            v
            for token in tokens
            if 0 < len(token) <= 100
            if (v := await run_in_threadpool(self.pages.access.visitor, token))
        ]
        if not found:
            if tokens:
                self._slow_down(self.strangers, _address(request))
            raise Refused(401, "this needs a valid invitation: open your link again")
        for visitor in found:
            if visitor.role in roles:
                self._slow_down(self.known, str(visitor.number))
                return visitor
        raise Refused(403, "your invitation is for another page")

    def _check_same_site(self, request: Request) -> None:
        """Refuse a request that a page of another site may have made a browser send.

        Its origin has to be the host that the request names, or the public address: a proxy in
        front may have put another host there.
        """
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site")
        own = request.headers.get("host"), self.pages.options.netloc
        if origin is None or site not in (None, "same-origin") or not urlsplit(origin).netloc:
            raise Refused(403, "the request should come from a page of this site")
        if urlsplit(origin).netloc not in own:
            raise Refused(403, ELSEWHERE.format(self.pages.options.public_url, shown_value(origin)))

    def _slow_down(self, rate: Rate, who: str) -> None:
        wait = rate.wait(who)
        if wait:
            raise Refused(429, f"too many requests: try again in {wait:.0f} s")

    async def _home(self, request: Request) -> Response:
        for role, place in PLACES.items():
            if _cookie(self.pages, role) in request.cookies:
                return RedirectResponse(place, status_code=303)
        return RedirectResponse("/enter", status_code=303)

    async def _enter_page(self, request: Request) -> Response:
        """Show the form, and give the secret of the browser before it is needed.

        A form that is sent again, because its answer was lost, then comes from the same browser.
        The cookie is Lax: a link on another site brings it along, so that it is not replaced.
        """
        preview = is_preview(arrival(request.url.query))
        answer = self._rendered("enter.html", wrong=False, preview=preview)
        self._set_cookie(answer, BROWSER, _browser_secret(self.pages, request), "lax")
        return answer

    async def _enter(self, request: Request) -> Response:
        """Give the cookie of an invitation; of an open one, give a seat first."""
        self._check_same_site(request)
        fields = {"token": text(100), "arrival": text(4000, minLength=0)}
        enter = Operation("POST", "/enter", (), dict, "", body=fields, optional=("arrival",))
        body = checked_body(enter, await request.body(), form=True)
        access = self.pages.access
        token = body["token"]
        found = await run_in_threadpool(access.visitor, token)
        if found is None:  # only these are slowed down: a lecture hall has one address
            self._slow_down(self.strangers, _address(request))
            return self._rendered("enter.html", status=401, wrong=True)
        came = arrival(body.get("arrival") or "")
        if is_preview(came):
            return self._rendered("enter.html", preview=True)
        visitor = found
        options = self.pages.options
        secret = _browser_secret(self.pages, request)
        is_open = visitor.role == "open"
        if is_open:
            known = request.cookies.get(_cookie(self.pages, "judge"), "")
            most = options.most(visitor.judge)
            try:
                visitor, token = await run_in_threadpool(
                    access.seat, visitor, participant(came), secret, known, most
                )
                if came:
                    await run_in_threadpool(access.arrived, visitor.number, came)
            except Full as error:
                given = options.full or options.screened_out
                back = way_back(options.recruiter, "full", given, came)
                said = error.message if back or given is None else given
                return self._rendered("enter.html", error.status, refused=said, back=back)
            except Refused as error:
                return self._rendered("enter.html", error.status, refused=error.message)
        await run_in_threadpool(access.mark, visitor.number, "opened")
        answer = RedirectResponse(PLACES[visitor.role], status_code=303)
        self._set_cookie(answer, visitor.role, token, "strict")
        if is_open:
            self._set_cookie(answer, BROWSER, secret, "lax")
        return answer

    def _set_cookie(
        self, answer: Response, name: str, value: str, same_site: Literal["lax", "strict"]
    ) -> None:
        """Set a cookie; in a frame of another site it is sent where it is not that of an admin.

        What a page sends has to come from this site all the same: see ``_check_same_site``.
        """
        framed = bool(self.pages.options.frames) and name != "admin"
        answer.set_cookie(
            _cookie(self.pages, name),
            value,
            max_age=int(366 * DAY),
            httponly=True,
            samesite="none" if framed else same_site,
            secure=self.pages.options.secure or framed,
        )
        if framed:  # of the site that shows the frame alone: browsers that block others keep it
            header, held = answer.raw_headers[-1]
            answer.raw_headers[-1] = header, held + b"; Partitioned"

    async def _leave(self, request: Request) -> Response:
        self._check_same_site(request)
        answer = RedirectResponse("/enter", status_code=303)
        for name in (*PLACES, BROWSER):
            answer.delete_cookie(_cookie(self.pages, name))
        return answer

    # -- what is shown ---------------------------------------------------------------------

    def _rendered(self, name: str, status: int = 200, **values: Any) -> Response:
        template = self.templates.get_template(name)
        return HTMLResponse(
            template.render(
                options=self.pages.options,
                say=self.pages.options.say,
                nouns=plural(self.pages.options.noun),
                **values,
            ),
            status,
        )

    async def _judge_page(self, request: Request, visitor: Invitation) -> Response:
        shown = await run_in_threadpool(judging.instructions, self.pages)
        key = judging.page_key(self.pages, visitor)
        asking = asked_of_judges(self.pages.study.asking, self.pages.options.say)
        return self._rendered("judge.html", judge=visitor.judge, key=key, asking=asking, **shown)

    async def _media(self, request: Request, visitor: Invitation) -> Response:
        path = await run_in_threadpool(
            judging.media_file, self.pages, visitor, **request.path_params
        )
        return _sent_file(path)

    async def _before(self, request: Request, visitor: Invitation) -> Response:
        path = await run_in_threadpool(judging.page_file, self.pages, **request.path_params)
        return _sent_file(path)

    async def _standings(self, template: str, request: Request, visitor: Invitation) -> Response:
        s = await run_in_threadpool(self.pages.standings)
        return self._rendered(template, s=s, role=visitor.role)

    async def _stream(self, request: Request, visitor: Invitation) -> Response:
        """Send the standings whenever they change, while the invitation is valid."""
        again = partial(self._visitor, request, (visitor.role,))

        async def sent() -> AsyncIterator[str]:
            async for found in self.watch.changes():
                try:
                    await again()
                except Refused:
                    return
                yield f"data: {json.dumps(found)}\n\n" if found else ": still here\n\n"

        return StreamingResponse(sent(), media_type="text/event-stream")

    async def _admin_page(
        self,
        request: Request,
        visitor: Invitation,
        error: Refused | None = None,
        typed: dict[str, str] | None = None,
    ) -> Response:
        """Show the page; where a form was refused, with the reason and what was typed in it."""
        s = await run_in_threadpool(admin.admin_state, self.pages, visitor, {})
        status = 200 if error is None else error.status
        said = "" if error is None else error.message
        return self._rendered("admin.html", status, s=s, me=visitor, error=said, typed=typed or {})

    async def _upload(self, request: Request, visitor: Invitation) -> Response:
        """Store a part of a file: ``name``, ``size`` and ``offset`` of the query, and the body."""
        given = request.query_params
        numbers = [given.get(name, "") for name in ("size", "offset")]
        if not all(re.fullmatch(r"[0-9]{1,12}", number) for number in numbers):
            raise Refused(400, "size and offset should be whole numbers of bytes")
        size, offset = map(int, numbers)
        data = await request.body()
        stored = partial(admin.uploads_of(self.pages).add, given.get("name", ""), size, offset)
        return JSONResponse({"whole": await run_in_threadpool(stored, data)})

    async def _content_page(self, request: Request, visitor: Invitation) -> Response:
        found = await run_in_threadpool(admin.draft_state, self.pages)
        return self._rendered("content.html", **found)

    async def _content_file(self, request: Request, visitor: Invitation) -> Response:
        path = await run_in_threadpool(admin.draft_file, self.pages, **request.path_params)
        return _sent_file(path)

    async def _links_page(self, request: Request, visitor: Invitation) -> Response:
        links = self.links.kept(visitor.number, request.path_params["key"])
        return self._rendered("links.html", 200 if links else 404, links=links)

    async def _refused(self, request: Request, error: Exception) -> Response:
        """Say why a request is refused: to a browser on a page, to a program in JSON."""
        assert isinstance(error, Refused)
        headers = {
            429: {"retry-after": "2"},
            503: {"retry-after": "2"},
            413: {"connection": "close"},
        }
        own = headers.get(error.status)
        if not _wants_page(request):
            return JSONResponse({"error": error.message}, error.status, own)
        answer = self._rendered("refused.html", error.status, message=error.message)
        answer.headers.update(own or {})
        return answer

    async def _not_found(self, request: Request, error: Exception) -> Response:
        """Answer a request for an address, or by a method, that there is not."""
        assert isinstance(error, HTTPException)
        if not _wants_page(request):
            return PlainTextResponse(error.detail, error.status_code, error.headers)
        return await self._refused(request, Refused(error.status_code, "there is no such page"))

    async def _export(self, what: str, request: Request, visitor: Invitation) -> Response:
        written = await run_in_threadpool(admin.exported, self.pages, what)
        return Response(written, media_type="text/csv", headers=_attached(f"{what}.csv"))

    async def _report(self, request: Request, visitor: Invitation) -> Response:
        self._slow_down(self.heavy, str(visitor.number))
        page = await run_in_threadpool(admin.reported, self.pages)
        return Response(page, media_type="text/html", headers=_attached("report.html"))

    async def _document(self, request: Request) -> Response:
        options = self.pages.options
        return JSONResponse(document(self.operations, options.title, options.public_url))

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise Refused(404, "this file does not exist")
        headers = {"cache-control": "no-cache"}
        return Response(self.static[name], media_type=STATIC[name], headers=headers)


def _wants_page(request: Request) -> bool:
    """Return whether a browser asks for a page, and no program for JSON."""
    return "text/html" in request.headers.get("accept", "")


async def _gone(request: Request, error: Exception) -> Response:
    """Answer nobody: the connection was dropped before the request was read."""
    return Response(status_code=400)


def _cookie(pages: Pages, name: str) -> str:
    """Return the name of a cookie: of one study, as ports of a host share their cookies."""
    return f"bayesduel_{pages.key}_{name}"


def _browser_secret(pages: Pages, request: Request) -> str:
    """Return the secret of the browser, a new one where it has none."""
    held = request.cookies.get(_cookie(pages, BROWSER), "")
    return held if re.fullmatch(r"[A-Za-z0-9_-]{43}", held) else secrets.token_urlsafe(32)


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host


def _sent_file(path: Path) -> Response:
    headers = {"content-security-policy": MEDIA_POLICY, "cache-control": "private, max-age=600"}
    return FileResponse(path, headers=headers)


def _attached(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}
