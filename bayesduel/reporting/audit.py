"""Report section: how fragile the ranking is, and whose votes are improbable."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesduel.reporting.section import Section, Table, blocks
from bayesduel.text import first_rows, join, plural, shorten

if TYPE_CHECKING:
    from bayesduel.criticism.audit import Audit

__all__ = ["audit_section"]

ROWS = 10  # of a table on the page; its files have all


def audit_section(found: "Audit") -> Section:
    """Return the section on what :func:`bayesduel.audit` returned."""
    tables = [_fragility(found), _changed(found)]
    tables += [] if found.improbable is None else [_improbable(found, found.improbable)]
    tables += [] if found.selection is None else [_selection(found, found.selection)]
    tables += [] if found.stops is None else [_stops(found, found.stops)]
    return Section(id="audit", title="Audit", body=blocks(found.sentence, *tables))


def _fragility(found: "Audit") -> Table:
    rows = tuple(
        (
            f"{plural(row['by'])} {row['change']}",
            *(
                ("none found", "–", "–")
                if np.isnan(row["needed"])
                else (f"{row['needed']:,.0f}", f"{100 * row['share']:.2g} %", join(row["new"]))
            ),
            f"{row['of']:,}",
        )
        for row in found.fragility.to_dict("records")
    )
    return Table(
        columns="lnntn",
        heads=("change", "fewest found", "share", "then ahead", "of"),
        rows=rows,
        full=True,
        name="fragility",
        caption=f"How few change {found.goal}, now {join(found.ahead)}; each confirmed by fitting "
        "again. Proposed by influence, so that another choice may need fewer still.",
        data=_data(found.fragility),
    )


def _changed(found: "Audit") -> Table:
    frame = found.changed
    return Table(
        columns="lln",
        heads=("change", "what", "votes"),
        rows=tuple(
            (f"{plural(row['by'])} {row['change']}", str(row["item"]), f"{row['votes']:,}")
            for (_, _), part in frame.groupby(["by", "change"], sort=False)
            for row in part.head(3).to_dict("records")
        ),
        name="changed",
        caption="Which these are, the first three of each.",
        data=_data(frame),
    )


def _improbable(found: "Audit", frame: pd.DataFrame) -> Table:
    columns = frame["by"].unique()
    several, first = len(columns) > 1, frame.groupby("by", sort=False).head(ROWS)
    return Table(
        columns="lnlnnnl",
        heads=(
            "level" if several else str(columns[0]),
            "votes",
            "arm most\nout of line",
            "points",
            "expected",
            "p",
            "improbable",
        ),
        rows=tuple(
            (
                f"{row['by']} {row['level']}" if several else str(row["level"]),
                f"{row['votes']:,}",
                shorten(row["arm"]),
                f"{row['points']:g} of {row['duels']:,}",
                f"{row['expected']:.1f}",
                f"{row['p_value']:.2g}",
                "yes" if row["flagged"] else "",
            )
            for row in first.to_dict("records")
        ),
        full=True,
        name="improbable",
        caption="Votes of each given all others', the most improbable first; p is an upper "
        f"bound, and the familywise error rate of yes is {100 * found.alpha:g} %."
        f"{first_rows(len(first), len(frame))}",
        data=_data(frame),
    )


def _selection(found: "Audit", frame: pd.DataFrame) -> Table:
    names = ("lead", "selection", "lead_pooled", "family_lead")
    return Table(
        columns="llnnnn",
        heads=("family", "best", "lead", "selection", "lead without", "lead of the mean"),
        rows=tuple(
            (str(family), str(row["best"]), *(_interval(row, name) for name in names))
            for family, row in frame.iterrows()
        ),
        full=True,
        name="selection",
        caption=f"In {found.unit}, over the best arm outside the family, each with its "
        f"{100 * found.ci_prob:g} % interval. Selection: how far the best of the variants moves "
        "towards them when their differences are partially pooled.",
        data={"family": frame.index.to_numpy(), **_data(frame)},
    )


def _stops(found: "Audit", frame: pd.DataFrame) -> Table:
    rows = tuple(
        (
            f"{row['votes']:,}",
            str(row["leader"]),
            "–" if np.isnan(row["probability"]) else f"{row['probability']:.2f}",
            "wrongly" if row["wrong"] else "yes" if row["announced"] else "no",
        )
        for row in frame.to_dict("records")
    )
    return Table(
        columns="nlnl",
        heads=("first votes", "leader", "probability", "announced"),
        rows=rows,
        name="stops",
        caption="Had the log ended after each tenth of it: announced where the probability of "
        f"being the best is above {found.confidence:g}, wrongly where the last row names another. "
        "Votes count as independent, also those of one judge.",
        data=_data(frame),
    )


def _interval(row: Any, name: str) -> str:
    return f"{row[name]:.2f} [{row[f'{name}_lower']:.2f}, {row[f'{name}_upper']:.2f}]"


def _data(frame: pd.DataFrame) -> dict[str, Any]:
    return {str(name): frame[name].to_numpy() for name in frame}
