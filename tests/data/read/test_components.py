"""The column that separates the parts of a log that never met is named when the log is read."""

import pandas as pd
import pytest

import bayesduel as bd
from bayesduel.data.read import components

pytestmark = pytest.mark.plain

APART = pd.DataFrame(
    {
        "left": ["a", "b", "c", "x", "y", "x"],
        "right": ["b", "c", "a", "y", "z", "z"],
        "winner": ["a", "b", "c", "x", "z", "x"],
        "day": [1, 2, 1, 1, 2, 2],
        "league": ["north"] * 3 + ["south"] * 3,
    }
)


@pytest.mark.parametrize("as_file", [True, False])
def test_the_separating_column_is_named(as_file, tmp_path, capsys):
    log = APART
    if as_file:
        log = tmp_path / "apart.csv"
        APART.to_csv(log, index=False)
    bd.read_duels(log)
    said = capsys.readouterr().err
    assert "2 components never met, and 'league' separates them" in said
    assert "by='league' ranks each" in said


def test_a_column_that_does_not_separate_is_not_named(capsys):
    bd.read_duels(APART.drop(columns="league"))
    assert "separates" not in capsys.readouterr().err


def test_parts_that_met_are_not_spoken_of(capsys):
    met = pd.concat([APART, APART.iloc[:1].assign(left="c", right="x", winner="c")])
    bd.read_duels(met)
    assert "never met" not in capsys.readouterr().err


def test_a_log_that_is_not_searched_says_so(capsys, monkeypatch):
    monkeypatch.setattr(components, "SEARCHED", 5)
    bd.read_duels(APART)
    assert "no column was searched" in capsys.readouterr().err
