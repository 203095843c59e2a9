"""``simulate_top_k``: top-k selection policies on score duels, many times.

Every replication draws its truth, its order of the arms and its margins from the seed and its
number alone; the nth duel of a pair has the same margin under every policy.
"""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayesduel.problems.convert import as_margin_problem
from bayesduel.simulation.experiment import experiment, labelled, recorded_times, whole

__all__ = ["simulate_top_k"]


def simulate_top_k(
    policies: Any,
    problem: Any,
    k: int,
    budget: float,
    *,
    replications: int = 1,
    seed: int = 0,
    record_at: Literal["log", "linear"] | Iterable[int] = "log",
    index: bool = False,
    permute: bool = True,
    workers: int | None = None,
    backend: Literal["processes", "dask"] = "processes",
    scheduler: str | None = None,
    out: Any = None,
    progress: bool | None = None,
) -> xr.DataTree:
    """Run top-k selection policies on score duels and return the sets that they would select.

    Parameters
    ----------
    policies
        A policy of ``bayesduel.policies.top_k``, ``Uniform`` or ``PBR(criterion="borda")``,
        several, or a mapping from labels to policies.
        A policy whose `k` or `budget` is None gets this one's; one with a `budget` plays one
        run for each recorded time.
    problem
        Score duels (live ones too: ``RoshamboDuels``), a preference matrix or the name of one
        (wins and losses, as margins of 1/2 and -1/2), a family that draws either, or a log with
        margins (replayed).
    k
        How many arms to select, in 1..K-1.
    budget
        How many duels, warm-up included.
    replications
        How many runs of each policy.
    seed
        Whole number >= 0.
    record_at
        As for :func:`bayesduel.simulate`. "log" and "linear" start where every policy has had
        the fewest duels that it needs (its warm-up).
    index
        Whether to record the intransitivity indices too (pairs that met twice).
    permute
        Whether each replication shows the arms in a random order.
    workers, backend, scheduler, out, progress
        As for :func:`bayesduel.simulate`.

    Returns
    -------
    A DataTree; group ``trace``: `selected` (policy, replication, time, arm); `spent`
    (policy, replication, time), duels played by then (fewer where a policy had finished);
    `duels` (policy, replication, arm, opponent) at the end; with `index`, `predictive` and
    `posterior` (policy, replication, time). Group ``problem``: `score` (replication, arm),
    the true scores, and `best` (replication, arm), the true set (ties by the first index).

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.
    """
    budget = whole(budget, "budget", 1)
    k = whole(k, "k", 1)
    problem = as_margin_problem(problem)
    n_arms = problem.n_arms
    if not k < n_arms:
        raise ValueError(f"k should be in 1..{n_arms - 1}, got {k}")
    named = {name: p.on_margins(k, budget) for name, p in labelled(policies).items()}
    times = _times(record_at, budget, named, k, n_arms)
    settings = {"setting": "margins", "k": k, "budget": budget, "index": index}
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


def _times(
    record_at: Any, budget: int, policies: dict[str, Any], k: int, n_arms: int
) -> np.ndarray:
    """Return the times to record, none before the fewest duels that every policy needs."""
    times = recorded_times(record_at, budget)
    first = 1
    for name, policy in policies.items():
        least = policy.opening(n_arms)
        if budget < least or (not isinstance(record_at, str) and times[0] < least):
            raise ValueError(
                f"budget and recorded times should be at least {least}, the fewest duels {name} "
                f"needs for {k} of {n_arms}, got {times[0] if budget >= least else budget}"
            )
        first = max(first, least)
    return np.append(first, times[times > first]) if isinstance(record_at, str) else times
