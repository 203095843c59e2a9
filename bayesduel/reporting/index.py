"""The table of all logs at the head of a report on several, and what their tests say together."""

from collections.abc import Sequence
from typing import NamedTuple

from bayesduel.reporting.section import Cell, Section, Table, blocks
from bayesduel.text import percent

__all__ = ["IndexRow", "index_section"]


class IndexRow(NamedTuple):
    """One log in the table of all.

    Attributes
    ----------
    duels, arms
        Their numbers as text, "" where the log could not be analysed.
    verdict
        The main result, or why there is none.
    transitive
        Whether the test of transitivity lets a ranking stand; None where it was not made or cannot
        tell.
    """

    duels: str
    arms: str
    verdict: str
    transitive: bool | None = None


def index_section(labels: Sequence[str], rows: Sequence[IndexRow], note: str | None) -> Section:
    """Return the section that lists the parts of a report, with links and a further sentence."""
    cells = tuple(
        (Cell(label, href=f"#p{place}-verdict"), row.duels, row.arms, row.verdict)
        for place, (label, row) in enumerate(zip(labels, rows, strict=True), 1)
    )
    heads = ("log", "duels", "arms", "verdict")
    table = Table(columns="lnnt", heads=heads, rows=cells, full=True)
    words = together_words([row.transitive for row in rows])
    return Section(id="index", title="All logs", body=blocks(words, table, note))


def together_words(transitive: Sequence[bool | None]) -> str | None:
    """Return in how many logs a ranking is rejected, beside what chance alone would give."""
    from bayesduel.criticism.transitivity.evidence import LEVEL

    tested = [one for one in transitive if one is not None]
    rejected = tested.count(False)
    if not rejected or len(tested) < 2:
        return None
    return (
        f"A ranking is rejected in {rejected:,} of {len(tested):,} logs. Each log is tested on its "
        f"own, at {percent(LEVEL)} %: if one of the test's models of a ranking held in each, "
        f"chance alone would reject at most {LEVEL * len(tested):.2g} on average."
    )
