"""The log that most tests of reading write down, and what it should read to."""

from pathlib import Path

import numpy as np

from bayesduel.data.duels import Duels

# The log most tests write down: a beat b twice, b beat c, c and a tied, c beat b from the right.
DUELS = [("a", "b", 1.0), ("b", "a", 0.0), ("b", "c", 1.0), ("c", "a", 0.5), ("b", "c", 0.0)]


def expected(**options) -> Duels:
    left, right, outcome = zip(*DUELS, strict=True)
    return Duels.from_votes(left, right, outcome, **options)


def same(one: Duels, other: Duels) -> bool:
    cells = all(np.array_equal(x, y) for x, y in zip(one.cells, other.cells, strict=True))
    return one.arms == other.arms and cells


def write(path: Path, header: str, outcome: dict[float, str]) -> Path:
    """Write `DUELS` as CSV; `{0}`, `{1}` in an outcome are the arms."""
    lines = [f"{x},{y},{outcome[o].format(x, y)}" for x, y, o in DUELS]
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


WORDS = {1.0: "left", 0.0: "right", 0.5: "tie"}


def json_lines() -> bytes:
    return "".join(
        f'{{"left": "{x}", "extra": [1, {{}}], "right": "{y}", "outcome": "{WORDS[o]}"}}\n'
        for x, y, o in DUELS
    ).encode()
