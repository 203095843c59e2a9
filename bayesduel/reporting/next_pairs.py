"""Report section: the most informative pairs to ask next."""

from typing import TYPE_CHECKING

from bayesduel.reporting.section import Section, Table, blocks
from bayesduel.text import percent

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["next_pairs_section"]


def next_pairs_section(pairs: "pd.DataFrame") -> Section:
    """Return the section on what :func:`bayesduel.next_pairs` returned."""
    if pairs.attrs["about"] == "winner":
        words = "One more duel of these pairs is expected to be most informative about the winner."
    else:
        words = (
            "The winner is known; one more duel of these pairs is expected to be most informative "
            "about all preferences together."
        )
    table = Table(
        columns="llnnn",
        heads=("first", "second", "first wins", "duels so far", "expected bits"),
        rows=tuple(
            (
                str(row["first"]),
                str(row["second"]),
                f"{percent(row['preference_mean'])} % "
                f"({percent(row['preference_lower'])} to {percent(row['preference_upper'])})",
                f"{row['duels']:,.0f}",
                f"{row['bits']:.3g}",
            )
            for row in pairs.to_dict("records")
        ),
        caption="Each pair is the best choice for a single further duel; fit again after asking.",
    )
    return Section(id="next", title="Most informative pairs", body=blocks(words, table))
