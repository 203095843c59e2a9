"""Coefficients: what each attribute counts for, and how surely."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.plots.style import ACCENT, GREY, INK, axes_of_size, plain
from bayesduel.text import shorten

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["coefficients_size", "plot_coefficients"]

LABEL = 40  # characters of an attribute's name


def coefficients_size(n_rows: int) -> tuple[float, float]:
    """Return the width and height in inches that suit `n_rows` rows of the forest."""
    return 6.4, 0.8 + 0.25 * n_rows


def plot_coefficients(
    fit: "xr.DataTree",
    ax: "Axes | None" = None,
    *,
    ci_prob: float = 0.95,
    covariance: str = "auto",
    judge: str | None = None,
) -> "Axes":
    """Draw the coefficients of a fit of attributes, the most helpful on top.

    They are in logits for one standard deviation of a numeric attribute, for having the level
    where it is an indicator, so that rows can be compared. The dot is the posterior mean, the
    thick bar holds half of the posterior, the thin one `ci_prob` of it; filled dots are those
    whose thin bar leaves out zero.

    Parameters
    ----------
    fit
        A fit of ``BradleyTerry(Covariates(items))``.
    ax
        Axes to draw on. Default: those of a new figure.
    ci_prob, covariance, judge
        As in :func:`bayesduel.coefficients`.

    Returns
    -------
    The axes.
    """
    from bayesduel.posterior.coefficients import coefficients

    wide = coefficients(fit, ci_prob, covariance=covariance, judge=judge)
    half = coefficients(fit, 0.5, covariance=covariance, judge=judge)
    order = np.argsort(-wide["standard"].to_numpy(), kind="stable")
    wide, half = wide.iloc[order], half.iloc[order]
    ax = axes_of_size(ax, coefficients_size(len(wide)))
    y = np.arange(len(wide))
    middle = wide["standard"].to_numpy()
    lower, upper = wide["standard_lower"].to_numpy(), wide["standard_upper"].to_numpy()
    clear = (lower > 0) | (upper < 0)
    ax.axvline(0.0, color=GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
    ax.hlines(y, lower, upper, color=ACCENT, lw=1.2, zorder=2)
    ax.hlines(y, half["standard_lower"], half["standard_upper"], color=ACCENT, lw=4, zorder=3)
    for chosen, face in ((clear, ACCENT), (~clear, "white")):
        ax.plot(middle[chosen], y[chosen], "o", ms=5, mfc=face, mec=ACCENT, mew=1.4, zorder=4)
    ax.set_yticks(y, [shorten(str(name), LABEL) for name in wide.index])
    ax.set_ylim(len(wide) - 0.5, -0.5)
    ax.set_xlabel("log odds of winning for one standard deviation more", fontsize=9, color=INK)
    ax.grid(axis="x", color="#e2e2e2", lw=0.7)
    ax.set_axisbelow(True)
    plain(ax)
    return ax
