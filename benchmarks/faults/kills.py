"""Kills (SIGKILL) at random moments: nothing is lost, and nothing is half-written.

Each command is run once without a kill: how long it takes in processor time (which other processes
change little), when it begins to write and when it ends writing. Half of the kills come at a moment
that is uniform over its processor time, half at one that is uniform over the processor time of its
writing, counted from the first change that is seen on the disk.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["ROOMS", "kill", "timed"]

ROOMS = ("simulate", "fit", "report", "study")
N_RUNS, HORIZON = 8, 20_000  # of a simulation
STEP = 0.01  # seconds in which a system counts processor time
RESUME_AFTER = 3  # kills of one simulation; then it is resumed to its end
SIMULATE = ("simulate", "--problem", "cyclic-4", "--policies", "Uniform,UCB1", "--horizon",
            str(HORIZON), "--replications", str(N_RUNS // 2), "--seed", "7", "--workers", "1",
            "-o", "trace.nc")  # fmt: skip
FIT = ("fit", "springall", "--draws", "4000", "-o", "fit.nc", "--seed")
REPORT = ("report", "baseball1987", "--draws", "500", "-o", "r.html", "--seed")
TOLD = "told.txt"  # what the study has acknowledged; flushed to the disk after each outcome
STUDY = """
import json, os, pathlib
import bayesduel as bd
from click.testing import CliRunner
from bayesduel.cli import main
run = CliRunner().invoke
if not pathlib.Path("s.study").exists():
    bd.Study("s.study", arms=["a", "b", "c", "d"], policy=bd.Uniform(), stop=None, seed=1).close()
