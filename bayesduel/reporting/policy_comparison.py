"""Table of policies compared by their regret, as it is printed."""

from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.reporting.section import RESULT_ROWS, Section, Table, Text, blocks
from bayesduel.text import LEAST_P, count, number_with_interval, significant

if TYPE_CHECKING:
    from bayesduel.records import Record

__all__ = ["comparison_notes", "policy_comparison_section"]


def policy_comparison_section(found: "Record") -> Section:
    """Return the section on what :func:`bayesduel.compare_policies` returned."""
    level = f"{100 * found.attrs['ci_prob']:g} %"
    columns: list[tuple[Any, ...]] = [
        ("l", "policy", "{policy}"),
        ("n", f"ratio [{level}]", _ratio),
        ("n", "p", _p),
        ("n", "less regret", _less),
    ]
    frame = found.drop_dims("ratio_at").to_dataframe().reset_index()
    rows = frame.head(RESULT_ROWS).to_dict("records")
    left_out = len(frame) - RESULT_ROWS
    more = f"... and {count(left_out, 'more row')}." if left_out > 0 else None
    note = Text(" ".join(comparison_notes(found)), "small")
    return Section(id="policies", body=blocks(Table.of(columns, rows), more, note))


def comparison_notes(found: "Record") -> list[str]:
    """Return what the columns of the table are, in sentences."""
    reference = found.attrs["reference"]
    words = [
        f"Ratio: the regret divided by that of {reference} in the same run, median. Below 1 is "
        "better.",
        "p: sign test of a ratio of 1, corrected for the number of policies. The interval is not "
        "corrected, so it may exclude 1 where p is not small.",
        f"Less regret: the share of runs with less regret than {reference}; an equal run counts "
        "half.",
    ]
    if not np.isfinite(found["ratio_high"].values).all():
        words.append("A ratio without an interval has too few runs or problems for one.")
    return words


def _ratio(row: Any) -> str:
    """Return a ratio with its interval; alone where there are too few runs for an interval.

    The reference is the one without a p-value.
    """
    if isnan(row["p_adjusted"]):
        return "1 (reference)"
    if not isfinite(row["ratio_high"]):
        return significant(row["ratio"], 3) if isfinite(row["ratio"]) else f"{row['ratio']}"
    return number_with_interval(row["ratio"], row["ratio_low"], row["ratio_high"])


def _less(row: Any) -> str:
    """Return the share of runs with less regret, nothing for the reference."""
    return "" if isnan(row["p_adjusted"]) else f"{100 * row['lower']:.0f} %"


def _p(row: Any) -> str:
    """Return a p-value, nothing for the reference."""
    if isnan(row["p_adjusted"]):
        return ""
    return f"< {LEAST_P}" if row["p_adjusted"] < LEAST_P else f"{row['p_adjusted']:.2g}"
