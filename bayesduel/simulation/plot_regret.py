"""Cumulative regret, with quartiles, uniform play and the slope of the asymptotic lower bound."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.plots.style import (
    GREY,
    INK,
    LEGEND,
    NEW,
    figure,
    legend_label,
    line_of,
    plain,
    shorten,
)
from bayesduel.system.arguments import check_flag

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from bayesduel.simulation.regret import Cost

__all__ = ["plot_regret"]

FLOORED = {"copeland": 1, "copeland_sum": 2}  # Regrets of which C* gives the least slope.
NAMES = ("copeland", "condorcet", "borda")  # Criteria named after a person.


@figure((7.2, 4.6), "bayesduel.simulate")
def plot_regret(
    trace: "xr.DataTree",
    criterion: "str | Cost | None" = None,
    ax: "Axes" = NEW,
    *,
    log_regret: bool | None = None,
    floor: bool | None = None,
) -> "Axes":
    """Plot cumulative regret: the mean, its standard error and the quartiles of the runs.

    Dark bands are the mean plus or minus its standard error, pale ones the quartiles: where the
    mean is outside them, a few runs have large regret. The grey line is uniform play. Under
    constant preferences and ``copeland`` regret the dotted line is an asymptotic slope: in the long
    run the regret of a consistent policy grows at least as C* ln T (``copeland_sum``: twice that).
    It is no bound at a finite T: a curve may lie below it, and only its slope is meaningful. For
    items with attributes the dotted lines are the growing parts of the bounds of policies that have
    one.

    Parameters
    ----------
    trace
        What :func:`bayesduel.simulate` returned, of one problem.
    criterion
        Which regret, as in :func:`bayesduel.regret`.
    ax
        Axes to draw on. Default: those of a new figure.
    log_regret
        Whether regret is on a log axis too. Default: where the largest curve ends more than
        10 times above the smallest.
    floor
        Whether to compute C* (its mean, where truths are drawn for each run) and plot the dotted
        line. Default: where that takes seconds, up to 125 arms of one truth or 20 of 250;
        beyond, the legend says that it is left out.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `trace` is not what :func:`bayesduel.simulate` returned.
    ValueError
        As :func:`bayesduel.regret` does.

    Examples
    --------
    >>> trace = bd.simulate(bd.policies.Uniform(), "mslr-5", horizon=200, replications=9, seed=0)
    >>> ax = bd.plots.plot_regret(trace)
    >>> ax.figure.savefig('figure.png')
    """
    from matplotlib.ticker import FuncFormatter

    from bayesduel.simulation.regret import regret, segment_at, uniform_regret
    from bayesduel.simulation.trace import plan_of

    for name, flag in {"log_regret": log_regret, "floor": floor}.items():
        if flag is not None:
            check_flag(flag, name)
    plan = plan_of(trace)
    values = regret(trace, criterion).load()
    name = str(values.name)
    of_items = "worth" in trace["trace"]
    criterion = criterion or name
    time = values["time"].values
    n_runs = values.sizes["replication"]
    top = 0.0
    ends = []
    for k, policy in enumerate(values["policy"].values):
        runs = values.sel(policy=policy)
        mean = runs.mean("replication").values
        colour, line = line_of(k)
        if n_runs > 1:
            deviation = runs.std("replication", ddof=1).values
            error = deviation / np.sqrt(n_runs)
            low, high = np.quantile(runs.values, (0.25, 0.75), axis=0)
            band: dict[str, Any] = {"linewidth": 0, "color": colour}
            ax.fill_between(time, low, high, alpha=0.12, **band)
            below = mean - error
            above = mean + error
            ax.fill_between(time, below, above, alpha=0.35, **band)
            top = max(top, float(high.max()))

        label = legend_label(policy)
        ax.plot(time, mean, line, label=label, linewidth=1.8, color=colour)
        top = max(top, float(mean.max()))
        ends.append(float(mean[-1]))
    per_step = 0.0
    if of_items and name != "weak":
        problem = trace["problem"]
        lacks = problem["best"] - problem["typical"]
        per_step = float(lacks.mean())
        expected = per_step * time
    elif not of_items:
        expected = uniform_regret(trace, criterion)
        per_step = expected[-1] / time[-1]
    if per_step:
        ax.plot(time, expected, color=GREY, linewidth=1, label="uniform, expected")
    if of_items:
        _bounds(trace, ax)
    elif isinstance(criterion, str) and criterion in FLOORED and segment_at(trace) is None:
        P = np.asarray(trace["problem"]["P"])
        truths = P.reshape(-1, *P.shape[-2:])
        _floor(truths, FLOORED[criterion], floor, time, ax)
    ax.set_xscale("log")
    if log_regret is None:
        # On a linear axis the smallest curve would be a line at the bottom
        log_regret = 0 < 10.0 * min(ends) < max(ends)
    if log_regret:
        # From the first duel by which uniform play is expected to have lost one.
        first_lost = 1 / max(per_step, 1e-9)
        latest_start = time[-1] / 10
        start = min(max(time[0], first_lost), latest_start)
        ax.set_yscale("log")
        ax.set_ylim(1, 1.5 * top)
    else:
        start = max(1, time[0])
        ax.set_ylim(0, 1.05 * top)
    end = max(time[-1], start + 1)
    ax.set_xlim(start, end)
    runs_words = "1 run"
    if n_runs > 1:
        runs_words = f"{n_runs} runs: mean, \u00b1 standard error (dark), quartiles (pale)"
    problem_name = shorten(plan["problem"], LEGEND)
    title = f"{problem_name}, {runs_words}"
    ax.set_title(title, loc="left", fontsize=10, color=INK)
    ax.set_xlabel("pulls" if name == "pull" else "duels")
    named = name.replace("_", " ")
    if name.startswith(NAMES):
        named = named.capitalize()
    formula = values.attrs["formula"]
    ax.set_ylabel(f"cumulative {named} regret,  {formula}", fontsize=9)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    plain(ax, keep=("bottom", "left"))
    return ax


def _floor(
    truths: np.ndarray, times: int, wanted: bool | None, time: np.ndarray, ax: "Axes"
) -> None:
    """Plot `times` C* ln T, C* the mean over truths of shape (n, K, K), or say it is left out."""
    from bayesduel.simulation.regret_lower_bound import least_slope

    factor = "" if times == 1 else f"{times} "
    # n K^3 of truths whose C* is found within seconds: 2,000,000
    work = truths.size * truths.shape[-1]
    if wanted is None and work > 2_000_000:
        label = f"asymptotic slope {factor}C* ln T left out (floor=True)"
        ax.plot([], [], ":", color=INK, label=label)
    elif wanted or wanted is None:
        slopes = [least_slope(P) for P in truths]
        slope = float(np.mean(slopes))
        if np.isfinite(slope):
            mean = "C*" if len(truths) == 1 else "mean C*"
            label = f"asymptotic slope {factor}C* ln T (no bound), {mean} = {slope:.4g}"
            line = times * slope * np.log(time)
            ax.plot(time, line, ":", color=INK, linewidth=1.2, label=label)


def _bounds(trace: "xr.DataTree", ax: "Axes") -> None:
    """Plot the growing part of each policy's bound, where it has one."""
    bounds = trace["trace"].to_dataset()["bound"]
    bound = bounds.mean("replication").load()
    for k, policy in enumerate(bound["policy"].values):
        shape = bound.sel(policy=policy).values
        if np.isfinite(shape).all():
            label = legend_label(f"{policy}, bound's shape")
            colour, _ = line_of(k)
            ax.plot(bound["time"], shape, ":", color=colour, linewidth=1.2, label=label)
