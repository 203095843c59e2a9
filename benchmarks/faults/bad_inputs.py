"""Bad inputs by command: broken files, numbers out of reason, names that are code or markup."""

import importlib
import os
import resource
import signal
import sys
import time
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Case", "answer", "cases"]

LIMIT = 120  # processor seconds for a command
LONGEST = 1_200.0  # seconds for a command that waits
HEAVY = ("numpy", "scipy.stats", "pandas", "xarray", "numba", "pymc", "arviz_stats", "duckdb",
         "pyarrow", "matplotlib.pyplot", "h5netcdf", "sqlalchemy", "rich.console", "jinja2",
         "bayesduel.cli")  # fmt: skip
SIMULATE = ["simulate", "--problem", "cyclic-4", "--policies", "Uniform", "--horizon", "20",
            "--replications", "1"]  # fmt: skip
READERS = ("health", "fit", "winners", "report", "check", "top-k", "judges", "export",
           "attributes")  # fmt: skip
MORE = {"fit": ("-o", "OUT.nc"), "report": ("-o", "OUT.html"), "top-k": ("--k", "2"),
        "export": ("-o", "OUT")}  # fmt: skip
NEW_STUDY = ("study", "new", "OUT.study", "--arms", "a,b,c")
NUMBERS = ("nan", "inf", "-1", "0", "1e20", "1e400", "9" * 5_000, "", "0x10", "1,000", "٣")
NAMES = ("$_$", "../../etc/passwd", "; rm -rf .", "<script>alert(1)</script>", "(" * 3_000,
         "__import__('os').system('true')", "🦊", "\u202e", "a" * 10_000, "NULL", "' OR 1=1 --",
         "DTS(alpha=9e999)", "DTS(alpha=None)", "Uniform(" + "[" * 500)  # fmt: skip


class Case(NamedTuple):
    """A bad input: the command, what is bad, and its arguments; LOG stands for a broken file."""

    command: str
    what: str
    arguments: tuple[str, ...]
    file: tuple[str, bytes] | None = None

    @property
    def key(self) -> str:
        """What its record is kept under."""
        return f"{self.command}: {self.what}"


