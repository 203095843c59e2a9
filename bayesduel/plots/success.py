"""Success rates of top-k selection against the number of duels."""

from typing import TYPE_CHECKING

from bayesduel.plots.regret import COLOURS, LINES
from bayesduel.plots.style import INK, axes_of_size, percent_ticks, plain

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["plot_success"]


def plot_success(trace: "xr.DataTree", ax: "Axes | None" = None, level: float = 0.95) -> "Axes":
    """Draw the share of right sets over the duels spent, with exact binomial intervals.

    Parameters
    ----------
    trace
        What :func:`bayesduel.simulate_top_k` returned.
    ax
        Axes to draw on. Default: those of a new figure.
    level
        Of the intervals.

    Raises
    ------
    ValueError
        As :func:`bayesduel.success_rate` does.
    """
    from bayesduel.simulation.success import success_rate
    from bayesduel.simulation.trace import plan_of

    rates = success_rate(trace, level)
    ax = axes_of_size(ax, (7.2, 4.6))
    time = rates["time"].values
    for place, policy in enumerate(rates["policy"].values):
        at = rates.sel(policy=policy)
        colour = COLOURS[place % len(COLOURS)]
        line = LINES[place // len(COLOURS) % len(LINES)]
        ax.fill_between(time, at["low"], at["high"], alpha=0.08, linewidth=0, color=colour)
        ax.plot(time, at["rate"], line, label=str(policy), color=colour, linewidth=1.7)
    plan = plan_of(trace)
    n_arms = trace.sizes["arm"]
    title = f"{plan['k']} of {n_arms}, {plan['replications']:,} replications"
    ax.set_title(f"{title}\n{plan['source']}", loc="left", fontsize=9, color=INK)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("duels", fontsize=9)
    ax.set_xlim(time[0], time[-1])
    percent_ticks(ax, "y")
    ax.set_ylabel("sets that are right", fontsize=9)
    ax.legend(frameon=False, fontsize=8)
    plain(ax, keep=("bottom", "left"))
    return ax
