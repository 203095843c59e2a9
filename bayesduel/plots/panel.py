"""Pairs of a panel: shares of votes with exact intervals, beside preferences of the fit."""

from typing import TYPE_CHECKING

from bayesduel.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.posterior.panel import Panel

__all__ = ["panel_size", "plot_panel"]

PAIRS = 40  # drawn, the clearest: a figure of 16 inches


def panel_size(n_pairs: int) -> tuple[float, float]:
    """Return the width and height in inches that suit `n_pairs` rows."""
    n_rows = min(n_pairs, PAIRS)
    return 6.8, 1.4 + 0.36 * n_rows


@style.figure(lambda found, **_: panel_size(len(found.pairs)), "bayesduel.panel")
def plot_panel(found: "Panel", ax: "Axes" = style.NEW) -> "Axes":
    """Plot how each pair was judged: the votes, and the preference of the fit.

    Of each pair the arm with more votes is named first. The upper row is its share of the decided
    votes with the exact interval, filled where the pair differs significantly by Holm's
    correction; the lower row is the probability by the fit that it is preferred. The pairs with
    the smallest p-values stand at the top, up to 40 of them.

    Parameters
    ----------
    found
        What :func:`bayesduel.panel` returned.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `found` is not what :func:`bayesduel.panel` returned.

    Examples
    --------
    >>> found = bd.panel(bd.datasets.load("tversky1969"))
    >>> ax = bd.plots.plot_panel(found)
    >>> ax.figure.savefig('figure.png')
    """
    clearest = found.pairs.sort_values("p", kind="stable").head(PAIRS)
    frame = clearest.reset_index(drop=True)
    significant = frame["p_adjusted"] <= found.alpha
    rows = (
        ("share", ~significant, -0.14, style.STRONG, "white", "votes"),
        ("share", significant, -0.14, style.STRONG, style.STRONG, "votes, significant"),
        ("preferred", frame["p"] >= 0, 0.14, style.ACCENT, style.ACCENT, "fit"),
    )
    ax.axvline(0.5, color=style.INK, lw=0.9, zorder=1)
    for name, chosen, away, colour, face, label in rows:
        known = frame[name].notna()
        part = frame[chosen & known]
        if part.empty:
            continue
        y = part.index.to_numpy() + away
        lower = part[f"{name}_lower"]
        upper = part[f"{name}_upper"]
        ax.hlines(y, lower, upper, color=colour, lw=1.4, zorder=2)
        ax.plot(part[name], y, "o", ms=5, mfc=face, mec=colour, mew=1.2, zorder=3, label=label)
    names = []
    for first, second in zip(frame["first"], frame["second"], strict=True):
        above = style.shorten(first, 18)
        below = style.shorten(second, 18)
        names.append(f"{above} over {below}")
    ax.legend(fontsize=8, frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    style.list_axis(ax, names, "preferred")
    style.percent_ticks(ax, "x")
    return ax
