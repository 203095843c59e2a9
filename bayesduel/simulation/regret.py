"""Regret of a trace; the formula is an attribute of the result.

One duel of (a, b) costs, with ``c`` the Copeland scores (an exact tie counts for neither
arm), ``B`` the Borda scores and ``Delta_a = P[a*, a] - 1/2`` for the Condorcet winner a*:

=================  ====================================================================
``copeland``       ``max c - (c_a + c_b) / 2``, in [0, 1]
``copeland_sum``   ``2 max c - c_a - c_b``, twice the above (Zoghi et al. 2015, Def. 1)
``condorcet``      ``(Delta_a + Delta_b) / 2``
``condorcet_sum``  ``Delta_a + Delta_b``
``weak``           ``min(Delta_a, Delta_b)``
``strong``         ``max(Delta_a, Delta_b)``
``borda``          ``max B - (B_a + B_b) / 2``
=================  ====================================================================

Of items with attributes, with `v` the value of a success and `p` its chance:

=================  ====================================================================
``pull``           ``max v p - v_a p_a`` for the item a shown
``item_duel``      ``(Delta_a + Delta_b) / 2`` for two shown, ``Delta_a = 1/2 - P[a, a*]``
``weak``           ``min(Delta_a, Delta_b)`` for two shown
=================  ====================================================================

Where items are drawn anew in every round, Delta_a is what a lacks of the round's best utility.

A regret of one's own is a function ``cost(P, a, b)`` of the preference matrix and two indices.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesduel.intervals import check_ci_prob, median_interval
from bayesduel.preference import borda_scores, check_preference, condorcet_winner, copeland_scores
from bayesduel.simulation.trace import each_problem, plan_of
from bayesduel.system.arguments import shown_value
from bayesduel.system.options import Decision

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


__all__ = [
    "FORMULAS",
    "arm_costs",
    "check_criterion",
    "keeps_pairs",
    "pair_costs",
    "regret",
    "regret_difference",
    "segment_at",
    "uniform_regret",
    "uniform_slope",
]

Cost = Callable[[np.ndarray, int, int], float]  # of a duel of two arms, by indices

FORMULAS = {
    "copeland": "max c - (c_a + c_b) / 2",
    "copeland_sum": "2 max c - c_a - c_b",
    "condorcet": "(Delta_a + Delta_b) / 2",
    "condorcet_sum": "Delta_a + Delta_b",
    "weak": "min(Delta_a, Delta_b)",
    "strong": "max(Delta_a, Delta_b)",
    "borda": "max B - (B_a + B_b) / 2",
}
OF_ONE = {"pull": "max v p - v_a p_a"}
OF_TWO = {"item_duel": "(Delta_a + Delta_b) / 2", "weak": FORMULAS["weak"]}
OF_PAIRS = ("weak", "strong")


@each_problem
def regret(trace: xr.DataTree, criterion: str | Cost | None = None) -> xr.DataArray:
    """Return the cumulative regret of a trace.

    Parameters
    ----------
    trace
        What :func:`bayesduel.simulate` returned.
    criterion
        "copeland" (the default), "copeland_sum", "condorcet", "condorcet_sum", "weak", "strong" or
        "borda"; or a function of a preference matrix and two indices, ``cost(P, a, b)``, what a
        duel of a and b costs, whichever side they are on.
        A trace of items has "pull" where one is shown, and "item_duel" or "weak" where two are.

    Returns
    -------
    Dims ``policy``, ``replication``, ``time``, and ``problem`` first where there are several; its
    name is the criterion or the function's, its attribute ``formula`` the formula. Where
    preferences change it is the dynamic regret: each duel costs what it does by the matrix in
    force, against the winner of that segment.

    Raises
    ------
    ValueError
        If `criterion` is unknown, needs a Condorcet winner that a truth or one of its segments
        does not have, or needs the tallies of pairs that the trace does not keep; or if `trace` is
        of margins: a selection of the k best is judged by :func:`bayesduel.success_rate` and
        :func:`bayesduel.opportunity_cost`.
    TypeError
        If `criterion` is neither, or a function that does not return numbers.

    Examples
    --------
    >>> trace = bd.simulate(bd.policies.RUCB(), "mslr-5", horizon=500, replications=2, seed=0)
    >>> bd.regret(trace).isel(time=-1).to_pandas().round()
    replication      0      1
    policy
    RUCB         175.0  207.0
    """
    plan = plan_of(trace)
    if not (criterion is None or isinstance(criterion, str) or callable(criterion)):
        raise TypeError(
            "criterion should be the name of a regret or a function cost(P, a, b), "
            f"got {shown_value(criterion)}"
        )
    if "selected" in trace["trace"]:
        raise ValueError(
            "trace should be of pairs or items, got a trace of a selection of the k best. Use "
            "success_rate or opportunity_cost for it"
        )
    if "worth" in trace["trace"]:
        return _of_items(trace, criterion, plan["shows"])
    criterion = criterion or "copeland"
    P = trace["problem"].to_dataset()["P"]
    counts = trace["trace"].to_dataset()
    name, formula = _named(criterion)
    of_arms = P.isel(opponent=0, drop=True)
    if keeps_pairs(criterion):
        if "time" not in counts["wins"].dims:
            raise ValueError(
                f"trace should have the tallies of pairs for {name} regret, but it has only the "
                "tallies of arms: simulate with detail='pairs'"
            )
        cost = P.copy(data=pair_costs(P.values, criterion))
        # A duel of a pair is in `wins` once, in one of its two entries; and cost is symmetric.
        alone = of_arms.copy(data=np.einsum("...ii->...i", cost.values))
        charged = {"wins": cost, "self_duels": alone}
    else:
        charged = {"duels": of_arms.copy(data=arm_costs(P.values, name))}
    return _labelled(_total(trace, counts, charged), name, formula)


@each_problem
def regret_difference(
    trace: xr.DataTree,
    policy: str,
    other: str,
    criterion: str | Cost | None = None,
    ci_prob: float = Decision.ci_prob,
) -> xr.Dataset:
    """Return how much more regret one policy has than another in the same replications.

    All policies of a trace meet the same truths and outcomes, so that a replication is a pair,
    and the difference is known better than either regret.

    Parameters
    ----------
    trace
        What :func:`bayesduel.simulate` returned.
    policy, other
        Labels of two of its policies.
    criterion
        As for :func:`bayesduel.regret`.
    ci_prob
        Probability of the interval, in (0, 1).

    Returns
    -------
    `difference` (time), the median of `policy`'s regret less the `other`'s: below 0 where `policy`
    is better in most replications; `low` and `high`, its interval, which holds for every law
    (infinite under 6 replications at 0.95); `lower`, the share of the replications in which
    `policy` had less, with halves for equal ones; `mean`, the mean difference, which has no
    interval: rare long runs decide it.

    Raises
    ------
    ValueError
        If a policy is not of the trace, `ci_prob` is outside (0, 1), or as
        :func:`bayesduel.regret` does.

    Examples
    --------
    >>> rules = [bd.policies.RUCB(), bd.policies.Uniform()]
    >>> trace = bd.simulate(rules, "mslr-5", 1000, replications=5)
    >>> float(bd.regret_difference(trace, "RUCB", "Uniform")["difference"][-1]) < 0
    True
    """
    check_ci_prob(ci_prob)
    values = regret(trace, criterion)
    known = values["policy"].values.tolist()
    for name, given in {"policy": policy, "other": other}.items():
        if not isinstance(given, str) or given not in known:
            raise ValueError(f"{name} should be one of {known}, got {shown_value(given)}")
    of_policy = values.sel(policy=policy, drop=True)
    of_other = values.sel(policy=other, drop=True)
    more = of_policy - of_other
    runs_last = more.transpose(..., "replication")
    low, high = median_interval(runs_last.values, ci_prob)
    less = (more < 0).mean("replication")
    equal = (more == 0).mean("replication")
    middle = more.median("replication")
    return xr.Dataset(
        {
            "difference": middle,
            "low": (middle.dims, low),
            "high": (middle.dims, high),
            "lower": less + equal / 2,
            "mean": more.mean("replication"),
        },
        attrs={"policy": policy, "other": other, "ci_prob": ci_prob, **values.attrs},
    )


def keeps_pairs(criterion: str | Cost | None) -> bool:
    """Return whether a regret needs the tallies of pairs: it is no sum over arms."""
    return callable(criterion) or criterion in OF_PAIRS


def _named(criterion: str | Cost) -> tuple[str, str]:
    """Return the name and the formula of a regret."""
    if isinstance(criterion, str):
        return criterion, FORMULAS.get(criterion, "")
    name = getattr(criterion, "__name__", type(criterion).__name__)
    return name, f"{name}(P, a, b)"


def check_criterion(problem: Any, criterion: str | Cost | None, detail: str = "auto") -> None:
    """Check before a simulation that ``regret`` is defined for its trace."""
    if problem.setting == "items":
        _of_items_named(problem.shows, criterion)
        return
    chosen = criterion or "copeland"
    if keeps_pairs(criterion) and detail == "arms":
        name, _ = _named(chosen)
        raise ValueError(f"detail should be 'pairs' for {name} regret, got 'arms'")
    if problem.is_family:  # its matrices are yet to be drawn
        P = np.array([[0.5, 0.5 + 1e-6], [0.5 - 1e-6, 0.5]])
    else:
        P = problem.P
    pair_costs(P, chosen)


def _of_items_named(shows: int, criterion: str | Cost | None) -> tuple[str, str]:
    """Return the name and the formula of a regret of a problem that shows one or two items."""
    known = OF_ONE if shows == 1 else OF_TWO
    for name, formula in known.items():
        if criterion in (None, name):
            return name, formula
    names = " or ".join(map(repr, known))
    raise ValueError(
        f"criterion should be {names} for this problem of items, got {shown_value(criterion)}"
    )


def _of_items(trace: xr.DataTree, criterion: str | Cost | None, shows: int) -> xr.DataArray:
    """Return the regret of a trace of items: what the best would have been worth, less this."""
    problem = trace["problem"].to_dataset()
    counts = trace["trace"].to_dataset()
    name, formula = _of_items_named(shows, criterion)
    worth = counts.get("better_worth" if name == "weak" else "worth")
    if worth is None:
        raise ValueError(
            f"criterion should be 'item_duel' for this trace, got {shown_value(criterion)}. The "
            "trace does not have the value of the better item of each duel: simulate again for it"
        )
    best = problem["best"] * trace["time"]
    return _labelled(best - worth, name, formula)


def _total(
    trace: xr.DataTree, counts: xr.Dataset, charged: dict[str, xr.DataArray]
) -> xr.DataArray:
    """Return the sum of tallies, by name, times their costs; of each segment's duels by its own."""

    def charge(costs: dict[str, xr.DataArray], before: str = "") -> xr.DataArray:
        parts = []
        for name, cost in costs.items():
            of_arms = {"arm", "opponent"} & {*cost.dims}
            paid = counts[name + before] * cost
            parts.append(paid.sum(of_arms))
        return sum(parts[1:], parts[0])

    at = segment_at(trace)
    if at is None:
        return charge(charged)
    previous = {}
    now = {}
    for name, cost in charged.items():
        previous[name] = cost.shift(segment=1, fill_value=0)
        now[name] = cost.isel(segment=at)
    # Before a segment: what was paid, less what the same duels would have cost by its matrix. The
    # sum over the changes so far of the tallies there, by the matrix before and by the one after.
    change = charge(previous, "_before") - charge(charged, "_before")
    changes = change.cumsum("segment")
    return charge(now) + changes.isel(segment=at)


