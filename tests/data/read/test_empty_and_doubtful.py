"""What is said of outcomes that are empty, and of dates whose day and month are in doubt."""

import re
import shlex

import numpy as np
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main

# The column of the outcome, its values for the left, the right and a tie, and the sides.
OUTCOMES = {
    "letters": ("a,b,Urteil", "A", "B", "keine Präferenz"),
    "names": ("left,right,winner", "{left}", "{right}", "tie"),
    "symbols": ("left,right,result", "1-0", "0-1", "½-½"),
}
PAIRS = [("x", "y"), ("y", "z"), ("z", "x")] * 4


def log_file(folder, kind, n_empty):
    head, left_won, right_won, tie = OUTCOMES[kind]
    lines = [head]
    for k, (left, right) in enumerate(PAIRS):
        value = (left_won, right_won, tie)[k // 3 % 3].format(left=left, right=right)
        lines.append(f"{left},{right},{value}")
    lines += ["x,y,"] * n_empty
    path = folder / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n_empty", [1, 3])
@pytest.mark.parametrize("kind", OUTCOMES)
def test_an_empty_outcome_is_said_with_two_options_that_work(tmp_path, kind, n_empty):
    path = log_file(tmp_path, kind, n_empty)
    column = OUTCOMES[kind][0].rpartition(",")[2]
    with pytest.raises(ValueError, match="is empty") as caught:
        bd.read_duels(path)
    more = {1: "", 3: " (and 2 more bad rows)"}[n_empty]
    place = f"log.csv, line {len(PAIRS) + 2}: column {column!r} is empty{more}. To leave"
    assert place in str(caught.value)
    assert "?" not in str(caught.value)
    answer = CliRunner().invoke(main, ["read", str(path)])
    options = re.findall(r"--means ('[^']*'|\S+?)(?:\.|$)", answer.stderr.strip())
    found = []
    for k, option in enumerate(options):
        own = tmp_path / f"own{k}.csv"
        command = ["read", str(path), "-o", str(own), "--means"]
        answer = CliRunner().invoke(main, [*command, *shlex.split(option)])
        assert answer.exit_code == 0, answer.stderr
        log = bd.read_duels(own)
        found.append((log.n_duels, log.n_ties))
    n_ties = int(np.sum([k // 3 % 3 == 2 for k in range(len(PAIRS))]))
    assert found == [(len(PAIRS), n_ties), (len(PAIRS) + n_empty, n_ties + n_empty)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("dates", "forms"),
    [
        (["01/02/2025", "03/04/2025"], ["%m/%d/%Y", "%d/%m/%Y"]),
        (["01-02-2025", "03-04-2025"], ["%m-%d-%Y", "%d-%m-%Y"]),
        (["01.02.25", "03.04.25"], ["%d.%m.%y"]),
        (["01/02/25", "03/04/25"], ["%m/%d/%y", "%d/%m/%y"]),
        (["13/02/25", "03/04/25"], ["%d/%m/%y"]),
    ],
)
@pytest.mark.parametrize("name", ["date", "Datum", "timestamp", "note"])
def test_dates_in_doubt_are_said_with_options_that_read_them(tmp_path, dates, forms, name, capsys):
    path = tmp_path / "log.csv"
    rows = [f"{'ab'[k % 2]},{'ba'[k % 2]},left,{dates[k % 2]}" for k in range(6)]
    path.write_text("\n".join([f"left,right,outcome,{name}", *rows, ""]))
    log = bd.read_duels(path)
    (line,) = log.reading.not_used
    options = " or ".join(f"time_format={form!r}" for form in forms)
    assert line.words == f"2 values, dates in doubt: which number is the day? {options} says it"
    assert ("dates in doubt" in capsys.readouterr().err) == (name != "note")
    for form in forms:
        log = bd.read_duels(path, time=name, time_format=form)
        assert log.votes.time.dtype.kind == "M"


@pytest.mark.parametrize(
    "texts", [["1.2.3", "4.5.6"], ["3-1", "0-2"], ["10/10", "9/10"], ["a", "b"]]
)
def test_other_columns_are_no_dates_in_doubt(texts):
    log = bd.read_duels({"left": ["a", "b"] * 2, "right": ["b", "a"] * 2,
                         "outcome": ["left", "right"] * 2, "version": texts * 2})  # fmt: skip
    assert not [line for line in log.reading.not_used if "doubt" in line.words]
