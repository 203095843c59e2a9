"""Lists that never end, masked entries, and names that no file can have are refused by name."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesduel as bd

LONG = range(10**12)
MASKED = np.ma.masked


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: bd.Duels.from_votes(LONG, ["b"], [1]), "left should be a list of at most"),
        (lambda: bd.Duels.from_votes(["a"], ["b"], LONG), "outcome should be a list of at most"),
        (lambda: bd.Duels.from_wins(LONG), "wins should be a list of at most 100,000,000 entries"),
        (
            lambda: bd.Duels.from_wins(range(10**30)),
            "wins should be a list of at most 100,000,000 entries",
        ),
        (lambda: bd.preference.beats(LONG), "P should be a list of at most 100,000,000 entries"),
        (lambda: bd.Study(arms=LONG), "arms should be a list of at most 100,000,000 entries"),
        (lambda: bd.check(None, LONG), "duels should be a"),
        (lambda: bd.simulate(LONG, "cyclic-4", 10), "policies should be a list of at most"),
        (
            lambda: bd.read_duels(pd.DataFrame(), covariates=LONG),
            "covariates should be a list of at most 100,000,000 entries, got 1,000,000,000,000",
        ),
        (lambda: bd.Duels.from_wins(MASKED), "wins should be a square matrix"),
        (
            lambda: bd.Duels.from_wins(np.ma.masked_array([[0, 1], [2, 0]], [[0, 1], [0, 0]])),
            "wins should contain whole numbers >= 0, got nan",
        ),
        (lambda: bd.Duels.from_votes(MASKED, ["b"], [1]), "left should be a list, got an array"),
        (lambda: bd.Duels.from_votes(["a", MASKED], "bc", [1, 1]), "left should be a list"),
        (lambda: bd.Duels.from_votes("ab", "ba", [1, MASKED]), "outcome should be .* got nan at"),
        (
            lambda: bd.simulate(bd.policies.Uniform(), "cyclic-4", MASKED),
            "horizon should be a whole number",
        ),
        (lambda: bd.Study("x" * 300, arms=["a", "b"]), "path should be the path of a file"),
        (lambda: bd.Study("\ud800", arms=["a", "b"]), "path should be the path of a file"),
        (lambda: bd.open_trace("x" * 300), "path should be the path of a file"),
        (lambda: bd.Study(arms=["\ud800", "b"]), "arms should be labels of UTF-8 text"),
    ],
)
def test_what_no_argument_can_be_is_refused_by_name(call, said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((TypeError, ValueError), match=said):
            call()


FIRST_TRIED = {  # what users of other libraries try, and what they are told
    "a study's winners": (lambda study, fit: bd.winners(study), "study.winners()"),
    "a study as a log": (lambda study, fit: bd.fit(study), "study.duels()"),
    "a fit as a log": (lambda study, fit: bd.check(fit), "pass the log that it was made of"),
    "a file as a fit": (lambda study, fit: bd.predict("fit.nc", "a", "b"), "bayesduel.load opens"),
    "a path as a fit": (lambda study, fit: bd.scores(Path("fit.nc")), "bayesduel.load opens"),
    "a judge as a number": (lambda study, fit: study.ask("ann"), "judge='ann'"),
    "random_seed": (lambda study, fit: bd.fit(None, random_seed=1), "'seed'"),
    "n_samples": (lambda study, fit: bd.fit(None, n_samples=1), "'draws'"),
    "winner=": (lambda study, fit: bd.read_duels({}, winner="w"), "outcome="),
    "prompt=": (lambda study, fit: bd.read_duels({}, prompt="w"), "group="),
    "annotator=": (lambda study, fit: bd.read_duels({}, annotator="w"), "judge="),
}


@pytest.fixture(scope="module")
def fitted():
    return bd.fit(bd.Duels.from_votes("abca" * 20, "bcab" * 20, [1, 0, 1, 1] * 20), draws=100)


@pytest.mark.parametrize("tried", FIRST_TRIED)
def test_what_is_tried_first_names_what_to_do(tried, fitted):
    call, words = FIRST_TRIED[tried]
    with pytest.raises(TypeError, match=re.escape(words)):
        call(bd.Study(arms=["ann", "bob"]), fitted)


@pytest.mark.parametrize("word", ["Left", "LEFT", "ANN", "draw", "Draw", "Tie", " right "])
def test_an_outcome_is_told_in_any_case(word):
    study = bd.Study(arms=["ann", "bob"])
    ticket = study.ask()
    study.tell(ticket, word)
    told = {"left": "left", "right": "right", "tie": "tie", "draw": "tie"}
    side = "left" if ticket.left == "ann" else "right"
    assert study.ticket(ticket.id).outcome == told.get(word.strip().casefold(), side)
    with pytest.raises(ValueError, match="outcome should be"):
        study.tell(study.ask(), "leftish")


def test_winners_of_the_first_arms_print_as_a_dataset(fitted):
    found = bd.winners(fitted)
    assert "Dimensions" in repr(found.head(2)) and "Dimensions" in repr(found.isel(arm=[0, 1]))
