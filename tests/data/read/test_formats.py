"""Formats, however the file is written, read to the same tallies."""

import csv
import gzip

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesduel as bd
from bayesduel.data.duels import Duels
from bayesduel.data.read.formats import json_object, open_csv
from tests.support.writing import DUELS, WORDS, expected, json_lines, same

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
@pytest.mark.sampled(3)
def test_text_files(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    assert same(bd.read_duels(path), expected())
    assert same(bd.read_duels(str(path), on_bad="skip"), expected())


def test_line_breaks_and_commas_inside_quotes(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('left,right,outcome,note\n"a,\nb",c,left,"1\r\n2"\n"say ""x""",c,left,"x,y"\n')
    assert bd.read_duels(path).arms == ("a,\nb", "c", 'say "x"')


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


def test_what_is_no_object_is_shown_by_forty_characters():
    assert json_object(str([0] * 60)) == f"should be a JSON object, got '[{'0, ' * 13}'"
    assert json_object("[0]") == "should be a JSON object, got '[0]'"


def test_the_limit_of_fields_fits_a_long_of_32_bits(tmp_path):
    """As on Windows, where csv refuses a larger one. Afterwards it is what it was."""
    path, before = tmp_path / "log.csv", csv.field_size_limit()
    path.write_bytes(SOUND)
    with open_csv(str(path), "none", ",") as (reader, _):
        assert 2**30 < csv.field_size_limit() < 2**31
        assert len(list(reader)) == 6
    assert csv.field_size_limit() == before


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
    with pytest.raises(ValueError, match=r"parquet: column 'left' should contain text or"):
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
    assert duels.read_summary.n_duplicates == 0


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
@pytest.mark.slow
def test_any_log_comes_back_from_any_format(tmp_path_factory, labels, picks):
    import csv
    import json

    from bayesduel.data.read.faults import MISSING

    arms = [f"{label}!" if label in MISSING else label for label in labels]
    rows = [(arms[i % len(arms)], arms[j % len(arms)], o) for i, j, o in picks]
    rows.append((arms[0], arms[1], 1.0))
    words = WORDS
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
