"""Lists that never end, masked entries, and names that no file can have are refused by name."""

import warnings

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
