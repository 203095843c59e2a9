"""Logs whose sides have several arms: doubles, teams, systems made of parts."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.data.teams import Teams
from bayesduel.data.votes import Cells

LEFT = [("d", "e"), ["e", "d"], ("a", "b"), ("a", "c")]
RIGHT = [("a", "b"), ("b", "a"), ("c", "d"), ("b", "d")]


@pytest.fixture
def duels():
    return bd.Duels.from_votes(LEFT, RIGHT, [1, 0, 1, 0.5])


def test_arms_are_the_members_and_order_within_a_side_is_of_no_account(duels):
    assert duels.arms == ("a", "b", "c", "d", "e")
    assert duels.sides == ("a + b", "a + c", "b + d", "c + d", "d + e")
    turned = bd.Duels.from_votes([s[::-1] for s in LEFT], [s[::-1] for s in RIGHT], [1, 0, 1, 0.5])
    assert turned.to_frame().equals(duels.to_frame())
    assert "sides of 2 arms" in repr(duels)


def test_a_side_of_one_is_an_arm_and_a_log_of_these_has_no_teams():
    alone = bd.Duels.from_votes([("a",), "b"], ["b", ["c"]], [1, 0])
    assert alone.teams is None
    assert alone.to_frame().equals(bd.Duels.from_votes(["a", "b"], ["b", "c"], [1, 0]).to_frame())
    mixed = bd.Duels.from_votes([("a", "b"), "a"], ["c", "c"], [1, 0])
    assert mixed.sides == ("a", "a + b", "c")
    assert "sides of 1 to 2 arms" in repr(mixed)


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        (
            [("a", "a")],
            ["b"],
            "left should name each member of a side once, got 'a' twice at row 0",
        ),
        ([()], [("a", "b")], "left should name an arm or several in every row, got an empty side"),
        (["c"], [("a", None)], r"right should .* got None in \['a', None\] at row 0"),
        ([("a", "b")] * 2, ["c"], "left should have length 1 like outcome, got 2"),
    ],
    ids=["twice", "empty", "missing", "length"],
)
def test_sides_that_are_none_are_refused(left, right, words):
    with pytest.raises(ValueError, match=words):
        bd.Duels.from_votes(left, right, [1])


def test_counts_are_of_members(duels):
    summary = duels.summary()
    assert summary.loc["a", ["duels", "wins", "losses", "ties"]].tolist() == [4, 2, 1, 1]
    assert summary.loc["d", ["duels", "wins", "losses", "ties", "opponents"]].tolist() == [
        *(4, 1, 2, 1, 3)
    ]
    wins = np.zeros((5, 5))
    ties = np.zeros((5, 5))
    for left, right, outcome in zip(LEFT, RIGHT, [1, 0, 1, 0.5], strict=True):
        for i in map("abcde".index, left):
            for j in map("abcde".index, right):
                wins[i, j] += outcome == 1
                wins[j, i] += outcome == 0
                ties[i, j] += outcome == 0.5
                ties[j, i] += outcome == 0.5
    tally = duels.tally()
    np.testing.assert_array_equal(tally.wins, wins)
    np.testing.assert_array_equal(tally.ties, ties)
    assert bd.raw_winners(duels)["duels"].to_dict() == summary["duels"].to_dict()
    assert bd.head_to_head(duels)["duels"].sum() == (wins + ties / 2).sum()
    assert bd.head_to_head(duels.as_sides())["duels"].tolist() == [2, 1, 1]


def test_parts_of_a_log_keep_its_sides(duels):
    some = duels.subset(["a", "b", "c", "d"])
    assert (some.n_duels, some.arms) == (2, ("a", "b", "c", "d"))
    assert some.sides == ("a + b", "a + c", "b + d", "c + d")
    first = duels[[2, 3]]
    assert (first.n_duels, first.arms, first.sides) == (2, ("a", "b", "d", "e"), ("a + b", "d + e"))
    both = first.join(bd.Duels.from_votes(["a"], ["z"], [1]))
    assert both.sides == ("a", "a + b", "d + e", "z")
    assert both.n_duels == 3
    joined = bd.Duels.from_categories({"one": duels, "two": first})
    assert joined.summary()["duels"].sum() == 4 * (4 + 2)


def test_shards_are_merged(duels):
    whole = bd.merge([duels.counted("x"), duels.counted("x"), duels[[0]].counted("y")])
    assert whole.n_duels == 5
    assert whole.sides == duels.sides
    assert whole.summary().loc["c", "duels"] == 3


def test_a_frame_holds_the_log(duels):
    frame = bd.Duels.from_votes(LEFT, RIGHT, [1, 0, 1, 0.5], judge=list("xyxy")).to_frame()
    assert frame["left"].tolist() == [("d", "e"), ("d", "e"), ("a", "b"), ("a", "c")]
    outcome = frame["outcome"].map({"left": 1.0, "right": 0.0, "tie": 0.5})
    again = bd.Duels.from_votes(frame["left"], frame["right"], outcome, judge=frame["judge"])
    assert again.to_frame().equals(frame)


def test_what_the_teams_compare_is_what_their_design_determines():
    """Two arms are comparable if the difference of their scores is in the span of the duels."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        n_arms = int(rng.integers(3, 8))
        sides = [
            tuple(rng.choice(n_arms, rng.integers(1, 3), replace=False).tolist()) for _ in range(8)
        ]
        sides = [side for k, side in enumerate(sides) if set(side) not in map(set, sides[:k])]
        pairs = [
            (i, j)
            for i in range(len(sides))
            for j in range(i)
            if not set(sides[i]) & set(sides[j]) and rng.random() < 0.4
        ]
        if not pairs:
            continue
        left, right = np.array(pairs, dtype=np.int32).T
        teams, none = Teams.of(sides), np.zeros(len(pairs), dtype=np.int64)
        found = teams.comparable(Cells(left, right, none, none, none), n_arms)
        design = np.zeros((len(pairs), n_arms))
        for row, (i, j) in enumerate(pairs):
            design[row, list(sides[i])] += 1
            design[row, list(sides[j])] -= 1
        rank = np.linalg.matrix_rank(design)
        for i in range(n_arms):
            for j in range(i):
                apart = np.eye(n_arms)[i] - np.eye(n_arms)[j]
                inside = np.linalg.matrix_rank(np.vstack([design, apart])) == rank
                assert (found[i] == found[j]) == inside