def segment_at(trace: xr.DataTree) -> xr.DataArray | None:
    """Return the index of the segment of each recorded time; None where preferences are constant.

    Dims ``time``, and ``replication`` where each has its own changes.
    """
    problem = trace["problem"].to_dataset()
    if "start" not in problem:
        return None
    begun = problem["start"] <= trace["time"]
    return begun.sum("segment") - 1


def uniform_regret(trace: xr.DataTree, criterion: str | Cost = "copeland") -> np.ndarray:
    """Return the expected regret of uniform play at the recorded times, (n_times,).

    The mean over truths, where they are drawn for each run.
    """
    problem = trace["problem"].to_dataset()
    slope = problem["P"].isel(arm=0, opponent=0, drop=True)
    slope = slope.copy(data=uniform_slope(problem["P"].values, criterion))
    total = slope * trace["time"].copy()
    if "start" in problem:  # since each change, what its segment costs more than the one before
        more = slope - slope.shift(segment=1, fill_value=0)
        duels = trace["time"] - problem["start"] + 1
        total = (more * duels.clip(0)).sum("segment")
    of_runs = {"replication"} & {*total.dims}
    return np.asarray(total.mean(of_runs))


def _labelled(total: xr.DataArray, name: str, formula: str) -> xr.DataArray:
    total = total.transpose("policy", "replication", "time").astype(float).rename(name)
    total.attrs = {"criterion": name, "formula": formula}
    return total


