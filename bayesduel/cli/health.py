"""``bayesduel health``: counts and warnings on a log."""

from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.options import log_argument, read_log, reading_options

if TYPE_CHECKING:
    from bayesduel.data.health_report import Health

__all__ = ["command"]


@click.command("health", short_help="Summarise LOG and warn of problems in it.")
@log_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@reading_options
def command(log: str, as_json: bool, **options: Any) -> None:
    """Summarise LOG and warn of problems in it, before any model is fitted."""
    from bayesduel.cli.console import print_json
    from bayesduel.data.health import health

    told = {label: health(duels) for label, duels in read_log(log, options).items()}
    if as_json:
        plain = {label: found.to_dict() for label, found in told.items()}
        print_json(plain[None] if None in plain else plain)
        return
    for label, found in told.items():
        _show(label, found)


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
        console.print("\nWarnings:", style="bold")
    for sentence in health.warnings:
        console.print(f"- {sentence}")
    if health.bad_rows:
        console.print("\nRows left out:", style="bold")
    for where, what in health.bad_rows:
        console.print(f"- {where}: {what}")
