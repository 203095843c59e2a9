"""Our cumulative regret beside reference figures, cell by cell: hit, or miss and why.

Run with ``python -m benchmarks.reference`` (or ``make reference``); ``--help`` lists its
options. Each cell's trace is kept in a folder, so that a run that was stopped goes on where
it was, and a second call only prints.

The figures are in ``reference.csv``: mean and standard error of the cumulative Copeland
regret, ``max c - (c_a + c_b) / 2`` a duel, of a C++ prototype written from the same
specifications, by a stranger to this code. Means, because that is what was measured there;
our medians stand beside them. A cell is a hit if the means differ by no more than three
standard errors of the difference or 10 % of the reference, whichever is larger. On the
problems ``uniform-K`` the prototype made two runs on each of its games; here every run has
a game of its own, drawn under the same condition (a unique Copeland winner).

A second table has every policy that has no figure at its defaults: those of no prototype, and two
that the prototype ran with other settings (``SCB(sign_test="epochs")``,
``SAVAGE(nested=False)``). It states ours alone: regret of pairs and of items, and how often
the set of the k best is right.

At T = 1e5 all 101 cells were hit when the table was last run (default seed and runs). What is
known of a cell that misses is printed below, from the column `note`. SCB deserves a longer word.
Its figures are said to use a union over all n (``sign_test="union"``), but what that asks of a
pair cannot be had for them: on Cyclic-4 some 1,300 duels of each 0.6 pair in round 4 and 1,900 in
round 5 (solve ``n d(0.6) = ln(pi^2 n^2 / (6 delta))`` at the round's ``delta / K^2``), which at
1/3 a duel is about 1,350 by the end of round 4 and 3,400 in all (we measure 1,450 and 3,439),
against 993 and 2,432. A union over log2 n (``sign_test="epochs"``) gives 1,003 and 2,515 and agrees
in all seven cells, so the rows are run with it. The default, the mixture test, has a proof and
needs fewer duels than both: 796 and 2,114. The tests' errors and durations are held to exact laws
in ``tests/beliefs/test_sequential_sign.py``.
"""

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

TABLE = Path(__file__).with_name("reference.csv")
ALONE = {"pairs": 100_000, "items": 10_000, "margins": 500}  # duels of a policy without a figure
RUNS_ALONE = 10
KIND = {1: "items", 2: "duels"}  # of the named problems of items, by how many they show


@dataclass(frozen=True)
class Figure:
    """One cell of the table: what was measured elsewhere.

    Attributes
    ----------
    horizon, problem, policy, settings
        What was run; `settings` are the policy's.
    mean, error
        Of the cumulative Copeland regret at the horizon, and its standard error.
    runs
        How many runs that is.
    note
        What is known of a difference.
    """

    horizon: int
    problem: str
    policy: str
    settings: dict[str, Any]
    mean: float
    error: float
    runs: int
    note: str

    def limit(self, ours: np.ndarray) -> float:
        """Return how far the mean of our runs may be from the reference."""
        return max(3 * float(np.hypot(self.error, standard_error(ours))), 0.1 * self.mean)


