"""The pivot index beside every other policy of pairs: ``python -m benchmarks.pivot_index``.

Problems: those of the literature (but the 500 arms of ``cdb-500``, on which each survey of the
indices takes a second), the families by formula at their defaults, and 20 random ones
(``FRESH``) that played no part in the design of the policy. Runs come in blocks of 40 up to 10 arms
and of 20 beyond; a block has its own seed. The order is fixed:

1. block 0 at T = 1e4 of every policy but the slow ones: CW-RMED, which solves a linear programme
   for each list of pairs, gets two runs from 11 to 20 arms and none beyond, where ECW-RMED, its
   version for many arms by the same authors, stands for both;
2. the blocks from 1 on, at T = 1e4, of these policies, until each has 200 runs (``--runs``);
3. at T = 1e5, block after block, few arms first, the pivot index, D-TS+ and the three others with
   the lowest means in block 0 at T = 1e4 there;
4. T = 1e6: of these five one block on the problems of the literature with up to 8 arms, of the
   pivot index all blocks on every problem of up to 10 arms;
5. those that ask the posterior of a model, at milliseconds a duel: one run at T = 1e4, on problems
   of up to 5 arms.

Every finished cell is a line of a file, so that a run that was stopped goes on where it was.
``--keep`` moves all cells to ``benchmarks/pivot_index.jsonl.gz``, from where every run goes on.
``--only-print`` prints the tables of what is there.
"""

import argparse
import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.progress import Progress

from bayesduel.intervals import median_interval

OURS = "PivotIndex"
COPELAND = ("CCB", "ConfirmedSupKLUCB", "CWRMED", "DTS", "DTSPlus", "ECWRMED", "SCB", "SupKLUCB")
COPELAND += ("SAVAGE", "PBR", "RankEl", "Uniform")  # assume no Condorcet winner
SEED = 20261122  # of block 0; block b has SEED + b
POSTERIOR = ("ContrastAllocation", "ExpectedPCS", "InformationGain", "KnowledgeGradient")
POSTERIOR += ("TopTwoThompson",)
LITERATURE = ("cyclic-4", "mslr-5", "mslr-5-c3", "mslr-5-c1", "arxiv-6", "arithmetic-8", "tennis-8")
LITERATURE += ("hudry-13", "sushi-16", "mslr-32", "bvsc", "swirl", "linear", "flat")
# (arms, has a Condorcet winner, generator, seed)
FRESH = tuple(
    (n_arms, condorcet, generator, 9000 + 100 * n_arms + 10 * condorcet + place)
    for n_arms, generators in (
        (5, ("uniform", "thurstone", "uniform")),
        (10, ("uniform", "thurstone", "thurstone")),
        (20, ("uniform", "thurstone")),
        (36, ("uniform", "thurstone")),
    )
    for condorcet in (False, True)
    for place, generator in enumerate(generators)
)
RESULTS = Path(__file__).parent / "results" / "pivot_index.jsonl"
KEPT = Path(__file__).parent / "pivot_index.jsonl.gz"


def problems() -> dict[str, Any]:
    """Return every problem by name."""
    from bayesduel.problems import named

    found = {name: named(name) for name in LITERATURE}
    for n_arms, condorcet, generator, seed in FRESH:
        label = f"{generator}-{n_arms}{'-condorcet' if condorcet else ''}-{seed % 10 + 1}"
        found[label] = fresh(n_arms, condorcet, generator, seed)
    return found


def fresh(n_arms: int, condorcet: bool, generator: str, seed: int) -> Any:
    """Return a random problem with or without a Condorcet winner.

    "uniform": entries uniform on [0, 1]; a Condorcet winner is made by turning the row of a random
    arm to its favour. "thurstone": means of difference 0 to 1, a standard deviation for each pair,
    an intransitive part of standard deviation 0.3, redrawn until the condition holds.
    """
    from bayesduel.preference import condorcet_winner
    from bayesduel.problems import Matrix, perturbed_thurstone, uniform

    rng = np.random.default_rng(seed)
    while True:
        if generator == "uniform":
            P = uniform(n_arms, unique_winner=False, rng=rng).P.copy()
            if condorcet:
                best = rng.integers(n_arms)
                P[best] = np.maximum(P[best], 1 - P[best])
                P[:, best] = 1 - P[best]
        else:
            P = perturbed_thurstone(n_arms, d=0.3, rng=rng).P
        if (condorcet_winner(P) >= 0) == condorcet:
            return Matrix(P, generator)


