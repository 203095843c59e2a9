"""Model comparison: differences of elpd with their standard errors."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots.style import (
    ACCENT,
    GREY,
    INK,
    NEW,
    REFERENCE,
    STRONG,
    beside,
    dots,
    figure,
    list_axis,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.criticism.compare import Comparison

__all__ = ["comparison_size", "plot_comparison"]


def comparison_size(n_models: int) -> tuple[float, float]:
    """Return the width and height in inches that suit `n_models` rows."""
    return 7.2, 1.1 + 0.34 * n_models


@figure(lambda comparison: comparison_size(len(comparison.table)), "bayesduel.compare_models")
def plot_comparison(comparison: "Comparison", ax: "Axes" = NEW) -> "Axes":
    """Plot the difference of each model's elpd from the best, the best at the top.

    The dot is the difference of elpd, the bar two standard errors of it on either side. Filled
    dots: models that cannot be distinguished from the best. Stacking weights are at the right; a
    cross marks models with observations whose k-hat is too high and that were not refitted.

    Parameters
    ----------
    comparison
        What :func:`bayesduel.compare_models` returned.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `comparison` is not what :func:`bayesduel.compare_models` returned.

    Examples
    --------
    >>> comparison = bd.compare_models(bd.datasets.load("tennis1990"))
    >>> ax = bd.plots.plot_comparison(comparison)
    >>> ax.figure.savefig('figure.png')
    """
    table = comparison.table
    y = np.arange(len(table))
    gap = table["difference"].to_numpy()
    error = table["difference_se"].to_numpy()
    alike = np.isin(table.index, comparison.as_good)
    unsure = (table["n_high_khat"] > table["n_refitted"]).to_numpy()
    lower = gap - 2 * error
    upper = gap + 2 * error
    ax.axvline(0.0, **REFERENCE)
    ax.hlines(y, lower, upper, color=ACCENT, lw=1.6, zorder=2)
    dots(ax, gap, y, alike, 6)
    ax.plot(gap[unsure], y[unsure], "x", ms=9, mec=STRONG, mew=1.6, zorder=4)
    for place, weight in enumerate(table["weight"]):
        beside(ax, f"{weight:.2f}", float(place), INK)
    right_of_axes = ("axes fraction", "data")
    ax.annotate("weight", (1.02, -0.75), xycoords=right_of_axes, fontsize=8, color=GREY)
    left_out = f"{comparison.n_units:,} {comparison.unit}s left out"
    names = [shorten(str(name), 46) for name in table.index]
    list_axis(ax, names, f"elpd less the best's, in nats, over {left_out}")
    return ax