def figures() -> Iterator[Figure]:
    """Yield every cell of the table."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            pairs = (setting.split("=") for setting in row["settings"].split())
            yield Figure(
                horizon=int(row["horizon"]),
                problem=row["problem"],
                policy=row["policy"],
                settings={name: _value(text) for name, text in pairs},
                mean=float(row["mean"]),
                error=float(row["error"]),
                runs=int(row["runs"]),
                note=row["note"],
            )


def without_figure() -> Iterator[tuple[str, str]]:
    """Yield setting and name of every policy that has no figure at its defaults."""
    from bayesduel.cli.parse import known_policies

    at_defaults = {figure.policy for figure in figures() if not figure.settings}
    for setting in ALONE:
        for name in sorted(known_policies(setting)):
            if setting != "pairs" or name not in at_defaults:
                yield setting, name


def alone(setting: str, name: str, *, replications: int, seed: int, **options: Any) -> Any:
    """Return one row of the second table: a policy at its defaults, without a reference.

    `options` go to ``bayesduel.simulate``.
    """
    import bayesduel as bd
    from bayesduel.problems import RandomProblem, score_duels

    settings = {"criterion": "borda"} if (setting, name) == ("margins", "PBR") else {}
    policy, runs = getattr(bd.policies, name)(**settings), replications or RUNS_ALONE
    problem: Any = {"pairs": "cyclic-4", "items": f"logistic-{KIND[policy.shows]}"}.get(setting)
    if setting == "margins":
        problem = RandomProblem(n_arms=10, generator=score_duels, name="score duels, 4 of 10")
        options["k"], runs = 4, 10 * runs
    horizon = ALONE[setting]
    trace = bd.simulate(
        policy, problem, horizon, replications=runs, seed=seed, record_at=[horizon], **options
    )
    if setting == "margins":
        measure, ours = "sets right, %", 100 * bd.success_rate(trace)["success"].astype(float)
    else:
        measure, ours = f"{bd.regret(trace).name} regret", bd.regret(trace)
    values = np.asarray(ours.isel(policy=0, time=-1).values)
    return {
        "setting": setting,
        "policy": f"{name}(criterion='borda')" if settings else name,
        "problem": getattr(problem, "name", problem),
        "duels": horizon,
        "measure": measure,
        "ours (s.e.)": _with_error(float(values.mean()), standard_error(values)),
        "runs": runs,
    }


def standard_error(regrets: np.ndarray) -> float:
    """Return the standard error of the mean of independent runs, NaN for one run."""
    if len(regrets) < 2:
        return float("nan")
    return float(regrets.std(ddof=1) / np.sqrt(len(regrets)))


def measured(figure: Figure, *, replications: int = 0, seed: int, **options: Any) -> np.ndarray:
    """Return our regrets in a cell, one a replication (default: as many as the reference).

    `options` go to ``bayesduel.simulate``.
    """
    import bayesduel as bd
    from bayesduel.problems import RandomProblem, uniform

    problem: Any = figure.problem
    if problem.startswith("uniform-"):
        n_arms = int(problem.removeprefix("uniform-"))
        problem = RandomProblem(n_arms=n_arms, generator=uniform, name=problem)
    trace = bd.simulate(
        getattr(bd.policies, figure.policy)(**figure.settings),
        problem,
        figure.horizon,
        replications=replications or figure.runs,
        seed=seed,
        record_at=[figure.horizon],
        **options,
    )
    return np.asarray(bd.regret(trace).isel(policy=0, time=-1).values)


def compared(figure: Figure, ours: np.ndarray) -> dict[str, Any]:
    """Return one row of the printed table."""
    difference, limit = float(ours.mean()) - figure.mean, figure.limit(ours)
    hit = abs(difference) <= limit
    settings = ", ".join(f"{name}={value}" for name, value in figure.settings.items())
    return {
        "problem": figure.problem,
        "policy": f"{figure.policy}({settings})" if settings else figure.policy,
        "reference (s.e.)": _with_error(figure.mean, figure.error),
        "ours (s.e.)": _with_error(float(ours.mean()), standard_error(ours)),
        "median": round(float(np.median(ours))),
        "runs": len(ours),
        "difference": round(difference),
        "limit": round(limit),
        "": "hit" if hit else "MISS",
    }


def main(arguments: list[str]) -> int:
    """Run the cells asked for and print them; return 0."""
    options = _options(arguments)
    from benchmarks.tables import show

    chosen = [
        f
        for f in figures()
        if f.horizon == options.horizon
        and (not options.problems or f.problem in options.problems)
        and (not options.policies or f.policy in options.policies)
    ]
    unknown = [
        (setting, name)
        for setting, name in without_figure()
        if options.horizon == ALONE["pairs"]
        and not options.problems
        and (not options.policies or name in options.policies)
    ]
    if not chosen and not unknown:
        print("the table has no such cells", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for place, figure in enumerate(chosen, 1):
        settings = "".join(f"-{name}-{value}" for name, value in figure.settings.items())
        runs = options.replications or figure.runs
        name = f"{figure.problem}-{figure.policy}{settings}-{figure.horizon}-{runs}-{options.seed}"
        ours = measured(
            figure,
            replications=options.replications,
            seed=options.seed,
            workers=options.workers,
            out=options.out / f"{name}.zarr",
        )
        rows.append(compared(figure, ours))
        told = "  ".join(str(value) for value in rows[-1].values())
        print(f"{place} of {len(chosen)}:  {told}", file=sys.stderr, flush=True)
    hits = sum(row[""] == "hit" for row in rows)
    if rows:
        show(
            f"Regret at T = {options.horizon:,}, max c - (c_a + c_b) / 2 a duel, "
            f"seed {options.seed}: {hits} of {len(rows)} cells hit",
            rows,
        )
    lone = []
    for place, (setting, name) in enumerate(unknown, 1):
        runs = options.replications or RUNS_ALONE
        given = {"replications": runs, "seed": options.seed, "workers": options.workers}
        out = options.out / f"{setting}-{name}-{ALONE[setting]}-{runs}-{options.seed}.zarr"
        lone.append(alone(setting, name, out=out, **given))
        told = "  ".join(str(value) for value in lone[-1].values())
        print(f"{place} of {len(unknown)}:  {told}", file=sys.stderr, flush=True)
    if lone:
        show("Policies without a reference figure at their defaults: ours alone", lone)
    for figure, row in zip(chosen, rows, strict=True):
        if row[""] == "MISS":
            print(f"{row['problem']}, {row['policy']}: {figure.note or 'reason not known'}")
    (options.out / f"reference-{options.horizon}.json").write_text(
        json.dumps(rows + lone, indent=1)
    )
    return 0


def _options(arguments: list[str]) -> Any:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reference")
    parser.add_argument(
        "--horizon", type=float, default=1e5, help="cells of this horizon (100,000 or 1,000,000)"
    )
    parser.add_argument("--problems", nargs="+", metavar="NAME", help="cells of these problems")
    parser.add_argument("--policies", nargs="+", metavar="NAME", help="cells of these policies")
    parser.add_argument(
        "--replications", type=int, default=0, help="runs a cell (default: the reference's)"
    )
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--workers", type=int, help="processes (default: one a processor)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).parent / "results" / "reference",
        help="folder of the traces (default: benchmarks/results/reference)",
    )
    options = parser.parse_args(arguments)
    options.horizon = int(options.horizon)
    return options


def _with_error(mean: float, error: float) -> str:
    return f"{mean:,.0f} ({error:,.0f})"


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
