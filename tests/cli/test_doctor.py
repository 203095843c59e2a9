"""``bayesduel doctor``: what is in order, and what each broken state is called and mended by."""

import json
import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

from bayesduel.cli import doctor, main

ROOT = Path(__file__).parents[2]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LARGE = 10**15  # bytes of memory that no machine has


def wrong(check):
    """Return what a check says is wrong, by what it looked at."""
    return {f.what: f for f in check() if f.mend}


def test_a_sound_installation_is_well_and_each_dependency_has_a_line():
    done = CliRunner().invoke(main, ["doctor", "--json"])
    said = json.loads(done.stdout)
    assert done.exit_code == 0 and said["ok"], said
    found = {finding["what"]: finding for finding in said["findings"]}
    names = {requirement.partition(">=")[0] for requirement in DECLARED["dependencies"]}
    assert names | {"Python", "bayesduel", "memory", "cores", "a fit"} <= found.keys()
    assert doctor.BEST in found["a fit"]["found"]
    assert not [f for f in found.values() if f["mend"]]


@pytest.mark.slow
def test_the_lines_of_a_broken_installation_and_its_status(tmp_path):
    """In a process of its own: a cache that cannot be written, and no compiler where C is asked."""
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "cache"
    flags = f"cxx=,linker=c,base_compiledir={tmp_path / 'pytensor'}"
    chosen = {"NUMBA_CACHE_DIR": str(folder), "PYTENSOR_FLAGS": flags}
    done = subprocess.run(
        [sys.executable, "-m", "bayesduel", "doctor"], env=os.environ | chosen, cwd=tmp_path,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1 and "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    (cache, said), (linker, mend) = (
        (lines[k], lines[k + 1]) for k, line in enumerate(lines) if line.startswith("WRONG")
    )
    assert f"cache of Numba: {folder}" in cache and "cannot be written" in cache
    assert said.startswith("       to mend it: ") and "NUMBA_CACHE_DIR=" in said
    assert "PyTensor: compiles by C (c): no compiler" in linker and "g++" in mend
    assert lines[-1].startswith("2 of ") and lines[-1].endswith("lines are wrong")


@pytest.mark.parametrize("name", ["numpy", "nutpie", "xarray"])
@pytest.mark.parametrize("found", ["0.0.1", "0", "0.1rc1"])
def test_a_dependency_that_is_too_old_is_named_with_its_bound(monkeypatch, name, found):
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda n: found if n == name else real(n))
    (finding,) = wrong(doctor._versions).values()
    (bound,) = (r for r in DECLARED["dependencies"] if r.startswith(f"{name}>="))
    assert finding.what == name and found in finding.found
    assert finding.mend == f"pip install --upgrade '{bound}'"


@pytest.mark.parametrize("version", ["9999", "9999.0.0.dev1", "2026.12rc1+local"])
def test_a_newer_dependency_is_well(monkeypatch, version):
    monkeypatch.setattr(metadata, "version", lambda name: version)
    assert not wrong(doctor._versions)


@pytest.mark.parametrize(("name", "names"), [("scipy", {"scipy"}), ("polars", set())])
def test_a_missing_dependency_is_wrong_and_a_missing_extra_is_not(monkeypatch, name, names):
    real = metadata.version

    def version(wanted):
        if wanted == name:
            raise metadata.PackageNotFoundError(name)
        return real(wanted)

    monkeypatch.setattr(metadata, "version", version)
    assert wrong(doctor._versions).keys() == names
    said = next(line.found for line in doctor._versions() if line.what == name)
    assert ("pip install 'bayesduel[polars]'" in said) == (name == "polars")


def test_a_package_that_is_not_installed_is_told_to_be(monkeypatch):
    def requires(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)
    assert wrong(doctor._versions)["packages"].mend == "pip install ."


@pytest.mark.parametrize(
    ("what", "variable"), [("cache of Matplotlib", "MPLCONFIGDIR"), ("temporary files", "TMPDIR")]
)
def test_a_folder_that_cannot_be_written_is_named(monkeypatch, tmp_path, what, variable):
    (tmp_path / "file").write_text("")
    place = str(tmp_path / "file")
    if variable == "TMPDIR":
        monkeypatch.setattr("tempfile.gettempdir", lambda: place)
    else:
        monkeypatch.setattr("matplotlib.get_cachedir", lambda: place)
    (finding,) = wrong(doctor._caches).values()
    assert finding.what == what and place in finding.found and f"{variable}=" in finding.mend


@pytest.mark.skipif(not hasattr(os, "geteuid") or not os.geteuid(), reason="root may write")
def test_a_read_only_folder_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o500)
    assert "permission denied" in wrong(doctor._caches)["cache of Numba"].found


def test_plain_python_and_too_little_memory_are_named(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setattr(doctor, "LEAST_MEMORY", LARGE)
    assert wrong(doctor._compilers)["Numba"].mend == "unset NUMBA_DISABLE_JIT"
    assert "ulimit" in wrong(doctor._machine)["memory"].mend


def test_a_check_that_fails_is_a_finding_and_the_next_follow(monkeypatch):
    def fail(*_, **__):
        raise ImportError("libgfortran is missing")

    monkeypatch.setattr("bayesduel.fit", fail, raising=False)
    monkeypatch.setattr("bayesduel.simulate", fail, raising=False)
    found = {f.what: f for f in doctor.examine()}
    for what in ("fit", "policy"):
        assert found[what].found == "ImportError: libgfortran is missing" and found[what].mend
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 1 and "2 of " in done.stdout.splitlines()[-1]


def test_numbers_that_are_wrong_are_named(monkeypatch):
    monkeypatch.setattr(doctor, "BEST", "another gel")
    assert "another gel should be best" in wrong(doctor._fit)["a fit"].mend
