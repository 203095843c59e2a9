"""The log itself: one orientation, whatever the labels, the order of rows, the rule for ties."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesduel as bd
from bayesduel.data.duels import Duels
from bayesduel.data.votes import Cells, cells_of, distinct

VOTES = (list("abcab"), list("bcaca"), [1, 1, 0.5, 0, 0])

votes = st.lists(
    st.tuples(
        st.integers(0, 5), st.integers(0, 5), st.sampled_from([1.0, 0.0, 0.5]), st.integers(0, 3)
    ),
    min_size=1,
    max_size=40,
).filter(lambda rows: any(i != j and w for i, j, _, w in rows))


def test_distinct_rows_are_those_of_numpy():
    rng = np.random.default_rng(3)
    wide = rng.choice([-(2**62), 5, 2**61], 200), rng.choice([0, 2**60], 200)
    for columns in (rng.integers(-3, 4, (3, 200)), wide, np.empty((2, 0), dtype=np.int64)):
        first, place = distinct(*columns)
        rows, seen, of = np.unique(
            np.stack(columns), axis=1, return_index=True, return_inverse=True
        )
        np.testing.assert_array_equal(first, seen)
        np.testing.assert_array_equal(place, of.ravel())
        assert first.shape == rows.shape[1:]


def build(rows, relabel=str, **options) -> Duels:
    left, right, outcome, weight = zip(*rows, strict=True)
    return Duels.from_votes(
        [relabel(i) for i in left], [relabel(j) for j in right], outcome, weight=weight, **options
    )


def test_wins_i_j_is_times_i_beat_j():
    wins, ties = Duels.from_votes(*VOTES).tally()
    assert wins.tolist() == [[0, 2, 0], [0, 0, 1], [1, 0, 0]]
    assert ties.tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(votes)
def test_tally_is_a_plain_count(rows):
    duels = build(rows)
    place = {label: k for k, label in enumerate(duels.arms)}
    wins, ties = np.zeros((2, duels.n_arms, duels.n_arms))
    for i, j, outcome, weight in rows:
        i, j = place[str(i)], place[str(j)]
        if i == j:
            continue
        wins[i, j] += weight * (outcome == 1)
        wins[j, i] += weight * (outcome == 0)
        ties[i, j] += weight * (outcome == 0.5)
        ties[j, i] += weight * (outcome == 0.5)
    assert np.array_equal(duels.tally().wins, wins)
    assert np.array_equal(duels.tally().ties, ties)
    assert np.array_equal(duels.tally("half").wins, wins + ties / 2)
    assert duels.n_duels == wins.sum() + ties.sum() / 2
    pairs = duels.pairs()
    assert (pairs.first < pairs.second).all()
    assert np.array_equal(wins[pairs.first, pairs.second], pairs.first_wins)
    assert np.array_equal(wins[pairs.second, pairs.first], pairs.second_wins)
    assert np.array_equal(ties[pairs.first, pairs.second], pairs.ties)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(votes, st.permutations(range(6)))
def test_relabelling_commutes_with_tallying(rows, order):
    one = build(rows, relabel=lambda i: f"arm {i}")
    other = build(rows, relabel=lambda i: f"arm {order[i]}")
    back = {f"arm {order[i]}": f"arm {i}" for i in range(6)}
    place = [one.arms.index(back[label]) for label in other.arms]
    assert np.array_equal(other.tally().wins, one.tally().wins[np.ix_(place, place)])


@settings(max_examples=40, deadline=None, derandomize=True)
@given(votes)
def test_swapping_sides_and_outcomes_changes_nothing_but_the_order(rows):
    one = build(rows)
    other = build([(j, i, 1 - outcome, weight) for i, j, outcome, weight in rows])
    for mine, theirs in zip(one.tally(), other.tally(), strict=True):
        assert np.array_equal(mine, theirs)
    assert one.cells.left_wins.sum() == other.cells.right_wins.sum()


@settings(max_examples=40, deadline=None, derandomize=True)
@given(votes, st.randoms(use_true_random=False))
def test_order_and_weights_do_not_matter_to_tallies(rows, shuffler):
    repeated = [(i, j, o, 1) for i, j, o, weight in rows for _ in range(weight)]
    repeated += [(i, j, o, 0) for i, j, o, weight in rows if not weight]
    shuffler.shuffle(repeated)
    for mine, theirs in zip(build(rows).cells, build(repeated).cells, strict=True):
        assert np.array_equal(mine, theirs)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(votes)
def test_votes_and_a_matrix_make_the_same_log(rows):
    one = build(rows)
    other = Duels.from_wins(one.tally().wins, one.arms, ties=one.tally().ties)
    for mine, theirs in zip(one.tally(), other.tally(), strict=True):
        assert np.array_equal(mine, theirs)


def test_both_ways_of_counting_cells_agree():
    rng = np.random.default_rng(0)
    duels = Duels.from_votes(
        rng.integers(0, 9, 60), rng.integers(0, 9, 60), rng.choice([0, 0.5, 1], 60), judge="x" * 60
    )
    few = cells_of(duels.votes, 9)  # K^2 is below 4 n: counted
    sparse = cells_of(duels.votes, 900)  # above it: sorted
    assert all(np.array_equal(x, y) for x, y in zip(few, sparse, strict=True))


@pytest.mark.parametrize(
    ("left", "right", "arms"),
    [
        ([1.0, 2.0], [2, 1], ("1", "2")),  # floats that are all whole beside whole numbers
        ([3, 1], [1.0, 2.0], ("1", "2", "3")),
        ([1.0, 1.5], [2, 1], ("1", "1.0", "1.5", "2")),
        ([1.0, 2.0], [2.0, 1.0], ("1.0", "2.0")),
        ([1.0, 2.0], [2.0, 2.5], ("1.0", "2.0", "2.5")),
        (["1.0", "1"], ["2", "2"], ("1", "1.0", "2")),
        (["1.0", "2.0"], ["2", "1"], ("1", "2")),
        ([True, False], [2, 3], ("2", "3", "false", "true")),
    ],
)
def test_labels_are_those_of_reading(left, right, arms):
    assert Duels.from_votes(left, right, [1, 0]).arms == arms
    frame = pd.DataFrame({"left": left, "right": right, "outcome": ["left", "right"]})
    assert bd.read_duels(frame).arms == arms


def test_from_wins_sorts_labels_and_keeps_the_matrix_with_them():
    duels = Duels.from_wins([[0, 3], [1, 0]], ["z", "a"], ties=[[0, 2], [2, 0]])
    assert duels.arms == ("a", "z")
    assert duels.tally().wins.tolist() == [[0, 1], [3, 0]]
    assert (duels.n_duels, duels.n_ties, len(duels)) == (6, 2, 6)


@pytest.mark.parametrize(
    ("rule", "n_duels", "wins", "ties"), [("keep", 5, 2, 1), ("half", 5, 2, 0), ("drop", 4, 2, 0)]
)
def test_rules_for_ties(rule, n_duels, wins, ties):
    duels = Duels.from_votes(*VOTES, tie_rule=rule)
    tally = duels.tally()
    assert duels.n_duels == n_duels
    assert tally.wins[0, 1] == wins
    assert tally.wins[0, 2] == (0.5 if rule == "half" else 0)
    assert tally.ties[0, 2] == ties
    assert duels.read_summary.n_ties_dropped == (rule == "drop")


def test_self_duels_and_zero_weights_are_left_out_and_counted():
    duels = Duels.from_votes(list("aab"), list("bab"), [1, 1, 0.5], weight=[2, 3, 4])
    assert (duels.n_duels, duels.read_summary.n_self_duels) == (2, 7)
    duels = Duels.from_votes(list("ab"), list("ba"), [1, 1], weight=[1, 0])
    assert (duels.n_duels, duels.read_summary.n_zero_weight) == (1, 1)


def test_summary_by_hand():
    table = Duels.from_votes(*VOTES).summary()
    assert list(table.index) == ["a", "c", "b"]
    assert table.loc["a"].to_dict() == {
        "duels": 4, "wins": 2, "losses": 1, "ties": 1, "opponents": 2, "win_share": 2.5 / 4,
    }  # fmt: skip


def test_components_largest_first():
    duels = Duels.from_votes(list("xabq"), list("ybcp"), [1, 1, 1, 1])
    assert bd.components(duels) == [("a", "b", "c"), ("p", "q"), ("x", "y")]
    alone = Duels.from_votes(["a"], ["b"], [1], arms=["a", "b", "c"])
    assert bd.components(alone) == [("a", "b"), ("c",)]


def units() -> Duels:
    return Duels.from_votes(
        *VOTES, judge=["x", "y", "x", "z", None], group=list("21121"), margin=[1, 1, 0, -1, -2],
        time=np.arange(5.0),
    )  # fmt: skip


def test_subset_by_arms():
    part = units().subset(["a", "c"])
    assert part.arms == ("a", "c")
    assert part.tally().wins.tolist() == [[0, 0], [1, 0]]
    assert part.votes.judges == ("x", "z")
    assert part.votes.judge.tolist() == [0, 1]
    assert part.votes.margin.tolist() == [0, -1]


def test_subset_by_judges_and_groups_keeps_only_their_labels():
    part = units().subset(judges=["x", "z"])
    assert part.votes.judges == ("x", "z")
    assert part.votes.judge.tolist() == [0, 0, 1]
    assert part.votes.groups == ("1", "2")
    part = units().subset(judges=["y", "z"], groups=["2"])
    assert (part.arms, part.votes.judges, part.votes.groups) == (("a", "c"), ("z",), ("2",))
    assert part.n_duels == 1


def test_subset_of_what_is_not_there():
    with pytest.raises(KeyError, match="arm 'q' is not in the log"):
        units().subset(["a", "q"])
    with pytest.raises(KeyError, match="judge 'q' is not in the log"):
        units().subset(judges=["q"])
    with pytest.raises(ValueError, match="judges should be None for a log without a col"):
        Duels.from_votes(*VOTES).subset(judges=["x"])
    with pytest.raises(ValueError, match="at least two arms"):
        units().subset(["a"])
    with pytest.raises(ValueError, match="at least one duel"):
        Duels.from_votes(list("abc"), list("cca"), [1, 1, 1]).subset(["a", "b"])


def test_words():
    duels = units()
    assert repr(duels) == (
        "<Duels: 5 duels, 3 arms, 1 ties, 3 judges, 2 groups, margin, time; from memory>"
    )
    assert "<table" in duels._repr_html_()


def test_tallies_cannot_be_written_to():
    duels = Duels.from_votes(*VOTES)
    with pytest.raises(ValueError, match="read-only"):
        duels.cells.left_wins[0] = 7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"right": list("bc")}, "right should have length 5 like outcome, got 2"),
        ({"outcome": [1, 2, 1, 1, 1]}, "outcome should be 0, 0.5, 1 or between, got 2.0 at row 1"),
        ({"left": ["a", None, "b", "c", "a"]}, "left should name an arm .* got None at row 1"),
        ({"left": ["a", float("nan"), "b", "c", "a"]}, "left should name an arm .* at row 1"),
        ({"weight": [1, 1, 0.5, 1, 1]}, "weight should be a whole number .* got 0.5 at row 2"),
        ({"weight": [1, -1, 1, 1, 1]}, "weight should be a whole number .* got -1.0 at row 1"),
        ({"weight": [1, np.inf, 1, 1, 1]}, "weight should be a whole number .* got inf at row 1"),
        ({"margin": [1, np.nan, 1, 1, 1]}, "margin should be a finite number .* got nan at row 1"),
        ({"margin": [1]}, "margin should have length 5 like outcome, got 1"),
        ({"judge": ["x"]}, "judge should have length 5 like outcome, got 1"),
        ({"time": np.arange(3)}, "time should have length 5 like outcome, got 3"),
        ({"arms": ["a", "b"]}, r"arms should contain every arm of the log, got none of \['c'\]"),
        ({"tie_rule": "third"}, "tie_rule should be 'keep', 'half' or 'drop', got 'third'"),
    ],
)
def test_bad_votes(change, message):
    arguments = {"left": VOTES[0], "right": VOTES[1], "outcome": VOTES[2]} | change
    with pytest.raises(ValueError, match=message):
        Duels.from_votes(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"wins": [1, 2]}, r"wins should be a square matrix, got shape \(2,\)"),
        ({"wins": [[0, -1], [0, 0]]}, "wins should contain whole numbers >= 0, got -1.0"),
        ({"wins": [[0, 0.5], [0, 0]]}, "wins should contain whole numbers >= 0, got 0.5"),
        ({"wins": [[0, np.nan], [0, 0]]}, "wins should contain whole numbers >= 0, got nan"),
        ({"wins": [[1, 1], [0, 0]]}, "wins should have a diagonal of 0"),
        ({"wins": [[0, 1], [0, 0]], "ties": [[0, 1], [0, 0]]}, "ties should be symmetric, got 1.0"),
        ({"wins": [[0, 1], [0, 0]], "ties": [[0]]}, r"ties should have shape \(2, 2\)"),
        ({"wins": [[0, 1], [0, 0]], "arms": ["a"]}, "arms should have 2 labels, got 1"),
        ({"wins": [[0, 1], [0, 0]], "arms": ["a", "a"]}, r"distinct labels, got repeated \['a'\]"),
        ({"wins": [[0]]}, "at least two arms"),
        ({"wins": [[0, 0], [0, 0]]}, "at least one duel"),
    ],
)
def test_bad_matrices(arguments, message):
    with pytest.raises(ValueError, match=message):
        Duels.from_wins(**arguments)


def test_a_log_needs_arms_and_cells():
    cells = Cells(*(np.array([k]) for k in (0, 1, 1, 0, 0)))
    assert Duels(arms=("a", "b"), cells=cells).n_duels == 1
    with pytest.raises(ValueError, match="at least two arms"):
        Duels(arms=("a",), cells=cells)
