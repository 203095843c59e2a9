"""Print the rows of a benchmark as a table."""

from collections.abc import Sequence
from typing import Any

__all__ = ["cell_text", "show"]


def show(title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print `rows` under `title`; numbers keep three significant figures."""
    from rich.console import Console
    from rich.table import Table

    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = Table(title=title, title_justify="left")
    for column in columns:
        number = any(isinstance(row.get(column), float | int) for row in rows)
        table.add_column(column, justify="right" if number else "left")
    for row in rows:
        table.add_row(*(cell_text(row.get(column, "")) for column in columns))
    Console(width=120).print(table)


def cell_text(value: Any) -> str:
    """Return a value as shown in a table."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
