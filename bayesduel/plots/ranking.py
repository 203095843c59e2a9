"""The ranking, with intervals, and the probability of each rank."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots import style
from bayesduel.system.arguments import check_type
from bayesduel.system.memory import TABLE_ARMS
from bayesduel.text import percent

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from bayesduel.posterior.winners import Winners

__all__ = [
    "check_tables",
    "in_order",
    "places_of",
    "plot_ranking",
    "plot_ranks",
    "ranking_size",
    "ranks_size",
]


def ranking_size(n_arms: int) -> tuple[float, float]:
    """Return the width and height in inches that suit `n_arms` rows of the forest."""
    return 5.6, 0.75 + 0.23 * n_arms


def ranks_size(n_arms: int) -> tuple[float, float]:
    """Return the width and height in inches that suit the rank heat map of `n_arms` arms."""
    side = min(max(0.42 * n_arms, 1.4), 4.4)
    return side + 1.8, side + 0.6


def in_order(winners: "Winners | xr.Dataset") -> "xr.Dataset":
    """Return the winners with arms (and opponents) in rank order, best first."""
    _check_winners(winners)
    found = winners.isel(arm=_best_first(winners))
    if "opponent" in found.dims:
        return found.sel(opponent=found["arm"].values)
    return found


def _check_winners(winners: "Winners | xr.Dataset") -> None:
    """Raise TypeError if a Dataset is not that of winners."""
    if "order" not in winners:
        raise TypeError("winners should be what bayesduel.winners returned, got another Dataset")


def _best_first(winners: "Winners | xr.Dataset") -> np.ndarray:
    """Return the indices of the arms, best mean rank first, as the arms stand now.

    ``order`` is of the arms as `winners` returned them, and stays the same where they are sorted.
    """
    order = winners["order"].values
    rank = winners["rank_mean"].values
    if (np.diff(rank[order]) >= 0).all():
        return np.asarray(order)
    return np.lexsort((-winners["win_rate"].values, rank))  # as `winners` orders them


def check_tables(winners: "Winners | xr.Dataset", name: str) -> None:
    """Check that winners hold a variable that is made for few arms only."""
    if name not in winners:
        raise ValueError(
            f"winners should be of at most {TABLE_ARMS:,} arms for this figure, got "
            f"{winners.sizes['arm']:,}"
        )


@style.figure(
    lambda winners, places=None: ranking_size(len(places_of(winners, places))), "bayesduel.winners"
)
def plot_ranking(
    winners: "Winners | xr.Dataset", ax: "Axes" = style.NEW, *, places: slice | None = None
) -> "Axes":
    """Plot the arms in rank order, the best at the top, with win rates and intervals.

    The dot is the posterior mean of the arm's win rate: the probability that it beats another
    arm drawn at random. The thick bar is the 50 % interval, the thin bar the interval of
    `winners`. Shading separates the tiers, and each is named at its first arm.

    Parameters
    ----------
    winners
        What :func:`bayesduel.winners` returned, its Dataset, or a fit.
    ax
        Axes to draw on. Default: those of a new figure.
    places
        Which places of the ranking to plot, e.g. ``slice(0, 40)``. Default: all.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `winners` is not what :func:`bayesduel.winners` returned, nor a fit.
    ValueError
        If `places` leaves no arm.

    Examples
    --------
    >>> winners = bd.winners(bd.fit(bd.datasets.load("springall")))
    >>> ax = bd.plots.plot_ranking(winners)
    >>> ax.figure.savefig('figure.png')
    """
    place = places_of(winners, places)
    ranked = in_order(winners).isel(arm=place - 1)
    mean, lower, quarter, three_quarters, upper = (
        ranked[f"win_rate{part}"].values
        for part in ("", "_lower", "_quarter", "_three_quarters", "_upper")
    )
    y = np.arange(len(place))
    ax.axvline(0.5, **style.REFERENCE)
    ax.hlines(y, lower, upper, color=style.ACCENT, lw=1.2, zorder=2)
    ax.hlines(y, quarter, three_quarters, color=style.ACCENT, lw=4, zorder=3)
    ax.plot(mean, y, "o", ms=5, mfc="white", mec=style.ACCENT, mew=1.4, zorder=4)
    style.percent_ticks(ax, "x")
    may_tie = winners.attrs.get("tie_share", 0) > 0
    halves = "; a tie counts half" if may_tie else ""
    labels = []
    for arm, at in zip(ranked["arm"].values, place, strict=True):
        labels.append(style.numbered(at, style.shorten(str(arm), 30)))
    style.list_axis(ax, labels, f"win rate against another arm drawn at random{halves}")
    if winners["tier"].values.max() > 1:
        _shade_tiers(ax, ranked["tier"].values)
    return ax


@style.figure(lambda winners: ranks_size(in_order(winners).sizes["arm"]), "bayesduel.winners")
def plot_ranks(winners: "Winners | xr.Dataset", ax: "Axes" = style.NEW) -> "Axes":
    """Plot the probability of each rank of each arm as a heat map, arms in rank order.

    With up to 12 arms the cells show the probability in per cent, where it rounds to 1 or more;
    with more, the colour scale is that of square roots, so that small probabilities are visible.

    Parameters
    ----------
    winners
        What :func:`bayesduel.winners` returned, its Dataset, or a fit.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `winners` is not what :func:`bayesduel.winners` returned, nor a fit.

    Examples
    --------
    >>> winners = bd.winners(bd.fit(bd.datasets.load("springall")))
    >>> ax = bd.plots.plot_ranks(winners)
    >>> ax.figure.savefig('figure.png')
    """
    from matplotlib.colors import PowerNorm

    check_tables(winners, "rank_probability")
    ranked = in_order(winners)
    probability = ranked["rank_probability"].transpose("arm", "rank").values
    n_arms = len(probability)
    few = n_arms <= style.WRITTEN
    scale = PowerNorm(1, 0, 1) if few else PowerNorm(0.5, 0, probability.max())
    image = ax.imshow(probability, cmap=style.SEQUENTIAL, norm=scale, interpolation="nearest")
    style.place_ticks(ax, ranked["arm"].values, "rank")
    if not few:
        style.percent_bar(image, ax)
    else:
        in_percent = np.round(100 * probability)
        for i, j in np.argwhere(in_percent):
            colour = "white" if probability[i, j] > 0.55 else style.INK
            text = percent(probability[i, j]).replace(" ", "")
            ax.text(j, i, text, fontsize=8, color=colour, **style.CENTRED)
    return ax


def places_of(winners: "Winners | xr.Dataset", places: slice | None) -> np.ndarray:
    """Return the ranks to plot, from 1."""
    _check_winners(winners)
    n_arms = winners.sizes["arm"]
    check_type(places, slice | None, "places", "a slice such as slice(0, 40)")
    found = np.arange(1, n_arms + 1)[places or slice(None)]
    if not len(found):
        raise ValueError(f"places should leave an arm of {n_arms}, got {places}")
    return found


def _shade_tiers(ax: "Axes", tier: np.ndarray) -> None:
    for k, t in enumerate(tier):
        if t % 2 == 0:
            ax.axhspan(k - 0.5, k + 0.5, color="#f1f1ec", lw=0, zorder=0)
    change = np.diff(tier, prepend=tier[0] - 1)
    for start in np.flatnonzero(change):
        ax.annotate(
            f"tier {tier[start]}",
            (1, start),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=style.GREY,
            annotation_clip=False,
        )
