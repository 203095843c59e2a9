"""Kills (SIGKILL) of running commands: nothing is lost, half-written or doubled.

Each command runs twice without a kill; the second, warm run tells how long it takes in processor
time (which other processes change little), when it begins to write and when it ends writing. Half
of the kills come at a moment that is uniform over its processor time, half at one that is uniform
over that of its writing, counted from the first change that is seen on the disk. A kill that comes
after the command has ended does not count, and is repeated.

Commands are forks of a process that has imported their libraries: no kill is spent on imports.
"""

import importlib
import os
import shutil
import signal
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.faults.bad_inputs import HEAVY

__all__ = ["ROOMS", "kill", "timed"]

N_RUNS, HORIZON = 8, 5_000  # of a simulation
BRIEF = 0.05  # seconds: a system counts processor time in steps of 0.01
RESUME_AFTER = 5  # kills; then a simulation is resumed to its end, and other commands run again
TRIES = 50  # to hit a running command
PLAIN = ("--model", "preference-matrix")
SMALL = (*PLAIN, "--draws", "200", "--seed")
# by room: the command, to which a seed is added where it ends in --seed, and what it writes
ROOMS: dict[str, tuple[tuple[str, ...], str]] = {
    "fit": (("fit", "log.csv", "-o", "fit.nc", *SMALL), "fit.nc"),
    "report": (("report", "log.csv", "-o", "r.html", *SMALL), "r.html"),
    "update": (("update", "fit.nc", "new.csv"), "fit.nc"),
    "study": ((), "s.study"),
    "simulate": (
        ("simulate", "--problem", "cyclic-4", "--policies", "Uniform,UCB1", "--horizon",
         str(HORIZON), "--replications", str(N_RUNS // 2), "--workers", "1", "-o", "trace.nc"),
        "trace.nc"),
    "export": (("export", "log.csv", "-o", "tables", *SMALL), "tables"),
    "report --by": (
        ("report", "log.csv", "--by", "league", "--separate", "-o", "by.html", *SMALL), "by.html"),
}  # fmt: skip
LOG = "left,right,outcome,league\n" + "".join(
    f"{pair[0]},{pair[1]},{outcome},{league}\n"
    for league in ("north", "south")
    for pair in ("ab", "bc", "ca") * 10
    for outcome in ("left", "left", "right")
)
TOLD = "told.txt"  # what the study has acknowledged; flushed to the disk after each outcome


def _ask_and_tell() -> None:
    """Ask and tell 50 duels by the commands, and write down what was acknowledged."""
    import json

    from click.testing import CliRunner

    import bayesduel as bd
    from bayesduel.cli import main

    run = CliRunner().invoke
    if not Path("s.study").exists():
        arms = ["a", "b", "c", "d"]
        bd.Study("s.study", arms=arms, policy=bd.policies.Uniform(), stop=None, seed=1).close()
    with open(TOLD, "a", encoding="utf-8") as told:
        for k in range(50):
            asked = run(main, ["study", "ask", "s.study", "--json"], catch_exceptions=False)
            ticket = json.loads(asked.stdout)["id"]
            outcome = ("left", "right", "tie")[k % 3]
            done = run(main, ["study", "tell", "s.study", ticket, outcome], catch_exceptions=False)
            if done.exit_code:
                raise RuntimeError(done.output)
            told.write(f"{ticket} {outcome}\n")
            told.flush()
            os.fsync(told.fileno())


def timed(room: str, folder: Path) -> dict[str, float]:
    """Run a command without a kill, and write what it gives, for comparison.

    Returns
    -------
    `seconds` of processor time that it takes, and those when it `begins` and `ends` to write.
    """
    import psutil

    shutil.rmtree(folder, ignore_errors=True)
    for name in ("old", "new"):
        (folder / name).mkdir(parents=True)
        _lay(room, folder / name)
    if room == "update":  # what is there is a fit; the new one has the duels of another log
        _run("fit", folder / "old", 1)
        shutil.copy(folder / "old" / "fit.nc", folder / "new" / "fit.nc")
    else:
        _run(room, folder / "old", 1)
    started, changes = _started(room, folder / "new", 2), []
    of, used, before = psutil.Process(started), 0.0, _files(folder / "new")
    while (status := _status(started)) is None:
        used, now = max(used, _used(of)), _files(folder / "new")
        if now != before:
            changes.append(used)
            before = now
        time.sleep(0.001)
    if status:
        raise RuntimeError(f"{room} should end with status 0, got {status}")
    return {"seconds": used, "begins": changes[0], "ends": changes[-1]}


def kill(room: str, turn: int, folder: Path, times: dict[str, float], seed: int) -> dict[str, Any]:
    """Start a command, kill it while it runs at a random moment, and return what it left.

    Returns
    -------
    `when`, "any time" or "writing"; `after`, seconds of processor time, those of writing; `wrote`,
    whether it had begun to write; `missed`, how many kills came after its end before this one;
    `left`, what is there; `fault`, "" or what is lost, half-written or doubled.
    """
    writing, last = turn % 2 == 1, turn % RESUME_AFTER == RESUME_AFTER - 1
    rng = np.random.default_rng(seed)
    span = times["ends"] - times["begins"] if writing else times["seconds"]
    for missed in range(TRIES):
        goes_on = room in ("simulate", "study")
        place = folder / (str(turn // RESUME_AFTER) if room == "simulate" else "0")
        if missed and room == "simulate":  # it has ended: begin another
            shutil.rmtree(place)
        place.mkdir(parents=True, exist_ok=True)
        _lay(room, place)
        if not goes_on:
            _put(folder / "old" / ROOMS[room][1], place / ROOMS[room][1])
        known = _acknowledged(place)
        after = float(rng.uniform(0, span))
        hit, wrote = _hit(room, place, after, writing, span < BRIEF)
        if hit:
            break
    else:
        raise RuntimeError(f"{room}: none of {TRIES} kills hit a running command")
    try:
        left, fault = _checked(room, place, folder, known), ""
        if last and room != "study":
            left += _run_again(room, place, folder)
    except Exception as error:
        left, fault = "", f"{type(error).__name__}: {error}"[:200]
    when = "writing" if writing else "any time"
    return {"when": when, "after": after, "wrote": wrote, "missed": missed, "left": left,
            "fault": fault}  # fmt: skip


def _hit(room: str, place: Path, after: float, writing: bool, brief: bool) -> tuple[bool, bool]:
    """Start a command and kill it; return whether it still ran, and whether it had written.

    Where what it is killed in is `brief`, by the clock: processor time is counted in steps.
    """
    import psutil

    before = _files(place)
    started = _started(room, place, 2)
    of, status = psutil.Process(started), None
    while writing and status is None and _files(place) == before:
        time.sleep(0.0005)
        status = _status(started)
    begun = _used(of) if writing else 0.0
    if brief:
        time.sleep(after)
    while not brief and status is None and _used(of) - begun < after:
        time.sleep(0.004)
        status = _status(started)
    if status is None:
        os.kill(started, signal.SIGKILL)  # a child that has ended is there until it is waited for
        status = os.waitstatus_to_exitcode(os.waitpid(started, 0)[1])
    if status not in (0, -signal.SIGKILL):
        raise RuntimeError(f"{room} should end with status 0, got {status}")
    return status == -signal.SIGKILL, _files(place) != before


def _used(process: Any) -> float:
    """Return the processor time of a process, 0 if it has ended."""
    import psutil

    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _started(room: str, place: Path, seed: int) -> int:
    """Start a command in a folder, as a fork, and return the number of its process."""
    for module in HEAVY:
        importlib.import_module(module)
    started = os.fork()
    if started:
        return started
    status = 1
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.chdir(place)
        status = _work(room, seed)
    finally:
        os._exit(status)


def _work(room: str, seed: int) -> int:
    from bayesduel.cli import main

    if room == "study":
        _ask_and_tell()
        return 0
    command, _ = ROOMS[room]
    try:
        main([*command, *([str(seed)] if command[-1] == "--seed" else [])])
    except SystemExit as error:
        return int(error.code or 0)
    return 0


def _status(started: int) -> int | None:
    """Return the status of a process that has ended, or None."""
    number, status = os.waitpid(started, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if number else None


def _run(room: str, place: Path, seed: int) -> None:
    status = os.waitstatus_to_exitcode(os.waitpid(_started(room, place, seed), 0)[1])
    if status:
        raise RuntimeError(f"{room} should end with status 0, got {status}")


def _lay(room: str, place: Path) -> None:
    """Write the logs that a command reads."""
    (place / "log.csv").write_text(LOG, encoding="utf-8")
    (place / "new.csv").write_text(LOG, encoding="utf-8")


def _put(source: Path, target: Path) -> None:
    """Put a file or a folder in place of what is there."""
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)


def _checked(room: str, place: Path, folder: Path, known: list[str]) -> str:
    """Return what is there, in words; raise an error if something is lost or half-written."""
    if room == "simulate":
        return _simulation(place)
    if room == "study":
        return _study(place, known)
    found, old = place / ROOMS[room][1], folder / "old" / ROOMS[room][1]
    if _bytes(found) == _bytes(old):
        return "the old one, byte for byte"
    _same(found, folder / "new" / ROOMS[room][1])
    return "the new one, whole"


def _bytes(path: Path) -> dict[str, bytes]:
    files = [path]
    if path.is_dir():  # drafts of a killed run are removed by the next
        found = sorted(path.rglob("*"))
        files = [p for p in found if p.is_file() and ".bayesduel-draft" not in str(p)]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def _same(path: Path, other: Path) -> None:
    """Raise ValueError unless two files or folders hold the same."""
    if path.is_dir():
        if _bytes(path) != _bytes(other):
            raise ValueError("old and new tables are mixed, or a table is not whole")
    elif path.suffix == ".nc":
        _same_tree(path, other)
    else:
        _same_page(path, other)


def _run_again(room: str, place: Path, folder: Path) -> str:
    """Run the command again to its end; compare with one that was not killed, and look for drafts.

    An update whose fit has the new duels already is not repeated.
    """
    name = ROOMS[room][1]
    if room == "update":
        _put(folder / "old" / name, place / name)
    _run(room, place, 2)
    _same(place / name, folder / "new" / name)
    more = sorted({p.name for p in place.iterdir()} - {p.name for p in (folder / "new").iterdir()})
    if more:
        raise ValueError(f"a run after it leaves {', '.join(more)}")
    return "; run again, the same, no draft left"


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


def _study(place: Path, known: list[str]) -> str:
    import bayesduel as bd

    told = _acknowledged(place)
    if told[: len(known)] != known:
        raise ValueError("acknowledgements are lost")
    try:
        study = bd.Study(place / "s.study")
    except bd.study.StudyError:
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
    """Raise ValueError unless two files hold as many duels and the same numbers, bit for bit."""
    import xarray as xr

    with (
        xr.open_datatree(path, engine="h5netcdf") as one,
        xr.open_datatree(other, engine="h5netcdf") as two,
    ):
        if not one.equals(two) or one.attrs.get("n_duels") != two.attrs.get("n_duels"):
            raise ValueError(f"{path.name} differs from one whose writing was not killed")


def _same_page(path: Path, other: Path) -> None:
    """Raise ValueError unless two pages are the same but for the time they were made."""
    one, two = (p.read_text(encoding="utf-8").rstrip() for p in (path, other))
    if not one.endswith("</html>") or len(one) != len(two):
        raise ValueError(f"the page has {len(one):,} characters in place of {len(two):,}")


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
