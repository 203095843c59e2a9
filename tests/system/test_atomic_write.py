"""Files are written whole or not at all: full disks, quotas, folders, links, pipes."""

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from bayesduel.system import atomic_write
from bayesduel.system.atomic_write import new_folder, replace_file, write_netcdf, write_text


@pytest.fixture
def tree():
    rng = np.random.default_rng(0)
    labels = np.array([f"é{i}" for i in range(40)], dtype=object)
    first = xr.Dataset({"a": ("z", rng.random(20_000))})
    second = xr.Dataset({"b": (("x", "y"), rng.random((300, 40))), "s": ("y", labels)})
    return xr.DataTree.from_dict({"/": first, "/second": second})


def bounded(program: str, *arguments) -> subprocess.CompletedProcess:
    """Run a program in which no file can grow above `sys.argv[1]` bytes, as on a full disk."""
    start = """
    import resource, sys
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
    """
    code = textwrap.dedent(start) + textwrap.dedent(program)
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


FILL = """
import numpy as np, xarray as xr
from bayesduel.system.atomic_write import write_netcdf
tree = xr.DataTree(xr.Dataset({"a": ("x", np.random.default_rng(0).random(20_000))}))
for limit in (100, 3_000, 20_000, 100_000, 159_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        write_netcdf(sys.argv[2], tree)
    except OSError as error:
        print(error)
"""


def test_netcdf_comes_back(tmp_path, tree):
    write_netcdf(tmp_path / "tree.nc", tree)
    with xr.open_datatree(tmp_path / "tree.nc", engine="h5netcdf") as found:
        assert found.identical(tree)
    assert os.listdir(tmp_path) == ["tree.nc"]


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_netcdf_and_one_sentence(tmp_path):
    path = tmp_path / "old.nc"
    path.write_bytes(b"the old one")
    done = bounded(FILL, 10**6, path)
    assert done.returncode == 0, done.stderr
    said = f"{path} cannot be written: no room is left; the file that was there is unchanged"
    assert done.stdout.splitlines() == [said] * 5
    assert path.read_bytes() == b"the old one"
    assert os.listdir(tmp_path) == ["old.nc"]


