"""``bayesduel datasets``, ``problems`` and ``policies``: what is shipped with the package."""

from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.console import out, print_json, working
from bayesduel.cli.options import json_option

if TYPE_CHECKING:
    from rich.table import Table

    from bayesduel.data.datasets import Dataset

__all__ = ["datasets", "policies", "problems"]

NUMBERS = ("duels", "arms", "ties")  # columns of tables
SETTINGS = {
    "pairs": "Pairs of arms, by who wins (simulate)",
    "margins": "The k best arms, by margins or wins (simulate --k)",
    "items": "Items with attributes, shown one or two at a time (simulate)",
}


@click.command("datasets", short_help="List the logs shipped with bayesduel.")
@click.argument("name", required=False)
@click.option("--csv", "as_csv", is_flag=True, help="Print the file itself.")
@json_option
def datasets(name: str | None, as_csv: bool, as_json: bool) -> None:
    """List the logs shipped with bayesduel, or describe the one called NAME."""
    from bayesduel.data import datasets as shipped

    if as_csv and as_json:
        raise click.UsageError("give --csv or --json, not both")
    if as_csv:
        if name is None:
            raise click.UsageError("--csv needs the NAME of a dataset")
        click.echo(shipped.text(name), nl=False)
        return
    entries = [shipped.describe(n) for n in ([name] if name else shipped.names())]
    if as_json:
        rows = {entry.name: asdict(entry) for entry in entries}
        print_json(rows[name] if name else rows)
    elif name:
        _describe(entries[0])
    else:
        _list_datasets(entries)


@click.command("problems")
@json_option
def problems(as_json: bool) -> None:
    """List the problems that can be simulated, with their winners under every criterion."""
    from bayesduel.problems import NAMES, named

    with working("finding the winners"):
        known = {name: named(name) for name in NAMES}
        winners = {n: p.winners for n, p in known.items() if p.setting == "pairs"}
    if as_json:
        print_json(
            {
                name: {"arms": p.n_arms, "source": p.source, "winners": winners.get(name)}
                for name, p in known.items()
            }
        )
        return
    criteria = next(iter(winners.values()))
    table = _table("name", "arms", *(criterion.replace("_", " ") for criterion in criteria))
    for name, problem in known.items():
        if name in winners:
            labels = [" ".join(w) or "none" for w in winners[name].values()]
        else:  # Every replication draws its own.
            labels = ["drawn"] * len(criteria)
        table.add_row(name, str(problem.n_arms), *labels)
    sources = _table("name", "source")
    for name, problem in known.items():
        sources.add_row(name, problem.source)
    console = out()
    console.print(table)
    console.print()
    console.print(sources)


@click.command("policies")
@json_option
def policies(as_json: bool) -> None:
    """List the policies by setting, each with its reference and its guarantee."""
    from bayesduel.cli.parse import known_policies

    known = {setting: known_policies(setting) for setting in SETTINGS}
    if as_json:
        rows: dict[str, dict[str, Any]] = {}
        for setting, kinds in known.items():
            for name, kind in kinds.items():
                row = {"settings": [], "reference": kind.reference, "guarantee": kind.guarantee}
                rows.setdefault(name, row)["settings"].append(setting)
        print_json(rows)
        return
    console = out()
    for setting, kinds in known.items():
        table = _table("policy", "reference", "guarantee")
        for name, kind in kinds.items():
            table.add_row(name, kind.reference, kind.guarantee)
        console.print(SETTINGS[setting], style="bold")
        console.print(table)
        console.print()


def _list_datasets(entries: list["Dataset"]) -> None:
    table = _table("name", *NUMBERS, "what was compared")
    for e in entries:
        counts = (f"{n:,}" for n in (e.n_duels, e.n_arms, e.n_ties))
        table.add_row(e.name, *counts, e.title)
    out().print(table)
    out().print("\nbayesduel datasets NAME describes one; bayesduel report NAME makes its report.")


def _describe(entry: "Dataset") -> None:
    from rich.table import Table

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


def _table(*columns: str) -> "Table":
    """Return a table without lines, its first column on one line and `NUMBERS` to the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        number = column in NUMBERS
        table.add_column(column, no_wrap=number or not place, justify="right" if number else "left")
    return table
