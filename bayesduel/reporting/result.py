"""What a result prints in a terminal, and shows in a notebook: its section of a report."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesduel.reporting.panel import panel_section
from bayesduel.text import SCREEN

if TYPE_CHECKING:
    from bayesduel.reporting.section import Section
    from bayesduel.text import Result

__all__ = ["lines_of", "section_of"]

SECTIONS: Mapping[str, Callable[[Any], "Section"]] = {  # by the class of the result
    "Panel": panel_section,
}


def section_of(found: "Result") -> "Section | None":
    """Return the section of a report on a result, or None for one that has no tables."""
    made = SECTIONS.get(type(found).__name__)
    return None if made is None else made(found)


def lines_of(section: "Section") -> list[str]:
    """Return the lines of the tables of a section as a terminal shows them, without notes."""
    from rich.console import Console

    console = Console(width=SCREEN[1], markup=False, highlight=False, color_system=None)
    with console.capture() as shown:
        for table in section.tables.values():
            console.print(replace(table, caption=""))
            console.print()
    return [line.rstrip() for line in shown.get().rstrip().split("\n")]
