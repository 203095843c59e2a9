"""Raw counts and winners by counting."""

import numpy as np
import pytest

import bayesduel as bd

WINS = np.array([[0, 6, 1], [2, 0, 5], [3, 5, 0]])
TIES = np.array([[0, 2, 0], [2, 0, 0], [0, 0, 0]])


@pytest.fixture(scope="module")
def duels():
    return bd.Duels.from_wins(WINS, ["a", "b", "c"], ties=TIES)


def test_head_to_head_by_hand(duels):
    rows = bd.head_to_head(duels).set_index(["first", "second"])
    assert rows.index[:2].tolist() == [("a", "b"), ("b", "c")]
    ab = rows.loc[("a", "b")]
    assert (ab["duels"], ab["first_wins"], ab["ties"], ab["second_wins"]) == (10, 6, 2, 2)
    assert ab["share"] == 0.7
    assert ab["share_lower"] < 0.7 < ab["share_upper"]


def test_winners_by_counting(duels):
    """a beats b, c beats a, b and c are level: c has 1.5 of 2, and no arm beats every other."""
    table = bd.raw_winners(duels)
    assert table["copeland"].to_dict() == {"c": 0.75, "a": 0.5, "b": 0.25}
    assert table.loc["a", ["beaten", "level", "lost_to"]].tolist() == [1, 0, 1]
    assert table.loc["a", "borda"] == pytest.approx((0.7 + 0.25) / 2)
    assert table.attrs["condorcet"] is None
    assert table.attrs["copeland"] == table.attrs["borda"] == ["c"]


def test_a_condorcet_winner_has_met_and_beaten_all():
    assert bd.raw_winners(bd.Duels.from_wins([[0, 2, 2], [1, 0, 1], [1, 0, 0]])).attrs[
        "condorcet"
    ] == "0"  # fmt: skip
    unmet = bd.Duels.from_wins([[0, 2, 0], [1, 0, 1], [0, 0, 0]])
    assert bd.raw_winners(unmet).attrs["condorcet"] is None
