"""Does the model fit? Predictions against what happened."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots.style import ACCENT, GREY, INK, axes_of_size, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.criticism.calibration import Calibration

__all__ = ["CALIBRATION_SIZE", "plot_calibration"]

CALIBRATION_SIZE = (4.4, 4.1)


def plot_calibration(calibration: "Calibration", ax: "Axes | None" = None) -> "Axes":
    """Draw how often held-out duels came out as predicted: a reliability curve.

    Each dot is a bin of held-out duels, told from the side that was predicted to win: across,
    the mean predicted win probability; up, the share of wins that came true (half a win for a
    tie). Bars are 95 % intervals; on the diagonal, predictions keep their word. The area of a
    dot goes with the duels in its bin.

    Parameters
    ----------
    calibration
        What :func:`bayesduel.criticism.calibration.held_out` returned.
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
            "calibration should be what bayesduel.criticism.calibration.held_out returned, "
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
