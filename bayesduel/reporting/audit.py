"""Report section: how fragile the ranking is, and whose votes are improbable."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.reporting.section import FIRST_ROWS, Section, Table, blocks, frame_table
from bayesduel.text import first_rows, join, plural, shorten

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.criticism.audit import Audit

__all__ = ["audit_section"]


def audit_section(found: "Audit", noun: str = "arm") -> Section:
    """Return the section on what :func:`bayesduel.audit` returned.

    noun: what an arm is called.
    """
    tables = [_fragility(found), _changed(found)]
    tables += [] if found.improbable is None else [_improbable(found, found.improbable, noun)]
    tables += [] if found.selection is None else [_selection(found, found.selection, noun)]
    tables += [] if found.stops is None else [_stops(found, found.stops)]
    return Section(id="audit", title="Audit", body=blocks(found.sentence, *tables))


def _fragility(found: "Audit") -> Table:
    def if_found(words: Callable[[Any], str], none: str = "–") -> Callable[[Any], str]:
        return lambda r: none if np.isnan(r["needed"]) else words(r)

    columns = (
        ("l", "change", _change),
        ("n", "fewest found", if_found(lambda r: f"{r['needed']:,.0f}", "none found")),
        ("n", "share", if_found(lambda r: f"{100 * r['share']:.2g} %")),
        ("t", "then ahead", if_found(lambda r: join(r["new"]))),
        ("n", "of", "{of:,}"),
    )
    return frame_table(
        found.fragility,
        columns,
        full=True,
        name="fragility",
        caption=(
            f"The smallest numbers found that change {found.goal}, now {join(found.ahead)}. "
            "Each is confirmed by another fit. Another choice may need even fewer."
        ),
    )


def _changed(found: "Audit") -> Table:
    first = found.changed.groupby(["by", "change"], sort=False).head(3)
    columns = (("l", "change", _change), ("l", "what", "{item}"), ("n", "votes", "{votes:,}"))
    caption = "The first three of each row above."
    return frame_table(found.changed, columns, first, name="changed", caption=caption)


def _improbable(found: "Audit", frame: "pd.DataFrame", noun: str) -> Table:
    kinds = frame["by"].unique()
    several = len(kinds) > 1
    first = frame.groupby("by", sort=False).head(FIRST_ROWS)
    columns = (
        ("l", "level", "{by} {level}") if several else ("l", str(kinds[0]), "{level}"),
        ("n", "votes", "{votes:,}"),
        ("l", f"{noun} most\nout of line", lambda r: shorten(r["arm"])),
        ("n", "points", "{points:g} of {duels:,}"),
        ("n", "expected", "{expected:.1f}"),
        ("n", "p", "{p_value:.2g}"),
        ("l", "improbable", lambda r: "yes" if r["flagged"] else ""),
    )
    return frame_table(
        frame,
        columns,
        first,
        full=True,
        name="improbable",
        caption=(
            "The votes of each, given the votes of all others. The most improbable are "
            "first. p is an upper bound. The familywise error rate of yes is "
            f"{100 * found.alpha:g} %.{first_rows(len(first), len(frame))}"
        ),
    )


def _selection(found: "Audit", frame: "pd.DataFrame", noun: str) -> Table:
    def interval(name: str) -> str:
        return f"{{{name}:.2f}} [{{{name}_lower:.2f}}, {{{name}_upper:.2f}}]"

    columns = (
        ("l", "family", "{family}"),
        ("l", "best", "{best}"),
        ("n", "lead", interval("lead")),
        ("n", "selection", interval("selection")),
        ("n", "lead without", interval("lead_pooled")),
        ("n", "lead of the mean", interval("family_lead")),
    )
    return frame_table(
        frame.reset_index(names="family"),
        columns,
        full=True,
        name="selection",
        caption=(
            f"In {found.unit}, over the best {noun} outside the family, each with its "
            f"{100 * found.ci_prob:g} % interval. Selection: the part of the lead that "
            "disappears if the differences between variants are partially pooled."
        ),
    )


def _stops(found: "Audit", frame: "pd.DataFrame") -> Table:
    def announced(row: Any) -> str:
        return "wrongly" if row["wrong"] else "yes" if row["announced"] else "no"

    columns = (
        ("n", "first votes", "{votes:,}"),
        ("l", "leader", "{leader}"),
        ("n", "probability", lambda r: "–" if np.isnan(p := r["probability"]) else f"{p:.2f}"),
        ("l", "announced", announced),
    )
    return frame_table(
        frame,
        columns,
        name="stops",
        caption="The result if the log had ended after each tenth. A winner is announced if "
        f"its probability of being the best is above {found.confidence:g}. It is wrong "
        "if the last row names another. Votes count as independent, also those of one "
        "judge.",
    )


def _change(row: Any) -> str:
    return f"{plural(row['by'])} {row['change']}"
