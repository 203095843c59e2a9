"""What figures have in common: new axes, colours, labels.

Colours are those of Okabe & Ito ("Color universal design", 2008) and the diverging palette
PuOr of Brewer (colorbrewer2.org): both are distinguishable under every common colour blindness.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal
from unicodedata import bidirectional

import numpy as np
from rich.cells import cell_len

from bayesduel.system.threads import one_at_a_time
from bayesduel.text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = [
    "ACCENT",
    "CENTRED",
    "COLOURS",
    "DIVERGING",
    "GREY",
    "INK",
    "LEGEND",
    "LINES",
    "NAMED_ROWS",
    "NEW",
    "REFERENCE",
    "SEQUENTIAL",
    "STRONG",
    "WRITTEN",
    "beside",
    "dots",
    "every",
    "figure",
    "legend_label",
    "line_of",
    "list_axis",
    "numbered",
    "percent_bar",
    "percent_ticks",
    "place_ticks",
    "plain",
    "ratio_axis",
    "shorten",
    "wide_excess",
]

INK = "#222222"
GREY = "#767676"
ACCENT = "#0072B2"  # Okabe & Ito, blue
STRONG = "#D55E00"  # Okabe & Ito, vermillion
DIVERGING = "PuOr"  # orange below 1/2, white at 1/2, purple above
SEQUENTIAL = "Blues"
# Of several lines: Okabe & Ito; black first, yellow left out.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", "--", "-.", ":")
# Of a line that a figure is compared with: dashed, below all else.
REFERENCE: dict[str, Any] = {"color": GREY, "lw": 0.9, "ls": (0, (4, 3)), "zorder": 1}
CENTRED: dict[str, Any] = {"ha": "center", "va": "center", "in_layout": False}  # text inside axes
LEGEND = 90  # terminal columns of a name in a legend or a title
WRITTEN = 12  # arms up to which the cells of a heat map hold numbers: more do not fit 6 inches
NAMED_ROWS = 60  # names beside an axis, at most: of 8 points they take 7 inches
NEW: Any = None  # stands for the axes of a new figure
RETURNED = {  # the class of what a function returns
    "bayesduel.category_ranks": "bayesduel.posterior.category_ranks.CategoryRanks",
    "bayesduel.check": "bayesduel.criticism.check_result.Check",
    "bayesduel.compare_models": "bayesduel.criticism.compare.Comparison",
    "bayesduel.criticism.calibration.held_out": "bayesduel.criticism.calibration.Calibration",
    "bayesduel.compare_policies": "bayesduel.simulation.policy_comparison.PolicyComparison",
    "bayesduel.fit": "xarray.DataTree",
    "bayesduel.check_margins": "bayesduel.criticism.posterior_predictive.MarginCheck",
    "bayesduel.panel": "bayesduel.posterior.panel.Panel",
    "bayesduel.prior_predictive": "xarray.DataTree",
    "bayesduel.simulate": "xarray.DataTree",
    "bayesduel.sources": "bayesduel.posterior.sources.SourceAgreement",
    "bayesduel.winners": "bayesduel.posterior.winners.Winners",
}
OF_FIT = (  # that a plot makes of a fit itself; others take the log, which a fit holds as tallies
    *("bayesduel.category_ranks", "bayesduel.check_margins"),
    *("bayesduel.sources", "bayesduel.winners"),
)
# Of which a plot takes an xarray.Dataset, too: arms in another order, or a file opened again
OF_DATASET = ("bayesduel.compare_policies", "bayesduel.winners")
Size = tuple[float, float]


def wide_excess(text: str, size: float) -> float:
    """Return by how many inches wide letters (Chinese, emoji) exceed what matplotlib measures.

    It measures the box that stands for a missing letter, 0.6 of the `size` in points; where
    fonts have the letter, it is as wide as high.
    """
    n_letters = sum(cell_len(letter) > 0 for letter in text)
    n_wide = cell_len(text) - n_letters
    return 0.4 * size * n_wide / 72


def every(n: int, most: int) -> int:
    """Return the smallest step of 1, 2, 5, 10, 20, ... that leaves at most `most` of `n`."""
    step = 1
    digits = (2, 2.5, 2)
    turn = 0
    while -(-n // step) > most:
        step = int(step * digits[turn % 3])
        turn += 1
    return step


def figure[**P](
    size: Size | Callable[..., Size], source: str
) -> "Callable[[Callable[P, Axes]], Callable[P, Axes]]":
    """Decorate a plot: check its first argument, and make new axes where none are given."""

    def decorated(plot: "Callable[P, Axes]") -> "Callable[P, Axes]":
        signature = inspect.signature(plot)
        name = next(iter(signature.parameters))
        module, _, class_name = RETURNED[source].rpartition(".")

        @one_at_a_time
        @wraps(plot)
        def drawn(*args: P.args, **kwargs: P.kwargs) -> "Axes":
            given = signature.bind(*args, **kwargs)
            first = given.arguments[name]
            if source in OF_FIT and isinstance(first, import_module("xarray").DataTree):
                home, _, function = source.rpartition(".")
                of_fit = getattr(import_module(home), function)
                first = of_fit(first)
                given.arguments[name] = first
            drawable = [getattr(import_module(module), class_name)]
            if source in OF_DATASET:
                drawable.append(import_module("xarray").Dataset)
            if not isinstance(first, tuple(drawable)):
                raise TypeError(
                    f"{name} should be what {source} returned, got {type(first).__name__}; "
                    f"{plot.__name__}({source}(...)) draws it"
                )
            ax: Any = given.arguments.pop("ax", NEW)
            if ax is not NEW:
                given.arguments["ax"] = ax
                with _literal_texts(ax):
                    return plot(*given.args, **given.kwargs)
            import matplotlib.pyplot as plt

            inches = size(**given.arguments) if callable(size) else size
            new, ax = plt.subplots(figsize=inches, layout="compressed")
            given.arguments["ax"] = ax
            try:
                with _literal_texts(ax):
                    return plot(*given.args, **given.kwargs)
            except Exception:
                plt.close(new)
                raise

        return drawn

    return decorated


def legend_label(name: str) -> str:
    """Return a name that a legend shows, though it begins with "_"."""
    text = shorten(str(name), LEGEND)
    return "\u200b" + text if text.startswith("_") else text


def line_of(place: int) -> tuple[str, str]:
    """Return colour and style of one of several lines, by its place among them."""
    turn, colour = divmod(place, len(COLOURS))
    return COLOURS[colour], LINES[turn % len(LINES)]


def dots(ax: "Axes", x: np.ndarray, y: np.ndarray, filled: np.ndarray, size: float) -> None:
    """Plot dots, those of the mask `filled` filled and the others white."""
    for chosen, face in ((filled, ACCENT), (~filled, "white")):
        ax.plot(x[chosen], y[chosen], "o", ms=size, mfc=face, mec=ACCENT, mew=1.4, zorder=4)


def plain(
    ax: "Axes", keep: Sequence[str] = ("bottom",), grid: Literal["x", "y", "both"] | None = None
) -> None:
    """Remove tick marks, and the frame except for the sides in `keep`; add grid lines."""
    if grid is not None:
        ax.grid(axis=grid, color="#e2e2e2", lw=0.7)
        ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
        spine.set_color(GREY)
    ax.tick_params(length=0, labelsize=9, colors=INK)


def list_axis(ax: "Axes", labels: Sequence[str], across: str) -> None:
    """Label rows, the first at the top, and what is across; with grid lines."""
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlabel(across, fontsize=9, color=INK)
    plain(ax, grid="x")


def beside(ax: "Axes", text: str, height: float, colour: str) -> None:
    """Write a text at the right of the axes, at a height of the data."""
    where: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 9}
    ax.annotate(text, (1.02, height), color=colour, **where)


def percent_ticks(ax: "Axes", which: str) -> None:
    """Set an axis ("x" or "y") to 0 to 1, with ticks in per cent."""
    ticks = [0, 0.25, 0.5, 0.75, 1]
    words = [f"{100 * t:.0f} %" for t in ticks]
    if which == "x":
        ax.set_xlim(0, 1)
        ax.set_xticks(ticks, words)
    else:
        ax.set_ylim(0, 1)
        ax.set_yticks(ticks, words)


def ratio_axis(ax: "Axes") -> None:
    """Give the x-axis a logarithmic scale of ratios, labelled as numbers, few enough to be read."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ratio = high / low
    decimals = (1.0, 2.0, 5.0)
    if ratio < 5:
        ax.xaxis.set_major_locator(MaxNLocator(5))
    else:
        ax.xaxis.set_major_locator(LogLocator(subs=decimals if ratio < 1000 else (1.0,)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))


