"""Run a random sample of mutations: ``python -m benchmarks.mutations``.

A mutation changes one operator, comparison or number of one line of six rooms. It is noticed if a
fast test that runs the line fails, or does not end in time; the package's compiled functions run
as plain Python. Which are tried follows from the seed; outcomes are kept in
.faults/mutations.jsonl, and a run that was stopped goes on. A record is of the text of its file:
after a change of the file it is made anew.

    python -m benchmarks.mutations --number 300 --minutes 60
"""

import hashlib
import json
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

import click
import numpy as np

from benchmarks.mutations.mutation import Mutation, mutations_of
from benchmarks.mutations.trial import ROOT, TESTS, Lines, copied, measured, prepare, tried

KEPT = Path(".faults").absolute()
ROOMS = ("beliefs", "inference", "posterior", "criticism", "data/read", "policies")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--number", default=300, show_default=True, help="Mutations in the sample.")
@click.option("--seed", default=0, show_default=True)
@click.option("--room", "rooms", multiple=True, type=click.Choice(ROOMS))
@click.option("--file", "only", help="Mutations of this file alone.")
@click.option("--minutes", default=1e9, help="Begin no mutation after so many minutes.")
def main(number: int, seed: int, rooms: tuple[str, ...], only: str | None, minutes: float) -> None:
    """Try a random sample of mutations, and print the share that is noticed."""
    begun = monotonic()
    found: list[tuple[str, Mutation]] = []
    for room in rooms or ROOMS:
        for path in sorted((ROOT / "bayesduel" / room).rglob("*.py")):
            if only is None or str(path.relative_to(ROOT)) == only:
                found += [(room, mutation) for mutation in mutations_of(path, ROOT)]
    order = np.random.default_rng(seed).permutation(len(found))[:number]
    kept = _kept()
    results: list[str] = []
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        place = Path(folder) / "copy"
        place.mkdir()
        copied(place)
        prepare(place)
        lines = _lines(place)
        for k in order:
            room, mutation = found[k]
            key = mutation.key((ROOT / mutation.path).read_text(encoding="utf-8"))
            if key not in kept and monotonic() - begun < 60 * minutes:
                tests = lines.of(mutation, room)
                seconds = sum(lines.seconds[name] for name in tests)
                started = monotonic()
                kept[key] = tried(mutation, tests, seconds, place)
                _keep({"key": key, "result": kept[key], "seconds": monotonic() - started})
            if key in kept:
                results.append(kept[key])
                if kept[key] not in ("noticed", "time-out"):
                    where = f"{mutation.path}:{mutation.line}"
                    click.echo(f"{kept[key]}: {where}: {mutation.old} -> {mutation.new}")
    if results:
        from bayesduel.intervals import wilson

        n, seen = len(results), sum(r in ("noticed", "time-out") for r in results)
        low, high = wilson(seen, n)
        click.echo(f"{seen} of {n} noticed: {seen / n:.1%} (95 %: {low:.1%} to {high:.1%})")


def _lines(place: Path) -> Lines:
    """Return which tests run a line; measured once for a state of the package and its tests."""
    digest = hashlib.sha256()
    for folder in ("bayesduel", "models", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    tests: dict[str, Any] = {}
    for name in TESTS:
        path = KEPT / "lines" / f"{digest.hexdigest()[:12]}-{name.replace('/', '-')}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(measured(place, name)), encoding="utf-8")
        tests |= json.loads(path.read_text(encoding="utf-8"))
    return Lines(tests)


def _kept() -> dict[str, str]:
    path = KEPT / "mutations.jsonl"
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:  # the last line of a run that was killed; it is run again
            continue
        found[entry["key"]] = entry["result"]
    return found


def _keep(record: dict[str, Any]) -> None:
    KEPT.mkdir(exist_ok=True)
    with (KEPT / "mutations.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
