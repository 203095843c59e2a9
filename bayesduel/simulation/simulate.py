"""``simulate``: policies on a problem of pairs or of items, many times, for their regret."""

from collections.abc import Iterable
from typing import Any, Literal

import xarray as xr

from bayesduel.problems.convert import as_problem
from bayesduel.simulation.experiment import experiment, labelled, recorded_times, whole
from bayesduel.simulation.replication import label

__all__ = ["simulate"]

PAIRS_UP_TO = 256 * 2**20  # Bytes of tallies over the whole trace, for detail="auto".


def simulate(
    policies: Any,
    problem: Any,
    horizon: float,
    *,
    replications: int = 1,
    seed: int = 0,
    record_at: Literal["log", "linear"] | Iterable[int] = "log",
    detail: Literal["auto", "pairs", "arms"] = "auto",
    permute: bool = True,
    workers: int | None = None,
    backend: Literal["processes", "dask"] = "processes",
    scheduler: str | None = None,
    out: Any = None,
    progress: bool | None = None,
) -> xr.DataTree:
    """Run policies on a problem and return what happened at the recorded times.

    A replication's truth, outcomes, order of the arms and policy draws follow from `seed` and
    its number alone: all policies meet the same outcomes, and the result depends neither on the
    workers, nor on the other policies, nor on an interruption.

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
    record_at
        When to record: "log" (30 times a decade), "linear" (200 times) or the times
        themselves, increasing, in 1..horizon. The horizon is always the last one.
    detail
        "pairs" keeps every pair's tallies at every recorded time; "arms" only every arm's
        (enough for every regret that is a sum over arms) and the pairs' at the end;
        "auto": pairs while the whole trace stays under 256 MiB of them.
    permute
        Whether each replication shows the arms in a random order; the trace has them in the
        problem's own.
    workers
        How many processes. Default: one per processor; this process only, if there is little to
        do.
    backend, scheduler
        "dask" runs the replications on the Dask cluster at the address `scheduler`.
    out
        A folder in which the trace is kept (Zarr) as it grows, or a file ending in ``.nc``
        (NetCDF, written at the end; until then the trace grows in a folder ``.nc.partial``). The
        same call after an interruption continues. Anything else found there is refused and left
        as it is.
    progress
        Whether to show a progress bar. Default: if stderr is a terminal.

    Returns
    -------
    A DataTree; group ``trace`` has dims ``policy``, ``replication`` and ``time``: `duels`
    (..., arm), the places an arm took (a self-duel is two); `self_duels` (..., arm); `wins`
    (..., arm, opponent), times arm beat opponent; `recommended`, an arm's index; `answered`, the
    duel after which the policy had identified a winner, -1 if never. Group ``problem`` has `P`.

    For items with attributes the group ``trace`` has instead `worth` (..., time), the sum of the
    true worth of what was shown (of two items shown, their mean); `paid` (..., time), rewards
    or wins of the first item; `recommended` (..., time), an item's index (-1 on a sphere), and
    `recommended_worth`; `pulls` (..., item) at the end, under `detail` "arms" or where they fit
    in 256 MiB; `bound` (..., time), the growing part of a policy's bound, NaN without
    one. Group ``problem``: `best` and `typical`, the worth of the best item and of one drawn at
    random, and `preference`.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.
    """
    horizon = whole(horizon, "horizon", 1)
    if detail not in ("auto", "pairs", "arms"):
        raise ValueError(f"detail should be 'auto', 'pairs' or 'arms', got {detail!r}")
    problem = as_problem(problem)
    given = labelled(policies)
    _check_played(given, problem)
    named = {name: policy.for_horizon(horizon) for name, policy in given.items()}
    times = recorded_times(record_at, horizon)
    items = problem.setting == "items"
    if items and detail == "pairs":
        raise ValueError("detail should be 'auto' or 'arms' for items, got 'pairs'")
    # What is tallied at every time: pairs of arms; of items, each at the end of a run only.
    cells = problem.n_arms if items else len(times) * problem.n_arms**2
    room = len(named) * whole(replications, "replications", 1) * cells
    room *= 4 if horizon < 2**30 else 8
    pairs = room <= PAIRS_UP_TO if detail == "auto" else detail == ("arms" if items else "pairs")
    settings = {
        "setting": problem.setting,
        "shows": problem.shows,
        "horizon": horizon,
        "pairs": pairs,
    }
    return experiment(
        named,
        problem,
        times,
        settings,
        replications=replications,
        seed=seed,
        permute=permute,
        workers=workers,
        backend=backend,
        scheduler=scheduler,
        out=out,
        progress=progress,
    )


def _check_played(policies: dict[str, Any], problem: Any) -> None:
    """Raise unless the policies play the problem and have beliefs."""
    from bayesduel import policies as known

    if problem.setting == "margins":
        raise ValueError(
            f"problem should be one of pairs or of items, got {problem!r} "
            "(simulate_top_k plays for margins)"
        )
    wanted = (problem.setting, problem.shows)
    for policy in policies.values():
        if (policy.setting, policy.shows) != wanted:
            kinds = {name: getattr(known, name) for name in known.__all__}
            fit = [name for name, kind in kinds.items() if (kind.setting, kind.shows) == wanted]
            raise ValueError(
                f"policies should be ones that play {problem.name} ({', '.join(fit)}), "
                f"got {label(policy)}"
            )
        policy.check_belief()
