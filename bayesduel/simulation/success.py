"""How good a policy's choice is: success rate and opportunity cost, of every kind of trace.

The choice is the arm or the item that a policy recommends, or the set of the k best that it
selects. Its opportunity cost is the score of the best choice less its own:

=========  =======================================================================================
trace of   score of a choice
=========  =======================================================================================
pairs      by `criterion`: "copeland", the share of the other arms that the recommended arm beats;
           "borda", its mean probability to win; "condorcet", its probability to win against the
           Condorcet winner; "kemeny" and "slater", the least cost of a ranking that begins with it
           (:func:`bayesduel.preference.kemeny`), negative, up to 16 arms;
           "copeland_indifference", the share of the others that it beats more often than it ties
           or loses, plus half that of those with which a tie is likeliest (Bengs et al. 2024)
items      the recommended item's worth: its probability of success times its value
margins    the sum of the true scores of the selected set
=========  =======================================================================================
"""

from typing import Any, cast

import numpy as np
import xarray as xr

from bayesduel.intervals import check_ci_prob, clopper_pearson
from bayesduel.preference.copeland import opposite
from bayesduel.preference.kemeny import least_costs
from bayesduel.simulation.regret import arm_costs, segment_at
from bayesduel.simulation.trace import each_problem, plan_of
from bayesduel.system.arguments import check_one_of, shown_value
from bayesduel.system.options import Decision

__all__ = ["opportunity_cost", "success_difference", "success_rate"]

CRITERIA = ("copeland", "borda", "condorcet", "kemeny", "slater", "copeland_indifference")


@each_problem
def success_rate(
    trace: xr.DataTree, ci_prob: float = Decision.ci_prob, criterion: str | None = None
) -> xr.Dataset:
    """Return the proportion of replications whose choice is right, with intervals.

    A choice is right if no other has a larger score, so that arms of equal score are
    interchangeable. (Ties are common in replays of logs, whose margins are whole numbers.)

    Parameters
    ----------
    trace
        What :func:`bayesduel.simulate` returned.
    ci_prob
        Probability of the exact binomial intervals (Clopper & Pearson 1934), in (0, 1).
    criterion
        As for :func:`opportunity_cost`.

    Returns
    -------
    `rate`, `low`, `high` (policy, time), and `success` (policy, replication, time), bool.

    Raises
    ------
    ValueError
        If `ci_prob` is outside (0, 1), or as :func:`opportunity_cost` does.

    Examples
    --------
    >>> trace = bd.simulate(bd.policies.Uniform(), "mslr-5", horizon=200, replications=10, seed=0)
    >>> bd.success_rate(trace)["rate"].isel(time=-1).to_series()
    policy
    Uniform    0.6
    Name: rate, dtype: float64
    """
    check_ci_prob(ci_prob)
    lost = opportunity_cost(trace, criterion)
    problem = trace["problem"].dataset
    unit: Any = 1.0
    if "score" in problem:
        unit = abs(problem["score"]).max("arm")
    success = lost <= 1e-9 * unit  # but for rounding, next to the largest score
    n = success.sizes["replication"]
    right = success.sum("replication")
    low, high = clopper_pearson(right, n, ci_prob)
    return xr.Dataset(
        {
            "rate": right / n,
            "low": (right.dims, low),
            "high": (right.dims, high),
            "success": success,
        },
        attrs={"ci_prob": ci_prob},
    )


def success_difference(
    better: xr.DataArray, worse: xr.DataArray, ci_prob: float = Decision.ci_prob
) -> xr.Dataset:
    """Return the difference of the success rates of two policies on the same replications.

    Parameters
    ----------
    better, worse
        Right or not, bool, with a dimension `replication` of the same labels: what
        :func:`success_rate` calls `success`, of one policy each.
    ci_prob
        Probability of the interval, in (0, 1).

    Returns
    -------
    `difference` of the two shares, `low` and `high` by Tango's score interval (it leaves out 0
    exactly where McNemar's test rejects equality), `up` and `down`, how often only the one and
    only the other was right. Dimensions: those of the arguments, less `replication`.

    Raises
    ------
    ValueError
        If `ci_prob` is outside (0, 1), or the replications differ.

    References
    ----------
    Tango, "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 1998.

    Examples
    --------
    >>> rules = [bd.policies.RUCB(), bd.policies.Uniform()]
    >>> trace = bd.simulate(rules, "mslr-5", horizon=200, replications=20)
    >>> success = bd.success_rate(trace)["success"]
    >>> found = bd.success_difference(success.sel(policy="RUCB"), success.sel(policy="Uniform"))
    >>> list(found)
    ['difference', 'low', 'high', 'up', 'down']
    """
    from scipy import stats

    check_ci_prob(ci_prob)
    for name, given in {"better": better, "worse": worse}.items():
        if not isinstance(given, xr.DataArray) or "replication" not in given.dims:
            raise TypeError(
                f"{name} should be the success of a policy by replication, as success_rate "
                f"returns it, got {shown_value(given)}"
            )
    replications = np.asarray(better["replication"])
    if not np.array_equal(replications, np.asarray(worse["replication"])):
        raise ValueError("better and worse should have the same replications")
    better = better.astype(bool)
    worse = worse.astype(bool)
    up = (better & ~worse).sum("replication")
    down = (worse & ~better).sum("replication")
    n = len(replications)
    z = stats.norm.ppf((1 + ci_prob) / 2)
    low = _score_bound(up.values, down.values, n, z)
    high = -_score_bound(down.values, up.values, n, z)
    return xr.Dataset(
        {
            "difference": (up - down) / n,
            "low": (up.dims, low),
            "high": (up.dims, high),
            "up": up,
            "down": down,
        },
        attrs={"ci_prob": ci_prob},
    )