def cases(seed: int) -> list[Case]:
    """Return all cases, in random order."""
    from tests.support import broken_files, broken_text  # noqa: F401 (they register themselves)
    from tests.support.breaking import CASES

    found = []
    for name, build in sorted(CASES.items()):
        broken = build(np.random.default_rng(zlib.crc32(name.encode())))
        for command in READERS:
            arguments = (command, "LOG", *MORE.get(command, ()))
            found.append(Case(command, f"file: {name}", arguments, (broken.name, broken.data)))
        file = (broken.name, broken.data)
        study = (*NEW_STUDY, "--pairs", "LOG")
        found.append(Case("study new", f"--pairs: {name}", study, file))
        found.append(Case("study status", f"file: {name}", ("study", "status", "LOG"), file))
        found.append(Case("update", f"FIT: {name}", ("update", "LOG", "springall"), file))
        items = ("attributes", "baseball1987", "--items", "LOG")
        found.append(Case("attributes", f"--items: {name}", items, file))
    for number in NUMBERS:
        for option in ("--horizon", "--replications", "--seed", "--k", "--workers"):
            arguments = (*SIMULATE, option, number)
            found.append(Case("simulate", f"{option} {_short(number)}", arguments))
        for option in ("--draws", "--seed"):
            fit = ("fit", "baseball1987", "-o", "OUT.nc", option, number)
            found.append(Case("fit", f"{option} {_short(number)}", fit))
        for option in ("--confidence", "--rope"):
            arguments = ("winners", "baseball1987", "--draws", "100", option, number)
            found.append(Case("winners", f"{option} {_short(number)}", arguments))
        for option in ("--confidence", "--rope", "--budget", "--seed"):
            study = (*NEW_STUDY, option, number)
            found.append(Case("study new", f"{option} {_short(number)}", study))
        for option in ("--k", "--draws", "--confidence"):
            arguments = ("top-k", "baseball1987", option, number)
            found.append(Case("top-k", f"{option} {_short(number)}", arguments))
        arguments = ("update", "no.nc", "baseball1987", "--draws", number)
        found.append(Case("update", f"--draws {_short(number)}", arguments))
        for option in ("--scale", "--sparsity", "--ci-prob"):
            arguments = ("attributes", "baseball1987", option, number)
            found.append(Case("attributes", f"{option} {_short(number)}", arguments))
    for name in NAMES:
        found.append(Case("health", f"LOG {_short(name)}", ("health", name)))
        fit = ("fit", "baseball1987", "-o", "OUT.nc", "--model", name)
        found.append(Case("fit", f"--model {_short(name)}", fit))
        for k, option in ((2, "--problem"), (4, "--policies")):
            arguments = (*SIMULATE[:k], name, *SIMULATE[k + 1 :])
            found.append(Case("simulate", f"{option} {_short(name)}", arguments))
        found.append(Case("study status", f"STUDY {_short(name)}", ("study", "status", name)))
        for option in ("--goal", "--model", "--policy"):
            study = (*NEW_STUDY, option, name)
            found.append(Case("study new", f"{option} {_short(name)}", study))
        study = ("study", "new", "OUT.study", "--arms", f"a,{name}")
        found.append(Case("study new", f"--arms {_short(name)}", study))
        found.append(Case("update", f"FIT {_short(name)}", ("update", name, "springall")))
        found.append(Case("judges", f"LOG {_short(name)}", ("judges", name)))
        found.append(Case("datasets", f"NAME {_short(name)}", ("datasets", name)))
        found.append(Case("unknown", _short(name), (name, "springall")))
        export = ("export", "springall", "-o", "OUT", "--format", name)
        found.append(Case("export", f"--format {_short(name)}", export))
    order = np.random.default_rng(seed).permutation(len(found))
    return [found[k] for k in order]


def answer(case: Case, folder: Path) -> dict[str, Any]:
    """Return what a command says to a bad input: its kind, its status and its first line.

    The command runs in a forked process, which has the imports already.
    """
    arguments = [str(folder / a) if a.startswith("OUT") else a for a in case.arguments]
    if case.file is not None:
        path = folder / case.file[0]
        path.write_bytes(case.file[1])
        arguments = [str(path) if a == "LOG" else a for a in arguments]
    for name in HEAVY:
        importlib.import_module(name)
    status = _forked(arguments, folder)
    if status is None:
        return {"kind": "no answer", "status": None, "said": f"nothing in {LIMIT} s"}
    said = (folder / "said.txt").read_bytes().decode("utf-8", "replace")
    lines = [t for t in said.splitlines() if t and not t.startswith(("read ", "left out "))]
    one = [line for line in lines if not line.startswith("bayesduel: warning")]
    if status == 0:
        kind = "answered"
    elif status == 2 and len(one) == 1 and "Traceback" not in said:
        kind = "refused"
    else:
        kind = "fault"
    words = (one or lines or [""])[-1].replace(str(folder) + "/", "")
    return {"kind": kind, "status": status, "said": words}


def _forked(arguments: list[str], folder: Path) -> int | None:
    """Run a command in a forked process; return its status, or None if it does not end in time."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
            os.chdir(folder)
            for name, number in {"/dev/null": 0, "shown.txt": 1, "said.txt": 2}.items():
                os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
            from bayesduel.cli import main

            main(arguments, "python -m bayesduel")
        except SystemExit as end:
            status = int(end.code or 0)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        done, code = os.waitpid(process, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(code)
            return None if status in (-signal.SIGXCPU, -signal.SIGKILL) else status
        time.sleep(0.01)
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:10]}... ({len(text):,} characters)"