def test_partners_who_are_never_apart_are_named():
    left = [("d", "e"), ("d", "e"), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b")] * 4
    right = [("a", "b"), ("b", "c"), ("c", "f"), ("b", "f"), ("a", "f"), ("d", "e")] * 4
    duels = bd.Duels.from_votes(left, right, [1, 0, 1, 0, 1, 0] * 4)
    health = bd.health(duels)
    assert health.together == (("d", "e"),)
    assert (
        "d and e are always in one team: no duel says which of them is better." in health.warnings
    )
    assert bd.components(duels) == [("a", "b", "c", "f"), ("d",), ("e",)]
    assert "The teams do not compare arms of different groups" in health.warnings[0]


def test_maximum_likelihood_exists_unless_scores_explain_every_duel():
    rng = np.random.default_rng(0)
    pairs = [tuple("abcdef"[k] for k in rng.permutation(6)[:4]) for _ in range(60)]
    left, right = [p[:2] for p in pairs], [p[2:] for p in pairs]
    worth = dict(zip("abcdef", [3, 2.1, 1.3, 0.2, -0.7, -2], strict=True))
    sure = [
        float(sum(map(worth.get, a)) > sum(map(worth.get, b)))
        for a, b in zip(left, right, strict=True)
    ]
    assert not bd.health(bd.Duels.from_votes(left, right, sure)).strongly_connected
    noisy = np.where(rng.random(60) < 0.3, 1 - np.array(sure), sure)
    assert bd.health(bd.Duels.from_votes(left, right, noisy)).strongly_connected


def test_what_needs_one_arm_a_side_says_so(duels):
    with pytest.raises(ValueError, match="one arm a side for a replay, got sides of several"):
        bd.problems.Replay(duels)
    assert bd.problems.Replay(duels.as_sides(), never_met="half").n_arms == 5
