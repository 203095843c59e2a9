"""Sound logs to be broken, and the register of ways to break them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

N_ROWS = 120


class Broken(NamedTuple):
    """A broken file: its name and bytes, and what the message must match (after its name)."""

    name: str
    data: bytes
    place: str


CASES: dict[str, Callable[[np.random.Generator], Broken]] = {}


def case(build: Callable[[np.random.Generator], Broken]):
    CASES[build.__name__] = build
    return build


def rows(rng: np.random.Generator) -> list[list[str]]:
    """Return a sound log: left, right, outcome, weight, margin, judge, time."""
    table = []
    for _ in range(N_ROWS):
        i, j = rng.choice(8, size=2, replace=False)
        margin = int(rng.integers(-4, 5))
        outcome = {1: "left", -1: "right", 0: "tie"}[int(np.sign(margin))]
        day = f"2024-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"
        table.append([f"arm {i}", f"arm {j}", outcome, "1", str(margin), "judge", day])
    return table


HEADER = ["left", "right", "outcome", "weight", "margin", "judge", "time"]


def text(table: list[list[str]], n_columns: int = 3, end: str = "\n") -> bytes:
    lines = [HEADER[:n_columns], *(row[:n_columns] for row in table)]
    return "".join(",".join(line) + end for line in lines).encode()


def pick(rng: np.random.Generator) -> tuple[int, str]:
    """Return a random row of the log, from 0, and the line it is on."""
    row = int(rng.integers(5, N_ROWS - 5))
    return row, f", line {row + 2}: "


def with_field(rng, column: str, value: str, message: str) -> Broken:
    """Return a log with one field of a random row replaced."""
    table, (row, line) = rows(rng), pick(rng)
    place = HEADER.index(column)
    table[row][place] = value
    return Broken("log.csv", text(table, max(3, place + 1)), f"{line}column '{column}' {message}")


def with_line(rng, line_of: Callable[[list[str]], bytes], message: str) -> Broken:
    """Return a log with the line of a random row replaced."""
    table, (row, line) = rows(rng), pick(rng)
    lines = text(table).splitlines(keepends=True)
    lines[row + 1] = line_of(table[row])
    return Broken("log.csv", b"".join(lines), line + message)
