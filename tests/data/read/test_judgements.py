"""Judgements of other tools are recognised and read alike from files, frames and folders."""

import gzip
import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from tests.support.judgements import (
    SAMPLES,
    arena,
    arena_hard,
    inspect,
    label_studio,
    long,
    selected,
)


def slow(*values):
    """Return values of a parameter that slow tests have."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


UNORDERED = ("alpaca_eval", "MT-bench single", "Inspect", "long scores", "wide scores")
few = pytest.mark.filterwarnings("ignore:.* are few for", "ignore:No verdict is given")
COLUMNS = ["left", "right", "outcome", "group", "source", "judge"]


def write(path, records):
    """Write records in the format of the name."""
    if path.suffix == ".jsonl":
        path.write_text("\n\n".join(json.dumps(record) for record in records) + "\n")
    elif path.suffix == ".json":
        path.write_text(json.dumps(records, indent=1))
    elif path.suffix == ".csv":
        pd.DataFrame(records).to_csv(path, index=False)
    else:
        pd.DataFrame(records).to_parquet(path)
    return path


def opened(sample, way, folder):
    """Return what is given to read_duels."""
    if way == "frame":
        return pd.DataFrame(sample.records)
    if way == "polars":
        polars = pytest.importorskip("polars")
        return polars.DataFrame(sample.records, strict=False, infer_schema_length=None)
    name = f"log.{sample.extension}"
    if way == "path":
        return write(folder / name, sample.records)
    half = len(sample.records) // 2
    write(folder / f"1-{name}", sample.records[:half])
    write(folder / f"2-{name}", sample.records[half:])
    return folder / f"*-{name}" if way == "glob" else folder


def content(log):
    """Return how often each duel is in a log."""
    frame = log.to_frame().reindex(columns=COLUMNS).astype(object)
    words = {1.0: "left", 0.0: "right", 0.5: "tie"}  # of a log with soft votes
    frame["outcome"] = [v if isinstance(v, str) else words.get(v, str(v)) for v in frame["outcome"]]
    return Counter(tuple(None if v != v else v for v in row) for row in frame.to_numpy())


def lines(answer):
    """Return what a command said on stderr, apart from what it read."""
    return [line for line in answer.stderr.splitlines() if not line.startswith("read ")]


@pytest.mark.parametrize("way", ["path", "frame", *slow("polars", "glob", "folder")])
@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.sampled(3)
def test_a_format_is_read_alike_from_whatever_it_is_in(name, way, tmp_path, capsys):
    sample = SAMPLES[name]
    if (name, way) == ("Argilla", "polars"):
        pytest.skip("a column of Polars has values of one type")
    keep = ["source"] if sample.duels[0][4] else []
    log = bd.read_duels(opened(sample, way, tmp_path), keep=keep)
    assert content(log) == Counter(sample.duels)
    said = [line for line in capsys.readouterr().err.splitlines() if sample.said in line]
    assert len(said) == 1
    assert log.ordered == (name not in UNORDERED)


@few
@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.sampled(10)
def test_a_log_of_a_format_is_analysed_like_any_other(name, tmp_path):
    sample = SAMPLES[name]
    path = opened(sample, "path", tmp_path)
    log = bd.read_duels(path)
    assert bd.health(log).n_duels == len(sample.duels)
    found = bd.winners(bd.fit(log, bd.models.BradleyTerry(), draws=200, seed=0))
    assert set(found["arm"].values) == {arm for duel in sample.duels for arm in duel[:2]}
    answer = CliRunner().invoke(main, ["winners", str(path), "--model", "bradley-terry"])
    assert answer.exit_code == 0, answer.stderr
    assert f"read {path}: {sample.said}: " in answer.stderr


@few
@pytest.mark.parametrize("name", ["arena-hard-auto", *slow(*[*SAMPLES][1:])])
@pytest.mark.slow
def test_a_report_names_the_format(name, tmp_path):
    path = opened(SAMPLES[name], "path", tmp_path)
    fit = bd.fit(bd.read_duels(path), bd.models.BradleyTerry(), draws=200, seed=0)
    bd.report(fit, tmp_path / "report.html")
    assert SAMPLES[name].said in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("way", ["glob", *slow("path", "frame")])
@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.sampled(2)
def test_a_malformed_record_is_named_by_its_place_or_left_out(name, way, tmp_path):
    sample = SAMPLES[name]
    reason = sample.reason
    broken = sample._replace(records=[*sample.records, sample.malformed])
    given = opened(broken, way, tmp_path)
    with pytest.raises(ValueError) as caught:
        bd.read_duels(given)
    message = str(caught.value)
    half = len(broken.records) // 2
    row = len(sample.records) - (half if way == "glob" else 0)
    place = {"jsonl": f"line {2 * row + 1}", "csv": f"line {row + 2}"}.get(sample.extension)
    place = f"row {row} (the first is 0)" if place is None or way == "frame" else place
    file = f"{'2-' if way == 'glob' else ''}log.{sample.extension}"
    assert f"{'pandas DataFrame' if way == 'frame' else file}, {place}" in message
    assert reason in message
    assert len(message.splitlines()) == 1
    log = bd.read_duels(given, on_bad="skip", keep=["source"] if sample.duels[0][4] else [])
    assert not Counter(sample.duels) - content(log)
    assert [what for _, what in log.read_summary.bad_rows if reason.split(": ")[-1] in what]


ALPACA = '[{"generator_1": %s, "generator_2": "b", "preference": %s}]'
GAMES = '[{"games": %s, "model": "m", "judge": "j"}]'
SCORER = [{"eval": {"model": "m"}, "samples": [{"scores": {"a\"b'; DROP": {"value": {}}}}]}]
BROKEN = {
    "no JSON": ('[{"generator_1": "a",\n "generator_2": ]', "line 2: should be JSON"),
    "no object": (ALPACA[:-1] % ('"a"', 1) + ", 3]", "row 1 .*, got '3'"),
    "a list for a verdict": (ALPACA % ('"a"', [1]), r"row 0 .*, got '\[1"),
    "an object for an arm": (
        ALPACA % ('{"x": 1}', 1),
        "row 0 .*'model_a' .*name an arm, got nothing",
    ),
    "nothing": (ALPACA % ("null", "null"), "row 0 .*name an arm"),
    "a key twice": (ALPACA % ('"a", "generator_1": "c"', 7), "'generator_1' twice"),
    "no list of games": (GAMES % '"x"', "row 0 .*'games.score'.* got 'x'"),
    "games of numbers": (GAMES % [1, 2], "no rows"),
    "no annotations": ('[{"annotations": "y", "data": "x"}]', "row 0 .*got 'y'"),
    "no responses": ('[{"responses": 7, "fields": 1, "metadata": []}]', "row 0 .*got '7'"),
    "no samples": ('[{"eval": 3, "samples": 4}]', "at least two models"),
    "a name that is SQL": (json.dumps(SCORER), "at least two models"),
    "no objects": ("[[1], 2]", "should contain JSON objects"),
    "deep": ("[" * 5000 + "]" * 5000, "nested too deeply|should contain JSON objects"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.sampled(2)
def test_crafted_files_are_refused_in_one_line(name, tmp_path):
    text, rule = BROKEN[name]
    path = tmp_path / "log.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=rule) as caught:
        bd.read_duels(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)
    answer = CliRunner().invoke(main, ["winners", str(path)])
    assert answer.exit_code == 2 and len(lines(answer)) == 1


JUNK = (7, "", "'; DROP TABLE duels; --", [], [[None]], {"$.x": ["a"]}, 1e308, None)


@pytest.mark.parametrize("value", [JUNK[0], *slow(*JUNK[1:])], ids=repr)
@pytest.mark.parametrize("name", ["Label Studio", *slow(*SAMPLES)])
def test_any_value_in_the_place_of_another_is_read_or_refused_in_one_line(name, value, tmp_path):
    first, *others = SAMPLES[name].records
    for key in first:
        path = write(tmp_path / "log.json", [first | {key: value}, *others])
        for on_bad in ("error", "skip"):
            try:
                assert bd.read_duels(path, on_bad=on_bad).n_duels <= len(SAMPLES[name].duels) + 2
            except ValueError as error:
                assert "\n" not in str(error) and str(error).startswith(str(path))


def test_a_folder_of_people_and_a_machine_is_one_log(tmp_path, capsys):
    people = [label_studio(k, "m1", "base", (k % 3, selected("left"))) for k in range(6)]
    write(tmp_path / "people.json", people)
    machine = [arena_hard(f"prompt {k}", "m1", "A>B", "B>A") for k in range(6)]
    write(tmp_path / "machine.jsonl", machine)
    write(tmp_path / "arena.parquet", [arena(k, "m1", "base", "model_a") for k in range(4)])
    log = bd.read_duels(tmp_path, keep=["source"])
    assert log.n_duels == 6 + 12 + 4
    assert dict(log.to_frame()["source"].value_counts()) == {"judge-1": 12, "people": 10}
    assert set(log.to_frame()["judge"].dropna()) == {"0", "1", "2", "voter 0", "voter 1"}
    said = capsys.readouterr().err
    assert "2 sources, 'judge-1' and 'people', which keep=['source']" in said
    assert all(f"read {tmp_path}: {SAMPLES[n].said}: " in said for n in ("Label Studio", "arena"))
    (tmp_path / "table.csv").write_text("left,right,outcome\na,b,left\n")
    with pytest.raises(ValueError, match="of one format, got"):
        bd.read_duels(tmp_path)


def test_the_style_of_an_arena_gives_covariates(tmp_path):
    records = [arena(k, "m1", "m2", "model_a") for k in range(4)]
    names = ["length", "headers", "lists", "bold"]
    for given in (
        records,
        write(tmp_path / "log.jsonl", records),
        write(tmp_path / "log.parquet", records),
    ):
        frame = bd.read_duels(given, covariates=names).to_frame()
        np.testing.assert_array_equal(frame["length"], [10, 11, 12, 13])
        np.testing.assert_array_equal(frame["headers"], [0, 1, 2, 3])
        np.testing.assert_array_equal(frame[["lists", "bold"]], [[1, 2]] * 4)


def test_an_arena_log_is_read_as_its_plain_columns_are(tmp_path):
    records = [arena(k, *pair, "model_a") for k, pair in enumerate(["ab", "bc", "ca"] * 3)]
    nested = write(tmp_path / "log.parquet", records)
    plain = [{n: v for n, v in r.items() if not isinstance(v, list | dict)} for r in records]
    log, own = bd.read_duels(nested), bd.read_duels(write(tmp_path / "plain.parquet", plain))
    pd.testing.assert_frame_equal(log.to_frame(), own.to_frame())
    assert log.read_summary.reading == own.read_summary.reading | {"shape": "arena"}


def test_the_verdicts_left_out_are_counted(tmp_path, capsys):
    path = write(
        tmp_path / "log.jsonl", [arena_hard("q", "m", None, "A>B"), arena_hard("r", "m", None)]
    )
    assert bd.read_duels(path).n_duels == 1
    assert "left out: no verdict (3 rows)" in capsys.readouterr().err


def test_a_batch_is_read_like_an_earlier_log(tmp_path):
    sample = SAMPLES["arena-hard-auto"]
    log = bd.read_duels(opened(sample, "path", tmp_path), keep=["source"])
    again = bd.read_duels(pd.DataFrame(sample.records), like=log)
    pd.testing.assert_frame_equal(again.to_frame(), log.to_frame())


@pytest.mark.parametrize("layout", ["array", "object"])
def test_json_may_be_compressed_and_begin_with_a_mark(layout, tmp_path):
    logs = [inspect("m1", ["C", "I"]), inspect("m2", ["I", "I"])]
    for k, log in enumerate(logs):
        text = json.dumps([log] if layout == "array" else log, indent=1)
        data = b"\xef\xbb\xbf" + text.encode()
        (tmp_path / f"{k}.json.gz").write_bytes(gzip.compress(data))
    assert bd.read_duels(tmp_path).n_duels == 2


def test_a_list_of_json_objects_is_a_log_like_any_other(tmp_path):
    rows = [{"left": "a", "right": "b", "outcome": outcome} for outcome in ("left", "right", "odd")]
    path = write(tmp_path / "log.json", rows)
    assert bd.read_duels(path, on_bad="skip").n_duels == 2
    with pytest.raises(ValueError, match=re.escape("log.json, row 2 (the first is 0): column")):
        bd.read_duels(path)


# -- tables of scores ------------------------------------------------------------------------


SCORES = pd.DataFrame(
    {"small": [1.0, 3.0, 2.0], "large": [2.0, 3.0, 1.5]}, index=["q1", "q2", "q3"]
)


@pytest.mark.parametrize("kind", ["wide", "long", "file"])
def test_scores_are_duels_of_each_pair_clustered_by_item(kind, tmp_path):
    given = SCORES
    options = {}
    if kind != "wide":
        given = (
            SCORES.rename_axis("ask").reset_index().melt("ask", var_name="who", value_name="mark")
        )
        options = {"item": "ask", "model": "who", "score": "mark"}
    if kind == "file":
        given = write(tmp_path / "log.csv", given)
    log = bd.Duels.from_scores(given, **options, margin=True)
    frame = log.to_frame()
    assert list(frame["outcome"]) == ["left", "tie", "right"]
    assert list(frame["margin"]) == [1.0, 0.0, -0.5]
    assert frame["group"].nunique() == 3 and not log.ordered
    assert bd.Duels.from_scores(given, **options, tie_rule="drop").n_duels == 2
    assert "margin" not in bd.Duels.from_scores(given, **options).to_frame()


def test_errors_of_scores_are_robust_by_item():
    rng = np.random.default_rng(0)
    hard = rng.normal(size=60)
    table = {f"m{k}": np.round(hard + k + rng.normal(size=60)) for k in range(3)}
    found = bd.winners(bd.fit(bd.Duels.from_scores(table), draws=200, seed=0))
    assert "cluster-robust by group (60 clusters" in found.attrs["dependence"]


def test_true_is_one_and_what_is_not_finite_is_no_score():
    table = {"question": list("abcd"), "{notice}": [True, False, True, None]}
    log = bd.Duels.from_scores(table | {"{others}": [False, False, True, True]})
    assert (log.n_duels, log.n_ties, log.arms) == (3, 2, ("{notice}", "{others}"))
    scores = [long(item, model, 1.0) for item in "qr" for model in "ab"]
    scores[0]["score"] = "nan"
    assert (
        bd.Duels.from_scores([{**row, "score": str(row["score"])} for row in scores]).n_duels == 1
    )
    scores[0]["score"] = "inf"
    with pytest.raises(ValueError, match=r"row 0 .* should be a number, got .inf"):
        bd.Duels.from_scores([{**row, "score": str(row["score"])} for row in scores])


@pytest.mark.parametrize(
    ("table", "options", "rule"),
    [
        (SCORES, {"item": "nowhere"}, "no column 'nowhere' for item"),
        (SCORES[["small"]], {}, "a column of numbers for each .*; the columns are 'small'"),
        ([long("q", "a", 1), long("q", "a", 2), long("q", "b", 2)], {}, "row 0 .* 2 of 'a' on 'q'"),
        ([long("q", "a", 1), long("r", "a", 2)], {}, "at least two models on the same items, got"),
        ([long("q", "a", "x"), long("q", "b", "1")], {}, "row 0 .*'score' .* number, got 'x'"),
        ([long("q", m, 1) for m in (None, "b", "a")], {}, "row 0 .*of a model and an item"),
        ([long("q", "a", 1), long("r", "b", 1)], {}, "at least one duel"),
    ],
)  # fmt: skip
def test_what_is_no_table_of_scores_is_refused(table, options, rule):
    with pytest.raises(ValueError, match=rule):
        bd.Duels.from_scores(table, **options)
