"""Votes that name no judge or group: they are counted apart, and many are warned of."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.posterior.dependence import MissingLabelWarning

FEW = {"draws": 400}


def rows(n_judges=10, without=0, n=200, groups=0, seed=1):
    """Return votes of judges by turns, the first ones without a judge; with `groups` by turns."""
    rng = np.random.default_rng(seed)
    left = rng.integers(3, size=n)
    right = (left + rng.integers(1, 3, size=n)) % 3
    judge = np.array([f"j{k % n_judges}" for k in range(n)], dtype=object)
    judge[:without] = None
    columns = {
        "left": [f"a{k}" for k in left],
        "right": [f"a{k}" for k in right],
        "outcome": rng.choice(["left", "right"], n),
        "judge": judge,
    }
    if groups:
        group = np.array([f"p{k}" for k in rng.integers(groups, size=n)], dtype=object)
        group[-without:] = None
        columns["group"] = group
    return pd.DataFrame(columns)


def told(log, model="bradley-terry"):
    """Return the winners of a log, and the warnings of votes without a judge or group."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = bd.winners(bd.fit(log, model, **FEW))
    return found, [str(w.message) for w in caught if w.category is MissingLabelWarning]


def test_the_sentence_counts_judges_and_lone_votes_apart():
    found, warned = told(bd.read_duels(rows(without=30)))
    words = "by judge (10 judges, and 30 votes without a judge, each taken as a judge of its own)."
    assert words in found.attrs["dependence"]
    assert json.loads(found.to_json())["votes_without_label"] == {"judge": 30}
    assert found.attrs["n_clusters"] == 40  # what was computed is as before
    (said,) = warned
    assert said.startswith("30 votes of 200 have no judge: each is taken as a judge of its own.")
    assert "fill the column with one label" in said


def test_judges_and_groups_are_counted_each():
    found, warned = told(bd.read_duels(rows(without=12, groups=9)))
    assert (
        "by judge and group (10 judges, and 12 votes without a judge, each taken as a judge of its "
        "own; 9 groups, and 12 votes without a group, each taken as a group of its own)"
    ) in found.attrs["dependence"]
    assert len(warned) == 1 and "no judge" in warned[0] and "no group" in warned[0]


@pytest.mark.parametrize(("without", "warns"), [(0, False), (1, False), (9, False), (10, True)])
def test_few_votes_without_a_judge_are_told_but_not_warned_of(without, warns):
    """Of 200 votes ten are 5 %."""
    log = bd.read_duels(rows(without=without))
    found, warned = told(log)
    assert bool(warned) == warns
    lone = {0: "(10 clusters)", 1: "and 1 vote without a judge, taken as a judge of its own)"}
    words = lone.get(without, f"and {without} votes without a judge")
    assert words in found.attrs["dependence"]
    health = bd.health(log)
    assert health.n_without_judge == without and health.n_without_group is None
    assert any("no judge" in sentence for sentence in health.warnings) == warns


def test_votes_without_a_judge_are_no_matter_where_no_judge_repeats():
    frame = rows(n_judges=200, without=60)
    found, warned = told(bd.read_duels(frame))
    assert not warned and "independent" in found.attrs["dependence"]
    assert not any("no judge" in sentence for sentence in bd.health(bd.read_duels(frame)).warnings)


def test_equal_votes_that_are_counted_are_so_many_lone_votes():
    log = bd.read_duels(rows(without=40))
    found, (said,) = told(log.counted("part"))
    assert "10 judges, and 40 votes without a judge" in found.attrs["dependence"]
    assert said.startswith("40 votes of 200")


def test_rankings_are_told_alike():
    rng = np.random.default_rng(3)
    judge = [None] * 20 + [f"j{k % 8}" for k in range(60)]
    log = bd.Rankings.from_orders([rng.permutation(list("abcd")) for _ in range(80)], judge=judge)
    found, (said,) = told(log, bd.DefaultModel())
    assert "8 judges, and 20 votes without a judge" in found.attrs["dependence"]
    assert said.startswith("20 votes of 80")


def test_health_and_the_reading_count_them(capsys):
    log = bd.read_duels(rows(without=30, groups=9))
    line = log.reading.line("judge")
    assert line.rows == 170
    assert line.understood.endswith("30 rows name none, each taken as a judge of its own")
    assert "judge: 10 judges" in capsys.readouterr().err  # which is said when the log is read
    table = dict(bd.health(log).table)
    assert table["votes without a judge"] == table["votes without a group"] == "30"
    assert table["judges"] == "10"
    assert bd.health(log).to_dict()["n_without_judge"] == 30
    few = bd.read_duels(rows(without=1))
    assert few.reading.line("judge").understood.endswith(
        "1 row names none, each taken as a judge of its own"
    )
    assert "names none" not in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_says_it_and_a_page_has_an_alert(tmp_path):
    log = tmp_path / "log.csv"
    rows(without=30).to_csv(log, index=False)
    page = tmp_path / "page.html"
    said = CliRunner().invoke(main, ["winners", str(log), "--draws", "400"])
    assert "30 votes without a judge" in " ".join(said.stdout.split()), said.output
    assert "30 votes of 200 have no judge" in " ".join(said.stderr.split())
    made = CliRunner().invoke(main, ["report", str(log), "-o", str(page), "--draws", "400"])
    assert made.exit_code == 0, made.output
    assert "Votes without a judge or group" in page.read_text(encoding="utf-8")


def test_a_fit_of_an_earlier_version_has_no_such_number():
    fit = bd.fit(bd.read_duels(rows(without=30)), "bradley-terry", **FEW)
    del fit.attrs["clusters_lone"]
    found, warned = told_of(fit)
    assert "(40 clusters)" in found.attrs["dependence"] and not warned


def told_of(fit):
    """Return the winners of a fit, and its warnings of votes without a judge or group."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = bd.winners(fit)
    return found, [w for w in caught if w.category is MissingLabelWarning]
