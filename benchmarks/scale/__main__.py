"""Measure scale: ``python -m benchmarks.scale [SECTION ...] [--full] [--page PAGE]``.

A section is a module of this folder with ``TITLE``, the title of its table, and ``rows(full)``,
which measures and returns the rows; ``NOTE``, if there is one, is said below the table. The tables
are printed, or written between the marks of their section on a page: ``<!-- SECTION -->`` and
``<!-- end of SECTION -->``. The rest of the page is written by hand.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from textwrap import wrap
from typing import Any

import click

import benchmarks.scale as room
from bayesduel.system.atomic_write import write_text
from benchmarks.tables import cell_text, show

NOT_SECTIONS = {"__main__", "made_duels", "measuring"}


def sections() -> list[str]:
    """Return the names of the sections, in alphabetical order."""
    return sorted(
        m.name
        for m in iter_modules(room.__path__)
        if m.name not in NOT_SECTIONS and not m.name.startswith("one_")
    )


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="[SECTION]...")
@click.option("--full", is_flag=True, help="Measure the sizes of the page (an hour).")
@click.option("--page", type=click.Path(exists=True, path_type=Path), help="Page to write into.")
def main(names: tuple[str, ...], full: bool, page: Path | None) -> None:
    """Measure the sections called SECTION (all by default)."""
    unknown = sorted(set(names) - set(sections()))
    if unknown:
        raise click.UsageError(
            f"SECTION should be one of {', '.join(sections())}, got {unknown[0]}."
        )
    for name in names or sections():
        module = import_module(f"{room.__name__}.{name}")
        rows = module.rows(full)
        note = getattr(module, "NOTE", "")
        show(module.TITLE, rows)
        click.echo(note, nl=bool(note))
        if page is not None:
            text = page.read_text(encoding="utf-8")
            write_text(page, written(text, name, table(name, rows, full, note)))


def table(name: str, rows: Sequence[Mapping[str, Any]], full: bool, note: str = "") -> str:
    """Return rows as Markdown, with a note, the command and the date."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [columns, ["---"] * len(columns)]
    lines += [[cell_text(row.get(c, "")).replace("|", "\\|") for c in columns] for row in rows]
    date = datetime.now(UTC).date().isoformat()
    options = f"{' --full' if full else ''} --page docs/validation/scale.md"
    command = f"python -m benchmarks.scale {name}{options}"
    grid = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    said = "\n".join([*wrap(note, 100), f"Measured {date}: `{command}`."])
    return f"{grid}\n\n{said}"


def written(page: str, name: str, text: str) -> str:
    """Return a page with `text` between the marks of the section `name`.

    Raises
    ------
    ValueError
        If the page has no such marks.
    """
    before, begin, rest = page.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- end of {name} -->\n")
    if not begin or not end:
        raise ValueError(f"the page should have the marks of the section {name}, got none")
    return f"{before}{begin}\n{text}\n\n{end}{after}"


if __name__ == "__main__":
    main()
