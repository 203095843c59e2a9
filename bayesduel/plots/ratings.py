"""Ratings over time, with intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.intervals import check_ci_prob
from bayesduel.plots.style import INK, NEW, beside, figure, line_of, plain, shorten
from bayesduel.system.arguments import did_you_mean, shown_value, texts_of

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["RATINGS_SIZE", "plot_ratings"]

RATINGS_SIZE = (7.6, 4.4)  # inches, by eye: time needs width


@figure(RATINGS_SIZE, "bayesduel.fit")
def plot_ratings(
    fit: "xr.DataTree", ax: "Axes" = NEW, *, arms: Sequence[str] | None = None, ci_prob: float = 0.8
) -> "Axes":
    """Plot the ratings of some arms over time: posterior means, and bands of intervals.

    Ratings of a period are centred over all arms, so one falls where others rise.

    Parameters
    ----------
    fit
        A fit of a model with :class:`bayesduel.models.TimeVarying`.
    ax
        Axes to draw on. Default: those of a new figure.
    arms
        Which arms. Default: the six highest in the last period.
    ci_prob
        Posterior probability of the interval at each time, in (0, 1).

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `fit` is not what :func:`bayesduel.fit` returned.
    KeyError
        If an arm is not in the fit.
    ValueError
        If the fit knows no times, or `ci_prob` is out of its range.

    Examples
    --------
    >>> model = bd.models.ThurstoneScore() + bd.models.TimeVarying(periods=3)
    >>> fit = bd.fit(bd.datasets.load("icehockey"), model)
    >>> ax = bd.plots.plot_ratings(fit, arms=["Denver", "Miami"])
    """
    if "rating" not in fit["posterior"]:
        model = shown_value(fit.attrs.get("model"))
        raise ValueError(f"fit should be of a model with TimeVarying, got {model}")
    check_ci_prob(ci_prob)
    rating = fit["posterior"]["rating"]
    arms_of_fit = rating["arm"].to_numpy()
    labels = [str(arm) for arm in arms_of_fit]
    if arms is None:
        last = rating.isel(period=-1).mean(("chain", "draw")).to_numpy()
        best_first = np.argsort(-last, kind="stable")
        chosen = tuple(labels[k] for k in best_first[:6])
    else:
        chosen = texts_of(arms, "arms")
    for arm in chosen:
        if arm not in labels:
            raise KeyError(f"arm {arm!r} is not in the fit{did_you_mean(arm, labels)}")
    time = rating["period"].to_numpy()
    tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    last_means = []
    names = []
    colours = []
    for place, arm in enumerate(chosen):
        draws = rating.isel(arm=labels.index(arm))
        colour, line = line_of(place)
        low, high = draws.quantile(tails, ("chain", "draw")).to_numpy()
        mean = draws.mean(("chain", "draw")).to_numpy()

        ax.fill_between(time, low, high, color=colour, alpha=0.07, linewidth=0)
        for edge in (low, high):
            ax.plot(time, edge, color=colour, lw=0.6, alpha=0.5)
        ax.plot(time, mean, line, color=colour, lw=1.8)
        last_means.append(mean[-1])
        names.append(shorten(str(arm), 22))
        colours.append(colour)
    bottom, top = ax.get_ylim()
    # Two names are at least 0.045 of the height of the axes apart
    apart = 0.045 * (top - bottom)
    heights = _spread(last_means, apart)
    for height, name, colour in zip(heights, names, colours, strict=True):
        beside(ax, name, height, colour)
    ax.set_ylim(bottom, top)
    ax.set_xlim(time[0], time[-1])
    unit = fit.attrs["score_unit"]
    band = f"{100 * ci_prob:.0f} %"
    ax.set_ylabel(f"score, in {unit} (band: {band})", fontsize=9, color=INK)
    plain(ax, grid="y")
    if np.issubdtype(time.dtype, np.datetime64):
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call]
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    else:
        ax.set_xlabel("time", fontsize=9, color=INK)
    return ax


def _spread(heights: Sequence[float], apart: float) -> np.ndarray:
    """Return `heights` moved as little as possible to be at least `apart` from each other."""
    order = np.argsort(heights)
    placed = np.array(heights, dtype=float)[order]
    for _ in range(200):
        gap = np.diff(placed)
        tight = gap < apart - 1e-9
        if not tight.any():
            break
        lacks = apart - gap
        push = np.where(tight, lacks / 2, 0.0)
        placed[:-1] -= push
        placed[1:] += push
    result = np.empty_like(placed)
    result[order] = placed
    return result
