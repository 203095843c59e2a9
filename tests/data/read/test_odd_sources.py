"""Odd files and frames are read rightly or refused in one line that names them."""

import gzip
import json
import os
import re
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bayesduel as bd

ROWS = [("a", "b", "left"), ("b", "c", "right"), ("c", "a", "left"), ("a", "c", "left")]
FRAME = pd.DataFrame(ROWS, columns=["left", "right", "outcome"])
TABLE = pa.Table.from_pandas(FRAME, preserve_index=False)


def refused(source, **options) -> str:
    """Return the message of a log that is refused, which is one line of the package."""
    with pytest.raises((ValueError, TypeError, OSError)) as caught:
        bd.read_duels(source, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert type(caught.value).__module__.startswith(("builtins", "bayesduel"))
    assert str(caught.traceback[-1].path).find("bayesduel") > 0  # raised by the package
    return message


def json_log(folder, objects, name="log.jsonl", start=""):
    text = start + "".join(json.dumps(one) + "\n" for one in objects)
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return path


OBJECTS = FRAME.to_dict("records")


# -- JSON lines ----------------------------------------------------------------------------


@pytest.mark.parametrize("late", [dict(weight=10), dict(n=10), dict(freq=10)])
@pytest.mark.slow
def test_a_weight_that_comes_late_counts(tmp_path, late):
    path = json_log(tmp_path, OBJECTS * 300 + [OBJECTS[0] | late])
    key = next(iter(late))
    assert f"log.jsonl, line 1: column '{key}' should be a whole number" in refused(path)
    assert bd.read_duels(path, on_bad="skip").n_duels == 10
    assert bd.read_duels(path, weight=False).n_duels == 1201


def test_a_judge_that_comes_late_is_a_judge(tmp_path):
    path = json_log(tmp_path, OBJECTS * 300 + [OBJECTS[0] | {"judge": "j"}])
    assert bd.read_duels(path).votes.judges == ("j",)


@pytest.mark.parametrize("name", ["log.jsonl", "log.jsonl.gz"])
def test_a_byte_order_mark_before_json_is_left_out(tmp_path, name):
    path = json_log(tmp_path, OBJECTS, name, start="\ufeff")
    assert bd.read_duels(path).n_duels == 4
    path = json_log(tmp_path, [*OBJECTS, {"left": "a"}], name, start="\ufeff")
    assert f"{name}, line 5: column 'right' should name an arm" in refused(path)
    assert bd.read_duels(path, on_bad="skip").n_duels == 4


def test_keys_of_json_that_are_empty_or_differ_by_case(tmp_path):
    assert bd.read_duels(json_log(tmp_path, [one | {"": 1} for one in OBJECTS])).n_duels == 4
    late = json_log(tmp_path, OBJECTS * 300 + [OBJECTS[0] | {"Left": "z"}])
    assert "should differ in more than case, got 'left' and 'Left'" in refused(late)
    many = json_log(tmp_path, [*OBJECTS, dict.fromkeys(map(str, range(10_001)), 1)])
    assert "at most 10,000 different keys, got 10,004" in refused(many)


@pytest.mark.parametrize("value", [{"x": 1}, {}, ["a"], [], [[1]]])
@pytest.mark.parametrize("role", ["left", "right", "outcome", "judge", "weight", "margin", "time"])
@pytest.mark.sampled(4)
def test_nested_json_is_refused(tmp_path, value, role):
    objects = [dict(one) for one in OBJECTS]
    objects[2][role] = value
    path = json_log(tmp_path, objects)
    what = f"column '{role}' should contain text or a number, got {value}"
    if role in ("left", "right", "outcome", "judge"):
        assert f"log.jsonl, line 3: {what}" in refused(path)
    elif role == "time":
        bad = bd.read_duels(path, on_bad="skip").read_summary.bad_rows
        assert bad[0][1] == what
    else:
        assert "log.jsonl, line " in refused(path)


def test_text_that_looks_like_json_is_a_label(tmp_path):
    path = json_log(tmp_path, [{"left": "[a]", "right": '{"x":1}', "outcome": "left"}])
    assert bd.read_duels(path).arms == ("[a]", '{"x":1}')


def test_nested_json_is_refused_in_tables_of_pulls_and_of_items(tmp_path):
    path = json_log(tmp_path, [{"item": "a", "reward": 1}, {"item": ["b"], "reward": 1}])
    with pytest.raises(ValueError, match="line 2: column 'item' should contain text or a number"):
        bd.read_pulls(path)


# -- Parquet -------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rows", [0, 4])
@pytest.mark.parametrize("extra", ["file_row_number", "filename", "n_rows"])
def test_parquet_with_columns_that_duckdb_would_add(tmp_path, rows, extra):
    path = tmp_path / "log.parquet"
    pq.write_table(TABLE.append_column(extra, pa.array([1, 2, 3, 4])).slice(0, rows), path)
    if rows:
        assert bd.read_duels(path).n_duels == 4
    else:
        assert refused(path) == f"{path}: should contain duels, got no rows"
    pq.write_table(TABLE.set_column(1, "right", pa.array(["b", "a", None, "a"])), path)
    assert "log.parquet, row 2 (the first is 0): column 'right' should name" in refused(path)


@pytest.mark.parametrize(
    ("weight", "got"),
    [
        (pa.array([1, np.nan, 2, 3]), "nan"),
        (pa.array([1, np.inf, 2, 3]), "inf"),
        (pa.array([1, None, 2, 3]), "nothing"),
        (pa.nulls(4), "nothing"),
        (pa.array([[1]] * 4), "BIGINT[]"),
        (pa.array([b"1"] * 4), "BLOB"),
    ],
    ids=str,
)
def test_weights_of_parquet_that_are_no_counts(tmp_path, weight, got):
    path = tmp_path / "log.parquet"
    pq.write_table(TABLE.append_column("weight", weight), path)
    message = refused(path)
    assert str(path) in message
    assert "column 'weight' should" in message
    assert re.search(rf"got {re.escape(got)}($|;| \(and)", message)


def test_labels_of_parquet_that_are_all_missing(tmp_path):
    path = tmp_path / "log.parquet"
    pq.write_table(TABLE.set_column(0, "left", pa.nulls(4)), path)
    assert "row 0 (the first is 0): column 'left' should name an arm, got nothing" in refused(path)


# -- frames --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        pd.concat([FRAME, FRAME[["left"]]], axis=1),
        pd.concat([FRAME.assign(left2=1), FRAME[["left"]]], axis=1),
        pa.Table.from_arrays([*TABLE.columns, TABLE["left"]], names=[*TABLE.column_names, "left"]),
    ],
    ids=["pandas", "pandas, one more", "pyarrow"],
)
@pytest.mark.parametrize("read", [bd.read_duels, bd.read_items, bd.read_pulls])
def test_repeated_names_of_columns(frame, read):
    with pytest.raises(ValueError, match="columns should have distinct names, got 'left' twice"):
        read(frame)


