"""Further columns that are kept with the votes."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesduel as bd
from bayesduel.criticism.calibration import held_out
from bayesduel.data.duels import Duels
from bayesduel.models import BradleyTerry, RandomEffects, Scores

N = 48
COLUMNS = {
    "left": ["a", "b", "c"] * 16,
    "right": ["b", "c", "a"] * 16,
    "outcome": ["left", "left", "right", "right"] * 12,
    "judge": ["u", "v"] * 24,
    "prompt": [None if k % 12 == 5 else f"p{k % 5 % 3}" for k in range(N)],
}
LEVELS = ("p0", "p1", "p2")
CODES = [-1 if p is None else LEVELS.index(p) for p in COLUMNS["prompt"]]


def csv(folder):
    pd.DataFrame(COLUMNS).to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


def parquet(folder):
    pl.DataFrame(COLUMNS).write_parquet(folder / "log.parquet")
    return folder / "log.parquet"


def lines(folder):
    rows = [json.dumps(row) for row in _rows()]
    (folder / "log.jsonl").write_text("\n".join(rows) + "\n")
    return folder / "log.jsonl"


def _rows():
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


READERS = {
    "csv": csv,
    "parquet": parquet,
    "jsonl": lines,
    "pandas": lambda folder: pd.DataFrame(COLUMNS),
    "polars": lambda folder: pl.DataFrame(COLUMNS),
    "lazy": lambda folder: pl.DataFrame(COLUMNS).lazy(),
    "rows": lambda folder: _rows(),
    "columns": lambda folder: COLUMNS,
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_keeps_a_column(reader, tmp_path):
    log = bd.read_duels(READERS[reader](tmp_path), keep=["prompt"])
    code, levels = log.votes.level("prompt")
    assert levels == LEVELS and code.tolist() == CODES and code.dtype == np.int32
    assert log.votes.group is not None  # by its name the column has this role, too
    again = bd.read_duels(READERS[reader](tmp_path), like=log)
    assert again.votes.level("prompt")[1] == LEVELS


@pytest.mark.parametrize("reader", READERS)
def test_a_column_that_is_not_there_is_refused(reader, tmp_path):
    words = r"no column 'topic' for keep; the columns are 'left', 'right', 'outcome', 'judge'"
    with pytest.raises(ValueError, match=words):
        bd.read_duels(READERS[reader](tmp_path), keep=["topic"])


@pytest.mark.parametrize("keep", ["prompt", ["prompt", "prompt"], [1]])
def test_keep_is_a_list_of_different_names(keep):
    with pytest.raises(TypeError, match="keep should be"):
        bd.read_duels(pd.DataFrame(COLUMNS), keep=keep)


def test_bad_rows_and_ties_take_their_levels_along():
    frame = pd.DataFrame(COLUMNS).assign(outcome=["tie", *COLUMNS["outcome"][1:]])
    frame.loc[1, "left"] = None
    log = bd.read_duels(frame, keep=["prompt"], ties="drop", on_bad="skip")
    assert log.votes.level("prompt")[0].tolist() == CODES[2:]


def test_logs_of_parts_and_subsets_have_the_levels_that_occur():
    known = pd.DataFrame(COLUMNS).dropna()
    logs = bd.read_duels(known, keep=["judge", "prompt"], by="prompt")
    assert logs["p1"].votes.level("prompt")[1] == ("p1",)
    assert logs["p1"].votes.level("judge")[1] == ("u", "v")
    whole = bd.read_duels(pd.DataFrame(COLUMNS), keep=["prompt"])
    part = whole.subset(judges=["u"])
    kept = [c for c, judge in zip(CODES, COLUMNS["judge"], strict=True) if judge == "u"]
    code, levels = part.votes.level("prompt")
    assert [levels[c] for c in code if c >= 0] == [LEVELS[c] for c in kept if c >= 0]


def test_two_logs_with_other_levels_are_joined():
    def log(prompts):
        return Duels.from_votes(["a", "b"], ["b", "c"], [1, 0], keep={"prompt": prompts})

    joined = log(["x", None]).join(log(["z", "a"]))
    code, levels = joined.votes.level("prompt")
    assert levels == ("a", "x", "z") and code.tolist() == [1, -1, 2, 0]
    pooled = Duels.from_categories({"m": log(["x", "y"]), "n": log(["z", "a"])})
    assert pooled.votes.level("prompt")[1] == ("a", "x", "y", "z")
    with pytest.raises(ValueError, match="should have kept the same columns"):
        log(["x", "y"]).join(Duels.from_votes(["a"], ["b"], [1]))


@pytest.mark.parametrize(
    ("keep", "kind"), [(["prompt"], TypeError), ({"prompt": ["x"]}, ValueError)]
)
def test_from_votes_refuses(keep, kind):
    with pytest.raises(kind, match="keep"):
        Duels.from_votes(["a", "b"], ["b", "c"], [1, 0], keep=keep)


@pytest.mark.slow
def test_a_fit_by_a_kept_column_is_used_throughout():
    log = bd.read_duels(pd.DataFrame(COLUMNS), keep=["prompt"])
    model = BradleyTerry(Scores() + RandomEffects("prompt") + RandomEffects("judge"))
    fit = bd.fit(log, model, draws=100)
    assert fit["posterior"]["prompt"].to_numpy().tolist() == list(LEVELS)
    average = float(bd.predict(fit, "a", "b")["win"])
    assert float(bd.predict(fit, "a", "b", prompt="p1")["win"]) != average
    assert float(bd.predict(fit, "a", "b", prompt=None)["win"]) == pytest.approx(average)
    with pytest.raises(ValueError, match="prompt should be one of the fit"):
        bd.predict(fit, "a", "b", prompt="p9")
    assert bd.posterior_predictive(fit, seed=1) is not None
    found = held_out(log, model, folds=2, draws=100)
    assert found.n.sum() == log.n_duels and np.isfinite(found.log_loss)