def runs_of(n_arms: int, policy: str) -> int:
    """Return the runs of a block."""
    if policy in POSTERIOR:
        return 1
    if n_arms <= 10:
        return 40
    return 2 if policy == "CWRMED" else 20


def plays(n_arms: int, policy: str, block: int) -> bool:
    """Return whether a policy plays a block at T = 1e4 beside the others."""
    if policy == "CWRMED":
        return n_arms <= 10 or (n_arms <= 20 and block == 0)
    return policy not in POSTERIOR


def phases(
    found: dict[str, Any], done: dict[Any, Any], runs: int
) -> Iterator[list[tuple[str, str, int, int]]]:
    """Yield the cells (problem, policy, horizon, block) of each phase, in the order of the phases.

    The rivals of a problem are chosen from what is done when their phase begins.
    """
    from bayesduel.cli.parse import known_policies

    blocks = {name: -(-runs // runs_of(problem.n_arms, OURS)) for name, problem in found.items()}
    policies = known_policies("pairs")
    for block in range(max(blocks.values())):
        yield [
            (name, policy, 10_000, block)
            for name, problem in found.items()
            for policy in policies
            if block < blocks[name] and plays(problem.n_arms, policy, block)
        ]
    chosen = {name: (OURS, *rivals(done, name)) for name in found}
    by_arms = sorted(found, key=lambda name: found[name].n_arms)
    for block in range(max(blocks.values())):
        named = [name for name in by_arms if block < blocks[name]]
        yield [(name, policy, 100_000, block) for name in named for policy in chosen[name]]
    short = [name for name in LITERATURE[:7] if name in found]
    yield [(name, policy, 1_000_000, 0) for name in short for policy in chosen[name]]
    for block in range(max(blocks.values())):
        named = [name for name in by_arms if block < blocks[name] and found[name].n_arms <= 10]
        yield [(name, OURS, 1_000_000, block) for name in named]
    few = [name for name, problem in found.items() if problem.n_arms <= 5]
    yield [(name, policy, 10_000, 0) for name in few for policy in POSTERIOR]


def rivals(done: dict[Any, Any], problem: str) -> list[str]:
    """Return the three other policies with the lowest means at T = 1e4 in block 0, and D-TS+."""
    means = {
        policy: np.mean(row["regret"]["10000"])
        for (name, policy, horizon, block), row in done.items()
        if (name, horizon, block) == (problem, 10_000, 0)
        and policy not in (OURS, "DTSPlus")
        and len(row["regret"]["10000"]) >= 20  # a slow policy has a few runs
    }
    return ["DTSPlus", *sorted(means, key=lambda policy: means[policy])[:3]]


def play(problem: Any, policy: str, horizon: int, block: int) -> dict[str, Any]:
    """Return the regrets of a cell at T = 1e4, 1e5, ... and the microseconds a duel."""
    import bayesduel as bd

    times = [t for t in (10_000, 100_000, 1_000_000) if t <= horizon]
    settings = {"replications": runs_of(problem.n_arms, policy), "seed": SEED + block, "workers": 1}
    rule = getattr(bd.policies, policy)()
    bd.simulate(rule, problem, 2, workers=1, progress=False)  # compile
    start = time.process_time()
    trace = bd.simulate(rule, problem, horizon, record_at=times, progress=False, **settings)
    seconds = time.process_time() - start
    regret = bd.regret(trace).isel(policy=0)
    return {
        "regret": {str(t): regret.sel(time=t).values.round(3).tolist() for t in times},
        "us": 1e6 * seconds / (horizon * settings["replications"]),
    }


def read(path: Path) -> dict[Any, Any]:
    """Return the finished cells: those that are kept, and those of the file at `path`."""
    lines = gzip.decompress(KEPT.read_bytes()).decode().splitlines() if KEPT.exists() else []
    if path.exists():
        lines += path.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return {(r["problem"], r["policy"], r["horizon"], r["block"]): r for r in rows}


def keep(done: dict[Any, Any], path: Path) -> None:
    """Move all cells from the file at `path` to the one that is kept."""
    text = "".join(json.dumps(done[key]) + "\n" for key in sorted(done))
    KEPT.write_bytes(gzip.compress(text.encode(), mtime=0))
    path.unlink(missing_ok=True)


def gathered(done: dict[Any, Any], problem: str, horizon: int) -> dict[str, np.ndarray]:
    """Return all regrets of a problem at a time, by policy, block after block.

    A policy that is told its horizon is read from runs of just this horizon.
    """
    import bayesduel as bd

    found: dict[str, dict[int, list[float]]] = {}
    for name, policy, length, block in sorted(done, key=str, reverse=True):
        fixed = hasattr(getattr(bd.policies, policy)(), "horizon")
        told = done[name, policy, length, block]["regret"].get(str(horizon))
        if name != problem or told is None or (fixed and length != horizon):
            continue
        found.setdefault(policy, {}).setdefault(block, told)  # a shorter run is the same run
    return {
        policy: np.concatenate([blocks[block] for block in sorted(blocks)])
        for policy, blocks in found.items()
    }


def ratio(ours: np.ndarray, other: np.ndarray) -> tuple[float, float, float]:
    """Return the median ratio of the runs that both have, in pairs, with its 95 % interval."""
    n = min(len(ours), len(other))
    ratios = ours[:n] / other[:n]
    low, high = median_interval(ratios, 0.95)
    return float(np.median(ratios)), float(low), float(high)


def show(found: dict[str, Any], done: dict[Any, Any]) -> None:
    """Print the tables as Markdown."""
    for horizon in (10_000, 100_000, 1_000_000):
        print(f"\nT = {horizon:,}: mean (standard error), 95th percentile, worst; runs\n")
        print(
            "| problem | pivot index | lowest other that assumes no Condorcet winner "
            "| median ratio | lowest other | median ratio | us a duel |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- |")
        verdicts: dict[str, dict[str, list[str]]] = {}
        for name in found:
            told = gathered(done, name, horizon)
            ours = told.pop(OURS, np.array([]))
            others = {p: v for p, v in told.items() if p not in POSTERIOR and len(v) > 1}
            if horizon == 1_000_000 and len(ours) and not others:
                print(f"| {name} | {summary(ours)} | | | | | |")
            if not others or not len(ours):
                continue
            row = [name, summary(ours)]
            for rivals_of, class_ in (
                ("lowest other that assumes no winner", set(COPELAND) & set(others)),
                ("lowest other", set(others)),
                ("D-TS+", {"DTSPlus"}),
            ):
                best = min(class_, key=lambda policy: others[policy].mean())
                middle, low, high = ratio(ours, others[best])
                where = "below 1" if high < 1 else "above 1" if low > 1 else "not told apart"
                verdicts.setdefault(rivals_of, {}).setdefault(where, []).append(name)
                if rivals_of != "D-TS+":
                    row += [f"{best} {summary(others[best])}"]
                    row += [f"{middle:.2f} [{low:.2f}, {high:.2f}]"]
            best = row[-2].partition(" ")[0]
            speed = [done[name, policy, min(horizon, 100_000), 0]["us"] for policy in (OURS, best)]
            print(f"| {' | '.join(row)} | {' v '.join(f'{x:.2g}' for x in speed)} |")
        for rivals_of, by_verdict in verdicts.items():
            for where, names in by_verdict.items():
                print(f"\n{rivals_of}, {where}: {len(names)} ({', '.join(names)})")
    print("\nEvery policy at T = 10,000: mean regret of all its runs\n")
    policies = sorted({policy for _, policy, _, _ in done}, key=str.lower)
    print(f"| problem | {' | '.join(policies)} |")
    print("| --- |" + " --- |" * len(policies))
    for name in found:
        told = gathered(done, name, 10_000)
        means = [f"{told[policy].mean():,.0f}" if policy in told else "" for policy in policies]
        print(f"| {name} | {' | '.join(means)} |")


def draw(found: dict[str, Any], done: dict[Any, Any], path: Path) -> None:
    """Save the figure: median ratios to D-TS+ by problem, and the tails of both."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 8), layout="constrained")
    scaled: dict[str, list[float]] = {OURS: [], "DTSPlus": []}
    names = []
    for name in found:
        told = gathered(done, name, 100_000)
        if OURS in told and len(told.get("DTSPlus", [])) > 1:
            middle, low, high = ratio(told[OURS], told["DTSPlus"])
            spread = [[middle - low], [high - middle]]
            left.errorbar(middle, -len(names), xerr=spread, fmt="o", color="C0", capsize=3)
            names.append(f"{name} ({len(told[OURS])}, {len(told['DTSPlus'])})")
            for policy, values in scaled.items():
                values.extend(told[policy] / np.median(told[policy]))
    left.axvline(1, color="0.6", lw=1)
    left.set(xscale="log", yticks=-np.arange(len(names)), yticklabels=names)
    left.set_xlabel(
        "regret of the pivot index / of D-TS+ in the same run, T = 1e5\nmedian, 95 % interval"
    )
    left.set_title("problem (runs of each)", loc="left", fontsize=10)
    for policy, values in scaled.items():
        x = np.sort(values)
        right.step(x, 1 - np.arange(len(x)) / len(x), where="post", label=f"{policy}, {len(x)}")
    right.set(xscale="log", yscale="log", xlabel="regret / median of the policy on the problem")
    right.set_ylabel("share of runs at or above, all problems")
    right.legend(frameon=False)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=100)


def summary(values: np.ndarray) -> str:
    """Return mean, standard error, 95th percentile, maximum and number as text."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    high = np.quantile(values, 0.95)
    return f"{values.mean():,.0f} ({error:,.0f}), {high:,.0f}, {values.max():,.0f}; {len(values)}"


def run(
    found: dict[str, Any], cells: list[tuple[str, str, int, int]], path: Path, workers: int
) -> dict[Any, Any]:
    """Play the cells in processes, a line of the file for each; return them."""
    jobs = (delayed(_played)(found[key[0]], key) for key in cells)
    done = {}
    with path.open("a", encoding="utf-8") as file, Progress() as progress:
        bar = progress.add_task(f"T = {cells[0][2]:,}, block {cells[0][3]}", total=len(cells))
        for key, row in Parallel(workers, return_as="generator_unordered")(jobs):
            name, policy, horizon, block = key
            done[key] = row
            head = {"problem": name, "policy": policy, "horizon": horizon, "block": block}
            print(json.dumps(head | row), file=file, flush=True)
            progress.advance(bar)
    return done


def _played(problem: Any, key: tuple[str, str, int, int]) -> tuple[Any, dict[str, Any]]:
    """Return the key of a cell and its regrets."""
    return key, play(problem, *key[1:])


def main(arguments: list[str] | None = None) -> None:
    """Run what is not there yet, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="of each cell")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--only-print", action="store_true")
    parser.add_argument("--keep", action="store_true", help="move the cells to " + KEPT.name)
    parser.add_argument("--ours", action="store_true", help="only cells of the pivot index")
    parser.add_argument("--largest", type=int, default=36, help="most arms")
    parser.add_argument("--plot", type=Path, help="save the figure here")
    given = parser.parse_args(arguments)
    found, done = problems(), read(given.out)
    found = {name: problem for name, problem in found.items() if problem.n_arms <= given.largest}
    if not given.only_print:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        for cells in phases(found, done, given.runs):
            missing = [
                key for key in cells if key not in done and (key[1] == OURS or not given.ours)
            ]
            if missing:
                done |= run(found, missing, given.out, given.workers)
    if given.keep:
        keep(done, given.out)
    show(found, done)
    if given.plot is not None:
        draw(found, done, given.plot)


if __name__ == "__main__":
    main()
