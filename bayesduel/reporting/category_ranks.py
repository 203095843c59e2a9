"""Table of ranks by category, one row per category."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesduel.reporting.section import Cell, Column, Section, Table, blocks
from bayesduel.text import percent, probability

if TYPE_CHECKING:
    from bayesduel.posterior.category_ranks import CategoryRanks

__all__ = ["category_ranks_section", "category_ranks_table"]


def category_ranks_section(ranks: "CategoryRanks") -> Section:
    """Return the section on what :func:`bayesduel.category_ranks` returned."""
    return Section(id="categories", body=blocks(ranks.sentence, category_ranks_table(ranks)))


def category_ranks_table(ranks: "CategoryRanks", noun: str = "arm") -> Table:
    """Return the table of categories; `noun` is what an arm is called."""
    confidence = ranks.attrs["confidence"]

    def differs(row: Mapping[str, Any]) -> str | Cell:
        p = row["best_differs_probability"]
        return _strong(probability(p), p >= confidence)

    def reversed_pairs(row: Mapping[str, Any]) -> str | Cell:
        return _strong(f"{row['reversed_pairs']:,}", row["reversed_pairs"] > 0)

    def columns(noun: str) -> tuple[Column, ...]:
        return (
            Column("l", "category", "{category}"),
            Column("n", "duels", "{duels:,}"),
            Column("l", f"best {noun}", "{best}"),
            Column("n", "probability", lambda r: probability(r["best_probability"])),
            Column("n", f"best {noun} is\nnot the best\noverall", differs),
            Column("n", "pairs reversed,\nexpected", lambda r: f"{percent(r['reversed_share'])} %"),
            Column("n", "reversed\nsurely", reversed_pairs),
        )

    rows = ranks.table().reset_index(names="category").to_dict("records")
    return Table.of(
        columns(noun),
        rows,
        full=True,
        data=Table.of(columns("arm"), rows).content,
        caption=ranks.reversal_words(),
    )


def _strong(words: str, sure: bool) -> "str | Cell":
    return Cell(words, style="strong") if sure else words
