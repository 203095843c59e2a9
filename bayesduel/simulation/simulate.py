"""``simulate``: policies on a problem of pairs, of items or of margins, many times."""

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import xarray as xr

from bayesduel.problems.convert import as_margin_problem, as_problem, several_problems
from bayesduel.simulation.experiment import Execution, experiment, labelled, recorded_times
from bayesduel.simulation.replication import label
from bayesduel.simulation.trace import together
from bayesduel.system.arguments import check_flag, check_one_of, path_of, shown_value, whole
from bayesduel.system.memory import check_square

if TYPE_CHECKING:
    from bayesduel.problems.problem import Problem

__all__ = ["simulate"]

PAIRS_UP_TO = 256 * 2**20  # Bytes of tallies over the whole trace, for detail="auto".
Plan = tuple[dict[str, Any], np.ndarray, dict[str, Any]]  # policies by label, times, settings


def _each_problem[F: Callable[..., xr.DataTree]](play: F) -> F:
    """Let a simulation take several problems, and keep each trace in a folder that is made here."""

    @wraps(play)
    def simulate(
        policies: Any,
        problem: Any,
        horizon: float,
        *,
        out: Any = None,
        **settings: Any,
    ) -> xr.DataTree:
        several = several_problems(problem)
        if several is None:
            return play(policies, problem, horizon, out=out, **settings)
        homes: dict[str, Any] = dict.fromkeys(several)
        if out is not None:
            homes = _homes(several, path_of(out, "out"))
        traces = {}
        for name, one in several.items():
            traces[name] = play(policies, one, horizon, out=homes[name], **settings)
        return together(traces)

    return cast(F, simulate)


