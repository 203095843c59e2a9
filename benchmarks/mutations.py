"""Mutations: how many small faults in the package the tests of its rooms notice.

A mutation changes one operator, comparison or number of one line. It is noticed if a test of its
room fails (the fast ones; Numba off where no test fits a model) or does not end in time. Which are
tried follows from the seed; outcomes are kept in .faults/mutations.jsonl, and a run that was
stopped goes on. A record is of the text of its file: after a change of the file it is made anew.

    python -m benchmarks.mutations --number 300 --room beliefs --room inference
"""

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from bayesduel.intervals import wilson

ROOT = Path(__file__).parents[1]
KEPT = Path(".faults") / "mutations.jsonl"
ROOMS = {
    "beliefs": "beliefs",
    "inference": "inference",
    "posterior": "posterior",
    "criticism": "criticism",
    "data/read": "data/read",
    "policies": "policies",
}
PLAIN = ("data/read", "policies")  # Numba is off; what PyTensor compiles needs it elsewhere
TESTS = {"policies": ["policies", "contracts/test_policies.py"]}
SWAPS = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.And: ("and", "or"), ast.Or: ("or", "and"),
    ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
}  # fmt: skip
MESSAGES = ("raise", "print(", "warn(")


class Mutation(NamedTuple):
    """A changed piece of a file: lines and columns are those of the piece."""

    path: str
    line: int
    start: int
    old: str
    new: str

    def key(self, text: str) -> str:
        """Return what a record of this mutation is kept under."""
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        return f"{self.path}:{self.line}:{self.start}:{self.old}>{self.new}:{digest}"

    def applied(self, text: str) -> str:
        """Return the text with the mutation."""
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.start] + self.new + line[self.start + len(self.old) :]
        return "".join(lines)


def mutations_of(path: Path) -> Iterator[Mutation]:
    """Yield the mutations of a file; docstrings, annotations and messages are left alone."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    name = str(path.relative_to(ROOT))
    tree = ast.parse(text)
    for parent in ast.walk(tree):
        parent._fields = tuple(f for f in parent._fields if f not in ("annotation", "returns"))
    for node in ast.walk(tree):
        if getattr(node, "lineno", None) is None:
            continue
        line = lines[node.lineno - 1]
        if any(word in line for word in MESSAGES) or not line.isascii():
            continue
        if isinstance(node, ast.BinOp | ast.Compare | ast.BoolOp):
            yield from _swapped(node, lines, name)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            piece = line[node.col_offset : node.end_col_offset]
            new = (
                str(node.value + 1)
                if isinstance(node.value, int)
                else repr(node.value * 1.5 or 1.0)
            )
            yield Mutation(name, node.lineno, node.col_offset, piece, new)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield Mutation(name, node.lineno, node.col_offset, "-", "+")


def _swapped(node: ast.expr, lines: list[str], name: str) -> Iterator[Mutation]:
    """Yield the mutation of the first operator of an expression, if it is on one line."""
    if isinstance(node, ast.BinOp):
        before, after, operator = node.left, node.right, node.op
    elif isinstance(node, ast.Compare):
        before, after, operator = node.left, node.comparators[0], node.ops[0]
    elif isinstance(node, ast.BoolOp):
        before, after, operator = node.values[0], node.values[1], node.op
    else:
        return
    if type(operator) not in SWAPS or before.end_lineno != after.lineno:
        return
    old, new = SWAPS[type(operator)]
    line, start = lines[after.lineno - 1], before.end_col_offset or 0
    place = line[start : after.col_offset].find(old)
    if place >= 0 and line.isascii():
        yield Mutation(name, after.lineno, start + place, old, new)


def noticed(mutation: Mutation, room: str, place: Path, limit: float) -> str:
    """Return "noticed", "survived" or "time-out"."""
    target = place / mutation.path
    original = (ROOT / mutation.path).read_text(encoding="utf-8")
    target.write_text(mutation.applied(original), encoding="utf-8")
    try:
        return "survived" if passes(room, place, limit) else "noticed"
    except subprocess.TimeoutExpired:
        return "time-out"
    finally:
        target.write_text(original, encoding="utf-8")


def passes(room: str, place: Path, limit: float | None = None) -> bool:
    """Return whether the tests of a room pass in the copy."""
    tests = [f"tests/{t}" for t in TESTS.get(room, [room])]
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1" if room in PLAIN else "0", "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:xdist"]
    command += ["-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=place, env=environment, timeout=limit, capture_output=True)
    if done.returncode:
        (place / "last.log").write_bytes(done.stdout + done.stderr)
    return done.returncode == 0


def copied(place: Path) -> None:
    """Copy what the tests need, with the models where the package has them."""
    for name in ("bayesduel", "models", "tests", "benchmarks", "docs", "examples", ".ci"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, place / name, ignore=ignored, symlinks=True)
    shutil.copytree(ROOT / "models", place / "bayesduel" / "models")
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(ROOT / name, place / name)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--number", default=300, show_default=True, help="Mutations in the sample.")
@click.option("--seed", default=0, show_default=True)
@click.option("--room", "rooms", multiple=True, type=click.Choice(list(ROOMS)))
@click.option("--file", "only", help="Mutations of this file alone.")
@click.option("--tests", help="Tests to run, in place of those of the room.")
@click.option("--limit", default=600.0, show_default=True, help="Seconds for the tests.")
@click.option("--minutes", default=1e9, help="Begin no mutation after so many minutes.")
def main(
    number: int,
    seed: int,
    rooms: tuple[str, ...],
    only: str | None,
    tests: str | None,
    limit: float,
    minutes: float,
) -> None:
    """Try a random sample of mutations, and print the share that is noticed."""
    from time import monotonic

    begun, found = monotonic(), []
    for room, folder in ROOMS.items():
        if rooms and room not in rooms:
            continue
        for path in sorted((ROOT / "bayesduel" / folder).rglob("*.py")):
            if only is None or str(path.relative_to(ROOT)) == only:
                found += [(room, mutation) for mutation in mutations_of(path)]
    order = np.random.default_rng(seed).permutation(len(found))[:number]
    if tests:
        TESTS.update({room: tests.split(",") for room in ROOMS})
    kept = _kept()
    results = []
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        place = Path(folder) / "copy"
        place.mkdir()
        copied(place)
        for room in dict.fromkeys(found[k][0] for k in order):
            if not passes(room, place):
                log = (place / "last.log").read_text(encoding="utf-8", errors="replace")
                raise click.ClickException(f"tests of {room} should pass, got:\n{log[-2000:]}")
        for k in order:
            room, mutation = found[k]
            key = mutation.key((ROOT / mutation.path).read_text(encoding="utf-8"))
            if key not in kept and monotonic() - begun < 60 * minutes:
                kept[key] = noticed(mutation, room, place, limit)
                _keep(key, kept[key])
            if key in kept:
                results.append(kept[key])
                if kept[key] == "survived":
                    where = f"{mutation.path}:{mutation.line}"
                    click.echo(f"survived {where}: {mutation.old} -> {mutation.new}")
    n, seen = len(results), sum(result != "survived" for result in results)
    if n:
        low, high = wilson(seen, n)
        click.echo(f"{seen} of {n} noticed: {seen / n:.1%} (95 %: {low:.1%} to {high:.1%})")


def _kept() -> dict[str, str]:
    if not KEPT.exists():
        return {}
    found = {}
    for line in KEPT.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:  # the last line of a run that was killed; it is run again
            continue
        found[entry["key"]] = entry["result"]
    return found


def _keep(key: str, result: str) -> None:
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"key": key, "result": result}) + "\n")


if __name__ == "__main__":
    main()
