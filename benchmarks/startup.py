"""Commands in fresh processes: processor seconds, beside the bare interpreter.

Run with ``python -m benchmarks.startup [--large]``. Each command runs on one thread in a process of
its own, the best of five; "empty caches" runs a copy of the package that has neither machine code
nor bytecode yet, once. With ``--large``: reports of 1,000,000 votes on 200 arms, once each.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ROOT = Path(__file__).parents[1]
BAYESDUEL = [sys.executable, "-m", "bayesduel"]
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "bayesduel --help": [*BAYESDUEL, "--help"],
    "bayesduel datasets": [*BAYESDUEL, "datasets"],
    "bayesduel health springall": [*BAYESDUEL, "health", "springall"],
    "import pymc": [sys.executable, "-c", "import pymc"],
    "bayesduel winners springall": [*BAYESDUEL, "winners", "springall"],
    "bayesduel report springall": [*BAYESDUEL, "report", "springall", "-o", "report.html"],
}


def seconds(command: list[str], times: int = 5, more: Mapping[str, str] | None = None) -> float:
    """Return the least processor seconds, of user and system, of running `command`.

    The first of several runs, which fills caches, does not count. `more` are variables of the
    environment.

    Raises
    ------
    subprocess.CalledProcessError
        If it fails.
    """
    env = os.environ | {"OMP_NUM_THREADS": "1"} | dict(more or {})
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(times + (times > 1)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True, cwd=folder, env=env)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            taken.append(used)
    return min(taken[times > 1 :])


def without_caches(command: list[str]) -> float:
    """Return the processor seconds of `command` by a package that never ran before."""
    with tempfile.TemporaryDirectory() as folder:
        kept = shutil.ignore_patterns("__pycache__")
        for name, place in (("bayesduel", "bayesduel"), ("models", "bayesduel/models")):
            shutil.copytree(ROOT / name, Path(folder) / place, ignore=kept)
        return seconds(command, 1, {"PYTHONPATH": folder})


def write_votes(path: Path, *, judges: int, n: int = 1_000_000, n_arms: int = 200) -> None:
    """Write votes on random pairs of arms with scores from N(0, 1), a tenth of them ties."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=n_arms)
    left = rng.integers(n_arms, size=n)
    right = (left + rng.integers(1, n_arms, size=n)) % n_arms
    level, win = rng.random(n), 0.9 / (1 + np.exp(score[right] - score[left]))
    outcome = np.where(level < win, "left", np.where(level < 0.9, "right", "tie"))
    names = np.array([f"arm{k:03}" for k in range(n_arms)])
    columns = {"left": names[left], "right": names[right], "outcome": outcome}
    if judges:
        names = np.array([f"judge{k:04}" for k in range(judges)])
        columns["judge"] = names[rng.integers(judges, size=n)]
    pl.DataFrame(columns).write_csv(path)


def large() -> dict[str, float]:
    """Return the processor seconds of reports on a million votes."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for words, judges in (("", 0), (", 2,000 judges", 2000)):
            path = Path(folder) / f"votes{judges}.csv"
            write_votes(path, judges=judges)
            command = [*BAYESDUEL, "report", str(path), "-o", "report.html"]
            found[f"bayesduel report, 1,000,000 votes, 200 arms{words}"] = seconds(command, 1)
    return found


def run(*, with_large: bool = False) -> list[dict[str, Any]]:
    """Print the table and return its rows."""
    from benchmarks.tables import show

    found = {name: seconds(command) for name, command in COMMANDS.items()}
    for name in ("bayesduel winners springall", "bayesduel report springall"):
        found[f"{name}, empty caches"] = without_caches(COMMANDS[name])
    found |= large() if with_large else {}
    bare = found["python -c pass"]
    rows = [{"command": n, "seconds": s, "times python": s / bare} for n, s in found.items()]
    show("Commands in fresh processes", rows)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="reports of a million votes, too")
    run(with_large=parser.parse_args().large)
