"""Connections that never send a complete request do not keep judges away."""

import http.client
import json
import socket
import threading
import time
from contextlib import ExitStack

import pytest

pytestmark = pytest.mark.plain
pytest.importorskip("starlette")
uvicorn = pytest.importorskip("uvicorn")
server = pytest.importorskip("bayesduel.serve.server")

HEAD = b"GET /api/judge HTTP/1.1\r\nHost: 127.0.0.1\r\n"
BODY = (
    b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 40\r\n\r\ntoken="
)
IDLE = b"GET /static/page.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
SLOW = {"nothing": b"", "half a head": HEAD, "half a body": BODY, "no second request": IDLE}


@pytest.fixture
def served(site):
    """Return pages that are served with the settings of the command, and their port."""
    made = site()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = uvicorn.Server(uvicorn.Config(made.site.app, port=port, **server.SETTINGS))
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        time.sleep(0.05)
    yield made, port
    running.should_exit = True
    thread.join()


def connected(port, sent):
    """Return a connection that has sent this, and sends no more."""
    one = socket.create_connection(("127.0.0.1", port), timeout=10)
    one.sendall(sent)
    return one


def asked(port, method, path, token, body=None):
    """Return the status and the text of the answer to a judge, over a new connection."""
    judge = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    judge.request(method, path, body=body, headers=headers)
    answer = judge.getresponse()
    text = answer.read().decode()
    judge.close()
    return answer.status, text


def closed(one):
    """Return whether the server closed a connection; what it answered before is read."""
    try:
        while one.recv(65_536):
            pass
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True
    return True


@pytest.mark.parametrize("sent", SLOW.values(), ids=SLOW)
def test_a_judge_answers_beside_600_requests_that_never_end(served, sent):
    made, port = served
    made.client("ann")
    token = made.tokens["ann"]
    with ExitStack() as held:
        for _ in range(600):
            held.enter_context(connected(port, sent))
        for k in range(3):
            status, text = asked(port, "GET", "/api/judge", token)
            assert status == 200, text
            body = json.dumps({"key": json.loads(text)["ticket"]["key"], "answer": "1"})
            assert asked(port, "POST", "/api/judge/answer", token, body)[0] == 200
            assert made.study.n_duels == k + 1


@pytest.mark.parametrize("sent", [b"", HEAD, BODY, IDLE + HEAD])
def test_a_request_that_does_not_end_is_ended(served, sent, monkeypatch):
    monkeypatch.setattr(server, "LONGEST", 0.5)
    began = time.monotonic()
    with connected(served[1], sent) as one:
        one.settimeout(5)
        assert closed(one)
    assert 0.4 < time.monotonic() - began < 4  # before an idle connection is closed, after 5 s


def test_a_byte_now_and_then_buys_no_time(served, monkeypatch):
    monkeypatch.setattr(server, "LONGEST", 1.0)
    with connected(served[1], HEAD) as one, pytest.raises(OSError, match=r"reset|pipe"):
        for _ in range(30):
            one.sendall(b"X: y\r\n")
            time.sleep(0.1)


def test_an_address_that_holds_connections_loses_its_own(served, monkeypatch):
    monkeypatch.setattr(server, "MOST_WAITING_AT_ADDRESS", 3)
    port = served[1]
    with ExitStack() as held:
        other = held.enter_context(socket.socket())
        other.bind(("127.0.0.2", 0))
        other.connect(("127.0.0.1", port))
        other.settimeout(0.3)
        own = []
        for _ in range(5):
            own.append(held.enter_context(connected(port, HEAD)))
            time.sleep(0.05)
        for k, one in enumerate(own):
            one.settimeout(5 if k < 2 else 0.3)  # those that are left open are waited for
        assert [closed(one) for one in own] == [True, True, False, False, False]
        assert not closed(other)


def test_an_answer_that_takes_long_is_waited_for(served, monkeypatch):
    monkeypatch.setattr(server, "LONGEST", 0.3)
    made, port = served
    made.client("ann")
    wait = made.study.ask

    def slowly(**given):
        time.sleep(1)
        return wait(**given)

    monkeypatch.setattr(made.study, "ask", slowly)
    assert asked(port, "GET", "/api/judge", made.tokens["ann"])[0] == 200