@_each_problem
def simulate(
    policies: Any,
    problem: Any,
    horizon: float,
    *,
    k: int | None = None,
    replications: int = 1,
    seed: int = 0,
    record_at: Literal["log", "linear"] | Iterable[int] = "log",
    detail: Literal["auto", "pairs", "arms", "duels"] = "auto",
    index: bool = False,
    batch: int = 1,
    recommend: Literal["always", "end"] = "always",
    permute: bool = True,
    workers: int | None = None,
    backend: Literal["processes", "dask"] = "processes",
    scheduler: str | None = None,
    out: Any = None,
    progress: bool | None = None,
) -> xr.DataTree:
    """Run policies on a problem and return what happened at the recorded times.

    Without `k`, policies choose pairs of arms (or items) and are judged by their regret. With
    `k`, they choose score duels and are judged by the k best arms that they would select.

    A replication's truth, outcomes, order of the arms and policy draws follow from `seed` and
    its number alone: all policies meet the same outcomes (the nth duel of a pair has the same
    margin under all), and the result depends neither on the workers, nor on the other policies,
    nor on an interruption.

    Parameters
    ----------
    policies
        A policy or its name ("DTS"), several, or a mapping from labels to policies. A policy
        whose `horizon`, `k` or `budget` is None gets the ones of the simulation. With `k`:
        policies of ``bayesduel.policies.top_k``, ``Uniform`` or ``PBR(criterion="borda")``; one
        with a `budget` plays one run for each recorded time.
    problem
        A problem, the name of one, a preference matrix, a family that draws one for each
        replication, or a log (replayed). With `k`: score duels (live ones too:
        ``RoshamboDuels``), a log with margins, or what gives wins and losses, which become margins
        of 1/2 and -1/2.
    horizon
        How many duels, a whole number >= 1; with `k` the warm-up is included.
    k
        How many arms to select, in 1..K-1.
    replications
        How many runs of each policy.
    seed
        Whole number >= 0.
    record_at
        When to record: "log" (30 times a decade), "linear" (200 times) or the times
        themselves, increasing, in 1..horizon. The horizon is always the last one. With `k`,
        "log" and "linear" start where every policy has had the fewest duels that it needs.
    detail
        "pairs" keeps every pair's tallies at every recorded time; "arms" only every arm's
        (enough for every regret that is a sum over arms) and the pairs' at the end;
        "auto": pairs while the whole trace stays under 256 MiB of them; "duels": as "auto", and
        the sequence of all duels, 12 bytes each in memory (compressed on disk). Without `k` only.
    index
        With `k`: whether to record the intransitivity indices too (of pairs that met twice).
    batch
        How many duels or pulls are chosen before the policy learns their outcomes (limited
        adaptivity): its rule reads the belief of the batch's start. Rules that learn from the
        outcomes of single duels (``BeatTheMean``, ``DEXP3``, ``MultiSBM``, ``POCOWISTA``, ...)
        learn nothing from several at once. Without `k`.
    recommend
        When policies of arms are asked which arm they would name: at every recorded time, or at
        the horizon alone ("end": `recommended` is -1 before). Of 1,000 arms an answer takes 0.02
        to 3.5 s, and regret needs none. For duels of arms without `k`.
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
        (NetCDF, written at the end; until then the trace grows in a folder ``.nc.partial``). Of
        several problems: a folder with one such folder for each. The same call after an
        interruption continues. Anything else found there is refused and left as it is.
    progress
        Whether to show a progress bar. Default: if stderr is a terminal.

    Returns
    -------
    A DataTree; of several problems, one with such a tree for each, by label. Group ``trace`` has
    dims ``policy``, ``replication`` and ``time``: `duels` (..., arm), the places an arm took (a
    self-duel is two); `self_duels` (..., arm); `wins` (..., arm, opponent), times arm beat
    opponent, a tie being half a win; `recommended`, an arm's index; `answered`, the duel after
    which the policy had identified a winner, or that there is none (``NTS``), -1 if never; with
    `detail` "duels", `sequence` (..., duel, part), the indices of the two arms and whether the
    first won (-1: a tie). Group ``problem`` has `P`, and `ties` if there are any; where preferences
    change it has `P` and `start`, the first duel, by ``segment``, and the trace the tallies
    `duels_before`, `self_duels_before` and (with those of pairs) `wins_before` each.

    For items with attributes the group ``trace`` has instead `worth` (..., time), the sum of the
    true worth of what was shown (of two items shown, their mean); of two, `better_worth` (...,
    time), that of the better one; `paid` (..., time), rewards or wins of the first item;
    `recommended` (..., time), an item's index (-1 on a sphere), and `recommended_worth`; `pulls`
    (..., item) at the end, under `detail` "arms" or where they fit in 256 MiB; `bound` (..., time),
    the growing part of a policy's bound, NaN without one. Group ``problem``: `best` and `typical`,
    the worth of the best item and of one drawn at random, and `preference`. Where the items of
    every round are new, indices are of places in a round, and the recommended item is one of its.

    With `k` it has `selected` (..., time, arm); `spent` (..., time), duels played by then (fewer
    where a policy had finished); `pair_duels` (..., arm, opponent), duels of each pair at the end;
    with `index`, `predictive` and `posterior` (..., time). Group ``problem``: `score`
    (replication, arm), the true scores, and `best` (replication, arm), the true set (ties by the
    first index).

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    See Also
    --------
    bayesduel.regret, bayesduel.success_rate, bayesduel.opportunity_cost : What a trace shows.

    Examples
    --------
    >>> rules = [bd.policies.DTS(), bd.policies.RUCB()]
    >>> trace = bd.simulate(rules, "mslr-5", horizon=1000, replications=4, seed=0)
    >>> bd.regret(trace).isel(time=-1).mean("replication").to_pandas().round()
    policy
    DTS     164.0
    RUCB    271.0
    Name: copeland, dtype: float64
    """
    horizon = whole(horizon, "horizon", 1)
    # 10,000,000 replications at most; each is a run of every policy
    runs = whole(replications, "replications", 1, most=10_000_000)
    check_flag(index, "index")
    check_flag(permute, "permute")
    batch = whole(batch, "batch", 1)
    check_one_of(recommend, "recommend", ("always", "end"))
    if progress is not None:
        check_flag(progress, "progress")
    out = None if out is None else path_of(out, "out")
    if k is None:
        if index:
            raise ValueError("index should be False without k, got True")
        problem = as_problem(problem).for_horizon(horizon)
        plan = _plan_of_regret(labelled(policies), problem, horizon, record_at, detail, runs)
        if recommend != "always" and problem.setting != "pairs":
            raise ValueError(
                f"recommend should be 'always' for a problem of {problem.setting}, got "
                f"{recommend!r}"
            )
        if batch > 1:
            plan[-1]["batch"] = batch
        if recommend != "always":
            plan[-1]["recommend"] = recommend
    else:
        if not isinstance(detail, str) or detail != "auto":
            raise ValueError(f"detail should be 'auto' when k is given, got {shown_value(detail)}")
        if batch != 1:
            raise ValueError(f"batch should be 1 when k is given, got {batch}")
        if recommend != "always":
            raise ValueError(f"recommend should be 'always' when k is given, got {recommend!r}")
        problem = as_margin_problem(problem)
        plan = _plan_of_selection(labelled(policies), problem, horizon, record_at, k, index)
    named, times, settings = plan
    if settings["setting"] != "items":
        more = problem.n_segments - 1
        all_runs = len(named) * runs
        kept = 0.0
        if out is None:  # a trace on disk is written run by run
            tallies = len(times) + more if settings.get("pairs") else 1
            kept = all_runs * tallies / 2
        kept += more * (runs if problem.is_family else 1)
        if settings.get("duels"):
            sequences = all_runs if out is None else workers or 1
            kept += 1.5 * horizon * sequences / problem.n_arms**2
        fewer = (
            "use fewer arms, replications or recorded times, or write the trace to a file with out"
        )
        check_square(problem.n_arms, 12 + kept, "a simulation of pairs", fewer)
    how = Execution(runs, seed, permute, workers, backend, scheduler, out, progress)
    return experiment(named, problem, times, settings, how)


