"""Where replications run: in this process, in processes of this machine, or on a Dask cluster."""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesduel.simulation.replication import RUNS, replicate, start
from bayesduel.system.extras import load_extra

__all__ = ["Task", "end_with", "here", "on_dask", "on_processes", "warm"]

LOOK = 0.3  # Seconds between two looks at the parent process, or at the progress file.

Report = Callable[[int, int], None]
Result = tuple[int, dict[str, np.ndarray]]

_parents: set[int] = set()


class Task(NamedTuple):
    """One replication of one policy: the arguments of ``start``, and a row of progress."""

    policy: Any
    problem: Any
    times: np.ndarray
    plan: dict[str, Any]
    replication: int
    place: int  # its row in the progress file


def here(tasks: Sequence[Task], report: Report) -> Iterator[Result]:
    """Run tasks one after another in this process."""
    for task in tasks:
        one = start(*task[:-1])
        for done in replicate(one):
            report(task.place, done)
        report(task.place, int(task.times[-1]))
        yield task.place, one.arrays


def on_processes(tasks: Sequence[Task], workers: int, report: Report) -> Iterator[Result]:
    """Run tasks in `workers` processes, one BLAS thread each; yield them as they finish."""
    from joblib import Parallel, delayed, parallel_config

    warm(tasks)
    rows = max(task.place for task in tasks) + 1
    with tempfile.TemporaryDirectory(prefix="bayesduel-") as folder:
        file = Path(folder) / "progress"
        noted = np.memmap(file, np.int64, "w+", shape=(rows,))
        stop = threading.Event()

        def watch() -> None:
            while not stop.wait(LOOK):
                for task in tasks:
                    report(task.place, int(noted[task.place]))

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


def on_dask(tasks: Sequence[Task], scheduler: str, report: Report) -> Iterator[Result]:
    """Run tasks on the Dask cluster at address `scheduler`; yield them as they finish."""
    distributed: Any = load_extra("distributed", "dask")
    with distributed.Client(scheduler, set_as_default=False) as client:
        finished = distributed.as_completed(
            client.map(run, tasks, pure=False), loop=client.loop, with_results=True
        )
        for future, result in finished:
            future.release()  # else it runs again if its worker is lost later
            place, arrays = result
            report(place, int(tasks[0].times[-1]))
            yield place, arrays


def warm(tasks: Sequence[Task]) -> None:
    """Compile every policy's loop once, in this process, so that workers load it from disk."""
    by_policy = {repr(task.policy): task for task in tasks}
    for task in by_policy.values():
        kind = RUNS[task.plan["setting"]]
        least = kind.least(task.policy, task.problem.n_arms)
        times = np.full(1, least, np.int64)
        run(task._replace(times=times))


def run(task: Task, progress: str = "", parent: int = 0) -> Result:
    """Run one replication; return its place and what was recorded.

    `progress` names a file of int64, one per task, in which the steps done are noted; `parent`
    is the process to end with, if any.
    """
    if parent:
        end_with(parent)
    one = start(*task[:-1])
    noted = np.zeros(task.place + 1, np.int64)
    if progress:
        noted = np.memmap(progress, np.int64, "r+")
    for done in replicate(one):
        noted[task.place] = done
    noted[task.place] = task.times[-1]
    return task.place, one.arrays


def end_with(parent: int) -> None:
    """End this process as soon as the process `parent`, which started it, has ended.

    Compiled code answers no signal, so a thread looks for the parent. Does nothing in the parent
    itself, and on Windows, where the parent's number does not change.
    """
    if parent == os.getpid() or parent in _parents:
        return
    _parents.add(parent)
    threading.Thread(target=_look, args=(parent,), daemon=True).start()


def _look(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)
