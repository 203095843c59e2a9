"""Nobody gets in without a valid invitation, nor further than it says."""

import json
import os
import re
import sqlite3
from contextlib import closing
from importlib.resources import files

import pytest

import bayesduel as bd
from tests.serve.conftest import EVERYTHING

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")

ORIGIN = "http://127.0.0.1:8000"
PUBLIC = {"/", "/enter", "/leave", "/api/openapi.json", "/static/{name}"}
JUDGES = {
    "/judge", "/judge/media/{ticket}/{side}/{number}", "/judge/before/{part}/{number}",
}  # fmt: skip
HOSTILE = "alert(7)"
RUNS = re.compile(r"<script[^>]*>\s*alert\(7|<[^>]*\son\w+=\"?alert\(7|<svg on|<b on")
BODIES = {
    "/api/judge/begin": {"agree": True},
    "/api/judge/answer": {
        "key": "TICKET.0",
        "answer": "1",
        "comment": "fine",
        "reasons": [],
        "criteria": {},
    },
    "/api/judge/undo": {"ticket": "TICKET"},
    "/api/admin/invite": {"judges": "eve", "role": "admin"},
    "/api/admin/revoke": {"invitation": 1},
    "/api/admin/pause": {"paused": True},
    "/api/admin/end": {"ended": True, "reason": "x"},
    "/api/admin/content": {"publish": True},
    "/api/admin/retire": {"arm": "secret-a", "retired": True},
    "/api/admin/exclude": {"judge": "ann", "excluded": True, "because": "x"},
    "/api/admin/correct": {"ticket": "TICKET", "outcome": "left", "reason": "mine"},
}


def routes(made):
    """Return method, path and role of every route that is not public."""
    for route in made.site.app.routes:
        if route.path not in PUBLIC:
            judges = route.path in JUDGES or route.path.startswith("/api/judge")
            for method in route.methods - {"HEAD"}:
                yield method, route.path, "judge" if judges else "admin"


def ask(client, method, path, ticket, **headers):
    """Send the best request that there is for a route."""
    address = path.format(
        ticket=ticket, side="left", number="0", part="consent", key="x", answer="0"
    )
    body = json.dumps(BODIES.get(path, {})).replace("TICKET", ticket)
    more = {"content": body} if method == "POST" else {}
    kind = {"content-type": "application/json"} if method == "POST" else {}
    return client.request(method, address, headers=kind | headers, **more)


def kept(made):
    """Return all that a break-in could have changed."""
    return made.study.audit(), made.study.retired, made.pages.paused, made.pages.access.all()


@pytest.fixture
def told(site):
    """Return pages with an outcome of ann, an open ticket of hers, and two others."""
    asking = bd.study.Asking(both_bad=True, reasons=["clear"], comment=True)
    rows = [(a, "", "a.png") for a in ("secret-a", "secret-b", "secret-c")]
    made = site(rows=rows, asking=asking)
    ann = made.client("ann")
    first = ann.get("/api/judge").json()["ticket"]
    state = ann.post("/api/judge/answer", json={"key": first["key"], "answer": "1"}).json()
    made.client("bob"), made.client("root", "admin"), made.client("eye", "viewer")
    made.ticket, made.open = first["id"], state["ticket"]["id"]
    return made


def test_every_route_is_public_or_guarded(told):
    assert {path for _, path, _ in routes(told)} >= set(BODIES) | JUDGES
    assert len(list(routes(told))) == 29


@pytest.mark.parametrize(
    "token", ["", "x", "Bearer", "a" * 43, "é" * 20, "a" * 5000, "' or 1=1 --"]
)
@pytest.mark.sampled(3)
def test_no_route_opens_without_a_token_that_is_known(told, token):
    told.site.strangers.wait = lambda who: 0
    before = kept(told)
    for way in ("header", "cookie"):
        for method, path, role in routes(told):
            name = f"bayesduel_{told.pages.key}_{role}"
            headers = {"authorization": f"Bearer {token}".encode()}
            if way == "cookie":
                headers = {"cookie": f"{name}={token}".encode(), "origin": ORIGIN}
            answer = ask(told.stranger(), method, path, told.open, **headers)
            assert answer.status_code == 401, (way, path)
            assert "secret" not in answer.text
    assert kept(told) == before


@pytest.mark.parametrize("why", ["expired", "revoked", "other study"])
def test_no_route_opens_with_a_token_that_is_no_more(told, why, expired, site, tmp_path):
    told.site.strangers.wait = lambda who: 0
    if why == "expired":
        expired(1.01)
    elif why == "revoked":
        for invitation in told.pages.access.all():
            told.pages.access.mark(invitation.number, "revoked")
    else:
        (tmp_path / "other").mkdir()
        other = site(path=tmp_path / "other" / "own.study")
        other.client("ann"), other.client("root", "admin")
        told.tokens |= other.tokens
    before = kept(told)
    for method, path, role in routes(told):
        token = told.tokens["ann" if role == "judge" else "root"]
        client = told.stranger(authorization=f"Bearer {token}")
        assert ask(client, method, path, told.open).status_code == 401, path
    assert kept(told) == before


