"""A study with pages, its visitors, and a client of each."""

import csv
import shutil
import socket
import threading
import time
from types import SimpleNamespace

import pytest

import bayesduel as bd
from bayesduel import policies

ORIGIN = "http://127.0.0.1:8000"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
ARMS = ("secret-a", "secret-b", "secret-c")
# Everything that a ticket may ask, in words that run nowhere and fit no screen.
EVERYTHING = bd.study.Asking(
    grades=4, both_bad=True, criteria=["<b onclick=alert(7)>", "Donaudampfschiff" * 8, "=1+1"],
    reasons=["<script>alert(7)</script>", "x" * 90, "=cmd|' /C calc'!A1", "שלום", "short"],
    comment=True,
)  # fmt: skip
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


def write_content(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("arm", "item", "content"), *rows])
    return path


@pytest.fixture
def site(tmp_path):
    """Return a function that makes pages of a study, with a client a visitor."""
    pytest.importorskip("starlette")
    pytest.importorskip("httpx")
    from starlette.testclient import TestClient

    from bayesduel.serve.app import Site
    from bayesduel.serve.content import read_contents
    from bayesduel.serve.options import Options
    from bayesduel.serve.pages import Pages
    from bayesduel.serve.uploads import Uploads

    opened = []

    def made(
        items=None, rows=None, stop=None, arms=ARMS, path=None, policy=None, judging=None,
        asking=None, model=None, sources=None, uploads=None, **options,
    ):  # fmt: skip
        folder = tmp_path if path is None else path.parent
        path = path or folder / "own.study"
        study = bd.Study(
            path, arms=arms, policy=policy or policies.Uniform(), stop=stop, items=items,
            judging=judging, asking=asking, model=model, sources=sources,
        )  # fmt: skip
        (folder / "a.png").write_bytes(PNG)
        rows = rows or [(a, i, f"answer {n}") for i in items or [""] for n, a in enumerate(arms)]
        contents = read_contents(
            write_content(folder / "content.csv", rows), study.arms, items or []
        )
        if uploads is not None:
            contents = Uploads(uploads, study.arms, study.items)
        pages = Pages(study, contents, Options(**options))
        site = Site(pages, ["127.0.0.1"])
        tokens = {}

        def client(name, role="judge", *, begun=True, cookie=False):
            if name not in tokens:
                tokens[name] = pages.invited(name, role, 1)[1].partition("#")[2]
            token = tokens[name]
            headers = {} if cookie else {"authorization": f"Bearer {token}"}
            one = TestClient(
                site.app, base_url=ORIGIN, headers=headers, raise_server_exceptions=False,
                follow_redirects=False,
            )  # fmt: skip
            if cookie:
                sent = {"token": token, "arrival": ""}
                assert one.post("/enter", data=sent, headers={"origin": ORIGIN}).status_code == 303
            if role == "judge" and begun and not cookie:
                assert one.post("/api/judge/begin", json={"agree": True}).status_code == 200
            return one

        def stranger(**headers):
            return TestClient(
                site.app, base_url=ORIGIN, headers=headers, raise_server_exceptions=False,
                follow_redirects=False,
            )  # fmt: skip

        def framed():
            """Return a browser in which a page of another site shows these: cookies are Secure."""
            return TestClient(
                site.app, base_url=ORIGIN.replace("http:", "https:"), follow_redirects=False,
                raise_server_exceptions=False,
            )  # fmt: skip

        opened.append(pages)
        return SimpleNamespace(
            again=lambda: Pages(study, contents, Options(**options)),
            pages=pages,
            study=study,
            site=site,
            client=client,
            tokens=tokens,
            stranger=stranger,
            framed=framed,
        )

    yield made
    for pages in opened:
        pages.study.close()
        pages.store.close()


@pytest.fixture
def serving(site):
    """Return a function that makes pages of a study as `site` does, served by Uvicorn."""
    uvicorn = pytest.importorskip("uvicorn")
    running = []

    def made(**settings):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        found = site(public_url=f"http://127.0.0.1:{port}", **settings)
        server = uvicorn.Server(uvicorn.Config(found.site.app, port=port, log_level="error"))
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        while not server.started:
            time.sleep(0.05)
        return found

    yield made
    for server, thread in running:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def browser():
    """Return Chromium, one of a file of tests."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: bayesduel[browser]"
    )
    if not CHROMIUM:
        pytest.skip("no browser: Chromium should be installed")
    with api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser, serving):
    """Return a function that opens an address in a window of its own, and its faults."""
    contexts = []
    faults = []

    def made(address, **settings):
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
        page.goto(address)
        return page

    made.faults = faults
    yield made
    for context in contexts:
        context.close()


@pytest.fixture
def still_clock(monkeypatch):
    """Let no time pass for the limits: a slow machine fills no bucket again."""
    monkeypatch.setattr("bayesduel.serve.limits.time", SimpleNamespace(monotonic=lambda: 0.0))


@pytest.fixture
def expired(monkeypatch):
    """Return a function that lets days pass for the invitations."""

    def pass_days(days):
        now = time.time() + days * 86_400
        monkeypatch.setattr("bayesduel.serve.access.time.time", lambda: now)

    return pass_days
