"""An experiment: every policy, in every replication, to a trace.

:func:`bayesduel.simulate` says what is played and what is recorded; how it is run and kept is the
same for pairs, items and margins.
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from bayesduel import __version__
from bayesduel.policies.policy import Policy
from bayesduel.policies.registry import named
from bayesduel.simulation.parallel import Task, here, on_dask, on_processes
from bayesduel.simulation.progress import progress_bar
from bayesduel.simulation.replication import RUNS, label, streams
from bayesduel.simulation.run import PARTS, Layout
from bayesduel.simulation.trace import (
    Header,
    MemoryTrace,
    StoredTrace,
    finished_trace,
    keep_finished,
)
from bayesduel.system.arguments import check_one_of, check_type, listed, shown_value, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Execution", "experiment", "labelled", "recorded_times", "whole"]


class Execution(NamedTuple):
    """How an experiment is run and kept: arguments of :func:`bayesduel.simulate`."""

    replications: int
    seed: int
    permute: bool
    workers: int | None
    backend: str
    scheduler: str | None
    out: Path | None
    progress: bool | None


def experiment(
    policies: Mapping[str, Any],
    problem: Any,
    times: np.ndarray,
    settings: Mapping[str, Any],
    how: Execution,
) -> xr.DataTree:
    """Run policies on a problem and return the trace."""
    replications = how.replications
    seed = whole(how.seed, "seed", 0)
    out = how.out
    check_one_of(how.backend, "backend", ("processes", "dask"))
    if how.backend == "dask" and not how.scheduler:
        raise ValueError(
            "scheduler should be the address of a Dask cluster when backend is 'dask', got None"
        )
    if how.backend != "dask" and how.scheduler:
        raise ValueError(
            f"scheduler should be given only when backend is 'dask', got backend {how.backend!r}"
        )
    if how.workers is not None:
        how = how._replace(workers=whole(how.workers, "workers", 1))
    kind = RUNS[settings["setting"]]
    drawn = (problem.draw(streams(seed, r)[0]) for r in range(replications))
    truth = kind.truth(problem, drawn, settings)
    truth_bytes = b"".join(values.tobytes() for _, values in truth.values())
    plan = {
        "problem": problem.name,
        "source": problem.source,
        "truth": hashlib.sha256(truth_bytes).hexdigest(),
        "policies": {name: repr(policy) for name, policy in policies.items()},
        "times": hashlib.sha256(times.tobytes()).hexdigest(),
        "replications": replications,
        "seed": seed,
        "permute": how.permute,
        "versions": {"bayesduel": __version__, "numpy": np.__version__},
        **settings,
    }
    layout = kind.layout(plan)
    coordinates = {
        "policy": list(policies),
        "replication": np.arange(replications),
        "time": times,
        **_further_coordinates(problem, layout, int(times[-1])),
    }
    netcdf = None
    if out is not None and str(out).endswith(".nc"):
        netcdf = Path(out)
        if netcdf.exists():
            return finished_trace(netcdf, plan)
    header = Header(plan, coordinates, truth, layout)
    trace: MemoryTrace | StoredTrace
    if out is None:
        trace = MemoryTrace(header)
    else:
        folder = Path(f"{netcdf}.partial" if netcdf is not None else out)
        trace = StoredTrace(folder, header)
    with trace:
        finished = trace.finished()
        total = finished.size * int(times[-1])
        tasks = [
            Task(policy, problem, times, plan, r, p * replications + r)
            for r in range(replications)
            for p, policy in enumerate(policies.values())
            if not finished[p, r]
        ]
        _run(tasks, trace, total, how)
        if netcdf is not None and isinstance(trace, StoredTrace):
            return keep_finished(netcdf, trace)
    return trace.tree()


def _further_coordinates(problem: Any, layout: Layout, horizon: int) -> dict[str, Any]:
    """Return the labels of the dimensions that only some layouts use."""
    used = {dim for dims, _ in layout.values() for dim in dims}
    labels: dict[str, Any] = {}
    for dim in ("arm", "opponent"):
        if dim in used:
            labels[dim] = list(problem.arms)
    if "item" in used:
        labels["item"] = np.arange(problem.n_arms)
    if "segment" in used:
        labels["segment"] = np.arange(1, problem.n_segments + 1)
    if "duel" in used:
        labels["duel"] = np.arange(1, horizon + 1)
        labels["part"] = list(PARTS)
    return labels


def _run(tasks: list[Task], trace: MemoryTrace | StoredTrace, total: int, how: Execution) -> None:
    """Run what is missing of a trace of `total` duels, here, in processes or on a cluster."""
    missing = sum(int(task.times[-1]) for task in tasks)
    workers = how.workers or 1
    # Fewer than 2,000,000 duels are not worth starting processes for.
    if how.workers is None and missing >= 2_000_000:
        from joblib import cpu_count

        workers = int(cpu_count())
    with progress_bar(total, total - missing, how.progress) as report:
        results: Iterable[tuple[int, dict[str, np.ndarray]]]
        if tasks and how.backend == "dask":
            results = on_dask(tasks, str(how.scheduler), report)
        elif tasks and min(workers, len(tasks)) > 1:
            results = on_processes(tasks, workers, report)
        else:
            results = here(tasks, report)
        for place, arrays in results:
            policy, replication = divmod(place, how.replications)
            trace.write(policy, replication, arrays)


def labelled(policies: Any) -> dict[str, Any]:
    """Return policies by label: those of a mapping, or one or several with labels made here."""
    if isinstance(policies, Mapping):
        labels = {str(name): _policy(one) for name, one in policies.items()}
    else:
        several = isinstance(policies, Iterable) and not isinstance(policies, str)
        given = listed(policies, "policies") if several else [policies]
        made = [_policy(one) for one in given]
        names = [label(policy) for policy in made]
        if len(set(names)) < len(names):
            raise ValueError(f"policies should have different names, got {names}")
        labels = dict(zip(names, made, strict=True))
    if not labels:
        raise ValueError("policies should have at least one policy, got an empty list")
    return labels


def _policy(given: Any) -> Any:
    """Return a policy, or the one of a name."""
    if isinstance(given, str):
        return named(given)
    check_type(given, Policy, "policies", "policies such as bayesduel.policies.DTS()")
    return given


def recorded_times(record_at: "str | Sequence[int]", horizon: int) -> np.ndarray:
    """Return the times to record: "log" (30 a decade), "linear" (200) or those that are given."""
    wrong = f"record_at should be 'log', 'linear' or times, got {shown_value(record_at)}"
    if isinstance(record_at, str):
        if record_at == "log":
            decades = np.log10(horizon)
            n_points = max(2, round(30 * decades) + 1)
            points = np.geomspace(1, horizon, n_points)
        elif record_at == "linear":
            points = np.linspace(horizon / 200, horizon, 200)
        else:
            raise ValueError(wrong)
        rounded = np.maximum(1, np.round(points))
        times = np.unique(rounded.astype(np.int64))
    else:
        if not isinstance(record_at, Iterable):
            raise TypeError(wrong)
        rule = f"record_at should be increasing whole numbers from 1 to {horizon}, got"
        try:
            given = np.asarray(listed(record_at, "record_at"))
        except ValueError as error:  # lists inside
            raise ValueError(f"{rule} {shown_value(record_at)}") from error
        if given.ndim != 1 or given.dtype.kind not in "iuf":
            raise ValueError(f"{rule} {shown_value(record_at)}")
        times = given.astype(np.int64)
        increasing = times.size > 0 and (np.diff(times) > 0).all()
        whole_numbers = (times == given).all()
        if not (increasing and whole_numbers and times[0] >= 1 and times[-1] <= horizon):
            raise ValueError(f"{rule} {given.tolist()}")
    times = times[times < horizon]
    return np.append(times, np.int64(horizon))
