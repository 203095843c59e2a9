"""The preference matrix of a fit, as a frame."""

from collections.abc import Mapping
from typing import Literal, get_args

import pandas as pd
import xarray as xr

from bayesduel.intervals import check_ci_prob
from bayesduel.posterior.draws import check_fit, check_met, draws_of, score_order
from bayesduel.posterior.election import pair_summary
from bayesduel.posterior.estimand import estimand
from bayesduel.system.arguments import check_one_of
from bayesduel.system.memory import TABLE_ARMS
from bayesduel.system.options import Decision

__all__ = ["preference_matrix"]

Part = Literal["mean", "lower", "upper"]


def preference_matrix(
    fit: xr.DataTree,
    part: Part = "mean",
    *,
    ci_prob: float = Decision.ci_prob,
    covariance: str = "auto",
    at: Mapping[str, str] | None = None,
    weights: Mapping[str, Mapping[str, float]] | None = None,
) -> pd.DataFrame:
    """Return the matrix of win probabilities: the arm of the row against the arm of the column.

    ``bd.preference(fit)`` is the same. A tie counts half a win; who stood left is averaged, as
    everywhere. The draws are :func:`bayesduel.preference_draws`.

    Parameters
    ----------
    fit
        What :func:`bayesduel.fit` returned, of up to 1,000 arms.
    part
        "mean", or an end of the interval: "lower" or "upper".
    ci_prob
        Probability of the interval, in (0, 1).
    covariance
        As in :func:`bayesduel.winners`.
    at, weights
        Which duels the answer is about, as in :func:`bayesduel.estimand`.

    Returns
    -------
    One row and one column per arm, the best first; one half on the diagonal.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("tennis1990"))
    >>> bd.preference(fit).loc["Graf", "Sanchez"].round(1)
    np.float64(0.8)
    """
    check_fit(fit)
    check_met(fit)
    check_one_of(part, "part", get_args(Part))
    check_ci_prob(ci_prob)
    if at is not None or weights is not None:
        fit = estimand(fit, at=at, weights=weights)
    draws, labels, _ = draws_of(fit, covariance)
    if draws.n_arms > TABLE_ARMS:
        raise ValueError(
            f"fit should have at most {TABLE_ARMS:,} arms for a matrix, got {draws.n_arms:,}: "
            "predict(fit, left, right) answers for pairs"
        )
    pairs = pair_summary(draws, ci_prob)
    tables = {"mean": pairs.mean, "lower": pairs.lower, "upper": pairs.upper}
    arms = list(labels)
    frame = pd.DataFrame(tables[part], index=arms, columns=arms)
    order = score_order(draws.worth)
    return frame.iloc[order, order].rename_axis(index="arm", columns="opponent")
