"""Folds of a log: what is held out together, whole, and from which side it was shown."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["cut", "rows_of", "tells_sides", "votes_of"]


def tells_sides(model: Any) -> bool:
    """Return whether the model gives the left side an advantage, so that rows keep the sides."""
    return bool(getattr(model, "order_effect", False))


def rows_of(duels: "Duels", sides: bool = False) -> tuple[np.ndarray, str]:
    """Return left, right, wins, losses, ties and unit, shape (6, n), and the unit's name.

    One row is one ordered pair that met; where the log repeats a pair by the same judge or in
    the same group, one row is one such unit, for a vote and its repeats; with `sides` one row
    for each order in which the unit was shown.
    """
    cells, votes = duels.cells, duels.votes
    if votes is not None:
        for role in ("group", "judge"):
            code = getattr(votes, role)
            if code is None:
                continue
            low, high = np.minimum(votes.left, votes.right), np.maximum(votes.left, votes.right)
            alone = -1 - np.arange(len(votes))  # a vote without a judge repeats none
            key = np.stack([low, high, np.where(code >= 0, code, alone)])
            units, place = np.unique(key, axis=1, return_inverse=True)
            if units.shape[1] == len(votes) and (votes.weight <= 1).all():
                continue
            turned = (votes.left != low) & sides
            own, row = np.unique(np.stack([place, turned]), axis=1, return_inverse=True)
            forward = np.where((votes.left == low) | turned, 1, -1) * votes.outcome
            counts = [
                np.bincount(row, votes.weight * (forward == o), minlength=own.shape[1])
                for o in (1, -1, 0)
            ]
            pair = units[:2, own[0]]
            rows = np.stack([*np.where(own[1], pair[::-1], pair), *counts, own[0]])
            return rows.astype(np.int64), f"pair and {role}"
    counts = [cells.left_wins, cells.right_wins, cells.ties]
    rows = np.stack([cells.left, cells.right, *counts, np.arange(len(cells.left))])
    return rows.astype(np.int64), "duel"


def votes_of(duels: "Duels") -> tuple[np.ndarray, str]:
    """Return what `rows_of` does, one row a vote, whose margin goes with it."""
    votes = duels.votes
    if votes is None or votes.margin is None:
        raise ValueError("duels should have margins for a model of them, got a log of who won")
    counts = [votes.weight * (votes.outcome == o) for o in (1, -1, 0)]
    rows = np.stack([votes.left, votes.right, *counts, np.arange(len(votes))])
    return rows.astype(np.int64), "vote"


def cut(rows: np.ndarray, unit: str, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return wins, losses and ties of each fold, shape (3, n), folds of even size."""
    if unit != "duel":
        fold = rng.permutation(np.arange(rows[5].max() + 1) % folds)[rows[5]]
        return [np.where(fold == k, rows[2:5], 0) for k in range(folds)]
    which = np.repeat(np.arange(3 * rows.shape[1]), rows[2:5].ravel())
    fold = rng.permutation(np.arange(len(which)) % folds)
    shape = (3, rows.shape[1])
    return [
        np.bincount(which[fold == k], minlength=shape[0] * shape[1]).reshape(shape)
        for k in range(folds)
    ]
