"""The points that were put right, each by a command on a log with the trait, and its answer."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["ATTACKED", "POINTS", "point"]

SHOWN = 5  # lines of an answer

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
calls = (lambda: bd.Study(arms=["a", "b"], costs=np.eye(2)), lambda: bd.study.plan(None),
         lambda: bd.check(bd.datasets.load("springall"), draws=float("inf")),
         lambda: bd.fit(bd.datasets.load("springall"), draws=10**5000))
for call in calls:
    try:
        call()
    except (TypeError, ValueError) as error:
        print(f"bayesduel: {type(error).__name__}: {error}")
"""
LIKE = """
import bayesduel as bd
log = bd.read_duels("zeros.csv", like=bd.load("f.nc"))
print("rows of zeros.csv, n_ties:", log.n_ties, log.summary().iloc[0].to_dict())
"""
LOST = """
import pathlib, sys, bayesduel as bd
given = {"horizon": 1000, "seed": 1, "replications": 2, "workers": 1, "progress": False}
bd.simulate(bd.policies.Uniform(), "cyclic-4", out="trace.zarr", **given)
chunks = [p for p in pathlib.Path("trace.zarr/trace").rglob("c/**/*") if p.is_file()]
for chunk in chunks:
    chunk.unlink()
try:
    print("regret", float(bd.regret(bd.open_trace("trace.zarr").load()).to_array().max()))
except ValueError as error:
    print(f"bayesduel: {error}")
bd.simulate(bd.policies.Uniform(), "cyclic-4", out="trace.zarr", **given)
print("rows: run again,", sum(p.exists() for p in chunks), "of", len(chunks), "chunks are there")
"""
CASES = """
import bayesduel as bd, pyarrow as pa, pyarrow.parquet as pq
votes = {"left": ["a", "b"], "right": ["b", "a"], "outcome": ["left"] * 2, "Left": ["y", "z"]}
pq.write_table(pa.table(votes), "case.parquet")
for left in ("left", "Left"):
    print("arms of", left, list(map(str, bd.read_duels("case.parquet", left=left).arms)))
"""
FLIP = """
import pathlib
held = bytearray(pathlib.Path("f.nc").read_bytes())
for k in range(0, len(held), 997):
    held[k] ^= 8
pathlib.Path("f.nc").write_bytes(held)
"""
THREADS = """
import numpy as np, bayesduel as bd
from concurrent.futures import ThreadPoolExecutor
def draws(seed):
    rng = np.random.default_rng(seed)
    n, k = 40 + seed, 3 + seed % 5
    left = rng.integers(0, k, n)
    right = (left + rng.integers(1, k, n)) % k
    names = [[f"arm {i}" for i in side] for side in (left, right)]
    log = bd.Duels.from_votes(*names, rng.integers(0, 2, n).astype(float))
    return bd.fit(log, draws=100, seed=seed).posterior["score"].values.tobytes()
alone = [draws(seed) for seed in range(40)]
with ThreadPoolExecutor(8) as pool:
    many = list(pool.map(draws, [seed for seed in range(40) for _ in range(8)]))
differ = sum(found != alone[k // 8] for k, found in enumerate(many))
print("rows: 320 fits by 8 threads,", differ, "differ from those by one thread")
"""
STOPPED = """
import os, pathlib, psutil, subprocess, sys, time
command = ["simulate", "--problem", "cyclic-4", "--policies", "UCB1", "--horizon", "2e6",
           "--replications", "16", "--workers", "2", "-o", "trace.zarr"]
pathlib.Path("tmp").mkdir()
before, own = set(os.listdir("/dev/shm")), os.environ | {"TMPDIR": os.path.abspath("tmp")}
started = subprocess.Popen([sys.executable, "-m", "bayesduel", *command], stdout=-3, stderr=-1,
                           env=own)
def workers():
    found = psutil.Process(started.pid).children(recursive=True)
    return [one for one in found if "resource_tracker" not in " ".join(one.cmdline())]
while started.poll() is None and not workers():
    time.sleep(0.02)
time.sleep(1)
running = workers()
started.terminate()
said = started.communicate(timeout=60)[1].decode().split("\\n")[-2]
time.sleep(0.5)
left = [*os.listdir("tmp"), *(set(os.listdir("/dev/shm")) - before)]
alive = sum(one.is_running() for one in running)
print(f"rows: {len(running)} workers ran, status {started.returncode}, {said!r}; now {alive} run")
print("rows: what is left in the folder of temporary files and in /dev/shm:", left)
raise SystemExit(started.returncode)
"""
DUELS = """
import bayesduel as bd
for source in ("away.csv", "losses.csv", [(0, 3), (2, 0)], range(10**12)):
    try:
        print(source, bd.read_duels(source).n_duels, "duels")
    except (TypeError, ValueError) as error:
        print(f"bayesduel: {type(error).__name__}: {error}")
"""
FILES = {  # in each folder, by name
    "log.csv": LOG,
    "hold.py": HOLD,
    "junk_calls.py": JUNK,
    "lost.py": LOST,
    "duels.py": DUELS,
    "like.py": LIKE,
    "case.py": CASES,
    "flip.py": FLIP,
    "threads.py": THREADS,
    "stopped.py": STOPPED,
    "more.csv": "left,right,outcome\n" + "a,c,left\nb,c,right\n" * 50,
    "two.csv": "left,right,outcome\n" + "a,b,left\nb,c,right\n" * 5,
    "far.csv": "left,right,margin\n" + "a,b,1\nb,c,-2\nc,a,1\n" * 30 + "a,b,1e140\n",
    "lengths.csv": "left,right,outcome,x\n" + "a,b,left,1\nb,c,left,1e300\nc,a,left,2\n" * 6,
    "away.csv": "home,away,FTR\n" + "a,b,A\na,c,A\nb,c,A\nc,b,A\n" * 5,
    "losses.csv": "left,right,result\n" + "a,b,L\na,c,L\nb,c,D\n" * 5,
    "first.csv": "left,right,outcome\n" + "a,b,1\nb,c,-1\na,c,0\n" * 9,
    "zeros.csv": "left,right,outcome\n" + "a,b,0\n" * 40,
    "slashes.csv": "g,left,right,outcome\n" + "a/b,x,y,left\na b,x,y,right\na?b,x,y,left\n" * 4,
    "alike.csv": LOG.replace("a,", "caf\u00e9,", 9).replace("b,", "cafe\u0301,", 9),
    "formulas.csv": LOG.replace("a,", "=1+1,").replace("b,", "@SUM,"),
    "huge.csv": "left,right,margin\n" + "a,b,1\nb,c,-2\nc,a,1\n" * 9 + "a,b,1e300\n",
    "counts.csv": "a,b,wins_a,wins_b\nx,y,3,1\ny,z,-1,2\n",
    "apart.csv": "left,right,outcome,league\n"
    + "a,b,left,north\nb,a,left,north\nc,d,left,south\nd,c,left,south\n" * 6,
    "nested.jsonl": '{"left": {"x": 1}, "right": "b", "outcome": "left"}\n' * 3,
}
EXTRA = "from bayesduel.system.extras import load_extra; load_extra('no_such', 'dask')"
PLAIN = "--model preference-matrix --draws 200"
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
ATTACKED: dict[str, tuple[str, str]] = {  # points of a second attack
    "2 an update with zeros alone": (
        "log", f"bayesduel fit first.csv -o f.nc {PLAIN} 2> /dev/null; "
        "bayesduel update f.nc zeros.csv; bayesduel winners f.nc"),
    "2, 4, 22 only away wins; losses and draws; lists": ("log", "python duels.py"),
    "3 columns that differ by case only": ("log", "python case.py"),
    "5 an option that a fit cannot honour": (
        "log", f"bayesduel fit log.csv -o f.nc {PLAIN} 2> /dev/null; "
        "bayesduel winners f.nc --model davidson"),
    "6 a file twice": ("log", "bayesduel health log.csv log.csv"),
    "7 a margin of 1e140": (
        "log", "bayesduel fit far.csv -o f.nc --model thurstone-score --draws 200"),
    "8 labels that look alike": ("log", "bayesduel health alike.csv | grep -i -A1 alike"),
    "8 a nested arm": ("log", "bayesduel health nested.jsonl"),
    "10 labels that make one file name": (
        "log", f"bayesduel fit slashes.csv --by g -o f.nc {PLAIN} 2> /dev/null; ls f-*"),
    "11 an output that is the input": (
        "log", "bayesduel fit log.csv -o log.csv; s=$?; head -1 log.csv; exit $s"),
    "11 a page that is a hard link of the input": (
        "log", "ln log.csv r.html; bayesduel report log.csv -o r.html; s=$?; head -1 log.csv; "
        "exit $s"),
    "12 two updates at once": (
        "log", f"bayesduel fit log.csv -o f.nc {PLAIN} 2> /dev/null; "
        "bayesduel update f.nc two.csv & bayesduel update f.nc more.csv; wait"),
    "13 a margin of 1e300": ("log", "bayesduel fit huge.csv -o f.nc"),
    "13 a covariate of 1e300": ("log", "bayesduel fit lengths.csv --covariates x -o f.nc"),
    "13 two logs, checked": (
        "log", f"bayesduel winners log.csv two.csv --check {PLAIN} | head -1"),
    "13 bits that are flipped": (
        "log", f"bayesduel fit log.csv -o f.nc {PLAIN} 2> /dev/null; python flip.py; "
        "bayesduel winners f.nc"),
    "14 a pipe with a name": (
        "log", "mkfifo pipe; (timeout 20 sh -c 'cat log.csv > pipe' &> /dev/null &); "
        "timeout 20 bayesduel health pipe"),
    "14 wins_a of -1": ("log", "bayesduel health counts.csv"),
    "15 parts that never met": ("log", "bayesduel report apart.csv --draws 100"),
    "15 the name of an option": ("log", "bayesduel fit log.csv --covariates length -o f.nc"),
    "16 lost chunks": ("log", "python lost.py"),
    "17 eight threads": ("log", "python threads.py"),
    "18 tables on a full disk": (
        "log", f"mkdir t; echo old > t/ranking.csv; ulimit -f 0; bayesduel export log.csv -o t "
        f"{PLAIN}; s=$?; ls t; cat t/ranking.csv; exit $s"),
    "19 labels that are formulas": (
        "log", f"bayesduel export formulas.csv -o t {PLAIN}; cut -d, -f2 t/ranking.csv"),
    "20 1e8 draws": ("log", "bayesduel fit log.csv -o f.nc --draws 100000000"),
    "20 little memory": ("log", "ulimit -v 900000; bayesduel winners log.csv"),
    "21 a study on a full disk": (
        "log", "bayesduel study new s.study --arms a,b > /dev/null; ulimit -f 1; "
        "for k in 1 2 3 4 5 6 7 8; do bayesduel study add s.study a b left > /dev/null; done"),
    "21 SIGTERM": ("log", "python stopped.py"),
    "22 a name too long": (
        "log", "bayesduel health $(printf 'a%.0s' $(seq 5000)) | cut -c1-80"),
}  # fmt: skip


def point(name: str, folder: Path) -> dict[str, Any]:
    """Run the command of a point in a folder with its files; return status and answer."""
    kind, command = (POINTS | ATTACKED)[name]
    for file, text in FILES.items():
        (folder / file).write_text(text, encoding="utf-8")
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
    text = (done.stdout + done.stderr).decode("utf-8", "replace").replace(f"{folder}/", "")
    said = text.splitlines()
    answer = [line.strip() for line in said if line.strip()]
    kept = [line for line in answer if line.startswith(("bayesduel:", "rows", "arms", "duels"))]
    kept += [line for line in answer if "rows" in line or "report.html" in line or line == "old"]
    shown = list(dict.fromkeys(answer if len(answer) <= SHOWN else kept or answer[-1:]))
    return {"point": name, "command": command, "status": done.returncode, "said": shown[:SHOWN]}
