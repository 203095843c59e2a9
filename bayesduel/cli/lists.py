"""``bayesduel datasets``, ``problems`` and ``policies``: what is shipped with the package."""

from collections.abc import Iterable
from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import click

from bayesduel.cli.console import out, print_json, working
from bayesduel.cli.options import json_option

if TYPE_CHECKING:
    from bayesduel.data.datasets import Dataset
    from bayesduel.reporting.section import Table

__all__ = ["datasets", "policies", "problems"]

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
    rows = []
    for name, problem in known.items():
        if name in winners:
            labels = [" ".join(w) or "none" for w in winners[name].values()]
        else:  # Every replication draws its own.
            labels = ["drawn"] * len(criteria)
        rows.append((name, str(problem.n_arms), *labels))
    heads = ("name", "arms", *(criterion.replace("_", " ") for criterion in criteria))
    console = out()
    console.print(_table("hn" + "t" * len(criteria), heads, rows))
    console.print()
    console.print(_table("ht", ("name", "source"), ((n, p.source) for n, p in known.items())))


@click.command("policies")
@json_option
def policies(as_json: bool) -> None:
    """List the policies by setting, each with its reference and its guarantee."""
    from bayesduel.cli.parse import known_policies

    known = {setting: known_policies(setting) for setting in SETTINGS}
    if as_json:
        told: dict[str, dict[str, Any]] = {}
        for setting, kinds in known.items():
            for name, kind in kinds.items():
                row = {"settings": [], "reference": kind.reference, "guarantee": kind.guarantee}
                told.setdefault(name, row)["settings"].append(setting)
        print_json(told)
        return
    console = out()
    for setting, kinds in known.items():
        rows = ((name, kind.reference, kind.guarantee) for name, kind in kinds.items())
        console.print(SETTINGS[setting], style="bold")
        console.print(_table("htt", ("policy", "reference", "guarantee"), rows))
        console.print()


def _list_datasets(entries: list["Dataset"]) -> None:
    rows = ((e.name, f"{e.n_duels:,}", f"{e.n_arms}", f"{e.n_ties:,}", e.title) for e in entries)
    out().print(_table("hnnnt", ("name", "duels", "arms", "ties", "what was compared"), rows))
    out().print("\nbayesduel datasets NAME describes one; bayesduel report NAME makes its report.")


def _describe(entry: "Dataset") -> None:
    rows = (
        ("name", entry.name),
        ("what", entry.title),
        ("size", f"{entry.n_duels:,} duels, {entry.n_arms} arms, {entry.n_ties:,} ties"),
        ("sides", entry.sides),
        ("winner", entry.winner),
        ("good for", entry.shows),
        ("note", entry.note),
        ("source", entry.citation),
        ("file", str(files("bayesduel.data.datasets") / f"{entry.name}.csv")),
        ("try", f"bayesduel report {entry.name}" + (f" --by {entry.by}" * bool(entry.by))),
    )
    out().print(_table("ht", (), rows))


def _table(columns: str, heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> "Table":
    from bayesduel.reporting.section import Table

    return Table(columns=columns, heads=heads, rows=tuple(rows))
