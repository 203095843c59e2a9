"""Seconds and peak memory of each stage of an analysis, in arms.

Logs of 20 duels an arm, of arms whose activity follows a power law; each stage is measured in a
process of its own, whose peak memory includes what it reads and imports.
"""

from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.scale.measuring import alone

__all__ = ["NOTE", "TITLE", "rows"]

TITLE = "Bradley-Terry, 20 duels an arm of very different activity: each stage in its own process"
NOTE = (
    "20 duels an arm. Each stage is a process of its own, whose peak memory includes imports. "
    "read: a CSV file to counts; fit: from counts; winners, scores: from the fit in a file; "
    "winners LOG: the command from file to table; report LOG: the command from file to page."
)
SIZES = {False: (300, 1_000, 3_000), True: (1_000, 10_000, 100_000)}
PER_ARM = 20
STAGES = ("read", "fit", "winners", "scores", "winners LOG", "report LOG")
LIMIT = 3600.0


def rows(full: bool) -> list[dict[str, Any]]:
    """Return a row a stage and number of arms."""
    found = []
    for n_arms in SIZES[full]:
        with TemporaryDirectory() as folder:
            module = "benchmarks.scale.one_arms"
            alone(module, "make", folder, n_arms, PER_ARM * n_arms)
            for stage in STAGES:
                taken = alone(module, stage, folder, limit=LIMIT)
                found.append({"arms": f"{n_arms:,}", "stage": stage, **taken})
    return found
