"""Frames in place of logs, logs as frames, and results that feel like frames."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesduel as bd

FRAME = pd.DataFrame({"home": list("abcabcab") * 4, "away": list("bcabcabc") * 4,
                      "winner": list("abaabcab") * 4, "day": range(32)})  # fmt: skip
RICH = """left,right,outcome,judge,group,time,margin,length,prompt,weight
a,b,left,ann,g1,2026-01-01,2,1.5,p,1
b,c,tie,,g2,2026-01-02,0,-1,q,3
c,a,right,bob,,,-1,0,,2
a,c,left,ann,g1,2026-01-03,4,2,p,1
"""
KINDS = {"pandas": lambda frame: frame, "polars": pl.from_pandas,
         "arrow": lambda frame: pl.from_pandas(frame).to_arrow()}  # fmt: skip


@pytest.fixture(scope="module")
def fit():
    return bd.fit(FRAME, draws=400)


@pytest.fixture
def rich(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(RICH)
    return bd.read_duels(path, covariates=["length"], keep=["prompt"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_is_fitted_as_the_log_that_it_holds(kind, fit):
    found = bd.fit(KINDS[kind](FRAME), draws=400)
    expected = bd.fit(bd.read_duels(FRAME), draws=400)
    for tree in (found, fit):
        assert (tree["posterior"]["score"] == expected["posterior"]["score"]).all()


@pytest.mark.slow
def test_a_frame_is_checked_and_its_winners_named():
    log = bd.read_duels(FRAME)
    assert bd.check(FRAME, quick=True).verdict == bd.check(log, quick=True).verdict
    for given in (FRAME, log):
        assert bd.winners(given).attrs["verdict"] == bd.winners(bd.fit(log)).attrs["verdict"]


@pytest.mark.slow
def test_a_frame_has_a_report_a_site_and_files(tmp_path):
    given = {"model": "bradley-terry", "draws": 100}
    text = bd.report(FRAME, tmp_path / "one.html", **given).read_text()
    assert "From 32 duels between 3 arms" in text
    both = bd.report({"first": FRAME, "second": FRAME}, tmp_path / "two.html", **given).read_text()
    assert both.count("From 32 duels between 3 arms") == 2
    bd.site(FRAME, tmp_path / "site", **given)
    assert json.loads((tmp_path / "site/ranking.json").read_text())["duels"] == 32
    assert any(path.name == "ranking.csv" for path in bd.export(FRAME, tmp_path / "x", **given))


def test_duels_of_a_frame_are_predicted_by_the_columns_of_the_log(fit):
    asked = pd.DataFrame({"home": ["a", "b"], "away": ["b", "c"], "ground": ["x", "y"]})
    found = bd.predict(fit, asked)
    expected = bd.predict(fit, ["a", "b"], ["b", "c"], side_advantage=True)
    assert (found["win"] == expected["win"]).all() and found.attrs["conditions"] == ""
    plain = asked.rename(columns={"home": "left", "away": "right"})
    neutral = bd.predict(fit, ["a", "b"], ["b", "c"])
    assert (bd.predict(fit, plain)["win"] == neutral["win"]).all()
    with pytest.raises(ValueError, match="the duels should have the columns 'left' and 'right'"):
        bd.predict(fit, asked[["home"]])
    frame = bd.predict(fit, "a", "b").to_dataframe()
    assert len(frame) == 1 and frame["win"].iloc[0] == float(neutral["win"][0])
    assert len(found.to_dataframe()) == 2


def test_a_log_as_a_frame_is_read_as_the_same_log(rich):
    frame = rich.to_frame()
    again = bd.read_duels(frame, covariates=["length"], keep=["prompt"])
    pd.testing.assert_frame_equal(again.to_frame(), frame)
    assert frame["outcome"].tolist() == ["left", "tie", "right", "left"]
    assert frame["judge"].fillna("").tolist() == ["ann", "", "bob", "ann"]
    pd.testing.assert_frame_equal(rich.head(2), frame.head(2), check_dtype=False)
    counted = bd.datasets.load("springall")
    rows = counted.to_frame()
    assert rows["weight"].sum() == counted.n_duels
    same = bd.read_duels(rows)
    assert all((a == b).all() for a, b in zip(same.cells, counted.cells, strict=True))


def test_a_slice_of_a_log_is_the_log_of_those_rows(rich):
    for rows, kept in ((slice(2), [0, 1]), ([0, 3], [0, 3]), (np.arange(4) > 1, [2, 3])):
        part = rich[rows]
        expected = rich.to_frame().iloc[kept].reset_index(drop=True)
        weighted = (expected["weight"] != 1).any()
        shown = expected if weighted else expected.drop(columns="weight")
        pd.testing.assert_frame_equal(part.to_frame(), shown, check_dtype=False)
        assert part.n_duels == rich.to_frame()["weight"].iloc[kept].sum()
    assert rich[:1].arms == ("a", "b") and rich[:1].votes.judges == ("ann",)
    counted = bd.datasets.load("springall")
    assert (
        counted[:2].votes is None and counted[:2].n_duels == counted.to_frame()["weight"][:2].sum()
    )
    with pytest.raises(ValueError, match="at least two arms"):
        rich[4:]
    for wrong in (0, "a", [0.5]):
        with pytest.raises(TypeError, match="rows should be a slice, a mask or places of rows"):
            rich[wrong]


def test_winners_complete_what_they_hold(fit):
    found = bd.winners(fit)
    offered = [name for name in dir(found) if not name.startswith("_")]
    assert {"table", "to_dataframe", "summary", "win_rate", "sel", "attrs"} <= {*offered}
    assert len(offered) < 60 and all(hasattr(found, name) for name in offered)
    places = found.rank.to_series()
    assert places[found.table().index].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["plot_ranking", "plot_ranks", "plot_preference", "plot_winners"])
def test_plots_of_winners_take_a_fit(name, fit):
    plot, found = getattr(bd.plots, name), bd.winners(fit)
    drawn = [plot(given) for given in (fit, found)]
    texts = [[t.get_text() for t in ax.findobj(plt.Text)] for ax in drawn]
    assert texts[0] == texts[1]
    own = plt.figure().add_subplot()
    assert plot(fit, own) is own
