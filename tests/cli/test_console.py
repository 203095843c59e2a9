"""How far long work is, told on stderr."""

import pytest

from bayesduel.cli import console

pytestmark = pytest.mark.plain


@pytest.fixture
def clock(monkeypatch):
    """Return the seconds that a clock tells, one number, which a test sets."""
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    return now


def test_where_stderr_is_no_terminal_long_work_is_told_now_and_then(clock, capsys):
    with console.share("fitting") as tell:
        for clock[0], done in ((1.0, 0.1), (29.0, 0.2), (31.0, 0.25), (45.0, 0.5), (70.0, 0.75)):
            tell(done)
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "bayesduel: fitting, 25 % (31 s)\nbayesduel: fitting, 75 % (70 s)\n"


def test_the_step_that_begins_is_told(clock, capsys):
    with console.steps() as step:
        step("fitting")
        clock[0] = 40.0
        step("comparing models")
    assert capsys.readouterr().err == "bayesduel: comparing models (40 s)\n"


def test_short_work_says_nothing(capsys):
    with console.share("fitting") as tell, console.working("reading"):
        tell(0.5)
    assert capsys.readouterr().err == ""
