"""Policies of pairs on fresh problems, ranked: ``python -m benchmarks.arena`` (``make arena``).

Every finished cell (problem, policy, horizon, block of runs) is a line of a file in .validation/,
so that a run that was killed goes on where it was. A full run writes docs/validation/arena.md, its
picture and ``KEPT``, from where the next one goes on: a policy or a family that is new plays, and
nothing else. ``--quick`` plays two problems and prints a table.
"""

import gzip
import os
import platform
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from joblib import Parallel, delayed
from rich.progress import track

from bayesduel.system.atomic_write import write_text
from benchmarks.arena.page import HORIZONS, leaderboard, write_page
from benchmarks.arena.suite import FAMILIES, LITERATURE, PROBLEMS, problem_named
from benchmarks.tables import show
from benchmarks.validation.experiment import Cell, Experiment, Record, seed_of
from benchmarks.validation.records import FOLDER, append, key_of, read_records

# Named before the run: those that led the arena of 2026-11-26, and RUCB, CCB and Uniform, which are
# well known. (Others take a minute each to compile.)
POLICIES = (
    "PivotIndex SelfSparring DTS DTSPlus RMED1 RMED2 RMED2FH WinnerStays RUCB CCB Uniform"
).split()
LONG = "PivotIndex SelfSparring DTSPlus RMED2FH".split()  # play T = 100,000, too
SETTINGS = {"WinnerStays": {"regret": "strong"}}  # all others play with their defaults
RUNS = 2  # of a block
BLOCKS = 2  # of a cell
KEPT = Path("benchmarks/validation/measured/arena-0.jsonl.gz")
PAGE = Path("docs/validation/arena.md")
QUICK = ["mslr-5", "thurstone_cyclic-6-1"]


def experiment(name: str, problems: list[str], horizons: list[int]) -> Experiment:
    """Return the cells of the arena; policies meet the same seeds.

    The problems of the families take turns, so that a run which is cut has played as many of each.
    """
    cells = tuple(
        {"problem": problem, "policy": policy, "horizon": horizon}
        for horizon in horizons
        for problem in sorted(problems, key=turn_of)
        for policy in (POLICIES if horizon == min(HORIZONS) else LONG)
    )
    return Experiment(
        name=name, title="", question="", target="", cells=cells, run=play,
        rows=lambda cell, records: [], quick=1, full=BLOCKS, paired=("policy",),
    )  # fmt: skip


def turn_of(problem: str) -> int:
    """Return the place of a problem in its family."""
    return next(
        names.index(problem) for names in (*FAMILIES.values(), LITERATURE) if problem in names
    )


def play(cell: Cell, seed: int) -> Record:
    """Return the Copeland regrets of a block of runs, and its processor time."""
    import bayesduel as bd

    rule = getattr(bd.policies, cell["policy"])(**SETTINGS.get(cell["policy"], {}))
    problem, horizon = problem_named(cell["problem"]), cell["horizon"]
    given: dict[str, Any] = {"seed": seed, "workers": 1, "progress": False, "detail": "arms"}
    given["recommend"] = "end"
    start = time.process_time()
    trace = bd.simulate(rule, problem, horizon, replications=RUNS, record_at=[horizon], **given)
    seconds = time.process_time() - start
    return {
        "regret": bd.regret(trace, "copeland").values.ravel().round(3).tolist(),
        "us": round(1e6 * seconds / (horizon * RUNS), 3),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def complete(own: Experiment, blocks: int, seed: int, workers: int) -> list[tuple[Cell, Any]]:
    """Play what is missing of the blocks; return the cells with their records by block."""
    found = read_records(own, seed)
    missing = [
        delayed(_played)(cell, block, seed_of(own, cell, block, seed))
        for horizon in dict.fromkeys(cell["horizon"] for cell in own.cells)
        for block in range(blocks)
        for cell in own.cells
        if cell["horizon"] == horizon and block not in found[key_of(cell)]
    ]
    with Parallel(workers, return_as="generator_unordered") as pool:
        for entry in track(pool(missing), own.name, total=len(missing)):
            append(own, seed, entry)
            found[entry["cell"]][entry["replicate"]] = entry
    return [(cell, found[key_of(cell)]) for cell in own.cells]


def _played(cell: Cell, block: int, seed: int) -> Record:
    return play(cell, seed) | {"cell": key_of(cell), "replicate": block}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Two problems, T = 10,000, two runs: print a table.")
@click.option("--only-page", is_flag=True, help="Write the page of what is there.")
@click.option("--seed", default=0, show_default=True, help="Other than 0: print, write no page.")
@click.option("--workers", default=2, show_default=True, help="Processes.")
def main(quick: bool, only_page: bool, seed: int, workers: int) -> None:
    """Play what is missing of the arena, then rank the policies."""
    name, problems, horizons = "arena", PROBLEMS, list(HORIZONS)
    if quick:
        name, problems, horizons = "arena_quick", QUICK, horizons[:1]
    stored = FOLDER / f"{name}-{seed}.jsonl"
    if not (quick or seed or stored.exists()) and KEPT.exists():
        FOLDER.mkdir(exist_ok=True)
        write_text(stored, gzip.decompress(KEPT.read_bytes()).decode())
    blocks = 1 if quick else 0 if only_page else BLOCKS
    done = complete(experiment(name, problems, horizons), blocks, seed, workers)
    if quick or seed:
        rows = leaderboard(done, horizons[-1], problems)
        show(f"T = {horizons[-1]:,} on {', '.join(problems)}", rows)
    else:
        KEPT.write_bytes(gzip.compress(stored.read_bytes(), mtime=0))
        write_page(PAGE, done)


if __name__ == "__main__":
    main()
