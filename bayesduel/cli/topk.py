"""``bayesduel topk``: which arms are the k best, and how surely."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.options import (
    MODELS,
    check_folder,
    chosen_model,
    fits_of,
    log_argument,
    reading_options,
    sampling_options,
)

if TYPE_CHECKING:
    from bayesduel.posterior.top_k import TopK

__all__ = ["command"]

ROWS = 30  # arms listed in the terminal; --json has all


@click.command("topk", short_help="Say which are the k best in LOG, and how surely.")
@log_argument
@click.option("--k", "k", type=click.IntRange(min=1), required=True, help="How many.")
@click.option(
    "--sets",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many sets to list, at most.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, all arms.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File for the JSON.")
@reading_options
@click.option(
    "--model",
    type=click.Choice(MODELS),
    help="Model.  [default: thurstone-score where LOG has margins, else bradley-terry]",
)
@sampling_options
def command(log: str, k: int, sets: int, as_json: bool, **options: Any) -> None:
    """Say which are the k best in LOG (or in a fit.nc that `bayesduel fit` saved).

    Lists the most probable sets of k arms, and how probable each arm is to be among the k
    best: by how much duels were won where LOG has margins, else by who won.
    """
    from bayesduel.cli.console import print_json, remark, working
    from bayesduel.posterior.top_k import check_k, top_k
    from bayesduel.text import to_json

    output = options.pop("output")
    if output is not None:
        check_folder(output)
    named = options.pop("model")
    if named is not None:
        chosen_model(named, options)  # refused before the log is read
    found: dict[str | None, TopK] = {}

    def model(duels: Any) -> Any:
        check_k(k, duels.n_arms)  # before the work, not after it
        return _model(named, duels, options)

    fits = fits_of(log, options, model)
    for label, fit in fits.items():
        with working("counting sets"):
            found[label] = top_k(fit, k, n=sets)
    told: Any = {label: one.summary() for label, one in found.items()}
    told = told[None] if None in told else told
    if output is not None:
        output.write_text(to_json(told) + "\n", encoding="utf-8")
    if as_json:
        print_json(told)
    else:
        for label, one in found.items():
            _show(label, one)
    if output is not None:
        remark(f"wrote {output}")


def _model(named: str | None, duels: Any, options: dict[str, Any]) -> Any:
    """Return the model that was asked for, or the one that suits the log."""
    with_margins = duels.votes is not None and duels.votes.margin is not None
    return chosen_model(named or ("thurstone-score" if with_margins else "bradley-terry"), options)


def _show(label: str | None, found: "TopK") -> None:
    from rich.table import Table

    from bayesduel.cli.console import out
    from bayesduel.text import CELL, percent, shorten

    console = out()
    if label is not None:
        console.rule(label, align="left", style="dim")
    console.print(found.sentence, style="bold")
    console.print(
        f"By {found.ranked_by} of the model {found.model}; {found.n_sets:,} different sets in "
        f"{found.n_draws:,} draws.\n",
        style="dim",
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(f"top {found.k}")
    table.add_column("probability", justify="right", no_wrap=True)
    for row in found.sets.to_dict("records"):
        names = ", ".join(shorten(arm, CELL) for arm in row["arms"])
        table.add_row(names, f"{percent(row['probability'])} %")
    console.print(table)
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("arm")
    table.add_column(f"in the top {found.k}", justify="right", no_wrap=True)
    table.add_column("mean rank", justify="right", no_wrap=True)
    for arm, row in found.members.head(ROWS).iterrows():
        chance = f"{percent(row['probability'])} %"
        table.add_row(shorten(str(arm), CELL), chance, f"{row['rank_mean']:.1f}")
    console.print(table)
    if len(found.members) > ROWS:
        console.print(f"... and {len(found.members) - ROWS} more: --json has all")
