"""Pytest plugin: the tests are collected once, and each mutation is tried in a forked process.

What a test that passes costs and which lines of the package it runs is kept: it is not run for a
mutation of another line. Lines of fixtures count for all tests of a file.
"""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest

from benchmarks.mutations.mutation import Mutation
from benchmarks.mutations.patching import Index, alive, apply, changed

__all__ = ["LONGEST", "LONGEST_TEST", "Outcome", "Trials"]

LONGEST = 60.0  # processor seconds of tests for a mutation
LONGEST_TEST = 15.0  # processor seconds of a test; those that take longer are left out
SLACK = 3.0  # seconds over five times what a test takes without a mutation
TOOL = 4  # an id of sys.monitoring that coverage and profilers do not take


class OverLimitError(Exception):
    """A test takes longer than LONGEST_TEST."""


class Outcome(NamedTuple):
    """What became of a mutation.

    Attributes
    ----------
    result
        "noticed", "time-out", "survived", "not run" (no test runs the line), "at import" (such a
        mutation cannot be made in an imported package) or "same" (the code is the same with it).
    test
        The test that noticed it.
    n_tests
        Tests that were run.
    n_left
        Tests of these files that were not run: the bound of LONGEST seconds was reached.
    """

    result: str
    test: str = ""
    n_tests: int = 0
    n_left: int = 0


