"""Where replications run: here, in processes of this machine, or on a Dask cluster."""

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesduel.simulation.interaction import Showing, replicate_items
from bayesduel.simulation.interrupting import end_with
from bayesduel.simulation.replication import Recording, replicate

__all__ = ["Task", "here", "on_dask", "on_processes", "warm"]

# (policy, problem, times, settings, place): one replication, and its row in the progress file.
Task = tuple[Any, Any, np.ndarray, dict[str, Any], int]
Report = Callable[[int, int], None]


def run(task: Task, progress: str = "", parent: int = 0) -> tuple[int, dict[str, np.ndarray]]:
    """Run one replication; return its place and what happened.

    `progress` names a file of int64, one a task, in which the duels done are noted; `parent` is
    the process to end with, if any.
    """
    if parent:
        end_with(parent)
    policy, problem, recording, settings, place = unpacked(task)
    noted = np.memmap(progress, np.int64, "r+") if progress else None
    for done in played(policy, problem, recording, settings):
        if noted is not None:
            noted[place] = done
    return place, recording.arrays


def played(policy: Any, problem: Any, recording: Any, settings: dict[str, Any]) -> Iterator[int]:
    """Run one replication of duels of arms, or of items shown; yield the steps done."""
    play = replicate_items if getattr(problem, "shows", 0) else replicate
    return play(policy, problem, recording, **settings)


def unpacked(task: Task) -> tuple[Any, Any, Any, dict[str, Any], int]:
    """Return the task with an empty recording in place of its times."""
    policy, problem, times, settings, place = task
    rest = {name: value for name, value in settings.items() if name != "pairs"}
    kind: Any = Showing if getattr(problem, "shows", 0) else Recording
    return policy, problem, kind(times, problem.n_arms, settings["pairs"]), rest, place


def warm(tasks: Sequence[Task]) -> None:
    """Compile every policy's loop once, here, so that workers load it from disk."""
    for task in {repr(task[0]): task for task in tasks}.values():
        run((*task[:2], np.ones(1, np.int64), *task[3:]))


def here(tasks: Sequence[Task], report: Report) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Run tasks one after another in this process."""
    for task in tasks:
        policy, problem, recording, settings, place = unpacked(task)
        for done in played(policy, problem, recording, settings):
            report(place, done)
        yield place, recording.arrays


def on_processes(
    tasks: Sequence[Task], workers: int, report: Report
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Run tasks in `workers` processes, one BLAS thread each; yield them as they finish."""
    from joblib import Parallel, delayed, parallel_config

    warm(tasks)
    rows = max(task[4] for task in tasks) + 1
    with tempfile.TemporaryDirectory(prefix="bayesduel-") as folder:
        file = Path(folder) / "progress"
        noted = np.memmap(file, np.int64, "w+", shape=(rows,))
        stop = threading.Event()

        def watch() -> None:
            while not stop.wait(0.3):
                for task in tasks:
                    report(task[4], int(noted[task[4]]))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            with parallel_config(backend="loky", inner_max_num_threads=1):
                yield from Parallel(n_jobs=workers, return_as="generator_unordered")(
                    delayed(run)(task, os.fspath(file), os.getpid()) for task in tasks
                )
        finally:
            stop.set()
            watcher.join()


def on_dask(
    tasks: Sequence[Task], scheduler: str, report: Report
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Run tasks on the Dask cluster at address `scheduler`; yield them as they finish."""
    from distributed import Client, as_completed

    with Client(scheduler, set_as_default=False) as client:
        futures = client.map(run, tasks, pure=False)
        for _, result in as_completed(futures, loop=client.loop, with_results=True):
            place, arrays = result
            report(place, int(tasks[0][2][-1]))
            yield place, arrays
