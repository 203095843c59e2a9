"""Majority votes of the units of a log: the votes on one pair by one judge, or in one group.

Votes within a unit are not independent. A method that needs independent observations takes the
majority of each unit as one.
"""

from typing import Literal, NamedTuple

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.votes import distinct, unordered

__all__ = ["REPEATED", "VoteUnits", "one_verdict_per_unit", "repeated_role", "units_of"]

# Share of votes that repeat their unit, from which dependence matters: of fewer, votes are worth at
# least 99 % of as many independent ones.
REPEATED = 0.01
Role = Literal["group", "judge"]


class VoteUnits(NamedTuple):
    """The votes of a log by pair and judge (or group), ties left out."""

    place: np.ndarray  # the unit of each, (votes,)
    outcome: np.ndarray  # its weighted outcome for the lower arm, (votes,)
    # its judge (or group), (votes,): a negative number of its own where it names none
    level: np.ndarray
    low: np.ndarray  # arms of each unit, (units,)
    high: np.ndarray
    # 1.0 where the lower arm was listed first in most of its votes, -1.0 second, 0.0 neither
    side: np.ndarray

    def points(self, outcome: np.ndarray) -> np.ndarray:
        """Return sums by unit, (..., units), of outcomes for the lower arm, (..., votes)."""
        from scipy import sparse  # not where a log is only read

        n_votes = len(self.place)
        places = (self.place, np.arange(n_votes))
        shape = (len(self.low), n_votes)
        by_unit = sparse.csr_array((np.ones(n_votes), places), shape=shape)
        sums = by_unit @ outcome.T
        return np.asarray(sums.T)


def repeated_role(duels: Duels) -> Role | None:
    """Return the role, group before judge, that has several votes on one pair often, or None.

    Often: at least 1 % of its votes are not the first of their pair and group (or judge). Fewer
    repeats change no result, and are counted as independent. Ties are not counted. A role with a
    single label (a log of one judge) does not count: its effect cannot be separated from that of
    the arms.
    """
    roles: tuple[Role, ...] = ("group", "judge")
    for role in roles:
        if duels.votes is None or duels.votes.level(role) is None:
            continue
        units = units_of(duels, role)
        several = len(np.unique(units.level)) > 1
        named = units.level >= 0
        votes = np.bincount(units.place, abs(units.outcome) * named)
        repeats = np.maximum(votes - 1, 0).sum()
        often = repeats >= REPEATED * votes.sum()
        if several and repeats > 0 and often:
            return role
    return None


def one_verdict_per_unit(duels: Duels, role: Role) -> Duels:
    """Return the log with one duel for each pair and group (or judge): the majority vote.

    Ties are not counted; a unit with as many votes for either arm has no duel; a vote without a
    group (or judge) is a unit of its own.

    Raises ValueError if the log has no groups (or judges), or if no unit has a majority.
    """
    units = units_of(duels, role)
    points = np.bincount(units.place, units.outcome, len(units.low))
    wins = np.zeros((duels.n_arms, duels.n_arms))
    low_won = points > 0
    high_won = points < 0
    forth = (units.low, units.high)
    back = (units.high, units.low)
    np.add.at(wins, forth, low_won)
    np.add.at(wins, back, high_won)
    if not wins.any():
        raise ValueError(f"some pair and {role} should have a majority, got equal votes only")
    return Duels.from_wins(wins, duels.arms)


def units_of(duels: Duels, role: Role) -> VoteUnits:
    """Return the votes by pair and unit of `role`; a vote that names none is a unit of its own."""
    votes = duels.votes
    found = None if votes is None else votes.level(role)
    if votes is None or found is None:
        raise ValueError(f"duels should name the {role} of each vote, got a log without {role}s")
    decisive = votes.outcome != 0
    counted = votes.weight > 0
    rows = np.flatnonzero(decisive & counted)
    left = votes.left[rows].astype(np.int64)
    right = votes.right[rows].astype(np.int64)
    low, high = unordered(left, right)
    codes, _ = found
    code = codes[rows].astype(np.int64)
    of_its_own = -1 - np.arange(len(code))
    level = np.where(code >= 0, code, of_its_own)
    one, place = distinct(low, high, level)
    listed = np.where(left == low, 1.0, -1.0)
    weight = votes.weight[rows]
    votes_of_low = listed * weight  # in which the lower arm is first, less those where it is not
    low_listed_first = np.bincount(place, votes_of_low, len(one))
    side = np.sign(low_listed_first) * duels.ordered
    outcome = listed * votes.outcome[rows] * weight
    return VoteUnits(place, outcome, level, low[one], high[one], side)
