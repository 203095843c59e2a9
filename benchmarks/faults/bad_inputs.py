"""Bad inputs by command: broken files, numbers out of reason, names that are code or markup."""

import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Case", "answer", "cases"]

LIMIT = 120.0  # seconds for a command
SIMULATE = ["simulate", "--problem", "cyclic-4", "--policies", "Uniform", "--horizon", "20",
            "--replications", "1"]  # fmt: skip
READERS = ("health", "fit", "winners", "report", "check", "top-k")
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
            more = ("-o", "OUT.nc") if command == "fit" else ()
            more = ("-o", "OUT.html") if command == "report" else more
            more = ("--k", "2") if command == "top-k" else more
            arguments = (command, "LOG", *more)
            found.append(Case(command, f"file: {name}", arguments, (broken.name, broken.data)))
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
    for name in NAMES:
        found.append(Case("health", f"LOG {_short(name)}", ("health", name)))
        fit = ("fit", "baseball1987", "-o", "OUT.nc", "--model", name)
        found.append(Case("fit", f"--model {_short(name)}", fit))
        for k, option in ((2, "--problem"), (4, "--policies")):
            arguments = (*SIMULATE[:k], name, *SIMULATE[k + 1 :])
            found.append(Case("simulate", f"{option} {_short(name)}", arguments))
        study = ("study", "status", name)
        found.append(Case("study", f"STUDY {_short(name)}", study))
    order = np.random.default_rng(seed).permutation(len(found))
    return [found[k] for k in order]


def answer(case: Case, folder: Path) -> dict[str, Any]:
    """Return what a command says to a bad input: its kind, its status and its first line."""
    arguments = [str(folder / a) if a.startswith("OUT") else a for a in case.arguments]
    if case.file is not None:
        path = folder / case.file[0]
        path.write_bytes(case.file[1])
        arguments = [str(path) if a == "LOG" else a for a in arguments]
    command = [sys.executable, "-m", "bayesduel", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LIMIT, cwd=folder)
    except subprocess.TimeoutExpired:
        return {"kind": "no answer", "status": None, "said": f"nothing in {LIMIT:.0f} s"}
    said = done.stderr.decode("utf-8", "replace")
    lines = [t for t in said.splitlines() if t and not t.startswith(("read ", "left out "))]
    one = [line for line in lines if not line.startswith("bayesduel: warning")]
    if done.returncode == 0:
        kind = "answered"
    elif done.returncode == 2 and len(one) == 1 and "Traceback" not in said:
        kind = "refused"
    else:
        kind = "fault"
    words = (one or lines or [""])[-1].replace(str(folder) + "/", "")
    return {"kind": kind, "status": done.returncode, "said": words}


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:10]}... ({len(text):,} characters)"
