"""Sensitivity of judges: who follows the consensus, votes at random, or votes against it."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.intervals import adjusted, check_ci_prob
from bayesduel.plots.style import (
    ACCENT,
    INK,
    NAMED_ROWS,
    NEW,
    REFERENCE,
    STRONG,
    every,
    figure,
    plain,
    shorten,
)
from bayesduel.system.arguments import shown_value
from bayesduel.system.options import Decision

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["judges_size", "plot_judges"]


def judges_size(n_judges: int) -> tuple[float, float]:
    """Return the width and height in inches that suit `n_judges` rows."""
    return 6.4, 1.0 + min(0.24 * n_judges, 10.0)


@figure(lambda fit, **_: judges_size(fit["posterior"].sizes.get("judge", 1)), "bayesduel.fit")
def plot_judges(
    fit: "xr.DataTree", ax: "Axes" = NEW, *, ci_prob: float = Decision.ci_prob
) -> "Axes":
    """Plot the sensitivity of each judge, the highest at the top.

    1: the average judge; 0: votes at random; negative: votes against the consensus. The dot is
    the posterior mean, the thin bar the interval of `ci_prob`, the thick bar the 50 % interval.
    A hollow dot: surely more at random than the average judge. A filled one of that colour:
    surely against the consensus. "Surely" holds for all judges together with probability
    `ci_prob`, by Holm's rule on the posterior probabilities, so that many judges are no reason
    to find one of them odd.

    Parameters
    ----------
    fit
        A fit of a model with :class:`bayesduel.models.JudgeReliability`.
    ax
        Axes to draw on. Default: those of a new figure.
    ci_prob
        Posterior probability of the intervals of the thin bars, and of what is marked, in (0, 1).

    Returns
    -------
    The axes.

    Raises
    ------
    TypeError
        If `fit` is not what :func:`bayesduel.fit` returned.
    ValueError
        If the fit knows no judges, or `ci_prob` is out of its range.

    Examples
    --------
    >>> model = bd.models.BradleyTerry() + bd.models.JudgeReliability()
    >>> fit = bd.fit(bd.datasets.load("tversky1969"), model)
    >>> ax = bd.plots.plot_judges(fit)
    """
    if "sensitivity" not in fit["posterior"]:
        model = shown_value(fit.attrs.get("model"))
        raise ValueError(f"fit should be of a model with JudgeReliability, got {model}")
    check_ci_prob(ci_prob)
    draws = fit["posterior"]["sensitivity"].stack(sample=("chain", "draw"))
    mean = draws.mean("sample").to_numpy()
    order = np.argsort(-mean, kind="stable")
    tails = [(1 - ci_prob) / 2, 0.25, 0.75, (1 + ci_prob) / 2]
    quantiles = draws.quantile(tails, "sample").to_numpy()
    low, quarter, three, high = quantiles[:, order]
    mean = mean[order]
    names = draws["judge"].to_numpy()[order]
    y = np.arange(len(mean))
    against = _surely_below(draws, 0.0, ci_prob)[order]
    random = _surely_below(draws, 1.0, ci_prob)[order] & ~against
    usual = ~(against | random)
    colours = np.where(usual, ACCENT, STRONG)
    ax.axvline(0.0, color=INK, lw=0.9, zorder=1)
    ax.axvline(1.0, **REFERENCE)
    few = len(mean) <= NAMED_ROWS
    thin = 1.2 if few else 0.6
    thick = 4.0 if few else 1.6
    size = 5 if few else 2
    ax.hlines(y, low, high, color=colours, lw=thin, zorder=2)
    ax.hlines(y, quarter, three, color=colours, lw=thick, zorder=3)
    for chosen, colour, face, label in (
        (usual, ACCENT, ACCENT, "not surely odd"),
        (random, STRONG, "white", "more at random than the average"),
        (against, STRONG, STRONG, "against the others"),
    ):
        if chosen.any():
            ax.plot(
                mean[chosen], y[chosen], "o", ms=size, mfc=face, mec=colour, mew=1.2, zorder=4,
                label=label,
            )  # fmt: skip
    ax.legend(fontsize=8, frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    step = every(len(names), NAMED_ROWS)
    labels = [shorten(str(name), 24) for name in names[::step]]
    ax.set_yticks(y[::step], labels)
    ax.set_ylim(len(mean) - 0.5, -0.5)
    ax.set_xlabel("sensitivity: 1 the average judge, 0 clicks at random", fontsize=9, color=INK)
    plain(ax, grid="x")
    return ax


def _surely_below(draws: "xr.DataArray", value: float, ci_prob: float) -> np.ndarray:
    """Return which judges' sensitivity is below a value, for all of them together (Holm's rule)."""
    not_below = (draws >= value).mean("sample").to_numpy()
    return adjusted(not_below) <= 1 - ci_prob
