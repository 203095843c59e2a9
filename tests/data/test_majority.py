"""Units of a log: one verdict for all votes on a pair by one judge or in one group."""

import numpy as np
import pytest

from bayesduel.data.duels import Duels
from bayesduel.data.majority import one_verdict_per_unit, repeated_role


def test_one_verdict_a_unit_by_hand():
    duels = Duels.from_votes(
        left=[*"aaabbcaac"],
        right=[*"bbbaaabcb"],
        outcome=[1, 1, 0, 1, 0.5, 1, 1, 0, 0],
        group=["x", "x", "x", "y", "y", "x", None, "z", "z"],
        weight=[1, 1, 1, 2, 1, 1, 3, 1, 1],
    )
    assert repeated_role(duels) == "group"
    wins, ties = one_verdict_per_unit(duels, "group").tally()
    # ab: x says a (2:1), y says b, the vote without a group says a; ac: x says c (c won), z says c;
    # bc: z says b.
    np.testing.assert_array_equal(wins, [[0, 2, 0], [1, 0, 1], [2, 0, 0]])
    assert not ties.any()


def test_level_units_give_no_verdict():
    duels = Duels.from_votes([*"aaa"], [*"bbb"], [1, 0, 1], judge=["x", "x", "y"])
    assert one_verdict_per_unit(duels, "judge").n_duels == 1
    level = Duels.from_votes([*"aa"], [*"bb"], [1, 0], judge=["x", "x"])
    with pytest.raises(ValueError, match="some pair and judge should have a majority"):
        one_verdict_per_unit(level, "judge")
    with pytest.raises(ValueError, match="duels should name the group of each vote"):
        one_verdict_per_unit(level, "group")


def test_which_role_repeats():
    once = Duels.from_votes([*"aab"], [*"bcc"], [1, 0, 1], judge=[*"xxx"], group=[*"123"])
    assert repeated_role(once) is None
    by_judge = Duels.from_votes([*"aab"], [*"bbc"], [1, 0, 1], judge=[*"xxy"], group=[*"123"])
    assert repeated_role(by_judge) == "judge"
    alone = Duels.from_votes([*"aab"], [*"bbc"], [1, 0, 1], judge=[*"xxx"])
    assert repeated_role(alone) is None  # one judge is the whole log, not a unit of it
    weighted = Duels.from_votes([*"aab"], [*"bcc"], [1, 0, 1], judge=[*"xxy"], weight=[2, 1, 1])
    assert repeated_role(weighted) == "judge"
    ties = Duels.from_votes([*"aab"], [*"bbc"], [1, 0.5, 1], judge=[*"xxx"])
    assert repeated_role(ties) is None  # a tie does not vote
    assert repeated_role(Duels.from_wins([[0, 9], [9, 0]])) is None
