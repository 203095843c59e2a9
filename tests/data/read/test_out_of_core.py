"""Folders of files, counted within a stated memory; the numbers are those without a limit."""

import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.data.read.coding import DEFAULTS
from bayesduel.data.read.roles import assign
from bayesduel.data.read.source import open_source
from bayesduel.system.memory import bytes_of
from benchmarks.scale.made_duels import make_duels

NAMES = ("left", "right", "outcome")
ROLES = assign(list(NAMES), "log", DEFAULTS, None, lambda names: {})


def counted(rows):
    """Return the number of rows by their texts."""
    texts = (
        [None if k < 0 else column.values[k] for k in column.code]
        for column in (rows.left, rows.right, rows.outcome)
    )
    return dict(zip(zip(*texts, strict=True), rows.n.tolist(), strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """300,000 duels of 2,000 arms in two files, one in a folder of its own; and what is no log."""
    place = tmp_path_factory.mktemp("logs")
    rng = np.random.default_rng(0)
    for name in ("part-0.parquet", "day=2/part-1.parquet"):
        left, right = rng.integers(0, 2_000, size=(2, 150_000))
        outcome = rng.choice(["left", "right", "tie"], size=150_000)
        columns = {"left": left.astype(str), "right": right.astype(str), "outcome": outcome}
        (place / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), place / name)
    for name in ("_SUCCESS", ".part-0.parquet.crc", "_old.parquet", "day=2/.hidden.parquet"):
        (place / name).write_text("no Parquet")
    return place


@pytest.mark.slow
def test_a_folder_is_one_log(folder):
    duels = bd.read_duels(folder)
    parts = bd.read_duels([folder / "part-0.parquet", folder / "day=2" / "part-1.parquet"])
    assert duels.read_summary.n_rows == 300_000
    assert duels.arms == parts.arms
    assert all(np.array_equal(x, y) for x, y in zip(duels.cells, parts.cells, strict=True))


@pytest.mark.slow
def test_a_limit_of_memory_changes_no_number(folder):
    free, limited = bd.read_duels(folder), bd.read_duels(folder, memory="100MB")
    assert limited.arms == free.arms
    assert all(np.array_equal(x, y) for x, y in zip(limited.cells, free.cells, strict=True))
    assert limited.read_summary == free.read_summary


@pytest.mark.parametrize("outcomes", [3, 20])  # counted in columns of their own, or as rows
def test_rows_counted_by_hashes_of_labels_are_those_counted_by_labels(
    tmp_path, monkeypatch, outcomes
):
    rng = np.random.default_rng(1)
    labels = np.array(["a", " a", "b ", "", "é", "NA", "0", "longer than twelve bytes", None])
    words = np.array(["left", "right", None, *(f"word {k}" for k in range(17))])[:outcomes]
    columns = {side: labels[rng.integers(0, len(labels), 3_000)] for side in ("left", "right")}
    columns["outcome"] = words[rng.integers(0, outcomes, 3_000)]
    table = pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})
    pq.write_table(table, tmp_path / "log.parquet")
    with open_source(tmp_path) as source:
        assert set(source._labels(list(NAMES), ROLES, source._log(ROLES))) == {*NAMES}
        hashed = counted(source.rows(ROLES))
        monkeypatch.setattr("bayesduel.data.read.duckdb_source.MOST_LABELS", 8)
        assert source._labels(list(NAMES), ROLES, source._log(ROLES)).keys() <= {
            "outcome"
        }  # of nine
        assert counted(source.rows(ROLES)) == hashed
    assert sum(hashed.values()) == 3_000
    assert {text for key in hashed for text in key} == {*labels, *words}


def test_a_column_without_a_label_is_counted(tmp_path):
    table = pa.table(
        {"left": pa.nulls(3, pa.string()), "right": ["a", "b", "a"], "outcome": list("lrl")}
    )
    pq.write_table(table, tmp_path / "log.parquet")
    with open_source(tmp_path) as source:
        assert counted(source.rows(ROLES)) == {(None, "a", "l"): 2, (None, "b", "r"): 1}


def test_labels_with_the_same_hash_are_counted_as_labels(folder):
    with open_source(folder) as source:
        source._con.execute("CREATE TEMP MACRO hash(label) AS length(label)")
        assert source._labels(list(NAMES), ROLES, source._log(ROLES)).keys() <= {"outcome"}


def test_more_than_the_memory_holds_is_refused(folder, monkeypatch):
    monkeypatch.setattr("bayesduel.data.read.duckdb_source.ENTRY", 1_000)
    with pytest.raises(ValueError, match=r"should have at most 50,000 different rows of arms and"):
        bd.read_duels(folder, memory="100MB")
    with pytest.raises(ValueError, match=r"rows should be at most 50,000 .* kept for 'judge'; .*"):
        bd.read_duels(folder, judge="outcome", outcome=False, memory="100MB")


def test_as_many_rows_as_the_memory_holds_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("bayesduel.data.read.duckdb_source.ENTRY", 50_000_000 // 3)
    path, sound = tmp_path / "log.csv", "left,right,outcome\na,b,left\nb,c,left\na,c,right\n"
    path.write_text(sound + "a,b,left\n")
    assert bd.read_duels(path, memory="100MB").n_duels == 4
    path.write_text(sound + "a,b,right\n")
    with pytest.raises(ValueError, match="should have at most 3 different rows of arms and"):
        bd.read_duels(path, memory="100MB")


def test_votes_beyond_the_memory_are_refused_by_the_command(folder, monkeypatch):
    monkeypatch.setattr("bayesduel.data.read.duckdb_source.ENTRY", 1_000)
    command = ["health", str(folder), "--memory", "100MB"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code
    assert "allow more memory" in done.output


@pytest.mark.parametrize(
    ("memory", "size"),
    [("2GB", 2 * 10**9), ("1.5 gib", 3 * 2**29), ("500MB", 5 * 10**8), (10**9, 10**9)],
)
def test_sizes_of_memory(memory, size):
    assert bytes_of(memory) == size


@pytest.mark.parametrize("memory", ["2", "GB", "1e9B", "-2GB", "99MB", 2.5, True, None, 10**20])
def test_what_is_no_size_of_memory(memory):
    rule = "memory should be a size of at least 100MB, such as '2GB', got "
    with pytest.raises(ValueError, match=re.escape(rule)):
        bytes_of(memory)


def test_memory_is_for_files(folder):
    with pytest.raises(ValueError, match="memory should be given for files only"):
        bd.read_duels(pq.read_table(folder / "part-0.parquet"), memory="1GB")


@pytest.mark.slow
def test_made_duels_go_on_where_they_ended(tmp_path):
    make_duels(tmp_path / "a", 5_000, 20, seed=3, workers=1)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "part-0000.partial").write_text("half a file")  # of a run that was killed
    command = [sys.executable, "-m", "benchmarks.scale.made_duels", str(tmp_path / "b")]
    subprocess.run([*command, "--rows", "5000", "--arms", "20", "--seed", "3"], check=True)
    a, b = (bd.read_duels(tmp_path / name) for name in "ab")
    assert a.n_duels == 5_000
    assert a.arms == b.arms
    assert all(np.array_equal(x, y) for x, y in zip(a.cells, b.cells, strict=True))
