"""Simulation: policies on a problem, many times over, to a trace of what happened.

``simulate`` is the public function; ``driver`` runs one replication, ``runners`` says
where, ``trace`` keeps the result.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayesduel import __version__
from bayesduel.problems import as_problem
from bayesduel.simulation.interaction import truth_of_items
from bayesduel.simulation.parallel import Task, here, on_dask, on_processes
from bayesduel.simulation.progress import progress_bar
from bayesduel.simulation.replication import label, prepare, streams
from bayesduel.simulation.trace import (
    MemoryTrace,
    StoredTrace,
    Truth,
    finished_trace,
    keep_finished,
    open_trace,
)

__all__ = ["open_trace", "recorded_times", "simulate"]

PAIRS_UP_TO = 256 * 2**20  # Bytes of pair tallies over the whole trace, for detail="auto".
SMALL = 2_000_000  # Fewer duels than this are not worth starting processes for.


def simulate(
    policies: Any,
    problem: Any,
    horizon: float,
    *,
    replications: int = 1,
    seed: int = 0,
    record: Literal["log", "linear"] | Iterable[int] = "log",
    detail: Literal["auto", "pairs", "arms"] = "auto",
    permute: bool = True,
    workers: int | None = None,
    backend: Literal["processes", "dask"] = "processes",
    scheduler: str | None = None,
    out: Any = None,
    progress: bool | None = None,
) -> xr.DataTree:
    """Run policies on a problem and return what happened at the recorded times.

    A replication's truth, coins, arm order and policy draws follow from `seed` and its
    number alone: policies meet the same coins, and the result does not depend on the
    workers, on the other policies or on having been interrupted.

    Parameters
    ----------
    policies
        A policy, several, or a mapping from labels to policies. A policy whose `horizon`
        is None gets this one.
    problem
        A problem, the name of one, a preference matrix or a log (replayed).
    horizon
        How many duels, a whole number >= 1.
    replications
        How many runs of each policy.
    seed
        Whole number >= 0.
    record
        When to record: "log" (30 times a decade), "linear" (200 times) or the times
        themselves, increasing, in 1..horizon. The horizon is always the last.
    detail
        "pairs" keeps every pair's tallies at every recorded time; "arms" only every arm's
        (enough for every regret that is a sum over arms) and the pairs' at the end;
        "auto": pairs while the whole trace stays under 256 MiB of them.
    permute
        Whether each replication shows the arms in a random order; the trace has them in
        the problem's own.
    workers
        Processes. Default: one a processor, or none where there is little to do.
    backend, scheduler
        "dask" runs on the cluster at address `scheduler`.
    out
        A folder to keep the trace in (Zarr) as it grows, or a file ending in ``.nc``
        (NetCDF, written at the end; till then it grows in a folder ``.nc.partial``). Call again
        after a kill to go on; what else stands there is left alone and refused.
    progress
        Whether to show a progress bar. Default: if stderr is a terminal.

    Returns
    -------
    A DataTree; group ``trace`` has dims ``policy``, ``replication`` and ``time``: `duels`
    (..., arm), the places an arm took (a self-duel is two); `self_duels` (..., arm); `wins`
    (..., arm, opponent), times arm beat opponent; `recommended`, an arm's index;
    `answered`, the duel after which an identification was over, -1 if never. Group
    ``problem`` has `P`.

    Of items with attributes the group ``trace`` has instead `worth` (..., time), the sum of the
    true worth of what was shown (of two items shown, their mean); `paid` (..., time), rewards
    or wins of the first item; `recommended` (..., time), an item's index (-1 on a sphere), and
    `recommended_worth`; `pulls` (..., item) at the end, under `detail` "arms" or where they fit
    in 256 MiB; `bound` (..., time), the growing part of a policy's bound, NaN without
    one. Group ``problem``: `best` and `typical`, the worth of the best item and of one drawn at
    random, and `preference`.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule.
    """
    horizon = _whole(horizon, "horizon", 1)
    replications = _whole(replications, "replications", 1)
    seed = _whole(seed, "seed", 0)
    if detail not in ("auto", "pairs", "arms"):
        raise ValueError(f"detail should be 'auto', 'pairs' or 'arms', got {detail!r}")
    if backend not in ("processes", "dask"):
        raise ValueError(f"backend should be 'processes' or 'dask', got {backend!r}")
    if backend == "dask" and not scheduler:
        raise ValueError("scheduler should be the address of a Dask cluster, got none")
    if workers is not None:
        workers = _whole(workers, "workers", 1)
    problem = as_problem(problem)
    shows = getattr(problem, "shows", 0)
    named = {name: prepare(p, horizon) for name, p in _labelled(policies).items()}
    _check_shown(named, problem, shows, detail)
    times = recorded_times(record, horizon)
    # What is tallied at every time: pairs of arms; of items, each at the end of a run only.
    cells = problem.n_arms if shows else len(times) * problem.n_arms**2
    room = len(named) * replications * cells * (4 if horizon < 2**30 else 8)
    pairs = room <= PAIRS_UP_TO if detail == "auto" else detail == ("arms" if shows else "pairs")

    truth = _truth(problem, seed, replications)
    plan = {
        "problem": problem.name,
        "source": problem.source,
        "truth": hashlib.sha256(b"".join(v.tobytes() for _, v in truth.values())).hexdigest(),
        "policies": {name: repr(p) for name, p in named.items()},
        "horizon": horizon,
        "times": hashlib.sha256(times.tobytes()).hexdigest(),
        "replications": replications,
        "seed": seed,
        "permute": permute,
        "pairs": pairs,
        "versions": {"bayesduel": __version__, "numpy": np.__version__},
        **({"shows": shows} if shows else {}),
    }
    coordinates = {
        "policy": list(named),
        "replication": np.arange(replications),
        "time": times,
    }
    if shows:
        coordinates |= {"item": np.arange(problem.n_arms)} if pairs else {}
    else:
        coordinates |= {"arm": list(problem.arms), "opponent": list(problem.arms)}
    netcdf = Path(out) if out is not None and str(out).endswith(".nc") else None
    if netcdf is not None and netcdf.exists():
        return finished_trace(netcdf, plan)
    trace: MemoryTrace | StoredTrace
    if out is None:
        trace = MemoryTrace(plan, coordinates, truth)
    else:
        folder = Path(f"{netcdf}.partial" if netcdf is not None else out)
        trace = StoredTrace(folder, plan, coordinates, truth)

    finished = trace.finished()
    settings = {"seed": seed, "permute": permute, "pairs": pairs}
    tasks: list[Task] = [
        (policy, problem, times, {**settings, "replication": r}, p * replications + r)
        for r in range(replications)
        for p, policy in enumerate(named.values())
        if not finished[p, r]
    ]
    total = len(named) * replications * horizon
    already = total - len(tasks) * horizon
    if workers is None:
        workers = 1 if total - already < SMALL else _processors()
    with progress_bar(total, already, progress) as report:
        results: Iterable[tuple[int, dict[str, np.ndarray]]]
        if tasks and backend == "dask":
            results = on_dask(tasks, str(scheduler), report)
        elif tasks and min(workers, len(tasks)) > 1:
            results = on_processes(tasks, workers, report)
        else:
            results = here(tasks, report)
        for place, arrays in results:
            trace.write(*divmod(place, replications), arrays)
    if netcdf is not None and isinstance(trace, StoredTrace):
        return keep_finished(netcdf, trace)
    return trace.tree()


def recorded_times(record: Any, horizon: int) -> np.ndarray:
    """Return the times to record, increasing, the last one the horizon.

    Raises
    ------
    ValueError
        If they are neither "log", "linear" nor increasing whole numbers in 1..horizon.
    TypeError
        If they are not several.
    """
    if isinstance(record, str):
        if record == "log":
            n_points = max(2, round(30 * np.log10(horizon)) + 1)
            points = np.geomspace(1, horizon, n_points)
        elif record == "linear":
            points = np.linspace(horizon / 200, horizon, 200)
        else:
            raise ValueError(f"record should be 'log', 'linear' or times, got {record!r}")
        times = np.unique(np.maximum(1, np.round(points)).astype(np.int64))
    else:
        if not isinstance(record, Iterable):
            raise TypeError(f"record should be 'log', 'linear' or times, got {record!r}")
        given = np.asarray(list(record))
        times = given.astype(np.int64)
        increasing = times.size > 0 and (np.diff(times) > 0).all() and (times == given).all()
        if not (increasing and times[0] >= 1 and times[-1] <= horizon):
            raise ValueError(
                f"record should be increasing whole numbers in 1..{horizon}, got {given.tolist()}"
            )
    times = times[times < horizon]
    return np.append(times, np.int64(horizon))


def _labelled(policies: Any) -> dict[str, Any]:
    if isinstance(policies, Mapping):
        named = {str(name): p for name, p in policies.items()}
    else:
        several = isinstance(policies, Iterable) and not isinstance(policies, str)
        listed = list(policies) if several else [policies]
        named = {label(p): p for p in listed}
        if len(named) < len(listed):
            raise ValueError(f"policies should be different ones, got {[label(p) for p in listed]}")
    if not named:
        raise ValueError("policies should hold at least one policy, got none")
    for p in named.values():
        if isinstance(p, type) or not (hasattr(p, "select") and hasattr(p, "init")):
            raise TypeError(f"policies should be policies such as DTS(), got {p!r}")
    return named


def _check_shown(named: dict[str, Any], problem: Any, shows: int, detail: str) -> None:
    """Raise unless the policies have beliefs and name what the problem shows."""
    from bayesduel import policies

    wanted = ("items", shows) if shows else ("pairs", 2)
    for policy in named.values():
        belief = getattr(policy, "belief", None)
        if (policy.setting, policy.shows) != wanted or belief is None:
            known = {n: getattr(policies, n) for n in policies.__all__}
            fit = [n for n, p in known.items() if (p.setting, p.shows) == wanted]
            raise ValueError(
                f"policies should be ones that play {problem.name} ({', '.join(fit)}), "
                f"got {label(policy)}"
            )
        if not hasattr(belief, "init"):
            raise TypeError(
                f"belief of {type(policy).__name__} should be one of bayesduel.beliefs, "
                f"got {belief!r}"
            )
    if shows and detail == "pairs":
        raise ValueError("detail should be 'auto' or 'arms' for items, got 'pairs'")


def _truth(problem: Any, seed: int, replications: int) -> Truth:
    """Return what a trace keeps of the problem."""
    if getattr(problem, "shows", 0):
        return truth_of_items(problem, seed, replications)
    if not hasattr(problem, "draw"):
        return {"P": (("arm", "opponent"), np.array(problem.P))}
    drawn = np.stack([problem.draw(streams(seed, r)[0]).P for r in range(replications)])
    return {"P": (("replication", "arm", "opponent"), drawn)}


def _whole(value: Any, name: str, least: int) -> int:
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} should be a whole number >= {least}, got {value!r}") from error
    if whole != value or whole < least:
        raise ValueError(f"{name} should be a whole number >= {least}, got {value!r}")
    return whole


def _processors() -> int:
    from joblib import cpu_count

    return int(cpu_count())


def plan_of(trace: xr.DataTree) -> dict[str, Any]:
    """Return the settings a trace was made with."""
    return json.loads(trace.attrs["plan"])
