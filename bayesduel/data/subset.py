"""Parts of a log: the duels among some arms, by some judges, in some groups."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.data.votes import Cells, Votes, cells_of

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["among", "by_units", "compact"]


def by_units(duels: "Duels", judges: Iterable[str] | None, groups: Iterable[str] | None) -> "Duels":
    """Return the votes by `judges` in `groups` (None: all), and the arms they are about."""
    keep = np.ones(0 if duels.votes is None else len(duels.votes), dtype=bool)
    for role, wanted in (("judge", judges), ("group", groups)):
        if wanted is None:
            continue
        code = None if duels.votes is None else getattr(duels.votes, role)
        if code is None:
            raise ValueError(f"{role}s can only be picked from a log that names them")
        labels = getattr(duels.votes, f"{role}s")
        keep &= np.isin(code, [_index_of(labels, str(w), role) for w in wanted])
    if duels.votes is None:
        return duels
    votes = duels.votes.take(keep)
    return among(replace(duels, votes=votes, cells=cells_of(votes, duels.n_arms)), None)


def among(duels: "Duels", arms: Iterable[str] | None) -> "Duels":
    """Return the duels among `arms`; None: among those that still meet."""
    if arms is None:
        kept = np.union1d(duels.cells.left, duels.cells.right)
    else:
        kept = np.unique([_index_of(duels.arms, str(a), "arm") for a in arms])
    place = np.full(duels.n_arms, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    inside = (place[duels.cells.left] >= 0) & (place[duels.cells.right] >= 0)
    c = Cells(*(a[inside] for a in duels.cells))
    cells = c._replace(left=place[c.left], right=place[c.right])
    votes = duels.votes
    if votes is not None:
        votes = votes.take((place[votes.left] >= 0) & (place[votes.right] >= 0))
        votes = replace(votes, left=place[votes.left], right=place[votes.right])
        votes = compact(compact(votes, "judge"), "group")
    return replace(duels, arms=tuple(duels.arms[k] for k in kept), cells=cells, votes=votes)


def compact(votes: Votes, role: str) -> Votes:
    """Return the votes with the labels of `role` that still occur, and no others."""
    code, labels = getattr(votes, role), getattr(votes, f"{role}s")
    if code is None:
        return votes
    kept = np.unique(code[code >= 0])
    place = np.full(len(labels) + 1, -1, dtype=np.int32)  # the last place serves code -1
    place[kept] = np.arange(len(kept))
    return replace(votes, **{role: place[code], f"{role}s": tuple(labels[k] for k in kept)})


def _index_of(labels: Sequence[str], label: str, role: str) -> int:
    try:
        return labels.index(label)
    except ValueError:
        raise KeyError(f"{role} {label!r} is not in the log") from None
