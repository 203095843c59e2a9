"""What each test costs and which lines it runs, kept in a file: which tests to ask, in which order.

A line is known by its text, so that a record stays good when lines move.
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Fixture", "Recording", "Test", "text_number"]

Lines = dict[str, set[int]]  # numbers of line texts by file
NEAR = 5.0  # a test of the file's own test file goes before others up to so many times as quick


class Fixture(NamedTuple):
    """A fixture that tests of a file share: processor seconds to make it, lines that run."""

    name: str
    seconds: float
    lines: Lines


class Test(NamedTuple):
    """A test without what it shares: processor seconds, lines that run, names of its fixtures.

    The fault is "" if it passes, "fails", or "slow".
    """

    name: str
    of: int  # number of its file's text
    seconds: float
    lines: Lines
    fixtures: tuple[str, ...]
    fault: str = ""

    @property
    def file(self) -> str:
        """The file it stands in."""
        return self.name.partition("::")[0]


class Recording:
    """The records of tests and of shared fixtures, in a file of JSON lines."""

    def __init__(self, kept: Path) -> None:
        self.kept = kept
        self.tests: dict[str, Test] = {}
        self.fixtures: dict[str, Fixture] = {}
        for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
            if line.endswith("}"):  # not the last line of a run that was killed
                self._learn(json.loads(line))

    def knows(self, name: str, of: int) -> bool:
        """Return whether a test of a file with this text is known."""
        return name in self.tests and self.tests[name].of == of

    def keep(self, record: dict[str, Any]) -> None:
        """Add a record, and write it to the file."""
        self._learn(record)
        with self.kept.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(record) + "\n")

    def cost(self, test: Test) -> float:
        """Return the processor seconds of a test and of all its fixtures."""
        return test.seconds + sum(f.seconds for f in self._fixtures_of(test))

    def asked(self, file: str, line: int | None, among: Iterable[str]) -> list[Test]:
        """Return the tests that run a line of a file (None: any line), those to ask first first.

        The quickest come first, tests of the file's own test file before others. Tests of a file
        that share fixtures stay together: pytest drops the fixtures when it leaves the file.
        """
        blocks: dict[str, list[Test]] = {}
        for name in among:
            test = self.tests.get(name)
            if test and not test.fault and self._runs(test, file, line):
                blocks.setdefault(test.file if test.fixtures else name, []).append(test)
        for block in blocks.values():
            block.sort(key=self.cost)
        own = f"test_{Path(file).stem}"

        def rank(block: list[Test]) -> float:
            return self.cost(block[0]) / (NEAR if Path(block[0].file).stem == own else 1)

        return [test for block in sorted(blocks.values(), key=rank) for test in block]

    def _runs(self, test: Test, file: str, line: int | None) -> bool:
        every = (test.lines, *(fixture.lines for fixture in self._fixtures_of(test)))
        return any(
            file in lines if line is None else line in lines.get(file, ()) for lines in every
        )

    def _fixtures_of(self, test: Test) -> Iterator[Fixture]:
        return (self.fixtures[name] for name in test.fixtures if name in self.fixtures)

    def _learn(self, record: dict[str, Any]) -> None:
        lines = {file: set(numbers) for file, numbers in record["lines"].items()}
        if "fixture" in record:
            name = record["fixture"]
            self.fixtures[name] = Fixture(name, record["seconds"], lines)
        else:
            self.tests[record["test"]] = Test(
                record["test"], record["of"], record["seconds"], lines,
                tuple(record["fixtures"]), record["fault"],
            )  # fmt: skip


def text_number(text: str) -> int:
    """Return the number that a text is known by."""
    return zlib.crc32(text.encode())
