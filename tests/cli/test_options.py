"""Options are declared once: functions and commands have the defaults and words of the records."""

from inspect import signature
from typing import get_args

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.data.read.reading_options import DEFAULTS, NOT_STORED, OF_RANKINGS, READING
from bayesduel.inference.fit import METHODS
from bayesduel.system.options import Decision, Fitting, Method, ModelName, rule_of

DECIDING = {"winners": ("rope", "confidence"), "report": ("rope", "confidence")}
FITTING = ("model", "method", "draws", "seed")


def defaults(function):
    return {name: one.default for name, one in signature(function).parameters.items()}


def option(name, flag):
    command = main.get_command(click.Context(main), name)
    return next(one for one in command.params if f"--{flag}" in one.opts)


def test_a_log_is_read_with_the_defaults_of_its_options():
    of_duels = defaults(bd.read_duels)
    assert {name: of_duels[name] for name in DEFAULTS} == DEFAULTS
    of_rankings = defaults(bd.read_rankings)
    assert {n: of_rankings[n] for n in OF_RANKINGS} == {n: READING[n].default for n in OF_RANKINGS}
    assert DEFAULTS.keys() | NOT_STORED == READING.keys()


@pytest.mark.parametrize("name", FITTING)
def test_a_fit_has_the_defaults_of_its_options(name):
    assert defaults(bd.fit)[name] == getattr(Fitting, name) == option("fit", name).default


@pytest.mark.parametrize("name", DECIDING)
def test_a_verdict_has_the_defaults_of_its_options(name):
    for field in DECIDING[name]:
        assert getattr(Decision, field) == defaults(getattr(bd, name))[field]
        assert getattr(Decision, field) == option(name, field).default


def test_models_and_methods_are_those_of_a_fit():
    assert set(get_args(ModelName)) == {"auto", *bd.models.MODELS}
    assert get_args(Method) == METHODS


def test_the_least_draws_are_those_of_a_fit():
    least = int(rule_of(Fitting, "draws").removeprefix("at least "))
    log = bd.datasets.load("citations")
    with pytest.raises(ValueError, match=f"at least {least}"):
        bd.fit(log, draws=least - 1)
    bd.fit(log, draws=least)


def test_ranks_of_which_a_larger_one_is_better_have_a_remedy(tmp_path):
    """The message of --lower-is-better says what to do, and all of it turns the order round."""
    places = pd.DataFrame({"a": [3, 3, 3, 2, 3, 1], "b": [2, 1, 2, 3, 2, 3]})
    places["c"] = 6 - places["a"] - places["b"]
    wide = tmp_path / "wide.csv"
    places.assign(judge=[f"j{k}" for k in places.index]).to_csv(wide, index=False)
    long = tmp_path / "long.csv"
    rows = places.rename_axis("panelist").melt(
        var_name="dish", value_name="rank", ignore_index=False
    )
    rows.reset_index().to_csv(long, index=False)
    for path in (wide, long):
        told = CliRunner().invoke(main, ["read", str(path), "--lower-is-better"])
        assert told.exit_code == 2 and "rank 1 is best as it is. Where a larger" in told.stderr
        assert "n + 1 - number" in told.stderr and "--shape scores" in told.stderr
    turned = bd.read_rankings(places.max().max() + 1 - places)
    scores = bd.read_duels(wide, shape="scores").tally().wins
    columns = {"group": "panelist", "left": "dish", "outcome": "rank"}
    np.testing.assert_array_equal(
        bd.read_duels(long, shape="scores", **columns).tally().wins, scores
    )
    expected = (places.to_numpy()[:, :, None] > places.to_numpy()[:, None, :]).sum(axis=0)
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(turned.duels.tally().wins, expected)


TWICE = {
    "fit": ["fit", "springall", "--seed", "1", "--seed=2", "-o", "new.nc"],
    "short": ["report", "springall", "-o", "a.html", "-o", "b.html"],
    "study": ["study", "new", "new.study", "--arms", "a,b", "--rope", ".1", "--rope", ".2"],
    "serve": ["study", "serve", "new.study", "--port", "1", "--port", "2"],
}


@pytest.mark.parametrize("name", TWICE)
def test_an_option_of_one_value_is_given_once(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = TWICE[name]
    answer = CliRunner().invoke(main, words)
    command = " ".join(words[: 2 if words[0] == "study" else 1])
    assert answer.exit_code == 2 and not list(tmp_path.iterdir())
    told = f"should be given once, got it 2 times (see bayesduel {command} --help)"
    assert told in answer.stderr.replace("main", "bayesduel", 1)


def test_an_option_of_several_values_is_given_as_often_as_needed(tmp_path):
    page = tmp_path / "new.nc"
    words = ["fit", "springall", "--term", "order", "--term", "cycles", "--method", "laplace"]
    answer = CliRunner().invoke(main, [*words, "-o", str(page)])
    assert "given once" not in answer.stderr and "cycles" in answer.stderr
