"""Does the model fit? Cyclic triads against chance, predictions against what happened."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots.style import ACCENT, GREY, INK, STRONG, axes_of_size, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.calibration import Calibration
    from bayesduel.triads import CyclicCheck

__all__ = ["CALIBRATION_SIZE", "TRIADS_SIZE", "plot_calibration", "plot_triads"]

TRIADS_SIZE = (5.6, 2.6)
CALIBRATION_SIZE = (4.4, 4.1)


def plot_triads(check: "CyclicCheck", ax: "Axes | None" = None) -> "Axes":
    """Draw how many cyclic triads a transitive model makes, and how many were observed.

    Bars are the posterior predictive distribution: the share of replicated logs with that
    many cyclic triads. The line is the log's own number.

    Parameters
    ----------
    check
        What :func:`bayesduel.cyclic_check` returned.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `check` is something else.
    ValueError
        If the log has no decided triad, so that there is nothing to draw.
    """
    from matplotlib.ticker import MaxNLocator

    if not hasattr(check, "replicated"):
        raise TypeError(
            f"check should be what bayesduel.cyclic_check returned, got {type(check).__name__}"
        )
    if not len(check.replicated):
        raise ValueError("check should have decided triads to draw, got none")
    ax = axes_of_size(ax, TRIADS_SIZE)
    low = min(int(check.replicated.min()), check.observed)
    high = max(int(check.replicated.max()), check.observed)
    width = max(1, -(-(high - low + 1) // 40))
    edges = np.arange(low, high + width + 1, width) - 0.5
    count, _ = np.histogram(check.replicated, edges)
    share = count / len(check.replicated)
    ax.bar(edges[:-1] + width / 2, share, width=0.9 * width, color="#9ecae1", lw=0)
    ax.axvline(check.observed, color=STRONG, lw=2)
    left = check.observed < (low + high) / 2
    ax.annotate(
        f"observed: {check.observed:,}",
        (check.observed, 1),
        xycoords=("data", "axes fraction"),
        xytext=(5 if left else -5, -2),
        textcoords="offset points",
        ha="left" if left else "right",
        va="top",
        fontsize=9,
        color=STRONG,
    )
    room = max(0.06 * (high - low), 0.7)
    ax.set_xlim(low - room, high + room)
    ax.set_ylim(0, 1.22 * share.max())
    ax.xaxis.set_major_locator(MaxNLocator(9, integer=True))
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.set_xlabel(f"cyclic triads of {check.decided:,} decided", fontsize=9, color=INK)
    of_width = "" if width == 1 else f" (bars {width} wide)"
    ax.set_ylabel(f"replicated logs{of_width}", fontsize=9, color=INK)
    plain(ax)
    return ax


def plot_calibration(calibration: "Calibration", ax: "Axes | None" = None) -> "Axes":
    """Draw how often held-out duels came out as predicted: a reliability curve.

    Each dot is a bin of held-out duels, told from the side that was predicted to win: across,
    the mean predicted win probability; up, the share of wins that came true (half a win for a
    tie). Bars are 95 % intervals; on the diagonal, predictions keep their word. The area of a
    dot goes with the duels in its bin.

    Parameters
    ----------
    calibration
        What :func:`bayesduel.calibration.held_out` returned.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `calibration` is something else.
    """
    if not hasattr(calibration, "observed"):
        raise TypeError(
            "calibration should be what bayesduel.calibration.held_out returned, "
            f"got {type(calibration).__name__}"
        )
    ax = axes_of_size(ax, CALIBRATION_SIZE)
    x, y = calibration.predicted, calibration.observed
    ax.plot([0.5, 1], [0.5, 1], color=GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
    ax.vlines(x, calibration.lower, calibration.upper, color=ACCENT, lw=1.2, zorder=2)
    area = 18 + 130 * calibration.n / calibration.n.max()
    ax.scatter(x, y, s=area, facecolor="white", edgecolor=ACCENT, lw=1.4, zorder=3, clip_on=False)
    ticks = np.arange(0, 11) / 10
    words = [f"{100 * t:.0f} %" for t in ticks]
    lowest = min(0.5, float(calibration.lower.min()))
    ax.set_xticks(ticks, words)
    ax.set_yticks(ticks, words)
    ax.set_xlim(0.49, 1)
    ax.set_ylim(lowest - 0.02, 1)
    ax.set_xlabel("predicted win probability of the favourite", fontsize=9, color=INK)
    ax.set_ylabel("share it won (held-out duels)", fontsize=9, color=INK)
    ax.grid(color="#e2e2e2", lw=0.7)
    ax.set_axisbelow(True)
    plain(ax, ("bottom", "left"))
    return ax
