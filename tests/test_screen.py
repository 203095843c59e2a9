"""What public objects print fits on a screen; their attributes and ``to_dict`` agree."""

import ast
import re
import warnings
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len

import bayesduel as bd
from bayesduel.criticism.calibration import held_out
from bayesduel.models import BradleyTerry, CategoryEffects, RandomEffects, SideAdvantage
from bayesduel.text import json_ready, number_with_interval, screen

LINES, COLUMNS = 30, 80


@pytest.fixture(scope="module")
def log():
    """Return a log of forty arms with long names, judges, categories, self-duels and a tie."""
    rng = np.random.default_rng(1)
    n = 900
    i = rng.integers(0, 40, n)
    j = (i + rng.integers(0, 40, n)) % 40
    names = [f"an arm whose name is far longer than anybody would care to read {k:02}" for k in i]
    others = [f"an arm whose name is far longer than anybody would care to read {k:02}" for k in j]
    outcome = np.where(rng.uniform(size=n) < 0.1, 0.5, (rng.uniform(size=n) < 0.5) * 1.0)
    return bd.Duels.from_votes(
        names, others, outcome, judge=rng.integers(0, 30, n), category=rng.integers(0, 50, n)
    )


@pytest.fixture(scope="module")
def fit(log):
    return bd.fit(log, BradleyTerry(), "laplace", draws=200)


def on_screen(one):
    lines = repr(one).split("\n")
    assert len(lines) <= LINES and max(map(cell_len, lines)) <= COLUMNS, repr(one)
    return lines


def fits(one):
    """Fail unless a repr of one line takes at most a screen where a terminal wraps it."""
    assert -(-cell_len(repr(one)) // COLUMNS) <= LINES


def test_logs_and_their_health(log):
    fits(log)
    fits(log.read_summary)
    health = bd.health(log)
    lines = on_screen(health)
    assert any(line.startswith("!") for line in lines)  # warnings are not cut
    found = health.to_dict()
    for field in fields(health):
        if field.name != "repeats":
            assert found[field.name] == json_ready(getattr(health, field.name))


def test_results_of_a_fit(fit):
    found = bd.winners(fit)
    assert found.attrs["verdict"][:40] in on_screen(found)[0]
    on_screen(bd.top_k(fit, 5))
    for model in (BradleyTerry() + SideAdvantage(), BradleyTerry() + CategoryEffects()):
        fits(model)


@pytest.mark.parametrize("levels", [False, True])
@pytest.mark.parametrize("ci_prob", [0.5, 0.95])
@pytest.mark.parametrize("terms", [[], [SideAdvantage()], [RandomEffects("judge")]])
@pytest.mark.sampled(4)
def test_coefficients_are_a_table_of_their_main_columns(terms, ci_prob, levels, log):
    fit = bd.fit(log, sum(terms, BradleyTerry()), "laplace", draws=100)
    found = bd.coefficients(fit, ci_prob, levels=levels)
    lines = on_screen(found)
    assert f"{100 * ci_prob:g} % intervals." in lines
    assert lines[0].split()[:3] == ["name", "term", "coefficient"]
    assert ("odds ratio" in lines[0]) == ("positive" in found) == (SideAdvantage() in terms)
    effect = found.iloc[0]
    middle, low, high = (effect[name] for name in ("coefficient", "lower", "upper"))
    assert number_with_interval(middle, low, high) in lines[1]
    assert all(name in repr(found) for name in found.columns)
    assert "<table" in found._repr_html_()
    (by_name,) = re.findall(r"One row, by its name: [.]loc\[(.+)\]$", repr(found), flags=re.M)
    assert found.loc[ast.literal_eval(by_name)].equals(effect)
    assert type(found.head()) is pd.DataFrame  # what is taken from it prints as pandas does
    found.drop(columns="lower", inplace=True)
    assert "intervals" not in repr(found)


def test_winners_as_a_frame_is_one_row_an_arm(fit):
    found = bd.winners(fit)
    frame = found.to_dataframe()
    assert list(frame.index) == list(found["arm"].values[found["order"].values])
    assert list(frame.columns) == [
        *("rank", "rank_mean", "rank_lower", "rank_upper", "tier"),
        *("win_rate", "win_rate_lower", "win_rate_upper"),
        *("best_probability", "condorcet_probability", "top_3_probability"),
    ]
    assert list(frame["rank"]) == list(range(1, len(frame) + 1))
    best = found["winner_probability"].sel(criterion="copeland", arm=frame.index[0])
    assert frame["best_probability"].iloc[0] == float(best)
    part = found[["tier"]].to_dataframe()
    assert list(part.columns) == ["tier"]


@pytest.mark.slow
def test_checks_and_comparisons(log, fit):
    on_screen(bd.check(log, quick=True))
    on_screen(bd.compare_models(log, {"one": fit, "other": fit}, folds=0))
    on_screen(held_out(log, BradleyTerry(), folds=2, draws=200))
    on_screen(bd.judge_agreement(log))


@pytest.mark.parametrize("n", [3, 100])
def test_screen_keeps_head_and_tail(n):
    text = screen(["word " * 60], [f"{k:03} " + "x" * 200 for k in range(n)], ["the end"])
    lines = text.split("\n")
    assert len(lines) <= LINES and max(map(cell_len, lines)) <= COLUMNS
    assert lines[0].startswith("word") and lines[-1] == "the end"
    assert ("more lines" in text) == (n == 100)


@pytest.mark.parametrize("width", [4, 60], ids=["short", "wrapped"])
def test_winners_that_are_not_shown_are_counted_in_arms(width):
    wins = np.random.default_rng(0).integers(0, 5, (23, 23))
    np.fill_diagonal(wins, 0)
    names = [f"{k:02} ".ljust(width, "x") for k in range(23)]
    text = repr(bd.winners(bd.fit(bd.Duels.from_wins(wins, names), draws=100)))
    (left,) = re.findall(r"and (\d+) more arms \(\.table\(\) has all rows\)", text)
    shown = [line for line in text.split("\n") if re.match(r" +\d+  \d\d ", line)]
    assert len(shown) + int(left) == 23


def test_screen_says_where_all_rows_are():
    rows = [f"{k}" for k in range(100)]
    assert " more lines (.table() has all rows)\nthe end" in screen(
        [], rows, ["the end"], whole=".table()"
    )
    assert "has all rows" not in screen([], rows[:3], ["the end"], whole=".table()")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n_groups", [1, 2, 3])
@pytest.mark.parametrize("noun", ["arm", "dish"])
def test_winners_of_groups_show_rows_below_long_sentences(n_groups, noun):
    """Before, the sentences on two groups left room for no row, or for three."""
    left, right = [], []
    for group in range(n_groups):
        arms = [f"{'xyz'[group]}{k}" for k in range(3)]
        left += [arms[0], arms[1], arms[2], arms[0]] * 12
        right += [arms[1], arms[2], arms[0], arms[2]] * 12
    duels = bd.Duels.from_votes(left, right, [1, 0, 1, 1] * (12 * n_groups))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bd.winners(bd.fit(duels, draws=200), noun=noun)
    lines = repr(found).splitlines()
    assert len(lines) <= 30 and max(map(len, lines)) <= 80
    shown = [line for line in lines if re.match(r" *\d+  [xyz]\d ", line)]
    assert len(shown) == 3 * n_groups
