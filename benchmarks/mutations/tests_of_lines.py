"""Pytest plugin: which lines of the package each test runs, and how long it takes.

The map is written to the file that the environment variable `LINES_OF_TESTS` names. Lines that
run while a fixture is made count for all tests of the file that share fixtures with it.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

__all__ = [
    "pytest_runtest_logreport",
    "pytest_runtest_protocol",
    "pytest_runtest_setup",
    "pytest_sessionfinish",
]

TOOL = 4  # an id of sys.monitoring that coverage and profilers do not take
FOLDER = f"{os.getcwd()}{os.sep}bayesduel{os.sep}"
seen: set[tuple[str, int]] = set()
tests: dict[str, dict[str, Any]] = {}


def on_line(code: CodeType, line: int) -> Any:
    """Note a line of the package; each line reports once a test."""
    if code.co_filename.startswith(FOLDER):
        seen.add((code.co_filename.removeprefix(f"{os.getcwd()}{os.sep}"), line))
    return sys.monitoring.DISABLE


sys.monitoring.use_tool_id(TOOL, "lines of tests")
sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, on_line)
sys.monitoring.set_events(TOOL, sys.monitoring.events.LINE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Record the lines and the seconds of a test."""
    begin(item, "run")
    begun = time.perf_counter()
    result = yield
    tests[item.nodeid]["seconds"] = time.perf_counter() - begun
    tests[item.nodeid]["run"] = by_file()
    return result  # type: ignore[return-value]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Record the lines that run while the fixtures of a test are made."""
    result = yield
    tests[item.nodeid]["fixtures"] = by_file()
    begin(item, "call")
    return result  # type: ignore[return-value]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Record a test that does not pass."""
    if not report.passed:
        tests[report.nodeid]["passed"] = False


def begin(item: pytest.Item, part: str) -> None:
    """Forget what was seen, and see each line anew."""
    if part == "run":
        tests[item.nodeid] = {"seconds": 0.0, "run": {}, "fixtures": {}, "passed": True}
    seen.clear()
    sys.monitoring.restart_events()


def by_file() -> dict[str, list[int]]:
    """Return the lines seen, by file."""
    found: dict[str, list[int]] = {}
    for name, line in sorted(seen):
        found.setdefault(name, []).append(line)
    return found


def pytest_sessionfinish() -> None:
    """Write the map."""
    Path(os.environ["LINES_OF_TESTS"]).write_text(json.dumps(tests), encoding="utf-8")