def _homes(problems: Iterable[str], out: Path) -> dict[str, Path]:
    """Return where the trace of each problem is kept, in a folder that is made here."""
    if out.suffix == ".nc":
        raise ValueError(f"out should be a folder for several problems, got {out}")
    try:
        out.mkdir(exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"out should be a folder or a new path, got {out}: {error.strerror}"
        ) from None
    return {name: out / name for name in problems}


def _plan_of_regret(
    policies: dict[str, Any],
    problem: "Problem",
    horizon: int,
    record_at: Any,
    detail: str,
    replications: int,
) -> Plan:
    """Return what to run of pairs or items, and when to record."""
    check_one_of(detail, "detail", ("auto", "pairs", "arms", "duels"))
    _check_played(policies, problem)
    named = {name: policy.for_horizon(horizon) for name, policy in policies.items()}
    times = recorded_times(record_at, horizon)
    items = problem.setting == "items"
    if items and detail in ("pairs", "duels"):
        raise ValueError(f"detail should be 'auto' or 'arms' for items, got {detail!r}")
    # What is tallied at every time: pairs of arms; of items, each at the end of a run only.
    tallies = len(times) + problem.n_segments - 1
    cells = problem.n_arms if items else tallies * problem.n_arms**2
    small = horizon < 2**30 and not problem.may_tie
    bytes_of_count = 4 if small else 8
    room = len(named) * replications * cells * bytes_of_count
    if detail in ("auto", "duels"):
        pairs = room <= PAIRS_UP_TO
    else:
        pairs = detail == ("arms" if items else "pairs")
    settings = {
        "setting": problem.setting,
        "shows": problem.shows,
        "horizon": horizon,
        "pairs": pairs,
        **({"segments": problem.n_segments} if problem.n_segments > 1 else {}),
        **({"duels": True} if detail == "duels" else {}),
        **({"ties": True} if problem.may_tie else {}),
    }
    return named, times, settings


def _plan_of_selection(
    policies: dict[str, Any],
    problem: "Problem",
    horizon: int,
    record_at: Any,
    k: int,
    index: bool,
) -> Plan:
    """Return what to run of margins, and when to record."""
    k = whole(k, "k", 1)
    n_arms = problem.n_arms
    if not k < n_arms:
        raise ValueError(f"k should be from 1 to {n_arms - 1}, got {k}")
    named = {name: policy.on_margins(k, horizon) for name, policy in policies.items()}
    times = recorded_times(record_at, horizon)
    first = 1
    for name, policy in named.items():
        least = policy.opening(n_arms)
        too_early = not isinstance(record_at, str) and times[0] < least
        if horizon < least or too_early:
            got = times[0] if horizon >= least else horizon
            raise ValueError(
                f"{name} needs at least {least} duels to select {k} of {n_arms} arms, got a "
                f"horizon or recorded time of {got}"
            )
        first = max(first, least)
    if isinstance(record_at, str):
        times = np.append(first, times[times > first])
    return named, times, {"setting": "margins", "k": k, "horizon": horizon, "index": index}


def _check_played(policies: dict[str, Any], problem: Any) -> None:
    """Raise unless the policies play the problem and can use their beliefs."""
    from bayesduel import policies as known

    if problem.setting == "margins":
        raise ValueError(
            f"k (how many arms to select) should be given for {problem.name}, got None"
        )
    wanted = (problem.setting, problem.shows)
    for policy in policies.values():
        if (policy.setting, policy.shows) != wanted:
            fit = []
            for name in sorted(known.__all__):
                kind = getattr(known, name)
                if (kind.setting, kind.shows) == wanted:
                    fit.append(name)
            raise ValueError(
                f"policies should fit the problem {problem.name}, got {label(policy)}. Policies "
                f"that fit are {', '.join(fit)}"
            )
        policy.check_belief()
