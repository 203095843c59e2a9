"""Report section: the data summary, with the health of the log."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.data.health_record import IGNORED, health_lines, health_words
from bayesduel.data.reading import HEADS
from bayesduel.reporting.section import Alert, Block, Group, Section, Table, Text, blocks
from bayesduel.text import CELL, percent, plural, shorten, significant

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels
    from bayesduel.data.health_record import Health

__all__ = ["health_section", "log_section"]

NO_PROBLEMS = "No problems were found."
ADJUSTED = "The fitted model estimates that effect: see Win rates and tiers."


def log_section(
    duels: "Duels",
    health: "Health",
    *,
    further: str = "",
    ordered: bool = False,
    noun: str = "arm",
) -> Section:
    """Return the section on the data: main counts, warnings, and how the log was read.

    duels, health: the log, and its health.
    further: a sentence that follows where no problems were found.
    ordered: whether the model of the report has a side advantage.
    noun: what an arm is called.
    """
    health = replace(health, source=duels.read_summary.public_source)
    body = (_counts(duels, noun), *_health(health, further, ordered, noun))
    if duels.reading.lines:
        body = (*body, _reading(duels, noun))
    return Section(id="log", title="Data summary", body=body)


def _reading(duels: "Duels", noun: str) -> Group:
    """Return what the log was taken for, in the words of ``bayesduel read``."""
    lines = [line.called(noun) for line in duels.reading.lines]
    rows = tuple(
        (line.role, shorten(line.column, CELL), line.words, _number(line.rows)) for line in lines
    )
    table = Table(columns="tttn", heads=HEADS, rows=rows, name="reading")
    return Group("How the log was read", (table,), folded=not duels.reading.left_out)


def _number(rows: int | None) -> str:
    return "" if rows is None else f"{rows:,}"


def health_section(health: "Health") -> Section:
    """Return the section on the health of a log."""
    return Section(id="health", body=_health(health))


def _counts(duels: "Duels", noun: str) -> Table:
    votes = duels.votes
    n_ties = duels.n_ties
    n_pairs = duels.n_arms * (duels.n_arms - 1) // 2
    share = f" ({percent(n_ties / duels.n_duels)} %)" if 0 < n_ties < duels.n_duels else ""
    rows = [
        ("duels", f"{duels.n_duels:,}"),
        (plural(noun), f"{duels.n_arms:,}"),
        ("pairs that met", f"{len(duels.pairs().first):,} of {n_pairs:,}"),
        ("ties", f"{n_ties:,}{share}"),
    ]
    if duels.teams is not None:
        rows.insert(2, ("different teams", f"{duels.n_sides:,}"))
    if votes is not None:
        if votes.judge is not None:
            rows.append(("judges", f"{len(votes.judges):,}"))
        if votes.group is not None:
            rows.append(("groups", f"{len(votes.groups):,}"))
        if votes.margin is not None:
            median = significant(float(np.nanmedian(np.abs(votes.margin))), 3)
            whole = median.rstrip("0").rstrip(".") if "." in median else median
            rows.append(("median margin", whole))
        if votes.time is not None and votes.time.dtype.kind == "M":
            known = votes.time[~np.isnat(votes.time)]
            if len(known):
                rows += [("from", str(known.min())[:10]), ("to", str(known.max())[:10])]
    return Table(columns="ht", rows=tuple(rows), name="numbers")


def _health(
    health: "Health", further: str = "", ordered: bool = False, noun: str = "arm"
) -> tuple[Block, ...]:
    called = {"arm": noun}
    columns = ", ".join(
        f"{called.get(role, role)} = {column}{' (guessed)' if role in health.guessed else ''}"
        for role, column in health.columns.items()
    )
    fine = f"{NO_PROBLEMS} {further}".strip()
    warnings = tuple(health_words(health, noun, ADJUSTED if ordered else IGNORED))
    return blocks(
        Alert("Warnings", warnings) if warnings else fine,
        Text(f"Read from {health.source}{': ' if columns else ''}{columns}.", "small"),
        Group(
            "All counts",
            (Table(columns="ht", rows=tuple(health_lines(health, noun))),),
            folded=True,
        ),
        _rows_left_out(health) if health.bad_rows else None,
    )


def _rows_left_out(health: "Health") -> Group:
    shown = len(health.bad_rows)
    lines = [Text(f"{where}: {what}", "small") for where, what in health.bad_rows]
    if health.n_bad_rows > shown:
        lines.append(Text(f"The first {shown} of {health.n_bad_rows:,}.", "small"))
    return Group("Rows left out", tuple(lines), folded=True)
