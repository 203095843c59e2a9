"""Policies: duels a second, growth with the number of arms, and duelpy beside us.

Run with ``python -m benchmarks.policies``, or with the names of some of ``MEASURES`` (``growth
unchanged``). One core. Each rate is the best of three runs of
a compiled, warm loop. duelpy 1.0.0 needs NumPy 1.23 and so Python 3.11 or older with an
environment of its own, which is made under the temporary folder; where that cannot be done
the row says why.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

REGRET_RUNS = 20
WARMING = 10.0  # seconds at most before a rate: D-TS plays 1,000 arms at 1,500 duels a second

# The first ten duels of a policy in a new process.
FIRST_DUELS = "import bayesduel as bd; bd.simulate(bd.policies.{}(), '{}', 10, workers=1, seed=1)"
# The policies whose first compilation took longest, and two that everybody plays.
SLOW_TO_COMPILE = {
    "SAVAGE": "mslr-5",
    "DTSPlus": "mslr-5",
    "VACDB": "contextual-duels",
    "PivotIndex": "mslr-5",
    "DTS": "mslr-5",
    "RUCB": "mslr-5",
}

# Runs inside duelpy's own environment: its D-TS on the problem given, timed, with its regret.
DUELPY = """
import json, sys, time
import numpy as np
from duelpy.algorithms import DoubleThompsonSampling
from duelpy.feedback import MatrixFeedback

P, horizon, runs = np.array(json.load(open(sys.argv[1]))), int(sys.argv[2]), int(sys.argv[3])
wins = (P > 0.5).sum(1) / (len(P) - 1)
seconds, regrets = [], []
for seed in range(runs):
    feedback = MatrixFeedback(P, random_state=np.random.RandomState(seed))
    seen = []
    original = feedback.duel
    def duel(i, j):
        seen.append((i, j))
        return original(i, j)
    feedback.duel = duel
    start = time.perf_counter()
    DoubleThompsonSampling(feedback, time_horizon=horizon,
                           random_state=np.random.RandomState(1000 + seed)).run()
    seconds.append(time.perf_counter() - start)
    pairs = np.array(seen)
    regrets.append(float((wins.max() - wins[pairs].mean(1)).sum()))
