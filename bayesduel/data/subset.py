"""Parts of a log: the duels among some arms, by some judges, in some groups."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesduel.data.teams import Teams
from bayesduel.data.votes import ROLES, Cells, Votes, cells_of
from bayesduel.system.arguments import did_you_mean, labels_of, shown_value

__all__ = ["LogParts", "compact_all", "of_arms", "of_units"]


class LogParts(NamedTuple):
    """What a subset of a log changes: its arms, its counts, its votes and its teams."""

    arms: tuple[str, ...]
    cells: Cells
    votes: Votes | None
    teams: Teams | None = None


def of_units(
    parts: LogParts, judges: Iterable[str] | None, groups: Iterable[str] | None
) -> LogParts:
    """Return the votes by `judges` in `groups` (None: all), and the arms that they compare.

    Raises KeyError if a judge or group is not in the log; ValueError if the log has no judges or
    groups.
    """
    votes = parts.votes
    keep = np.ones(0 if votes is None else len(votes), dtype=bool)
    for role, wanted in (("judge", judges), ("group", groups)):
        if wanted is None:
            continue
        found = None if votes is None else votes.of_role(role)
        if found is None:
            raise ValueError(f"{role}s should be None for a log without a column of {role}s")
        code, labels = found
        known = labels_of(wanted, f"{role}s")
        places = [_index_of(labels, str(label), role) for label in known]
        keep &= np.isin(code, places)
    if votes is None:
        return parts
    votes = votes.take(keep)
    sides = parts.arms if parts.teams is None else parts.teams
    cells = cells_of(votes, len(sides))
    kept = parts._replace(votes=votes, cells=cells)
    return of_arms(kept, None)


def of_arms(parts: LogParts, arms: Iterable[str] | None) -> LogParts:
    """Return the duels among `arms`; None: all arms that have a duel.

    Raises KeyError if an arm is not in the log.
    """
    labels, cells, votes, teams = parts
    met = np.union1d(cells.left, cells.right)
    if arms is not None:
        kept = _places_of(arms, labels)
    elif teams is None:
        kept = met
    else:
        of_sides = teams.matrix(len(labels))[met]
        kept = np.flatnonzero(of_sides.any(axis=0))
    place = np.full(len(labels), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    arm_place = place
    if teams is not None:  # cells and votes name sides
        fitting = np.flatnonzero(teams.within(place >= 0))
        sides = np.intersect1d(fitting, met)
        place = np.full(len(teams), -1, dtype=np.int32)
        place[sides] = np.arange(len(sides))
        teams = teams.take(sides, arm_place)
    left, right, inside = _renumbered(place, cells)
    renamed = cells._replace(left=left, right=right)
    cells = Cells(*(column[inside] for column in renamed))
    if votes is not None:
        left, right, inside = _renumbered(place, votes)
        votes = replace(votes, left=left, right=right).take(inside)
        votes = compact_all(votes)
    kept_labels = tuple(labels[k] for k in kept)
    return LogParts(kept_labels, cells, votes, teams)


def _renumbered(place: np.ndarray, log: Cells | Votes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the new numbers of both sides of cells or votes, and whether both are kept.

    place: the new number of each side, -1 where it is left out.
    """
    left = place[log.left]
    right = place[log.right]
    return left, right, (left >= 0) & (right >= 0)


def _places_of(arms: Iterable[str], labels: Sequence[str]) -> np.ndarray:
    """Return the places of some arms among the labels of a log."""
    if isinstance(arms, str):
        raise TypeError(f"arms should be a list of labels, got {shown_value(arms)}")
    wanted = labels_of(arms, "arms")
    if not wanted:
        raise ValueError("arms should hold at least two labels, got none")
    return np.unique([_index_of(labels, str(arm), "arm") for arm in wanted])


def compact_all(votes: Votes) -> Votes:
    """Return the votes with only those judges, groups, categories and levels that occur."""
    columns: dict[str, Any] = {}
    for role, labels in ROLES.items():
        own = votes.of_role(role)
        if own is not None:
            columns[role], columns[labels] = _compact(*own)
    kept = {name: _compact(code, levels) for name, (code, levels) in votes.kept.items()}
    return replace(votes, **columns, kept=kept)


def _compact(code: np.ndarray, labels: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the codes among the labels that occur, and these."""
    seen = np.unique(code[code >= 0])
    place = np.full(len(labels) + 1, -1, dtype=np.int32)  # the last place serves code -1
    place[seen] = np.arange(len(seen))
    occurring = tuple(labels[k] for k in seen)
    return place[code], occurring


def _index_of(labels: Sequence[str], label: str, role: str) -> int:
    try:
        return labels.index(label)
    except ValueError:
        hint = did_you_mean(label, labels)
        raise KeyError(f"{role} {shown_value(label)} is not in the log{hint}") from None
