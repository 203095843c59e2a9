"""Predictions: the outcome probabilities and margins of any duel."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import ndtr, stdtr

from bayesduel.intervals import check_ci_prob, eti
from bayesduel.posterior.dependence import dependence_of
from bayesduel.posterior.draws import CHUNK, Draws, draws_of
from bayesduel.system.arguments import check_flag, listed, shown_value
from bayesduel.text import shorten

__all__ = ["predict"]


def predict(
    fit: xr.DataTree,
    left: str | Sequence[str],
    right: str | Sequence[str],
    ci_prob: float = 0.95,
    *,
    covariance: str = "auto",
    left_advantage: bool = False,
) -> xr.Dataset:
    """Return the probabilities that `left` wins, ties and loses against `right`.

    Parameters
    ----------
    fit
        What `bayesduel.fit` returned.
    left, right
        Labels of arms: one each, or sequences of the same length (one may be a single label).
    ci_prob
        Probability of the intervals, in (0, 1).
    covariance
        Of the draws: see `bayesduel.winners`.
    left_advantage
        Whether `left` has the advantage of its side, in a model that learned one
        (:class:`bayesduel.models.OrderEffect`): a home game.

    Returns
    -------
    A Dataset with dimension ``duel`` (none, if both are single labels) and coordinates
    ``left`` and ``right``: ``win``, ``loss`` and, for a model with ties, ``tie``: posterior
    means, which are the predictive probabilities and sum to 1; each with ``_lower`` and
    ``_upper``, an equal-tailed interval for the probability itself. Where the model has no
    tie, ``win`` and ``loss`` are those of a duel that must be decided. A model of margins
    adds ``margin``, the median of the next margin of `left` over `right`, and ``margin_lower``
    and ``margin_upper``, between which it lies with probability `ci_prob`: noise included.

    Raises
    ------
    KeyError
        If a label is not in the fit; the message names the nearest one.
    TypeError, ValueError
        If lengths differ, an arm meets itself, or another argument is out of its range.
    """
    check_ci_prob(ci_prob)
    check_flag(left_advantage, "left_advantage")
    draws, labels, used = draws_of(fit, covariance)
    if left_advantage and not draws.model.reads_order:
        raise ValueError(
            "left_advantage should be False for a fit that learned no advantage of the left side "
            f"(OrderEffect), got a fit of {draws.model.name}"
        )
    single = _is_label(left) and _is_label(right)
    sides = [
        [side] if _is_label(side) else list(listed(side, name))
        for name, side in {"left": left, "right": right}.items()
    ]
    length = max(len(side) for side in sides)
    sides = [side * length if len(side) == 1 else side for side in sides]
    if len(sides[0]) != len(sides[1]) or not length:
        raise ValueError(
            "left and right should be as many labels, at least one, "
            f"got {len(sides[0])} and {len(sides[1])}"
        )
    i, j = (
        np.array([_place(label, labels, name) for label in side])
        for name, side in zip(("left", "right"), sides, strict=True)
    )
    if (i == j).any():
        raise ValueError(f"left and right should differ, got {labels[i[i == j][0]]!r} twice")
    parts: dict[str, list[np.ndarray]] = {}
    step = max(1, CHUNK // draws.n_draws)
    for start in range(0, length, step):
        here = slice(start, start + step)
        chances = draws.chances(slice(None), i[here], j[here], left_advantage=left_advantage)
        limits = _next_margin(draws, i[here], j[here], ci_prob, left_advantage)
        if limits is not None:
            parts.setdefault("margin", []).append(limits)
        for outcome in [o for o in ("win", "tie", "loss") if o in chances]:
            p = np.ascontiguousarray(chances[outcome].T)
            summary = np.stack([p.mean(1), *eti(p, ci_prob)])
            parts.setdefault(outcome, []).append(summary)
    variables: dict[str, Any] = {}
    for name, found in parts.items():
        for end, values in zip(("", "_lower", "_upper"), np.hstack(found), strict=True):
            variables[name + end] = ("duel", values)
    predicted = xr.Dataset(
        variables,
        coords={
            "left": ("duel", [labels[k] for k in i]),
            "right": ("duel", [labels[k] for k in j]),
        },
        attrs={
            "ci_prob": ci_prob,
            "model": str(fit.attrs["model"]),
            **dependence_of(fit, used, covariance).attrs,
        },
    )
    return predicted.isel(duel=0) if single else predicted


def _next_margin(
    draws: Draws, left: np.ndarray, right: np.ndarray, ci_prob: float, left_advantage: bool
) -> np.ndarray | None:
    """Return median, lower and upper end of the next margins, shape (3, n), by bisection.

    None where the model is not of margins.
    """
    given = draws.model.margins(draws.posterior, left, right, left_advantage=left_advantage)
    if given is None:
        return None
    middle, spread, degrees = given
    normal = bool(np.isinf(degrees).all())
    wide = 10.0 * spread.max(axis=0)
    levels = np.array([0.5, (1 - ci_prob) / 2, (1 + ci_prob) / 2])
    found = np.empty((3, len(left)))
    for k, level in enumerate(levels):
        low, high = middle.min(axis=0) - wide, middle.max(axis=0) + wide
        while True:  # the tails of Student's t reach further

            def below(at: np.ndarray) -> np.ndarray:
                standard = (at - middle) / spread
                return (ndtr(standard) if normal else stdtr(degrees, standard)).mean(axis=0)

            if (below(low) < level).all() and (below(high) > level).all():
                break
            low, high = low - wide, high + wide
            wide = 4.0 * wide
        for _ in range(50):
            half = (low + high) / 2
            under = below(half) < level
            low, high = np.where(under, half, low), np.where(under, high, half)
        found[k] = (low + high) / 2
    return found


def _is_label(side: Any) -> bool:
    return isinstance(side, str) or not isinstance(side, Sequence | np.ndarray | xr.DataArray)


def _place(label: Any, labels: Sequence[str], name: str) -> int:
    words = label if isinstance(label, str) else shown_value(label)
    if words in labels:
        return labels.index(words)
    near = get_close_matches(words, labels, n=1, cutoff=0.0)
    raise KeyError(
        f"{name}: arm {shorten(words, 60)!r} is not in the fit; the nearest is {near[0]!r}"
    )
