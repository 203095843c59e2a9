"""``bayesduel simulate``: dueling-bandit policies on a problem, their regret, a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["command"]

REGRETS = ("copeland", "copeland_sum", "condorcet", "condorcet_sum", "weak", "strong", "borda")


@click.command("simulate")
@click.option(
    "--problem",
    required=True,
    metavar="NAME|LOG",
    help="A name of `bayesduel problems`; a family of items with settings, such as "
    "LogisticItems(n_arms=1000, gap=0.05); or a log to replay (a file or a shipped dataset).",
)
@click.option(
    "--never-met",
    type=click.Choice(["error", "half"]),
    default="error",
    show_default=True,
    help="Of a log: what to do with pairs that never met; half: toss a fair coin.",
)
@click.option(
    "--policies",
    required=True,
    metavar="A,B,...",
    help="Names of `bayesduel policies`, with settings where wanted: CCB,DTS(alpha=0.6).",
)
@click.option("--horizon", type=float, required=True, help="Duels of a run, such as 1e6.")
@click.option("--replications", type=int, default=10, show_default=True, help="Runs of each.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@click.option(
    "--regret",
    "criterion",
    type=click.Choice(REGRETS),
    help="Which regret to tell and to draw.  [default: copeland; of items, their own]",
)
@click.option(
    "--record",
    type=click.Choice(["log", "linear"]),
    default="log",
    show_default=True,
    help="When to record.",
)
@click.option(
    "--detail",
    type=click.Choice(["auto", "pairs", "arms"]),
    default="auto",
    show_default=True,
    help="Whether the trace keeps tallies of pairs or of arms.",
)
@click.option("--workers", type=int, help="Processes.  [default: one a processor]")
@click.option(
    "--backend",
    type=click.Choice(["processes", "dask"]),
    default="processes",
    show_default=True,
    help="Where the runs are made.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Of the Dask cluster.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Keep the trace here: a Zarr folder, which a killed simulation goes on with, or .nc.",
)
@click.option("--plot", type=click.Path(path_type=Path), help="Draw regret into this picture.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    problem: str,
    policies: str,
    horizon: float,
    criterion: str | None,
    never_met: str,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Run policies on a problem, many times over, and tell their regret."""
    from bayesduel.cli.options import check_picture
    from bayesduel.simulation import simulate
    from bayesduel.simulation.regret import OF_PAIRS, check_criterion, regret

    if plot is not None:
        check_picture(plot)
    given = _problem(problem, never_met)
    check_criterion(given, criterion, settings["detail"])
    if criterion in OF_PAIRS:
        settings["detail"] = "pairs"
    trace = simulate(_policies(policies), given, horizon, out=output, **settings)
    values = regret(trace, criterion)
    criterion, formula = str(values.name), values.attrs["formula"]
    rows = _rows(trace, values)
    if plot is not None:
        _draw(trace, criterion, plot)
    if as_json:
        from bayesduel.cli.console import print_json

        print_json({"regret": criterion, "formula": formula, "policies": rows})
        return
    _tell(rows, given.name, criterion, formula, settings["replications"], horizon)


def _problem(text: str, never_met: str) -> Any:
    """Return what a family of items stands for, the replay of a log, or the problem of a name."""
    from bayesduel.cli.options import read_log
    from bayesduel.data import datasets
    from bayesduel.problems import (
        NAMES,
        LogisticDuels,
        LogisticItems,
        Replay,
        UnitSphere,
        named,
    )

    families = {kind.__name__: kind for kind in (LogisticDuels, LogisticItems, UnitSphere)}
    if text.partition("(")[0].strip() in families:
        from bayesduel.cli.parse import constructed

        made = constructed(text, "--problem", families)
        if len(made) != 1:
            raise click.UsageError(f"--problem should be one family, got {text!r}")
        return made[0]
    if text not in NAMES and (Path(text).exists() or text in datasets.names()):
        return Replay(read_log(text, {})[None], never_met=never_met)
    return named(text)


def _policies(text: str) -> list[Any]:
    """Return the policies of a list such as ``CCB,DTS(alpha=0.6)``."""
    from bayesduel import beliefs, models, policies
    from bayesduel.cli.parse import constructed

    return constructed(text, "--policies", policies, (beliefs, models))


def _rows(trace: "xr.DataTree", values: "xr.DataArray") -> list[dict[str, Any]]:
    """Return what to tell of each policy: regret at the horizon over the runs."""
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


def _tell(
    rows: list[dict[str, Any]],
    problem: str,
    criterion: str,
    formula: str,
    replications: int,
    horizon: float,
) -> None:
    from rich.table import Table

    from bayesduel.cli.console import out

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("policy", overflow="fold")
    for column in ("mean", "s.e.", "quartile", "median", "quartile", "answered"):
        table.add_column(column, justify="right", no_wrap=True, min_width=len(column))
    for row in rows:
        numbers = [f"{value:,.0f}" for value in list(row.values())[1:-1]]
        table.add_row(row["policy"], *numbers, str(row["runs_that_answered"] or ""))
    console = out()
    runs = "run" if replications == 1 else "runs"
    step = "pull" if criterion == "pull" else "duel"
    console.print(f"{problem}: cumulative {criterion} regret, {formula} a {step},")
    console.print(f"after {horizon:,.0f} {step}s, {replications} {runs}\n")
    console.print(table)


def _draw(trace: "xr.DataTree", criterion: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from bayesduel.plots.regret import plot_regret

    figure, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
    plot_regret(trace, criterion, ax)
    figure.savefig(path, dpi=150)
    plt.close(figure)