@pytest.mark.parametrize("who", ["bob", "eye", "root"])
def test_no_role_opens_the_pages_of_another(told, who):
    client = told.stranger(authorization=f"Bearer {told.tokens[who]}")
    allowed = {"bob": "/api/judge /judge", "eye": "/standings /api/standings", "root": "/a /s"}[who]
    before = kept(told)
    for method, path, role in routes(told):
        mine = path.startswith(tuple(allowed.split())) and (who != "root" or role == "admin")
        if not mine:
            assert ask(client, method, path, told.open).status_code == 403, path
    assert kept(told) == before


def test_a_judge_sees_and_answers_only_tickets_of_her_own(told):
    bob = told.stranger(authorization=f"Bearer {told.tokens['bob']}")
    before = kept(told)
    paths = ("/judge/media/{ticket}/{side}/{number}", "/api/judge/answer", "/api/judge/undo")
    for path in paths:
        for ticket in (told.ticket, told.open, told.open.rpartition("-")[2]):
            method = "GET" if "media" in path else "POST"
            assert ask(bob, method, path, ticket).status_code in (400, 404), (path, ticket)
    assert kept(told) == before
    ann = told.stranger(authorization=f"Bearer {told.tokens['ann']}")
    assert ann.get(f"/judge/media/{told.open}/left/0").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
        {"origin": ORIGIN, "sec-fetch-site": "same-site"},
    ],
)
def test_another_site_cannot_act_through_a_browser(told, headers):
    clients = {role: told.client(name, role, cookie=True) for name, role in
               (("ann", "judge"), ("root", "admin"))}  # fmt: skip
    before = kept(told)
    for method, path, role in routes(told):
        if method == "POST":
            assert ask(clients[role], method, path, told.open, **headers).status_code == 403, path
    sent = {"token": told.tokens["bob"]}
    assert told.stranger(**headers).post("/enter", data=sent).status_code == 403
    assert kept(told) == before


def test_the_cookie_is_for_this_site_and_no_script(told):
    answer = told.stranger(origin=ORIGIN).post("/enter", data={"token": told.tokens["ann"]})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert "secure" not in cookie  # served by HTTP


def test_the_cookie_goes_by_https_only_where_the_pages_do(site):
    made = site(public_url="https://judge.example.org")
    made.client("ann")
    answer = made.stranger(origin=ORIGIN).post("/enter", data={"token": made.tokens["ann"]})
    assert "; secure" in answer.headers["set-cookie"].lower()
    assert "strict-transport-security" in answer.headers


def test_another_name_of_the_host_is_refused(told):
    assert told.stranger(host="evil.example").get("/enter").status_code == 400


def test_tokens_are_stored_hashed_and_written_nowhere(told, caplog, tmp_path):
    with closing(sqlite3.connect(tmp_path / "own.study")) as base:
        stored = "\n".join(base.iterdump())
    for token in told.tokens.values():
        assert token not in stored
        assert token not in caplog.text
    assert "ann" in stored


@pytest.mark.parametrize("path", sorted(BODIES))
@pytest.mark.sampled(2)
def test_wrong_bodies_are_refused(told, path):
    who = "ann" if "judge" in path else "root"
    client = told.stranger(authorization=f"Bearer {told.tokens[who]}")
    good = json.loads(json.dumps(BODIES[path]).replace("TICKET", told.open))
    wrong = [b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 30_000, b'{"a": 1e999}']
    wrong += [json.dumps({**good, "more": 1}).encode(), json.dumps({"x" * 500: 1}).encode()]
    for name in good:
        for value in (None, [], {}, 10**30, -1, "", "x" * 30_000, "\x00", "\ud800", True, 1.5, "é"):
            if type(value) is not type(good[name]) or value in ("", "\x00", "\ud800", -1):
                wrong.append(json.dumps({**good, name: value}).encode())
    before = kept(told)
    told.site.known.wait = lambda who: 0
    for body in wrong:
        answer = client.post(path, content=body, headers={"content-type": "application/json"})
        assert 400 <= answer.status_code < 500, (body[:80], answer.text)
        assert set(answer.json()) == {"error"}
    assert client.post(path, content=b"x" * 70_000).status_code == 413
    assert client.post(path, content=(b"x" * 9000 for _ in range(9))).status_code == 413
    assert client.post(path, json=good, headers={"content-type": "text/plain"}).status_code == 400
    assert kept(told) == before


