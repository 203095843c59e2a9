"""The points that were put right, each by a command on a log with the trait, and its answer."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["POINTS", "point"]

LOG = "left,right,outcome\n" + "a,b,left\nb,c,left\na,c,left\nc,a,left\nb,a,left\n" * 4
LINES = '{"left": "a", "right": "b", "outcome": "left"}\n' * 3
HOLD = """
import sys, bayesduel as bd
from click.testing import CliRunner
from bayesduel.cli import main
from bayesduel.simulation import trace
command = ["simulate", "--problem", "cyclic-4", "--policies", "Uniform", "--horizon", "20",
           "--replications", "2", "--workers", "1", "-o", "trace.zarr"]
first = CliRunner().invoke(main, command)
from filelock import FileLock
with FileLock("trace.zarr/" + trace.LOCK):  # another process writes it
    second = CliRunner().invoke(main, command)
print(second.stderr, file=sys.stderr)
raise SystemExit(second.exit_code)
"""
JUNK = """
import numpy as np, bayesduel as bd
calls = (lambda: bd.Study(arms=["a", "b"], costs=np.eye(2)), lambda: bd.plan(None),
         lambda: bd.check(bd.datasets.load("springall"), draws=float("inf")),
         lambda: bd.fit(bd.datasets.load("springall"), draws=10**5000))
for call in calls:
    try:
        call()
    except (TypeError, ValueError) as error:
        print(f"bayesduel: {type(error).__name__}: {error}")
"""
EXTRA = "from bayesduel.system.extras import load_extra; load_extra('no_such', 'dask')"
BAYESDUEL = f"{sys.executable} -m bayesduel"
POINTS: dict[str, tuple[str, str]] = {
    "1 a folder called left=zzz": ("lines", "bayesduel health left=zzz/log.jsonl"),
    "2 a weight with white space": ("weights", "bayesduel health log.csv --on-bad skip"),
    "2 a file called [a]*.csv": ("brackets", "bayesduel health '[a]*.csv' --on-bad skip"),
    "3 a full disk under an old file": (
        "log", "echo old > fit.nc; ulimit -f 64; bayesduel fit log.csv -o fit.nc; s=$?; "
        "cat fit.nc; exit $s"),
    "4 names with dollar signs": (
        "hostile", "bayesduel report log.csv -o report.html --draws 100"),
    "5 too many arms": (
        "log", "bayesduel simulate --problem 'bradley_terry(n_arms=900000)' --policies Uniform "
        "--horizon 10"),
    "6 no HOME, C locale": (
        "log", "HOME=/no/such LC_ALL=C PYTHONUTF8=0 bayesduel health log.csv"),
    "7 a missing extra": ("log", f'python -c "{EXTRA}"'),
    "8 an address": ("log", "bayesduel health https://example.invalid/log.csv"),
    "8 a tilde": ("log", "bayesduel health '~/log.csv'"),
    "10 a horizon of 1e20": (
        "log", "bayesduel simulate --problem cyclic-4 --policies Uniform --horizon 1e20"),
    "10 replications of 1e11": (
        "log", "bayesduel simulate --problem cyclic-4 --policies Uniform --horizon 20 "
        "--replications 100000000000"),
    "10 junk for arguments": (
        "log", "python junk_calls.py"),
    "11 two writers of one trace": ("log", "python hold.py"),
}  # fmt: skip


def point(name: str, folder: Path) -> dict[str, Any]:
    """Run the command of a point in a folder with its files; return status and answer."""
    kind, command = POINTS[name]
    (folder / "hold.py").write_text(HOLD, encoding="utf-8")
    (folder / "junk_calls.py").write_text(JUNK, encoding="utf-8")
    (folder / "log.csv").write_text(LOG, encoding="utf-8")
    if kind == "lines":
        (folder / "left=zzz").mkdir()
        (folder / "left=zzz" / "log.jsonl").write_text(LINES, encoding="utf-8")
    if kind == "weights":
        rows = "".join(f"a,b,left,{w}\n" for w in ("2", "\u20282", "\t2", "\xa02", "x", ""))
        (folder / "log.csv").write_text(f"left,right,outcome,weight\n{rows}", encoding="utf-8")
    if kind == "brackets":
        (folder / "[a]*.csv").write_text(f"{LOG}a,b\n", encoding="utf-8")
    if kind == "hostile":
        text = LOG.replace("a,", "$_$,").replace("b,", r"\frac,").replace("c,", "<b>,")
        (folder / "log.csv").write_text(text, encoding="utf-8")
    run = command.replace("python ", f"{sys.executable} ").replace("bayesduel ", f"{BAYESDUEL} ")
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(
        ["bash", "-c", run], cwd=folder, env=environment, capture_output=True, timeout=600
    )
    said = [line for line in (done.stdout + done.stderr).decode("utf-8", "replace").splitlines()]
    answer = [line.strip() for line in said if line.strip()]
    kept = [line for line in answer if line.startswith(("bayesduel:", "rows", "arms", "duels"))]
    kept += [line for line in answer if "rows" in line or "report.html" in line or line == "old"]
    shown = list(dict.fromkeys(kept or answer[-1:]))
    return {"point": name, "command": command, "status": done.returncode, "said": shown[:4]}
