"""Majority votes of the units of a log: the votes on one pair by one judge, or in one group.

Votes within a unit are not independent. A method that needs independent observations takes the
majority of each unit as one.
"""

from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesduel.data.votes import distinct

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["REPEATED", "one_verdict_per_unit", "repeated_role"]

REPEATED = 0.01  # share of votes that repeat their unit, from which dependence matters


def repeated_role(duels: "Duels") -> Literal["group", "judge"] | None:
    """Return the role, group before judge, that has several votes on one pair often, or None.

    Often: at least 1 % of its votes are not the first of their pair and group (or judge). Fewer
    repeats change no result, and are counted as independent. Ties are not counted. A role with a
    single label (a log of one judge) does not count: its effect cannot be separated from that of
    the arms.
    """
    roles: tuple[Literal["group", "judge"], ...] = ("group", "judge")
    for role in roles:
        if duels.votes is None or getattr(duels.votes, role) is None:
            continue
        pair, unit, _ = _by_unit(duels, role)
        weight = duels.votes.weight[duels.votes.outcome != 0]
        _, place = distinct(pair, unit)
        several = len(np.unique(unit)) > 1
        votes = np.bincount(place, weight * (unit >= 0))
        repeats = np.maximum(votes - 1, 0).sum()
        if several and repeats > 0 and repeats >= REPEATED * votes.sum():
            return role
    return None


def one_verdict_per_unit(duels: "Duels", role: Literal["group", "judge"]) -> "Duels":
    """Return the log with one duel for each pair and group (or judge): the majority vote.

    Ties are not counted; a unit with as many votes for either arm has no duel; a vote without a
    group (or judge) is a unit of its own.

    Raises
    ------
    ValueError
        If the log has no groups (or judges), or if no unit has a majority.
    """
    from bayesduel.data.duels import Duels

    pair, unit, points = _by_unit(duels, role)
    first, place = distinct(pair, unit)
    majority = np.sign(np.bincount(place, points))
    low, high = np.divmod(pair[first], duels.n_arms)
    wins = np.zeros((duels.n_arms, duels.n_arms))
    np.add.at(wins, (low, high), majority > 0)
    np.add.at(wins, (high, low), majority < 0)
    if not wins.any():
        raise ValueError(f"some pair and {role} should have a majority, got equal votes only")
    return Duels.from_wins(wins, duels.arms)


def _by_unit(duels: "Duels", role: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pair, unit and weighted outcome for the lower arm of each vote that is not a tie."""
    votes = duels.votes
    code = None if votes is None else getattr(votes, role)
    if votes is None or code is None:
        raise ValueError(f"duels should have a {role} for each vote, got a log without {role}s")
    low, high = np.minimum(votes.left, votes.right), np.maximum(votes.left, votes.right)
    pair = low.astype(np.int64) * duels.n_arms + high
    unit = np.where(code >= 0, code, -1 - np.arange(len(votes)))  # without one: its own unit
    points = np.where(votes.left == low, 1, -1) * votes.outcome * votes.weight
    kept = votes.outcome != 0
    return pair[kept], unit[kept].astype(np.int64), points[kept].astype(float)
