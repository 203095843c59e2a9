"""Bad rows, bad arguments: skipped and listed, or refused by name."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayesduel as bd
from tests.support.writing import WORDS, json_lines, write


def test_skipping_bad_rows_lists_every_one_with_its_line(tmp_path):
    path = tmp_path / "log.csv"
    lines = ["a,b,left,1,x", "a,b", "a,,left,1,x", 'a,"b\nb",left,1,x', "a,b,up,1,x",
             "a,b,left,-1,x", "a,b,right,1,x", "a,b,c,d,e,f"]  # fmt: skip
    path.write_text("\n".join(["left,right,outcome,weight,judge", *lines]) + "\n")
    for judge in (None, False):  # votes, and tallies
        duels = bd.read_duels(path, on_bad="skip", judge=judge)
        assert (duels.n_duels, duels.read_summary.n_rows, duels.read_summary.n_bad_rows) == (
            3,
            8,
            5,
        )
        places = sorted(int(where.rsplit(" ", 1)[1]) for where, _ in duels.read_summary.bad_rows)
        assert places == [3, 4, 7, 8, 10]
        assert all("column" in what or "fields" in what for _, what in duels.read_summary.bad_rows)


def test_skipping_bad_lines_of_json(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(json_lines() + b'{"left": "a"\n[1]\n' + json_lines())
    duels = bd.read_duels(path, on_bad="skip")
    assert duels.n_duels == 10
    assert [where for where, _ in duels.read_summary.bad_rows] == [
        f"{path}, line 6",
        f"{path}, line 7",
    ]
    assert "should be a JSON object" in duels.read_summary.bad_rows[0][1]


def test_skipping_does_not_let_an_open_quote_swallow_the_log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('left,right,outcome\na,b,left\n"a,b,left\na,b,left\na,b,left\n')
    with pytest.raises(ValueError, match="line 3: has a quote that is not closed"):
        bd.read_duels(path, on_bad="skip")


def test_skipping_bad_rows_of_parquet(tmp_path):
    path = tmp_path / "log.parquet"
    pq.write_table(
        pa.table({"left": ["a", None, "a"], "right": list("bbb"), "outcome": [1.0, 1.0, np.nan]}),
        path,
    )
    duels = bd.read_duels(path, on_bad="skip")
    assert duels.n_duels == 1
    assert [w.split(", ")[1] for w, _ in duels.read_summary.bad_rows] == [
        "row 1 (the first is 0)",
        "row 2 (the first is 0)",
    ]


def test_by_reads_one_log_for_each_value(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text(
        "who,left,right,outcome,annotator\ns2,a,b,left,x\ns1,a,c,left,y\ns2,b,a,tie,y\n"
        "s2,b,a,tie,y\n"
    )
    for judge in (None, False):
        logs = bd.read_duels(path, by="who", judge=judge)
        assert list(logs) == ["s1", "s2"]
        assert logs["s1"].arms == ("a", "c")
        assert (logs["s2"].n_duels, logs["s2"].n_ties, logs["s2"].read_summary.n_rows) == (3, 2, 3)
        assert logs["s2"].read_summary.source == f"{path}, who=s2"
    votes = bd.read_duels(path, by="who")["s1"].votes
    assert votes.judges == ("y",)
    assert [d.read_summary.n_duplicates for d in bd.read_duels(path, by="who").values()] == [0, 1]
    assert bd.read_duels(path, by="annotator")["x"].votes is None


def test_by_names_the_part_that_is_no_log(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("who,left,right,outcome\ns1,a,b,left\ns2,a,a,left\n")
    assert list(bd.read_duels(path, by="who")) == ["s1"]
    assert "who=s2: a log should contain at least two arms" in capsys.readouterr().err
    path.write_text("who,left,right,outcome\ns2,a,a,left\n")
    with pytest.raises(ValueError, match="should contain a log for some who"):
        bd.read_duels(path, by="who", on_bad="skip")
    path.write_text("who,left,right,outcome\ns1,a,b,left\n,a,b,left\n")
    with pytest.raises(ValueError, match="line 3: column 'who' should name a log"):
        bd.read_duels(path, by="who")


def test_a_column_that_is_not_there_is_named_with_the_nearest(tmp_path):
    path = write(tmp_path / "log.csv", "left,right,outcome", WORDS)
    with pytest.raises(ValueError, match=r"no column 'oucome' for outcome; did you mean 'outco"):
        bd.read_duels(path, outcome="oucome")
    with pytest.raises(ValueError, match="no column 'xyz' for judge; the columns are 'left', 'ri"):
        bd.read_duels(path, judge="xyz")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"ties": "third"}, ValueError, "ties should be 'keep', 'half' or 'drop', got 'third'"),
        ({"on_bad": "warn"}, ValueError, "on_bad should be 'error' or 'skip', got 'warn'"),
        ({"left": 3}, TypeError, "left should be the name of a column, got 3"),
        ({"left": None}, TypeError, "left should be the name of a column, got None"),
        ({"judge": True}, TypeError, "judge should be the name of a column, got True"),
        ({"margin": ("left",)}, TypeError, "margin should be the name of a column"),
        ({"by": 1}, TypeError, "by should be the name of a column, got 1"),
        ({"judge": "outcome"}, ValueError, "column 'outcome' should have one role"),
    ],
)
def test_bad_arguments(tmp_path, options, error, message):
    path = write(tmp_path / "log.csv", "left,right,outcome", WORDS)
    with pytest.raises(error, match=message):
        bd.read_duels(path, **options)


@pytest.mark.parametrize("thing", [3, {1, 2}, None, b"log.csv"])
def test_what_is_no_path_and_no_frame(thing):
    with pytest.raises(TypeError, match="path_or_frame should be a path"):
        bd.read_duels(thing)


def test_a_log_of_bad_rows_only(tmp_path):
    path = tmp_path / "log.csv"
    for line in ("a,b", "a,b,up,0,x", ",b,left,0,x"):
        path.write_text(f"left,right,outcome,margin,judge\n{line}\n")
        with pytest.raises(ValueError, match=r"got 1 bad rows, the first at .*line 2|the winner"):
            bd.read_duels(path, on_bad="skip")


@pytest.mark.slow
def test_reading_says_what_was_left_out_and_no_more(tmp_path):
    """DuckDB complains at exit if anything keeps its types: a registry of overloads did."""
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\na,b,left\na,b\n")
    program = (
        "import sys, bayesduel as bd\n"
        "bd.read_duels(sys.argv[1], on_bad='skip')\n"
        "try: bd.read_duels(sys.argv[1])\n"
        "except ValueError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert "line 3: should have 3 fields" in done.stdout
    assert done.stderr.count("\n") == 1
    assert "log.csv: left out: bad rows, the first at" in done.stderr


def test_a_column_of_sampling_weights_is_not_passed_over_in_silence(capsys):
    log = pd.DataFrame(
        {"left": ["a", "b"], "right": ["b", "c"], "outcome": [1, 0], "sampling_weight": [0.3, 2.1]}
    )
    assert bd.read_duels(log).n_duels == 2
    assert (
        "'sampling_weight' is not used (sampling_weight=: weights of a survey)"
        in capsys.readouterr().err
    )
