"""Trials: the tests that run a line, in a process forked from one that has the imports done."""

import importlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.mutations.mutation import Mutation

__all__ = ["TESTS", "Lines", "copied", "measured", "prepare", "tried"]

ROOT = Path(__file__).parents[2]
TESTS = ("beliefs", "inference", "posterior", "criticism", "data/read", "policies",
         "contracts/test_policies.py")  # fmt: skip
HEAVY = ("numpy", "scipy.stats", "scipy.optimize", "scipy.sparse", "pandas", "xarray", "numba",
         "pymc", "pytensor", "arviz_stats", "arviz", "nutpie", "matplotlib.pyplot", "duckdb",
         "narwhals", "pyarrow", "h5netcdf", "zarr", "joblib", "sqlalchemy", "rich.console",
         "pytest", "statsmodels.api", "choix", "polars", "jinja2",
         "click.testing")  # fmt: skip
LONGEST = 120.0  # seconds of tests for a mutation, the quickest tests first
SLACK = 30.0  # seconds over five times what the tests take


class Lines:
    """Which tests run a line, the quickest first."""

    def __init__(self, tests: dict[str, dict[str, Any]]) -> None:
        self.seconds = {name: test["seconds"] for name, test in tests.items()}
        self.tests: dict[tuple[str, int], set[str]] = {}
        for name, test in tests.items():
            self._add(test["run"], [name])
            file = name.partition("::")[0]
            self._add(test["fixtures"], [n for n in tests if n.startswith(f"{file}::")])

    def _add(self, lines: dict[str, list[int]], names: list[str]) -> None:
        for file, numbers in lines.items():
            for number in numbers:
                self.tests.setdefault((file, number), set()).update(names)

    def of(self, mutation: Mutation, room: str) -> list[str]:
        """Return the tests of a mutation, at most LONGEST seconds of them; at least one.

        A line that runs at import alone has all tests of its room.
        """
        names = self.tests.get((mutation.path, mutation.line), set())
        if not names and mutation.line in _at_import(ROOT / mutation.path):
            names = {name for name in self.seconds if name.startswith(f"tests/{room}/")}
        chosen: list[str] = []
        total = 0.0
        for name in sorted(names, key=lambda n: (self.seconds[n], n)):
            total += self.seconds[name]
            if chosen and total > LONGEST:
                break
            chosen.append(name)
        return chosen


def prepare(place: Path) -> None:
    """Import what is heavy and does not change, once for all trials."""
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    sys.path[:] = [str(place), *(p for p in sys.path if Path(p or ".").resolve() != ROOT)]
    for name in HEAVY:
        importlib.import_module(name)
    os.chdir(place)


def measured(place: Path, tests: str) -> dict[str, dict[str, Any]]:
    """Return for each fast test of a file or folder the lines that it runs, from one run.

    Tests that fail in this setting without a mutation are left out.
    """
    kept = place / "lines.json"
    os.environ["LINES_OF_TESTS"] = str(kept)
    plugin = ["-p", "benchmarks.mutations.tests_of_lines"]
    status, _ = _forked([*plugin, f"tests/{tests}"], place / "map.log", 3600.0)
    if status not in (0, 1):  # passed, or some failed
        log = (place / "map.log").read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"the tests should run without a mutation, got:\n{log[-3000:]}")
    found: dict[str, dict[str, Any]] = json.loads(kept.read_text(encoding="utf-8"))
    return {name: test for name, test in found.items() if test["passed"]}


def tried(mutation: Mutation, tests: list[str], seconds: float, place: Path) -> str:
    """Return "noticed", "survived", "time-out" or, without a test, "no test runs it"."""
    if not tests:
        return "no test runs it"
    target = place / mutation.path
    original = (ROOT / mutation.path).read_text(encoding="utf-8")
    stamp = target.stat()
    target.write_text(mutation.applied(original), encoding="utf-8")
    os.utime(target, (stamp.st_atime, 10**9 + time.monotonic_ns() % 10**8))  # no stale bytecode
    try:
        status, ended = _forked(["-x", *tests], place / "last.log", 5 * seconds + SLACK)
    finally:
        target.write_text(original, encoding="utf-8")
        os.utime(target, (stamp.st_atime, stamp.st_mtime))
    if not ended:
        return "time-out"
    return "noticed" if status else "survived"


def copied(place: Path) -> None:
    """Copy what the tests need, with the models where the package has them."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("bayesduel", "models", "tests", "benchmarks", "docs", "examples", ".ci"):
        shutil.copytree(ROOT / name, place / name, ignore=ignored, symlinks=True)
    shutil.copytree(ROOT / "models", place / "bayesduel" / "models", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(ROOT / name, place / name)


def _forked(arguments: Iterable[str], log: Path, limit: float) -> tuple[int, bool]:
    """Run pytest in a forked process; return its status and whether it ended in time."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(written, 1)
            os.dup2(written, 2)
            import pytest

            options = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
            options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
            options += ["-p", "benchmarks.mutations.plain_functions", "--hypothesis-seed=0"]
            status = int(pytest.main([*options, *arguments]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    deadline = time.monotonic() + limit
    while True:
        done, code = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(code), True
        if time.monotonic() > deadline:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return 1, False
        time.sleep(0.02)


def _at_import(path: Path) -> set[int]:
    """Return the lines of a file that stand outside of functions."""
    import ast

    text = path.read_text(encoding="utf-8")
    inside: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            body = node.body if isinstance(node.body, list) else [node.body]
            inside |= set(range(body[0].lineno, (node.end_lineno or 0) + 1))
    return set(range(1, text.count("\n") + 2)) - inside
