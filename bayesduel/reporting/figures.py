"""Figures as data URIs, for HTML files that need no other file.

Where labels need letters that the font of the figures lacks (Chinese, emoji), text stays text
in the picture, and the browser's fonts draw it.
"""

import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

__all__ = ["Picture", "draw"]

PIXELS = 96  # CSS pixels in an inch
PAD = 0.05  # inches left around a picture


@dataclass(frozen=True)
class Picture:
    """An image for an HTML page.

    Attributes
    ----------
    uri
        Its data URI.
    width, height
        Its size in CSS pixels.
    foreign
        Whether it holds text that the browser's fonts draw.
    """

    uri: str
    width: int
    height: int
    foreign: bool


def draw(
    plot: Callable[..., Any], size: tuple[float, float], *, left: float | None = None
) -> Picture:
    """Return ``plot(ax=...)`` as SVG or PNG, whichever is smaller.

    Where the font lacks a letter it is SVG, and its text is left as text.

    Parameters
    ----------
    plot
        A function of :mod:`bayesduel.plots`, its other arguments bound.
    size
        Width and height in inches; empty margins are cut off.
    left
        Width in inches of the labels on the left, where several pictures should line up.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    png, svg = BytesIO(), BytesIO()
    with (
        rc_context({"svg.hashsalt": "bayesduel", "font.family": "sans-serif"}),
        _missing_letters() as missing,
    ):
        cut: dict[str, Any] = {}
        if left is None:
            figure = Figure(figsize=size, layout="compressed")
            cut = {"bbox_inches": "tight", "pad_inches": PAD}
            axes = figure.add_subplot()
        else:
            figure, (width, height) = Figure(figsize=size), size
            west, east, south, north = left + 0.12, width - 0.55, 0.5, height - 0.08
            axes = figure.add_axes(
                (west / width, south / height, (east - west) / width, (north - south) / height)
            )
        plot(ax=axes)
        figure.savefig(png, format="png", dpi=2 * PIXELS, **cut)
        if missing and left is None:
            cut = {"bbox_inches": _box(axes)}
            png = BytesIO()
            figure.savefig(png, format="png", dpi=2 * PIXELS, **cut)
        with rc_context({"svg.fonttype": "none"} if missing else {}):
            figure.savefig(svg, format="svg", metadata={"Date": None}, **cut)
    across, down = (round(int.from_bytes(png.getvalue()[k : k + 4], "big") / 2) for k in (16, 20))
    if missing or len(svg.getvalue()) <= len(png.getvalue()):
        kind, data = "svg+xml", svg.getvalue()
    else:
        kind, data = "png", png.getvalue()
    uri = f"data:image/{kind};base64,{b64encode(data).decode()}"
    return Picture(uri, across, down, bool(missing))


@contextmanager
def _missing_letters() -> Iterator[list[str]]:
    """Collect matplotlib's warnings of missing letters; pass on all other warnings."""
    missing: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        show = warnings.showwarning

        def sort(message: Warning | str, *rest: Any, **more: Any) -> None:
            if "missing from font" in str(message):
                missing.append(str(message))
            else:
                show(message, *rest, **more)

        warnings.showwarning = sort
        yield missing
    for w in caught:
        warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


def _box(axes: "Axes") -> "Bbox":
    """Return what to keep of a figure, in inches: room on the left for wide letters too."""
    from matplotlib.transforms import Bbox

    from bayesduel.plots.style import wide_excess

    labels = axes.get_yticklabels()
    more = max((wide_excess(t.get_text(), float(t.get_fontsize())) for t in labels), default=0.0)
    box = axes.figure.get_tightbbox().padded(PAD)
    return Bbox.from_extents(box.x0 - more, box.y0, box.x1, box.y1)
