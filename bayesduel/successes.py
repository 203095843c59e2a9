"""How often a top-k selection was right, and what a wrong one costs."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["opportunity_cost", "success_rate"]


def success_rate(trace: "xr.DataTree", level: float = 0.95) -> "xr.Dataset":
    """Return the share of replications whose set is exactly the k best, with intervals.

    Parameters
    ----------
    trace
        What :func:`bayesduel.select_top` returned.
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
    selected, best = _sets(trace)
    success = (selected == best).all("arm")
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


def opportunity_cost(trace: "xr.DataTree") -> "xr.DataArray":
    """Return the true scores' sum over the k best minus that over the set named.

    Parameters
    ----------
    trace
        What :func:`bayesduel.select_top` returned.

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
    return (score * best).sum("arm") - (score * selected).sum("arm")


def _sets(trace: "xr.DataTree") -> tuple["xr.DataArray", "xr.DataArray"]:
    if "trace" not in trace or "selected" not in trace["trace"]:
        raise ValueError("trace should be what bayesduel.select_top returned")
    return trace["trace"].dataset["selected"], trace["problem"].dataset["best"]