print(json.dumps({"rate": len(seen) / min(seconds), "regrets": regrets}))
"""


def rate(policy: Any, P: np.ndarray, n_duels: int) -> float:
    """Return duels a second of processor time of a warm compiled loop, the best of three.

    It starts after K^2 duels, or ``WARMING`` seconds: some policies begin with one of each pair,
    which costs less.
    """
    from bayesduel.simulation.pair_run import play_pairs
    from bayesduel.simulation.run import driver

    policy = policy.for_horizon(10**8)
    run = driver(play_pairs, policy.select, repeats=policy.repeats)
    belief, memory = policy.belief.init(len(P)), policy.init(len(P))
    alone = np.zeros(len(P), np.int64)
    rng, coins = np.random.default_rng(1), np.random.default_rng(2)
    best = np.inf
    done = 0
    begun = time.process_time()
    while done < max(1000, len(P) ** 2) and time.process_time() - begun < WARMING:
        run(belief, memory, P, alone, done + 1, done + 1000, rng, coins)
        done += 1000
    for _ in range(3):
        start = time.process_time()
        run(belief, memory, P, alone, done + 1, done + n_duels, rng, coins)
        best = min(best, time.process_time() - start)
        done += n_duels
    return n_duels / best


def speeds() -> list[dict[str, Any]]:
    """Return duels a second where a target is set."""
    import bayesduel as bd
    from bayesduel.problems import named

    cases = [
        (bd.policies.CCB(), 5, 500_000),
        (bd.policies.CCB(), 16, 150_000),
        (bd.policies.DTS(), 10, 100_000),
        (bd.policies.RUCB(), 16, 200_000),
        (bd.policies.RMED1(), 16, 200_000),
        (bd.policies.SCB(), 16, None),
        (bd.policies.CWRMED(), 16, None),
    ]
    rows = []
    for policy, n_arms, target in cases:
        found = rate(policy, np.array(named("linear", n_arms=n_arms).P), 200_000)
        rows.append(
            {
                "policy": type(policy).__name__,
                "arms": n_arms,
                "duels/s": found,
                "target": target or "",
                "ratio": found / target if target else "",
            }
        )
    return rows


def growth() -> list[dict[str, Any]]:
    """Return microseconds a duel by number of arms, and the power of K they grow with."""
    import bayesduel as bd
    from bayesduel.problems import named

    sizes = (10, 100, 1000)
    rows = []
    for policy in (
        bd.policies.DTS(),
        bd.policies.RUCB(),
        bd.policies.SelfSparring(),
        bd.policies.RMED1(),
        bd.policies.CCB(),
        bd.policies.SCB(),
    ):
        row: dict[str, Any] = {"policy": type(policy).__name__}
        for n_arms in sizes:
            P = np.array(named("linear", n_arms=n_arms).P)
            n_duels = 40_000 if n_arms < sizes[-1] else 2000
            row[f"us/duel, K = {n_arms}"] = 1e6 / rate(policy, P, n_duels)
        first, last = (row[f"us/duel, K = {n}"] for n in (sizes[0], sizes[-1]))
        row["power of K"] = np.log(last / first) / np.log(sizes[-1] / sizes[0])
        rows.append(row)
    return rows


def unchanged() -> list[dict[str, Any]]:
    """Return D-TS's regret on arxiv-6 beside that of the rule that formed all bounds every duel.

    The kept runs of ``benchmarks.pivot_index`` are those of that rule.
    """
    from scipy import stats

    from benchmarks.pivot_index import gathered, play, problems, read

    kept = gathered(read(Path("none")), "arxiv-6", 10_000)["DTS"]
    problem = problems()["arxiv-6"]
    now: list[float] = []
    while len(now) < len(kept):
        block = len(now) // 40  # runs of a block
        now += play(problem, "DTS", 10_000, block)["regret"]["10000"]
    return [
        {
            "D-TS on arxiv-6, T = 10,000": label,
            "runs": len(runs),
            "mean": float(np.mean(runs)),
            "median": float(np.median(runs)),
            "p, Kolmogorov-Smirnov": p,
        }
        for label, runs, p in (
            ("all bounds every duel", kept, ""),
            ("what changed", now, float(stats.ks_2samp(kept, now).pvalue)),
        )
    ]


def start() -> list[dict[str, Any]]:
    """Return the seconds until a cached policy has played 10 duels in a new process."""
    rows = []
    for name in ("CCB", "DTS", "CWRMED"):
        command = [sys.executable, "-c", FIRST_DUELS.format(name, "mslr-5")]
        subprocess.run(command, check=True)
        taken = []
        for _ in range(3):
            begun = time.perf_counter()
            subprocess.run(command, check=True)
            taken.append(time.perf_counter() - begun)
        rows.append({"policy": name, "seconds": min(taken), "target": 2.0})
    return rows


def compilation() -> list[dict[str, Any]]:
    """Return the seconds of processor until a policy has played 10 duels with an empty cache."""
    rows = []
    for name, problem in SLOW_TO_COMPILE.items():
        with tempfile.TemporaryDirectory() as folder:
            surroundings = {**os.environ, "NUMBA_CACHE_DIR": folder}
            before = os.times()
            subprocess.run(
                [sys.executable, "-c", FIRST_DUELS.format(name, problem)],
                check=True,
                env=surroundings,
                capture_output=True,
            )
            after = os.times()
        user = after.children_user - before.children_user
        system = after.children_system - before.children_system
        rows.append({"policy": name, "processor seconds": user + system, "target": 20.0})
    return rows


def beside_duelpy(horizon: int = 100_000) -> list[dict[str, Any]]:
    """Return the speed of D-TS here and in duelpy, and the median regret of both."""
    import bayesduel as bd
    from bayesduel.problems import named
    from bayesduel.simulation.regret import regret

    python = duelpy_python()
    rows = []
    for name, settings in (("linear", {"n_arms": 10}), ("cyclic-4", {}), ("mslr-5", {})):
        problem = named(name, **settings)
        ours = rate(bd.policies.DTS(), np.array(problem.P), 100_000)
        trace = bd.simulate(
            bd.policies.DTS(), problem, 10_000, replications=REGRET_RUNS, seed=1, record_at=[10_000]
        )
        row: dict[str, Any] = {
            "problem": problem.name,
            "ours, duels/s": ours,
            "our median regret, T = 1e4": float(np.median(regret(trace))),
        }
        if isinstance(python, str):
            row["duelpy"] = python
        else:
            theirs = run_duelpy(python, problem.P, horizon, 1)
            at_short = run_duelpy(python, problem.P, 10_000, REGRET_RUNS)
            row["duelpy, duels/s"] = theirs["rate"]
            row["ratio"] = ours / theirs["rate"]
            row["its median regret"] = float(np.median(at_short["regrets"]))
        rows.append(row)
    return rows


def run_duelpy(python: Path, P: np.ndarray, horizon: int, runs: int) -> dict[str, Any]:
    """Return what duelpy's D-TS does on a problem."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "P.json"
        file.write_text(json.dumps(np.asarray(P).tolist()))
        command = [str(python), "-W", "ignore", "-c", DUELPY, str(file), str(horizon), str(runs)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])


def duelpy_python() -> Path | str:
    """Return an interpreter that has duelpy, made if need be, or why there is none."""
    home = Path(tempfile.gettempdir()) / "bayesduel-duelpy"
    python = home / "bin" / "python"
    if python.exists():
        return python
    for name in ("python3.11", "python3.10", "python3.9", "python3"):
        found = shutil.which(name)
        if found is None:
            continue
        code = "import sys; sys.exit(not (3, 8) <= sys.version_info < (3, 12))"
        if subprocess.run([found, "-c", code], capture_output=True, check=False).returncode:
            continue
        try:
            subprocess.run([found, "-m", "venv", str(home)], check=True, capture_output=True)
            subprocess.run(
                [str(python), "-m", "pip", "install", "-q", "duelpy==1.0.0", "numpy==1.23.5"],
                check=True,
                capture_output=True,
                text=True,
            )
        except subprocess.CalledProcessError as error:
            shutil.rmtree(home, ignore_errors=True)
            return f"could not be installed: {str(error.stderr).strip().splitlines()[-1:]}"
        return python
    return "needs Python 3.11 or older; none found"


MEASURES = {
    "speeds": ("Policies: duels a second", speeds),
    "growth": ("Policies: cost a duel by number of arms", growth),
    "unchanged": ("Policies: D-TS, before and now", unchanged),
    "start": ("Policies: seconds to start, cached", start),
    "compilation": ("Policies: first compilation, empty cache", compilation),
    "beside_duelpy": ("Policies: D-TS beside duelpy's", beside_duelpy),
}


def run(names: Sequence[str] = ()) -> dict[str, list[dict[str, Any]]]:
    """Print the tables of these measures, by default of all, and return their rows."""
    from benchmarks.tables import show

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    found = {}
    for name in names or MEASURES:
        title, measure = MEASURES[name]
        found[title] = measure()
        show(title, found[title])
    return found


if __name__ == "__main__":
    run(sys.argv[1:])
