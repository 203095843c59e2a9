"""Two logs as one: their counts added, or their votes one after the other."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayesduel.data.categories import parts_of_categories, recoded
from bayesduel.data.votes import Cells

__all__ = ["parts_of_two"]


def parts_of_two(first: Any, second: Any) -> dict[str, Any]:
    """Return the fields of one log of the duels of two; see ``Duels.join``."""
    parts = parts_of_categories({"first": first, "second": second})
    if first.votes is None and second.votes is None:
        return parts | {"votes": None, "cells": _added(parts["arms"], first, second)}
    votes = replace(parts["votes"], category=None, categories=())
    own = [log.votes for log in (first, second)]
    if all(v is not None and v.category is not None for v in own):
        codes, labels = recoded([(v.category, v.categories) for v in own])
        votes = replace(votes, category=codes, categories=labels)
    elif any(v is not None and v.category is not None for v in own):
        raise ValueError("logs should all have a category or none, got one without")
    return parts | {"votes": votes}


def _added(arms: tuple[str, ...], *logs: Any) -> Cells:
    """Return the counts of logs by ordered pair of `arms`, sorted by (left, right)."""
    place = {arm: i for i, arm in enumerate(arms)}
    index = [np.array([place[arm] for arm in log.arms], dtype=np.int64) for log in logs]
    key = np.concatenate(
        [
            i[log.cells.left] * len(arms) + i[log.cells.right]
            for i, log in zip(index, logs, strict=True)
        ]
    )
    pair, of = np.unique(key, return_inverse=True)
    counts = [np.concatenate([log.cells[k] for log in logs]) for k in range(2, 5)]
    added = [np.bincount(of, c, minlength=len(pair)).astype(np.int64) for c in counts]
    left, right = (pair // len(arms)).astype(np.int32), (pair % len(arms)).astype(np.int32)
    return Cells(left, right, *added)
