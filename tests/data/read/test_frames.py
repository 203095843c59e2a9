"""Frames of every kind read to the same log, lazy ones without their rows leaving them."""

import os
import sys

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayesduel as bd
from bayesduel.data.duels import Duels

ROWS = {
    "model_a": ["a", "b", "b", "c", "b", " a", "a"],
    "model_b": ["b", "a", "c", "a ", "c", "b", "a"],
    "winner": ["model_a", "model_b", "model_a", "tie", "model_b", "tie (bothbad)", "tie"],
}
VOTES = {
    **ROWS,
    "judge": ["x", "y", "x", None, "x", "x", "y"],
    "score": [1.0, -2.0, 3.0, 0.0, -1.0, 0.0, 0.0],
    "tstamp": pd.to_datetime(["2024-01-01 00:00", None, *["2024-01-02 12:00"] * 5]),
    "n": [1, 2, 3, 1, 0, 1, 5],
}


def dask_frame(data):
    import dask.dataframe as dd

    return dd.from_pandas(pd.DataFrame(data), npartitions=3)


def duckdb_relation(data):
    con = duckdb.connect()
    con.register("frame", pa.Table.from_pandas(pd.DataFrame(data)))
    return con.sql("SELECT * FROM frame")


def ibis_table(data):
    ibis = pytest.importorskip("ibis")
    return ibis.memtable(pd.DataFrame(data))


def spark_frame(data):
    sql = pytest.importorskip("pyspark.sql")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = sql.SparkSession.builder.master("local[1]").getOrCreate()
    plain = pd.DataFrame(data).astype("object").itertuples(index=False)
    rows = [
        [None if pd.isna(x) else x.to_pydatetime() if hasattr(x, "to_pydatetime") else x for x in r]
        for r in plain
    ]
    return session.createDataFrame(rows, list(data))


KINDS = {
    "pandas": pd.DataFrame,
    "pandas with objects": lambda data: pd.DataFrame(data).astype(
        {k: "object" for k in data if k != "tstamp"}
    ),
    "pandas with categories": lambda data: pd.DataFrame(data).astype({k: "category" for k in ROWS}),
    "polars": lambda data: pl.from_pandas(pd.DataFrame(data)),
    "polars, lazy": lambda data: pl.from_pandas(pd.DataFrame(data)).lazy(),
    "polars with categories": lambda data: pl.from_pandas(pd.DataFrame(data)).with_columns(
        pl.col("winner").cast(pl.Categorical)
    ),
    "pyarrow": lambda data: pa.Table.from_pandas(pd.DataFrame(data)),
    "duckdb": duckdb_relation,
    "dask": dask_frame,
    "ibis": ibis_table,
    "pyspark": spark_frame,
}
LAZY = ("polars, lazy", "duckdb", "dask", "ibis", "pyspark")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(2)
def test_tallies(kind):
    duels = bd.read_duels(KINDS[kind](ROWS))
    truth = Duels.from_votes(
        [x.strip() for x in ROWS["model_a"]],
        [x.strip() for x in ROWS["model_b"]],
        [1, 0, 1, 0.5, 0, 0.5, 0.5],
    )
    assert duels.arms == truth.arms
    assert all(np.array_equal(x, y) for x, y in zip(duels.cells, truth.cells, strict=True))
    assert (duels.votes, duels.read_summary.n_rows, duels.read_summary.n_self_duels) == (None, 7, 1)
    assert (duels.read_summary.n_both_bad, duels.read_summary.n_duplicates) == (1, None)


@pytest.mark.parametrize("kind", KINDS)
def test_votes(kind):
    duels = bd.read_duels(KINDS[kind](VOTES), margin="score")
    votes = duels.votes
    assert votes.outcome.tolist() == [1, -1, 1, 0, 0]  # in order, weight 0 and a self-duel out
    assert votes.weight.tolist() == [1, 2, 3, 1, 1]
    assert votes.margin.tolist() == [1, -2, 3, 0, 0]
    assert (votes.judges, votes.judge.tolist()) == (("x", "y"), [0, 1, 0, -1, 0])
    assert np.isnat(votes.time[1])
    assert votes.time[2] == np.datetime64("2024-01-02T12:00")
    assert (duels.read_summary.n_zero_weight, duels.read_summary.n_self_duels) == (1, 5)
    assert duels.read_summary.n_duplicates == (None if kind == "pandas with objects" else 0)