class Trials:
    """The plugin: `work` is called with itself once the tests are collected."""

    def __init__(self, root: Path, kept: Path, work: Callable[["Trials"], None]) -> None:
        self.root, self.kept, self.work = root, kept, work
        self.known: dict[str, dict[str, Any]] = {}
        self.shared: dict[str, dict[str, set[int]]] = {}  # lines of fixtures by test file
        self.at_setup: dict[str, list[int]] = {}
        self.failed: str | None = None
        self.slow = False
        self.seen: set[tuple[str, int]] = set()
        if kept.exists():
            for line in kept.read_text(encoding="utf-8").splitlines():
                if line.endswith("}"):  # not the last line of a run that was killed
                    self._learn(json.loads(line))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do the work in place of the tests."""
        self.items = {item.nodeid: item for item in session.items}
        self.texts: dict[str, str] = {}
        for name in self.items:
            file = name.partition("::")[0]
            self.texts.setdefault(file, (self.root / file).read_text(encoding="utf-8"))
        self.work(self)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Note the lines that run while the fixtures of a test are made."""
        yield
        self.at_setup = self._by_file()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that fails."""
        if report.failed:
            self.failed = report.nodeid
            self.slow = self.slow or OverLimitError.__name__ in str(report.longrepr)

    # -- one mutation --------------------------------------------------------------------------

    def tried(self, mutation: Mutation, index: Index) -> Outcome:
        """Return what becomes of a mutation, made in the functions of `index`."""
        code = changed(mutation, self.root)
        if code is None:
            return Outcome("at import")
        if not code:
            return Outcome("same")
        functions = alive(code, str(self.root / mutation.path), index)
        if not functions:
            return Outcome("at import")
        passed: list[str] = []
        while True:
            names = [name for name in self._tests_of(mutation) if name not in passed]
            told = self._forked(names, lambda: apply(functions), LONGEST)
            ran = [record for record in told if "test" in record]
            last = told[-1]
            left = len(names) - len(ran)
            for record in ran[:-1] if last.get("fault") else ran:
                self._keep(record)
                if not record.get("fault"):
                    passed.append(record["test"])
            if not last.get("fault"):
                hit = any(self._runs(name, mutation) for name in passed)
                return Outcome("survived" if hit else "not run", "", len(passed), left)
            name, n_tests = last["test"], len(passed) + 1
            if name in self.known:
                return Outcome(last["fault"], name, n_tests, left)
            own, *_ = self._forked([name], lambda: None, LONGEST)  # does it pass without it?
            self._keep(own)
            if not own.get("fault"):
                return Outcome(last["fault"], name, n_tests, left)

    def quick_tests_of(self, path: str) -> list[str]:
        """Return known tests that run lines of a file, the quickest first, LONGEST seconds."""
        chosen, total = [], 0.0
        for name, record in sorted(self.known.items(), key=lambda pair: pair[1]["seconds"]):
            shared = self.shared.get(name.partition("::")[0], {})
            if not record.get("fault") and (path in record["lines"] or path in shared):
                total += record["seconds"]
                if total > LONGEST:
                    break
                chosen.append(name)
        return chosen

    def _tests_of(self, mutation: Mutation) -> list[str]:
        """Return the tests known to run the line, the quickest first, and those not yet known."""
        runs, unknown = [], []
        files = self._files_of(mutation.path)
        for name in self.items:
            record, file = self.known.get(name), name.partition("::")[0]
            if record is None:
                if file in files:
                    unknown.append((files.index(file), name))
            elif not record.get("fault"):
                if self._runs(name, mutation):
                    runs.append((record["seconds"], name))
        unknown.sort(key=lambda pair: pair[0])
        return [name for _, name in [*sorted(runs), *unknown]]

    def _files_of(self, path: str) -> list[str]:
        """Return the test files that may run a file: its own, and those that name what it has."""
        source = (self.root / path).read_text(encoding="utf-8")
        stem = Path(path).stem
        names = {n for n in _public(source) if len(n) > 3} | {f".{stem} import", f"import {stem}"}
        room = path.removeprefix("bayesduel/").rpartition("/")[0]
        ranked = []
        for file, text in self.texts.items():
            own = Path(file).stem == f"test_{stem}"
            near = file.startswith(f"tests/{room}/")
            if own or near or any(n in text for n in names):
                count = sum(n in text for n in names)
                ranked.append((not own, not near, -count, file))
        return [file for *_, file in sorted(ranked)]

    # -- one process ---------------------------------------------------------------------------

    def _forked(
        self, names: list[str], prepare: Callable[[], None], longest: float
    ) -> list[dict[str, Any]]:
        """Run tests in a forked process until one fails; return a record of each, and of its end.

        The last record says {"ended": True}, or is of the test that failed or never ended. A
        test that is not known yet and takes too long has the fault "slow", and others follow.
        """
        if not names:
            return [{"ended": True}]
        place, told = tempfile.mkstemp()
        process = os.fork()
        if process == 0:
            try:
                os.setpgid(0, 0)
                self._child(names, prepare, longest, place)
            finally:
                os._exit(0)
        os.waitpid(process, 0)
        lines = Path(told).read_text(encoding="utf-8").splitlines()
        os.close(place)
        os.unlink(told)
        found = [json.loads(line) for line in lines]
        if not found:
            raise RuntimeError("a forked process ended before its first test")
        if found and "begun" in found[-1]:  # the process ended inside a test
            found.append({"test": found[-1]["begun"], "fault": "time-out", "seconds": 0.0})
        return [record for record in found if "begun" not in record]

    def _child(
        self, names: list[str], prepare: Callable[[], None], longest: float, place: int
    ) -> None:
        def tell(record: dict[str, Any]) -> None:
            os.write(place, (json.dumps(record) + "\n").encode())

        def stop(signum: int, frame: FrameType | None) -> None:
            if self.slow or name in self.known:
                os._exit(1)
            self.slow = True  # its fixtures, which are shared, stay failed
            raise OverLimitError

        prepare()
        sys.monitoring.use_tool_id(TOOL, "lines of tests")
        sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, self._on_line)
        sys.monitoring.set_events(TOOL, sys.monitoring.events.LINE)
        signal.signal(signal.SIGPROF, stop)
        begun = _used()
        for k, name in enumerate(names):
            record = self.known.get(name)
            limit = LONGEST_TEST
            if record is not None:
                file = name.partition("::")[0]
                longest_of = max(r["seconds"] for n, r in self.known.items() if n.startswith(file))
                limit = 5 * (record["seconds"] + longest_of) + SLACK
            tell({"begun": name})
            self.seen.clear()
            sys.monitoring.restart_events()
            self.failed, self.slow = None, False
            signal.setitimer(signal.ITIMER_PROF, limit, LONGEST_TEST)
            start, self.at_setup = _used(), {}
            item, after = self.items[name], names[k + 1] if k + 1 < len(names) else None
            item.config.hook.pytest_runtest_protocol(
                item=item, nextitem=self.items[after] if after else None
            )
            signal.setitimer(signal.ITIMER_PROF, 0)
            own = {"test": name, "seconds": _used() - start, "lines": self._by_file(),
                   "fixtures": self.at_setup}  # fmt: skip
            if self.slow:
                tell({"test": name, "seconds": own["seconds"], "fault": "slow"})
                continue
            if self.failed:
                tell({"test": name, "seconds": own["seconds"], "fault": "noticed"})
                return
            tell(own)
            if _used() - begun > longest:
                break
        tell({"ended": True})

    def _on_line(self, code: CodeType, line: int) -> Any:
        if code.co_filename.startswith(f"{self.root}/bayesduel/"):
            self.seen.add((code.co_filename.removeprefix(f"{self.root}/"), line))
        return sys.monitoring.DISABLE

    # -- what is known -------------------------------------------------------------------------

    def _by_file(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for file, line in sorted(self.seen):
            found.setdefault(file, []).append(line)
        return found

    def _runs(self, name: str, mutation: Mutation) -> bool:
        """Return whether a known test, or a fixture of its file, runs the line of a mutation."""
        shared = self.shared.get(name.partition("::")[0], {})
        lines = (self.known[name].get("lines", {}), shared)
        return any(mutation.line in of.get(mutation.path, set()) for of in lines)

    def _learn(self, record: dict[str, Any]) -> None:
        lines = {file: set(numbers) for file, numbers in record.get("lines", {}).items()}
        self.known[record["test"]] = {**record, "lines": lines}
        shared = self.shared.setdefault(record["test"].partition("::")[0], {})
        for file, numbers in record.get("fixtures", {}).items():
            shared.setdefault(file, set()).update(numbers)

    def _keep(self, record: dict[str, Any]) -> None:
        if record["test"] not in self.known:
            self._learn(record)
            with self.kept.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(record) + "\n")


def _used() -> float:
    return sum(os.times()[:4])


def _public(source: str) -> list[str]:
    """Return the names of `__all__`."""
    import ast

    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(node.value))
    return []