def pair_costs(P: "ArrayLike", criterion: str | Cost = "copeland") -> np.ndarray:
    """Return what one duel of (a, b) costs, shape (..., K, K), symmetric."""
    if callable(criterion):
        return _own_costs(np.asarray(P, float), criterion)
    if criterion in OF_PAIRS:
        gap = _condorcet_gaps(P, criterion)
        combine = np.minimum if criterion == "weak" else np.maximum
        return combine(gap[..., :, None], gap[..., None, :])
    cost = arm_costs(P, criterion)
    return cost[..., :, None] + cost[..., None, :]


def _own_costs(P: np.ndarray, cost: Cost) -> np.ndarray:
    """Return what a function says that each pair costs, shape (..., K, K)."""
    n_arms = P.shape[-1]
    pairs = [(a, b) for a in range(n_arms) for b in range(n_arms)]
    flat = P.reshape(-1, n_arms, n_arms)
    values = [_own_cost(cost, one, a, b) for one in flat for a, b in pairs]
    costs = np.array(values).reshape(P.shape)
    swapped = np.swapaxes(costs, -1, -2)
    wrong = ~np.isfinite(costs) | (abs(costs - swapped) > 1e-9)
    if wrong.any():
        *_, a, b = np.argwhere(wrong)[0]
        first = costs[wrong][0]
        second = swapped[wrong][0]
        raise ValueError(
            f"{_named(cost)[0]}(P, a, b) should be a finite number and the same for (b, a), "
            f"got {first} for ({a}, {b}) and {second} for ({b}, {a})"
        )
    return costs


