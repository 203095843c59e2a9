"""Every row of a source is read, or left out and listed; whatever happened to the file.

What a file holds is worked out here by a second reader, in plain Python.
"""

import csv
import io
import json
import random
import sys

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import bayesduel as bd
from bayesduel.data.read import duckdb_source
from bayesduel.data.read.formats import recognise
from bayesduel.data.read.record_count import count_records
from bayesduel.data.read.rows import WHITE_SPACE

HEADER = "left,right,outcome,weight\n"
ROWS = [
    ["a", "b", "left", "1"],
    ["b", "c", "right", "2"],
    ["c", "a", "tie", "1"],
    ['"d, e"', "a", "left", "3"],
    ['"two\nlines"', "b", "left", "1"],
    ["émile", "b", "left", "1"],
]
PIECES = ["\t", " ", "\u2028", "\xa0", "\x85", "\x1c", '"', '""', ",", "\n", "\r\n", "\n\n", "\r",
          "\x00", "\ufeff", "1e400", "nan", "+2", "2.", "-1", "5_0", "٣", "{", "}", "null", "\\",
          "left", '"left":', "NA", ";"]  # fmt: skip
mutations = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from(["insert", "cut", "double"]),
              st.sampled_from(PIECES)),
    min_size=1, max_size=3,
)  # fmt: skip


def test_white_space_is_what_python_strips():
    assert set(WHITE_SPACE) == {chr(c) for c in range(sys.maxunicode + 1) if chr(c).isspace()}


@pytest.mark.parametrize("space", ["\t", "\u2028", "\xa0", " \t"])
@pytest.mark.parametrize("on_bad", ["error", "skip"])
def test_white_space_around_a_weight_is_no_fault(tmp_path, space, on_bad):
    path = tmp_path / "log.csv"
    path.write_text(
        f"left,right,outcome,weight\na,b,left,2{space}\na,b,left,{space}3\na,b,left,1\n"
    )
    assert bd.read_duels(path, on_bad=on_bad).n_duels == 6


@pytest.mark.parametrize("name", ["log[1].csv", "log*.csv", "log?.csv"])
def test_bad_lines_of_a_file_whose_name_is_a_glob_are_listed(tmp_path, name):
    path = tmp_path / name
    path.write_text("left,right,outcome\na,b,left\na,b\nb,a,left\n")
    found = bd.read_duels(path, on_bad="skip").read_summary
    assert (found.n_rows, found.n_bad_rows) == (3, 1)
    assert found.bad_rows[0][0] == f"{path}, line 3"


