"""An update of a fit beside a refit of all duels, in one run.

Seconds of processor time. The refit from counts is given the tallies of all duels; the refit from
the file reads all rows first, as a leaderboard without updates would.
"""

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.fitting import simulate

__all__ = ["NOTE", "TITLE", "rows"]

TITLE = "Bradley-Terry: 1,000 duels join a fit"
NOTE = (
    "Largest gap: of posterior means, in posterior standard deviations, update against refit. "
    "Update over refits: ratios of processor time."
)
SIZES = {
    False: ((30, 30_000), (100, 100_000)),
    True: ((30, 30_000), (100, 100_000), (100, 1_000_000), (300, 1_000_000)),
}
NEW = 1_000


def rows(full: bool) -> list[dict[str, Any]]:
    """Return a row a size."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return [_row(n_arms, n_duels) for n_arms, n_duels in SIZES[full]]


def _row(n_arms: int, n_duels: int) -> dict[str, Any]:
    import bayesduel as bd

    old, new = simulate(n_arms, n_duels), simulate(n_arms, NEW, seed=1)
    whole, yesterday = old.join(new), bd.fit(old)
    bd.update(yesterday, new)  # compile
    update, updated = seconds(lambda: bd.update(yesterday, new))
    counts, refitted = seconds(lambda: bd.fit(whole))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "duels.csv"
        _write(whole, path)
        file, _ = seconds(
            lambda: bd.fit(bd.read_duels(path, left="winner", right="loser", outcome=False))
        )
    mean, again = (t["posterior"]["score"].mean(("chain", "draw")) for t in (updated, refitted))
    spread = refitted["posterior"]["score"].std(("chain", "draw"))
    return {
        "arms": f"{n_arms:,}",
        "duels before": f"{n_duels:,}",
        "update, s": update,
        "refit from counts, s": counts,
        "refit from file, s": file,
        "update / counts": update / counts,
        "update / file": update / file,
        "largest gap": f"{float((abs(mean - again) / spread).max()):.0e}",
    }


def seconds(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Return the least seconds of processor time of `times` runs, and the last result."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        result = work()
        taken.append(time.process_time() - start)
    return min(taken), result


def _write(duels: Any, path: Path) -> None:
    """Write a log as rows of winner and loser."""
    wins = duels.tally().wins.astype(int)
    winner, loser = np.nonzero(wins)
    row = np.repeat(np.arange(len(winner)), wins[winner, loser])
    names = np.array(duels.arms)
    lines = np.char.add(np.char.add(names[winner], ","), names[loser])[row]
    path.write_text("winner,loser\n" + "\n".join(lines) + "\n", encoding="utf-8")