def _own_cost(cost: Cost, P: np.ndarray, a: int, b: int) -> float:
    """Return what a function says that a pair costs; raise TypeError if it is no number."""
    value = cost(P, a, b)
    if not isinstance(value, str):
        with suppress(TypeError, ValueError, OverflowError):
            return float(value)
    raise TypeError(
        f"{_named(cost)[0]}(P, a, b) should be a finite number, got {shown_value(value)} "
        f"for ({a}, {b})"
    )


def uniform_slope(P: "ArrayLike", criterion: str | Cost = "copeland") -> np.ndarray:
    """Return the regret per duel of a policy that takes all pairs equally often, shape (...)."""
    cost = pair_costs(P, criterion)
    n_arms = cost.shape[-1]
    diagonal = np.einsum("...ii->...", cost)
    off_diagonal = cost.sum((-2, -1)) - diagonal
    return off_diagonal / (n_arms * (n_arms - 1))


def arm_costs(P: "ArrayLike", criterion: str) -> np.ndarray:
    """Return what an arm's place in a duel costs, half of what its score lacks, shape (..., K).

    Under criteria that end in "_sum", all of it.
    """
    if criterion in ("copeland", "copeland_sum", "borda"):
        scores = borda_scores(P) if criterion == "borda" else copeland_scores(P)
        cost = scores.max(-1, keepdims=True) - scores
    elif criterion in ("condorcet", "condorcet_sum"):
        cost = _condorcet_gaps(P, criterion)
    else:
        raise ValueError(
            f"criterion should be one of {', '.join(FORMULAS)}, got {shown_value(criterion)}"
        )
    return cost if criterion.endswith("_sum") else cost / 2


def _condorcet_gaps(P: "ArrayLike", criterion: str) -> np.ndarray:
    """Return Delta, shape (..., K)."""
    P = check_preference(P)
    winner = np.asarray(condorcet_winner(P))
    if (winner < 0).any():
        where = np.argwhere(winner < 0)[0].tolist()
        which = f"matrix P{where} of the problem" if where else "problem"
        raise ValueError(
            f"criterion should fit the problem, got {shown_value(criterion)}, but the {which} "
            "has no Condorcet winner"
        )
    of_winner = np.take_along_axis(P, winner[..., None, None], axis=-2)
    return of_winner[..., 0, :] - 0.5