def test_a_quote_closed_inside_a_field_costs_its_line_alone(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('left,right,outcome\na,b,left\n"a"x,b,left\nb,c,right\n"c')
    log = bd.read_duels(path, on_bad="skip")
    assert (log.n_duels, log.read_summary.n_rows, log.read_summary.n_bad_rows) == (2, 4, 2)
    assert [place for place, _ in log.read_summary.bad_rows] == [
        f"{path}, line 3",
        f"{path}, line 5",
    ]


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("folder", ["left=zzz", "weight=5", "outcome=right", "day=2024-01-01"])
@pytest.mark.sampled(3)
def test_names_of_folders_are_not_columns(tmp_path, folder, ending):
    table = pa.table({"left": list("abc"), "right": list("bca"), "outcome": ["left"] * 3})
    path = tmp_path / folder / f"log.{ending}"
    path.parent.mkdir()
    if ending == "parquet":
        pq.write_table(table, path)
    elif ending == "csv":
        path.write_text("left,right,outcome\na,b,left\nb,c,left\nc,a,left\n")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    for duels in (bd.read_duels(path), bd.read_duels(path, on_bad="skip")):
        assert duels.arms == ("a", "b", "c")
        assert duels.tally().wins.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_a_bad_row_of_parquet_in_such_a_folder_has_its_own_values(tmp_path):
    path = tmp_path / "left=zzz" / "log.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"left": ["a", "b"], "right": ["b", None], "outcome": [1, 1]}), path)
    found = bd.read_duels(path, on_bad="skip")
    assert found.arms == ("a", "b")
    assert found.read_summary.n_bad_rows == 1


def test_a_repeated_key_is_refused_and_listed(tmp_path):
    path = tmp_path / "log.jsonl"
    good = '{"left": "a", "right": "b", "outcome": "left"}\n'
    path.write_text(good + '{"left": "a", "left": "c", "right": "b", "outcome": "left"}\n' + good)
    with pytest.raises(ValueError, match=r"line 2: should have distinct keys, got 'left' twice"):
        bd.read_duels(path)
    found = bd.read_duels(path, on_bad="skip")
    assert (found.n_duels, found.read_summary.n_rows, found.read_summary.n_bad_rows) == (2, 3, 1)


@pytest.mark.parametrize("value", ['"\\ud800"', "1" * 5_000, "[" * 3_000 + "]" * 3_000])
def test_json_that_python_refuses_is_listed(tmp_path, value):
    path = tmp_path / "log.jsonl"
    good = '{"left": "a", "right": "b", "outcome": "left"}\n'
    path.write_text(good + f'{{"left": {value}, "right": "b", "outcome": 1}}\n' + good)
    found = bd.read_duels(path, on_bad="skip").read_summary
    assert (found.n_rows, found.n_bad_rows) == (3, 1)


def test_a_part_of_bad_rows_only_is_named(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text(
        "who,left,right,outcome\ns,a,b,left\nt,a,,left\nt,,b,left\n,a,b,left\ns,b,,left\n"
    )
    found = bd.read_duels(path, by="who", on_bad="skip")
    assert list(found) == ["s"]
    assert (found["s"].read_summary.n_rows, found["s"].read_summary.n_bad_rows) == (3, 2)
    assert "who=t: 2 bad rows only, the first at" in capsys.readouterr().err


def mutated(text: str, changes) -> str:
    for share, what, piece in changes:
        i = int(share * len(text))
        if what == "insert":
            text = text[:i] + piece + text[i:]
        elif what == "cut":
            text = text[:i] + text[i + len(piece) :]
        else:
            text = text[:i] + text[i : i + 5] + text[i:]
    return text


def check_accounting(path, counts) -> None:
    """Read a file both ways; the rows that are read and those that are listed are all rows."""
    try:
        skipped = bd.read_duels(path, on_bad="skip")
    except ValueError as error:
        assert str(error).startswith(str(path)), error
        skipped = None
    else:
        found = skipped.read_summary
        assert found.n_bad_rows == len(found.bad_rows)
        assert found.n_rows in counts
    try:
        strict = bd.read_duels(path)
    except ValueError as error:
        assert str(error).startswith(str(path)), error
        assert skipped is None or skipped.read_summary.n_bad_rows > 0, error
    else:
        assert skipped is not None and skipped.read_summary.n_bad_rows == 0
        assert strict.arms == skipped.arms
        assert np.array_equal(strict.tally().wins, skipped.tally().wins)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example([(0.9, "insert", "\u2028")], 0)
@example([(0.5, "insert", '"')], 1)
@example([(0.0, "insert", " ")], 1)
@given(mutations, st.integers(0, 1000))
@pytest.mark.slow
def test_no_row_of_a_damaged_text_file_is_lost(tmp_path, changes, seed):
    rows = ROWS * 3
    random.Random(seed).shuffle(rows)
    body = mutated("".join(",".join(row) + "\n" for row in rows), changes)
    path = tmp_path / "log [1].csv"
    path.write_bytes((HEADER + body).encode())
    counts = set()
    for spaces in (False, True):  # a space before a quote may be part of the field
        reader = csv.reader(io.StringIO(HEADER + body, newline=""), skipinitialspace=spaces)
        counts.add(sum(bool(record) for record in reader) - 1)
    check_accounting(path, counts)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(mutations)
def test_no_row_of_damaged_json_lines_is_lost(tmp_path, changes):
    keys = ("left", "right", "outcome", "weight")
    rows = [dict(zip(keys, (text.strip('"') for text in row), strict=True)) for row in ROWS]
    body = mutated("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), changes)
    path = tmp_path / "log.jsonl"
    path.write_bytes(body.encode())
    check_accounting(path, {sum(bool(line.strip()) for line in body.encode().split(b"\n"))})


@pytest.mark.parametrize(
    "body",
    ["", "a,b\n", "a,b", "a,b\n\n\nc,d\n", "a,b\r\n\r\nc,d\r\n", '"a\n\nb",c\nd,e\n', '"a""b\n",c',
     "a,b\nc,d\n" * 1000, '"x\n",y\n' * 1000, "\n\na,b\n"],
)  # fmt: skip
@pytest.mark.parametrize("block", [7, 1 << 22])
def test_records_are_counted_as_by_the_csv_module(tmp_path, monkeypatch, body, block):
    monkeypatch.setattr("bayesduel.data.read.record_count.BLOCK", block)
    path = tmp_path / "log.csv"
    path.write_text("left,right\n" + body, newline="")
    expected = sum(bool(record) for record in csv.reader(io.StringIO(body, newline="")))
    assert count_records(recognise(str(path)), ["left"]) == expected


def test_a_row_that_the_engine_loses_is_found_again(tmp_path, monkeypatch):
    """The count of the records is made without DuckDB: what it lost is read row by row."""
    from bayesduel.data.read.duckdb_source import FileSource

    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\na,b,left\nb,a,left\na,b,left\n")
    query = FileSource._log
    monkeypatch.setattr(FileSource, "_log", lambda *a, **k: f"{query(*a, **k)} LIMIT 2")
    assert bd.read_duels(path).n_duels == 3


def test_a_row_that_a_frame_loses_is_noticed(monkeypatch):
    frame = pd.DataFrame({"left": list("aba"), "right": list("bab"), "outcome": ["left"] * 3})
    from bayesduel.data.read import narwhals_source

    monkeypatch.setattr(narwhals_source, "_batches", lambda table: table.slice(1).to_batches())
    with pytest.raises(ValueError, match=r"rows read should add up to the 3 rows"):
        bd.read_duels(frame)


def test_a_source_that_changes_while_it_is_read_is_noticed(tmp_path, monkeypatch):
    """The places of bad rows are found in a second reading, here of a file that was mended."""
    from bayesduel.data.read import duels_in_source

    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\na,b,left\nb,,left\na,b,right\n")
    located = duels_in_source._locate

    def mended(*args):
        path.write_text("left,right,outcome\na,b,left\nb,a,left\na,b,right\n")
        return located(*args)

    monkeypatch.setattr(duels_in_source, "_locate", mended)
    with pytest.raises(ValueError, match="should not change while it is read, got 1 bad rows, and"):
        bd.read_duels(path, on_bad="skip")


def test_reading_is_local(tmp_path, monkeypatch):
    """A relative path that looks like a home folder is a path, and nothing is fetched."""
    seen = []
    connect = duckdb.connect

    def watched(*args, **kwargs):
        seen.append(kwargs["config"])
        return connect(*args, **kwargs)

    duckdb_source._kept.cache_clear()  # of this process, which has another home
    monkeypatch.setattr(duckdb, "connect", watched)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    log = "left,right,outcome\na,b,left\n"
    for name in ("~/log.csv", "http/h/log.csv", "s3:/b/log.csv", "~"):
        path = tmp_path / name / "log.csv" if name == "~" else tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(log)
    for name in ("~/log.csv", "http/h/log.csv", "s3:/b/log.csv", "~/*.csv"):
        assert bd.read_duels(name).arms == ("a", "b")
    with pytest.raises(FileNotFoundError):
        bd.read_duels("~/elsewhere*.csv")
    with pytest.raises(ValueError, match="with the extension httpfs"):
        bd.read_duels("https://example.org/log.csv")
    for config in seen:
        assert config["autoinstall_known_extensions"] == "false"
        assert config["autoload_known_extensions"] == "false"
