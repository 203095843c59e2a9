"""Predictions: the outcome probabilities of any duel, and how good such predictions are."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.winning.drawn import CHUNK, draws_of
from bayesduel.winning.electing import interval

__all__ = ["predict"]


def predict(
    fit: xr.DataTree,
    left: str | Sequence[str],
    right: str | Sequence[str],
    prob: float = 0.95,
    *,
    errors: str = "auto",
) -> xr.Dataset:
    """Return the probabilities that `left` wins, ties and loses against `right`.

    Parameters
    ----------
    fit
        What `bayesduel.fit` returned.
    left, right
        Labels of arms: one each, or sequences of the same length (one may be a single label).
    prob
        Posterior probability that the intervals hold, in (0, 1).
    errors
        Whose errors the intervals carry: see `bayesduel.winners`.

    Returns
    -------
    A Dataset with dimension ``duel`` (none, if both are single labels) and coordinates
    ``left`` and ``right``: ``win``, ``loss`` and, for a model with ties, ``tie``: posterior
    means, which are the predictive probabilities and sum to 1; each with ``_lower`` and
    ``_upper``, an equal-tailed interval for the probability itself. Where the model has no
    tie, ``win`` and ``loss`` are those of a duel that must be decided.

    Raises
    ------
    KeyError
        If a label is not in the fit; the message names the nearest one.
    TypeError, ValueError
        If lengths differ, an arm meets itself, or another argument is out of its range.
    """
    if not 0 < prob < 1:
        raise ValueError(f"prob should be in (0, 1), got {prob}")
    draws, labels, errors = draws_of(fit, errors)
    single = _is_label(left) and _is_label(right)
    sides = [[side] if _is_label(side) else list(side) for side in (left, right)]
    length = max(len(side) for side in sides)
    sides = [side * length if len(side) == 1 else side for side in sides]
    if len(sides[0]) != len(sides[1]) or not length:
        raise ValueError(
            "left and right should be as many labels, at least one, "
            f"got {len(sides[0])} and {len(sides[1])}"
        )
    i, j = (np.array([_place(label, labels) for label in side]) for side in sides)
    if (i == j).any():
        raise ValueError(f"left and right should differ, got {labels[i[i == j][0]]!r} twice")
    parts: dict[str, list[np.ndarray]] = {}
    step = max(1, CHUNK // draws.n_draws)
    for start in range(0, length, step):
        here = slice(start, start + step)
        chances = draws.chances(slice(None), i[here], j[here])
        for outcome in [o for o in ("win", "tie", "loss") if o in chances]:
            p = np.ascontiguousarray(chances[outcome].T)
            summary = np.stack([p.mean(1), *interval(p, prob)])
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
        attrs={"prob": prob, "errors": errors, "model": str(fit.attrs["model"])},
    )
    return predicted.isel(duel=0) if single else predicted


def _is_label(side: Any) -> bool:
    return isinstance(side, str) or not isinstance(side, Sequence | np.ndarray | xr.DataArray)


def _place(label: Any, labels: Sequence[str]) -> int:
    if str(label) in labels:
        return labels.index(str(label))
    near = get_close_matches(str(label), labels, n=1, cutoff=0.0)
    raise KeyError(f"arm {str(label)!r} is not in the fit; the nearest is {near[0]!r}")
