"""What the user says of a log is taken as it is: means, grades, directions, ties, teams."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.data.reading import Reading
from bayesduel.system.arguments import command_line

ARMS = ["ada", "bob", "cyd"]


def frame(outcome, **columns):
    n = len(outcome)
    left = [ARMS[k % 3] for k in range(n)]
    right = [ARMS[(k + 1) % 3] for k in range(n)]
    return pd.DataFrame({"left": left, "right": right, "verdict": outcome, **columns})


def given(kind, table, tmp_path):
    """Return a table as a frame or as a file."""
    if kind == "frame":
        return table
    path = tmp_path / f"log.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
@pytest.mark.parametrize(
    ("values", "means", "outcome"),
    [
        ([0, 1, 2, 0], {0: "left", 1: "tie", 2: "right"}, [1, 0, -1, 1]),
        ([0, 1, 2, 0], {0: "right", 1: "left", 2: "tie"}, [-1, 1, 0, -1]),
        (["Links", "rechts", "gleich", "links"],
         {"links": "left", "RECHTS": "right", "gleich": "tie"}, [1, -1, 0, 1]),
        (["first, clearly", "second", "first, clearly", "second"],
         {"first, clearly": "left", "second": "right"}, [1, -1, 1, -1]),
        (["+", "-", "~", "+"], {"+": "left", "-": "right", "~": "tie"}, [1, -1, 0, 1]),
        ([True, False, True, False], {True: "right", False: "left"}, [-1, 1, -1, 1]),
    ],
)  # fmt: skip
@pytest.mark.sampled(3)
def test_means(kind, values, means, outcome, tmp_path):
    source = given(kind, frame(values), tmp_path)
    log = bd.read_duels(source, outcome="verdict", means=means, judge=False)
    expected = bd.Duels.from_votes(*(frame(values)[side] for side in ("left", "right")),
                                   [(1 + x) / 2 for x in outcome])  # fmt: skip
    assert all(np.array_equal(a, b) for a, b in zip(log.tally(), expected.tally(), strict=True))
    again = bd.read_duels(source, like=log)
    assert again.read_summary.reading["means"] == log.read_summary.reading["means"]


@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_what_means_nothing_is_left_out_and_said(kind, tmp_path, capsys):
    source = given(kind, frame(["a", "b", "error", "error", "a"]), tmp_path)
    log = bd.read_duels(source, outcome="verdict", means={"a": "left", "b": "right", "error": None})
    assert (log.n_duels, log.read_summary.n_left_out, log.read_summary.n_rows) == (3, 2, 5)
    (line,) = log.reading.left_out
    assert (line.column, line.rows) == ("verdict", 2)
    assert log.reading.line("outcome").rows == 3
    assert 'left out: "error", as asked (2 rows)' in capsys.readouterr().err


def test_a_value_without_a_meaning_is_a_bad_row():
    with pytest.raises(ValueError, match=r"row 2 .*'verdict' should be 'a' or 'b'.*got 'c'"):
        bd.read_duels(frame(["a", "b", "c"]), outcome="verdict", means={"a": "left", "b": "right"})


def test_grades_and_shares_in_means():
    log = bd.read_duels(frame([1, 2, 3, 4]), outcome="verdict",
                        means={1: "grade 2", 2: "grade 1", 3: "tie", 4: "grade -2"})  # fmt: skip
    assert log.votes.grade.tolist() == [2, 1, 0, -2]
    soft = bd.read_duels(frame(["sure", "maybe", "even"]), outcome="verdict",
                         means={"sure": 1, "maybe": 0.7, "even": 0.5})  # fmt: skip
    assert soft.votes.counts.tolist() == [[1, 0, 0], [0.7, 0.30000000000000004, 0], [0.5, 0.5, 0]]


@pytest.mark.parametrize(
    ("ends", "grades"),
    [((1, 5), [2, 1, 0, -1, -2]), ((5, 1), [-2, -1, 0, 1, 2]), ((0, 4), None), ((1, 4), None)],
)
def test_scales_of_one_side(ends, grades):
    low, high = sorted(ends)
    values = list(range(low, high + 1))
    log = bd.read_duels(frame(values), outcome="verdict", grades=ends)
    if grades is None:  # by hand: symmetric, and without a middle where steps are even
        half = len(values) // 2
        own = [*range(half, 0, -1)] + [0] * (len(values) % 2)
        grades = own + [-k for k in range(1, half + 1)]
    assert log.votes.grade.tolist() == grades


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"means": {}}, "means should be a dictionary"),
        ({"means": {"a": "first"}}, "means should give left"),
        ({"means": {"a": "left", "A": "right"}}, "one meaning for each value"),
        ({"means": {"a": "left", "b": "grade -1"}}, "grades or sides, not both"),
        ({"means": {"a": 0.7, "b": "grade -1"}}, "grades or shares, not both"),
        ({"grades": (1, 1)}, "grades should be the whole numbers"),
        ({"grades": "15"}, "grades should be the whole numbers"),
        ({"means": {"a": "left"}, "coding": "a/b"}, "should be given without"),
        ({"lower_is_better": True}, "lower_is_better=True needs scores"),
        ({"teams": ""}, "teams should be a text"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        bd.read_duels(frame(["a", "b"]), outcome="verdict", **options)


@pytest.mark.parametrize("kind", ["margin", "scores", "text"])
@pytest.mark.parametrize("lower", [False, True])
def test_lower_is_better(kind, lower):
    ours = [3, 1, 2, 5]
    theirs = [1, 2, 2, 0]
    table = frame(["x"] * 4).drop(columns="verdict")
    margin = [a - b for a, b in zip(ours, theirs, strict=True)]
    if kind == "margin":
        table["margin"] = margin
    elif kind == "scores":
        table["score_left"], table["score_right"] = ours, theirs
    else:
        table["result"] = [f"{a}-{b}" for a, b in zip(ours, theirs, strict=True)]
    options = {"lower_is_better": lower, **({"coding": "score"} if kind == "text" else {})}
    log = bd.read_duels(table, **options)
    sign = -1 if lower else 1
    assert log.votes.margin.tolist() == [sign * m for m in margin]
    assert log.votes.outcome.tolist() == [int(np.sign(sign * m)) for m in margin]
    assert f"the {'lower' if lower else 'higher'} is better" in str(log.reading)


def test_a_column_of_ties_and_one_of_what_was_shown_first():
    table = frame(["ada", None, "ada", "cyd"], both_equal=[False, True, False, False],
                  presented_first=["bob", "bob", "ada", "ada"])  # fmt: skip
    table["verdict"] = ["ada", None, "cyd", "ada"]
    log = bd.read_duels(table, outcome="verdict")
    rows = log.to_frame()[["left", "right", "outcome"]].itertuples(index=False, name=None)
    assert sorted(rows) == sorted(
        [
            ("bob", "ada", "right"),
            ("bob", "cyd", "tie"),
            ("ada", "cyd", "right"),
            ("ada", "bob", "left"),
        ]
    )
    table.loc[0, "both_equal"] = True
    with pytest.raises(ValueError, match="'both_equal' should agree with outcome 'ada'"):
        bd.read_duels(table, outcome="verdict")


@pytest.mark.parametrize("kind", ["frame", "csv"])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("beside", ["nothing", "ties", "judge", "order", "margin"])
@pytest.mark.sampled(3)
def test_sides_of_several_members(kind, columns, beside, tmp_path):
    rng = np.random.default_rng(0)
    sides = [rng.choice(6, 4, replace=False) for _ in range(60)]
    names = np.array(["ann", "bob", "cyd", "dan", "eve", "fay"])
    lefts = [tuple(names[one[:2]]) for one in sides]
    rights = [tuple(names[one[2:]]) for one in sides]
    points = rng.choice([1.0, 0.0, 0.5] if beside == "ties" else [1.0, 0.0], 60)
    extra = {"judge": rng.choice(["u", "v"], 60)} if beside == "judge" else {}
    table = {"outcome": points, **extra}
    if beside == "margin":
        table["margin"] = np.where(points == 1, 2.5, -1.5)
    options = {}
    if columns:
        for side, members in (("left", lefts), ("right", rights)):
            table |= {f"{side}_{k}": [one[k] for one in members] for k in (0, 1)}
            options[side] = [f"{side}_0", f"{side}_1"]
    else:
        table |= {"left": [", ".join(one) for one in lefts]}
        table |= {"right": [", ".join(one[::-1]) for one in rights]}
        options["teams"] = ","
    log = bd.read_duels(given(kind, pd.DataFrame(table), tmp_path), outcome="outcome", **options)
    margin = {"margin": table["margin"]} if beside == "margin" else {}
    expected = bd.Duels.from_votes(lefts, rights, points, **extra, **margin)
    assert log.arms == expected.arms == tuple(names)
    assert all(np.array_equal(a, b) for a, b in zip(log.tally(), expected.tally(), strict=True))
    model = bd.models.BradleyTerry()
    if beside == "order":
        model = model + bd.models.SideAdvantage()
    fits = [bd.fit(one, model, draws=200, seed=0) for one in (log, expected)]
    ours, theirs = (fit["posterior"]["score"].mean(("chain", "draw")) for fit in fits)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_a_member_twice_is_a_bad_row():
    rows = {"left": ["a, d", "c, c"], "right": ["b, c", "b, e"], "outcome": [1, 0]}
    with pytest.raises(ValueError, match=r"row 1 .*each member of a side once"):
        bd.read_duels(rows, teams=",")


def test_a_member_on_both_sides_is_said_and_cancels(capsys):
    rows = {"left": ["gpt+x", "gpt+x", "gpt+y"], "right": ["gpt+y", "qwen+y", "gpt+y"],
            "outcome": [1, 0, 1]}  # fmt: skip
    log = bd.read_duels(rows, teams="+")
    said = "left: 2 sides of 4 members; in 1 row both sides have a member, which cancels"
    assert said in capsys.readouterr().err
    counts = log.summary()[["duels", "wins", "losses"]]
    assert counts.loc["gpt"].tolist() == [1, 0, 1]
    assert counts.loc["x"].tolist() == [2, 1, 1]
    assert [*zip(*log.opponents()[:2], strict=True)] == [(0, 1), (0, 3), (2, 1), (2, 3)]


def test_several_columns_of_members_are_asked_for():
    rows = {f"team{t}_player{k}": ["abcdef"[(t + k + r) % 6] for r in range(12)]
            for t in (1, 2) for k in (1, 2)}  # fmt: skip
    rows["winner"] = ["team1", "team2"] * 6
    with (
        command_line(),
        pytest.raises(ValueError, match="--left team1_player1,team1_player2 --right team2"),
    ):
        bd.read_duels(rows)


def test_columns_that_are_named_are_not_overruled():
    """Two numbers per row look like a table of scores; the columns of arms are named."""
    table = {"question_id": [1, 2, 3], "one": ["x", "y", "z"], "other": ["y", "z", "x"],
             "score1": [9, 5, 1], "score2": [3, 6, 2], "win": ["x", "z", "x"]}  # fmt: skip
    log = bd.read_duels(table, left="one", right="other", outcome="win")
    assert (log.arms, log.n_duels) == (("x", "y", "z"), 3)


def test_a_reading_is_kept_by_a_fit_an_update_and_a_study(tmp_path):
    table = frame([0, 1, 2, 0, 1, 2, 0, 0] * 4)
    means = {0: "left", 1: "tie", 2: "right"}
    log = bd.read_duels(table, outcome="verdict", means=means)
    fit = bd.fit(log, draws=200, seed=0)
    fit.to_netcdf(tmp_path / "fit.nc")
    stored = bd.load(tmp_path / "fit.nc")
    assert stored.duel.reading == log.reading
    batch = bd.read_duels(table.head(3), like=stored)
    assert bd.update(stored, batch).duel.reading.line("outcome") == log.reading.line("outcome")
    with bd.Study(tmp_path / "s.study", arms=ARMS) as study:
        study.import_duels(log)
        assert study.duels().reading.line("outcome") == log.reading.line("outcome")
    assert Reading.from_dict(json.loads(json.dumps(log.reading.to_dict()))) == log.reading


def test_the_command_says_what_a_log_is_taken_for(tmp_path):
    path = tmp_path / "votes.csv"
    frame([0, 1, 2, 0], who=["u", "v", "u", "v"]).to_csv(path, index=False)
    options = ["--outcome", "verdict", "--means", "0=left,1=tie,2=right"]
    shown = CliRunner().invoke(main, ["read", str(path), *options])
    assert "0 left wins (2), 1 tie (1), 2 right wins (1)" in shown.stdout
    assert "2 values, most in 2 rows: --by who?" in shown.stdout
    found = json.loads(CliRunner().invoke(main, ["read", str(path), *options, "--json"]).stdout)
    assert [line["role"] for line in found["lines"]] == ["left", "right", "outcome", "not used"]
    out = tmp_path / "duels.csv"
    assert CliRunner().invoke(main, ["read", str(path), *options, "-o", str(out)]).exit_code == 0
    log = bd.read_duels(path, outcome="verdict", means={0: "left", 1: "tie", 2: "right"})
    assert np.array_equal(bd.read_duels(out).tally().wins, log.tally().wins)
    assert "<table>" in log.reading._repr_html_()


def test_a_number_of_rows_stands_apart_from_a_sentence_that_goes_on_below(tmp_path):
    rng = np.random.default_rng(0)
    n = 10_500
    sides = {"left": rng.choice([*"abc"], n), "right": rng.choice([*"def"], n), "outcome": "left"}
    topics = [f"topic {k}" for k in rng.integers(0, 143, n)]
    lines = str(bd.read_duels(pd.DataFrame({**sides, "dataset": topics})).reading).splitlines()
    first = next(k for k, line in enumerate(lines) if "143 values" in line)
    assert re.search(r"rows: {3,}10,000$", lines[first])
    assert lines[first + 1].strip() == "group='dataset'?"
    assert max(map(len, lines)) <= 80
