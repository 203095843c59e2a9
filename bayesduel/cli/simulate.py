"""``bayesduel simulate``: policies on a problem, by their regret or by the k best they select."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.console import out, print_json
from bayesduel.cli.options import json_option, output_option, seed_option
from bayesduel.cli.write import check_not_input, check_picture
from bayesduel.system.atomic_write import write_figure

if TYPE_CHECKING:
    import xarray as xr


__all__ = ["command"]

OF_REGRET = ("--regret", "--detail", "--never-met")
HEADS = {"mean": "mean", "standard_error": "s.e.", "quartile_1": "25 %", "median": "median",
         "quartile_3": "75 %"}  # fmt: skip


@click.command("simulate")
@click.option(
    "--problem",
    required=True,
    metavar="NAME|FAMILY|LOG,...",
    help="One or several problems. A problem is a name that `bayesduel problems` lists; a "
    "family with settings; FILE.py:NAME; or a log to replay (a file or a shipped dataset; "
    "with --k its margins). A family is drawn again in each run: bradley_terry(n_arms=10), "
    "score_duels(n_arms=10,d=0.1) with --k, LogisticItems(n_arms=1000,gap=0.05), or "
    "RandomChanges(family=uniform(n_arms=5),n_changes=4) for changing preferences. "
    "FILE.py:NAME is a problem or a generator in your own file.",
)
@click.option(
    "--policies",
    required=True,
    metavar="A,B,...",
    help="Names that `bayesduel policies` lists, or FILE.py:NAME for a policy in your own file. "
    "Settings follow in brackets: CCB,DTS(alpha=0.6),mine.py:EpsilonGreedy(epsilon=0.2). A "
    "setting may be a belief or model of yours: DTS(belief=Laplace(mine.py:Lapse)).",
)
@click.option("--horizon", type=float, required=True, help="Number of duels per run, such as 1e6.")
@click.option("--k", type=int, help="Select the k best arms instead of minimising regret.")
@click.option("--replications", type=int, help="Runs of each policy.  [default: 10; with --k, 100]")
@seed_option
@click.option(
    "--record-at",
    type=click.Choice(["log", "linear"]),
    default="log",
    help="Spacing of the recorded times.",
)
@click.option(
    "--regret",
    "criterion",
    metavar="NAME|FILE.py:NAME",
    help="Regret to print and plot: copeland, copeland_sum, condorcet, condorcet_sum, weak, "
    "strong, borda, or a function NAME(P, a, b) in your own file.  [default: copeland; "
    "problems of items have their own]",
)
@click.option(
    "--detail",
    type=click.Choice(["auto", "pairs", "arms", "duels"]),
    help="Whether the trace keeps tallies of pairs or of arms, or every duel.  [default: auto]",
)
@click.option(
    "--never-met",
    type=click.Choice(["error", "half"]),
    help="For a log: stop at pairs that never met (error), or toss a fair coin for them "
    "(half).  [default: error]",
)
@click.option("--index", is_flag=True, help="With --k: also record the intransitivity indices.")
@click.option(
    "--batch",
    type=int,
    default=1,
    help="Number of duels or pulls chosen at a time, before their outcomes are known.",
)
@click.option("--workers", type=int, help="Number of processes.  [default: one per processor]")
@click.option(
    "--backend",
    type=click.Choice(["processes", "dask"]),
    default="processes",
    help="Where the replications run: processes of this machine, or a Dask cluster.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Address of the Dask cluster.")
@output_option(
    "File or folder for the trace: a Zarr folder or a .nc file. If it has an interrupted "
    "simulation, that goes on."
)
@click.option("--plot", type=click.Path(path_type=Path), help="Save a plot to this file.")
@json_option
def command(
    problem: str,
    policies: str,
    horizon: float,
    k: int | None,
    criterion: str | None,
    detail: str | None,
    never_met: str | None,
    index: bool,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Run policies on a problem, many times, and print their regret or how often they are right."""
    from bayesduel.cli.parse import policies_of, problems_of, regret_of
    from bayesduel.problems import as_margin_problem
    from bayesduel.simulation import simulate
    from bayesduel.simulation.plot_regret import plot_regret
    from bayesduel.simulation.plot_success import plot_success
    from bayesduel.simulation.regret import keeps_pairs

    of_regret = dict(zip(OF_REGRET, (criterion, detail, never_met), strict=True))
    given = [option for option, value in of_regret.items() if value is not None]
    if k is not None and given:
        raise click.UsageError(f"{given[0]} is for regret, got it with --k {k}")
    if k is None and index:
        raise click.UsageError("--index is for --k, got it without")
    if plot is not None:
        check_picture(plot)
    if output is not None:
        check_not_input(output)
    settings["out"] = output
    if settings["replications"] is None:
        settings["replications"] = 10 if k is None else 100
    problems = problems_of(problem)
    if plot is not None and len(problems) > 1:
        raise click.UsageError(f"--plot should be with one problem, got it with {len(problems)}")
    if k is None:
        settings["detail"] = detail or "auto"
        cost = regret_of(criterion)
        played = _played(problems, cost, settings["detail"], never_met)
        of_pairs = all(one.setting == "pairs" for one in played.values())
        if keeps_pairs(cost) and of_pairs and settings["detail"] == "auto":
            settings["detail"] = "pairs"
        if of_pairs and output is None:
            settings["recommend"] = "end"  # what is printed and plotted is regret
        chosen = policies_of(policies, None)
    else:
        settings |= {"index": index, "k": k}
        played = {name: as_margin_problem(one) for name, one in problems.items()}
        chosen = policies_of(policies, "margins")
    single = len(played) == 1
    try:
        trace = simulate(
            chosen, next(iter(played.values())) if single else played, horizon, **settings
        )
    except (KeyboardInterrupt, RuntimeError) as stop:  # Numba makes an error of a stop
        stop.add_note(_how_to_go_on(output))
        raise
    results = []
    for name, one in played.items():
        part = trace if single else trace.children[name]
        results.append(
            _of_regret(one, part, cost, horizon, settings["replications"])
            if k is None
            else _of_top_k(one, part, k, horizon, settings["replications"])
        )
    if plot is not None:
        _save(
            plot_regret if k is None else plot_success, trace, plot, *([cost] if k is None else [])
        )
    _show(results, as_json)


