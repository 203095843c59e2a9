"""Posterior predictive checks of margins: residuals, observed and replicated."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots.style import ACCENT, GREY, INK, NEW, STRONG, figure, plain
from bayesduel.text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.criticism.posterior_predictive import MarginCheck

__all__ = ["MARGINS_SIZE", "PAIRS_SIZE", "plot_margins", "plot_pair_residuals"]

MARGINS_SIZE = (5.6, 2.8)
PAIRS_SIZE = (4.6, 4.1)


@figure(MARGINS_SIZE, "bayesduel.check_margins")
def plot_margins(check: "MarginCheck", ax: "Axes" = NEW) -> "Axes":
    """Plot the distribution of the standardised residuals of margins.

    Bars: the residuals (mean over posterior draws). Band: the middle 95 % of replicated ones,
    bar by bar; line: the standard normal density. The outermost bars include all beyond them.

    Parameters
    ----------
    check
        What :func:`bayesduel.check_margins` returned.
    """
    width = check.edges[1] - check.edges[0]
    middle = check.edges[:-1] + width / 2
    ax.bar(middle, check.density, width=0.9 * width, color="#9ecae1", lw=0, label="margins")
    ax.fill_between(
        np.repeat(check.edges, 2)[1:-1],
        np.repeat(check.lower, 2),
        np.repeat(check.upper, 2),
        color=STRONG,
        alpha=0.3,
        lw=0,
        label="replicated, 95 %",
    )
    x = np.linspace(check.edges[0], check.edges[-1], 301)
    curve = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    ax.plot(x, curve, color=GREY, lw=1, ls=(0, (4, 3)), label="standard normal")
    ax.set_xlim(check.edges[0], check.edges[-1])
    ax.set_ylim(0, 1.08 * max(check.density.max(), check.upper.max()))
    ax.set_yticks([])
    ax.set_xlabel("standardised residual of a margin", fontsize=9, color=INK)
    ax.legend(frameon=False, fontsize=8, loc="upper right", handlelength=1.4)
    plain(ax)
    return ax


@figure(PAIRS_SIZE, "bayesduel.check_margins")
def plot_pair_residuals(check: "MarginCheck", ax: "Axes" = NEW) -> "Axes":
    """Plot the residuals of pairs against normal quantiles.

    A pair's residual is the mean of those of its margins times the square root of their number.
    Dots: in increasing order (means over posterior draws); band: the middle 95 % of replicated
    ones. Dots above the band at the right, or below it at the left: pairs whose margins the
    scores do not explain.

    Parameters
    ----------
    check
        What :func:`bayesduel.check_margins` returned.
    """
    from scipy.special import ndtri

    n = len(check.ordered)
    quantile = ndtri((np.arange(n) + 0.5) / n)
    ax.fill_between(
        quantile, check.ordered_lower, check.ordered_upper, color=STRONG, alpha=0.25, lw=0
    )
    reach = 1.05 * max(np.abs(check.ordered).max(), check.ordered_upper[-1], 1.0)
    ax.plot([-reach, reach], [-reach, reach], color=GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
    size = 20 if n < 100 else 6
    ax.scatter(quantile, check.ordered, s=size, color=ACCENT, lw=0, zorder=3)
    _name_extremes(check, ax, quantile)
    ax.set_xlim(1.15 * quantile[0] - 0.1, 1.15 * quantile[-1] + 0.1)
    ax.set_ylim(-reach, reach)
    ax.set_xlabel("normal quantile", fontsize=9, color=INK)
    ax.set_ylabel("residual of a pair", fontsize=9, color=INK)
    ax.grid(color="#e2e2e2", lw=0.7)
    ax.set_axisbelow(True)
    plain(ax, ("bottom", "left"))
    return ax


def _name_extremes(check: "MarginCheck", ax: "Axes", quantile: np.ndarray) -> None:
    """Name the outermost pairs that lie outside the band."""
    rows = check.pairs.sort_values("residual", kind="stable")
    outside = (check.ordered < check.ordered_lower, check.ordered > check.ordered_upper)
    for end, out in zip((0, -1), outside, strict=True):
        if not out[end]:
            continue
        row = rows.iloc[end]
        left = end == 0
        ax.annotate(
            f"{shorten(row['first'], 18)} \u2013 {shorten(row['second'], 18)}",
            (quantile[end], check.ordered[end]),
            xytext=(6 if left else -6, 0),
            textcoords="offset points",
            ha="left" if left else "right",
            va="center",
            fontsize=8,
            color=INK,
        )
