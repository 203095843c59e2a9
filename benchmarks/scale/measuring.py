"""Seconds and peak memory of one piece of work, in a process of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

__all__ = ["ONE_THREAD", "alone", "measured"]

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
MIB = 2**20


def alone(
    module: str, *arguments: Any, env: Mapping[str, str] = ONE_THREAD, limit: float | None = None
) -> dict[str, Any]:
    """Run ``python -m module argument ...`` and return the JSON of its last line.

    Parameters
    ----------
    module
        A module whose command prints JSON.
    arguments
        Arguments of the command, as text or numbers.
    env
        Environment variables beside those of this process.
    limit
        Seconds after which the process is ended; None: no limit.

    Returns
    -------
    What it printed; ``{"failed": reason}`` where it failed or ran past the limit.
    """
    command = [sys.executable, "-m", module, *map(str, arguments)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=os.environ | dict(env), timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not ended after {limit:,.0f} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(work: Any, times: int = 1) -> tuple[dict[str, float], Any]:
    """Return the least wall and processor seconds of `times` runs, peak memory, and the result.

    Memory is the peak resident size of this process so far, imports included, in MiB.
    """
    import resource

    wall, cpu = [], []
    for _ in range(times):
        start, begun = time.perf_counter(), time.process_time()
        result = work()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - begun)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak /= MIB if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return {"seconds": min(wall), "cpu s": min(cpu), "peak MiB": peak}, result
