"""Policies compared: median ratios of regrets with intervals, and performance profiles."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots import style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from bayesduel.records import Record

__all__ = ["plot_policies", "plot_profiles"]


def _size(
    comparison: "Record | xr.Dataset", *args: object, **settings: object
) -> tuple[float, float]:
    return 7.2, 1.1 + 0.3 * comparison.sizes.get("policy", 1)


def _check(comparison: "Record | xr.Dataset") -> None:
    """Raise ValueError unless this is a comparison of policies."""
    if "ratio_at" not in comparison:
        raise ValueError(
            "comparison should be what bayesduel.compare_policies returned, "
            f"got a Dataset of {', '.join(map(str, comparison))}"
        )


@style.figure(_size, "bayesduel.compare_policies")
def plot_policies(comparison: "Record | xr.Dataset", ax: "Axes" = style.NEW) -> "Axes":
    """Plot each policy's regret relative to the reference, the least at the top.

    The bar is the interval; there is none where the runs or problems are too few. Filled dots:
    policies that differ from the reference after the correction for many comparisons, at one less
    the probability of the intervals.

    Parameters
    ----------
    comparison
        What :func:`bayesduel.compare_policies` returned, its Dataset.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `comparison` is not what :func:`bayesduel.compare_policies` returned.
    ValueError
        If it is a Dataset of something else.

    Examples
    --------
    >>> policies = [bd.policies.Uniform(), bd.policies.RUCB()]
    >>> trace = bd.simulate(policies, "mslr-5", 500, replications=10, seed=0)
    >>> comparison = bd.compare_policies(trace)
    >>> ax = bd.plots.plot_policies(comparison)
    >>> ax.figure.savefig('figure.png')
    """
    _check(comparison)
    shown = comparison.sortby("ratio")
    y = np.arange(shown.sizes["policy"])
    value = shown["ratio"].values
    low = shown["ratio_low"].values
    high = shown["ratio_high"].values
    known = np.isfinite(high)
    level = 1 - comparison.attrs["ci_prob"]
    apart = shown["p_adjusted"].values < level
    ax.axvline(1.0, **style.REFERENCE)
    rows = y[known]
    ax.hlines(rows, low[known], high[known], color=style.ACCENT, lw=1.6, zorder=2)
    style.dots(ax, value, y, apart, 6)
    names = [style.legend_label(name) for name in shown["policy"].values]
    reference = comparison.attrs["reference"]
    style.list_axis(ax, names, f"regret relative to {reference} in the same run, median")
    style.ratio_axis(ax)
    return ax


@style.figure((7.2, 4.6), "bayesduel.compare_policies")
def plot_profiles(comparison: "Record | xr.Dataset", ax: "Axes" = style.NEW) -> "Axes":
    """Plot performance profiles: the share of runs up to each ratio, with pointwise intervals.

    A policy whose curve is above another's everywhere is better by every such count.

    Parameters
    ----------
    comparison
        What :func:`bayesduel.compare_policies` returned, its Dataset.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `comparison` is not what :func:`bayesduel.compare_policies` returned.
    ValueError
        If it is a Dataset of something else.

    Examples
    --------
    >>> policies = [bd.policies.Uniform(), bd.policies.RUCB()]
    >>> trace = bd.simulate(policies, "mslr-5", 500, replications=10, seed=0)
    >>> comparison = bd.compare_policies(trace)
    >>> ax = bd.plots.plot_profiles(comparison)
    >>> ax.figure.savefig('figure.png')
    """
    _check(comparison)
    ratio = comparison["ratio_at"].values
    for place, policy in enumerate(comparison["policy"].values):
        at = comparison.sel(policy=policy)
        colour, line = style.line_of(place)
        ends = at["profile_low"], at["profile_high"]
        ax.fill_between(ratio, *ends, alpha=0.08, linewidth=0, color=colour)
        label = style.legend_label(policy)
        ax.plot(ratio, at["profile"], line, label=label, color=colour, linewidth=1.7)
    ax.set_xlim(ratio[0], ratio[-1])
    style.ratio_axis(ax)
    reference = comparison.attrs["reference"]
    ax.set_xlabel(f"regret relative to {reference} in the same run", fontsize=9)
    style.percent_ticks(ax, "y")
    ax.set_ylabel("runs with at most this ratio", fontsize=9)
    ax.legend(frameon=False, fontsize=8)
    style.plain(ax, keep=("bottom", "left"))
    return ax
