"""Logs in the shapes people have: tuples, dictionaries, counts by pair, matrices, several files."""

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.read.reading_options import READING
from bayesduel.data.read.shapes import SHAPES

WINS = np.array([[0, 3, 2], [1, 0, 4], [0, 2, 0]])
PAIRS = [(i, j) for i in range(3) for j in range(3) for _ in range(WINS[i, j])]
ARMS = "abc"


def assert_same(log, arms=ARMS):
    assert log.arms == tuple(arms)
    np.testing.assert_array_equal(log.tally().wins, WINS)


def test_lists_of_tuples_and_dictionaries():
    assert_same(bd.read_duels([(ARMS[i], ARMS[j]) for i, j in PAIRS]))
    assert_same(bd.read_duels([(ARMS[j], ARMS[i], "right") for i, j in PAIRS]))
    assert_same(bd.read_duels([{"winner": ARMS[i], "loser": ARMS[j]} for i, j in PAIRS]))
    left, right = zip(*PAIRS, strict=True)
    named = {"chosen": [ARMS[i] for i in left], "rejected": [ARMS[j] for j in right]}
    assert_same(bd.read_duels(named))
    assert_same(bd.read_duels([list(row) for row in PAIRS]), "012")
    assert_same(bd.read_duels(PAIRS), "012")


@pytest.mark.parametrize(
    ("log", "wins"),
    [
        ([(0, 3), (2, 0)], [[0, 0, 1], [1, 0, 0], [0, 0, 0]]),
        ([(0, 3), (3, 0)], [[0, 1], [1, 0]]),
        ([(0, 3), (2, 0), (2, 3)], [[0, 0, 1], [1, 0, 1], [0, 0, 0]]),
        ([(0, 1, 0), (2, 0, 1), (1, 2, 0)], [[0, 0, 0], [1, 0, 0], [1, 1, 0]]),
        ([[1, 2], [2, 3]], [[0, 1, 0], [0, 0, 1], [0, 0, 0]]),
    ],
)
def test_tuples_of_numbers_are_a_log_whatever_their_number(log, wins):
    assert bd.read_duels(log).tally().wins.tolist() == wins


@pytest.mark.parametrize("n", [2, 3, 4])
def test_lists_that_may_be_a_log_or_a_matrix_are_refused_with_both_readings(n):
    wins = (1 - np.eye(n, dtype=int)).tolist()
    with pytest.raises(ValueError, match=r"tuples.* array or Duels.from_wins"):
        bd.read_duels(wins)
    assert bd.read_duels(np.array(wins)).n_duels == bd.Duels.from_wins(wins).n_duels == n * (n - 1)


def test_a_frame_whose_columns_are_named_is_a_log():
    frame = pd.DataFrame([(0, 3), (2, 0)], index=["a", "b"], columns=["a", "b"])
    assert bd.read_duels(frame).tally().wins.tolist() == [[0, 3], [2, 0]]
    log = bd.read_duels(frame, left="a", right="b", outcome=False)
    assert log.arms == ("0", "2", "3")
    text = pd.DataFrame({"winner": ["x", "y"], "loser": ["y", "z"]}, index=["winner", "loser"])
    assert bd.read_duels(text).n_duels == 2


def test_a_list_of_neither_is_refused():
    with pytest.raises(ValueError, match="a list should hold tuples"):
        bd.read_duels([("a", "b"), ("a",)])
    with pytest.raises(ValueError, match="columns should have the same length"):
        bd.read_duels({"left": ["a"], "right": []})


def test_counts_of_wins_by_pair(tmp_path):
    rows = [("a", "b", 3, 1, 2), ("c", "a", 0, 2, 0), ("b", "c", 4, 2, 1)]
    path = tmp_path / "log.csv"
    pd.DataFrame(rows, columns=["a", "b", "wins_a", "wins_b", "ties"]).to_csv(path, index=False)
    log = bd.read_duels(path)
    assert_same(log)
    assert log.n_ties == 3
    not_0 = 7  # of the counts, each a row
    assert (log.read_summary.n_rows, log.read_summary.n_zero_weight) == (not_0, 0)
    assert bd.read_duels(path, ties="drop").n_ties == 0
    frame = pd.DataFrame(rows, columns=["player1", "player2", "wins1", "wins2", "draws"])
    assert_same(bd.read_duels(frame))
    frame.loc[1, "wins2"] = -1
    with pytest.raises(ValueError, match="column 'wins2' should be a whole number of wins"):
        bd.read_duels(frame)


