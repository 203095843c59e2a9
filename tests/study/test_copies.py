"""Copies of a study that is in use, and what the file itself holds of it."""

import os
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.study import database
from bayesduel.study.store import StudyError
from benchmarks.postgresql import postgresql, programs

pytestmark = pytest.mark.plain

LACKS = "was in use when it was last written, and its write-ahead log .s-wal. is missing"


def made(path, n=49):
    study = bd.Study(path, arms=list("abcdef"), stop=None, policy=bd.policies.Uniform(), seed=1)
    return told(study, n)


def told(study, n):
    for _ in range(n):
        study.tell(study.ask(), "left")
    return study


def test_a_backup_of_a_study_in_use_holds_every_answer(tmp_path):
    study = made(tmp_path / "s")
    study.backup(tmp_path / "copy")
    told(study, 3)
    opened = bd.Study(tmp_path / "copy")
    assert (opened.n_duels, study.n_duels) == (49, 52)
    told(opened, 1)  # it goes on by itself
    done = CliRunner().invoke(
        main, ["study", "backup", str(tmp_path / "s"), "-o", str(tmp_path / "two")]
    )
    assert (done.exit_code, done.output) == (0, f"{tmp_path / 'two'} is written.\n")
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("two")) == ["two"]
    assert bd.Study(tmp_path / "two").n_duels == 52
    for there in ("two", "s"):
        with pytest.raises(StudyError, match=f"The copy should be a new file, but .*{there}"):
            study.backup(tmp_path / there)
    (tmp_path / "three-wal").write_bytes(b"left of another study")
    with pytest.raises(StudyError, match=r"should be a new file, but .*three-wal"):
        study.backup(tmp_path / "three")


def test_a_study_in_memory_is_kept_by_a_backup(tmp_path):
    made(None, 3).backup(tmp_path / "copy")
    assert bd.Study(tmp_path / "copy").n_duels == 3


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_a_database_of_a_server_is_copied_by_its_own_program(tmp_path):
    pytest.importorskip("psycopg")
    with postgresql() as url, pytest.raises(StudyError, match="pg_dump for PostgreSQL"):
        made(url, 1).backup(tmp_path / "copy")


@pytest.mark.parametrize("rights", [0o600, 0o400])
def test_a_file_copied_in_use_lacks_its_last_answers_and_says_so(rights, tmp_path, monkeypatch):
    study = made(tmp_path / "s")
    (tmp_path / "copy").mkdir()
    copy = shutil.copy(tmp_path / "s", tmp_path / "copy" / "s")
    if rights == 0o400:
        monkeypatch.setattr(os, "access", lambda path, _: "copy" not in str(path))
    with pytest.warns(UserWarning, match=LACKS):
        opened = bd.Study(copy)
    assert 49 - 15 <= opened.n_duels < 49  # once it was none of them
    assert study.n_duels == 49


def test_a_file_holds_all_once_its_handles_are_closed(tmp_path):
    study, other = made(tmp_path / "s"), bd.Study(tmp_path / "s")
    study.close()
    told(other, 1)
    assert (tmp_path / "s-wal").exists()
    other.close()
    assert [p.name for p in tmp_path.iterdir()] == ["s"]
    (tmp_path / "copy").mkdir()
    opened = bd.Study(shutil.copy(tmp_path / "s", tmp_path / "copy"))  # warnings are errors here
    assert opened.n_duels == 50
    assert told(study, 1).n_duels == 51  # opens it again
    del study
    assert bd.Study(tmp_path / "s").n_duels == 51


@pytest.mark.parametrize("ends", ["", "os.kill(os.getpid(), 9)", "os._exit(0)"])
@pytest.mark.sampled(3)
def test_the_file_of_a_process_that_ended_holds_all(ends, tmp_path):
    code = (
        "import os, sys, bayesduel as bd\n"
        "study = bd.Study(sys.argv[1], arms=['a', 'b'], policy=bd.policies.Uniform(), stop=None)\n"
        "for _ in range(3): study.tell(study.ask(), 'left')\n"
    )
    subprocess.run([sys.executable, "-c", code + ends, str(tmp_path / "s")], check=not ends)
    assert (tmp_path / "s-wal").exists() == bool(ends)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bd.Study(tmp_path / "s").n_duels == 3


@pytest.mark.parametrize("log_is_there", [True, False])
def test_handles_that_refuse_each_other_end_the_use_of_the_log(log_is_there, tmp_path, monkeypatch):
    """Two processes close a study at once: each finds that the other has the file open."""
    file = tmp_path / "s"
    study = made(file, 3)
    others = []
    ends = database._ends_log

    def refused_once(connection):
        if others:
            return ends(connection)
        others.append(database._alone(file))
        others[0].execute("SELECT count(*) FROM sqlite_master")
        ended = ends(connection)
        assert not ended
        if not log_is_there:
            others[0].close()
        return ended

    def sleep(_):
        others[0].close()

    monkeypatch.setattr(database, "_ends_log", refused_once)
    monkeypatch.setattr(database.time, "sleep", sleep)
    study.close()
    assert [p.name for p in tmp_path.iterdir()] == ["s"]
    assert file.read_bytes()[18:20] != database.USES_LOG
    assert bd.Study(file).n_duels == 3  # warnings are errors here


def test_handles_that_open_and_close_at_once_lose_nothing(tmp_path):
    made(tmp_path / "s", 0).close()

    def visit(_):
        with bd.Study(tmp_path / "s") as study:
            told(study, 1)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(visit, range(48)))
    assert bd.Study(tmp_path / "s").n_duels == 48
