"""Table of what the terms of a model count for, as it is printed."""

from math import isfinite
from typing import TYPE_CHECKING, Any

from bayesduel.reporting.section import RESULT_ROWS, Section, Table, Text, blocks
from bayesduel.text import count, number_with_interval, percent

if TYPE_CHECKING:
    from bayesduel.posterior.coefficients import Coefficients

__all__ = ["coefficients_table_section"]


def coefficients_table_section(found: "Coefficients") -> Section:
    """Return the section on what :func:`bayesduel.coefficients` returned."""
    columns: list[tuple[Any, ...]] = [
        ("l", "name", "{name}"),
        ("l", "term", "{term}"),
        ("n", "coefficient", lambda row: _estimate(row, "coefficient", "")),
    ]
    if "positive" in found:
        columns += [
            ("n", "positive", _positive),
            ("n", "odds ratio", lambda row: _estimate(row, "odds_ratio", "odds_ratio_")),
        ]
    rows = found.head(RESULT_ROWS).reset_index(names="name").to_dict("records")
    more = (
        f"... and {count(len(found) - RESULT_ROWS, 'more row')}."
        if len(found) > RESULT_ROWS
        else None
    )
    level = f"{100 * found.attrs['ci_prob']:g} % intervals."
    words = f"{level} The unit of a coefficient is that of the scores."
    if "positive" in found:
        words += " Positive: probability that the coefficient is above 0."
        words += " Odds ratio: of a win, for one unit more."
    return Section(
        id="coefficients", body=blocks(Table.of(columns, rows), more, Text(words, "small"))
    )


def _estimate(row: Any, name: str, ends: str) -> str:
    """Return a number with its interval, nothing where it is not defined."""
    if not isfinite(row[name]):
        return ""
    return number_with_interval(row[name], row[f"{ends}lower"], row[f"{ends}upper"])


def _positive(row: Any) -> str:
    """Return the probability that an effect is above 0, nothing for what is not an effect."""
    return f"{percent(row['positive'])} %" if isfinite(row["positive"]) else ""
