"""The webhook: signed, in order, kept while the receiver is away and through kill -9."""

import base64
import hmac
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import bayesduel as bd
from bayesduel.serve.webhook import Webhook, signature

pytestmark = pytest.mark.plain
pytest.importorskip("uvicorn")


class Receiver:
    """A receiver of posts, which may be away, ill, or lead elsewhere."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.taken, self.status, self._server = [], 204, None

    def start(self):
        owner = self

        class Hook(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                owner.taken.append((owner.status, dict(self.headers), body))
                self.send_response(owner.status)
                self.send_header("location", f"http://127.0.0.1:{owner.port}/elsewhere")
                self.end_headers()

            def log_message(self, *_):
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Hook)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def good(self):
        return [(headers, json.loads(body)) for status, headers, body in self.taken if status < 300]


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.stop()


# Each starts a server, or two. Who leads elsewhere at first is never away later.
@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("away", "killed"),
    [
        pytest.param("never", False, marks=pytest.mark.slow),
        pytest.param("at first", True, marks=pytest.mark.slow),
        ("ill at first", True),
        ("leads elsewhere at first", False),
    ],
)
def test_all_is_posted_in_order_signed_and_once(away, killed, receiver, tmp_path):
    path = str(tmp_path / "own.study")
    bd.Study(path, arms=["tea", "coffee", "cocoa"], stop=bd.study.Budget(3)).close()
    if away != "at first":
        receiver.start()
        receiver.status = {"never": 204, "ill at first": 500}.get(away, 302)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "bayesduel", "study", "serve", path, "--show-labels", "--port",
               str(port), "--webhook", f"http://127.0.0.1:{receiver.port}/hook?x=1"]  # fmt: skip
    said = tmp_path / "said.txt"

    def served():
        with said.open("w") as file:
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        while "signatures" not in said.read_text():
            assert process.poll() is None, said.read_text()
            time.sleep(0.1)
        return process

    process = served()
    try:
        secret = said.read_text().partition("whsec_")[2].split()[0]
        study = bd.Study(path)
        for k in range(3):
            study.tell(study.ask(judge=f"judge {k}"), "left")
        study.correct("1", "right", "a slip")
        time.sleep(1.2)
        if killed:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            process = served()
            assert secret in said.read_text()
        if away == "at first":
            receiver.start()
        receiver.status = 204
        for _ in range(300):
            if {body["event"] for _, body in receiver.good} >= {"told", "corrected", "stopped"}:
                break
            time.sleep(0.1)
        study.close()
    finally:
        process.kill()
        process.wait()
    posts = {headers["webhook-id"]: (headers, body) for headers, body in receiver.good}
    bodies = [body for _, body in posts.values()]
    told = [(b["event"], b["ticket"][-1]) for b in bodies if b["event"] != "stopped"]
    assert told == [("told", "1"), ("told", "2"), ("told", "3"), ("corrected", "1")]
    assert sum(b["event"] == "stopped" for b in bodies) == 1
    if not killed:  # a killed server may not have stored that a post was taken
        assert len(posts) == len(receiver.good)
    for status, headers, body in receiver.taken:
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        digest = hmac.digest(base64.b64decode(secret), signed, "sha256")
        assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
        assert abs(time.time() - int(headers["webhook-timestamp"])) < 120
        assert status in (204, 302, 500)


@pytest.mark.parametrize(
    ("address", "found", "private", "goes"),
    [
        ("http://hook.example.org/", "93.184.215.14", False, True),
        ("http://hook.example.org/", "10.0.0.7", False, False),
        ("http://hook.example.org/", "169.254.169.254", False, False),
        ("http://hook.example.org/", "127.0.0.1", False, False),
        ("http://hook.example.org/", "::1", False, False),
        ("http://hook.example.org/", "10.0.0.7", True, True),
        ("http://10.0.0.7/", "10.0.0.7", False, True),
        ("http://localhost/", "127.0.0.1", False, True),
    ],
)
def test_a_name_of_a_private_address_is_not_posted_to(address, found, private, goes, monkeypatch):
    called = []

    def lookup(host, port, **_):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port))]

    def connected(place, timeout):
        called.append(place)
        raise ConnectionRefusedError

    monkeypatch.setattr("bayesduel.serve.webhook.socket.getaddrinfo", lookup)
    monkeypatch.setattr("bayesduel.serve.webhook.socket.create_connection", connected)
    study = bd.Study(arms=["tea", "coffee"])
    webhook = Webhook(study.store, address, private=private)
    study.tell(study.ask(), "left")
    webhook.post()
    assert called == ([(found, 80)] if goes else [])


def test_a_judge_who_finishes_is_posted_once_and_no_answer_waits(site, monkeypatch):
    sent = []
    made = site(judging=bd.study.Judging(quota=1), webhook="http://127.0.0.1:9/")
    monkeypatch.setattr(made.pages.webhook, "_sent", lambda name, body: sent.append(body) or 204)
    judge = made.client("ann")
    key = judge.get("/api/judge").json()["ticket"]["key"]
    judge.post("/api/judge/answer", json={"key": key, "answer": "1"})
    assert not sent  # what is posted is posted beside the answers
    for _ in range(3):
        judge.get("/api/judge")
        made.pages.webhook.post()
    events = [json.loads(body)["event"] for body in sent]
    assert sorted(events) == ["finished", "told"]
    assert "whsec" not in judge.get("/api/judge").text


def test_a_signature_is_that_of_the_standard():
    """The example of the specification's libraries: key, id, time and body as they have it."""
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    found = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b'{"test": 2432232314}')
    assert found["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_check_of_the_docs_takes_what_is_signed_and_nothing_else():
    text = (Path(__file__).parents[2] / "docs" / "how_to" / "judges.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, flags=re.S)[-1]
    names = {}
    exec(code, names)
    secret = b"k" * 32
    key = f"whsec_{base64.b64encode(secret).decode()}"
    headers = signature(secret, "id-1", "1614265330", b"{}")
    assert names["is_ours"](headers, b"{}", key)
    assert not names["is_ours"](headers, b"{ }", key)
    assert not names["is_ours"]({**headers, "webhook-timestamp": "1614265331"}, b"{}", key)
