"""``bayesduel health``: what is in a log, and what is the matter with it."""

from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.options import log_argument, read_log, reading_options

if TYPE_CHECKING:
    from bayesduel.data.health import Health

__all__ = ["command"]


@click.command("health", short_help="Tell what LOG holds, and what is the matter with it.")
@log_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@reading_options
def command(log: str, as_json: bool, **options: Any) -> None:
    """Tell what LOG holds and what is the matter with it, before any model runs."""
    from bayesduel.cli.console import print_json

    told = {label: duels.health() for label, duels in read_log(log, options).items()}
    if as_json:
        plain = {label: health.to_dict() for label, health in told.items()}
        print_json(plain[None] if None in plain else plain)
        return
    for label, health in told.items():
        _show(label, health)


def _show(label: str | None, health: "Health") -> None:
    from rich.table import Table

    from bayesduel.cli.console import out

    console = out()
    if label is not None:
        console.rule(label, align="left", style="dim")
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("source", health.source)
    for name, value in health.table:
        table.add_row(name, value)
    console.print(table)
    if health.warnings:
        console.print("\nTo heed:", style="bold")
    for sentence in health.warnings:
        console.print(f"- {sentence}")
    if health.bad_rows:
        console.print("\nRows left out:", style="bold")
    for where, what in health.bad_rows:
        console.print(f"- {where}: {what}")
