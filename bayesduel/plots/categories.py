"""Deviations by category, as a heat map."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots.style import DIVERGING, INK, NAMED_ROWS, NEW, figure, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.posterior.category_ranks import CategoryRanks

__all__ = ["categories_size", "plot_categories"]


def categories_size(n_categories: int, n_arms: int) -> tuple[float, float]:
    """Return the width and height in inches that suit a table of categories and arms."""
    columns = min(n_categories, NAMED_ROWS)
    width = 3.2 + max(0.22 * columns, 2.0)
    height = 1.6 + max(0.2 * n_arms, 1.0)
    return width, height


@figure(
    lambda ranks: categories_size(ranks.sizes["category"], ranks.sizes["arm"]),
    "bayesduel.category_ranks",
)
def plot_categories(ranks: "CategoryRanks", ax: "Axes" = NEW) -> "Axes":
    """Plot how far the score of each arm in each category is from its overall score.

    Arms are in their overall order, categories in the order of their largest changes, of more than
    60 the first 60. Purple is above the overall score, orange below. A dot marks deviations whose
    interval excludes 0.

    Parameters
    ----------
    ranks
        What :func:`bayesduel.category_ranks` returned, or a fit.
    ax
        Axes to draw on. Default: those of a new figure.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `ranks` is not what :func:`bayesduel.category_ranks` returned, nor a fit.

    Examples
    --------
    >>> rows = {"left": list("aab") * 40, "right": list("bcc") * 40}
    >>> rows |= {"outcome": list("1110111100") * 12, "category": ["code"] * 60 + ["prose"] * 60}
    >>> model = bd.models.BradleyTerry() + bd.models.CategoryEffects()
    >>> ranks = bd.category_ranks(bd.fit(bd.read_duels(rows, keep=["category"]), model))
    >>> ax = bd.plots.plot_categories(ranks)
    >>> ax.figure.savefig('figure.png')
    """
    labels = list(ranks.table().index)[:NAMED_ROWS]
    rows = np.argsort(ranks["overall_rank_mean"].values, kind="stable")
    here = ranks.isel(arm=rows).sel(category=labels)
    mean = here["deviation_mean"].values.T
    low = here["deviation_lower"].values.T
    high = here["deviation_upper"].values.T
    largest = float(np.abs(mean).max())
    size = max(largest, 1e-9)
    image = ax.imshow(
        mean, cmap=DIVERGING, vmin=-size, vmax=size, interpolation="nearest", aspect="auto"
    )
    sure = (low > 0) | (high < 0)
    sure_row, sure_column = np.nonzero(sure)
    ax.scatter(sure_column, sure_row, s=14, color=INK, edgecolors="white", linewidths=0.6)
    arms = [shorten(str(arm)) for arm in here["arm"].values]
    categories = [shorten(str(category)) for category in labels]
    ax.set_yticks(range(len(arms)), arms)
    ax.set_xticks(range(len(categories)), categories, rotation=90)
    ax.tick_params(length=0)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.03, pad=0.02)
    bar.set_label("deviation from the overall score")
    bar.outline.set_visible(False)
    return ax
