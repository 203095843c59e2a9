"""Success rates of top-k selection against the number of duels."""

from typing import TYPE_CHECKING

from bayesduel.plots import style
from bayesduel.system.options import Decision
from bayesduel.text import count

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["plot_success"]


@style.figure((7.2, 4.6), "bayesduel.simulate")
def plot_success(
    trace: "xr.DataTree", ax: "Axes" = style.NEW, ci_prob: float = Decision.ci_prob
) -> "Axes":
    """Plot the share of correct choices over the number of duels, with exact binomial intervals.

    Parameters
    ----------
    trace
        What :func:`bayesduel.simulate` returned.
    ax
        Axes to draw on. Default: those of a new figure.
    ci_prob
        Probability of the intervals, in (0, 1).

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `trace` is not what :func:`bayesduel.simulate` returned.
    ValueError
        As :func:`bayesduel.success_rate` does.

    Examples
    --------
    >>> trace = bd.simulate(bd.policies.Uniform(), "mslr-5", horizon=200, replications=9, seed=0)
    >>> ax = bd.plots.plot_success(trace)
    >>> ax.figure.savefig('figure.png')
    """
    from bayesduel.simulation.success import success_rate
    from bayesduel.simulation.trace import plan_of

    plan = plan_of(trace)
    rates = success_rate(trace, ci_prob)
    time = rates["time"].values
    for place, policy in enumerate(rates["policy"].values):
        at = rates.sel(policy=policy)
        colour, line = style.line_of(place)
        label = style.legend_label(policy)
        ax.fill_between(time, at["low"], at["high"], alpha=0.08, linewidth=0, color=colour)
        ax.plot(time, at["rate"], line, label=label, color=colour, linewidth=1.7)
    if "k" in plan:
        n_arms = trace.sizes.get("arm", 0)
        what = f"{plan['k']} of {n_arms}"
        choice = "sets that are right"
    else:
        what = style.shorten(str(plan["problem"]), style.LEGEND)
        choice = "right recommendations"
    source = style.shorten(str(plan["source"]), style.LEGEND)
    replications = count(trace.sizes["replication"], "replication")
    title = f"{what}, {replications}\n{source}"
    ax.set_title(title, loc="left", fontsize=9, color=style.INK)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("duels", fontsize=9)
    end = max(time[-1], time[0] + 1)
    ax.set_xlim(time[0], end)
    style.percent_ticks(ax, "y")
    ax.set_ylabel(choice, fontsize=9)
    ax.legend(frameon=False, fontsize=8)
    style.plain(ax, keep=("bottom", "left"))
    return ax