def _how_to_go_on(output: Path | None) -> str:
    """Return what to do after Ctrl-C."""
    if output is None:
        return "Nothing was kept; with -o FOLDER.zarr a stopped simulation goes on"
    return f"Give the same command again to go on: the finished runs are in {output}"


def _show(results: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        told = [
            {name: one[name] for name in one if name not in ("heading", "table")} for one in results
        ]
        print_json(told[0] if len(told) == 1 else {"problems": told})
        return
    console = out()
    for place, result in enumerate(results):
        console.print(("\n" if place else "") + result["heading"])
        console.print(result["table"])


def _played(
    problems: dict[str, Any], cost: Any, detail: str, never_met: str | None
) -> dict[str, Any]:
    """Return problems for regret: logs as replays, and each one that the regret is defined for."""
    from bayesduel.data.duels import Duels
    from bayesduel.problems import Replay
    from bayesduel.simulation.regret import check_criterion

    played = {
        name: Replay(one, never_met=never_met or "error") if isinstance(one, Duels) else one
        for name, one in problems.items()
    }
    for one in played.values():
        check_criterion(one, cost, detail)
    return played


def _of_regret(
    problem: Any, trace: "xr.DataTree", cost: Any, horizon: float, n_runs: int
) -> dict[str, Any]:
    from bayesduel.reporting.section import Table
    from bayesduel.simulation.regret import regret
    from bayesduel.text import count, digits_of

    values = regret(trace, cost)
    criterion = str(values.name)
    formula = values.attrs["formula"]
    rows = _regret_rows(trace, values)
    step = "pull" if criterion == "pull" else "duel"
    digits = digits_of(max(row["mean"] for row in rows) or 100, 3)
    heading = (
        f"{problem.name}: cumulative {criterion} regret, {formula} per {step},\n"
        f"after {count(int(horizon), step)}, {count(n_runs, 'run')}\n"
    )
    columns: list[tuple[Any, ...]] = [("t", "policy", "{policy}")]
    columns += [("n", head, f"{{{name}:,.{digits}f}}") for name, head in HEADS.items()]
    if any(row["runs_that_answered"] for row in rows):
        columns.append(("n", "runs that answered", lambda r: str(r["runs_that_answered"] or "")))
    return {
        "problem": problem.name,
        "regret": criterion,
        "formula": formula,
        "policies": rows,
        "heading": heading,
        "table": Table.of(columns, rows),
    }


def _of_top_k(
    problem: Any, trace: "xr.DataTree", k: int, horizon: float, n_runs: int
) -> dict[str, Any]:
    from bayesduel.reporting.section import Table
    from bayesduel.text import count

    rows = _top_k_rows(trace)
    heading = (
        f"{problem.name}: {k} of {problem.n_arms}, after {count(int(horizon), 'duel')}, "
        f"{count(n_runs, 'run')}: how often the set is\n"
        "exactly right, and the score that the selected set gives away\n"
    )
    columns = (
        ("t", "policy", "{policy}"),
        ("n", "right", lambda r: f"{100 * r['rate']:.1f} %"),
        ("n", "95 %", lambda r: f"{100 * r['low']:.1f} to {100 * r['high']:.1f} %"),
        ("n", "cost", "{cost:.3g}"),
        ("n", "duels", "{spent:,.0f}"),
    )
    return {
        "problem": problem.name,
        "k": k,
        "horizon": horizon,
        "policies": rows,
        "heading": heading,
        "table": Table.of(columns, rows),
    }


def _regret_rows(trace: "xr.DataTree", values: "xr.DataArray") -> list[dict[str, Any]]:
    import numpy as np

    last = values.isel(time=-1).load()
    found = trace["trace"].get("answered")
    answered = np.full(last.shape, -1) if found is None else np.asarray(found)
    rows = []
    for k, name in enumerate(last["policy"].values.tolist()):
        runs = last.values[k]
        low, median, high = np.quantile(runs, (0.25, 0.5, 0.75))
        error = runs.std(ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.nan
        rows.append(
            {
                "policy": name,
                "mean": runs.mean(),
                "standard_error": error,
                "quartile_1": low,
                "median": median,
                "quartile_3": high,
                "runs_that_answered": int((answered[k] >= 0).sum()),
            }
        )
    return rows


def _top_k_rows(trace: "xr.DataTree") -> list[dict[str, Any]]:
    from bayesduel.simulation.success import opportunity_cost, success_rate

    rates = success_rate(trace).isel(time=-1)
    cost = opportunity_cost(trace).isel(time=-1).mean("replication")
    spent = trace["trace"]["spent"].isel(time=-1).mean("replication")
    return [
        {
            "policy": name,
            **{part: float(rates[part].sel(policy=name)) for part in ("rate", "low", "high")},
            "cost": float(cost.sel(policy=name)),
            "spent": float(spent.sel(policy=name)),
        }
        for name in rates["policy"].values.tolist()
    ]


def _save(draw: Any, trace: "xr.DataTree", path: Path, *arguments: Any) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
    draw(trace, *arguments, ax=ax)
    write_figure(path, figure, dpi=150)
    plt.close(figure)
