"""Figures as text: pictures that travel inside an HTML file."""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

__all__ = ["Picture", "draw"]

PIXELS = 96  # CSS pixels in an inch


@dataclass(frozen=True)
class Picture:
    """An image for an HTML page: its data URI, its size in CSS pixels, and what it shows."""

    uri: str
    width: int
    height: int
    alt: str


def draw(
    plot: Callable[..., Any],
    size: tuple[float, float],
    alt: str,
    *given: Any,
    left: float | None = None,
    **options: Any,
) -> Picture:
    """Return ``plot(*given, ax=..., **options)`` as SVG or PNG, whichever is smaller.

    Parameters
    ----------
    plot
        A function of :mod:`bayesduel.plots`.
    size
        Width and height in inches; empty margins are cut off.
    alt
        What the picture shows, for those who cannot see it.
    left
        Width in inches of the labels on the left, where several pictures should line up.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "bayesduel", "font.family": "sans-serif"}):
        cut: dict[str, Any] = {}
        if left is None:
            figure = Figure(figsize=size, layout="compressed")
            cut = {"bbox_inches": "tight", "pad_inches": 0.05}
            axes = figure.add_subplot()
        else:
            figure, (width, height) = Figure(figsize=size), size
            west, east, south, north = left + 0.12, width - 0.55, 0.5, height - 0.08
            axes = figure.add_axes(
                (west / width, south / height, (east - west) / width, (north - south) / height)
            )
        plot(*given, ax=axes, **options)
        png, svg = BytesIO(), BytesIO()
        figure.savefig(png, format="png", dpi=2 * PIXELS, **cut)
        figure.savefig(svg, format="svg", metadata={"Date": None}, **cut)
    across, down = (round(int.from_bytes(png.getvalue()[k : k + 4], "big") / 2) for k in (16, 20))
    if len(svg.getvalue()) <= len(png.getvalue()):
        kind, data = "svg+xml", svg.getvalue()
    else:
        kind, data = "png", png.getvalue()
    return Picture(f"data:image/{kind};base64,{b64encode(data).decode()}", across, down, alt)
