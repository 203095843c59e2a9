"""Coefficients of the items' attributes, with intervals."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots.style import ACCENT, NEW, REFERENCE, dots, figure, list_axis
from bayesduel.system.options import Decision
from bayesduel.text import shorten

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["coefficients_size", "plot_coefficients"]


def coefficients_size(n_rows: int) -> tuple[float, float]:
    """Return the width and height in inches that suit `n_rows` rows of the forest."""
    return 6.4, 0.8 + 0.25 * n_rows


@figure(lambda fit, **_: coefficients_size(_n_rows(fit)), "bayesduel.fit")
def plot_coefficients(
    fit: "xr.DataTree",
    ax: "Axes" = NEW,
    *,
    ci_prob: float = Decision.ci_prob,
    covariance: str = "auto",
    judge: str | None = None,
) -> "Axes":
    """Plot the coefficients of a fit of attributes, the largest at the top.

    They are in logits for one standard deviation of a numeric attribute, or for the level of a
    categorical one, so that rows can be compared. The dot is the posterior mean, the thick bar
    the 50 % interval, the thin bar that of `ci_prob`; dots are filled where the latter excludes
    zero.

    Parameters
    ----------
    fit
        A fit with covariates or a side advantage.
    ax
        Axes to draw on. Default: those of a new figure.
    ci_prob
        Posterior probability of the intervals of the thin bars, in (0, 1).
    covariance, judge
        As in :func:`bayesduel.coefficients`.

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `fit` is not what :func:`bayesduel.fit` returned.

    Examples
    --------
    >>> duels, items = bd.datasets.load("chameleons"), bd.datasets.items("chameleons")
    >>> fit = bd.fit(duels, bd.models.BradleyTerry(bd.models.Covariates(items)))
    >>> ax = bd.plot_coefficients(fit)
    """
    from bayesduel.posterior.coefficients import coefficients

    wide, half = (
        table[table["kind"] == "effect"]
        for table in (
            coefficients(fit, prob, covariance=covariance, judge=judge) for prob in (ci_prob, 0.5)
        )
    )
    if wide.empty:
        raise ValueError(f"fit should be of a model with effects, got {fit.attrs['model']}")
    order = np.argsort(-wide["standard"].to_numpy(), kind="stable")
    wide = wide.iloc[order]
    half = half.iloc[order]
    y = np.arange(len(wide))
    middle = wide["standard"].to_numpy()
    lower = wide["standard_lower"].to_numpy()
    upper = wide["standard_upper"].to_numpy()
    clear = (lower > 0) | (upper < 0)
    ax.axvline(0.0, **REFERENCE)
    ax.hlines(y, lower, upper, color=ACCENT, lw=1.2, zorder=2)
    ax.hlines(y, half["standard_lower"], half["standard_upper"], color=ACCENT, lw=4, zorder=3)
    dots(ax, middle, y, clear, 5)
    # 40 characters of an attribute's name
    labels = [shorten(str(name), 40) for name in wide.index]
    list_axis(ax, labels, "log odds of winning for one standard deviation more")
    return ax


def _n_rows(fit: "xr.DataTree") -> int:
    """Return the number of effects, those of the side included.

    It computes them again, 6 ms of the 45 of a plot: the size of the figure is needed first.
    """
    from bayesduel.posterior.coefficients import coefficients

    return int((coefficients(fit)["kind"] == "effect").sum())
