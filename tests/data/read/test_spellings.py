"""Outcomes, however they are spelt, read to the same tallies."""

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.read.meaning import Code
from bayesduel.data.read.outcomes import NAMES
from bayesduel.data.read.rows import Coded
from tests.support.writing import expected, same, write

SPELLINGS = {
    "words": {1.0: "left", 0.0: "right", 0.5: "tie"},
    "capitals and spaces": {1.0: " LEFT ", 0.0: "Right", 0.5: "Tie"},
    "draw": {1.0: "left", 0.0: "right", 0.5: "draw"},
    "equal": {1.0: "left", 0.0: "right", 0.5: "equal"},
    "both": {1.0: "left", 0.0: "right", 0.5: "both"},
    "neither": {1.0: "left", 0.0: "right", 0.5: "neither"},
    "numbers": {1.0: "1", 0.0: "0", 0.5: "0.5"},
    "numbers as floats": {1.0: "1.0", 0.0: "0.0", 0.5: "0.50"},
    "signs": {1.0: "1", 0.0: "-1", 0.5: "0"},
    "places": {1.0: "1", 0.0: "2", 0.5: "tie"},
    "1X2": {1.0: "1", 0.0: "2", 0.5: "X"},
    "arena": {1.0: "model_a", 0.0: "model_b", 0.5: "tie"},
    "arena, both bad": {1.0: "model_a", 0.0: "model_b", 0.5: "tie (bothbad)"},
    "home and away": {1.0: "H", 0.0: "A", 0.5: "D"},
    "win and loss": {1.0: "W", 0.0: "L", 0.5: "D"},
    "chess": {1.0: "1-0", 0.0: "0-1", 0.5: "1/2-1/2"},
    "true and false": {1.0: "True", 0.0: "False", 0.5: "tie"},
    "the winner": {1.0: "{0}", 0.0: "{1}", 0.5: "tie"},
    "the winner in capitals": {1.0: "{0}", 0.0: "{1}", 0.5: "DRAW"},
    "the columns": {1.0: "left", 0.0: "right", 0.5: "="},
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.sampled(3)
def test_spellings_of_outcomes(tmp_path, spelling):
    path = write(tmp_path / "log.csv", "left,right,outcome", SPELLINGS[spelling])
    duels = bd.read_duels(path)
    assert same(duels, expected())
    assert duels.read_summary.n_both_bad == ("bad" in spelling)


def test_a_and_b_where_arms_have_other_names(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\nx,y,a\nx,y,b\nx,z,A\n")
    assert bd.read_duels(path).tally().wins[0].tolist() == [0, 1, 1]


def test_the_names_of_the_columns_are_outcomes(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("Old text,new_text,said\nx,y,old text\nx,y,New Text\nx,z,OLDTEXT\n")
    duels = bd.read_duels(path, left="Old text", right="new_text", outcome="said")
    assert duels.tally().wins.tolist() == [[0, 1, 1], [1, 0, 0], [0, 0, 0]]


def test_a_row_without_an_arm_is_not_won_by_it():
    """Texts are numbered with the outcomes first; a missing arm has the number of none."""

    def column(values, code):
        return Coded(values, np.array(code, dtype=np.int32))

    left, right = column(["x", "y"], [0, -1]), column(["y", "z"], [0, 1])
    outcome = column(["y", "tie", "x"], [0, 2])
    assert NAMES.read(left, right, outcome).tolist() == [-1, Code.UNREADABLE]


def test_numbers_are_names_where_only_names_fit(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\n7,8,7\n8,9,9\n1,7,1\n")
    duels = bd.read_duels(path)
    assert duels.arms == ("1", "7", "8", "9")
    assert duels.tally().wins[0, 1] == duels.tally().wins[1, 2] == duels.tally().wins[3, 2] == 1


def test_numbers_that_could_be_names_are_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\n1,2,1\n2,1,1\n2,1,2\n")
    with pytest.raises(ValueError, match="can be a side or an arm"):
        bd.read_duels(path)


def test_numbers_that_agree_with_names_are_not(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\n1,2,1\n1,2,2\n1,2,2\n")
    assert bd.read_duels(path).tally().wins.tolist() == [[0, 1], [2, 0]]


def test_zero_one_two_is_ambiguous(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\na,b,0\na,b,1\na,b,2\na,c,1\n")
    with pytest.raises(ValueError, match="column 'outcome': '0' can mean tie or left"):
        bd.read_duels(path)


def test_an_arm_called_draw(tmp_path):
    path = tmp_path / "log.csv"
    log = "left,right,outcome\ndraw,b,draw\n" + "b,c,c\nb,draw,b\n" * 5
    path.write_text(log)
    assert bd.read_duels(path).n_ties == 0
    path.write_text(log + "b,c,draw\n")
    with pytest.raises(ValueError, match="line 13: column 'outcome' should be the winner's name"):
        bd.read_duels(path)


# -- thresholds ----------------------------------------------------------------------------


def frame(rows):
    return pd.DataFrame(rows, columns=["left", "right", "outcome"])


def test_outcomes_are_read_where_half_of_them_are_and_refused_below():
    rows = [("x", "y", "left")] * 2 + [("x", "y", "?"), ("x", "y", "!")]
    found = bd.read_duels(frame(rows), on_bad="skip")
    assert (found.n_duels, found.read_summary.n_bad_rows) == (2, 2)
    with pytest.raises(ValueError, match="should say who won"):
        bd.read_duels(frame([*rows, ("x", "y", "?")]), on_bad="skip")


def test_sides_and_names_are_ambiguous_from_nine_in_ten():
    rows = [("b", "a", "a"), ("b", "c", "b")] + [("a", "b", "a")] * 7
    with pytest.raises(ValueError, match="'a' can be a side or an arm, where 'b' meets 'a'"):
        bd.read_duels(frame([*rows, ("c", "a", "c")]))
    read = bd.read_duels(frame([*rows[:-1], ("c", "a", "c"), ("c", "a", "c")]))
    wins = read.tally().wins
    assert wins.tolist() == [[0, 7, 0], [0, 0, 1], [2, 0, 0]]


def test_a_minus_one_is_a_code_from_one_in_a_hundred_and_else_a_fault():
    rows = [("x", "y", 1)] * 3 + [("x", "y", 0)] * 99 + [("x", "y", -1)]
    read = bd.read_duels(frame(rows))
    assert (read.n_ties, read.n_duels) == (99, 103)
    read = bd.read_duels(frame([*rows, ("x", "y", 0)]), on_bad="skip")
    assert (read.n_ties, read.n_duels, read.read_summary.n_bad_rows) == (0, 103, 1)


def test_times_are_numbers_where_more_than_half_of_them_are():
    log = frame([("x", "y", "left")] * 4).assign(time=["1", "2", "2024-01-01", "2024-01-02"])
    assert bd.read_duels(log, on_bad="skip").votes.time.dtype.kind == "M"
    log.loc[2, "time"] = "3"
    assert bd.read_duels(log, on_bad="skip").votes.time.tolist() == [1.0, 2.0, 3.0]


def test_the_longest_label_is_of_ten_thousand_characters():
    assert bd.read_duels(frame([("x" * 10_000, "y", "left")])).n_duels == 1
    with pytest.raises(ValueError, match="at most 10,000 characters"):
        bd.read_duels(frame([("x" * 10_001, "y", "left")]))
