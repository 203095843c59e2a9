"""docs/validation/mutations.md: how many mutations are noticed, and what became of the others."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bayesduel.intervals import wilson
from bayesduel.system.atomic_write import write_text
from benchmarks.mutations.equivalent import EQUIVALENT
from benchmarks.mutations.mutation import Mutation
from benchmarks.mutations.trials import LONGEST, LONGEST_TEST, MOST_FILES, Outcome

__all__ = ["Tried", "write"]

NOTICED = ("noticed", "time-out")


class Tried(NamedTuple):
    """A mutation of the sample and its outcomes, the first one first; none if it was not tried."""

    room: str
    mutation: Mutation
    outcomes: list[Outcome]

    def noticed(self, which: int) -> bool:
        """Return whether it was noticed at first (0), or in the end (-1)."""
        return self.outcomes[which].result in NOTICED

    def shown(self, text: str) -> str:
        """Return the file, the line and the change, for a table."""
        line = text.splitlines()[self.mutation.line - 1].strip().replace("|", "\\|")
        change = f"{self.mutation.old} -> {self.mutation.new}".replace("|", "\\|")
        return f"{self.mutation.path}:{self.mutation.line} | `{line}` | `{change}`"


def write(tried: Sequence[Tried], texts: Mapping[str, str], seed: int, page: Path) -> str:
    """Write the page; return the rate in one sentence."""
    done = [t for t in tried if t.outcomes and t.outcomes[-1].result != "same"]
    if not done:
        return "No mutation was tried."
    same = sum(bool(t.outcomes) and t.outcomes[-1].result == "same" for t in tried)
    equal = [t for t in done if not t.noticed(-1) and _reason(t, texts)]
    others = [t for t in done if t not in equal]
    rates = [
        ("by the tests as they were", _rate(done, 0)),
        ("in the end, by tests added since or more files", _rate(done, -1)),
        ("without those that change nothing", _rate(others, -1)),
    ]
    lines = [
        "# Mutations",
        "",
        f"Made by `python -m benchmarks.mutations --number {len(tried)} --seed {seed}`, "
        f"{datetime.now(UTC).date().isoformat()}. "
        "A mutation changes one operator, comparison or number of one line in the rooms beliefs, "
        "inference, posterior, criticism, data/read and policies; docstrings, annotations and "
        "messages are left alone. Compiled functions of these rooms run as plain Python. Only the "
        "fast tests of these rooms and the contracts of policies are asked.",
        "",
        f"{len(done)} of the {len(tried)} mutations of the sample have been tried"
        + (f" ({same} more change no code)" if same else "")
        + "; they are tried in random order, so these are a random sample too. The tests of the "
        f"{MOST_FILES[0]} test files nearest to a file (of {MOST_FILES[1]} with --again) are run "
        "once without a mutation; those that run a mutated line are run with it, the quickest "
        f"first, until one fails, for {LONGEST:g} seconds of processor time at most. A test that "
        f"takes more than {LONGEST_TEST:g} seconds without a mutation is left out. A mutation that "
        "only other tests would notice counts as not noticed.",
        "",
        "| noticed | of | rate | 95 % (Wilson) |",
        "|---|---:|---:|---|",
    ]
    for name, (seen, n) in rates:
        low, high = wilson(seen, n)
        lines.append(f"| {seen} {name} | {n} | {seen / n:.1%} | {low:.1%} to {high:.1%} |")
    lines += [
        "",
        "The first rate is what to expect of another sample at least, since few test files are "
        "asked. The other two are of a sample whose survivors were looked at and tested for.",
        "",
        "| room | tried | noticed at first | in the end | by a time-out | no test asked runs it |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for room in dict.fromkeys(t.room for t in tried):
        of = [t for t in done if t.room == room]
        results = [t.outcomes[-1].result for t in of]
        counts = (len(of), sum(t.noticed(0) for t in of), sum(t.noticed(-1) for t in of),
                  results.count("time-out"), results.count("not run"))  # fmt: skip
        lines.append(f"| {room} | {' | '.join(map(str, counts))} |")
    lines += ["", "## Not noticed at first", "",
              "| file | line | change | what became of it |", "|---|---|---|---|"]  # fmt: skip
    for t in done:
        if not t.noticed(0):
            lines.append(f"| {t.shown(texts[t.mutation.path])} | {_fate(t, texts)} |")
    write_text(page, "\n".join([*lines, ""]))
    seen, n = rates[1][1]
    low, high = wilson(seen, n)
    return (
        f"{seen} of {n} noticed: {seen / n:.1%} (95 %: {low:.1%} to {high:.1%}), "
        f"{rates[0][1][0]} of them at first; {page} is written."
    )


def _rate(of: Sequence[Tried], which: int) -> tuple[int, int]:
    return sum(t.noticed(which) for t in of), len(of)


def _reason(t: Tried, texts: Mapping[str, str]) -> str:
    """Return why a mutation changes nothing that a user sees, or ""."""
    line = texts[t.mutation.path].splitlines()[t.mutation.line - 1].strip()
    change = f"{t.mutation.old} -> {t.mutation.new}"
    known = (
        EQUIVALENT.get((t.mutation.path, line, c))
        for c in (change, f"{change} at {t.mutation.column}")
    )
    return next((reason for reason in known if reason), "")


def _fate(t: Tried, texts: Mapping[str, str]) -> str:
    last = t.outcomes[-1]
    if t.noticed(-1):
        name = last.test.rpartition("::")[2]
        return f"noticed now by `{name}`" if name else "noticed now"
    reason = _reason(t, texts)
    if reason:
        return f"changes nothing: {reason}"
    bound = f"; {last.n_left} tests were not run" if last.n_left else ""
    return "no test that was asked runs it" if last.result == "not run" else f"survived{bound}"
