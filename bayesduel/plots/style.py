"""How the figures look: colours, labels, axes.

Colours are those of Okabe & Ito ("Color universal design", 2008) and the diverging palette
PuOr of Brewer (colorbrewer2.org): both are told apart under every common colour blindness.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from bayesduel.text import shorten

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = [
    "ACCENT",
    "DIVERGING",
    "GREY",
    "INK",
    "SEQUENTIAL",
    "STRONG",
    "axes_of_size",
    "every",
    "percent_bar",
    "percent_ticks",
    "place_ticks",
    "plain",
    "shorten",
    "wide_excess",
]

INK = "#222222"
GREY = "#767676"
ACCENT = "#0072B2"  # Okabe & Ito, blue
STRONG = "#D55E00"  # Okabe & Ito, vermillion
DIVERGING = "PuOr"  # orange below 1/2, white at 1/2, purple above
SEQUENTIAL = "Blues"


def wide_excess(text: str, size: float) -> float:
    """Return by how many inches wide letters (Chinese, emoji) exceed what matplotlib measures.

    It measures the box that stands for a missing letter, 0.6 of the `size` in points; where
    fonts have the letter, it is as wide as high.
    """
    return 0.4 * size * (cell_len(text) - sum(cell_len(c) > 0 for c in text)) / 72


def every(n: int, most: int) -> int:
    """Return the smallest step of 1, 2, 5, 10, 20, ... that leaves at most `most` of `n`."""
    step, digits = 1, (2, 2.5, 2)
    turn = 0
    while -(-n // step) > most:
        step = int(step * digits[turn % 3])
        turn += 1
    return step


def axes_of_size(ax: "Axes | None", size: tuple[float, float]) -> "Axes":
    """Return `ax`, or the axes of a new pyplot figure of `size`, (width, height) in inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="compressed")[1]


def plain(ax: "Axes", keep: Sequence[str] = ("bottom",)) -> None:
    """Take away the frame but for the sides in `keep`, and the tick marks with it."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
        spine.set_color(GREY)
    ax.tick_params(length=0, labelsize=9, colors=INK)


def percent_ticks(ax: "Axes", which: str) -> None:
    """Let an axis ("x" or "y") run from 0 to 1, with ticks in per cent."""
    ticks = [0, 0.25, 0.5, 0.75, 1]
    words = [f"{100 * t:.0f} %" for t in ticks]
    if which == "x":
        ax.set_xlim(0, 1)
        ax.set_xticks(ticks, words)
    else:
        ax.set_ylim(0, 1)
        ax.set_yticks(ticks, words)


def place_ticks(ax: "Axes", arms: "np.ndarray", across: str) -> None:
    """Write the places at the rows and columns of a square picture, few enough to be read.

    Rows bear the names of the `arms`, best first, too; `across` says what the columns are.
    """
    n_arms = len(arms)
    rows = range(0, n_arms, every(n_arms, 22))
    ax.set_yticks(rows, [f"{k + 1}  {shorten(arms[k], 24)}" for k in rows])
    columns_at = range(0, n_arms, every(n_arms, 15))
    ax.set_xticks(columns_at, [str(k + 1) for k in columns_at])
    ax.set_xlabel(across, fontsize=9, color=INK)
    plain(ax, ())


def percent_bar(image: "AxesImage", ax: "Axes") -> None:
    """Put a colour bar in per cent beside `ax`."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, aspect=24, pad=0.02)
    bar.locator = MaxNLocator(4)
    bar.formatter = FuncFormatter(lambda share, _: f"{100 * share:.3g} %")
    bar.update_ticks()
    bar.ax.tick_params(length=0, labelsize=8)
    bar.outline.set_visible(False)
