"""What a result prints in a terminal, and shows in a notebook: its section of a report."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesduel.reporting.audit import audit_section
from bayesduel.reporting.category_ranks import category_ranks_section
from bayesduel.reporting.coefficients import coefficients_table_section
from bayesduel.reporting.generalizability import generalizability_section
from bayesduel.reporting.judge_agreement import judge_agreement_section
from bayesduel.reporting.panel import panel_section
from bayesduel.reporting.policy_comparison import policy_comparison_section
from bayesduel.reporting.predict import predictions_section
from bayesduel.reporting.ranking_table import winners_table_section
from bayesduel.reporting.sources import sources_section
from bayesduel.reporting.top_k import top_k_section
from bayesduel.text import SCREEN

if TYPE_CHECKING:
    from bayesduel.reporting.section import Section

__all__ = ["lines_of", "section_of"]

SECTIONS: Mapping[str, Callable[[Any], "Section | None"]] = {  # by the class of the result
    "Audit": audit_section,
    "CategoryRanks": category_ranks_section,
    "Coefficients": coefficients_table_section,
    "Generalizability": generalizability_section,
    "JudgeAgreement": judge_agreement_section,
    "Panel": panel_section,
    "PolicyComparison": policy_comparison_section,
    "Predictions": predictions_section,
    "SourceAgreement": sources_section,
    "TopKSets": top_k_section,
    "Winners": winners_table_section,
}


def section_of(found: Any) -> "Section | None":
    """Return the section of a report on a result, or None for one that has no tables."""
    made = SECTIONS.get(type(found).__name__)
    return None if made is None else made(found)


def lines_of(section: "Section") -> list[str]:
    """Return the lines of the tables of a section as a terminal shows them, without notes."""
    from rich.console import Console

    console = Console(width=SCREEN.columns, markup=False, highlight=False, color_system=None)
    with console.capture() as shown:
        for table in section.tables.values():
            console.print(replace(table, caption=""))
            console.print()
    return [line.rstrip() for line in shown.get().rstrip().split("\n")]