with open("told.txt", "a") as told:
    for k in range(100):
        asked = run(main, ["study", "ask", "s.study", "--json"], catch_exceptions=False)
        ticket = json.loads(asked.stdout)["id"]
        outcome = ("left", "right", "tie")[k % 3]
        done = run(main, ["study", "tell", "s.study", ticket, outcome], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        told.write(f"{ticket} {outcome}\\n")
        told.flush()
        os.fsync(told.fileno())
"""


def timed(room: str, folder: Path) -> dict[str, float]:
    """Run a command without a kill.

    Returns
    -------
    `seconds` of processor time that it takes, and those when it `begins` and `ends` to write.
    """
    import psutil

    if room in ("fit", "report"):
        _prepare(room, folder)
    shutil.rmtree(folder / "timed", ignore_errors=True)
    (folder / "timed").mkdir(parents=True)
    process, changes = _started(room, folder / "timed", 2), []
    of, used, before = psutil.Process(process.pid), 0.0, _files(folder / "timed")
    while process.poll() is None:
        used, now = max(used, _used(of)), _files(folder / "timed")
        if now != before:
            changes.append(used)
            before = now
        time.sleep(0.001)
    if process.returncode:
        raise RuntimeError(f"{room} should end with status 0, got {process.returncode}")
    if room == "simulate":
        shutil.move(folder / "timed" / "trace.nc", folder / "reference.nc")
    return {"seconds": used, "begins": changes[0], "ends": changes[-1]}


def kill(room: str, turn: int, folder: Path, times: dict[str, float], seed: int) -> dict[str, Any]:
    """Start a command, kill it at a random moment, and return what it left.

    Returns
    -------
    `when`, "any time" or "writing"; `after`, seconds of processor time, those of writing; `wrote`,
    whether it had begun to write; `ended`, whether it had ended; `left`, what is there; `fault`, ""
    or what is lost or half-written.
    """
    import psutil

    writing = turn % 2 == 1
    place = folder / str(turn // RESUME_AFTER if room == "simulate" else 0)
    place.mkdir(parents=True, exist_ok=True)
    if room in ("fit", "report"):
        for draft in place.iterdir():
            draft.unlink()
        shutil.copy(folder / f"1{_file(room).suffix}", place / _file(room))
    rng = np.random.default_rng(seed)
    span = times["ends"] - times["begins"] if writing else times["seconds"]
    after, pause = rng.uniform(0, span), rng.uniform(0, STEP)
    before = _files(place)
    known = _acknowledged(place)
    process = _started(room, place, 2)
    of = psutil.Process(process.pid)
    while writing and process.poll() is None and _files(place) == before:
        time.sleep(0.001)
    begun = _used(of) if writing else 0.0
    while process.poll() is None and _used(of) - begun < after:
        time.sleep(0.001)
    time.sleep(pause)
    ended = process.poll() is not None
    process.kill()
    process.wait()
    wrote = _files(place) != before
    try:
        if ended and process.returncode:
            raise ValueError(f"it ended with status {process.returncode}")
        left, fault = _checked(room, place, folder, known), ""
        if room == "simulate" and turn % RESUME_AFTER == RESUME_AFTER - 1:
            left += _resumed(place, folder)
    except Exception as error:
        left, fault = "", f"{type(error).__name__}: {error}"[:200]
    when = "writing" if writing else "any time"
    return {"when": when, "after": float(after), "wrote": wrote, "ended": ended,
            "left": left, "fault": fault}  # fmt: skip


def _used(process: Any) -> float:
    """Return the processor time of a process, 0 if it has ended."""
    import psutil

    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _started(room: str, place: Path, seed: int) -> subprocess.Popen[bytes]:
    python = [sys.executable, "-m", "bayesduel"]
    command = {
        "simulate": [*python, *SIMULATE],
        "fit": [*python, *FIT, str(seed)],
        "report": [*python, *REPORT, str(seed)],
        "study": [sys.executable, "-c", STUDY],
    }[room]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, cwd=place, **quiet)  # type: ignore[call-overload,no-any-return]


def _prepare(room: str, folder: Path) -> None:
    """Write what the command gives with two seeds: the file that is there, and the new one."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in (1, 2):
        place = folder / f"{seed}{_file(room).suffix}"
        if not place.exists():
            if _started(room, folder, seed).wait():
                raise RuntimeError(f"{room} should end with status 0")
            (folder / _file(room)).rename(place)


def _checked(room: str, place: Path, folder: Path, known: list[str]) -> str:
    """Return what is there, in words; raise an error if something is lost or half-written."""
    if room == "simulate":
        return _simulation(place)
    if room == "study":
        return _study(place, known)
    name = _file(room)
    digest = hashlib.sha256((place / name).read_bytes()).digest()
    if digest == hashlib.sha256((folder / f"1{name.suffix}").read_bytes()).digest():
        return "the old file, byte for byte"
    same = _same_tree if room == "fit" else _same_page
    same(place / name, folder / f"2{name.suffix}")
    return "the new file, whole"


def _simulation(place: Path) -> str:
    import bayesduel as bd

    whole, partial = place / "trace.nc", place / "trace.nc.partial"
    if whole.exists():
        with bd.open_trace(whole) as trace:
            n = int(trace["trace"]["wins"].isel(time=-1).sum())
        if n != N_RUNS * HORIZON:
            raise ValueError(f"{n} duels in the finished trace")
        return "the whole trace"
    if not partial.exists():
        return "nothing yet"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it is read in part
            trace = bd.open_trace(partial)
    except ValueError:
        return f"0 of {N_RUNS} runs"
    wins = np.asarray(trace["trace"]["wins"].isel(time=-1).sum(("arm", "opponent")))
    if (wins != HORIZON).any():
        raise ValueError("a run that is marked as finished is not whole")
    return f"{wins.size} of {N_RUNS} runs"


def _resumed(place: Path, folder: Path) -> str:
    """Run the command again to its end, and compare with the simulation that was not killed."""
    if _started("simulate", place, 2).wait():
        raise RuntimeError("it could not be resumed")
    _same_tree(place / "trace.nc", folder / "reference.nc")
    shutil.rmtree(place)
    return "; resumed, bit for bit"


def _study(place: Path, known: list[str]) -> str:
    import bayesduel as bd

    told = _acknowledged(place)
    if told[: len(known)] != known:
        raise ValueError("acknowledgements are lost")
    try:
        study = bd.Study(place / "s.study")
    except bd.StudyError:
        if told or (place / "s.study").exists():
            raise
        return "nothing yet"
    rows = [f"{row['ticket']} {row['outcome']}" for row in study.audit()]
    if len(set(rows)) != len(rows) or len(rows) != study.n_duels:
        raise ValueError("an outcome is there twice")
    lost = set(told) - set(rows)
    if lost:
        raise ValueError(f"{len(lost)} outcomes are lost")
    if len(rows) - len(told) > len(known) + 1:
        raise ValueError(f"{len(rows)} outcomes, {len(told)} acknowledged")
    for ticket in study.pending():  # one asked before the kill can still be told
        study.tell(ticket, "tie")
    study.close()
    return f"{len(rows):,} outcomes; {len(told):,} acknowledged, none lost"


def _acknowledged(place: Path) -> list[str]:
    told = place / TOLD
    return told.read_text(encoding="utf-8").split("\n")[:-1] if told.exists() else []


def _same_tree(path: Path, other: Path) -> None:
    """Raise ValueError unless two files hold the same numbers, bit for bit."""
    import xarray as xr

    with (
        xr.open_datatree(path, engine="h5netcdf") as one,
        xr.open_datatree(other, engine="h5netcdf") as two,
    ):
        if not one.equals(two):
            raise ValueError(f"{path.name} differs from one whose writing was not killed")


def _same_page(path: Path, other: Path) -> None:
    """Raise ValueError unless two pages are the same but for the time they were made."""
    one, two = (p.read_text(encoding="utf-8").rstrip() for p in (path, other))
    if not one.endswith("</html>") or len(one) != len(two):
        raise ValueError(f"the page has {len(one):,} characters in place of {len(two):,}")


def _file(room: str) -> Path:
    return Path({"fit": "fit.nc", "report": "r.html"}[room])


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return names, sizes and times of the files of a folder that do not vanish meanwhile."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                stat = os.stat(os.path.join(path, name))
            except FileNotFoundError:
                continue
            found[os.path.join(path, name)] = (stat.st_size, stat.st_mtime_ns)
    return found