def test_lengths_that_are_none_are_refused(told):
    for length in ("-1", "x", "9" * 30, "65537"):
        answer = told.stranger().post("/enter", content=b"", headers={"content-length": length})
        assert answer.status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/static/..%2f..%2fapp.py", "/static/../app.py", "/static/%2e%2e/app.py",
        "/static/page.css%00", "/static//etc/passwd", "/judge/media/{t}/left/1",
        "/judge/media/{t}/left/-1", "/judge/media/{t}/left/%2e%2e%2fown.study",
        "/judge/media/{t}/..%2f/0", "/judge/media/{t}/prompt/0", "/judge/media/{t}/left/0/..",
        "/judge/media/{t}/left/٣", "/judge/media/..%2f..%2fown.study/left/0", "/own.study",
        "/judge/media/{t}/__class__/0", "/admin/..%2f..%2fetc/passwd",
    ],
)  # fmt: skip
@pytest.mark.sampled(3)
def test_no_path_leaves_its_place(told, path):
    ann = told.stranger(authorization=f"Bearer {told.tokens['ann']}")
    answer = ann.get(path.format(t=told.open))
    assert answer.status_code == 404
    assert b"SQLite" not in answer.content and b"import" not in answer.content


def test_a_file_that_left_the_folder_is_not_sent(told, tmp_path):
    ann = told.stranger(authorization=f"Bearer {told.tokens['ann']}")
    (tmp_path / "a.png").unlink()
    os.symlink("/etc/passwd", tmp_path / "a.png")
    assert ann.get(f"/judge/media/{told.open}/left/0").status_code == 404


def test_names_with_scripts_run_on_no_page(site, tmp_path):
    arms = (f"<script>{HOSTILE}", f'"><img src=x onerror="{HOSTILE}">', f"=cmd|'{HOSTILE}'!A1")
    picture = f"<svg onload={HOSTILE}>.png"
    (tmp_path / picture).write_bytes(b"x")
    item = f"<b onclick={HOSTILE}>"
    rows = [(a, item, text) for a, text in zip(arms, (picture, arms[0], arms[1]), strict=True)]
    asked = {"title": arms[0], "question": arms[1], "asking": EVERYTHING}
    made = site(arms=arms, items=[item], rows=rows, **asked)
    name = f"</td><script>{HOSTILE}"
    judge, other = made.client(name), made.client("bob")
    root = made.client("root", "admin", cookie=True)
    for client in (judge, other):
        state = client.get("/api/judge").json()
        for side in ("prompt", "left", "right"):
            assert not RUNS.search(state["ticket"][side] or ""), state
        sent = {"key": state["ticket"]["key"], "answer": "1 better", "comment": arms[2],
                "reasons": list(EVERYTHING.reasons),
                "criteria": dict.fromkeys(EVERYTHING.others, "both bad")}  # fmt: skip
        assert client.post("/api/judge/answer", json=sent).status_code == 200
    assert not RUNS.search(judge.get("/judge").text)
    for path in ("/admin", "/standings", "/standings/part", "/admin/report.html"):
        answer = root.get(path)
        assert answer.status_code == 200
        assert HOSTILE in answer.text
        assert not RUNS.search(answer.text), path
    sent = {"judges": name, "role": "judge"}
    made_links = root.post("/api/admin/invite", data=sent, headers={"origin": ORIGIN})
    links = root.get(made_links.headers["location"])
    assert HOSTILE in links.text and not RUNS.search(links.text)
    cells = re.split(r"[,\n]", root.get("/admin/duels.csv").text)
    assert not any(cell.strip('"').startswith("=") for cell in cells)


@pytest.mark.usefixtures("still_clock")
def test_guessing_is_slowed_down(told):
    stranger = told.stranger(authorization="Bearer guess")
    seen = [stranger.get("/api/judge").status_code for _ in range(40)]
    assert seen[:30] == [401] * 30
    assert set(seen[30:]) == {429}


@pytest.mark.usefixtures("still_clock")
def test_a_judge_who_floods_is_slowed_down(told):
    ann = told.stranger(authorization=f"Bearer {told.tokens['ann']}")
    seen = [ann.get("/api/judge").status_code for _ in range(150)]
    assert 429 in seen
    bob = told.stranger(authorization=f"Bearer {told.tokens['bob']}")
    assert bob.get("/api/judge").status_code == 200


def test_every_answer_has_a_policy_that_forbids_inline_scripts(told):
    for client, path in (
        (told.stranger(), "/enter"), (told.stranger(), "/nowhere"),
        (told.client("root", "admin", cookie=True), "/admin"), (told.stranger(), "/api/judge"),
    ):  # fmt: skip
        answer = client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy and "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_templates_have_no_inline_scripts_or_styles_and_no_address_of_the_network():
    folder = files("bayesduel.serve")
    for page in (folder / "templates").iterdir():
        source = page.read_text(encoding="utf-8")
        assert not re.search(r"<script(?! src=\"/static/)|\son\w+=|\sstyle=|<style", source), page
        assert "//" not in re.sub(r"\{#.*?#\}", "", source), page
    for name in (folder / "static").iterdir():
        if not name.name.endswith(".svg"):
            text = re.sub(r"^\s*//.*$|/\*.*?\*/|\s//\s.*$", "", name.read_text(), flags=re.M)
            text = text.replace("http://www.w3.org/1998/Math/MathML", "")  # a name, no address
            assert not re.search(r"//\w|\beval\(|\bFunction\(", text), name
