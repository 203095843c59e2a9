"""Parts of a log that are counted apart and merged: the numbers are those of one read."""

import os
import re
import sys
from dataclasses import replace
from functools import reduce
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesduel as bd
from bayesduel.models import BradleyTerry, Davidson, DuelCovariates, SideAdvantage, Thurstone

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "large_logs.md"
N_SHARDS = 10


def made(n=3_000, seed=0):
    """Return votes with whatever a log may have, some of it missing."""
    rng = np.random.default_rng(seed)
    judge = rng.choice(["ann", "ben", "cy", "dee", "eve", None], n)
    side = rng.choice(["model_a", "model_b", "tie"], n, p=[0.5, 0.3, 0.2])
    return pd.DataFrame(
        {
            "model_a": rng.choice(list("abcd"), n),
            "model_b": rng.choice(list("abcd"), n),
            "winner": side,
            "judge": judge,
            "prompt": rng.choice(["p", "q", "r", "s", "t", "u", None], n),
            "length_a": rng.integers(0, 3, n).astype(float),
            "length_b": rng.integers(0, 3, n).astype(float),
            "n": rng.integers(0, 3, n),
            "stands": rng.choice([1.0, 2.5], n),
            "score": rng.integers(1, 3, n)
            * np.array([1.0, -1.0, 0.0])[np.searchsorted(["model_a", "model_b", "tie"], side)],
            "day": rng.integers(0, N_SHARDS, n),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("shards")
    for day, part in made().groupby("day"):
        part.to_parquet(place / f"day-{day}.parquet")
    return place


def counts(log):
    """Return the number of duels of each different vote, whatever its shard and the order."""
    frame = log.to_frame().drop(columns="shard", errors="ignore").assign(count=log.rows.weight)
    frame = frame.drop(columns="weight", errors="ignore").astype(object).where(frame.notna(), None)
    table = {}
    for *vote, n in frame.itertuples(index=False):
        table[tuple(vote)] = table.get(tuple(vote), 0) + n
    return table


def differences(one, other):
    """Return the largest difference of each robust covariance of two fits."""
    names = ("covariance", "covariance_cluster", "score_se_cluster", "score_cov_cluster")
    one, other = one["clusters"], other["clusters"]
    assert list(one.clustering.values) == list(other.clustering.values)
    assert (one["n_clusters"] == other["n_clusters"]).all()
    return [float(abs(one[name] - other[name]).max()) for name in names]


COLUMNS = {
    "nothing": {"judge": False, "group": False, "weight": False},
    "judge": {"group": False, "weight": False},
    "group": {"judge": False, "weight": False},
    "judge, group": {"weight": False},
    "weights": {"weight": "n", "group": False},
    "covariate": {"covariates": ["length"], "weight": False, "group": False},
    "sampling": {"sampling_weight": "stands", "weight": "n"},
    "kept": {"keep": ["day"], "weight": "n"},
    "margin": {"margin": "score", "weight": "n"},
}
TIES = ("keep", "half", "drop")


@pytest.mark.parametrize(
    ("columns", "ties"),
    [
        pytest.param(columns, ties, marks=[] if (i + j) % 3 == 0 else pytest.mark.slow)
        for (i, columns), (j, ties) in product(enumerate(COLUMNS), enumerate(TIES))
    ],
)
@pytest.mark.sampled(3, "sampling-keep")
@pytest.mark.slow
def test_shards_counted_apart_are_one_read(folder, columns, ties):
    options = COLUMNS[columns] | {"ties": ties}
    paths = [folder / f"day-{k}.parquet" for k in range(3)]
    merged = bd.merge([*paths, paths[1]], **options)
    whole = bd.read_duels(paths, **options)
    assert merged.arms == whole.arms
    assert all(np.array_equal(x, y) for x, y in zip(merged.cells, whole.cells, strict=True))
    assert counts(merged) == counts(whole)
    assert merged.votes.kept["shard"][1] == tuple(path.name for path in paths)
    for name in ("n_rows", "n_self_duels", "n_zero_weight", "n_ties_dropped"):
        assert getattr(merged.read_summary, name) == getattr(whole.read_summary, name), name


MODELS = {
    "bradley-terry": (BradleyTerry(), ["judge", "group", "judge, group", "weights", "sampling"]),
    "davidson": (Davidson() + SideAdvantage(), ["judge", "judge, group"]),
    "covariate": (BradleyTerry() + DuelCovariates(["length"]), ["covariate"]),
    "margin": ("thurstone-score", ["margin"]),
    "thurstone": (Thurstone(), ["sampling"]),
}
CASES = [(model, columns) for model, (_, each) in MODELS.items() for columns in each]
QUICK = {("bradley-terry", "judge, group")}  # the recipe has a covariate


@pytest.mark.parametrize(
    ("model", "columns"),
    [pytest.param(*c, marks=[] if c in QUICK else pytest.mark.slow) for c in CASES],
)
@pytest.mark.slow
def test_cluster_robust_errors_survive_counting(folder, model, columns):
    """A vote without a judge stays a cluster of its own, however many equal ones there are."""
    options, fitted = COLUMNS[columns], MODELS[model][0]
    fitted = bd.models.named(fitted) if isinstance(fitted, str) else fitted
    merged = bd.merge(str(folder / "day-*.parquet"), **options)
    logs = (bd.read_duels(folder, **options), merged, merged.counted("all"))
    whole, *others = (bd.fit(log, fitted, draws=200, seed=0) for log in logs)
    for other in others:
        assert max(differences(whole, other)) < 1e-10


@pytest.mark.slow
def test_the_route_of_many_arms_gives_the_same_errors(folder, monkeypatch):
    """Where every vote has a judge; the draws of votes that have none depend on their order."""
    monkeypatch.setattr("bayesduel.inference.sandwich.TABLE_ARMS", 3)
    log = bd.read_duels(made().dropna(subset="judge"), weight=False, group=False)
    one, other = (
        bd.fit(each, BradleyTerry(), method="variational", draws=200, seed=0)["clusters"]
        for each in (log, log.counted("all"))
    )
    difference = one["score_se_cluster"] - other["score_se_cluster"]
    assert float(abs(difference).max()) < 1e-6  # gradients are float32


def test_too_many_lone_votes_are_said(monkeypatch):
    monkeypatch.setattr("bayesduel.inference.clusters.MOST_LONE", 10)
    rows = {"left": list("abab"), "right": list("baba"), "outcome": ["left", "right"] * 2,
            "judge": ["x", "x", None, None], "weight": [3, 4, 20, 1]}  # fmt: skip
    fit = bd.fit(bd.read_duels(rows), seed=0, draws=200)
    assert fit.attrs["clusters_reason"].startswith("votes without a judge or a group are over")


# -- the laws of merging -------------------------------------------------------------------

VOTE = st.tuples(
    st.sampled_from("abc"), st.sampled_from("abc"), st.sampled_from([1.0, 0.0, 0.5]),
    st.sampled_from(["x", "y", None]),
)  # fmt: skip
SHARDS = st.lists(st.lists(VOTE, min_size=1, max_size=6), min_size=1, max_size=4)


def shard_of(votes, name):
    """Return a shard of votes, which also holds a duel of every pair."""
    every = [*votes, ("a", "b", 1.0, "x"), ("b", "c", 0.0, "y")]
    columns = dict(
        zip(("left", "right", "outcome", "judge"), zip(*every, strict=True), strict=True)
    )
    return bd.read_duels(pd.DataFrame(columns), shard=name)


def same(one, other):
    return (
        one.arms == other.arms
        and all(np.array_equal(x, y) for x, y in zip(one.cells, other.cells, strict=True))
        and one.to_frame().equals(other.to_frame())
        and one.read_summary.n_rows == other.read_summary.n_rows
    )


@settings(max_examples=20, deadline=None)
@given(SHARDS, st.data())
@pytest.mark.slow
def test_merging_is_the_union_of_shards(votes, data):
    shards = [shard_of(part, f"shard {k}") for k, part in enumerate(votes)]
    whole = bd.merge(shards)
    places = st.integers(0, len(shards) - 1)
    groups = data.draw(st.lists(st.lists(places, min_size=1, max_size=5), max_size=3))
    parts = [bd.merge([shards[k] for k in group]) for group in groups]
    order = data.draw(st.permutations([*parts, *shards]))
    merged = bd.merge(order)
    assert whole.n_duels == sum(log.n_duels for log in shards)
    assert same(replace(merged, read_summary=whole.read_summary), whole)
    assert same(bd.merge([whole, *order]), whole)
    assert same(bd.merge([whole]), whole)
    assert same(reduce(lambda a, b: bd.merge([a, b]), shards), whole)


@settings(max_examples=20, deadline=None)
@given(st.lists(VOTE, min_size=1, max_size=6), st.lists(VOTE, min_size=1, max_size=6))
def test_a_shard_with_other_counts_is_refused(one, other):
    first, second = shard_of(one, "s"), shard_of(other, "s")
    if counts(first) == counts(second):
        assert same(bd.merge([first, second]), first)
    else:
        with pytest.raises(ValueError, match=r"shard 's' should have the same .* another part, "):
            bd.merge([first, second])


def test_what_is_no_shard_is_refused(folder):
    log = bd.read_duels([("a", "b", "left")])
    with pytest.raises(ValueError, match="should have a shard in every row"):
        bd.merge([log])
    rows = {"left": ["a", "b"], "right": ["b", "a"], "outcome": ["left"] * 2, "shard": ["s", None]}
    with pytest.raises(ValueError, match=r"in every row .* without: b against a\. To join logs"):
        bd.merge([bd.read_duels(rows, shard="other")])
    with pytest.raises(ValueError, match="parts should have at least one, got none"):
        bd.merge([])
    with pytest.raises(ValueError, match="by should be None"):
        bd.merge([str(folder)], by="day")
    for wrong in ("", " ", 3, True):
        with pytest.raises(TypeError, match="shard should be the name of a part"):
            log.counted(wrong)
    judged = bd.read_duels(rows | {"judge": ["x", "y"], "shard": ["s", "s"]}, shard="any")
    with pytest.raises(ValueError, match=r"a judge or none, got 'part 2, .*' without"):
        bd.merge([judged, log.counted("t")])


# -- files ---------------------------------------------------------------------------------

WRITERS = {"parquet": pd.DataFrame.to_parquet, "csv": pd.DataFrame.to_csv}
SOFT = {
    "grades": ([2, -1, 0, 1, -2], {"outcome": "grade", "coding": "grades"}),
    "probability": ([0.9, 0.2, 0.5, 1.0, 0.0], {"coding": "probability"}),
    "winner": (["a", "b", "tie", "a", "b"], {}),
    "1/0/0.5": ([1, 0, 0.5, 1, 0], {}),
    "w/l": (["w", "l", "d", "w", "l"], {}),
}


@pytest.mark.parametrize(("coding", "kind"), product(SOFT, WRITERS))
@pytest.mark.sampled(3)
def test_a_count_file_is_the_log_it_was_written_of(tmp_path, coding, kind):
    outcomes, options = SOFT[coding]
    n = 24 * len(outcomes)
    first, second = np.tile(["a", "b"], n)[:n], np.tile(["b", "a"], n)[:n]
    if coding == "winner":
        first, second = np.full(n, "a"), np.full(n, "b")
    rows = {
        **{"left": first, "right": second, "outcome": np.tile(outcomes, 24)},
        **{"judge": np.resize(["x", "y", None], n), "length": np.resize([1.5, -1.0], n)},
    }
    reading = {"covariates": ["length"], "coding": coding}
    log = bd.read_duels(pd.DataFrame(rows), shard="s", **reading)
    path = tmp_path / f"counts.{kind}"
    WRITERS[kind](log.to_frame(), path, index=False)
    again = bd.merge([path], covariates=["length"], **options)
    assert same(replace(again, read_summary=log.read_summary), log)
    assert sum(log.votes.weight) == n > len(log.votes)


# -- clusters ------------------------------------------------------------------------------


@pytest.mark.slow
def test_ten_shards_counted_by_two_dask_workers_are_one_read(folder):
    distributed = pytest.importorskip("distributed")
    options = {"covariates": ["length"], "weight": False}
    paths = sorted(map(str, folder.glob("day-*.parquet")))

    def counted(path):
        return bd.read_duels(path, shard=Path(path).name, **options), os.getpid()

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as here,
        distributed.Client(here) as client,
    ):
        found = client.gather(client.map(counted, [*paths, paths[3]], pure=False))
    assert len({process for _, process in found} - {os.getpid()}) == 2
    merged = bd.merge([log for log, _ in found])
    assert counts(merged) == counts(bd.read_duels(folder, **options))
    model = BradleyTerry() + DuelCovariates(["length"])
    fits = [bd.fit(log, model, seed=0) for log in (bd.read_duels(folder, **options), merged)]
    assert max(differences(*fits)) < 1e-10
    assert float(abs(fits[0]["posterior"]["score"] - fits[1]["posterior"]["score"]).max()) < 1e-10


def recipe():
    """Return the query of the page."""
    (query,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S)
    return query


def check_recipe(folder, counted):
    """Check the counts that the query of the page left, by engine or file, beside one read."""
    merged = bd.merge([counted], covariates=["length"])
    whole = bd.read_duels(folder, covariates=["length"], weight=False, group=False)
    assert counts(merged) == counts(whole)
    model = BradleyTerry() + DuelCovariates(["length"])
    fits = [bd.fit(log, model, draws=200, seed=0) for log in (whole, merged)]
    assert max(differences(*fits)) < 1e-10


def test_the_recipe_in_duckdb(folder, tmp_path):
    with duckdb.connect() as con:
        con.execute(f"CREATE VIEW votes AS FROM '{folder}/*.parquet'")
        con.sql(recipe()).write_parquet(str(tmp_path / "counts.parquet"))
    check_recipe(folder, tmp_path / "counts.parquet")


@pytest.mark.slow
def test_the_recipe_in_spark(folder, tmp_path, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    session = sql.SparkSession.builder.master("local[2]").getOrCreate()
    session.conf.set("spark.sql.shuffle.partitions", "3")
    session.conf.set("spark.sql.adaptive.enabled", "false")  # a shard is in several files
    session.read.parquet(str(folder)).createOrReplaceTempView("votes")
    session.sql(recipe()).write.parquet(str(tmp_path / "counts"))
    assert len(list((tmp_path / "counts").glob("part-*.parquet"))) > 1
    check_recipe(folder, tmp_path / "counts")
