"""Reports: sections of text, tables and figures, and one renderer."""

from bayesduel.reporting.report import (
    report,
)

__all__ = [
    "report",
]
