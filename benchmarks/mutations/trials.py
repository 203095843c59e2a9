"""Pytest plugin: the tests are collected once, and each mutation is tried in a forked process.

Before it the tests of the files that may run its line are run without a mutation, unless they are
known, to note what they cost and which lines they run.
"""

import ast
import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time
from types import CodeType, FrameType
from typing import Any, NamedTuple, cast

import pytest

from benchmarks.mutations.mutation import Mutation
from benchmarks.mutations.patching import Index, alive, apply, changed, index
from benchmarks.mutations.recording import Recording, text_number

__all__ = ["LONGEST", "LONGEST_TEST", "MOST_FILES", "Outcome", "Trials"]

LONGEST = 20.0  # processor seconds of tests for a mutation
LONGEST_TEST = 6.0  # processor seconds of a test; those that take longer are left out
SLACK = 5.0  # seconds over four times what a test takes without a mutation
MOST_FILES = 3, 15  # test files that are run for a mutation if they are not known; and again
MANY = 200  # of a file with more tests, those whose name has a name of the mutated file
TOOL = 4  # an id of sys.monitoring that coverage and profilers do not take
HEAVY = ("numpy", "scipy.stats", "scipy.sparse.linalg", "pandas", "xarray", "numba", "pymc",
         "pytensor", "arviz_stats", "arviz_base", "duckdb", "pyarrow.parquet", "polars",
         "matplotlib.pyplot", "h5netcdf", "sqlalchemy", "rich.console", "jinja2")  # fmt: skip

