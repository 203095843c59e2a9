"""Scores by each source of votes against those of the target."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.posterior.sources import SourceAgreement

__all__ = ["SOURCES_SIZE", "plot_sources"]

SOURCES_SIZE = (6.4, 4.8)  # inches: the size of a figure of Matplotlib
COLOURS = (style.ACCENT, style.STRONG, "#009E73", "#CC79A7")  # Okabe & Ito


@style.figure(SOURCES_SIZE, "bayesduel.sources")
def plot_sources(found: "SourceAgreement", ax: "Axes" = style.NEW) -> "Axes":
    """Plot the score of each arm by a source against its score by the target.

    A line shows what the target's scores and the correlation predict. Arms that a source places
    higher or lower than that, with an interval that excludes 0, are filled, and those of the
    largest differences bear their names where there is room. Of more than four sources those of
    the largest correlations, positive or negative, are shown.

    Parameters
    ----------
    found
        What :func:`bayesduel.sources` returned, or a fit.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `found` is not what :func:`bayesduel.sources` returned, nor a fit.

    Examples
    --------
    >>> rows = {"left": list("abba") * 20, "right": list("bccc") * 20, "outcome": list("1110") * 20}
    >>> duels = bd.read_duels(rows | {"source": ["human"] * 8 + ["gpt"] * 72}, keep=["source"])
    >>> fit = bd.fit(duels, bd.models.BradleyTerry(bd.models.Sources("source", target="human")))
    >>> ax = bd.plots.plot_sources(bd.sources(fit))
    """
    apart = found.table[found.table["target"] < 1]
    agreement = apart["correlation"].abs()
    closest = agreement.nlargest(len(COLOURS)).index
    shown = [source for source in apart.index if source in closest]
    among = found.arms[found.arms["source"].isin(shown)]
    points = among[["target_score", "score"]].to_numpy()
    # Of a name: 24 letters of 8 points are 1.5 of 5 inches, and a line 0.2 of 3.7. Of two names in
    # the same room one is written.
    room = (0.3, 0.06) * np.ptp(points, axis=0)
    named: list[np.ndarray] = []
    for colour, source in zip(COLOURS, shown, strict=False):
        arms = found.arms[found.arms["source"] == source]
        x = arms["target_score"].to_numpy()
        y = arms["score"].to_numpy()
        expected = y - arms["difference"].to_numpy()
        ends = np.array([x.min(), x.max()])
        squares = max((x**2).sum(), 1e-12)
        slope = (x * expected).sum() / squares
        line = slope * ends
        ax.plot(ends, line, color=colour, lw=1.2, zorder=2)
        higher = arms["lower"] > 0
        lower = arms["upper"] < 0
        away = (higher | lower).to_numpy()
        ax.plot(
            x,
            y,
            "o",
            ms=5,
            mfc="white",
            mec=colour,
            mew=1.2,
            zorder=3,
            label=style.legend_label(source),
        )
        ax.plot(x[away], y[away], "o", ms=5, color=colour, zorder=4)
        # 8 arms of a source with their names, those of the largest differences
        size = arms["difference"].abs()
        furthest = arms[away].assign(size=size).nlargest(8, "size")
        for arm in furthest.to_dict("records"):
            above = arm["difference"] > 0
            point = (arm["target_score"], arm["score"])
            here = np.array(point)
            too_close = [(np.abs(here - other) < room).all() for other in named]
            if any(too_close):
                continue
            named.append(here)
            ax.annotate(
                style.shorten(str(arm["arm"]), 24),
                point,
                textcoords="offset points",
                xytext=(0, 7 if above else -7),
                ha="center",
                va="bottom" if above else "top",
                fontsize=8,
                color=style.INK,
            )
    ax.axhline(0.0, color=style.GREY, lw=0.6, zorder=1)
    ax.axvline(0.0, color=style.GREY, lw=0.6, zorder=1)
    target = style.shorten(found.target)
    ax.set_xlabel(f"score by {target}, {found.unit}", fontsize=9, color=style.INK)
    ax.set_ylabel(f"score by the source, {found.unit}", fontsize=9, color=style.INK)
    ax.legend(frameon=False, fontsize=8)
    ax.margins(0.08)
    style.plain(ax, grid="both")
    return ax