@pytest.mark.parametrize("kind", LAZY)
@pytest.mark.sampled(3)
def test_a_lazy_frame_is_tallied_where_it_lives(kind, monkeypatch):
    data = {name: values * 500 for name, values in VOTES.items() if name != "tstamp"}
    frame = KINDS[kind](data | {"n": [1, 2, 3, 1, 0, 1, 5] * 500})
    pulled = []
    collect = nw.LazyFrame.collect

    def watched(self, *args, **kwargs):
        result = collect(self, *args, **kwargs)
        pulled.append(len(result))
        return result

    monkeypatch.setattr(nw.LazyFrame, "collect", watched)
    duels = bd.read_duels(frame, judge=False)
    assert duels.n_duels == 500 * (1 + 2 + 3 + 1 + 1)
    # of 3,500 rows: their number, counts of equal ones, and the first, by which columns are told
    assert sorted(pulled)[:2] == [1, 7]
    assert max(pulled) <= 1_000


@pytest.mark.parametrize("kind", KINDS)
def test_parts(kind):
    data = {**ROWS, "who": ["s", "s", "t", "t", "t", "s", "s"]}
    logs = bd.read_duels(KINDS[kind](data), by="who")
    assert {k: (d.arms, d.n_duels) for k, d in logs.items()} == {
        "s": (("a", "b"), 3), "t": (("a", "b", "c"), 3),
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(2)
def test_bad_rows(kind):
    data = {**ROWS, "winner": [*ROWS["winner"][:3], "?", None, "?", "tie"]}
    where = "where model_a=' a', model_b='b', winner='[?]'" if kind in LAZY else r"row 3 \("
    with pytest.raises(ValueError, match=rf"{where}.*column 'winner' should be.*2 more bad rows"):
        bd.read_duels(KINDS[kind](data))
    duels = bd.read_duels(KINDS[kind](data), on_bad="skip")
    assert (duels.n_duels, duels.read_summary.n_rows, duels.read_summary.n_bad_rows) == (3, 7, 3)
    assert len(duels.read_summary.bad_rows) == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(3)
def test_bad_weights(kind):
    data = {**ROWS, "n": [1.0, 2.5, 1.0, 1.0, 1.0, -1.0, 1.0]}
    with pytest.raises(ValueError, match=r"column 'n' should be a whole.*\(and 1 more bad row\)"):
        bd.read_duels(KINDS[kind](data))
    duels = bd.read_duels(KINDS[kind](data), on_bad="skip")
    assert (duels.n_duels, duels.read_summary.n_bad_rows) == (4, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_that_are_numbers(kind):
    frame = KINDS[kind]({"model_a": [1, 2, 10], "model_b": [2.0, 3.5, 1.0], "winner": list("aba")})
    assert bd.read_duels(frame).arms == ("1", "1.0", "10", "2", "2.0", "3.5")


def test_mixed_objects_are_not_taken_for_equal():
    frame = pd.DataFrame({"left": [1, 1.0, "1"], "right": ["x"] * 3, "outcome": [1, 1, 0]})
    assert bd.read_duels(frame).summary()["duels"].to_dict() == {"1": 2, "1.0": 1, "x": 3}


def test_weights_of_text_in_a_lazy_frame_are_refused():
    frame = pl.LazyFrame({**ROWS, "n": ["1"] * 7})
    with pytest.raises(ValueError, match="column 'n' should contain numbers, got String"):
        bd.read_duels(frame)
    assert bd.read_duels(frame.collect()).n_duels == 6


def test_an_empty_frame():
    with pytest.raises(ValueError, match="pandas DataFrame: should contain duels, got no rows"):
        bd.read_duels(pd.DataFrame({"left": [], "right": [], "outcome": []}))


def test_a_large_frame_agrees_with_its_tallies():
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, 30, size=(2, 50_000))
    outcome = rng.choice([1.0, 0.0, 0.5], size=50_000)
    frame = pl.DataFrame({"left": left, "right": right, "outcome": outcome})
    wins = np.zeros((30, 30))
    np.add.at(wins, (left, right), outcome == 1)
    np.add.at(wins, (right, left), outcome == 0)
    np.fill_diagonal(wins, 0)
    for one in (frame, frame.lazy()):
        duels = bd.read_duels(one)
        order = [int(arm) for arm in duels.arms]
        assert np.array_equal(duels.tally().wins, wins[np.ix_(order, order)])