Tell = Callable[[dict[str, Any]], None]


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
        Tests that run the line and were not run: the bound of LONGEST seconds was reached.
    """

    result: str
    test: str = ""
    n_tests: int = 0
    n_left: int = 0


class Trials:
    """The plugin: `work` is called with itself once the tests are collected."""

    def __init__(
        self, root: Path, kept: Path, work: Callable[["Trials"], None], *, again: bool = False
    ) -> None:
        self.root, self.work, self.most_files = root, work, MOST_FILES[again]
        self.recording = Recording(kept)
        self.functions: Index = {}
        self.failed = self.slow = False
        self.why = ""
        self.seen: set[tuple[str, int]] = set()
        self.watched: Tell | None = None  # where records of fixtures go while tests are recorded

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do the work in place of the tests."""
        self.items = {item.nodeid: item for item in session.items}
        _import_all()
        self.functions = index(str(self.root))
        gc.collect()
        gc.freeze()  # a forked process copies less
        self.texts = {
            file: (self.root / file).read_text(encoding="utf-8")
            for file in {name.partition("::")[0] for name in self.items}
        }
        self.work(self)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        """Note what a shared fixture costs, and its lines, apart from the test's."""
        if self.watched is None or fixturedef.scope == "function":
            return (yield)
        name = _fixture_name(fixturedef, getattr(request, "param_index", 0))
        outside, begun = self._restarted(), process_time()
        try:
            return (yield)
        finally:
            record = {"fixture": name, "seconds": process_time() - begun, "lines": self._by_file()}
            self.watched(record)
            self._restarted()
            self.seen |= outside

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that fails."""
        if report.failed:
            self.failed = True
            self.why = str(report.longrepr)[-300:]
            self.slow = self.slow or OverLimitError.__name__ in str(report.longrepr)

    # -- what each test costs ------------------------------------------------------------------

    def record(self, path: str) -> None:
        """Run the tests that may run a file, unless they are known, in a process a test file."""
        words = {Path(path).stem, *_public((self.root / path).read_text(encoding="utf-8"))}
        for file in self._files_of(path, words):
            of = text_number(self.texts[file])
            names = [name for name in self.items if name.partition("::")[0] == file]
            if len(names) > MANY:
                names = [name for name in names if any(word in name for word in words)]
            names = [name for name in names if not self.recording.knows(name, of)]

            def run(tell: Tell, names: list[str] = names, of: int = of) -> None:
                self._watch(names, of, tell)

            while names:
                told = _forked(run)
                done = {record["test"] for record in told if "test" in record}
                for record in told:
                    if "begun" not in record:
                        self.recording.keep(record)
                begun = [record["begun"] for record in told if "begun" in record]
                if begun and begun[-1] not in done:  # the process ended inside a test
                    name = begun[-1]
                    done.add(name)
                    self.recording.keep({"test": name, "of": of, "seconds": LONGEST_TEST,
                                         "lines": {}, "fixtures": [], "fault": "slow"})  # fmt: skip
                names[:] = [name for name in names if name not in done]

    def _files_of(self, path: str, words: set[str]) -> list[str]:
        """Return the test files that may run a file: its own, and those that name what it has.

        What its folder and the contracts of its room test comes before other files.
        """
        folder, own = Path(path).parent.name, f"test_{Path(path).stem}"
        contracts = {f"tests/contracts/test_{room}.py" for room in Path(path).parent.parts}
        ranked = []
        for file, text in self.texts.items():
            count = sum(len(word) > 3 and word in text for word in words)
            near = Path(file).parent.name == folder or file in contracts
            if count or near or Path(file).stem == own:
                ranked.append((Path(file).stem != own, not near, -count, file))
        return [file for *_, file in sorted(ranked)][: self.most_files]

    def _watch(self, names: Sequence[str], of: int, tell: Tell) -> None:
        """Run tests and tell a record of each."""

        def stop(signum: int, frame: FrameType | None) -> None:
            if self.slow:
                os._exit(1)
            self.slow = True  # its fixtures, which are shared, stay failed
            raise OverLimitError

        signal.signal(signal.SIGPROF, stop)
        sys.monitoring.use_tool_id(TOOL, "lines of tests")
        sys.monitoring.register_callback(TOOL, sys.monitoring.events.LINE, self._on_line)
        sys.monitoring.set_events(TOOL, sys.monitoring.events.LINE)
        spent = 0.0

        def tell_fixture(record: dict[str, Any]) -> None:
            nonlocal spent
            spent += record["seconds"]
            tell(record)

        self.watched = tell_fixture
        for k, name in enumerate(names):
            tell({"begun": name})
            self._restarted()
            self.failed, self.slow, self.why = False, False, ""
            spent, begun = 0.0, process_time()
            signal.setitimer(signal.ITIMER_PROF, LONGEST_TEST, LONGEST_TEST)
            self._run(name, names[k + 1] if k + 1 < len(names) else None)
            signal.setitimer(signal.ITIMER_PROF, 0)
            tell({"test": name, "of": of, "seconds": process_time() - begun - spent,
                  "lines": self._by_file(), "fixtures": _shared_fixtures(self.items[name]),
                  "fault": "slow" if self.slow else "fails" if self.failed else "",
                  "why": self.why})  # fmt: skip

    def _on_line(self, code: CodeType, line: int) -> Any:
        if code.co_filename.startswith(f"{self.root}/bayesduel/"):
            self.seen.add((code.co_filename, line))
        return sys.monitoring.DISABLE

    def _restarted(self) -> set[tuple[str, int]]:
        """Return the lines seen, and see all lines anew."""
        seen, self.seen = self.seen, set()
        sys.monitoring.restart_events()
        return seen

    def _by_file(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        texts: dict[str, list[str]] = {}
        for file, line in sorted(self.seen):
            if file not in texts:
                texts[file] = Path(file).read_text(encoding="utf-8").splitlines()
            name = file.removeprefix(f"{self.root}/")
            numbers.setdefault(name, []).append(text_number(texts[file][line - 1].strip()))
        return {name: sorted(set(found)) for name, found in numbers.items()}

    # -- one mutation --------------------------------------------------------------------------

    def tried(self, mutation: Mutation) -> Outcome:
        """Return what becomes of a mutation, made in the imported package."""
        code = changed(mutation, self.root)
        if code is None:
            return Outcome("at import")
        if not code:
            return Outcome("same")
        functions = alive(code, str(self.root / mutation.path), self.functions)
        if not functions:
            return Outcome("at import")
        self.record(mutation.path)
        tests = self.recording.asked(mutation.path, text_number(mutation.text), self.items)
        if not tests:
            return Outcome("not run")
        names = [test.name for test in tests]
        costs = [self.recording.cost(test) for test in tests]

        def run(tell: Tell) -> None:
            apply(functions)
            self._ask(names, costs, tell)

        told = _forked(run)
        begun = [record["begun"] for record in told if "begun" in record]
        left = len(names) - len(begun)
        if told and "failed" in told[-1]:
            return Outcome("noticed", begun[-1], len(begun), left)
        if not told or "ended" not in told[-1]:  # stopped, or the process ended inside a test
            return Outcome("time-out", begun[-1] if begun else "", len(begun), left)
        return Outcome("survived", "", len(begun), left)

    def _ask(self, names: Sequence[str], costs: Sequence[float], tell: Tell) -> None:
        """Run tests until one fails."""
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process
        begun = process_time()
        for k, name in enumerate(names):
            tell({"begun": name})
            self.failed = False
            signal.setitimer(signal.ITIMER_PROF, 4 * costs[k] + SLACK)
            self._run(name, names[k + 1] if k + 1 < len(names) else None)
            signal.setitimer(signal.ITIMER_PROF, 0)
            if self.failed:
                tell({"failed": name})
                return
            if process_time() - begun > LONGEST:
                break
        tell({"ended": True})

    def _run(self, name: str, after: str | None) -> None:
        item = self.items[name]
        following = self.items[after] if after else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def _forked(run: Callable[[Tell], None]) -> list[dict[str, Any]]:
    """Return what a function tells in a forked process."""
    place, path = tempfile.mkstemp()

    def tell(record: dict[str, Any]) -> None:
        os.write(place, (json.dumps(record) + "\n").encode())

    process = os.fork()
    if process == 0:
        try:
            os.setpgid(0, 0)
            run(tell)
        finally:
            os._exit(0)
    os.waitpid(process, 0)
    try:
        os.killpg(process, signal.SIGKILL)  # what its tests have started
    except ProcessLookupError:
        pass
    os.close(place)
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    os.unlink(path)
    return [json.loads(line) for line in lines]


def _public(source: str) -> list[str]:
    """Return the names of `__all__`."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def _shared_fixtures(item: pytest.Item) -> list[str]:
    """Return the names of the fixtures of a test that others share."""
    found = cast(Any, item)._fixtureinfo.name2fixturedefs
    indices = getattr(getattr(item, "callspec", None), "indices", {})
    return [
        _fixture_name(definitions[-1], indices.get(name, 0))
        for name, definitions in found.items()
        if definitions[-1].scope != "function"
    ]


def _fixture_name(fixture: pytest.FixtureDef[Any], number: int) -> str:
    return f"{fixture.baseid}::{fixture.argname}[{number}]"


def _import_all() -> None:
    """Import what tests would import, so that a forked process need not."""
    import bayesduel

    for name in HEAVY:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(bayesduel.__path__, "bayesduel."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
