"""Options are declared once: functions and commands have the defaults and words of the records."""

from inspect import signature
from typing import get_args

import click
import pytest

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
