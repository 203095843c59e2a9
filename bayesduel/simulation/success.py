"""Success rate and opportunity cost of top-k selection."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["opportunity_cost", "success_difference", "success_rate"]

SAME = 1e-9  # sums of scores that differ by less, next to the largest score, are equal


def success_rate(trace: "xr.DataTree", level: float = 0.95) -> "xr.Dataset":
    """Return the proportion of replications that select exactly the k best, with intervals.

    Arms of equal true score are interchangeable: a set is right if no other has a larger sum of
    true scores. (Ties are common in replays of logs, whose margins are whole numbers.)

    Parameters
    ----------
    trace
        What :func:`bayesduel.simulate_top_k` returned.
    level
        Of the exact binomial intervals (Clopper & Pearson 1934), in (0, 1).

    Returns
    -------
    `rate`, `low`, `high` (policy, time), and `success` (policy, replication, time), bool.

    Raises
    ------
    ValueError
        If `level` is outside (0, 1), or `trace` is not of a top-k selection.
    """
    import xarray as xr
    from scipy import stats

    if not 0 < level < 1:
        raise ValueError(f"level should be in (0, 1), got {level}")
    lost = opportunity_cost(trace)
    success = lost <= SAME * abs(trace["problem"].dataset["score"]).max("arm")
    n = success.sizes["replication"]
    right = success.sum("replication")
    tail = (1 - level) / 2
    with np.errstate(invalid="ignore"):
        low = np.nan_to_num(stats.beta.ppf(tail, right, n - right + 1), nan=0.0)
        high = np.nan_to_num(stats.beta.ppf(1 - tail, right + 1, n - right), nan=1.0)
    return xr.Dataset(
        {
            "rate": right / n,
            "low": (right.dims, low),
            "high": (right.dims, high),
            "success": success,
        },
        attrs={"level": level},
    )


def success_difference(
    better: "xr.DataArray", worse: "xr.DataArray", level: float = 0.95
) -> "xr.Dataset":
    """Return the difference of the success rates of two policies on the same replications.

    Parameters
    ----------
    better, worse
        Right or not, bool, with a dimension `replication` of the same labels: what
        :func:`success_rate` calls `success`, of one policy each.
    level
        Of the interval, in (0, 1).

    Returns
    -------
    `difference` of the two shares, `low` and `high` by Tango's score interval (it leaves out 0
    exactly where McNemar's test rejects equality), `up` and `down`, how often only the one and
    only the other was right. Dimensions: those of the arguments, less `replication`.

    Raises
    ------
    ValueError
        If `level` is outside (0, 1), or the replications differ.

    References
    ----------
    Tango, "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 1998.
    """
    import xarray as xr
    from scipy import stats

    if not 0 < level < 1:
        raise ValueError(f"level should be in (0, 1), got {level}")
    replications = np.asarray(better["replication"])
    if not np.array_equal(replications, np.asarray(worse["replication"])):
        raise ValueError("better and worse should be of the same replications")
    up = (better.astype(bool) & ~worse.astype(bool)).sum("replication")
    down = (worse.astype(bool) & ~better.astype(bool)).sum("replication")
    n = len(replications)
    z = stats.norm.ppf((1 + level) / 2)
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
        attrs={"level": level},
    )


def _score_bound(up: Any, down: Any, n: int, z: float) -> np.ndarray:
    """Return the lower bound of the difference (up - down) / n: the score there is z."""
    low, high = np.full(np.shape(up), -1.0), np.asarray((up - down) / n, dtype=float)
    for _ in range(60):  # halvings of at most 2
        delta = (low + high) / 2
        b = (2 * n - up + down) * delta - up - down
        q = (np.sqrt(b**2 + 8 * n * down * delta * (1 - delta)) - b) / (4 * n)
        spread = n * np.maximum(2 * q + delta * (1 - delta), 1e-300)
        above = (up - down - n * delta) > z * np.sqrt(spread)
        low, high = np.where(above, delta, low), np.where(above, high, delta)
    return (low + high) / 2


def opportunity_cost(trace: "xr.DataTree") -> "xr.DataArray":
    """Return the sum of the true scores of the k best minus that of the selected set.

    Parameters
    ----------
    trace
        What :func:`bayesduel.simulate_top_k` returned.

    Returns
    -------
    Shape (policy, replication, time), >= 0, in units of a score (a sum of mean margins).

    Raises
    ------
    ValueError
        If `trace` is not of a top-k selection.
    """
    selected, best = _sets(trace)
    score = trace["problem"].dataset["score"]
    lost = (score * best).sum("arm") - (selected * score).sum("arm")
    return lost.transpose(*(dim for dim in selected.dims if dim != "arm"))


def _sets(trace: "xr.DataTree") -> tuple["xr.DataArray", "xr.DataArray"]:
    if "trace" not in trace or "selected" not in trace["trace"]:
        raise ValueError("trace should be what bayesduel.simulate_top_k returned")
    return trace["trace"].dataset["selected"], trace["problem"].dataset["best"]