def numbered(rank: int, name: str) -> str:
    """Return a rank and a name, in this order from left to right whatever the name's letters."""
    leftward = any(bidirectional(letter) in ("R", "AL") for letter in name)
    # A mark from left to right: else the first letters of the name would say where a line begins.
    mark = "\u200e" if leftward else ""
    return f"{mark}{rank}  {name}"


def place_ticks(
    ax: "Axes", arms: np.ndarray, across: str, places: np.ndarray | None = None
) -> None:
    """Label the rows and columns of a square figure with ranks, few enough to be read.

    Rows have the names of the `arms`, best first, too; `across` is the label of the columns.
    `places` are the ranks, from 1 where none are given.
    """
    n_arms = len(arms)
    rank = range(1, n_arms + 1) if places is None else places
    rows = range(0, n_arms, every(n_arms, 22))
    names = [numbered(rank[k], shorten(arms[k], 24)) for k in rows]
    ax.set_yticks(rows, names)
    columns_at = range(0, n_arms, every(n_arms, 15))
    ranks = [str(rank[k]) for k in columns_at]
    ax.set_xticks(columns_at, ranks)
    ax.set_xlabel(across, fontsize=9, color=INK)
    plain(ax, ())


def percent_bar(image: "AxesImage", ax: "Axes") -> None:
    """Add a colour bar in per cent beside `ax`."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    beside_it = ax.inset_axes((1.03, 0.1, 0.033, 0.8))
    bar = ax.figure.colorbar(image, cax=beside_it)
    bar.locator = MaxNLocator(4)
    bar.formatter = FuncFormatter(lambda share, _: f"{100 * share:.3g} %")
    bar.update_ticks()
    bar.ax.tick_params(length=0, labelsize=8)
    bar.outline.set_visible(False)


@contextmanager
def _literal_texts(ax: Any) -> Iterator[None]:
    """Show the texts that the block adds or changes as they are: "$" begins no formula.

    Labels that a formatter makes of numbers may be formulas, as on logarithmic axes.
    """
    from matplotlib.text import Text
    from matplotlib.ticker import FixedLocator

    if not hasattr(ax, "findobj"):
        raise TypeError(f"ax should be axes of Matplotlib, got {type(ax).__name__}")
    before = {text: text.get_text() for text in ax.findobj(Text)}
    yield
    formatted = {
        label
        for axis in (ax.xaxis, ax.yaxis)
        if not isinstance(axis.get_major_locator(), FixedLocator)
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        for label in (tick.label1, tick.label2)
    }
    for text in ax.findobj(Text):
        if text not in formatted and before.get(text) != text.get_text():
            text.set_parse_math(False)
