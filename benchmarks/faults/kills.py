"""Kills (SIGKILL) at random moments: nothing is lost, and nothing is half-written."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["ROOMS", "kill"]

ROOMS = ("simulate", "fit", "report", "study")
LONGEST = {"simulate": 12.0, "fit": 14.0, "report": 30.0, "study": 8.0}  # seconds before the kill
SIMULATE = """
import sys, bayesduel as bd
bd.simulate([bd.Uniform(), bd.UCB1()], "cyclic-4", 20_000, replications=8, seed=7, workers=1,
            out=sys.argv[1], progress=False)
"""
STUDY = """
import os, sys, bayesduel as bd
new = not os.path.exists(sys.argv[1])
arms = {"arms": ["a", "b", "c", "d"], "policy": bd.Uniform(), "seed": 1} if new else {}
study = bd.Study(sys.argv[1], **arms)
with open(sys.argv[2], "a") as told:
    while True:
        ticket = study.ask()
        study.tell(ticket, "left")
        told.write(f"{ticket.number}\\n")
        told.flush()
        os.fsync(told.fileno())
"""


def kill(room: str, folder: Path, seed: int) -> dict[str, Any]:
    """Start a command, kill it at a random moment, and return what it left.

    Returns
    -------
    `after`, seconds before the kill; `ended`, whether it ended before; `left`, what is there;
    `fault`, "" or what is lost or half-written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    after = float(np.random.default_rng(seed).uniform(0, LONGEST[room]))
    before = _state(room, folder)
    process = subprocess.Popen(
        _command(room, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder
    )
    deadline = time.monotonic() + after
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    ended = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    found = _state(room, folder)
    fault = found["fault"]
    if not fault and found["n"] < before["n"]:
        fault = f"{before['n']} before, {found['n']} after"
    if ended and process.returncode:
        fault = fault or f"it ended with status {process.returncode}"
    return {"after": after, "ended": ended, "left": found["left"], "fault": fault}


def _command(room: str, folder: Path) -> list[str]:
    python = [sys.executable, "-m", "bayesduel"]
    if room == "simulate":
        return [sys.executable, "-c", SIMULATE, str(folder / "trace.nc")]
    if room == "fit":
        return [*python, "fit", "springall", "--draws", "2000", "-o", str(folder / "fit.nc")]
    if room == "report":
        return [*python, "report", "baseball1987", "--draws", "500", "-o", str(folder / "r.html")]
    return [sys.executable, "-c", STUDY, str(folder / "s.study"), str(folder / "told.txt")]


def _state(room: str, folder: Path) -> dict[str, Any]:
    """Return how much there is, in words and as a number that never falls, and what is wrong."""
    try:
        n, left = _read(room, folder)
    except Exception as error:
        return {"n": 0, "left": "", "fault": f"{type(error).__name__}: {error}"[:200]}
    return {"n": n, "left": left, "fault": ""}


def _read(room: str, folder: Path) -> tuple[int, str]:
    import bayesduel as bd

    if room == "simulate":
        if (folder / "trace.nc").exists():
            with bd.open_trace(folder / "trace.nc") as trace:
                n = int(trace["trace"]["wins"].isel(time=-1).sum())
            if n != 2 * 8 * 20_000:
                raise ValueError(f"{n} duels in the finished trace")
            return 16, "the whole trace"
        partial = folder / "trace.nc.partial"
        if not partial.exists():
            return 0, "nothing yet"
        with bd.open_trace(partial) as trace:
            finished = np.asarray(trace["finished"]["run"])
            wins = np.asarray(trace["trace"]["wins"].isel(time=-1).sum(("arm", "opponent")))
        if (wins[finished] != 20_000).any():
            raise ValueError("a run that is marked as finished is not whole")
        return int(finished.sum()), f"{int(finished.sum())} of 16 runs"
    if room == "fit":
        if not (folder / "fit.nc").exists():
            return 0, "nothing yet"
        import xarray as xr

        with xr.open_datatree(folder / "fit.nc", engine="h5netcdf") as fit:
            n = int(np.isfinite(fit["posterior"]["score"].values).all())
        if not n:
            raise ValueError("draws are missing")
        return 1, "a whole fit"
    if room == "report":
        if not (folder / "r.html").exists():
            return 0, "nothing yet"
        text = (folder / "r.html").read_text(encoding="utf-8")
        if not text.rstrip().endswith("</html>"):
            raise ValueError("the page has no end")
        return 1, "a whole page"
    return _study(folder)


def _study(folder: Path) -> tuple[int, str]:
    import bayesduel as bd

    told = folder / "told.txt"
    known = told.read_text().split("\n")[:-1] if told.exists() else []
    if not (folder / "s.study").exists():
        return len(known), "nothing yet"
    try:
        stored = {str(row["ticket"]) for row in bd.Study(folder / "s.study").audit()}
    except bd.StudyError:
        if known:
            raise
        return 0, "nothing yet"
    lost = set(known) - stored
    if lost:
        raise ValueError(f"{len(lost)} outcomes are lost")
    return len(stored), f"{len(stored):,} outcomes, none of {len(known):,} lost"