def test_square_matrices_of_wins(tmp_path):
    assert_same(bd.read_duels(WINS), "012")
    assert_same(bd.Duels.from_wins(WINS.tolist()), "012")
    frame = pd.DataFrame(WINS, index=list(ARMS), columns=list(ARMS))
    assert_same(bd.read_duels(frame))
    assert_same(bd.read_duels(frame.loc[list("bca"), list("cab")]))
    frame.to_csv(tmp_path / "wins.csv")
    assert_same(bd.read_duels(tmp_path / "wins.csv"))
    two = pd.DataFrame([[0, 3], [1, 0]], index=["a", "b"], columns=["a", "b"])
    two.to_csv(tmp_path / "two.csv")
    assert bd.read_duels(tmp_path / "two.csv").tally().wins.tolist() == [[0, 3], [1, 0]]
    with pytest.raises(ValueError, match="wins should be a square matrix, got shape"):
        bd.read_duels(WINS[:2])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_several_files_are_one_log(tmp_path, capsys, suffix):
    """Columns in another order, and one that only one file has."""
    whole = pd.DataFrame([(ARMS[i], ARMS[j], "left") for i, j in PAIRS],
                         columns=["left", "right", "outcome"])  # fmt: skip
    parts = whole[:5], whole[5:][["outcome", "right", "left"]].assign(note="x")
    paths = [tmp_path / f"{k}.{suffix}" for k in "12"]
    for part, path in zip(parts, paths, strict=True):
        write = part.to_csv if suffix == "csv" else part.to_parquet
        write(path, index=False)
    assert_same(bd.read_duels(paths))
    assert "'note': not in every file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([{"winner": "a", "loser": "b"}, {"winner": "b", "loser": "c"}], "a list of dictionaries"),
        ([("a", "b"), ("b", "c")], "a list of tuples"),
        ({"winner": ["a", "b"], "loser": ["b", "c"]}, "a dictionary of columns"),
    ],
)
def test_lists_and_dictionaries_are_called_what_they_are(given, words, capsys):
    assert bd.read_duels(given).read_summary.source == words
    assert f"read {words}: left=winner" in capsys.readouterr().err


RECORDS = ["wins,losses,draws", "W,L,D", "w,l,t", "won,lost,drawn", "victories,defeats,ties"]


@pytest.mark.parametrize("drawn", [True, False])
@pytest.mark.parametrize("names", RECORDS)
@pytest.mark.parametrize("arms", ["player,opponent", "team,opponent"])
@pytest.mark.sampled(3)
def test_wins_and_losses_are_counts_of_a_pair(arms, names, drawn, tmp_path):
    rows = [("ann", "bob", 3, 1, 0), ("bob", "cid", 2, 2, 1), ("cid", "ann", 0, 4, 2)]
    n_columns = 5 if drawn else 4
    header = f"{arms},{names}".split(",")
    lines = [",".join(map(str, row[:n_columns])) for row in [header, *rows]]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    log = bd.read_duels(path)
    wins = np.zeros((3, 3))
    order = log.arms
    for left, right, won, lost, _ in rows:
        wins[order.index(left), order.index(right)] += won
        wins[order.index(right), order.index(left)] += lost
    ties = 3 if drawn else 0
    assert log.n_ties == ties
    np.testing.assert_array_equal(bd.read_duels(path, ties="drop").tally().wins, wins)
    assert log.n_duels == 12 + ties


def test_counts_from_both_sides_are_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("player,opponent,wins,losses\nann,bob,3,1\nbob,ann,1,3\n")
    with pytest.raises(ValueError, match="second time from the other side"):
        bd.read_duels(path)
    assert bd.read_duels(path, where='"player" < "opponent"').n_duels == 4
    path.write_text("player,opponent,wins,losses\nann,bob,1,0\nbob,ann,0,1\n")
    assert bd.read_duels(path).n_duels == 2  # single duels may look so by chance


@pytest.mark.parametrize("lower_is_better", [False, True])
@pytest.mark.parametrize(
    ("texts", "letters"), [(("W 3-1", "L 1-3"), True), (("W 1-3", "L 3-1"), True),
                           (("3-1", "1-3"), False)],
)  # fmt: skip
def test_a_letter_before_a_score_is_not_turned(texts, letters, lower_is_better, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(f"a,b,score\nx,y,{texts[0]}\ny,z,{texts[1]}\n")
    log = bd.read_duels(path, coding="score", lower_is_better=lower_is_better)
    turned = lower_is_better and not letters
    wins = np.zeros((3, 3))
    x_and_z_won = [("x", "y"), ("z", "y")]
    for winner, loser in x_and_z_won:
        pair = (loser, winner) if turned else (winner, loser)
        wins[log.arms.index(pair[0]), log.arms.index(pair[1])] += 1
    np.testing.assert_array_equal(log.tally().wins, wins)


JUDGED = [  # first, second, what each of two judges says
    ("ada", "bob", "ada", "bob"), ("bob", "cyd", "cyd", "tie"), ("cyd", "ada", "ada", "ada"),
    ("bob", "ada", "bob", "ada"), ("ada", "cyd", "tie", "cyd"), ("cyd", "bob", "bob", "bob"),
] * 2  # fmt: skip


@pytest.mark.parametrize("named", ["judge_1 judge_2", "ann bob", "Ana's_verdict Bob's_verdict"])
@pytest.mark.parametrize(
    "arms", ["dish_a dish_b", "sandwich_a sandwich_b", "probe1 probe2", "left right"]
)
@pytest.mark.sampled(2)
def test_columns_of_judges_stand_beside_any_pair_of_arms(arms, named):
    sides = arms.split()
    judges = named.split()
    frame = pd.DataFrame(JUDGED, columns=[*sides, *judges])
    for one in (frame, frame[[*judges, *sides]]):
        log = bd.read_duels(one, shape="judges")
        found = log.read_summary.columns
        assert (found["left"], found["right"]) == (*sides,)
        assert log.votes.judges == (*judges,)
        assert log.n_duels == 2 * len(JUDGED)
        decided = [word for row in JUDGED for word in row[2:] if word != "tie"]
        assert log.tally().wins.sum() == len(decided)


def test_the_help_of_a_shape_names_all_shapes():
    words = {*READING["shape"].metadata["words"].replace(",", " ").split()}
    assert {*SHAPES} <= words
