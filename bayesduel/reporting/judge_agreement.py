"""Report section: agreement of the judges, and the position bias of each."""

from typing import TYPE_CHECKING, Any

from bayesduel.reporting.section import Section, Table, blocks, frame_table
from bayesduel.text import SCREEN, first_rows, plural

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.posterior.judge_agreement import JudgeAgreement

__all__ = ["judge_agreement_section"]

GROUPS = {
    "within first": "within the first group",
    "within second": "within the second group",
    "between": "between the groups",
}


def judge_agreement_section(found: "JudgeAgreement | None", noun: str = "arm") -> Section | None:
    """Return the section on what :func:`bayesduel.judge_agreement` returned, or None.

    noun: what an arm is called.
    """
    if found is None:
        return None
    between = None
    if found.groups is not None:
        between = _groups(found.groups, found.unit, noun)
    body = blocks(found.sentence, between, _table(found, noun))
    return Section(id="judges", title="Judges", body=body)


def _groups(groups: "pd.DataFrame", unit: str, noun: str) -> Table:
    columns = (
        ("t", "agreement", lambda r: GROUPS[r["judges"]]),
        ("n", "units", "{units:,}"),
        ("n", "agree", lambda r: _share(r, "agreement")[0]),
        ("n", "95 % interval", lambda r: _share(r, "agreement")[1]),
    )
    return frame_table(
        groups,
        columns,
        name="groups",
        caption="Probability that the decided votes of two different judges on the same unit (a "
        f"{unit}) name the same {noun}, mean over units.",
    )


def _table(found: "JudgeAgreement", noun: str) -> Table:
    frame = found.table
    columns: list[tuple[Any, ...]] = [
        ("l", "judge", "{judge}"),
        ("n", "votes", "{votes:,}"),
        ("n", "units", "{units:,}"),
        ("n", "agrees", lambda r: _share(r, "agreement")[0]),
        ("n", "95 %\ninterval", lambda r: _share(r, "agreement")[1]),
        ("n", "others\nagree", lambda r: _share(r, "others")[0]),
    ]
    if "second" in frame:
        columns.append(("n", "group", "{group}"))
        columns.append(("n", "agrees with\nother group", lambda r: " ".join(_share(r, "second"))))
    left = ""
    if "left" in frame:
        columns.append(("n", "left\nwins", lambda r: _share(r, "left")[0]))
        columns.append(("n", "95 %\ninterval", lambda r: _share(r, "left")[1]))
        left = (
            " Left wins: probability that this judge votes for the left of two equal "
            f"{plural(noun)}; 50 % means no position bias."
        )
    more = first_rows(SCREEN.lines, len(frame), " judges")
    return frame_table(
        frame,
        columns,
        frame.head(SCREEN.lines),
        full=True,
        caption=f"Units: each a {found.unit}, shared with another judge. Agrees: with a decided "
        "vote of another judge on the same unit; a random vote agrees in 50 %. Others agree: "
        "the others among themselves, where two others voted on the unit. Those who agree least "
        f"in comparison are first.{left}{more}",
    )


def _share(row: "dict[str, float]", name: str) -> tuple[str, str]:
    """Return a share and its interval."""
    if row[name] != row[name]:
        return "\u2013", "\u2013"
    low, high = (row.get(f"{name}_{end}", float("nan")) for end in ("lower", "upper"))
    ends = "\u2013" if low != low else f"{100 * low:.0f} to {100 * high:.0f}"
    return f"{100 * row[name]:.0f} %", ends
