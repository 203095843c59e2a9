"""``select_top``: top-k selection policies on score duels, many times over.

Every replication draws its truth, its order of the arms and its luck from the seed and its
number alone; the nth duel of a pair has the same margin under every policy.
"""

import json
import os
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import xarray as xr

from bayesduel import __version__
from bayesduel.beliefs.margin_moments import intransitivity
from bayesduel.beliefs.margins import no_margins, record_margin
from bayesduel.jit import with_globals
from bayesduel.policies.uniform import select
from bayesduel.problems.margins import draw_margin
from bayesduel.problems.replay import as_score_problem
from bayesduel.simulation.interrupting import Pace, end_with
from bayesduel.simulation.replication import streams
from bayesduel.simulation.simulate import _labelled, _whole, recorded_times

__all__ = ["driver", "select_top"]


def select_top(
    policies: Any,
    problem: Any,
    k: int,
    budget: float,
    *,
    replications: int = 1,
    seed: int = 0,
    record: Any = "log",
    index: bool = False,
    permute: bool = True,
    workers: int | None = None,
) -> xr.DataTree:
    """Run top-k selection policies on score duels; return the sets they would name.

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
    record
        As for :func:`bayesduel.simulate`. "log" and "linear" start where every policy has had
        the fewest duels it needs (its warm-up).
    index
        Whether to record the intransitivity indices too (pairs that met twice).
    permute
        Whether each replication shows the arms in a random order.
    workers
        Processes. Default: this one.

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
        If an argument breaks its rule.
    """
    budget = _whole(budget, "budget", 1)
    replications = _whole(replications, "replications", 1)
    seed = _whole(seed, "seed", 0)
    workers = _whole(workers or 1, "workers", 1)
    k = _whole(k, "k", 1)
    problem = as_score_problem(problem)
    n_arms = len(problem.arms)
    if not k < n_arms:
        raise ValueError(f"k should be in 1..{n_arms - 1}, got {k}")
    named = {name: _filled(p, k, budget) for name, p in _labelled(policies).items()}
    times = _times(record, budget, named, k, n_arms)
    settings = {"k": k, "seed": seed, "index": index, "permute": permute}
    tasks = [
        (policy, problem, times, {**settings, "replication": r})
        for policy in named.values()
        for r in range(replications)
    ]
    if workers == 1:
        runs = [_replicate(task) for task in tasks]
    else:
        from joblib import Parallel, delayed, parallel_config

        for policy in named.values():  # compiled here, so that the workers load it from disk
            _replicate((policy, problem, times[:1], {**settings, "replication": 0}))
        with parallel_config(backend="loky", inner_max_num_threads=1):
            told = ((task, os.getpid()) for task in tasks)
            runs = list(Parallel(n_jobs=workers)(delayed(_replicate)(*each) for each in told))
    lead = ("policy", "replication")
    dims = {
        "selected": (*lead, "time", "arm"),
        "spent": (*lead, "time"),
        "duels": (*lead, "arm", "opponent"),
        "predictive": (*lead, "time"),
        "posterior": (*lead, "time"),
    }
    trace = {
        name: (
            dims[name],
            np.stack([run[name] for run in runs]).reshape(
                len(named), replications, *runs[0][name].shape
            ),
        )
        for name in dims
        if name in runs[0]
    }
    scores = np.stack([_truth(problem, seed, r).scores for r in range(replications)])
    truth = {
        "score": (("replication", "arm"), scores),
        "best": (("replication", "arm"), np.stack([top_set(s, k) for s in scores])),
    }
    plan = {
        "problem": problem.name,
        "source": problem.source,
        "policies": {name: repr(p) for name, p in named.items()},
        "k": k,
        "budget": budget,
        "replications": replications,
        "seed": seed,
        "permute": permute,
        "versions": {"bayesduel": __version__, "numpy": np.__version__},
    }
    labels = {
        "policy": list(named),
        "replication": np.arange(replications),
        "time": times,
        "arm": list(problem.arms),
        "opponent": list(problem.arms),
    }
    root = xr.Dataset(coords=labels, attrs={"plan": json.dumps(plan)})
    return xr.DataTree.from_dict(
        {"/": root, "/trace": xr.Dataset(trace), "/problem": xr.Dataset(truth)}
    )


