"""Report section: agreement of the judges, and the position bias of each."""

from typing import TYPE_CHECKING

from bayesduel.reporting.section import Section, Table, blocks
from bayesduel.text import first_rows

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.posterior.judge_agreement import JudgeAgreement

__all__ = ["judge_agreement_section"]

ROWS = 30  # of the table on the page; its files have all
GROUPS = {
    "within first": "within the first group",
    "within second": "within the second group",
    "between": "between the groups",
}


def judge_agreement_section(found: "JudgeAgreement | None") -> Section | None:
    """Return the section on what :func:`bayesduel.judge_agreement` returned, or None."""
    if found is None:
        return None
    between = None
    if found.groups is not None:
        between = _groups(found.groups, found.unit)
    return Section(id="judges", title="Judges", body=blocks(found.sentence, between, _table(found)))


def _groups(groups: "pd.DataFrame", unit: str) -> Table:
    return Table(
        columns="tnnn",
        heads=("agreement", "units", "agree", "95 % interval"),
        rows=tuple(
            (GROUPS[row["judges"]], f"{row['units']:,}", *_share(row, "agreement"))
            for row in groups.to_dict("records")
        ),
        name="groups",
        caption="Probability that the decided votes of two different judges on the same unit (a "
        f"{unit}) name the same arm, mean over units.",
        data={name: groups[name].to_numpy() for name in groups},
    )


def _table(found: "JudgeAgreement") -> Table:
    frame = found.table
    biased, grouped = "left" in frame, "second" in frame
    rows = []
    for row in frame.head(ROWS).to_dict("records"):
        cells = [
            str(row["judge"]),
            f"{row['votes']:,}",
            f"{row['units']:,}",
            *_share(row, "agreement"),
            _share(row, "others")[0],
        ]
        if grouped:
            cells += [str(row["group"]), " ".join(_share(row, "second"))]
        if biased:
            cells += _share(row, "left")
        rows.append(tuple(cells))
    heads = ["judge", "votes", "units", "agrees", "95 %\ninterval", "others\nagree"]
    heads += ["group", "agrees with\nother group"] * grouped
    heads += ["left\nwins", "95 %\ninterval"] * biased
    left = ""
    if biased:
        left = (
            " Left wins: probability that this judge votes for the left of two equal arms; 50 % "
            "is no position bias."
        )
    more = first_rows(ROWS, len(frame), " judges")
    return Table(
        columns="l" + "n" * (len(heads) - 1),
        heads=tuple(heads),
        rows=tuple(rows),
        full=True,
        caption=f"Units: each a {found.unit}, shared with another judge. Agrees: with a decided "
        "vote of another judge on the same unit; a random vote agrees in 50 %. Others agree: "
        "the others among themselves, where two others voted on the unit. Those who agree least "
        f"in comparison are first.{left}{more}",
        data={name: frame[name].to_numpy() for name in frame},
    )


def _share(row: "dict[str, float]", name: str) -> tuple[str, str]:
    """Return a share and its interval."""
    if row[name] != row[name]:
        return "\u2013", "\u2013"
    low, high = (row.get(f"{name}_{end}", float("nan")) for end in ("lower", "upper"))
    ends = "\u2013" if low != low else f"{100 * low:.0f} to {100 * high:.0f}"
    return f"{100 * row[name]:.0f} %", ends
