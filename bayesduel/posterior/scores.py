"""Scores of the arms with intervals, on the scale of the model and as ratings on the Elo scale.

Only differences of scores are determined by a log. A table of one number per arm therefore shows
differences from an anchor: the mean of all arms, or one named arm. Its intervals are those of
that difference, and change with the anchor; the ranks and the intervals of other differences do
not.

References
----------
Elo, "The Rating of Chessplayers, Past and Present", 1978: 400 points are odds of 10 to 1 under
the logistic curve; under the normal curve the standard deviation of a difference is 200 sqrt(2)
points.
"""

from collections.abc import Mapping
from math import log, sqrt
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesduel.intervals import check_ci_prob, eti
from bayesduel.posterior.draws import ARMS_AT_ONCE, draws_of, score_order
from bayesduel.posterior.estimand import estimand, estimand_words
from bayesduel.system.arguments import did_you_mean, finite, shown_value
from bayesduel.system.options import Decision
from bayesduel.text import SENTENCE, plural, shorten

__all__ = ["POINTS", "scores", "scores_words"]

POINTS = {"logits": 400 / log(10), "probits": 200 * sqrt(2)}  # Elo points by unit of a score


def scores(
    fit: xr.DataTree,
    *,
    anchor: str | None = None,
    points: float = 1000.0,
    ci_prob: float = Decision.ci_prob,
    covariance: str = "auto",
    at: Mapping[str, str] | None = None,
    weights: Mapping[str, Mapping[str, float]] | None = None,
) -> pd.DataFrame:
    """Return the scores of all arms with intervals, in the order of the ranking.

    Parameters
    ----------
    fit
        What `bayesduel.fit` returned, of a model that ranks by one score per arm.
    anchor
        Label of the arm that others are compared with. Default: the mean of all arms.
    points
        Rating of the anchor.
    ci_prob
        Probability of the equal-tailed intervals, in (0, 1).
    covariance
        As in `bayesduel.winners`: which votes depend on one another.
    at, weights
        Which duels the answer is about, as in :func:`bayesduel.estimand`: the level of a column, or
        how much each counts.

    Returns
    -------
    One row per arm. ``score_mean``, ``score_sd``, ``score_lower``, ``score_upper``: difference
    from the anchor in the unit of the model (``attrs["unit"]``: logits, the log odds of a win
    against a loss; probits; or units of the margins). Where cluster-robust errors have at most 2
    degrees of freedom, ``score_mean`` is the median: a sample of Student's t has no stable mean
    then. ``rating``, ``rating_lower``,
    ``rating_upper``: the same with the anchor at `points`, in points of Elo
    (``attrs["points_per_unit"]``: 400 / ln 10 a logit, 200 sqrt(2) a probit); absent for margins.
    ``attrs["sentence"]`` says what the numbers are differences from, ``attrs["controls"]`` which
    duels they are about, as in `bayesduel.winners`.

    Raises
    ------
    TypeError
        If `fit` is not a fit.
    ValueError
        If the model has no scores, or `anchor` is not an arm, or another argument is out of range.

    Examples
    --------
    >>> bd.scores(bd.fit(bd.datasets.load("tennis1990")))[["score_mean", "score_sd"]].round(1)
                 score_mean  score_sd
    arm
    Graf                0.7       0.4
    Seles               0.3       0.4
    Navratilova         0.0       0.3
    Sabatini           -0.2       0.4
    Sanchez            -0.7       0.4
    """
    check_ci_prob(ci_prob)
    points = finite(points, "points")
    if at is not None or weights is not None:
        fit = estimand(fit, at=at, weights=weights)
    draws, labels, used = draws_of(fit, covariance)
    if draws.score is None:
        raise ValueError(
            f"fit should be of a model with one score per arm, got {fit.attrs['model']}"
        )
    is_arm = isinstance(anchor, str) and anchor in labels
    if anchor is not None and not is_arm:
        hint = did_you_mean(anchor, labels)
        raise ValueError(f"anchor should be an arm of the log, got {shown_value(anchor)}{hint}")
    unit = draws.model.response.score_unit
    score = draws.score
    if anchor is None:
        origin = score.mean(1, keepdims=True)
    else:
        origin = score[:, [labels.index(anchor)]]
    order = score_order(score)
    found = np.empty((4, len(labels)))
    no_mean = _without_mean(fit, used, len(labels))
    for start in range(0, len(labels), ARMS_AT_ONCE):
        here = slice(start, start + ARMS_AT_ONCE)
        from_origin = score[:, here].astype(float) - origin
        apart = from_origin.T
        low, high = eti(apart, ci_prob)
        found[:, here] = apart.mean(1), apart.std(1), low, high
        noisy = no_mean[here]
        found[0, here][noisy] = np.median(apart[noisy], axis=1)
    own = ("score_mean", "score_sd", "score_lower", "score_upper")
    columns = dict(zip(own, found, strict=True))
    per_unit = POINTS.get(unit)
    if per_unit is not None:
        names = {"score_mean": "rating", "score_lower": "rating_lower"}
        names["score_upper"] = "rating_upper"
        for old, new in names.items():
            columns[new] = points + per_unit * columns[old]
    index = pd.Index(labels, name="arm")
    frame = pd.DataFrame(columns, index=index).iloc[order]
    frame.attrs = {
        "unit": unit,
        "anchor": anchor,
        "points": points,
        "points_per_unit": per_unit,
        "ci_prob": ci_prob,
        "controls": estimand_words(fit),
    }
    frame.attrs["sentence"] = scores_words(frame.attrs)
    return frame


def scores_words(attrs: Mapping[Any, Any], noun: str = "arm") -> str:
    """Return what scores with these attributes are differences from, and their intervals are of.

    noun: what an arm is called.
    """
    anchor = attrs["anchor"]
    nouns = plural(noun)
    other = f"the mean of all {nouns}"
    own = ""
    if anchor is not None:
        other = shorten(anchor, SENTENCE)
        own = f" {other} itself has no interval for that reason."
    rating = ""
    if attrs["points_per_unit"] is not None:
        rating = f", and {attrs['points']:g} points are the rating of {other}"
    return (
        f"Scores are in {attrs['unit']}, as differences from {other}{rating}. A log determines "
        f"only differences. Every interval is that of the difference from {other}. Another anchor "
        f"changes the intervals.{own} To see whether two {nouns} differ, look at their "
        "pairwise preference, not at the overlap of their intervals."
    )


def _without_mean(fit: xr.DataTree, used: str, n_arms: int) -> np.ndarray:
    """Return which arms' draws have no variance, and a mean that is noise: (K,), bool."""
    if used == "model" or "clusters" not in fit:
        return np.zeros(n_arms, dtype=bool)
    by_clustering = fit["clusters"].dataset["score_degrees_cluster"]
    degrees = by_clustering.sel(clustering=used).to_numpy()
    return np.asarray(degrees <= 2.0)  # where Student's t has no variance