def top_set(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the k largest as a mask, ties by the first index, shape (K,)."""
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[np.argsort(-scores, kind="stable")[:k]] = True
    return chosen


def _replicate(task: Any, parent: int = 0) -> dict[str, np.ndarray]:
    """Run one policy once: (policy, problem, times, settings), ending with `parent`, if any."""
    if parent:
        end_with(parent)
    policy, problem, times, settings = task
    drawn = _truth(problem, settings["seed"], settings["replication"])
    _, luck, draws, _ = streams(settings["seed"], settings["replication"])
    n_arms = drawn.n_arms
    arms = luck.permutation(n_arms) if settings["permute"] else np.arange(n_arms)
    key = luck.integers(0, 2**64, dtype=np.uint64)
    margins, memory = no_margins(n_arms), policy.init(n_arms)
    run, pace = driver(policy.select), Pace()
    out = {
        "selected": np.zeros((len(times), n_arms), dtype=bool),
        "spent": np.zeros(len(times), np.int64),
        "duels": np.zeros((n_arms, n_arms), np.int32),
    }
    if settings["index"]:
        out["predictive"], out["posterior"] = np.full((2, len(times)), np.nan)
    for place, time in enumerate(times.tolist()):
        if hasattr(policy, "budget"):  # one run for each budget
            margins, memory = no_margins(n_arms), replace(policy, budget=time).init(n_arms)
        if hasattr(drawn, "play"):
            _run_live(policy.select, margins, memory, drawn, arms, key, time, draws)
        else:
            done, last = int(margins.n_duels[0]), -1
            while done < time and last <= done:  # short of the last: the policy has finished
                last = min(time, done + pace.duels)
                pace.start()
                run(margins, memory, drawn.dice, arms, key, last, draws)
                pace.stop(int(margins.n_duels[0]) - done)
                done = int(margins.n_duels[0])
        out["selected"][place, arms] = top_set(policy.scores(margins, memory), settings["k"])
        out["spent"][place] = margins.n_duels[0]
        if settings["index"] and (margins.n + 2 * np.eye(n_arms) >= 2).all():
            for name in ("predictive", "posterior"):
                out[name][place] = intransitivity(margins, name)
    out["duels"][np.ix_(arms, arms)] = margins.n
    return out


def _truth(problem: Any, seed: int, replication: int) -> Any:
    if hasattr(problem, "draw"):
        return as_score_problem(problem.draw(streams(seed, replication)[0]))
    return problem


def _filled(policy: Any, k: int, budget: int) -> Any:
    """Return the policy with the experiment's k and budget, where it names none.

    Raises
    ------
    TypeError, ValueError
        If it is no top-k policy, or names another k.
    """
    if hasattr(policy, "on_margins"):
        return policy.on_margins(k, budget)
    if not hasattr(policy, "scores"):
        raise TypeError(
            f"policies should be those of bayesduel.policies.top_k, Uniform or PBR, got {policy!r}"
        )
    if getattr(policy, "k", None) not in (None, k):
        raise ValueError(f"policies should select k = {k} arms, got {policy!r}")
    given = {"k": k, "budget": budget}
    wanted = {f.name for f in fields(policy)} & {n for n in given if hasattr(policy, n)}
    empty = {name: given[name] for name in wanted if getattr(policy, name) is None}
    return replace(policy, **empty)


def _times(record: Any, budget: int, named: dict[str, Any], k: int, n_arms: int) -> np.ndarray:
    """Return the recorded times, none before the fewest duels that every policy needs."""
    times = recorded_times(record, budget)
    start = 1
    for name, policy in named.items():
        least = policy.opening(n_arms) if hasattr(policy, "opening") else 1
        if budget < least or (not isinstance(record, str) and times[0] < least):
            raise ValueError(
                f"budget and recorded times should be at least {least}, the fewest duels {name} "
                f"needs for {k} of {n_arms}, got {times[0] if budget >= least else budget}"
            )
        start = max(start, least)
    return np.append(start, times[times > start]) if isinstance(record, str) else times


@cache
def driver(select: Any) -> Callable[..., None]:
    """Return the compiled loop around a policy's rule: see ``_run`` for its arguments."""
    module = select.__module__.rpartition(".")[2]
    return with_globals(_run, f"run_margins_{module}", select=select)


def _run(margins, memory, dice, arms, key, last, rng):  # type: ignore[no-untyped-def]
    """Play by `select` until `last` duels are recorded or the policy is done.

    Uniformly, or by the rule of a driver's copy.
    """
    while margins.n_duels[0] < last:
        i, j = select(margins, memory, margins.n_duels[0] + 1, rng)
        if i < 0:
            break
        margin = draw_margin(dice, arms[i], arms[j], int(margins.n[i, j]), key)
        record_margin(margins, i, j, margin)


def _run_live(
    select: Any,
    margins: Any,
    memory: Any,
    problem: Any,
    arms: np.ndarray,
    key: Any,
    last: int,
    rng: np.random.Generator,
) -> None:
    """As ``_run``, where duels are played outside compiled code."""
    while margins.n_duels[0] < last:
        i, j = select(margins, memory, int(margins.n_duels[0]) + 1, rng)
        if i < 0:
            break
        margin = problem.play(int(arms[i]), int(arms[j]), int(margins.n[i, j]), key)
        record_margin(margins, i, j, margin)