def full(monkeypatch) -> None:
    """Let every write of a file fail as on a full disk."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic_write, "_flush", refuse)


COMMANDS = {
    "fit": ["fit", "baseball1987", "--draws", "100", "-o", "PATH.nc"],
    "simulate": ["simulate", "--problem", "cyclic-4", "--policies", "Uniform", "--horizon", "50",
                 "--replications", "2", "--plot", "PATH.png"],
    "study export": ["study", "export", "STUDY", "PATH.csv"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_leaves_the_old_file_on_a_full_disk(tmp_path, monkeypatch, name):
    args = COMMANDS[name]
    suffix = Path(next(a for a in args if a.startswith("PATH"))).suffix
    path, study = tmp_path / f"out{suffix}", tmp_path / "s.study"
    if "STUDY" in args:
        made = bd.Study(study, arms=["a", "b", "c"], policy=bd.policies.Uniform())
        made.add("a", "b", "left")
    path.write_bytes(b"the old one")
    full(monkeypatch)
    filled = [str(path) if a[:4] == "PATH" else str(study) if a == "STUDY" else a for a in args]
    result = CliRunner().invoke(main, filled)
    assert result.exit_code == 2, result.output
    assert f"{path} cannot be written: no room is left; the file" in result.stderr
    assert path.read_bytes() == b"the old one"
    assert not list(tmp_path.glob(".bayesduel-draft-*"))


def test_nothing_writes_a_file_by_another_way():
    """Only `atomic_write` writes files.

    Those of DuckDB are temporary, of figures in memory; a fit's own `to_netcdf` is xarray's.
    """
    root = Path(bd.__file__).parent
    ways = (
        r"\.(write_text|write_bytes|to_netcdf|savefig)\(|(?<!self)\.to_csv\([^)]"
        r"|open\([^)]*[\"'][wx]b?\+?[\"']"
    )
    allowed = {"atomic_write.py", "duckdb_source.py", "figures.py", "datatree.py"}
    for path in [*root.rglob("*.py"), *(root.parent / "models").rglob("*.py")]:
        if path.name not in allowed:
            text = re.sub(r">>> .*", "", path.read_text(encoding="utf-8"))  # no examples
            found = re.search(ways, text)
            assert found is None or "zarr.open_group" in found.string[found.start() - 12 :], path


TABLES = {"a.csv": "new a", "b.csv": "new b", "part/c.csv": "new c"}


@pytest.mark.parametrize("there", ["nothing", "a file", "a file and a folder"])
@pytest.mark.parametrize("fails_at", range(len(TABLES) + 1))
def test_a_folder_of_files_is_written_whole_or_not_at_all(tmp_path, monkeypatch, there, fails_at):
    folder = tmp_path / "up" / "tables"
    if there != "nothing":
        (folder / "part").mkdir(parents=True) if "folder" in there else folder.mkdir(parents=True)
        (folder / "b.csv").write_text("old b")
        (folder / "mine.txt").write_text("mine")
    before = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    flush, calls = atomic_write._flush, []

    def bounded_flush(path: Path) -> None:
        calls.append(path)
        if len(calls) == fails_at + 1 and fails_at < len(TABLES):
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(path)

    monkeypatch.setattr(atomic_write, "_flush", bounded_flush)
    if fails_at == len(TABLES):
        atomic_write.write_texts(folder, TABLES.items())
        assert {name: (folder / name).read_text() for name in TABLES} == TABLES
        assert sum(path.is_file() for path in tmp_path.rglob("*")) == 3 + (there != "nothing")
        return
    left = "the file that was there is unchanged" if fails_at == 1 and before else "nothing was"
    name = list(TABLES)[fails_at]
    with pytest.raises(OSError, match=rf"{name} cannot be written: no room is left; {left}"):
        atomic_write.write_texts(folder, TABLES.items())
    assert {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert folder.exists() == (there != "nothing")


@pytest.mark.skipif(atomic_write._exchange_call() is None, reason="the system cannot exchange")
@pytest.mark.parametrize("killed", ["before", "after", "never"])
def test_a_kill_leaves_a_folder_of_old_files_or_of_new_ones(tmp_path, monkeypatch, killed):
    folder = tmp_path / "tables"
    old = {name: "old" for name in TABLES}
    atomic_write.write_texts(folder, old.items())
    (folder / "mine.txt").write_text("mine")
    (folder / "a.csv").chmod(0o600)
    exchange = atomic_write._exchange_call()

    def call(draft: bytes, place: bytes) -> int:
        if killed == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = exchange(draft, place)
        if killed == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    monkeypatch.setattr(atomic_write, "_exchange_call", lambda: call)
    monkeypatch.setattr(atomic_write._Draft, "put", lambda draft: os._exit(3))  # one by one
    child = os.fork()
    if not child:
        atomic_write.write_texts(folder, TABLES.items())
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status == (0 if killed == "never" else signal.SIGKILL)
    found = {name: (folder / name).read_text() for name in TABLES}
    assert found == (old if killed == "before" else TABLES)
    assert (folder / "mine.txt").read_text() == "mine" and len(list(folder.iterdir())) == 4
    assert stat.S_IMODE((folder / "a.csv").stat().st_mode) == 0o600
    monkeypatch.undo()
    write_text(tmp_path / "page.html", "new")  # removes what was left
    assert {path.name for path in tmp_path.iterdir()} == {"tables", "page.html"}


@pytest.mark.parametrize("place", ["the current folder", "a link in it", "a folder in it", "links"])
def test_a_folder_that_is_not_exchanged_is_written_file_by_file(tmp_path, monkeypatch, place):
    folder, own = tmp_path / "tables", tmp_path / "own.csv"
    atomic_write.write_texts(folder, TABLES.items())
    own.write_text("own")
    if place == "the current folder":
        monkeypatch.chdir(folder)
    elif place == "a link in it":
        (folder / "a.csv").unlink()
        (folder / "a.csv").symlink_to(own)
    elif place == "a folder in it":
        (folder / "mine").mkdir()
    else:
        (folder / "mine.txt").write_text("mine")
        monkeypatch.setattr(os, "link", lambda *paths: os.stat(tmp_path / "none"))
    node = folder.stat().st_ino
    new = {name: "newest" for name in TABLES}
    atomic_write.write_texts(folder, new.items())
    assert {name: (folder / name).read_text() for name in TABLES} == new
    assert folder.stat().st_ino == node and len(list(tmp_path.iterdir())) == 2
    assert own.read_text() == ("newest" if place == "a link in it" else "own")


def test_an_error_in_between_leaves_the_old_file(tmp_path):
    path = tmp_path / "old.txt"
    write_text(path, "old")
    with pytest.raises(ZeroDivisionError), replace_file(path) as draft:
        draft.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["old.txt"]


def test_permissions_links_and_devices(tmp_path):
    path, link = tmp_path / "page.html", tmp_path / "link.html"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_text(link, "new")
    assert link.is_symlink() and path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    fresh = tmp_path / "fresh.html"
    write_text(fresh, "new")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o666 & ~mask
    write_text("/dev/null", "new")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("path", ["missing/page.html", "."])
def test_places_that_are_no_files_are_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="path should be a file"):
        write_text(path, "new")


WRITER = """
import os, signal, sys
from bayesduel.system.atomic_write import new_folder, replace_file
way = {"file": replace_file, "folder": new_folder}[sys.argv[1]]
with way(sys.argv[2]) as draft:
    print("writing", flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_draft_lives_as_long_as_its_writer(tmp_path, kind):
    """The next run removes it once the writer was killed, and never before, however old it is."""
    command = [sys.executable, "-c", WRITER, kind, str(tmp_path / "a")]
    writer = subprocess.Popen(command, stdin=-1, stdout=-1)
    assert writer.stdout.readline() == b"writing\n"
    (draft,) = tmp_path.glob(".bayesduel-draft-*")
    os.utime(draft, (time.time() - 7_200,) * 2)
    write_text(tmp_path / "page.html", "new")
    assert draft.exists()
    writer.communicate()
    assert draft.exists()
    write_text(tmp_path / "page.html", "new")
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_writer_whose_new_draft_was_removed_makes_another(tmp_path, monkeypatch):
    made = []

    def removed(*arguments: object, **options: object) -> bool:
        made.append(next(tmp_path.glob(".bayesduel-draft-*")))
        if len(made) == 1:
            made[0].unlink()
        return True

    monkeypatch.setattr(atomic_write, "_lock", removed)
    write_text(tmp_path / "page.html", "new")
    assert len(set(made)) == 2 and os.listdir(tmp_path) == ["page.html"]


def test_drafts_of_other_systems_are_removed_after_an_hour(tmp_path):
    old, young = tmp_path / ".bayesduel-draft-old.nc", tmp_path / ".bayesduel-draft-young.nc"
    for draft in (old, young):
        draft.write_text("half")
    os.utime(old, (time.time() - 7_200,) * 2)
    write_text(tmp_path / "page.html", "new")
    assert not old.exists() and young.exists()


def test_a_new_folder_is_whole_or_not_there(tmp_path):
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "a") as draft:
        (draft / "x").write_text("half")
        raise ZeroDivisionError
    assert not os.listdir(tmp_path)
    with new_folder(tmp_path / "a") as draft:
        (draft / "x").write_text("first")
    with pytest.raises(FileExistsError), new_folder(tmp_path / "a") as draft:
        (draft / "x").write_text("second")
    assert (tmp_path / "a" / "x").read_text() == "first"
    assert os.listdir(tmp_path) == ["a"]
