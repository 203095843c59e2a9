"""Fifty judges' clients answer at once; the server is killed -9 and started again meanwhile.

``python -m benchmarks.judges_load [--seconds 30] [--clients 50] [--think 0] [--kill]
[--postgresql]``

Every client answers as fast as it may (or thinks, ``--think``), over the loopback interface, and
sends an answer again (with its key) until it is acknowledged. At the end all acknowledged answers
have to be in the study, each once, and no other one. Ends with status 1 if one is lost or doubled,
or the server answered with an error. The server's processor seconds, its start among them, depend
little on what else the machine does. ``--postgresql`` starts a server of its own for the study
(Debian's package postgresql); otherwise the study is a new SQLite file.
"""

import asyncio
import contextlib
import csv
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

import httpx
import numpy as np

import bayesduel as bd
from bayesduel.serve.access import Access
from benchmarks.postgresql import postgresql

ARMS = tuple("abcdefgh")
ITEMS = tuple(f"item {k}" for k in range(300))  # 28 pairs on each: more than a judge answers
ANSWERS = {"1": "left", "2": "right", "=": "tie"}


def server(path, port):
    """Start the pages of a study; return the process once it answers."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as file:
        rows = csv.writer(file)
        rows.writerow(("arm", "item", "content"))
        rows.writerows((arm, item, arm) for arm in ARMS for item in ITEMS)
    words = ["study", "serve", str(path), "--content", file.name, "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", "bayesduel", *words], stdout=subprocess.DEVNULL
    )
    for _ in range(3000):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return process
        time.sleep(0.1)
    raise TimeoutError("the server did not start in five minutes")


async def client(token, number, until, think, seen):
    """Answer until the time is over; keep what was acknowledged, and how long it took."""
    coins = np.random.default_rng(number)
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=seen["base"], headers=headers, timeout=10) as http:

        async def sure(method, path, **body):
            while True:
                began = time.perf_counter()
                try:
                    answer = await http.request(method, path, **body)
                except httpx.TransportError:
                    seen["cut"] += 1
                    await asyncio.sleep(0.5)
                    continue
                if answer.status_code == 200:
                    return answer.json(), time.perf_counter() - began
                seen["status"][answer.status_code] += 1
                if answer.status_code not in (429, 503):
                    raise RuntimeError(f"{path}: {answer.status_code} {answer.text[:200]}")
                await asyncio.sleep(0.5)

        state, _ = await sure("POST", "/api/judge/begin", json={"agree": True})
        while time.perf_counter() < until and state["ticket"]:
            await asyncio.sleep(think * coins.exponential())
            key, what = state["ticket"]["key"], str(coins.choice(list(ANSWERS)))
            state, took = await sure("POST", "/api/judge/answer", json={"key": key, "answer": what})
            seen["acknowledged"][key.rpartition(".")[0]] = ANSWERS[what]
            seen["took"].append(took)


async def load(path, tokens, seconds, think, kill):
    """Run the clients, and return what they saw."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    seen = {"base": f"http://127.0.0.1:{port}", "acknowledged": {}, "took": [], "cut": 0,
            "status": Counter(), "down": 0.0}  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = await asyncio.to_thread(server, path, port)
    try:
        began = time.perf_counter()
        until = began + seconds
        clients = [
            asyncio.create_task(client(t, n, until, think, seen)) for n, t in enumerate(tokens)
        ]
        if kill:
            await asyncio.sleep(seconds / 2)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            down = time.perf_counter()
            process = await asyncio.to_thread(server, path, port)
            seen["down"] = time.perf_counter() - down
        await asyncio.gather(*clients)
        seen["seconds"] = time.perf_counter() - began
    finally:
        process.terminate()
        process.wait()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seen["processor"] = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return seen


def main():
    """Run the load and print what it found."""
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--think", type=float, default=0, help="mean seconds before an answer")
    parser.add_argument(
        "--kill", action="store_true", help="kill -9 in the middle, and start again"
    )
    parser.add_argument("--postgresql", action="store_true", help="start one; else SQLite")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if options.postgresql:
            path = stack.enter_context(postgresql())
        else:
            path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "load.study"
        study = bd.Study(path, arms=ARMS, items=ITEMS, stop=bd.study.Budget(10**6))
        access = Access(study.store)
        tokens = [access.invite(f"judge {n}", "judge", 1)[1] for n in range(options.clients)]
        seen = asyncio.run(load(path, tokens, options.seconds, options.think, options.kill))
        stored = {row["id"]: row["outcome"] for row in study.rows()}
        events = Counter(e["ticket"] for e in study.audit() if e["event"] == "told")
        study.close()
    lost = [k for k, outcome in seen["acknowledged"].items() if stored.get(k) != outcome]
    doubled = [k for k, n in events.items() if n > 1]
    p50, p99 = np.percentile(seen["took"], [50, 99])
    found = {
        "clients": options.clients,
        "seconds": round(seen["seconds"], 1),
        "answers": len(seen["acknowledged"]),
        "answers_a_second": round(len(seen["acknowledged"]) / (seen["seconds"] - seen["down"]), 1),
        "p50_ms": round(1000 * p50),
        "p99_ms": round(1000 * p99),
        "server_processor_ms_an_answer": round(
            1000 * seen["processor"] / len(seen["acknowledged"]), 2
        ),
        "load_of_the_machine": round(os.getloadavg()[0], 1),
        "down_seconds": round(seen["down"], 1),
        "connections_cut": seen["cut"],
        "other_statuses": dict(seen["status"]),
        "stored": len(stored),
        "lost": len(lost),
        "doubled": len(doubled),
        "stored_without_word": len(set(stored) - set(seen["acknowledged"])),
    }
    print(json.dumps(found, indent=2))
    bad = set(seen["status"]) - {429, 503}
    sys.exit(1 if lost or doubled or found["stored_without_word"] or bad else 0)


if __name__ == "__main__":
    main()
