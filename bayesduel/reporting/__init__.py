"""Reports: sections of text, tables and figures, and one renderer."""

from bayesduel.reporting.attributes import AttributeAnalysis, analyse_attributes
from bayesduel.reporting.report import report, sections
from bayesduel.reporting.section import Section, Table

__all__ = [
    "AttributeAnalysis",
    "Section",
    "Table",
    "analyse_attributes",
    "report",
    "sections",
]
