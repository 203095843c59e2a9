"""A Dask cluster of several processes, one killed in flight: same numbers, no more work."""

import os
import signal
import threading
import time
import uuid
from dataclasses import fields
from pathlib import Path

import pytest
import xarray as xr

import bayesduel as bd
from bayesduel.problems import LogisticItems, RandomProblem, score_duels, uniform

TASKS = 24
PAIRS = RandomProblem(n_arms=5, generator=uniform, name="pairs")
MARGINS = RandomProblem(n_arms=5, generator=score_duels, name="margins")
ITEMS = LogisticItems(n_arms=12, n_attributes=3)
RUNS = {
    "pairs": ([bd.policies.DTS(), bd.policies.Uniform()], PAIRS, {}),
    "top k": ([bd.policies.Uniform(), bd.policies.SelectTop()], MARGINS, {"k": 2}),
    "items": ([bd.policies.LogisticThompson(), bd.policies.LogisticUCB()], ITEMS, {}),
}


def noting(problem, folder):
    """Return the problem; a draw in another process takes a moment and leaves a file."""
    here, kind = os.getpid(), type(problem)

    class Noting(kind):
        def draw(self, rng):
            if os.getpid() != here:
                (Path(folder) / f"{os.getpid()}-{uuid.uuid4()}").touch()
                time.sleep(0.2)
            return kind.draw(self, rng)

    settings = {f.name: getattr(problem, f.name) for f in fields(problem) if f.init}
    return Noting(**settings)


def kill_one(folder, killed):
    """Kill a worker once 15 replications have begun: it has finished some, and is in another."""
    while len(begun := sorted(folder.iterdir(), key=lambda f: f.stat().st_mtime)) < 15:
        time.sleep(0.01)
    killed.append(int(begun[-1].name.split("-")[0]))
    os.kill(killed[0], signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("what", RUNS)
def test_a_worker_that_is_killed_loses_nothing(what, tmp_path):
    distributed = pytest.importorskip("distributed")
    policies, problem, settings = RUNS[what]
    settings = settings | {"replications": TASKS // 2, "seed": 5}
    here = bd.simulate(policies, problem, 200, workers=1, **settings)
    killed = []
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        killer = threading.Thread(target=kill_one, args=(tmp_path, killed), daemon=True)
        killer.start()
        there = bd.simulate(
            policies,
            noting(problem, str(tmp_path)),
            200,
            backend="dask",
            scheduler=cluster.scheduler_address,
            **settings,
        )
        killer.join()
    assert killed
    for group in ("trace", "problem"):
        xr.testing.assert_identical(there[group].to_dataset(), here[group].to_dataset())
    begun = len(list(tmp_path.iterdir()))
    assert TASKS <= begun <= TASKS + 3  # again: what the worker was at, and results on their way
