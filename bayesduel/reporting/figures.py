"""Figures as data URIs, for HTML files that need no other file.

Text stays text in the picture, and the fonts of the browser draw it, in any script.
"""

import warnings
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.system.threads import one_at_a_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

__all__ = ["Picture", "draw"]

SETTINGS: Any = {  # of Matplotlib
    "svg.hashsalt": "bayesduel",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],  # texts have the widths of these
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
}
PIXELS = 96  # CSS pixels in an inch (CSS Values and Units, section 6.2)
PAD = 0.05  # inches left around a picture, half of what Matplotlib leaves: pages have margins


@dataclass(frozen=True)
class Picture:
    """An image for an HTML page."""

    uri: str  # its data URI
    width: int  # its size in CSS pixels
    height: int


@one_at_a_time
def draw(plot: Callable[..., Any], size: tuple[float, float]) -> Picture:
    """Return ``plot(ax=...)`` as SVG, the same bytes for the same plot.

    plot: a function of :mod:`bayesduel.plots`, its other arguments bound.
    size: width and height in inches; empty margins are cut off.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    file = BytesIO()
    with rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure = Figure(figsize=size, dpi=PIXELS)
        FigureCanvasAgg(figure)  # one renderer measures its texts
        axes = figure.add_subplot()
        figure.subplots_adjust(0, 0, 1, 1)
        plot(ax=axes)
        _make_room(figure)
        box = _box(axes)
        figure.savefig(file, format="svg", dpi=PIXELS, metadata={"Date": None}, bbox_inches=box)
    across, down = (round(PIXELS * inches) for inches in (box.width, box.height))
    return Picture(f"data:image/svg+xml;base64,{b64encode(file.getvalue()).decode()}", across, down)


def _make_room(figure: "Figure") -> None:
    """Move the axes, which fill the figure, so that what surrounds them is in it, too.

    It is measured once; the layouts of Matplotlib measure it up to four times.
    """
    from matplotlib.transforms import Bbox

    size = figure.get_size_inches()
    around = figure.get_tightbbox().padded(PAD).get_points() / size
    inside = Bbox.union([axes.get_position() for axes in figure.axes]).get_points()
    room = np.abs(around - inside)
    (left, bottom), (right, top) = np.clip(room, 0, 0.45)  # both sides leave a tenth to the axes
    figure.subplots_adjust(left, bottom, 1 - right, 1 - top)


def _box(axes: "Axes") -> "Bbox":
    """Return what to keep of a figure, in inches: room on the left for wide letters too."""
    from matplotlib.transforms import Bbox

    from bayesduel.plots.style import wide_excess

    labels = axes.get_yticklabels()
    more = max((wide_excess(t.get_text(), float(t.get_fontsize())) for t in labels), default=0.0)
    box = axes.figure.get_tightbbox().padded(PAD)
    return Bbox.from_extents(box.x0 - more, box.y0, box.x1, box.y1)
