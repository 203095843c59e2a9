"""``.ci/release.py``: what has to agree before ``make release`` tags a version."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import bayesduel

ROOT = Path(__file__).parents[1]
READ = (
    ".ci/release.py", ".github/conda/recipe.yaml", "CHANGELOG.md", "CITATION.cff", "codemeta.json",
    "bayesduel/__init__.py", "pyproject.toml",
)  # fmt: skip
VERSION = re.escape(bayesduel.__version__)
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Repository"]

# What is done to a tree that can be released: file, pattern, replacement; and what is said of it.
BREAKS = {
    "citation": (("CITATION.cff", r"^version: .*$", "version: 0.0.9"), "CITATION.cff should have"),
    "recipe": ((READ[1], VERSION, "0.0.9"), "recipe.yaml should have version"),
    "codemeta": (("codemeta.json", VERSION, "0.0.9"), "codemeta.json should be what"),
    "requirement lost": ((READ[1], r"    - click .*\n", ""), "they differ in 'click >="),
    "requirement newer": ((READ[1], r"numpy >=2", "numpy >=3"), "they differ in 'numpy >=3"),
    "unreleased": (("CHANGELOG.md", r"^## .*$", "## Unreleased"), "got '## Unreleased'"),
    "undated": (("CHANGELOG.md", r"^(## \S+) .*$", r"\1"), "(YYYY-MM-DD)"),
    "no date": (("CHANGELOG.md", r"\(\d{4}-\d\d", "(2026-13"), "today or before, got 2026-13"),
    "to come": (("CHANGELOG.md", r"\(\d{4}-\d\d", "(9999-01"), "today or before, got 9999-01"),
    "new version": (("bayesduel/__init__.py", VERSION, "9.9.9"), "should have version 9.9.9"),
}


def git(folder, *arguments):
    who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def step(folder, *arguments):
    command = [sys.executable, ".ci/release.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def tree(tmp_path):
    for name in READ:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "somebody")
    git(tmp_path, "config", "user.email", "somebody@example.org")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "all")
    return tmp_path


def test_the_versions_of_this_tree_agree_but_for_the_date_of_a_release():
    said = step(ROOT, "check").stderr.splitlines()
    assert not [line for line in said[1:] if not line.startswith("CHANGELOG.md")], said


def test_a_tag_is_made_once_and_nothing_is_pushed(tree):
    if not re.search(rf"^## {VERSION} \(", (tree / "CHANGELOG.md").read_text(), flags=re.M):
        broken(tree, ("CHANGELOG.md", r"^## .*$", f"## {bayesduel.__version__} (2026-01-31)"))
        git(tree, "commit", "--quiet", "-a", "-m", "dated")
    assert git(tree, "tag") == ""
    done = step(tree, "tag")
    assert done.returncode == 0, done.stderr
    assert git(tree, "tag") == f"v{bayesduel.__version__}"
    assert git(tree, "rev-parse", "v" + bayesduel.__version__ + "^{}") == git(
        tree, "rev-parse", "HEAD"
    )
    again = step(tree, "tag")
    assert again.returncode == 1 and "of which there is a tag" in again.stderr
    assert step(tree, "published", f"v{bayesduel.__version__}", REPOSITORY).returncode == 0
    said = step(tree, "published", "v9.9.9", "https://example.org/other").stderr
    assert "the tag should be" in said and "should name the repository" in said


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", BREAKS)
def test_what_disagrees_is_named_and_nothing_is_tagged(tree, name):
    change, said = BREAKS[name]
    broken(tree, change)
    git(tree, "commit", "--quiet", "-a", "-m", "broken")
    done = step(tree, "tag")
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
    assert git(tree, "tag") == ""


@pytest.mark.parametrize("name", ["CHANGELOG.md", "new.txt"])
def test_a_tree_with_changes_is_not_tagged(tree, name):
    with open(tree / name, "a", encoding="utf-8") as file:
        file.write("more\n")
    done = step(tree, "ready")
    assert (
        done.returncode == 1 and "the tree should be clean" in done.stderr and name in done.stderr
    )


def test_a_new_version_is_written_where_it_is_repeated(tree):
    broken(tree, ("bayesduel/__init__.py", VERSION, "9.9.9"))
    said = step(tree, "write").stderr.splitlines()
    assert len(said) == 2 and said[1].startswith("CHANGELOG.md should begin with '## 9.9.9 (")
    assert json.loads((tree / "codemeta.json").read_text())["version"] == "9.9.9"


def test_the_recipe_requires_what_pyproject_does():
    """Read here without the help of .ci/release.py."""
    spelt = {"duckdb": "python-duckdb", "matplotlib": "matplotlib-base"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {"python": project["requires-python"]}
    for text in project["dependencies"]:
        name, _, bound = text.partition(">=")
        wanted[spelt.get(name, name)] = f">={bound}"
    run = (ROOT / READ[1]).read_text().partition("  run:\n")[2].partition("\n\n")[0]
    found = dict(line.strip().removeprefix("- ").split(" ") for line in run.splitlines())
    assert found == wanted


def broken(tree, change):
    """Replace the first match of a pattern in a file; fail if there is none."""
    name, pattern, new = change
    text, times = re.subn(pattern, new, (tree / name).read_text(), count=1, flags=re.M)
    assert times == 1
    (tree / name).write_text(text)
