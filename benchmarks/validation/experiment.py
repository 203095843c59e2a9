"""An experiment of the validation: cells, one seeded record per replicate, a table."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.intervals import wilson

__all__ = ["Cell", "Experiment", "Record", "seed_of", "share", "shown_share"]

Cell = dict[str, Any]
Record = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """One question about the package, answered by replicates.

    Attributes
    ----------
    name
        Name of the experiment's file; names its stored records too.
    title, question
        Heading and first paragraph of its section on the page.
    target
        What the figures should reach; fixed before the run.
    cells
        Settings that are compared, each a dictionary that JSON can hold.
    run
        ``run(cell, seed)``: one replicate, as a dictionary that JSON can hold. Everything random
        in it comes from `seed`, an integer.
    rows
        ``rows(cell, records)``: the rows of the table for one cell, given all of its records (an
        empty list where none was run yet is never passed). The key ``target`` says "met", "missed"
        or, where a row has no target, "".
    quick, full
        Replicates a cell of the quick and of the full form.
    sizes
        ``sizes(cell)``: both where they differ between cells. A cell of which none was run stands
        on the page as "not run".
    paired
        Settings that do not enter the seed: cells that differ in these alone meet the same seeds.
    notes
        What is said below the table: reasons of figures that miss their target among it.
    """

    name: str
    title: str
    question: str
    target: str
    cells: tuple[Cell, ...]
    run: Callable[[Cell, int], Record]
    rows: Callable[[Cell, list[Record]], Sequence[Record]]
    quick: int
    full: int
    notes: str = ""
    paired: tuple[str, ...] = ()
    sizes: Callable[[Cell], tuple[int, int]] | None = None

    def replicates(self, cell: Cell, full: bool) -> int:
        """Return the number of replicates of a cell in the full or in the quick form."""
        quick, most = self.sizes(cell) if self.sizes is not None else (self.quick, self.full)
        return most if full else quick


def seed_of(experiment: Experiment, cell: Cell, replicate: int, seed: int) -> int:
    """Return the seed of a replicate; it depends on names and settings, not on the order."""
    entering = sorted((k, v) for k, v in cell.items() if k not in experiment.paired)
    key = f"{experiment.name} {entering}"
    words = np.random.SeedSequence([seed, zlib.crc32(key.encode()), replicate])
    return int(words.generate_state(1)[0])


def share(hits: float, n: int) -> tuple[float, float, float]:
    """Return a share with its 95 % interval (Wilson)."""
    low, high = wilson(hits, n)
    return hits / n, float(low), float(high)


def shown_share(hits: float, n: int) -> str:
    """Return a share with its 95 % interval as text, in per cent."""
    if n == 0:
        return "no case"
    value, low, high = share(hits, n)
    return f"{100 * value:.1f} % ({100 * low:.1f} to {100 * high:.1f}, n = {n:,})"
