"""Every kind of broken file is refused with a message that names the file and the place.

The corruption is put at a random row; the seed of a case is its name, so it never moves.
"""

import gzip
import os
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bayesduel as bd
from bayesduel.cli import main
from tests.support import (
    broken_files,  # noqa: F401 (its cases register themselves)
    broken_text,  # noqa: F401
)
from tests.support.breaking import CASES, N_ROWS, rows, text
from tests.support.broken_formats import objects, parquet


@pytest.fixture(params=sorted(CASES))
def broken(request, tmp_path: Path) -> tuple[Path, str]:
    found = CASES[request.param](np.random.default_rng(zlib.crc32(request.param.encode())))
    path = tmp_path / found.name
    path.write_bytes(found.data)
    return path, found.place


def test_there_are_at_least_30_kinds():
    assert len(CASES) >= 30


def test_refused_with_the_file_and_the_place(broken):
    path, place = broken
    with pytest.raises(ValueError) as caught:
        bd.read_duels(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert re.match(place, message.removeprefix(str(path))), message
    assert len(message) < 1_000


@pytest.mark.sampled(3)
def test_the_command_ends_with_status_2_and_one_line(broken):
    path, place = broken
    result = CliRunner().invoke(main, ["health", str(path)])
    assert result.exit_code == 2
    assert result.stdout == ""
    said = [line for line in result.stderr.splitlines() if not line.startswith("read ")]
    assert len(said) == 1
    message = said[0].removeprefix("bayesduel: ").removeprefix(str(path))
    assert re.match(place, message), said


def test_the_log_is_sound_before_it_is_broken(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(text(rows(np.random.default_rng(0)), 7))
    assert bd.read_duels(path).n_duels == N_ROWS


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv: no such file"):
        bd.read_duels(tmp_path / "nothing.csv")


def test_glob_that_matches_nothing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"\*\.csv: no file matches"):
        bd.read_duels(tmp_path / "*.csv")


def test_a_folder_without_a_log(tmp_path):
    (tmp_path / "notes.txt").write_text("left,right\n")
    (tmp_path / "_SUCCESS.csv").write_text("")
    with pytest.raises(FileNotFoundError, match=r"no file of the folder ends in \.csv, "):
        bd.read_duels(tmp_path)


def test_a_folder_of_several_formats(tmp_path):
    (tmp_path / "log.csv").write_text("left,right\na,b\n")
    (tmp_path / "log.jsonl").write_text('{"left": "a", "right": "b"}\n')
    with pytest.raises(ValueError, match=r"of one format, got .*text in columns \(1\).*by a glob"):
        bd.read_duels(tmp_path)


def test_a_delta_table(tmp_path):
    (tmp_path / "_delta_log").mkdir()
    with pytest.raises(ValueError, match="should be a folder of files, got a Delta table"):
        bd.read_duels(tmp_path)


def test_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(text(rows(np.random.default_rng(0))))
    bd.read_duels(path)
    path.chmod(0)
    tmp_path.chmod(0o755)
    root = os.geteuid() == 0  # root may read everything: be nobody for a moment
    parents = [p for p in tmp_path.parents if root and p.stat().st_uid == 0 and p != p.parent]
    modes = {p: p.stat().st_mode for p in parents}
    for parent in parents:
        parent.chmod(modes[parent] | 0o055)
    if root:
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError, match="permission denied"):
            bd.read_duels(path)
    finally:
        if root:
            os.seteuid(0)
        for parent in parents:
            parent.chmod(modes[parent])


def test_files_of_a_glob_with_other_columns(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("left,right,outcome\na,b,left\n")
    (tmp_path / "b.csv").write_text("left,right,winner\na,b,left\n")
    with pytest.raises(ValueError, match="no column for the outcome"):
        bd.read_duels(tmp_path / "*.csv")
    assert "'outcome' and 'winner': not in every file" in capsys.readouterr().err


def test_bad_row_in_the_second_file_of_a_glob(tmp_path):
    (tmp_path / "a.csv").write_text("left,right,outcome\na,b,left\n")
    (tmp_path / "b.csv").write_text("left,right,outcome\na,b,left\na,b\n")
    with pytest.raises(ValueError, match=r"b\.csv, line 3: should have 3 fields"):
        bd.read_duels(tmp_path / "*.csv")


def test_how_many_more_rows_are_bad(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("left,right,outcome\na,b,left\n,b,left\na,b,up\na,b,left\na,b,\na,b,left\n")
    with pytest.raises(ValueError, match=r"line 3: column 'left' .* \(and 2 more bad rows\)"):
        bd.read_duels(path)
    path.write_text("left,right,outcome\na,b,left\na,b\na,b,left\na\na,b,left,x\n")
    with pytest.raises(ValueError, match=r"line 3: .* \(and 2 more such lines\)"):
        bd.read_duels(path)
    path.write_text("left,right,outcome\na,b,left\na,b\na\n")
    with pytest.raises(ValueError, match=r"line 3: .* \(and 1 more such line\)"):
        bd.read_duels(path)


def spoil(data: bytes, rng: np.random.Generator) -> bytes:
    """Change, cut, insert, delete or move some bytes at a random place."""
    i, n = int(rng.integers(len(data))), int(rng.integers(1, 40))
    other = int(rng.integers(len(data)))
    return [
        data[:i] + bytes([rng.integers(256)]) + data[i + 1 :],
        data[:i],
        data[:i] + bytes(rng.integers(0, 256, size=n, dtype=np.uint8)) + data[i:],
        data[:i] + data[i + n :],
        data[:i] + b'"' + data[i + 1 :],
        data[:i] + data[other : other + n] + data[i + n :],
    ][int(rng.integers(6))]


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.parquet", "log.csv.gz"])
@pytest.mark.sampled(4)
def test_any_damage_is_read_or_refused_with_the_file_named(tmp_path, name, capsys):
    """Damage may leave a sound log (another label); it never ends in another exception."""
    rng = np.random.default_rng(17)
    table = rows(rng)
    data = {
        "log.csv": text(table, 7),
        "log.jsonl": "".join(objects(table)).encode(),
        "log.parquet": parquet(table),
        "log.csv.gz": gzip.compress(text(table, 7), mtime=0),
    }[name]
    path = tmp_path / name
    refused = 0
    for _ in range(12):
        path.write_bytes(spoil(data, rng))
        for mode in ("error", "skip"):
            try:
                read_summary = bd.read_duels(path, on_bad=mode).read_summary
            except ValueError as error:
                assert str(error).startswith(str(path))
                refused += mode == "error"
            else:
                assert read_summary.n_bad_rows == len(read_summary.bad_rows)
    assert refused >= 6
