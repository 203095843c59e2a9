"""Reliability curve: predictions of held-out duels against outcomes."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots.style import ACCENT, INK, NEW, REFERENCE, figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.criticism.calibration import Calibration

__all__ = ["CALIBRATION_SIZE", "plot_calibration"]

CALIBRATION_SIZE = (4.4, 4.1)  # inches: square, with room for the labels of the left axis


@figure(CALIBRATION_SIZE, "bayesduel.criticism.calibration.held_out")
def plot_calibration(calibration: "Calibration", ax: "Axes" = NEW) -> "Axes":
    """Plot the reliability curve of held-out duels.

    Each dot is a bin of held-out duels, from the side of the favourite: its mean predicted win
    probability (horizontal) and its share of wins (vertical; a tie is half a win). Bars are 95 %
    intervals. On the diagonal, observed shares equal predictions. The area of a dot is
    proportional to the number of duels in its bin.

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
        If `calibration` is not what :func:`bayesduel.criticism.calibration.held_out` returned.

    Examples
    --------
    >>> from bayesduel.criticism.calibration import held_out
    >>> calibration = held_out(bd.datasets.load("springall"))
    >>> ax = bd.plots.plot_calibration(calibration)
    >>> ax.figure.savefig('figure.png')
    """
    x = calibration.predicted
    y = calibration.observed
    ax.plot([0.5, 1], [0.5, 1], **REFERENCE)
    lower = calibration.lower
    ax.vlines(x, lower, calibration.upper, color=ACCENT, lw=1.2, zorder=2)
    n = calibration.n
    area = 18 + 130 * n / n.max()
    ax.scatter(x, y, s=area, facecolor="white", edgecolor=ACCENT, lw=1.4, zorder=3, clip_on=False)
    ticks = np.arange(0, 11) / 10
    words = [f"{100 * t:.0f} %" for t in ticks]
    lowest = min(0.5, float(lower.min()))
    ax.set_xticks(ticks, words)
    ax.set_yticks(ticks, words)
    ax.set_xlim(0.49, 1)
    ax.set_ylim(lowest - 0.02, 1)
    ax.set_xlabel("predicted win probability of the favourite", fontsize=9, color=INK)
    ax.set_ylabel("share it won (held-out duels)", fontsize=9, color=INK)
    plain(ax, ("bottom", "left"), grid="both")
    return ax