def _score_bound(up: Any, down: Any, n: int, z: float) -> np.ndarray:
    """Return the lower bound of the difference (up - down) / n: the score there is z."""
    low = np.full(np.shape(up), -1.0)
    high = np.asarray((up - down) / n, dtype=float)
    for _ in range(60):  # halvings of at most 2
        delta = (low + high) / 2
        b = (2 * n - up + down) * delta - up - down
        discriminant = b**2 + 8 * n * down * delta * (1 - delta)
        q = (np.sqrt(discriminant) - b) / (4 * n)
        variance = 2 * q + delta * (1 - delta)
        spread = n * np.maximum(variance, 1e-300)
        excess = up - down - n * delta
        above = excess > z * np.sqrt(spread)
        low = np.where(above, delta, low)
        high = np.where(above, high, delta)
    return (low + high) / 2


@each_problem
def opportunity_cost(trace: xr.DataTree, criterion: str | None = None) -> xr.DataArray:
    """Return the score of the best choice minus that of the policy's, the simple regret.

    Parameters
    ----------
    trace
        What :func:`bayesduel.simulate` returned.
    criterion
        Of a trace of pairs: "copeland" (default), "borda", "condorcet", "kemeny", "slater" or
        "copeland_indifference". Other traces have one score, and take None.

    Returns
    -------
    Shape (policy, replication, time), >= 0, in units of the score (see the module).

    Raises
    ------
    TypeError
        If `trace` is something else.
    ValueError
        If `criterion` is not one of this trace's.

    Examples
    --------
    >>> trace = bd.simulate(bd.policies.Uniform(), "mslr-5", horizon=200, replications=4, seed=0)
    >>> bd.opportunity_cost(trace).isel(time=-1).mean().round(2).item()
    0.06
    """
    setting = plan_of(trace)["setting"]
    if setting != "pairs" and criterion is not None:
        raise ValueError(
            f"criterion should be None for a trace of {setting}, got {shown_value(criterion)}"
        )
    lost = {"pairs": _of_arms, "items": _of_items, "margins": _of_sets}[setting]
    return lost(trace, criterion).transpose("policy", "replication", "time")


def _of_arms(trace: xr.DataTree, criterion: str | None) -> xr.DataArray:
    """Return what the recommended arms lack of the best score."""
    named = trace["trace"].dataset["recommended"].load()
    problem = trace["problem"].dataset
    if (named < 0).any():
        raise ValueError(
            "trace should have the recommendations of every time, but it has only those of the "
            "end: "
            'simulate with recommend="always"'
        )
    lacks = _arm_lacks(problem, criterion or "copeland")
    by_arm = problem["P"].isel(opponent=0, drop=True)
    cost = by_arm.copy(data=lacks)
    at = segment_at(trace)
    if at is not None:
        cost = cost.isel(segment=at)
    lost = cost.isel(arm=named)
    lost = lost.drop_vars(("arm", "segment"), errors="ignore")
    return lost.rename(named.name)


def _arm_lacks(problem: xr.Dataset, criterion: str) -> np.ndarray:
    """Return what each arm lacks of the best score, shape (..., K)."""
    check_one_of(criterion, "criterion", CRITERIA)
    P = problem["P"].values
    if criterion in ("kemeny", "slater"):
        cost = least_costs(P, cast(Any, criterion))
        least = cost.min(-1, keepdims=True)
        return np.asarray(cost - least)
    if criterion == "copeland_indifference":
        tie = problem["ties"].values if "ties" in problem else np.zeros_like(P)
        win = P - tie / 2
        loss = opposite(win)
        tie_is_likeliest = tie > np.maximum(win, loss)
        likeliest = np.where(tie_is_likeliest, 0.5, win > loss)
        points = likeliest.sum(-1)  # half a point against itself is the same for all
        lacks = points.max(-1, keepdims=True) - points
        return np.asarray(lacks / (P.shape[-1] - 1))
    return 2 * arm_costs(P, criterion)


def _of_items(trace: xr.DataTree, criterion: str | None) -> xr.DataArray:
    """Return what the recommended items lack of the best worth."""
    best = trace["problem"].dataset["best"]
    recommended = trace["trace"].dataset["recommended_worth"]
    return best - recommended


def _of_sets(trace: xr.DataTree, criterion: str | None) -> xr.DataArray:
    """Return what the selected sets lack of the largest sum of scores."""
    selected = trace["trace"].dataset["selected"]
    problem = trace["problem"].dataset
    score = problem["score"]
    largest = (score * problem["best"]).sum("arm")
    own = (selected * score).sum("arm")
    return largest - own
