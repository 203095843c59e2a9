"""Columns, however they are named, take their roles; roles are told."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayesduel as bd
from bayesduel.data.read.roles import goes_on
from tests.support.writing import DUELS, WORDS, expected, same, write

HEADERS = {
    "model_a,model_b,winner": "left=model_a, right=model_b, outcome=winner",
    "player1,player2,result": "left=player1, right=player2, outcome=result",
    "Player 1,Player 2,Winner": "left=Player 1, right=Player 2, outcome=Winner",
    "home,away,ftr": "left=home, right=away, outcome=ftr",
    "HomeTeam,AwayTeam,FTR": "left=HomeTeam, right=AwayTeam, outcome=FTR",
    "item_a,item_b,choice_is,preference": "left=item_a, right=item_b, outcome=preference",
    "first,second,verdict": "left=first, right=second, outcome=verdict",
    "a,b,outcome": "left=a, right=b",
    "white,black,result": "left=white, right=black, outcome=result",
    "left,right,winner": "outcome=winner",
    "option-left,option-right,preferred": (
        "left=option-left, right=option-right, outcome=preferred"
    ),
}


@pytest.mark.parametrize("header", HEADERS)
def test_guessed_columns_are_told(tmp_path, capsys, header):
    n = header.count(",") + 1
    lines = [",".join([x, y, *["?"] * (n - 3), {1: "left", 0: "right", 0.5: "tie"}[o]])
             for x, y, o in DUELS]  # fmt: skip
    path = tmp_path / "log.csv"
    path.write_text("\n".join([header, *lines]))
    assert same(bd.read_duels(path), expected())
    assert capsys.readouterr().err == f"read {path}: {HEADERS[header]} (guessed)\n"


def test_a_further_arm_is_named_like_both():
    assert goes_on(["id", "model_c"], ("model_a", "model_b"))
    assert not goes_on(["id", "outcome"], ("model_a", "model_b"))
    assert not goes_on(["id", "outcome"], ("team", "opponent_team"))  # one name ends with the other


def test_nothing_is_told_where_nothing_is_guessed(tmp_path, capsys):
    path = write(tmp_path / "log.csv", "left,right,outcome", WORDS)
    assert bd.read_duels(path).read_summary.guessed == ()
    assert capsys.readouterr().err == ""


def test_winner_and_loser(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("winner,loser\na,b\na,c\nc,b\n")
    duels = bd.read_duels(path)
    assert duels.summary()["wins"].to_dict() == {"a": 2, "c": 1, "b": 0}
    assert "left=winner, right=loser (guessed)" in capsys.readouterr().err
    assert same(duels, bd.read_duels(path, left="winner", right="loser", outcome=False))


def test_scores_say_who_won(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("home,away,home_score,away_score\na,b,3,1\na,b,2,2\nb,a,0,4.5\n")
    duels = bd.read_duels(path)
    assert duels.tally().wins.tolist() == [[0, 2], [0, 0]]
    assert duels.n_ties == 1
    assert duels.votes.margin.tolist() == [2, 0, -4.5]
    assert duels.read_summary.columns["margin"] == "home_score - away_score"
    assert "margin=home_score - away_score (guessed)" in capsys.readouterr().err


def test_a_margin_says_who_won_and_is_kept_beside_an_outcome(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,margin\na,b,3\na,b,0\nb,a,-1e1\n")
    assert bd.read_duels(path).tally().wins.tolist() == [[0, 2], [0, 0]]
    path.write_text("left,right,outcome,diff\na,b,left,0\nb,a,tie,0\nb,a,right,-2\n")
    duels = bd.read_duels(path, margin="diff")  # a decisive duel may end level: a shoot-out
    assert duels.votes.margin.tolist() == [0, 0, -2]
    assert duels.votes.outcome.tolist() == [1, 0, -1]


def test_roles_can_be_given_or_switched_off(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("x,y,who,annotator,prompt,score_x,when\na,b,x,j1,p,1,2024-01-01\n")
    duels = bd.read_duels(path, left="x", right="y", outcome="who", time="when")
    assert duels.read_summary.columns == {
        "left": "x", "right": "y", "outcome": "who", "judge": "annotator", "group": "prompt",
        "time": "when",
    }  # fmt: skip
    assert duels.votes.judges == ("j1",)
    assert duels.votes.time.tolist() == [np.datetime64("2024-01-01", "us").item()]
    plain = bd.read_duels(path, left="x", right="y", outcome="who", judge=False, group=False)
    assert plain.votes is None


@pytest.mark.parametrize("name", ["annotator", "rater", "user", "judge", "worker_id", "Voter"])
def test_names_of_judges(tmp_path, name):
    path = tmp_path / "log.csv"
    path.write_text(f"left,right,outcome,{name}\na,b,left,x\na,b,right,\na,b,left, x \n")
    votes = bd.read_duels(path).votes
    assert votes.judges == ("x",)
    assert votes.judge.tolist() == [0, -1, 0]


@pytest.mark.parametrize("name", ["context", "prompt", "query", "question_id", "list", "group"])
def test_names_of_groups(tmp_path, name):
    path = tmp_path / "log.csv"
    path.write_text(f"left,right,outcome,{name}\na,b,left,q2\na,b,right,q1\n")
    votes = bd.read_duels(path).votes
    assert (votes.groups, votes.group.tolist()) == (("q1", "q2"), [1, 0])


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["2024-03-01", "2024-03-02 10:30"], ["2024-03-01", "2024-03-02T10:30"]),
        (["2024-03-01T12:00:00Z", "2024-03-01T12:00:00+02:00"],
         ["2024-03-01T12:00", "2024-03-01T10:00"]),
        (["", "2024-03-01"], ["NaT", "2024-03-01"]),
    ],
)  # fmt: skip
def test_times_are_dates_in_utc(tmp_path, written, read):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome,time\n" + "".join(f"a,b,left,{t}\n" for t in written))
    time = bd.read_duels(path).votes.time
    assert np.array_equal(time, np.array(read, "datetime64[us]"), equal_nan=True)


def test_times_may_be_numbers(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome,tstamp\na,b,left,1682351591.13\na,b,left,\n")
    time = bd.read_duels(path).votes.time
    assert np.array_equal(time, [1682351591.13, np.nan], equal_nan=True)


def test_weights_are_counts_of_identical_duels(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome,n\na,b,left,3\na,b,left, 4.0\na,b,tie,2\nb,a,left,0\n")
    duels = bd.read_duels(path)
    assert duels.tally().wins.tolist() == [[0, 7], [0, 0]]
    assert (duels.n_ties, duels.read_summary.n_zero_weight, duels.read_summary.n_rows) == (2, 1, 4)
    assert bd.read_duels(path, weight=False).n_duels == 4
    path.write_text("left,right,outcome,weight,judge\na,b,left,3,x\na,b,right,0,y\n")
    assert bd.read_duels(path).votes.weight.tolist() == [3]


@pytest.mark.parametrize("name", ["sampling_weight", "sample weight", "pweight"])
def test_sampling_weights_are_refused_by_name(tmp_path, name):
    path = tmp_path / "log.csv"
    path.write_text(f"left,right,outcome,{name}\na,b,left,2\n")
    with pytest.raises(ValueError, match=r"sampling_weight= takes weights of a survey"):
        bd.read_duels(path, weight=name)
    assert bd.read_duels(path).n_duels == 1


def test_weights_that_add_up_to_too_much(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(f"left,right,outcome,weight\na,b,left,{2**53}\na,b,right,{2**53}\n")
    with pytest.raises(ValueError, match=r"add up to at most 2\^53"):
        bd.read_duels(path)


@pytest.mark.parametrize("rule", ["keep", "half", "drop"])
def test_rules_for_ties(tmp_path, rule):
    path = write(tmp_path / "log.csv", "left,right,outcome", WORDS)
    duels = bd.read_duels(path, ties=rule)
    assert same(duels, expected(tie_rule=rule))
    assert duels.tie_rule == rule
    assert duels.read_summary.n_ties_dropped == (rule == "drop")


def test_self_duels_are_left_out_and_counted(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome,weight\na,b,left,1\na, a ,left,5\nb,b,tie,2\n")
    duels = bd.read_duels(path)
    assert (duels.n_duels, duels.read_summary.n_self_duels) == (1, 7)


def test_duplicates_are_counted_and_kept_where_they_mean_something(tmp_path):
    path = tmp_path / "log.csv"
    lines = ["a,b,left,j", "a,b,left,j", "a,b,left,k", "a,b,left,j", "b,a,right,j"]
    path.write_text("\n".join(["left,right,outcome,judge", *lines]))
    duels = bd.read_duels(path)
    assert (duels.read_summary.n_duplicates, duels.n_duels) == (2, 5)
    assert bd.read_duels(path, judge=False).read_summary.n_duplicates is None


def test_labels_are_kept_as_written_but_for_space_around(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('left,right,outcome\n 1 ,1.0,left\n01,none,left\n"x, y","Zoë\n",left\n')
    assert bd.read_duels(path).arms == ("01", "1", "1.0", "Zoë", "none", "x, y")


def test_covariates_are_read_with_the_votes(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome,length,lists\na,b,left,120,1\nb,c,right,-30.5,0\n")
    votes = bd.read_duels(path, covariates=["lists", "length"]).votes
    assert votes.covariate_names == ("lists", "length")
    assert votes.covariates.tolist() == [[1, 120], [0, -30.5]]
    by_memory = bd.Duels.from_votes("ab", "bc", [1, 0], covariates={"lists": [1, 0]}).votes
    assert by_memory.covariates.tolist() == [[1], [0]]
    path.write_text("left,right,outcome,length_left,length_right\na,b,left,120,20\n")
    assert bd.read_duels(path, covariates=["length"]).votes.covariates.tolist() == [[100]]
    path.write_text("left,right,outcome,length\na,b,left,120\nb,c,right,long\n")
    with pytest.raises(ValueError, match=r"column 'length' should be a finite .* got 'long'"):
        bd.read_duels(path, covariates=["length"])
    with pytest.raises(ValueError, match="no column 'lists' for covariates"):
        bd.read_duels(path, covariates=["lists"])
    with pytest.raises(TypeError, match="covariates should be a list of names of columns"):
        bd.read_duels(path, covariates="length")


@pytest.mark.parametrize("covariates", [["length", "length"], ["length", 5]])
def test_covariates_are_different_names(covariates):
    log = [{"left": "a", "right": "b", "outcome": "left", "length": 1.0}]
    with pytest.raises(TypeError, match="covariates should be different names of columns, got"):
        bd.read_duels(log, covariates=covariates)


@pytest.mark.parametrize("source", ["csv", "parquet", "two files", "pandas", "polars", "arrow"])
@pytest.mark.parametrize("bad", [False, True])
@pytest.mark.sampled(3)
def test_columns_that_differ_by_case_only_are_the_ones_named(tmp_path, source, bad):
    """Bad rows are found row by row, and named by their own columns."""
    nested = [{"a": 1, "b": [1]}] * 3
    rows = pa.table(
        {
            "Left": ["x", "x", "x"], "note": nested, "left": ["a", "a", "b"],
            "right": ["b", "c", "c"], "Right": ["y", "y", "y"],
            "Outcome": ["right"] * 3, "outcome": ["left", "left", "?" if bad else "left"],
        }
    )  # fmt: skip
    flat = rows.drop_columns("note")
    if source == "csv":
        given = tmp_path / "log.csv"
        flat.to_pandas().to_csv(given, index=False)
    elif source in ("parquet", "two files"):
        given = [tmp_path / "a.parquet", tmp_path / "b.parquet"][: 1 + (source == "two files")]
        for path, table in zip(given, (rows, rows.select(rows.column_names[::-1])), strict=False):
            pq.write_table(table, path)
    else:
        given = {"pandas": flat.to_pandas(), "polars": pl.from_arrow(flat), "arrow": flat}[source]
    upper = bd.read_duels(given, left="Left", right="Right", outcome="Outcome")
    times = 2 if source == "two files" else 1
    assert (upper.arms, upper.tally().wins[1, 0]) == (("x", "y"), 3 * times)
    mixed = bd.read_duels(given, right="Right", outcome="Outcome")
    assert mixed.arms == ("a", "b", "y")
    if bad:
        with pytest.raises(ValueError, match=r"column 'outcome' should be left, right or tie"):
            bd.read_duels(given)
    lower = bd.read_duels(given, on_bad="skip")
    assert lower.n_duels == (2 if bad else 3) * times
    assert lower.tally().wins[0].sum() == 2 * times
