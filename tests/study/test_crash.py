"""Killed processes lose no outcome: kill -9 while several of them ask and tell."""

import signal
import subprocess
import sys
import time

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


def outcomes(logs):
    """Count the outcomes that were acknowledged."""
    return sum(len(log.read_text().splitlines()) for log in logs)


def crash(url, folder, kills, seed, n=4):
    """Keep n processes busy, kill one at random times, and check what is stored."""
    items = [f"item {k}" for k in range(400)]  # 4,000 questions of each judge
    bd.Study(url, arms=list("abcde"), items=items, policy=bd.Uniform(), stop=None).close()
    rng = np.random.default_rng(seed)
    logs = [folder / f"{k}.txt" for k in range(n)]

    def start(k):
        command = [sys.executable, "-c", WORKER, str(url), str(logs[k]), f"judge {k}"]
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


@pytest.mark.slow
def test_a_hundred_kills_lose_nothing(tmp_path):
    assert crash(tmp_path / "s", tmp_path, 100, seed=1) > 100


@pytest.mark.plain
def test_a_kill_loses_nothing(tmp_path):
    assert crash(tmp_path / "s", tmp_path, 1, seed=2, n=2) >= 2


@pytest.mark.slow
@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_a_hundred_kills_lose_nothing_on_postgresql(tmp_path):
    pytest.importorskip("psycopg")
    with postgresql() as url:
        assert crash(url, tmp_path, 100, seed=3) > 100
