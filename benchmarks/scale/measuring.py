"""Seconds and peak memory of one piece of work, in a process of its own."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["KEPT", "ONE_THREAD", "alone", "measured", "peak_mib"]

KEPT = Path(".scale")  # what a full run has measured, so that it goes on after a stop

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
MIB = 2**20


def alone(
    module: str,
    *arguments: Any,
    before: Callable[[], Any] | None = None,
    env: Mapping[str, str] = ONE_THREAD,
    limit: float | None = None,
    keep: bool = False,
) -> dict[str, Any]:
    """Run ``python -m module argument ...`` and return the JSON of its last line.

    Parameters
    ----------
    module
        A module whose command prints JSON.
    arguments
        Arguments of the command, as text or numbers.
    before
        Called first, unless the result is kept.
    env
        Environment variables beside those of this process.
    limit
        Seconds after which the process is ended; None: no limit.
    keep
        Whether to keep the result in `KEPT`, and return one that is kept.

    Returns
    -------
    What it printed; ``{"failed": reason}`` where it failed or ran past the limit.
    """
    words = [module, *map(str, arguments)]
    kept = KEPT / f"{re.sub(r'[^A-Za-z0-9.]+', '-', ' '.join(words))}.json"
    if keep and kept.exists():
        return dict(json.loads(kept.read_text(encoding="utf-8")))
    if before is not None:
        before()
    found = _run([sys.executable, "-m", *words], os.environ | dict(env), limit)
    if keep and "failed" not in found:
        KEPT.mkdir(exist_ok=True)
        kept.write_text(json.dumps(found), encoding="utf-8")
    return found


def measured(work: Any, times: int = 1) -> tuple[dict[str, float], Any]:
    """Return the least wall and processor seconds of `times` runs, peak memory, and the result.

    Memory is the peak resident size of this process so far, imports included, in MiB.
    """
    wall, cpu = [], []
    for _ in range(times):
        start, begun = time.perf_counter(), time.process_time()
        result = work()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - begun)
    return {"seconds": min(wall), "cpu s": min(cpu), "peak MiB": peak_mib()}, result


def peak_mib() -> float:
    """Return the peak resident size of this process so far, imports included, in MiB.

    From the kernel's account of the process where there is one: on Linux ``getrusage`` begins with
    the peak of the process that started this one.
    """
    import resource

    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return int(found[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (MIB if sys.platform == "darwin" else 1024)  # bytes there, KiB elsewhere


def _run(command: list[str], env: Mapping[str, str], limit: float | None) -> dict[str, Any]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"not ended after {limit:,.0f} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    return dict(json.loads(done.stdout.splitlines()[-1]))
