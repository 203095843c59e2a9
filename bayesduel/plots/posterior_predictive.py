"""Predictive checks: residuals of margins, and what a prior expects of the arms."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from bayesduel.plots.style import ACCENT, GREY, INK, NEW, REFERENCE, STRONG, figure, plain
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

    Parameters
    ----------
    check
        What :func:`bayesduel.check_margins` returned, or a fit.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `check` is not what :func:`bayesduel.check_margins` returned, nor a fit.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("icehockey"), bd.models.ThurstoneScore())
    >>> check = bd.check_margins(fit, draws=100)
    >>> ax = bd.plots.plot_margins(check)
    >>> ax.figure.savefig('figure.png')
    """
    edges = check.edges
    width = edges[1] - edges[0]
    middle = edges[:-1] + width / 2
    ax.bar(middle, check.density, width=0.9 * width, color="#9ecae1", lw=0, label="margins")
    ax.fill_between(
        np.repeat(edges, 2)[1:-1],
        np.repeat(check.lower, 2),
        np.repeat(check.upper, 2),
        color=STRONG,
        alpha=0.3,
        lw=0,
        label="replicated, 95 %",
    )
    x = np.linspace(edges[0], edges[-1], 301)
    constant = np.sqrt(2 * np.pi)
    curve = np.exp(-(x**2) / 2) / constant
    ax.plot(x, curve, color=GREY, lw=1, ls=(0, (4, 3)), label="standard normal")
    highest = max(check.density.max(), check.upper.max())
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, 1.08 * highest)
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
        What :func:`bayesduel.check_margins` returned, or a fit.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `check` is not what :func:`bayesduel.check_margins` returned, nor a fit.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("icehockey"), bd.models.ThurstoneScore())
    >>> check = bd.check_margins(fit, draws=100)
    >>> ax = bd.plots.plot_pair_residuals(check)
    >>> ax.figure.savefig('figure.png')
    """
    n = len(check.ordered)
    share = (np.arange(n) + 0.5) / n
    quantile = ndtri(share)
    ax.fill_between(
        quantile, check.ordered_lower, check.ordered_upper, color=STRONG, alpha=0.25, lw=0
    )
    largest = np.abs(check.ordered).max()
    reach = 1.05 * max(largest, check.ordered_upper[-1], 1.0)
    ends = (-reach, reach)
    ax.plot(ends, ends, **REFERENCE)
    size = 20 if n < 100 else 6
    ax.scatter(quantile, check.ordered, s=size, color=ACCENT, lw=0, zorder=3)
    _name_extremes(check, ax, quantile)
    left = 1.15 * quantile[0] - 0.1
    right = 1.15 * quantile[-1] + 0.1
    ax.set_xlim(left, right)
    ax.set_ylim(ends)
    ax.set_xlabel("normal quantile", fontsize=9, color=INK)
    ax.set_ylabel("residual of a pair", fontsize=9, color=INK)
    plain(ax, ("bottom", "left"), grid="both")
    return ax


def _name_extremes(check: "MarginCheck", ax: "Axes", quantile: np.ndarray) -> None:
    """Name the outermost pairs that lie outside the band."""
    rows = check.pairs.sort_values("residual", kind="stable")
    too_low = check.ordered < check.ordered_lower
    too_high = check.ordered > check.ordered_upper
    for end, outside in ((0, too_low), (-1, too_high)):
        if not outside[end]:
            continue
        row = rows.iloc[end]
        first = shorten(row["first"], 18)
        second = shorten(row["second"], 18)
        left = end == 0
        ax.annotate(
            f"{first} \u2013 {second}",
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

    Parameters
    ----------
    tree
        What :func:`bayesduel.prior_predictive` returned.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `tree` is not what :func:`bayesduel.prior_predictive` returned.

    Examples
    --------
    >>> tree = bd.prior_predictive("bradley-terry", bd.datasets.load("springall"))
    >>> ax = bd.plots.plot_prior_predictive(tree)
    >>> ax.figure.savefig('figure.png')
    """
    from matplotlib.ticker import MaxNLocator

    if "prior_predictive" not in tree:
        raise ValueError("tree should be what bayesduel.prior_predictive returned, got another")
    margins = "margin" in tree["prior_predictive"]
    made = _by_rank(tree, "prior_predictive", margins)
    rank = np.arange(1, made.shape[1] + 1)
    for prob, alpha in ((0.95, 0.2), (0.5, 0.35)):
        tails = [(1 - prob) / 2, (1 + prob) / 2]
        low, high = np.quantile(made, tails, axis=0)
        label = f"prior, {100 * prob:g} %"
        ax.fill_between(rank, low, high, color=ACCENT, alpha=alpha, lw=0, label=label)
    if "observed_data" in tree:
        observed = _by_rank(tree, "observed_data", margins)[0]
        ax.plot(rank, observed, "o", ms=4, color=STRONG, label="log")
    if margins:
        middle = 0.0
        result = "mean margin"
    else:
        middle = 0.5
        result = "share of its duels won"
        ax.set_ylim(-0.02, 1.02)
    ax.axhline(middle, **REFERENCE)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("rank of the arm in its log", fontsize=9, color=INK)
    ax.set_ylabel(result, fontsize=9, color=INK)
    ax.legend(frameon=False, fontsize=8, loc="upper right", handlelength=1.4)
    plain(ax)
    return ax


def _by_rank(tree: "xr.DataTree", group: str, margins: bool) -> np.ndarray:
    """Return the results of the arms of each log, the largest first, (logs, arms)."""
    design = tree["constant_data"].dataset
    n_arms = design.sizes["arm"]
    names = ("vote_left", "vote_right", "vote_weight") if margins else ("first", "second", "n")
    first, second, n = (design[name].to_numpy() for name in names)
    observed = tree[group]["margin" if margins else "outcome"]
    values = observed.to_numpy().astype(float)
    sampled = 2 if group == "prior_predictive" else 0  # dimensions: chain and draw
    if not margins and values.ndim > np.ndim(n) + sampled:
        won = values[..., 0]
        tied = values[..., 2]
        values = won + tied / 2
    rows = values.reshape(-1, len(n))
    if margins:
        own = rows * n
        other = -own
    else:
        own = rows
        other = n - rows

    def by_arm(of_first: np.ndarray, of_second: np.ndarray) -> np.ndarray:
        sum_of_first = np.bincount(first, of_first, n_arms)
        return sum_of_first + np.bincount(second, of_second, n_arms)

    total = by_arm(n, n)
    duels = np.maximum(total, 1)
    logs = zip(own, other, strict=True)
    results = np.array([by_arm(of_first, of_second) / duels for of_first, of_second in logs])
    met = results[:, total > 0]
    return np.asarray(-np.sort(-met, axis=1))
