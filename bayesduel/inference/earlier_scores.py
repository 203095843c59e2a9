"""Scores of an earlier fit as priors of the arms of a new log."""

from collections.abc import Iterable

import numpy as np
import xarray as xr

import bayesduel.inference.accessor  # noqa: F401 - every fit has it, whoever opened the file
from bayesduel.models.prior import Prior
from bayesduel.system.arguments import check_range, shown_value, texts_of
from bayesduel.text import join

__all__ = ["earlier_scores"]


def earlier_scores(
    fit: xr.DataTree, arms: Iterable[str] | None = None, *, spread: float = 0.0
) -> dict[str, Prior]:
    """Return normal priors of scores, by arm, with the means and deviations of an earlier fit.

    Use them to fit this year's log with what last year's said: ``bd.fit(duels, priors={"score":
    bd.earlier_scores(earlier, duels.arms, spread=0.2)})``. Arms that are new have the usual prior.

    Parameters
    ----------
    fit
        The earlier fit: what :func:`bayesduel.fit` returned.
    arms
        Arms of the new log; of others nothing is returned. Default: all arms of the fit.
    spread
        Standard deviation of what may have changed since in the score of an arm, in the unit of
        the scores, at least 0. With 0 the earlier duels count as much as new ones.

    Returns
    -------
    A prior for each arm that both have: what a score was, with the variance that it had (by
    cluster-robust errors, where the fit has them) and that of the spread. What two arms share, as
    where groups of arms hardly met, is not in them: such priors are wider than the earlier fit.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, arms of the fit do not rank by scores, or no arm is in
        both.

    Examples
    --------
    >>> duels = bd.datasets.load("tennis1990")
    >>> earlier = bd.fit(duels)
    >>> found = bd.earlier_scores(earlier, ["Graf", "Newcomer"], spread=0.3)
    >>> list(found), found["Graf"].distribution
    (['Graf'], 'Normal')
    """
    if not isinstance(fit, xr.DataTree) or "posterior" not in fit or "model" not in fit.attrs:
        raise TypeError(f"fit should be what bayesduel.fit returned, got {shown_value(fit)}")
    check_range(spread, "spread", ">= 0")
    labels = fit.duel.arms
    if not fit.duel.model.ranks_by_score:
        raise ValueError(
            f"fit should be of a model whose arms rank by scores, got {fit.attrs['model']}"
        )
    asked = labels if arms is None else texts_of(arms, "arms")
    known = [arm for arm in labels if arm in asked]
    if not known:
        raise ValueError(
            f"arms should be some of the earlier fit, {join(labels, 8, quote=True)}, "
            f"got {join(asked, 8, quote=True)}"
        )
    score = fit.duel.posterior()["score"]
    mean = score.mean(axis=0)
    deviation = np.hypot(score.std(axis=0), spread)
    place = [labels.index(arm) for arm in known]
    return {
        arm: Prior("Normal", mu=float(mean[k]), sigma=float(deviation[k]))
        for arm, k in zip(known, place, strict=True)
    }
