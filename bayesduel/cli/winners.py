"""``bayesduel winners``: who wins, in the terminal or as JSON."""

from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.options import (
    fits_of,
    fitting_options,
    judging_options,
    log_argument,
    reading_options,
)

if TYPE_CHECKING:
    from bayesduel.posterior.winners import Winners

__all__ = ["command"]

ROWS = 30  # arms listed in the terminal; --json has all


@click.command("winners", short_help="Say who wins in LOG, and how surely.")
@log_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON, all arms.")
@reading_options
@fitting_options
@judging_options
def command(log: str, as_json: bool, **options: Any) -> None:
    """Say who wins in LOG (or in a fit.nc that `bayesduel fit` saved), and how surely."""
    from bayesduel.cli.console import print_json, working
    from bayesduel.posterior.winners import winners

    results: dict[str | None, Winners] = {}
    for label, fit in fits_of(log, options).items():
        with working("holding elections"):
            results[label] = winners(fit, rope=options["rope"], confidence=options["confidence"])
    if as_json:
        told = {label: result.summary() for label, result in results.items()}
        print_json(told[None] if None in told else told)
        return
    for label, result in results.items():
        _show(label, result)


def _show(label: str | None, result: "Winners") -> None:
    from rich.table import Table

    from bayesduel.cli.console import out
    from bayesduel.posterior.verdict_text import ACROSS
    from bayesduel.text import CELL, percent, shorten

    console = out()
    if label is not None:
        console.rule(label, align="left", style="dim")
    console.print(result.attrs["verdict"], style="bold")
    console.print()
    group = result.groups()
    if group is not None:
        console.print(f"{ACROSS}\n")
    frame = result.table()
    table = Table(box=None, pad_edge=False, header_style="bold")
    level = f"{100 * result.attrs['confidence']:g} %"
    for name, justify in (
        ("", "right"),
        ("arm", "left"),
        ("best", "right"),
        (f"rank [{level}]", "right"),
        (f"win rate [{level}]", "right"),
        ("tier", "right"),
        *([] if group is None else [("group", "right")]),
    ):
        table.add_column(name, justify=justify, no_wrap=name != "arm")  # type: ignore[arg-type]
    for place, (arm, row) in enumerate(frame.head(ROWS).iterrows(), 1):
        table.add_row(
            str(place),
            shorten(str(arm), CELL),
            f"{percent(row['copeland'])} %",
            f"{row['rank_mean']:.1f} [{row['rank_lower']:.0f}, {row['rank_upper']:.0f}]",
            f"{percent(row['borda_mean'])} % "
            f"[{percent(row['borda_lower'])}, {percent(row['borda_upper'])}]",
            f"{row['tier']:.0f}",
            *([] if group is None else [str(group[str(arm)])]),
        )
    console.print(table)
    if len(frame) > ROWS:
        console.print(f"... and {len(frame) - ROWS} more: --json has all")
    console.print(
        "\nbest: probability of winning most pairings (Copeland); "
        "win rate: against an arm drawn at random",
        style="dim",
    )
