"""Every policy of pairs on the suite, ranked: ``python -m benchmarks.arena`` (``make arena``).

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
from benchmarks.arena.page import leaderboard, write_page
from benchmarks.arena.suite import PROBLEMS, problem_named
from benchmarks.pivot_index import POSTERIOR
from benchmarks.tables import show
from benchmarks.validation.experiment import Cell, Experiment, Record, seed_of
from benchmarks.validation.records import FOLDER, append, key_of, read_records

# Do not play: those that aim at weak or Borda regret, and those that take milliseconds a duel.
ABSENT = {"BeatTheWinner", "DEXP3", "UCB1", *POSTERIOR}
SETTINGS = {"WinnerStays": {"regret": "strong"}}  # all others play with their defaults
RUNS = 2  # of a block
BLOCKS = {1_000: 1, 10_000: 4, 100_000: 2}  # by horizon; that of 1,000 is for speeds alone
MOST = {10_000: 100.0, 100_000: 20.0}  # microseconds a duel before, for a policy to play at T
KEPT = Path("benchmarks/validation/measured/arena-0.jsonl.gz")
PAGE = Path("docs/validation/arena.md")
QUICK = ["mslr-5", "thurstone_cyclic-6"]


def experiment(name: str, problems: list[str], horizons: list[int]) -> Experiment:
    """Return the cells of the arena, few arms first; policies meet the same seeds."""
    from bayesduel.cli.parse import known_policies

    cells = tuple(
        {"problem": problem, "policy": policy, "horizon": horizon}
        for horizon in horizons
        for problem in sorted(problems, key=lambda problem: problem_named(problem).n_arms)
        for policy in known_policies("pairs")
        if policy not in ABSENT
    )
    return Experiment(
        name=name, title="", question="", target="", cells=cells, run=play,
        rows=lambda cell, records: [], quick=1, full=max(BLOCKS.values()), paired=("policy",),
    )  # fmt: skip


def play(cell: Cell, seed: int) -> Record:
    """Return the Copeland regrets of a block of runs, and its processor time."""
    import bayesduel as bd

    rule = getattr(bd, cell["policy"])(**SETTINGS.get(cell["policy"], {}))
    problem, horizon = problem_named(cell["problem"]), cell["horizon"]
    given: dict[str, Any] = {"seed": seed, "workers": 1, "progress": False, "detail": "arms"}
    bd.simulate(rule, problem, 2 * problem.n_segments, **given)  # compile
    start = time.process_time()
    trace = bd.simulate(rule, problem, horizon, replications=RUNS, record_at=[horizon], **given)
    seconds = time.process_time() - start
    return {
        "regret": bd.regret(trace, "copeland").values.ravel().round(3).tolist(),
        "us": round(1e6 * seconds / (horizon * RUNS), 3),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def playing(own: Experiment, found: dict[str, dict[int, Record]]) -> list[Cell]:
    """Return the cells that are played, by the speeds in the first blocks."""
    us: dict[tuple[str, int], dict[str, float]] = {}
    for cell in own.cells:
        if problem_named(cell["problem"]).n_segments > 1:
            continue  # what passes between segments would count as time of the policy
        if 0 in (records := found[key_of(cell)]):
            told = us.setdefault((cell["policy"], cell["horizon"]), {})
            told[cell["problem"]] = records[0]["us"]
    return [cell for cell in own.cells if _plays(cell, us)]


def _plays(cell: Cell, us: dict[tuple[str, int], dict[str, float]]) -> bool:
    """Return whether the speeds, us a duel by policy and horizon and problem, let a policy play."""
    probe, short, long = BLOCKS
    own, horizon = problem_named(cell["problem"]).n_arms, min(cell["horizon"], short)
    slow = (
        taken > MOST[short] and (arms < own or (arms == own and told < horizon))
        for told in (probe, short)
        for name, taken in us.get((cell["policy"], told), {}).items()
        for arms in [problem_named(name).n_arms]
    )
    before = us.get((cell["policy"], short), {}).get(cell["problem"], 0.0)
    return not any(slow) and (cell["horizon"] < long or before <= MOST[long])


def complete(own: Experiment, blocks: int, seed: int, workers: int) -> list[tuple[Cell, Any]]:
    """Play what is missing of the blocks; return the cells that play, with records by block."""
    found = read_records(own, seed)
    batches = [
        (block, horizon, n_arms)
        for block in range(blocks)
        for horizon in dict.fromkeys(cell["horizon"] for cell in own.cells)
        if block < BLOCKS[horizon]
        for n_arms in sorted({problem_named(cell["problem"]).n_arms for cell in own.cells})
    ]
    with Parallel(workers, return_as="generator_unordered") as pool:
        for block, horizon, n_arms in track(batches, own.name):
            missing = [
                delayed(_played)(cell, block, seed_of(own, cell, block, seed))
                for cell in playing(own, found)
                if (cell["horizon"], problem_named(cell["problem"]).n_arms) == (horizon, n_arms)
                and block not in found[key_of(cell)]
            ]
            for entry in pool(missing):
                append(own, seed, entry)
                found[entry["cell"]][block] = entry
    return [(cell, found[key_of(cell)]) for cell in playing(own, found)]


def _played(cell: Cell, block: int, seed: int) -> Record:
    return play(cell, seed) | {"cell": key_of(cell), "replicate": block}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Two problems, T = 10,000, two runs: print a table.")
@click.option("--only-page", is_flag=True, help="Write the page of what is there.")
@click.option("--seed", default=0, show_default=True, help="Other than 0: print, write no page.")
@click.option("--workers", default=2, show_default=True, help="Processes.")
def main(quick: bool, only_page: bool, seed: int, workers: int) -> None:
    """Play what is missing of the arena, then rank the policies."""
    name, problems, horizons = "arena", PROBLEMS, list(BLOCKS)
    if quick:
        name, problems, horizons = "arena_quick", QUICK, horizons[:2]
    stored = FOLDER / f"{name}-{seed}.jsonl"
    if not (quick or seed or stored.exists()) and KEPT.exists():
        FOLDER.mkdir(exist_ok=True)
        write_text(stored, gzip.decompress(KEPT.read_bytes()).decode())
    blocks = 1 if quick else 0 if only_page else max(BLOCKS.values())
    done = complete(experiment(name, problems, horizons), blocks, seed, workers)
    if quick or seed:
        show(f"T = {horizons[-1]:,} on {', '.join(problems)}", leaderboard(done, horizons[-1]))
    else:
        KEPT.write_bytes(gzip.compress(stored.read_bytes(), mtime=0))
        write_page(PAGE, done)


if __name__ == "__main__":
    main()
