"""Studies in a database: found by its address, whose password no message prints."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.study.database import masked
from benchmarks.postgresql import postgresql, programs

pytestmark = pytest.mark.plain

SECRET = "s3cret"


def command(*args):
    return CliRunner().invoke(main, ["study", *args])


def test_the_studies_of_a_database_are_listed_by_its_address(tmp_path):
    url = f"sqlite:///{tmp_path / 'team.db'}"
    for name in ("taste", "look"):
        bd.Study(url, arms=["a", "b"], name=name).close()
    assert bd.studies(url) == ("taste", "look")
    listed = command("list", url)
    assert (listed.exit_code, listed.stdout) == (0, "taste\nlook\n")


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_the_studies_of_postgresql_are_listed_and_its_password_is_not():
    pytest.importorskip("psycopg")
    with postgresql() as url:
        url = url.replace("study@", f"study:{SECRET}@")
        made = command("new", url, "--arms", "a,b", "--name", "taste", "--json")
        listed = command("list", url)
        empty = command("export", url)
        assert (made.exit_code, listed.exit_code, empty.exit_code) == (0, 0, 2)
        assert bd.studies(url) == ("taste",)
        assert SECRET not in made.output + listed.output + empty.output + repr(bd.Study(url))


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql+psycopg://bob:{SECRET}@127.0.0.1:1/none",
        f"postgresql+psycopg://bob:{SECRET}@127.0.0.1:port/none",
        f"postgresql+psycopg://bob:x/{SECRET}@127.0.0.1/none",
        f"postgresql+psycopg://bob:x@{SECRET}@127.0.0.1:1/none",
        f"postgresql+psycopg://127.0.0.1:1/none?user=bob&password={SECRET}",
        f"nosuch://bob:{SECRET}@127.0.0.1/none",
        f"postgresql:/bob:{SECRET}@127.0.0.1/none",
    ],
)
def test_no_message_prints_a_password(address, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for arguments in (
        ("list", address),
        ("status", address),
        ("new", address, "--arms", "a,b"),
        ("list", address, "--json"),
    ):
        found = command(*arguments)
        assert found.exit_code != 0
        assert isinstance(found.exception, SystemExit), found.exception
        assert SECRET not in found.output
    for given in (address, Path(address)):
        for call in (bd.studies, bd.Study):
            with pytest.raises(bd.study.StudyError) as error:
                call(given)
            assert SECRET not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_files_are_called_by_their_names():
    for name in ("taste.study", "folder/a:b@c.study", "C:\\folder\\x.study"):
        assert masked(name) == name
    assert masked("postgresql://bob:a@b:c@host/db") == "postgresql://bob:***@host/db"
    assert masked("postgresql://bob@host/db") == "postgresql://bob@host/db"
