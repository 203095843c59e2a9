"""Predictive checks: residuals of margins, and what a prior expects of the arms."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from bayesduel.plots.style import ACCENT, GREY, INK, NEW, STRONG, figure, plain
from bayesduel.text import shorten

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from bayesduel.criticism.posterior_predictive import MarginCheck

__all__ = [
    "MARGINS_SIZE",
    "PAIRS_SIZE",
    "plot_margins",
    "plot_pair_residuals",
    "plot_prior_predictive",
]

# Inches, by eye.
MARGINS_SIZE = (5.6, 2.8)
PAIRS_SIZE = (4.6, 4.1)


@figure(MARGINS_SIZE, "bayesduel.check_margins")
def plot_margins(check: "MarginCheck", ax: "Axes" = NEW) -> "Axes":
    """Plot the distribution of the standardised residuals of margins.

    Bars: the residuals (mean over posterior draws). Band: the middle 95 % of replicated ones,
    bar by bar; line: the standard normal density. The outermost bars include all beyond them.
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
    """
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
    plain(ax, ("bottom", "left"), grid="both")
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


@figure((5.2, 3.2), "bayesduel.prior_predictive")
def plot_prior_predictive(tree: "xr.DataTree", ax: "Axes" = NEW) -> "Axes":
    """Plot how far arms are apart in logs that the prior predicts, and in the log itself.

    The arm at each rank, the best of its log first: which share of its duels it won, a tie counting
    half (of margins: its mean margin). Bands: the middle 50 % and 95 % of the predicted logs; dots:
    the log, where there is one. Dots outside the outer band: the prior did not expect such a log. A
    band that fills the picture expects next to nothing.
    """
    from matplotlib.ticker import MaxNLocator

    if "prior_predictive" not in tree:
        raise ValueError("tree should be what bayesduel.prior_predictive returned, got another")
    margins = "margin" in tree["prior_predictive"]
    made = _by_rank(tree, "prior_predictive", margins)
    rank = np.arange(1, made.shape[1] + 1)
    for prob, alpha in ((0.95, 0.2), (0.5, 0.35)):
        low, high = np.quantile(made, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
        ax.fill_between(
            rank, low, high, color=ACCENT, alpha=alpha, lw=0, label=f"prior, {100 * prob:g} %"
        )
    if "observed_data" in tree:
        observed = _by_rank(tree, "observed_data", margins)[0]
        ax.plot(rank, observed, "o", ms=4, color=STRONG, label="log")
    ax.axhline(0.0 if margins else 0.5, color=GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
    if not margins:
        ax.set_ylim(-0.02, 1.02)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("rank of the arm in its log", fontsize=9, color=INK)
    ax.set_ylabel("mean margin" if margins else "share of its duels won", fontsize=9, color=INK)
    ax.legend(frameon=False, fontsize=8, loc="upper right", handlelength=1.4)
    plain(ax)
    return ax


def _by_rank(tree: "xr.DataTree", group: str, margins: bool) -> np.ndarray:
    """Return the results of the arms of each log, the largest first, (logs, arms)."""
    design = tree["constant_data"].dataset
    n_arms = design.sizes["arm"]
    names = ("vote_left", "vote_right", "vote_weight") if margins else ("first", "second", "n")
    first, second, n = (design[name].to_numpy() for name in names)
    values = tree[group]["margin" if margins else "outcome"].to_numpy().astype(float)
    if not margins and values.ndim > np.ndim(n) + 2 * (group == "prior_predictive"):
        values = values[..., 0] + values[..., 2] / 2  # of first wins, second wins and ties
    rows = values.reshape(-1, len(n))
    own, other = (rows * n, -rows * n) if margins else (rows, n - rows)
    total = np.bincount(first, n, n_arms) + np.bincount(second, n, n_arms)
    results = [
        (np.bincount(first, a, n_arms) + np.bincount(second, b, n_arms)) / np.maximum(total, 1)
        for a, b in zip(own, other, strict=True)
    ]
    return np.asarray(-np.sort(-np.array(results)[:, total > 0], axis=1))
