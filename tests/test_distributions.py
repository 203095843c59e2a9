"""The wheel and the sdist: what is in them, and that nothing of this machine is.

The fast test reads the lists of files that setuptools would ship; the slow one builds both, and
imports what the wheel holds.
"""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import bayesduel
from bayesduel.system.extras import load_extra

ROOT = Path(__file__).parents[1]
KINDS = ("", ".py", ".toml", ".yml", ".yaml", ".json", ".cff", ".md", ".txt")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("extra", ["dask", "spark", "polars", "study", "roshambo", "docs", "all"])
def test_every_extra_is_declared(extra):
    assert PROJECT["optional-dependencies"][extra]


def test_a_missing_extra_is_named_with_its_command():
    with pytest.raises(ModuleNotFoundError, match=r"no_such should be installed for this: pip ins"):
        load_extra("no_such", "dask")


def test_every_import_is_declared():
    names = {
        re.split(r"[\[<>=]", text)[0]
        for group in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
        for text in group
    }
    spelt = {"arviz_stats": "arviz-stats", "pyspiel": "open-spiel", "distributed": "dask",
             "sklearn": "scikit-learn",
             "dateutil": "pandas", "markdown_it": "markdown-it-py"}  # fmt: skip
    for path in [*(ROOT / "bayesduel").rglob("*.py"), *(ROOT / "models").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        for found in re.findall(r"^\s*(?:import|from) ([a-z_0-9]+)", text, flags=re.M):
            if found not in sys.stdlib_module_names and found not in ("bayesduel",):
                if re.search(rf"^\s*(?:import {found}|from {found}[. ][^\n]*import)", text, re.M):
                    assert spelt.get(found, found) in names, f"{found} in {path}"


def test_nothing_names_this_machine_or_a_registry():
    """No absolute path of a machine and no address of a registry in what is committed."""
    bad = re.compile(
        r"[/](home|root|Users)[/]\w|[/]work[/]\w|--(extra-)?index-url|PIP_INDEX[_]URL"
        r"|pypi[.]org[/]simple|files[.]pythonhosted"
    )
    files = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    for name in files:
        path = ROOT / name
        if path.suffix in KINDS and path.is_file():
            assert not bad.search(path.read_text(encoding="utf-8", errors="replace")), name


@pytest.mark.slow
def test_the_wheel_and_the_sdist_hold_what_they_should(tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "-w", str(tmp_path)]
    subprocess.run([*command, str(ROOT)], check=True, timeout=900)
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    package = [p for p in (ROOT / "bayesduel").rglob("*") if "__pycache__" not in p.parts]
    expected = {str(p.relative_to(ROOT)) for p in package if p.is_file() and p.suffix != ".pyc"}
    expected |= {f"bayesduel/models/{p.name}" for p in (ROOT / "models").glob("*.py")}
    assert {n for n in inside if ".dist-info/" not in n} == expected
    assert any(name.endswith("licenses/LICENSE") for name in inside)

    make = "import setuptools.build_meta as b, sys; print(b.build_sdist(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", make, str(tmp_path)], cwd=ROOT, check=True, timeout=900)
    (sdist,) = tmp_path.glob("*.tar.gz")
    names = {name.partition("/")[2] for name in tarfile.open(sdist).getnames()}
    shipped = ("bayesduel", "models", "tests", "examples", "benchmarks", "docs", ".ci/typing")
    for folder in shipped:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
                assert str(path.relative_to(ROOT)) in names, path
    for name in ("README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile",
                 "constraints.txt", "CITATION.cff", "codemeta.json", "pyproject.toml"):  # fmt: skip
        assert name in names

    place = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(place)
    program = "import bayesduel as b; [getattr(b, n) for n in b.__all__]; print(b.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(place)!r}); {program}"],
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    assert str(place) in done.stdout
    assert bayesduel.__version__ in wheel.name
