"""Try a random sample of mutations: ``python -m benchmarks.mutations``.

A mutation changes one operator, comparison or number of one line of six rooms. It is noticed if a
fast test fails or does not end. Compiled functions run as plain Python. Which mutations are tried
follows from the seed; what tests cost and run is kept in .faults/tests.jsonl, outcomes in
.faults/mutations.jsonl, and a run that was stopped goes on. With --again those that the tests did
not notice are tried anew, with --room those of one room alone.

    OMP_NUM_THREADS=1 python -m benchmarks.mutations --number 300 --minutes 60
"""

import json
import os
import shutil
import subprocess
import sys
from itertools import accumulate
from pathlib import Path
from time import monotonic
from typing import Any

import click
import pytest

from benchmarks.mutations.mutation import Mutation, mutations_of
from benchmarks.mutations.recording import Recording, Test
from benchmarks.mutations.trials import LONGEST, Outcome, Trials

ROOT = Path(__file__).parents[2]
KEPT = Path(".faults").absolute()
PAGE = Path("docs/validation/mutations.md").absolute()
ROOMS = ("beliefs", "margins", "inference", "posterior", "criticism", "data/read", "policies")
TESTS = ("beliefs", "margins", "inference", "posterior", "criticism", "data/read", "policies",
         "contracts/test_policies.py")  # fmt: skip
OPTIONS = ("-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:terminal", "-W",
           "ignore::pytest.PytestAssertRewriteWarning", "--hypothesis-seed=0", "-p",
           "benchmarks.mutations.plain_functions")  # fmt: skip
AT_IMPORT = 300.0  # seconds for the tests of a mutation of what runs at import


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--number", default=300, show_default=True, help="Mutations in the sample.")
@click.option("--seed", default=0, show_default=True)
@click.option("--minutes", default=1e9, help="Begin no mutation after so many minutes.")
@click.option("--again", is_flag=True, help="Try those anew that were not noticed.")
@click.option("--room", "rooms", multiple=True, help="Try those of this room alone.")
def main(number: int, seed: int, minutes: float, again: bool, rooms: tuple[str, ...]) -> None:
    """Try a random sample of mutations, and write docs/validation/mutations.md."""
    begun = monotonic()
    found = [
        (room, mutation)
        for room in ROOMS
        for path in sorted((ROOT / "bayesduel" / room).rglob("*.py"))
        for mutation in mutations_of(path, ROOT)
    ]
    sample = sorted(found, key=lambda pair: pair[1].rank(seed))[:number]
    texts = {m.path: (ROOT / m.path).read_text(encoding="utf-8") for _, m in sample}
    kept = _kept()

    def work(trials: Trials) -> None:
        later = []
        for room, mutation in sample:
            key = mutation.key
            if rooms and room not in rooms:
                continue
            if key in kept and not (again and kept[key][-1].result in ("survived", "not run")):
                continue
            if monotonic() - begun > 60 * minutes:
                return
            started = monotonic()
            outcome = trials.tried(mutation)
            if outcome.result == "at import":
                later.append((key, mutation))
            else:
                _keep(kept, key, outcome, monotonic() - started)
        for key, mutation in later:
            if monotonic() - begun > 60 * minutes:
                return
            started = monotonic()
            outcome = _at_import(mutation, trials)
            _keep(kept, key, outcome, monotonic() - started)

    place = KEPT / "copy"
    _copied(place)
    os.chdir(place)
    sys.path[:] = [str(place), *(p for p in sys.path if Path(p or ".").resolve() != ROOT)]
    if minutes > 0:
        trials = Trials(place, KEPT / "tests.jsonl", work, again=again)
        os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
        pytest.main([*OPTIONS, *(f"tests/{name}" for name in TESTS)], plugins=[trials])
    os.chdir(ROOT)
    from benchmarks.mutations.page import Tried, write  # imports the package, from the copy

    tried = [Tried(room, m, kept.get(m.key, [])) for room, m in sample]
    click.echo(write(tried, texts, seed, PAGE))


def _at_import(mutation: Mutation, trials: Trials) -> Outcome:
    """Return what becomes of a mutation of a constant, a default or the body of a class."""
    trials.record(mutation.path)
    tests = _quick(trials.recording, trials.recording.asked(mutation.path, None, trials.items))
    if not tests:
        return Outcome("not run")
    target = trials.root / mutation.path
    original = target.read_text(encoding="utf-8")
    target.write_text(mutation.applied(original), encoding="utf-8")
    try:
        failed = _fail(tests, trials.root)
        if failed == pytest.ExitCode.USAGE_ERROR:  # constants are in the names of parameters
            failed = _fail([name.partition("[")[0] for name in tests], trials.root)
    except subprocess.TimeoutExpired:
        return Outcome("time-out", "", len(tests))
    finally:
        target.write_text(original, encoding="utf-8")
    return Outcome("noticed" if failed else "survived", "", len(tests))


def _fail(tests: list[str], root: Path) -> int:
    """Return how pytest ends on these tests, 0 if they pass."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", *OPTIONS, *dict.fromkeys(tests)]
    return subprocess.run(command, cwd=root, capture_output=True, timeout=AT_IMPORT).returncode


def _quick(recording: Recording, tests: list[Test]) -> list[str]:
    """Return the names of the first tests, LONGEST seconds of them."""
    total = accumulate(recording.cost(test) for test in tests)
    return [test.name for test, end in zip(tests, total, strict=True) if end <= LONGEST]


def _copied(place: Path) -> None:
    """Copy what the tests need, with the models where the package has them."""
    place.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place / "tests", ignore_errors=True)  # no file that is not there any more
    options: dict[str, Any] = {
        "ignore": shutil.ignore_patterns("__pycache__"),
        "symlinks": True,
        "dirs_exist_ok": True,
    }
    for name in ("bayesduel", "models", "tests", "benchmarks", "docs", "examples"):
        shutil.copytree(ROOT / name, place / name, **options)
    shutil.copytree(ROOT / "models", place / "bayesduel" / "models", **options)
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(ROOT / name, place / name)


def _kept() -> dict[str, list[Outcome]]:
    """Return the outcomes of each mutation, the first one first."""
    path = KEPT / "mutations.jsonl"
    found: dict[str, list[Outcome]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            entry: dict[str, Any] = json.loads(line)
        except json.JSONDecodeError:  # the last line of a run that was killed; it is run again
            continue
        found.setdefault(entry["key"], []).append(Outcome(*entry["outcome"]))
    return found


def _keep(kept: dict[str, list[Outcome]], key: str, outcome: Outcome, seconds: float) -> None:
    kept.setdefault(key, []).append(outcome)
    with (KEPT / "mutations.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"key": key, "outcome": outcome, "seconds": seconds}) + "\n")


if __name__ == "__main__":
    main()
