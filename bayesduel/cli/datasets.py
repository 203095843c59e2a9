"""``bayesduel datasets``: the logs shipped with the package."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bayesduel.data.datasets import Dataset

__all__ = ["command"]


@click.command("datasets", short_help="List the logs shipped with bayesduel.")
@click.argument("name", required=False)
@click.option("--csv", "as_csv", is_flag=True, help="Print the file itself.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str | None, as_csv: bool, as_json: bool) -> None:
    """List the logs shipped with bayesduel, or tell of the one called NAME."""
    from dataclasses import asdict

    from bayesduel.cli.console import print_json
    from bayesduel.data import datasets

    if as_csv and as_json:
        raise click.UsageError("give --csv or --json, not both")
    if as_csv:
        if name is None:
            raise click.UsageError("--csv needs the NAME of a dataset")
        click.echo(datasets.text(name), nl=False)
        return
    entries = [datasets.describe(n) for n in ([name] if name else datasets.names())]
    if as_json:
        told = {entry.name: asdict(entry) for entry in entries}
        print_json(told[name] if name else told)
    elif name:
        _tell(entries[0])
    else:
        _list(entries)


def _list(entries: list["Dataset"]) -> None:
    from rich.table import Table

    from bayesduel.cli.console import out

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    for column in ("duels", "arms", "ties"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("what was compared")
    for e in entries:
        counts = (f"{n:,}" for n in (e.n_duels, e.n_arms, e.n_ties))
        table.add_row(e.name, *counts, e.title)
    out().print(table)
    out().print("\nbayesduel datasets NAME tells more; bayesduel report NAME makes its report.")


def _tell(entry: "Dataset") -> None:
    from importlib.resources import files

    from rich.table import Table

    from bayesduel.cli.console import out

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("name", entry.name)
    table.add_row("what", entry.title)
    table.add_row("size", f"{entry.n_duels:,} duels, {entry.n_arms} arms, {entry.n_ties:,} ties")
    table.add_row("sides", entry.sides)
    table.add_row("winner", entry.winner)
    table.add_row("good for", entry.shows)
    table.add_row("note", entry.note)
    table.add_row("source", entry.citation)
    table.add_row("file", str(files("bayesduel.data.datasets") / f"{entry.name}.csv"))
    table.add_row("try", f"bayesduel report {entry.name}" + (f" --by {entry.by}" * bool(entry.by)))
    out().print(table)
