"""Sound logs, however they are written, read to the same tallies."""

import gzip
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesduel as bd
from bayesduel.duels import Duels

# The log most tests write down: a beat b twice, b beat c, c and a tied, c beat b from the right.
DUELS = [("a", "b", 1.0), ("b", "a", 0.0), ("b", "c", 1.0), ("c", "a", 0.5), ("b", "c", 0.0)]


def expected(**options) -> Duels:
    left, right, outcome = zip(*DUELS, strict=True)
    return Duels.from_votes(left, right, outcome, **options)


def same(one: Duels, other: Duels) -> bool:
    cells = all(np.array_equal(x, y) for x, y in zip(one.cells, other.cells, strict=True))
    return one.arms == other.arms and cells


def write(path: Path, header: str, outcome: dict[float, str]) -> Path:
    """Write `DUELS` as CSV; `{0}`, `{1}` in an outcome are the arms."""
    lines = [f"{x},{y},{outcome[o].format(x, y)}" for x, y, o in DUELS]
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


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
def test_spellings_of_outcomes(tmp_path, spelling):
    path = write(tmp_path / "log.csv", "left,right,outcome", SPELLINGS[spelling])
    duels = bd.read_duels(path)
    assert same(duels, expected())
    assert duels.intake.n_both_bad == ("bad" in spelling)


