"""``bayesduel simulate-topk``: policies that select the k best, how often they are right."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["command"]

FAMILIES = ("score_duels", "uneven_duels", "bradley_terry", "thurstone", "perturbed_thurstone")


@click.command("simulate-topk")
@click.option(
    "--problem",
    required=True,
    metavar="FAMILY|NAME|LOG",
    help="A family drawn anew in each run, such as score_duels(n_arms=10,d=0.1), "
    f"of {', '.join(FAMILIES)}; a name of `bayesduel problems` (wins and losses); or a log "
    "whose margins are replayed (every pair needs some).",
)
@click.option(
    "--policies",
    required=True,
    metavar="A,B,...",
    help="Names, with settings where wanted: POCBAm,MLPOCBAm(warm_up=5),Uniform(by='model').",
)
@click.option("--k", type=int, required=True, help="How many arms to select.")
@click.option("--budget", type=float, required=True, help="Duels of a run, warm-up included.")
@click.option("--replications", type=int, default=100, show_default=True, help="Runs of each.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@click.option(
    "--record",
    type=click.Choice(["log", "linear"]),
    default="log",
    show_default=True,
    help="When to record.",
)
@click.option("--index", is_flag=True, help="Record the intransitivity indices too.")
@click.option("--workers", type=int, default=1, show_default=True, help="Processes.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Keep the trace here: a Zarr folder, or .nc.",
)
@click.option("--plot", type=click.Path(path_type=Path), help="Draw success into this picture.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    problem: str,
    policies: str,
    k: int,
    budget: float,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Run policies that select the k best arms, and tell how often they are right."""
    from bayesduel.cli.options import check_folder, check_picture
    from bayesduel.problems import as_margin_problem
    from bayesduel.simulation.simulate_top_k import select_top

    if plot is not None:
        check_picture(plot)
    if output is not None and output.exists():
        _require_trace(output)
    elif output is not None:
        check_folder(output)
    given = as_margin_problem(_problem(problem))
    trace = select_top(_policies(policies), given, k, budget, **settings)
    if output is not None:
        _keep(trace, output)
    rows = _rows(trace)
    if plot is not None:
        _draw(trace, plot)
    if as_json:
        from bayesduel.cli.console import print_json

        print_json({"k": k, "budget": budget, "policies": rows})
        return
    _tell(rows, f"{given.name}: {k} of {len(given.arms)}", budget, settings["replications"])


def _policies(text: str) -> list[Any]:
    """Return the policies of a list such as ``POCBAm,PBR(criterion='borda')``."""
    from bayesduel import beliefs
    from bayesduel.cli.parse import constructed
    from bayesduel.policies import PBR, Uniform
    from bayesduel.policies import top_k as selection

    kinds = {name: getattr(selection, name) for name in selection.__all__}
    kinds = {name: kind for name, kind in kinds.items() if hasattr(kind, "select")}
    return constructed(text, "--policies", {**kinds, "PBR": PBR, "Uniform": Uniform}, (beliefs,))


def _problem(text: str) -> Any:
    """Return the problem that a family, a name or a log stands for."""
    from bayesduel.data import datasets
    from bayesduel.problems import NAMES, Matrix, named

    if text in NAMES:
        return named(text)
    if Path(text).exists() or text in datasets.names():
        from bayesduel.cli.options import read_log

        return read_log(text, {})[None]
    family = text.partition("(")[0].strip()
    if family not in FAMILIES:
        arms = [name for name in NAMES if isinstance(named(name), Matrix)]
        raise click.UsageError(
            f"--problem should be a log (a file, or a dataset of `bayesduel datasets`), one of "
            f"{', '.join(arms)}, or a family of {', '.join(FAMILIES)} with its settings, "
            f"got {text!r}"
        )
    from bayesduel.cli.parse import constructed

    problems = constructed(text, "--problem", {family: _drawn(family)})
    if len(problems) != 1:
        raise click.UsageError(f"--problem should be one family, got {text!r}")
    return problems[0]


def _drawn(family: str) -> Any:
    """Return a function from settings to the family of that name."""
    import inspect

    from bayesduel import problems

    generator = getattr(problems, family)
    known = set(inspect.signature(generator).parameters) - {"rng"}

    def drawn(n_arms: int = 10, **settings: Any) -> Any:
        unknown = sorted(set(settings) - known)
        if unknown:
            raise ValueError(f"settings should be of {', '.join(sorted(known))}, got {unknown}")
        given = tuple(sorted(settings.items()))
        return problems.Drawn(
            n_arms=n_arms, generator=generator, settings=given, name=family.replace("_", " ")
        )

    return drawn


def _require_trace(path: Path) -> None:
    """Raise unless what stands at `path`, and would be written over, is a trace."""
    from bayesduel.simulation import open_trace

    try:
        open_trace(path).close()
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"-o should be new or a trace to replace, got {path}") from error


def _keep(trace: "xr.DataTree", path: Path) -> None:
    if path.suffix == ".nc":
        trace.to_netcdf(path, engine="h5netcdf")
    else:
        trace.to_zarr(path, mode="w", consolidated=False)


def _rows(trace: "xr.DataTree") -> list[dict[str, Any]]:
    """Return what to tell of each policy at the end of the budget."""
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


def _tell(rows: list[dict[str, Any]], what: str, budget: float, replications: int) -> None:
    from rich.table import Table

    from bayesduel.cli.console import out

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("policy", overflow="fold")
    for column in ("right", "95 %", "cost", "duels"):
        table.add_column(column, justify="right", no_wrap=True, min_width=len(column))
    for row in rows:
        interval = f"{100 * row['low']:.1f} to {100 * row['high']:.1f} %"
        table.add_row(
            row["policy"],
            f"{100 * row['rate']:.1f} %",
            interval,
            f"{row['cost']:.3g}",
            f"{row['spent']:,.0f}",
        )
    console = out()
    console.print(f"{what}, after {budget:,.0f} duels, {replications} runs: how often the set is")
    console.print("exactly right, and the score that the set named gives away\n")
    console.print(table)


def _draw(trace: "xr.DataTree", path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from bayesduel.plots.success import plot_success

    figure, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
    plot_success(trace, ax)
    figure.savefig(path, dpi=150)
    plt.close(figure)
