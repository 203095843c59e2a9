"""The preference matrix, and winners by criterion, as heat maps."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots import style
from bayesduel.plots.ranking import check_tables, in_order, places_of
from bayesduel.system.arguments import check_range
from bayesduel.text import percent

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.patches import PathPatch

    from bayesduel.posterior.winners import Winners

__all__ = [
    "CRITERION_NAMES",
    "LEAST_SHOWN",
    "plot_preference",
    "plot_winners",
    "preference_size",
    "winners_size",
]

# Smallest probability for a row of its own among the winners: less is shown as 0 or 1 per cent.
LEAST_SHOWN = 0.01
CRITERION_NAMES = {
    "condorcet": "Condorcet",
    "copeland": "Copeland",
    "borda": "Borda",
    "random_walk": "random walk",
    "von_neumann": "von Neumann",
}


def preference_size(n_arms: int) -> tuple[float, float]:
    """Return the width and height in inches that suit the matrix of `n_arms` arms."""
    side = min(max(0.46 * n_arms, 1.6), 4.8)
    return side + 2.0, side + 0.6


@style.figure(
    lambda winners, places=None: preference_size(len(places_of(winners, places))),
    "bayesduel.winners",
)
def plot_preference(
    winners: "Winners | xr.Dataset", ax: "Axes" = style.NEW, *, places: slice | None = None
) -> "Axes":
    """Plot the probability that the arm of the row beats the arm of the column.

    Arms are in rank order. Purple favours the row, orange the column; white is a probability of
    1/2. Hatched cells are uncertain: their interval contains 1/2. With up to 12 arms the cells
    show the posterior mean in per cent.

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
    >>> ax = bd.plots.plot_preference(winners)
    >>> ax.figure.savefig('figure.png')
    """
    check_tables(winners, "preference_mean")
    place = places_of(winners, places)
    index = place - 1
    ranked = in_order(winners).isel(arm=index, opponent=index)
    mean, lower, upper = (
        ranked[f"preference_{part}"].transpose("arm", "opponent").values
        for part in ("mean", "lower", "upper")
    )
    n_arms = len(mean)
    off = ~np.eye(n_arms, dtype=bool)
    uncertain = (lower <= 0.5) & (upper >= 0.5) & off
    image = ax.imshow(
        np.where(off, mean, np.nan), cmap=style.DIVERGING, vmin=0, vmax=1, interpolation="nearest"
    )
    if uncertain.any():
        ax.add_patch(_hatched(uncertain))
    style.place_ticks(ax, ranked["arm"].values, "opponent, by rank", place)
    style.percent_bar(image, ax)
    if n_arms <= style.WRITTEN:
        behind = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.75}
        far_from_half = abs(mean - 0.5) > 0.33
        dark = far_from_half & ~uncertain
        for i, j in np.argwhere(off).tolist():
            colour = "white" if dark[i, j] else style.INK
            text = percent(mean[i, j]).replace(" ", "")
            box = behind if uncertain[i, j] else None
            ax.text(j, i, text, fontsize=8.5, color=colour, bbox=box, **style.CENTRED)
    return ax


def winners_size(n_rows: int) -> tuple[float, float]:
    """Return the width and height in inches that suit `n_rows` arms by criterion."""
    return 5.6, 0.75 + 0.31 * n_rows


@style.figure(
    lambda winners, least=LEAST_SHOWN: winners_size(len(_by_criterion(winners, least)[0])),
    "bayesduel.winners",
)
def plot_winners(
    winners: "Winners | xr.Dataset", ax: "Axes" = style.NEW, *, least: float = LEAST_SHOWN
) -> "Axes":
    """Plot the probability that each arm wins, by winner criterion.

    Arms with less than `least` under every criterion share one row; for Condorcet, another row
    is for the case that no arm beats all others. A win is divided between arms that tie, so that
    columns sum to 1 up to rounding. Von Neumann: mean weight in the maximin mixture.

    Parameters
    ----------
    winners
        What :func:`bayesduel.winners` returned, its Dataset, or a fit.
    ax
        Axes to draw on. Default: those of a new figure.
    least
        Smallest probability for which an arm has its own row.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `winners` is not what :func:`bayesduel.winners` returned, nor a fit.
    ValueError
        If `least` is outside [0, 1).

    Examples
    --------
    >>> winners = bd.winners(bd.fit(bd.datasets.load("springall")))
    >>> ax = bd.plots.plot_winners(winners)
    >>> ax.figure.savefig('figure.png')
    """
    labels, values = _by_criterion(winners, least)
    criteria = [str(n) for n in winners["criterion"].values]
    ax.imshow(values, cmap=style.SEQUENTIAL, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    ax.set_yticks(range(len(labels)), labels)
    names = [CRITERION_NAMES[n].replace(" ", "\n") for n in criteria]
    ax.set_xticks(range(len(names)), names)
    ax.xaxis.tick_top()
    style.plain(ax, ())
    for i, j in np.ndindex(*values.shape):
        if labels[i] == "none" and criteria[j] != "condorcet":
            continue
        p = float(values[i, j])
        colour = style.INK if p >= 0.005 else style.GREY
        if p > 0.55:
            colour = "white"
        ax.text(j, i, f"{percent(p)} %", fontsize=9, color=colour, **style.CENTRED)
    return ax


def _by_criterion(winners: "Winners | xr.Dataset", least: float) -> tuple[list[str], np.ndarray]:
    """Return the labels of the rows, and the probabilities of shape (rows, criteria)."""
    check_range(least, "least", "in [0, 1)")
    ranked = in_order(winners)
    share = ranked["winner_share"].transpose("arm", "criterion").values
    own = share.max(1) >= least
    named = ranked["arm"].values[own]
    labels = [style.shorten(arm, 30) for arm in named]
    table = [*share[own]]
    if not own.all():
        n_others = int((~own).sum())
        labels.append("the other one" if n_others == 1 else f"the other {n_others}")
        table.append(share[~own].sum(0))
    no_winner = 1 - float(ranked["condorcet_exists"])
    none = np.where(ranked["criterion"].values == "condorcet", no_winner, 0)
    labels.append("none")
    table.append(none)
    return labels, np.array(table)


def _hatched(mask: np.ndarray) -> "PathPatch":
    """Return a patch that hatches the cells of `mask`, runs of a row joined."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    boxes = []
    for i, row in enumerate(mask):
        top = i - 0.5
        bottom = i + 0.5
        step = np.diff(row.astype(int), prepend=0, append=0)
        starts = np.flatnonzero(step == 1)
        ends = np.flatnonzero(step == -1)
        for start, end in zip(starts, ends, strict=True):
            left = start - 0.5
            right = end - 0.5
            corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
            boxes.append(Path(corners, closed=True))
    patch = PathPatch(
        Path.make_compound_path(*boxes), fill=False, lw=0, hatch="////", edgecolor="#808080"
    )
    patch.set_hatch_linewidth(0.5)
    patch.set_label("uncertain")
    return patch
