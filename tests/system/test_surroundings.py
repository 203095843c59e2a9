"""No home folder, a plain C locale, a folder of caches of somebody else."""

import os
import stat
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor import config

from bayesduel.system.cache_folder import keep_generated_source, provide_cache_folder

POOR = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "HOME": "/dev/null",
}


@pytest.fixture
def homeless(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("NUMBA_CACHE_DIR", "MPLCONFIGDIR", "PYTENSOR_FLAGS"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return tmp_path


def test_caches_are_in_a_folder_of_ones_own(homeless):
    with pytest.warns(UserWarning, match=r"the home folder /dev/null cannot") as caught:
        provide_cache_folder()
    said = caught[0]
    line = warnings.formatwarning(said.message, said.category, said.filename, said.lineno)
    assert line.count("\n") == 1  # without the line of our source
    (folder,) = homeless.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert os.environ["NUMBA_CACHE_DIR"] == f"{folder}/numba"
    assert os.environ["MPLCONFIGDIR"] == f"{folder}/mpl"
    assert os.environ["PYTENSOR_FLAGS"] == f"base_compiledir={folder}/pytensor"
    provide_cache_folder()  # said once


def test_what_is_set_is_kept(homeless, monkeypatch):
    monkeypatch.setenv("PYTENSOR_FLAGS", "floatX=float64")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "mine")
    with pytest.warns(UserWarning):
        provide_cache_folder()
    assert os.environ["NUMBA_CACHE_DIR"] == "mine"
    assert os.environ["PYTENSOR_FLAGS"].startswith("floatX=float64,base_compiledir=")


def test_a_folder_that_others_can_write_is_not_used(homeless):
    theirs = homeless / f"bayesduel-cache-{os.getuid()}"
    theirs.mkdir()
    theirs.chmod(0o777)
    with pytest.warns(UserWarning):
        provide_cache_folder()
    assert Path(os.environ["NUMBA_CACHE_DIR"]).parent != theirs


def test_a_home_folder_that_can_be_written_is_used(monkeypatch, tmp_path, recwarn):
    monkeypatch.setenv("HOME", str(tmp_path))
    provide_cache_folder()
    assert not recwarn.list


@pytest.mark.slow
def test_commands_run_without_a_home_folder_and_in_the_c_locale(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("left,right,outcome\n狐,bé,left\nbé,狐,left\n", encoding="utf-8")
    environment = POOR | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "bayesduel", "health", str(log)]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(b"cannot be written") == 1
    done = subprocess.run(
        [*command[:-1], str(tmp_path / "狐.csv")], env=environment, capture_output=True, timeout=120
    )
    assert done.returncode == 2
    assert b"no such file" in done.stderr and b"Traceback" not in done.stderr


@pytest.mark.slow
def test_compiled_code_runs_without_a_home_folder(tmp_path):
    program = (
        "import bayesduel as bd; bd.simulate(bd.policies.Uniform(), 'cyclic-4', 50); "
        "bd.fit(bd.datasets.load('baseball1987'), draws=100)"
    )
    environment = POOR | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, timeout=600
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("chosen", ["", "mine"])
def test_compiled_functions_leave_no_files_in_the_temporary_folder(monkeypatch, tmp_path, chosen):
    kept = tmp_path / chosen if chosen else Path(config.base_compiledir) / "generated"
    monkeypatch.setattr(config, "generated_src_dir", str(kept) if chosen else "")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    keep_generated_source()
    x = pt.dvector("x")
    assert pytensor.function([x], 2 * x)(np.array([1.0, 3.0])).tolist() == [2, 6]
    assert [p.name for p in tmp_path.iterdir()] == ([chosen] if chosen else [])
    assert config.generated_src_dir == str(kept)
    assert any(kept.glob("*.py"))
