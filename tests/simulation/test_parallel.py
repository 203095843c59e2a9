"""A run can be stopped: short stretches of compiled code, and no worker outlives its parent."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

import bayesduel as bd
from bayesduel.problems import named
from bayesduel.simulation.replication import LONGEST, STRETCH, Pace, replicate, start

BEGUN = """
import os, sys
from pathlib import Path
import bayesduel as bd
from bayesduel.problems import RandomProblem, score_duels, uniform

parent = os.getpid()

def noted(n_arms, rng):
    if os.getpid() != parent:
        (Path(sys.argv[1]) / str(os.getpid())).touch()
    return made(n_arms, rng=rng)

def simulate():
    times = [10**10]
    bd.simulate(bd.policies.Uniform(), problem, 10**10, replications=4, record_at=times, workers=2)

def select():
    times = [10**10]
    rule = bd.policies.Uniform()
    bd.simulate(rule, problem, 10**10, k=2, replications=4, record_at=times, workers=2)

if __name__ == "__main__":
    made = {"simulate": uniform, "select": score_duels}[sys.argv[2]]
    problem = RandomProblem(n_arms=5, generator=noted)
    {"simulate": simulate, "select": select}[sys.argv[2]]()
"""


def alive(process):
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("what", ["simulate", pytest.param("select", marks=pytest.mark.slow)])
def test_workers_end_with_their_parent(what, tmp_path):
    script, begun = tmp_path / "begun.py", tmp_path / "begun"
    script.write_text(BEGUN)
    begun.mkdir()
    here = {**os.environ, "TMPDIR": str(tmp_path)}  # A killed parent leaves its progress file.
    parent = subprocess.Popen([sys.executable, str(script), str(begun), what], env=here)
    deadline = time.monotonic() + 120
    while len(list(begun.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
        assert parent.poll() is None, "it should still be running"
    workers = [psutil.Process(int(file.name)) for file in begun.iterdir()]
    time.sleep(0.2)  # Well into a run that would last for hours.
    assert len([w for w in workers if alive(w)]) == 2
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    start = time.monotonic()
    while any(map(alive, workers)) and time.monotonic() < start + 30:
        time.sleep(0.02)
    assert time.monotonic() < start + 5  # About 0.5 s; other processes may be in the way.


def test_a_stretch_is_about_as_long_as_it_should_be(monkeypatch):
    """At 1,000 duels a second: from 64 by factors of at most 4 to what takes STRETCH."""
    clock = [0.0]
    monkeypatch.setattr("bayesduel.simulation.replication.time.perf_counter", lambda: clock[0])
    pace, seen = Pace(), []
    for _ in range(4):
        pace.start()
        clock[0] += pace.duels / 1000
        pace.stop(pace.duels)
        seen.append(pace.duels)
    assert seen == [round(1000 * STRETCH)] * 4
    pace.start()
    pace.stop(pace.duels)  # No time at all.
    assert pace.duels == 4 * round(1000 * STRETCH)
    pace.start()
    clock[0] += 1000
    pace.stop(1)
    assert pace.duels == 1
    pace.duels = LONGEST
    pace.start()
    pace.stop(LONGEST)
    assert pace.duels == LONGEST


@pytest.mark.plain
def test_results_do_not_depend_on_the_stretches(monkeypatch):
    """One duel at a time, or all of them at once."""
    policies = [bd.policies.DTS(), bd.policies.SCB(), bd.policies.Uniform()]
    problem = named("cyclic-4")
    plan = {"setting": "pairs", "seed": 3, "permute": True, "pairs": True, "horizon": 300}
    told = []
    for stretch in (1, LONGEST):
        monkeypatch.setattr(Pace, "stop", lambda self, played, n=stretch: setattr(self, "duels", n))
        runs = [start(p.for_horizon(300), problem, np.array([10, 300]), plan, 0) for p in policies]
        for run in runs:
            assert sum(1 for _ in replicate(run)) >= (237 if stretch == 1 else 2)  # 64 come first
        told.append([run.arrays["wins"] for run in runs])
    np.testing.assert_array_equal(*told)