def test_names_of_columns_that_are_numbers_or_no_text():
    numbered = FRAME.set_axis([0, 1, 2], axis=1)
    assert bd.read_duels(numbered, left="0", right="1", outcome="2").n_duels == 4
    both = pd.concat([FRAME, pd.DataFrame({"1": [1] * 4, 1: [2] * 4})], axis=1)
    assert "columns should have distinct names, got '1' twice" in refused(both)
    odd = FRAME.assign(x=1)
    odd.columns = pd.Index([*FRAME, "\ud800"], dtype=object)
    message = refused(odd)
    assert message.endswith("columns should have names of UTF-8 text, got '\\ud800'")


KINDS = {
    "complex": pd.Series([1j] * 4),
    "interval": pd.Series(pd.interval_range(0, 4)),
    "period": pd.Series(pd.period_range("2020", periods=4)),
    "sparse": pd.Series(pd.arrays.SparseArray([1, 2, 3, 4])),
    "half of a surrogate pair": pd.Series(["\ud800"] * 4, dtype=object),
    "bytes": pd.Series([b"\xff"] * 4, dtype=object),
    "object": pl.Series([object()] * 4, dtype=pl.Object),
    "list": pl.Series([[1]] * 4),
    "struct": pl.Series([{"x": 1}] * 4),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("role", ["left", "outcome", "margin", "judge", "weight", "time", "x"])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_frames_that_are_neither_text_nor_numbers(role, kind):
    values = KINDS[kind]
    options = {"covariates": ["x"]} if role == "x" else {}
    if isinstance(values, pl.Series):
        frame = pl.from_pandas(FRAME).with_columns(values.alias(role))
        frames = [frame, frame.lazy()]
    else:
        frames = [FRAME.drop(columns=role, errors="ignore").assign(**{role: values})]
    for frame in frames:
        message = refused(frame, **options)
        assert f"column {role!r} should" in message


def test_columns_that_are_not_used_may_be_of_any_kind():
    for values in KINDS.values():
        if isinstance(values, pl.Series):
            frame = pl.from_pandas(FRAME).with_columns(values.alias("unused"))
        else:
            frame = FRAME.assign(unused=values)
        assert bd.read_duels(frame).n_duels == 4


@pytest.mark.parametrize("role", ["left", "weight", "judge"])
def test_whole_numbers_of_128_bits(role):
    frame = pl.from_pandas(FRAME).with_columns(pl.Series(role, [1, 2, 3, 4], dtype=pl.Int128))
    for one in (frame, frame.lazy()):
        log = bd.read_duels(one)
        assert log.n_duels == (10 if role == "weight" else 4)
        assert log.arms[0] == ("1" if role == "left" else "a")


def test_half_of_a_surrogate_pair_in_python_lists():
    half = "\ud800"
    for source in (
        [(half, "b", "left"), ("b", "c", "left")],
        [{"left": half, "right": "b", "outcome": "left"}],
        {"left": [half], "right": ["b"], "outcome": ["left"]},
        {"left": ["a"], "right": ["b"], "outcome": ["left"], half: [1]},
    ):
        assert "should" in (message := refused(source))
        assert "got '\\ud800'" in message
    with pytest.raises(ValueError, match="left should be a list of labels of UTF-8 text"):
        bd.Duels.from_votes([half], ["b"], [1])
    with pytest.raises(ValueError, match="arms should be a list of labels of UTF-8 text"):
        bd.Duels.from_wins([[0, 1], [1, 0]], ["a", half])


# -- counts of wins ------------------------------------------------------------------------

COUNTS = pd.DataFrame({"a": ["a", "b"], "b": ["b", "c"], "wins_a": [3, 2], "wins_b": [1, 2]})


def written(frame, folder, ending):
    """Return a frame, or the path of a file with its rows."""
    path = folder / f"log.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.to_parquet(path)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        return frame
    return path


PLACE = {"csv": "line 3", "jsonl": "line 2", "parquet": "row 1", "frame": "row 1"}


@pytest.mark.parametrize("ending", PLACE)
@pytest.mark.parametrize(
    ("column", "value", "what"),
    [
        ("wins_a", -1, "should be a whole number of wins, got"),
        ("wins_b", 1.5, "should be a whole number of wins, got"),
        ("b", None, "should name an arm, got nothing"),
        ("ties", -2, "should be a whole number of ties, got"),
        ("weight", 10, r"should be the number of duels of the row, 4 \(weight=False"),
        ("n", 10, r"should be the number of duels of the row, 4 \(weight=False"),
    ],
)
@pytest.mark.sampled(3)
def test_a_bad_count_names_its_row(tmp_path, ending, column, value, what):
    frame = COUNTS.copy()
    if column not in frame:
        frame[column] = [0, 0] if column == "ties" else [4, 4]
    assert bd.read_duels(written(frame, tmp_path, ending)).n_duels == 8
    frame[column] = [frame[column][0], value]
    message = refused(written(frame, tmp_path, ending))
    assert re.search(rf"{PLACE[ending]}\b.*: column {column!r} {what}", message)


def test_counts_of_wins_have_no_other_weight():
    with pytest.raises(ValueError, match="weight should be left out, as 'wins_a' and 'wins_b'"):
        bd.read_duels(COUNTS.assign(x=1), weight="x")
    assert bd.read_duels(COUNTS.assign(weight=10), weight=False).n_duels == 8


# -- files ---------------------------------------------------------------------------------


def test_a_file_is_in_a_log_once(tmp_path):
    path, other = tmp_path / "log.csv", tmp_path / "other.csv"
    FRAME.to_csv(path, index=False)
    FRAME.to_csv(other, index=False)
    assert bd.read_duels([path, other]).n_duels == 8
    (tmp_path / "symbolic.csv").symlink_to(path)
    os.link(path, tmp_path / "hard.csv")
    for again in ("log.csv", "./log.csv", "symbolic.csv", "hard.csv", "l*.csv"):
        assert "should be in a log once" in refused([path, os.path.join(tmp_path, again)])


@pytest.mark.parametrize("ending", ["", ".csv", ".jsonl"])
def test_a_pipe_is_refused_before_it_is_read(tmp_path, ending):
    path = tmp_path / f"pipe{ending}"
    os.mkfifo(path)
    assert refused(path) == f"{path}: should be a file that can be read again, got a pipe; save it"


def test_a_pipe_by_its_number_and_a_device_are_refused():
    end, start = os.pipe()
    writer = threading.Thread(target=os.write, args=(start, b"left,right,outcome\na,b,left\n"))
    writer.start()
    assert "should be a file that can be read again, got a pipe" in refused(f"/dev/fd/{end}")
    writer.join()
    os.close(end)
    os.close(start)
    assert "got a device; save it" in refused("/dev/null")


@pytest.mark.parametrize("name", [b"\xff.csv", b"\xff.csv.gz", b"\xff.jsonl", b"\xff.parquet"])
def test_a_name_that_is_not_utf8(tmp_path, name):
    path = os.path.join(tmp_path, os.fsdecode(name))
    text = FRAME.to_csv(index=False).encode()
    with open(path, "wb") as stream:
        if b"parquet" in name:
            pq.write_table(TABLE, stream)
        elif b"jsonl" in name:
            stream.write(FRAME.to_json(orient="records", lines=True).encode())
        else:
            stream.write(gzip.compress(text) if b"gz" in name else text)
    log = bd.read_duels(path)
    assert log.n_duels == 4
    assert log.read_summary.source.endswith(rf"\udcff{name[1:].decode()}")
    assert repr(bd.health(log)).encode("utf-8")
    assert rf"{path}: no column 'x' for by".encode("utf-8", "backslashreplace").decode() in refused(
        path, by="x"
    )


@pytest.mark.parametrize("scheme", ["mysql", "mongodb+srv", "duckdb2"])
def test_a_scheme_that_is_not_read_is_named_without_the_password(scheme):
    message = refused(f"{scheme}://me:secret@host/base::votes")
    assert message.startswith(f"{scheme}://: should be a scheme that DuckDB reads")
    assert "secret" not in message


@pytest.mark.parametrize("name", ["\ud800.csv", "a\0b.csv", "x" * 300, "x/" * 3000])
def test_names_that_no_file_can_have(name):
    message = refused(name)
    assert message.endswith("no such file")
    assert len(message) < 300


def test_a_folder_without_permission(tmp_path, monkeypatch):
    def denied(place):
        if str(place) == str(folder):
            raise PermissionError(13, "Permission denied", str(place))
        return scan(place)

    folder = tmp_path / "folder"
    folder.mkdir()
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", denied)
    assert refused(folder) == f"{folder}: permission denied"


def test_a_covariate_that_is_no_column_names_the_argument():
    assert "no column 'length' for covariates" in refused(FRAME, covariates=["length"])
    twice = FRAME.assign(length=[1, 2, 3, 4])
    message = refused(twice, covariates=["length"], judge="length")
    assert "column 'length' should have one role, got judge and covariates" in message
