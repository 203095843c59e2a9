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
    """Return normal priors of scores, by arm, by which differences are as in an earlier fit.

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
    A prior for each arm that both have: what a score was, with a variance and that of the spread.
    The variances are those by which the differences of these arms vary as in the earlier fit (by
    cluster-robust errors, where the fit has them). What two arms share, as where groups of arms
    hardly met, is not in them.

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
    place = [labels.index(arm) for arm in known]
    score = fit.duel.posterior()["score"][:, place]
    mean = score.mean(axis=0)
    deviation = np.sqrt(_independent(score) + spread**2)
    return {
        arm: Prior("Normal", mu=float(mean[k]), sigma=float(deviation[k]))
        for k, arm in enumerate(known)
    }


def _independent(score: np.ndarray) -> np.ndarray:
    """Return variances of independent scores whose differences vary as those of draws, (K,).

    Only differences are known, and the scores of a fit are centred: those of two arms mirror each
    other. Independent ones of the same variances would have differences of 1 - 1 / K of theirs. By
    least squares over all pairs: ``d_i + d_j`` is the variance of the difference of i and j.
    """
    variance = score.var(axis=0)
    n = len(variance)
    if n == 1:
        return np.asarray(variance)
    centred = score - score.mean(axis=1, keepdims=True)
    own = centred.var(axis=0)
    if n == 2:
        return np.full(2, 2 * own[0])
    mean = own.sum() / (n - 1)
    found = (n * own - mean) / (n - 2)
    # An arm that many others duelled alone may have less: a hundredth of its variance is left
    return np.maximum(found, own / 100)
