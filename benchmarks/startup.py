"""Start-up: how long the command line takes to say what it can do.

Run with ``python -m benchmarks.startup``. Each command runs in its own process, the best of
five; beside it the bare interpreter, and what importing PyMC alone would cost.
"""

import subprocess
import sys
import time
from typing import Any

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "bayesduel --help": [sys.executable, "-m", "bayesduel", "--help"],
    "bayesduel datasets": [sys.executable, "-m", "bayesduel", "datasets"],
    "bayesduel health springall": [sys.executable, "-m", "bayesduel", "health", "springall"],
    "import pymc": [sys.executable, "-c", "import pymc"],
    "bayesduel winners springall": [sys.executable, "-m", "bayesduel", "winners", "springall"],
}


def seconds(command: list[str], times: int = 5) -> float:
    """Return the least wall seconds of running `command`.

    Raises
    ------
    subprocess.CalledProcessError
        If it fails.
    """
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(time.perf_counter() - start)
    return min(taken)


def run() -> list[dict[str, Any]]:
    """Print the table and return its rows."""
    from benchmarks.tables import show

    found = {name: seconds(command) for name, command in COMMANDS.items()}
    bare = found["python -c pass"]
    rows = [{"command": n, "seconds": s, "times python": s / bare} for n, s in found.items()]
    show("Start-up", rows)
    return rows


if __name__ == "__main__":
    run()
