"""What a newcomer tries first and has to say otherwise: the message names what, and what to do."""

import pandas as pd
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.models import BradleyTerry, Davidson, JudgeReliability, TimeVarying

ROWS = [("a", "b", "left"), ("b", "c", "right"), ("a", "c", "left"), ("c", "b", "tie")] * 6


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "votes.csv"
    pd.DataFrame(ROWS, columns=["left", "right", "outcome"]).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fit(log):
    return bd.fit(bd.read_duels(log), BradleyTerry(), draws=100, seed=0)


def told(*args):
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (
            ["report", "LOG", "-o", "x.pdf"],
            "path should end with .html, because a report is a page",
        ),
        (["report", "LOG", "-o", "x.html", "--against", "ann"], "but the log has no judges"),
        (["winners", "LOG", "--model", "davidson", "--model=thurstone"], "--model should be given"),
        (["winners", "LOG", "--means", "left=left"], "as --means says; add the value there"),
        (["report", "springall", "tversky1969", "-o", "x.html"], "is given alone, as the only LOG"),
        (["winners", "LOG", "--term", "time"], "read it with --time and the name of the column"),
    ],
)
def test_a_command_says_what_to_do(log, args, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in told(*[log if arg == "LOG" else arg for arg in args])
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda log, fit: bd.fit(log, TimeVarying()), TypeError, "to which terms are added"),
        (lambda log, fit: bd.fit(log, JudgeReliability()), TypeError, "or a model such as"),
        (lambda log, fit: bd.fit("springall"), FileNotFoundError, "bd.datasets.load('springall')"),
        (lambda log, fit: bd.predict(fit, "new", "a"), KeyError, "a new arm needs a duel"),
        (lambda log, fit: bd.report(fit, "x.docx"), ValueError, "got 'x.docx'"),
        (lambda log, fit: bd.predict(fit, "no.csv"), TypeError, "a frame, or a file, with"),
    ],
)
def test_python_says_what_to_do(log, fit, call, error, words):
    with pytest.raises(error) as raised:
        call(bd.read_duels(log), fit)
    assert words in str(raised.value)


def test_duels_of_a_file_are_predicted_as_those_of_its_frame(fit, tmp_path):
    asked = pd.DataFrame({"left": ["a", "b"], "right": ["c", "a"]})
    asked.to_csv(tmp_path / "asked.csv", index=False)
    for path in (tmp_path / "asked.csv", str(tmp_path / "asked.csv")):
        assert (bd.predict(fit, path)["win"] == bd.predict(fit, asked)["win"]).all()


def test_a_part_of_a_name_is_enough_for_a_hint(log):
    teams = {"a": "FC Bayern München", "b": "Borussia Dortmund", "c": "1. FC Union Berlin"}
    frame = pd.read_csv(log).replace({"left": teams, "right": teams})
    fit = bd.fit(bd.read_duels(frame), Davidson(), draws=100, seed=0)
    with pytest.raises(KeyError, match="did you mean 'FC Bayern München'"):
        bd.predict(fit, "Bayern", "Borussia Dortmund")


def test_items_of_a_file_with_decimal_commas_are_numbers(tmp_path):
    path = tmp_path / "wine.csv"
    path.write_text("Wein;Alkohol;Preis\nRioja;13,5;9,90\nToro;14,0;1.015,50\nPriorat;14,5;24,00\n")
    items = bd.read_items(path)
    assert [a.name for a in items.attributes] == ["Alkohol", "Preis"]
    assert items.values[:, 0].tolist() == [13.5, 14.0, 14.5]
    assert items.values[1, 1] == 1015.5
    path.write_text("Wein;Alkohol\nRioja;13,5\nToro;\nPriorat;14,5\n")
    with pytest.raises(ValueError, match=r"line 3.*fill it in, or leave out the column"):
        bd.read_items(path)
