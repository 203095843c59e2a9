"""The page of questions: every command runs, and every section that it names is there."""

import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from bayesduel.cli import COMMANDS, main
from tests.support.parsing import Page

PAGE = Path(__file__).parents[1] / "docs" / "start" / "questions.md"


def questions():
    """Return number, question, command and place of every row."""
    row = re.compile(r"^\| (\d+) \| (.+?) \| `(.+?)` \| (.+?) \|$", re.M)
    return row.findall(PAGE.read_text(encoding="utf-8"))


def places():
    """Return the places that are named for each command."""
    found: dict[str, set[str]] = {}
    for _, _, command, place in questions():
        found.setdefault(command, set()).add(place)
    return found


def test_there_are_twenty_five_questions_with_commands_that_are_understood():
    rows = questions()
    assert [int(number) for number, *_ in rows] == list(range(1, 26))
    assert all(question.endswith("?") for _, question, _, _ in rows)
    for command in places():
        program, name, *rest = shlex.split(command)
        assert program == "bayesduel" and name in COMMANDS
        main.get_command(None, name).make_context(name, rest, obj=[])  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("command", list(places()))
def test_the_command_runs_and_the_answer_stands_where_it_is_said(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, shlex.split(command)[1:])
    assert done.exit_code == 0, done.output
    wanted = places()[command] - {"Top"}
    if "-o" in shlex.split(command) and not Path("tables").is_dir():
        (written,) = (name for name in os.listdir() if name.endswith(".html"))
        html = Path(written).read_text(encoding="utf-8")
        assert Page(html).text["verdict" if "index" not in html else "index"]
        there = set(re.findall(r"<h2>(.*?)</h2>", html))
        assert wanted <= there
    elif Path("tables").is_dir():
        assert Path("tables/ranking.csv").exists()
    else:
        assert done.stdout.strip()
        assert all(place in done.stdout for place in wanted)
