"""No label reaches a spreadsheet as a formula, and none is changed for good."""

import csv
import io
import json
import shutil
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.reporting.section import Table
from bayesduel.text import csv_text, from_spreadsheet

LABELS = [
    "=1+1",
    "+a",
    "-a",
    "@SUM(A1)",
    "\tb",
    "\rc",
    "'=x",
    "''-y",
    "\uff1dz",
    "'plain",
    "-1",
    "plain",
]
ARMS = [label for label in LABELS if label == label.strip()]  # others are stripped when read


def is_formula(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell[:1] in set("=+-@\t\r\n\uff1d")
    return False


def cells(text):
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    path = tmp_path_factory.mktemp("judged") / "s.study"
    with bd.Study(path, arms=ARMS, policy=bd.policies.Uniform()) as study:
        for judge in ["=J()", "b", "c", "d"] * 15:
            study.tell(study.ask(judge=judge), "left")
    return path


@pytest.fixture
def files(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(judged, tmp_path)
    return tmp_path


def run(command):
    result = CliRunner().invoke(main, command.split())
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("label", LABELS)
def test_a_label_comes_back_and_is_no_formula(label):
    (written,) = cells(csv_text([label], []))
    assert not is_formula(written) and from_spreadsheet(written) == label
    assert cells(csv_text([label], [], raw=True)) == [label]


def test_numbers_stay_numbers():
    row = [-1.5, -2, float("-inf"), float("nan"), None, "-1.5", "+2e-3", "-1,234", "-3 %", True]
    (_, *written) = cells(csv_text(["x"], [row]))
    assert written == ["-1.5", "-2", "-inf", "", "", "-1.5", "+2e-3", "-1,234", "-3 %", "True"]


@pytest.mark.plain
@pytest.mark.sampled(2)
@pytest.mark.parametrize("raw", ["", " --raw"])
@pytest.mark.parametrize("audit", ["", " --audit"])
def test_an_exported_study_is_read_as_it_was(files, raw, audit):
    run(f"study export s.study log.csv{audit}{raw}")
    text = (files / "log.csv").read_text()
    assert any(map(is_formula, cells(text))) == bool(raw)
    for more in ("", "-1,broken\n"):  # counted by the engine, and row by row
        (files / "log.csv").write_text(text + more)
        log = bd.read_duels("log.csv", on_bad="skip")
        assert set(log.arms) == set(ARMS)
        assert "=J()" in log.votes.judges


def test_a_log_of_another_source_keeps_its_apostrophes(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("left,right,outcome\n'=x,=x,left\n=x,'-O2',left\n")
    assert set(bd.read_duels(log).arms) == {"'=x", "=x", "'-O2'"}


@pytest.mark.parametrize("raw", ["", " --raw"])
@pytest.mark.sampled(2)
def test_tables_of_commands(tmp_path, monkeypatch, raw):
    monkeypatch.chdir(tmp_path)
    heads = ["ticket", "left", "right", "outcome", "judge", "asked", "told", "seconds"]
    rows = [[k, *pair, "left", "b", "", "", 1] for k, pair in enumerate(combinations(ARMS, 2))]
    Path("log.csv").write_text(csv_text(heads, rows))
    printed = run(f"winners log.csv --judge none --draws 100 --csv{raw}")
    assert any(map(is_formula, cells(printed))) == bool(raw)
    run(f"export log.csv --judge none --draws 100 -o tables{raw}")
    found = {path: cells(path.read_bytes().decode()) for path in Path("tables").iterdir()}
    assert any(is_formula(cell) for texts in found.values() for cell in texts) == bool(raw)
    labels = {from_spreadsheet(c) for c in found[Path("tables/ranking.csv")]}
    assert set(ARMS) <= (labels if not raw else set(found[Path("tables/ranking.csv")]))


@pytest.mark.plain
def test_raw_is_for_csv(files):
    run("study export s.study log.csv")
    result = CliRunner().invoke(main, ["winners", "log.csv", "--raw"])
    assert result.exit_code == 2 and "--raw is for CSV" in result.stderr


def test_files_of_a_page():
    table = Table(columns="ln", heads=("=head", "n"), rows=(("=1+1", "-3"), ("-x", "-0.5")))
    assert cells(table.csv()) == ["'=head", "n", "'=1+1", "-3", "'-x", "-0.5"]
    assert json.loads(table.to_json())[0] == {"=head": "=1+1", "n": "-3"}
