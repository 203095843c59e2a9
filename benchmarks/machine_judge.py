"""A machine judge that is killed: no verdict counts twice, and the costs are those of the replies.

A server on this machine stands for a language model. It is deterministic in the prompt, apart from
what goes wrong: it answers 429, 500, cuts connections, and writes malformed replies. The command
``bayesduel study judge`` is killed with SIGKILL while it asks, and started again.

    python -m benchmarks.machine_judge --verdicts 500 --kills 2
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

import bayesduel as bd
from bayesduel.study.machine_judge import summary
from bayesduel.study.replies import Replies

PROMPT = "{question} On {item}.\nA: {left}\nB: {right}\nEnd with [[A]], [[B]] or [[C]].\n"
PRICE_READ, PRICE_WRITTEN = 2.5, 10.0  # of a million tokens, as of a hosted model of 2025
KEY = "sk-stub-0123456789"
# Shares of the requests that go wrong, and how; by a generator of the server.
WRONG = {"429": 0.08, "500": 0.04, "cut": 0.02, "malformed": 0.08, "empty": 0.02}
MALFORMED = ("I like both.", "[[A]] or [[B]]", "[[D]]", "A is better, B is worse", "")


class Stub(ThreadingHTTPServer):
    """A server of the chat-completions form; `served` are the tokens of the replies it sent."""

    daemon_threads = True

    def __init__(self, wrong=WRONG, seed=1, delay=0.0, usage=True, retry_after="0", reply=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.wrong = wrong
        self.reply = reply or better
        self.rng = np.random.default_rng(seed)
        self.delay = delay
        self.usage = usage
        self.retry_after = retry_after
        self.lock = threading.Lock()
        self.statuses = Counter()
        self.served, self.requests, self.keys = [], [], set()

    def handle_error(self, request, client_address):
        """Say nothing of a client that was killed."""

    @property
    def address(self):
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def fate(self):
        """Return what happens to the next request."""
        with self.lock:
            names, shares = [*self.wrong, "good"], [*self.wrong.values()]
            return str(self.rng.choice(names, p=[*shares, 1 - sum(shares)]))


class Handler(BaseHTTPRequestHandler):
    """Answers a request of the stub."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Answer a prompt."""
        stub = self.server
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        stub.keys.add(self.headers.get("authorization"))
        stub.requests.append(body)
        time.sleep(stub.delay)
        fate = stub.fate()
        stub.statuses[fate] += 1
        if fate == "cut":
            self.close_connection = True
            return
        if fate.isdecimal():
            headers = {} if stub.retry_after is None else {"retry-after": stub.retry_after}
            self.send(int(fate), {"error": f"key {KEY} is no good"}, headers)
            return
        prompt = body["messages"][0]["content"]
        text = stub.reply(prompt)
        if fate == "malformed":
            text = MALFORMED[len(stub.served) % len(MALFORMED)]
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(prompt), "completion_tokens": len(text)}
        with stub.lock:
            stub.served.append((len(prompt), len(text)))
        answer = {"choices": [] if fate == "empty" else [choice]}
        self.send(200, answer | ({"usage": usage} if stub.usage else {}), {})

    def send(self, status, body, headers):
        """Send an answer in JSON."""
        raw = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-length": str(len(raw)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args):
        """Say nothing."""


def better(prompt):
    """Return the reply to a prompt: the higher strength is better; of odd items A always is."""
    left, right = (int(n) for n in re.findall(r"strength (\d+)", prompt))
    odd = int(re.search(r"question (\d+)", prompt)[1]) % 2
    return f"I compared them.\n\n[[{'A' if odd or left > right else 'B'}]]"


@contextmanager
def serving(**settings):
    """Give a stub that runs."""
    stub = Stub(**settings)
    thread = threading.Thread(target=stub.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stub.shutdown()
        stub.server_close()
        thread.join()


def made(folder, verdicts, arms=6):
    """Make a study with content that has braces and orders in it, and a prompt."""
    names = [f"model-{k}" for k in range(arms)]
    items = [f"question {k}" for k in range(verdicts)]
    study = bd.Study(
        folder / "s.study",
        arms=names,
        items=items,
        stop=bd.study.Budget(verdicts),
        policy=bd.policies.Uniform(),
    )
    rows = ["arm,item,content"]
    for item in items:
        rows += [f'{a},{item},"strength {k} {{right}} {{0}} %s"' for k, a in enumerate(names)]
    (folder / "content.csv").write_text("\n".join(rows))
    (folder / "prompt.txt").write_text(PROMPT)
    return study


def command(folder, stub, *more):
    """Return the command that lets the stub judge."""
    return [
        sys.executable, "-m", "bayesduel", "study", "judge", str(folder / "s.study"),
        "--endpoint", stub.address, "--model", "stub", "--prompt", str(folder / "prompt.txt"),
        "--content", str(folder / "content.csv"), "--key-from", "STUB_KEY",
        "--price-read", str(PRICE_READ), "--price-written", str(PRICE_WRITTEN), "--json", *more,
    ]  # fmt: skip


def played(folder, verdicts, kills, workers=8, seed=1, delay=0.01):
    """Let the stub judge, kill the command while it asks, and return what is found."""
    study = made(folder, verdicts)
    environment = os.environ | {"STUB_KEY": KEY}
    with serving(seed=seed, delay=delay) as stub:
        for k in range(kills + 1):
            process = subprocess.Popen(
                command(folder, stub, "--workers", str(workers)),
                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            if k < kills:
                until = (k + 1) * verdicts * 2 // (kills + 2)
                while len(stub.served) < until and process.poll() is None:
                    time.sleep(0.002)
                process.send_signal(signal.SIGKILL)
            output, errors = process.communicate()
        assert process.returncode == 0, errors
        served = [*stub.served]
        statuses = dict(stub.statuses)
    price = [(PRICE_READ * read + PRICE_WRITTEN * written) / 1e6 for read, written in served]
    told = Counter(row["ticket"] for row in study.audit() if row["event"] == "told")
    replies = Replies(study, "stub").all()
    answers = Counter((r.ticket, r.left) for r in replies if r.answer is not None)
    sums = summary(Replies(study, "stub"), study.asking)
    return {
        "said": output + errors, "statuses": statuses, "verdicts": len(told),
        "doubled": sum(n > 1 for n in told.values()),
        "answers_paid_twice": sum(n > 1 for n in answers.values()),
        "wrong": sum(row["outcome"] != expected(row) for row in study.rows()),
        "no_answer": sum(row["skipped"] for row in study.judges()),
        "served": len(served), "stored": len(replies), "cost_served": sum(price),
        "cost_stored": sums["cost"], "cost_of_study": study.status(check=False).cost,
        "dearest": max(price), "same": sums["same"], "orders": sums["orders"],
    }  # fmt: skip


def expected(row):
    """Return the verdict on a ticket: a tie where the stub takes the first side."""
    if int(row["item"].split()[1]) % 2:
        return "tie"
    left, right = (int(row[side].split("-")[1]) for side in ("left", "right"))
    return "left" if left > right else "right"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verdicts", type=int, default=500)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = played(Path(folder), given.verdicts, given.kills, seed=given.seed)
    for name, value in found.items():
        if name != "said":
            print(f"{name}: {value}")
    assert KEY not in found["said"]


if __name__ == "__main__":
    main()
