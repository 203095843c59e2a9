"""Report section: the k best arms, and each arm's probability to be among them."""

from typing import TYPE_CHECKING, Any

from bayesduel.reporting.section import Section, Table, Text, blocks, frame_table
from bayesduel.text import CELL, SCREEN, percent, shorten

if TYPE_CHECKING:
    from bayesduel.posterior.top_k import TopKSets

__all__ = ["top_k_section"]


def top_k_section(found: "TopKSets") -> Section:
    """Return the section on what :func:`bayesduel.top_k` returned."""
    how = (
        f"By {found.ranked_by} of the model {found.model}; {found.n_sets:,} different sets in "
        f"{found.n_draws:,} draws."
    )
    left_out = len(found.members) - SCREEN.lines
    more = f"... and {left_out} more: --json has all" if left_out > 0 else None
    return Section(
        id="top-k",
        body=blocks(
            Text(found.sentence, "strong"), Text(how, "small"), _sets(found), _arms(found), more
        ),
    )


def _probability(row: Any) -> str:
    return f"{percent(row['probability'])} %"


def _sets(found: "TopKSets") -> Table:
    columns = (
        ("n", "probability", _probability),
        ("t", f"top {found.k}", lambda r: ", ".join(shorten(arm, CELL) for arm in r["arms"])),
    )
    texts = found.sets.assign(arms=[", ".join(arms) for arms in found.sets["arms"]])
    return frame_table(texts, columns, found.sets, name="sets")


def _arms(found: "TopKSets") -> Table:
    columns = (
        ("l", "arm", "{arm}"),
        ("n", f"in the top {found.k}", _probability),
        ("n", "mean rank", "{rank_mean:.1f}"),
    )
    members = found.members.reset_index(names="arm")
    return frame_table(members, columns, members.head(SCREEN.lines), name="arms")
