"""Killed processes lose no outcome: kill -9 while several of them ask and tell."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

import bayesduel as bd
from benchmarks.postgresql import postgresql, programs

WORKER = """
import sys
import bayesduel as bd

study = bd.Study(sys.argv[1])
acknowledged = open(sys.argv[2], "a", buffering=1)
while True:
    ticket = study.ask(judge=sys.argv[3])
    outcome = ("left", "right", "tie")[int(ticket.id.split("-")[1]) % 3]
    study.tell(ticket, outcome)
    acknowledged.write(ticket.id + " " + outcome + "\\n")
"""
# A judge of everything that a ticket may ask, with gold questions, repeats, and answers taken back:
# what a process acknowledges is the ticket with the whole answer.
ASKING_WORKER = """
import json, sys
import bayesduel as bd

study = bd.Study(sys.argv[1])
words = list(study.asking.words)
acknowledged = open(sys.argv[2], "a", buffering=1)
judge = sys.argv[3]
while True:
    ticket = study.ask(judge=judge)
    k = int(ticket.id.split("-")[1])
    for take in (k, k + 1) if k % 3 == 0 else (k,):
        if take > k:
            assert study.undo(judge).id == ticket.id
            acknowledged.write(json.dumps([ticket.id, None]) + "\\n")
        answer = {"outcome": words[take % len(words)], "comment": f"comment {take}",
                  "criteria": {c: words[(take + 2) % len(words)] for c in study.asking.others},
                  "reasons": list(study.asking.reasons[: take % 3])}
        study.tell(ticket, **answer)
        acknowledged.write(json.dumps([ticket.id, answer]) + "\\n")
"""


def outcomes(logs):
    """Count the outcomes that were acknowledged."""
    return sum(len(log.read_text().splitlines()) for log in logs)


def crash(url, folder, kills, seed, n=4, worker=WORKER, **settings):
    """Keep n processes busy, kill one at random times, and check what is stored."""
    items = [f"item {k}" for k in range(400)]  # 4,000 questions of each judge
    given = {"arms": list("abcde"), "items": items, "policy": bd.policies.Uniform(), "stop": None}
    bd.Study(url, **given, **settings).close()
    logs = killed(url, folder, kills, seed, n, worker)
    study = bd.Study(url)
    stored = {row["ticket"]: row["outcome"] for row in study.audit()}
    assert len(stored) == len(study.audit()) == study.n_duels
    lines = [line.split() for log in logs for line in log.read_text().splitlines()]
    lost = [line for line in lines if stored.get(line[0]) != line[1]]
    assert lost == []
    assert len({ticket for ticket, _ in lines}) == len(lines)
    for ticket in study.pending():  # what was asked by a process that died can still be told
        study.tell(ticket, "tie")
    assert study.pending() == []
    return len(lines)


def killed(url, folder, kills, seed, n, worker):
    """Keep n processes busy and kill one at random times; return what each acknowledged."""
    rng = np.random.default_rng(seed)
    logs = [folder / f"{k}.txt" for k in range(n)]

    def start(k):
        command = [sys.executable, "-c", worker, str(url), str(logs[k]), f"judge {k}"]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL)

    running = [start(k) for k in range(n)]
    try:
        while not all(log.exists() and log.stat().st_size for log in logs):
            time.sleep(0.05)
        for _ in range(kills):
            time.sleep(rng.uniform(0.01, 0.4))
            k = int(rng.integers(n))
            running[k].send_signal(signal.SIGKILL)
            running[k].wait()
            running[k] = start(k)
        deadline = time.monotonic() + 300
        while kills >= 100 and outcomes(logs) <= 100 and time.monotonic() < deadline:
            time.sleep(0.05)  # a slow server: let the processes that live get on
    finally:
        for process in running:
            process.kill()
            process.wait()
    return logs


ASKED = {
    "everything": bd.study.Asking(
        grades=2, both_bad=True, criteria=["x", "y"], reasons=["p", "q"], comment=True
    ),
    "comment": bd.study.Asking(comment=True, reasons=["p", "q"]),
}
BESIDE = {
    "gold and repeats": bd.study.Judging(
        repeats=0.2, gold_share=0.2, gold=[("a", "b", "left", f"item {k}") for k in range(400)]
    ),
    "duels": None,
}


@pytest.mark.plain
@pytest.mark.parametrize(
    ("asking", "judging", "kills"),
    [
        pytest.param(asking, judging, kills, marks=pytest.mark.slow if n else [])
        for n, (asking, judging, kills) in enumerate(product(ASKED, BESIDE, (2, 50)))
    ],
)
def test_kills_leave_whole_answers(asking, judging, kills, tmp_path):
    items = [f"item {k}" for k in range(400)]
    given = {"arms": list("abcde"), "items": items, "policy": bd.policies.Uniform(), "stop": None}
    asking, beside = ASKED[asking], BESIDE[judging]
    bd.Study(tmp_path / "s", **given, asking=asking, judging=beside).close()
    logs = killed(tmp_path / "s", tmp_path, kills, 4, 2, ASKING_WORKER)
    study = bd.Study(tmp_path / "s")
    told, words = {}, list(asking.words)
    for event in study.audit():
        if event["event"] == "told":
            assert (event["comment"] or "").startswith("comment ")  # no part without the rest
            k = int(event["comment"].split()[1])
            assert event["outcome"] == words[k % len(words)]
            assert event["reasons"] == ("; ".join(asking.reasons[: k % 3]) or None)
            assert all(event[name] == words[(k + 2) % len(words)] for name in asking.others)
        told.setdefault(event["ticket"], []).append(event["event"])
    assert all(a != b for each in told.values() for a, b in pairwise(each))  # nothing twice
    lines = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    said = Counter(ticket for ticket, _ in lines)
    assert all(len(told[ticket]) >= n for ticket, n in said.items())  # nothing lost
    counted = [row for row in study.rows() if row["outcome"] != "cannot tell"]
    assert len(counted) == study.n_duels == study.tally().sum()
    assert bool(beside) == any(event["gold"] for event in study.audit())
    for ticket in study.pending():  # what was asked by a process that died can still be told
        study.tell(ticket, words[0], criteria=dict.fromkeys(asking.others, words[0]))
    assert study.pending() == []


@pytest.mark.slow
def test_a_hundred_kills_lose_nothing(tmp_path):
    assert crash(tmp_path / "s", tmp_path, 100, seed=1) > 100


@pytest.mark.slow
@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_a_hundred_kills_lose_nothing_on_postgresql(tmp_path):
    pytest.importorskip("psycopg")
    with postgresql() as url:
        assert crash(url, tmp_path, 100, seed=3) > 100
