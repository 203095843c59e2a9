"""A table with a row per pair and its counts is read as its votes are, with all their columns."""

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd

# Of each pair: its sides, and how often the left won, the right won, and neither.
PAIRS = [("a", "b", 3, 1, 1), ("a", "c", 4, 2, 0), ("b", "c", 0, 3, 1), ("c", "b", 1, 1, 2)]
# Whose columns, with the options that name them.
CONDITIONS = {
    "judge": (["ann", "bob", "ann", "cyd"], {"judge": "judge"}),
    "rater": (["ann", "bob", "ann", "cyd"], {}),
    "group": (["p", "q", "q", "p"], {"group": "group"}),
    "prompt": (["p", "q", "q", "p"], {}),
    "date": (["2025-01-01", "2025-01-02", "2025-01-02", "2025-01-03"], {}),
    "Datum": (["13.01.2025", "14.01.2025", "14.01.2025", "15.01.2025"], {}),
    "length": ([0.5, -1.0, 0.0, 2.0], {"covariates": ["length"]}),
    "language": (["de", "en", "en", "de"], {"keep": ["language"]}),
    "survey": ([1.0, 2.0, 2.0, 1.5], {"sampling_weight": "survey"}),
    "site": (["x", "y", "y", "x"], {"by": "site"}),
    "first": (["a", "a", "b", "c"], {"shown_first": "first"}),
}
COUNTS = ["left", "right", "wins_left", "wins_right", "ties"]


def as_counts(names):
    """Return the table of the pairs with some columns of conditions."""
    frame = pd.DataFrame(PAIRS, columns=COUNTS)
    return frame.assign(**{name: CONDITIONS[name][0] for name in names})


def as_votes(names):
    """Return the same votes, one a row."""
    rows = []
    for k, (left, right, *counts) in enumerate(PAIRS):
        for outcome, n in zip(("left", "right", "tie"), counts, strict=True):
            rows += [(left, right, outcome, *(CONDITIONS[name][0][k] for name in names))] * n
    return pd.DataFrame(rows, columns=["left", "right", "outcome", *names])


def told(log):
    """Return what a log holds: how often each vote occurs, with its conditions."""
    shown = log.rows.to_frame(log.arms).drop(columns="weight", errors="ignore").astype(str)
    total = pd.Series(log.rows.weight).groupby([shown[name] for name in shown]).sum()
    return log.arms, total[total > 0].to_dict()


def written(frame, kind, folder):
    if kind == "frame":
        return frame
    path = folder / f"log.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
@pytest.mark.parametrize("names", [*([name] for name in CONDITIONS), ["rater", "date", "language"]])
def test_counts_have_the_conditions_of_votes(names, kind, tmp_path):
    options = {}
    for name in names:
        options |= CONDITIONS[name][1]
    counts = bd.read_duels(written(as_counts(names), kind, tmp_path), **options)
    votes = bd.read_duels(as_votes(names), **options)
    if "by" in options:
        assert {label: told(log) for label, log in counts.items()} == {
            label: told(log) for label, log in votes.items()
        }
        return
    assert told(counts) == told(votes)
    not_0 = 10  # of the counts
    assert len(told(counts)[1]) == not_0


def test_intervals_of_counts_are_those_of_their_votes():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        [(f"J{j}", *pair, won, 20 - won)
         for j in range(6) for pair in (("a", "b"), ("a", "c"), ("b", "c"))
         for won in rng.integers(1, 20, 1).tolist()],
        columns=["judge", "left", "right", "wins_left", "wins_right"],
    )  # fmt: skip
    rows = []
    for judge, left, right, *counts in frame.itertuples(index=False):
        for outcome, n in zip(("left", "right"), counts, strict=True):
            rows += [(judge, left, right, outcome)] * n
    votes = pd.DataFrame(rows, columns=["judge", "left", "right", "outcome"])
    one, other = (bd.winners(bd.fit(bd.read_duels(log))) for log in (frame, votes))
    assert one.attrs | {"source": ""} == other.attrs | {"source": ""}
    for name in one.data_vars:
        if one[name].dtype.kind == "f":
            np.testing.assert_allclose(one[name], other[name], rtol=1e-9, atol=1e-9)


def test_columns_of_counts_that_are_not_used_are_said():
    log = bd.read_duels(as_counts(["language", "rater"]))
    assert [line.column for line in log.reading.not_used] == ["language"]
    assert log.reading.line("judge").column == "rater"


@pytest.mark.parametrize("shape", [None, "counts"])
@pytest.mark.parametrize(
    "names", ["ranker_a ranker_b wins_a wins_b", "left_dish right_dish left_wins right_wins"]
)
def test_arms_of_counts_have_any_names_of_sides(names, shape):
    rows = [(left, right, *counts[:2]) for left, right, *counts in PAIRS]
    frame = pd.DataFrame(rows, columns=names.split())
    log = bd.read_duels(frame, shape=shape)
    assert log.n_duels == sum(sum(row[2:]) for row in rows)
    found = log.read_summary.columns
    assert [found["left"], found["right"]] == names.split()[:2]


def test_arms_of_one_pair_have_any_names_of_sides():
    frame = pd.DataFrame([("ann", "soup", "stew", 3, 1), ("bob", "soup", "stew", 2, 2)],
                         columns=["judge", "dish_a", "dish_b", "wins_a", "wins_b"])  # fmt: skip
    log = bd.read_duels(frame)
    assert (log.arms, log.n_duels) == (("soup", "stew"), 8)


def test_a_pair_that_did_not_meet_keeps_its_arms():
    frame = pd.DataFrame([*PAIRS, ("a", "d", 0, 0, 0)], columns=COUNTS)
    log = bd.read_duels(frame.assign(judge="ann"))
    assert log.arms == ("a", "b", "c", "d")
    assert log.n_duels == sum(sum(row[2:]) for row in PAIRS)


@pytest.mark.parametrize("votes_follow", [True, False])
def test_a_batch_of_counts_or_of_votes_follows_counts(votes_follow):
    names = ["judge", "language"]
    first = bd.read_duels(as_counts(names), keep=["language"])
    batch = as_votes(names) if votes_follow else as_counts(names)
    assert told(bd.read_duels(batch, like=first)) == told(first)


def test_a_bad_condition_of_counts_names_its_line(tmp_path):
    path = tmp_path / "log.csv"
    frame = as_counts(["length"])
    frame["length"] = ["0.5", "1", "far", "2"]
    frame.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"log.csv, line 4: column 'length' should be .*'far'"):
        bd.read_duels(path, covariates=["length"])