def test_a_and_b_where_arms_have_other_names(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\nx,y,a\nx,y,b\nx,z,A\n")
    assert bd.read_duels(path).tally().wins[0].tolist() == [0, 1, 1]


def test_numbers_are_names_where_only_names_fit(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\n7,8,7\n8,9,9\n1,7,1\n")
    duels = bd.read_duels(path)
    assert duels.arms == ("1", "7", "8", "9")
    assert duels.tally().wins[0, 1] == duels.tally().wins[1, 2] == duels.tally().wins[3, 2] == 1


def test_numbers_that_could_be_names_are_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\n1,2,1\n2,1,1\n2,1,2\n")
    with pytest.raises(ValueError, match="could be a side or the name of an arm"):
        bd.read_duels(path)


def test_numbers_that_agree_with_names_are_not(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\n1,2,1\n1,2,2\n1,2,2\n")
    assert bd.read_duels(path).tally().wins.tolist() == [[0, 1], [2, 0]]


def test_zero_one_two_is_ambiguous(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\na,b,0\na,b,1\na,b,2\na,c,1\n")
    with pytest.raises(ValueError, match=r"line \d: column 'outcome' should be"):
        bd.read_duels(path)


def test_an_arm_called_draw(tmp_path):
    path = tmp_path / "log.csv"
    log = "left,right,outcome\ndraw,b,draw\n" + "b,c,c\nb,draw,b\n" * 5
    path.write_text(log)
    assert bd.read_duels(path).n_ties == 0
    path.write_text(log + "b,c,draw\n")
    with pytest.raises(ValueError, match="line 13: column 'outcome' should be the winner's name"):
        bd.read_duels(path)


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


def test_nothing_is_told_where_nothing_is_guessed(tmp_path, capsys):
    path = write(tmp_path / "log.csv", "left,right,outcome", SPELLINGS["words"])
    assert bd.read_duels(path).intake.guessed == ()
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
    assert duels.intake.columns["margin"] == "home_score - away_score"
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
    assert duels.intake.columns == {
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
    assert (duels.n_ties, duels.intake.n_zero_weight, duels.intake.n_rows) == (2, 1, 4)
    assert bd.read_duels(path, weight=False).n_duels == 4
    path.write_text("left,right,outcome,weight,judge\na,b,left,3,x\na,b,right,0,y\n")
    assert bd.read_duels(path).votes.weight.tolist() == [3]


@pytest.mark.parametrize("name", ["sampling_weight", "sample weight", "pweight"])
def test_sampling_weights_are_refused_by_name(tmp_path, name):
    path = tmp_path / "log.csv"
    path.write_text(f"left,right,outcome,{name}\na,b,left,2\n")
    with pytest.raises(ValueError, match="sampling weights are not supported"):
        bd.read_duels(path, weight=name)
    assert bd.read_duels(path).n_duels == 1


def test_weights_that_add_up_to_too_much(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(f"left,right,outcome,weight\na,b,left,{2**53}\na,b,right,{2**53}\n")
    with pytest.raises(ValueError, match=r"add up to at most 2\^53"):
        bd.read_duels(path)


@pytest.mark.parametrize("rule", ["keep", "half", "drop"])
def test_rules_for_ties(tmp_path, rule):
    path = write(tmp_path / "log.csv", "left,right,outcome", SPELLINGS["words"])
    duels = bd.read_duels(path, ties=rule)
    assert same(duels, expected(tie_rule=rule))
    assert duels.tie_rule == rule
    assert duels.intake.n_ties_dropped == (rule == "drop")


def test_self_duels_are_left_out_and_counted(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome,weight\na,b,left,1\na, a ,left,5\nb,b,tie,2\n")
    duels = bd.read_duels(path)
    assert (duels.n_duels, duels.intake.n_self_duels) == (1, 7)


def test_duplicates_are_counted_and_kept_where_they_mean_something(tmp_path):
    path = tmp_path / "log.csv"
    lines = ["a,b,left,j", "a,b,left,j", "a,b,left,k", "a,b,left,j", "b,a,right,j"]
    path.write_text("\n".join(["left,right,outcome,judge", *lines]))
    duels = bd.read_duels(path)
    assert (duels.intake.n_duplicates, duels.n_duels) == (2, 5)
    assert bd.read_duels(path, judge=False).intake.n_duplicates is None


def test_labels_are_kept_as_written_but_for_space_around(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('left,right,outcome\n 1 ,1.0,left\n01,none,left\n"x, y","Zoë\n",left\n')
    assert bd.read_duels(path).arms == ("01", "1", "1.0", "Zoë", "none", "x, y")


SOUND = b"left,right,outcome\na,b,left\nb,a,right\nb,c,left\nc,a,tie\nb,c,right\n"


@pytest.mark.parametrize(
    ("name", "data"),
    {
        "log.csv": SOUND,
        "bom.csv": b"\xef\xbb\xbf" + SOUND,
        "crlf.csv": SOUND.replace(b"\n", b"\r\n"),
        "bom_crlf.csv": b"\xef\xbb\xbf" + SOUND.replace(b"\n", b"\r\n"),
        "old_mac.csv": SOUND.replace(b"\n", b"\r"),
        "no_last_line_end.csv": SOUND.removesuffix(b"\n"),
        "blank_lines_at_the_end.csv": SOUND + b"\n\n\n",
        "semicolon.csv": SOUND.replace(b",", b";"),
        "bar.csv": SOUND.replace(b",", b"|"),
        "log.tsv": SOUND.replace(b",", b"\t"),
        "tabs.txt": SOUND.replace(b",", b"\t"),
        "no_suffix": SOUND,
        "quoted.csv": SOUND.replace(b"a,", b'"a",').replace(b"left", b'"left"'),
        "strange [1]*?.csv": SOUND,
        "it's.csv": SOUND,
        "log.csv.gz": gzip.compress(SOUND, mtime=0),
        "two_members.csv.gz": gzip.compress(SOUND[:30], mtime=0)
        + gzip.compress(SOUND[30:], mtime=0),
        "log.tsv.gz": gzip.compress(SOUND.replace(b",", b"\t"), mtime=0),
        "log.csv.zst": pa.Codec("zstd").compress(SOUND).to_pybytes(),
    }.items(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_text_files(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    assert same(bd.read_duels(path), expected())
    assert same(bd.read_duels(str(path), on_bad="skip"), expected())


def test_line_breaks_and_commas_inside_quotes(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('left,right,outcome,note\n"a,\nb",c,left,"1\r\n2"\n"say ""x""",c,left,"x,y"\n')
    assert bd.read_duels(path).arms == ("a,\nb", "c", 'say "x"')


def json_lines() -> bytes:
    words = SPELLINGS["words"]
    return "".join(
        f'{{"left": "{x}", "extra": [1, {{}}], "right": "{y}", "outcome": "{words[o]}"}}\n'
        for x, y, o in DUELS
    ).encode()


@pytest.mark.parametrize("name", ["log.jsonl", "log.ndjson", "log.json", "log", "log.jsonl.gz"])
def test_json_lines(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(json_lines()) if name.endswith("gz") else json_lines() + b"\n")
    assert same(bd.read_duels(path), expected())


def test_keys_that_come_late_in_json_lines(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(json_lines() * 300 + b'{"left":"a","right":"b","outcome":"left","late":"j"}\n')
    votes = bd.read_duels(path, judge="late").votes
    assert (votes.judges, len(votes), votes.judge[-1]) == (("j",), 1501, 0)


def table(kind: pa.DataType | None = None) -> pa.Table:
    left, right, outcome = zip(*DUELS, strict=True)
    return pa.table(
        {"left": left, "right": right, "outcome": pa.array(outcome).cast(kind or pa.float64())}
    )


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.decimal128(4, 2)])
def test_parquet_with_outcomes_as_numbers(tmp_path, kind):
    path = tmp_path / "log.parquet"
    pq.write_table(table(kind), path)
    assert same(bd.read_duels(path), expected())


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_compressed_parquet(tmp_path, ending):
    sink = pa.BufferOutputStream()
    pq.write_table(table(), sink)
    data = sink.getvalue().to_pybytes()
    packed = gzip.compress(data) if ending == "gz" else pa.Codec("zstd").compress(data)
    path = tmp_path / f"log.parquet.{ending}"
    path.write_bytes(packed)
    assert same(bd.read_duels(path), expected())


def test_parquet_with_other_types(tmp_path):
    path = tmp_path / "log.parquet"
    columns = {
        "left": pa.array([1, 2, 3]),
        "right": pa.array([2.0, 3.5, 1.0]),
        "outcome": pa.array([True, False, True]),
        "judge": pa.array(["x", None, "y"]).dictionary_encode(),
        "time": pa.array([0, None, 10**15], pa.timestamp("us", "Europe/Paris")),
        "weight": pa.array([1, 2, 3], pa.decimal128(5, 1)),
    }
    pq.write_table(pa.table(columns), path)
    duels = bd.read_duels(path)
    assert duels.arms == ("1", "1.0", "2", "2.0", "3", "3.5")
    assert duels.votes.weight.tolist() == [1, 2, 3]
    assert duels.votes.judge.tolist() == [0, -1, 1]
    assert duels.votes.time[2] == np.datetime64(10**15, "us")
    pq.write_table(pa.table({**columns, "left": pa.array([["a"], ["b"], ["c"]])}), path)
    with pytest.raises(ValueError, match="column 'left' should hold text or numbers"):
        bd.read_duels(path)


def test_globs_and_lists(tmp_path):
    header, *lines = SOUND.decode().splitlines()
    for k, line in enumerate(lines):
        (tmp_path / f"part{k}.csv").write_text(f"{header}\n{line}\n")
    assert same(bd.read_duels(tmp_path / "part*.csv"), expected())
    assert same(bd.read_duels([tmp_path / "part[0-2].csv", tmp_path / "part[34].csv"]), expected())


def test_files_of_a_glob_may_order_their_columns_otherwise(tmp_path):
    (tmp_path / "1.csv").write_text("left,right,outcome,judge\na,b,left,x\n")
    (tmp_path / "2.csv").write_text("judge,outcome,right,left\ny,right,b,a\n")
    (tmp_path / "3.csv").write_text("left;right;outcome;judge\na;b;tie;x\n")
    duels = bd.read_duels(tmp_path / "*.csv")
    assert duels.votes.outcome.tolist() == [1, -1, 0]
    assert duels.votes.judge.tolist() == [0, 1, 0]
    assert duels.intake.n_duplicates == 0


def test_skipping_bad_rows_lists_every_one_with_its_line(tmp_path):
    path = tmp_path / "log.csv"
    lines = ["a,b,left,1,x", "a,b", "a,,left,1,x", 'a,"b\nb",left,1,x', "a,b,up,1,x",
             "a,b,left,-1,x", "a,b,right,1,x", "a,b,c,d,e,f"]  # fmt: skip
    path.write_text("\n".join(["left,right,outcome,weight,judge", *lines]) + "\n")
    for judge in (None, False):  # votes, and tallies
        duels = bd.read_duels(path, on_bad="skip", judge=judge)
        assert (duels.n_duels, duels.intake.n_rows, duels.intake.n_bad_rows) == (3, 8, 5)
        places = sorted(int(where.rsplit(" ", 1)[1]) for where, _ in duels.intake.bad_rows)
        assert places == [3, 4, 7, 8, 10]
        assert all("column" in what or "fields" in what for _, what in duels.intake.bad_rows)


def test_skipping_bad_lines_of_json(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(json_lines() + b'{"left": "a"\n[1]\n' + json_lines())
    duels = bd.read_duels(path, on_bad="skip")
    assert duels.n_duels == 10
    assert [where for where, _ in duels.intake.bad_rows] == [f"{path}, line 6", f"{path}, line 7"]
    assert "is not a JSON object" in duels.intake.bad_rows[0][1]


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
    assert [w.split(", ")[1] for w, _ in duels.intake.bad_rows] == [
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
        assert (logs["s2"].n_duels, logs["s2"].n_ties, logs["s2"].intake.n_rows) == (3, 2, 3)
        assert logs["s2"].intake.source == f"{path}, who=s2"
    votes = bd.read_duels(path, by="who")["s1"].votes
    assert votes.judges == ("y",)
    assert [d.intake.n_duplicates for d in bd.read_duels(path, by="who").values()] == [0, 1]
    assert bd.read_duels(path, by="annotator")["x"].votes is None


def test_by_names_the_part_that_is_no_log(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("who,left,right,outcome\ns1,a,b,left\ns2,a,a,left\n")
    with pytest.raises(ValueError, match="who=s2: a log should hold at least two arms"):
        bd.read_duels(path, by="who")
    assert list(bd.read_duels(path, by="who", on_bad="skip")) == ["s1"]
    assert "who=s2: a log should hold at least two arms" in capsys.readouterr().err
    path.write_text("who,left,right,outcome\ns2,a,a,left\n")
    with pytest.raises(ValueError, match="should hold a log in some who"):
        bd.read_duels(path, by="who", on_bad="skip")
    path.write_text("who,left,right,outcome\ns1,a,b,left\n,a,b,left\n")
    with pytest.raises(ValueError, match="line 3: column 'who' should name a log"):
        bd.read_duels(path, by="who")


def test_a_column_that_is_not_there_is_named_with_the_nearest(tmp_path):
    path = write(tmp_path / "log.csv", "left,right,outcome", SPELLINGS["words"])
    with pytest.raises(ValueError, match=r"no column 'oucome' for outcome \(did you mean 'outco"):
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
    path = write(tmp_path / "log.csv", "left,right,outcome", SPELLINGS["words"])
    with pytest.raises(error, match=message):
        bd.read_duels(path, **options)


@pytest.mark.parametrize("thing", [3, {"left": []}, None, b"log.csv"])
def test_what_is_no_path_and_no_frame(thing):
    with pytest.raises(TypeError, match="path_or_frame should be a path"):
        bd.read_duels(thing)


label = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=8)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(label.map(str.strip).filter(bool), min_size=2, max_size=5, unique=True),
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from([1.0, 0.0, 0.5])),
        min_size=1,
        max_size=30,
    ),
)
def test_any_log_comes_back_from_any_format(tmp_path_factory, labels, picks):
    import csv
    import json

    from bayesduel.reading.examining import MISSING

    arms = [f"{label}!" if label in MISSING else label for label in labels]
    rows = [(arms[i % len(arms)], arms[j % len(arms)], o) for i, j, o in picks]
    rows.append((arms[0], arms[1], 1.0))
    words = SPELLINGS["words"]
    said = [(x, y, words[o]) for x, y, o in rows]
    folder = tmp_path_factory.mktemp("logs")
    with open(folder / "log.csv", "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("left", "right", "outcome"), *said])
    objects = [dict(zip(("left", "right", "outcome"), row, strict=True)) for row in said]
    (folder / "log.jsonl").write_text("\n".join(json.dumps(o) for o in objects))
    pq.write_table(pa.Table.from_pylist(objects), folder / "log.parquet")
    truth = Duels.from_votes(*zip(*rows, strict=True))
    for ending in ("csv", "jsonl", "parquet"):
        assert same(bd.read_duels(folder / f"log.{ending}"), truth)


def test_a_large_log_is_tallied_as_plain_sql_does(tmp_path):
    path = tmp_path / "log.parquet"
    with duckdb.connect() as con:
        con.execute(
            "COPY (SELECT 'arm ' || hash(i) % 20 AS model_a, 'arm ' || hash(i + 100000) % 20 AS "
            "model_b, ['model_a', 'model_b', 'tie'][(hash(i + 7) % 3)::INT + 1] AS winner FROM "
            f"range(100000) t(i)) TO '{path}' (FORMAT parquet)"
        )
        counts = con.execute(
            "SELECT model_a, model_b, count(*) FILTER (winner = 'model_a'), count(*) FILTER "
            f"(winner = 'model_b'), count(*) FILTER (winner = 'tie') FROM '{path}' WHERE "
            "model_a <> model_b GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    duels = bd.read_duels(path)
    names = [[duels.arms[k] for k in side] for side in duels.cells[:2]]
    ours = [*zip(*names, *(c.tolist() for c in duels.cells[2:]), strict=True)]
    assert ours == counts


def test_a_log_of_bad_rows_only(tmp_path):
    path = tmp_path / "log.csv"
    for line in ("a,b", "a,b,up,0,x", ",b,left,0,x"):
        path.write_text(f"left,right,outcome,margin,judge\n{line}\n")
        with pytest.raises(ValueError, match=r"all 1 are bad, the first at .*line 2|who won"):
            bd.read_duels(path, on_bad="skip")


def test_reading_ends_in_silence(tmp_path):
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
    assert done.stderr == ""


def test_a_column_of_sampling_weights_is_not_passed_over_in_silence(capsys):
    log = pd.DataFrame(
        {"left": ["a", "b"], "right": ["b", "c"], "outcome": [1, 0], "sampling_weight": [0.3, 2.1]}
    )
    assert bd.read_duels(log).n_duels == 2
    assert (
        "'sampling_weight' is not used: sampling weights are not supported"
        in capsys.readouterr().err
    )
