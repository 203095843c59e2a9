"""Report section: how many duels would decide neighbours, and which pairs to ask about next."""

from typing import TYPE_CHECKING

import numpy as np

from bayesduel.reporting.section import Block, Group, Section, Table, Text, blocks
from bayesduel.text import count, first_rows, join, percent

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["duels_in_words", "next_pairs_section"]

ROWS = 30  # neighbours on the page; the files have all
MANY = 1e6  # duels above which the number is not written


def next_pairs_section(
    neighbours: "pd.DataFrame", pairs: "pd.DataFrame | None", n_arms: int
) -> Section:
    """Return the section on the next duels.

    Of what :func:`bayesduel.duels_to_decide` returned of neighbours in the ranking, and
    :func:`bayesduel.next_pairs` of `pairs` (None where there are too many).
    """
    part = ""
    if len(neighbours) < n_arms - 1:
        part = f"The first {len(neighbours) + 1:,} of {n_arms:,} arms of the ranking."
    following: Block = Text("The next pair is not chosen among so many arms.")
    if pairs is not None:
        following = Group("Which pair next", _pairs(pairs))
    return Section(
        id="next",
        title="Duels to decide",
        body=blocks(part, _words(neighbours), _neighbours(neighbours), following),
    )


def duels_in_words(n: float) -> str:
    """Return a number of duels, to two digits above a hundred."""
    if not np.isfinite(n) or n >= MANY:
        return "> 1,000,000"
    if n >= 100:
        n = float(f"{n:.2g}")
    return f"{n:,.0f}"


def _words(neighbours: "pd.DataFrame") -> str:
    level = f"{100 * neighbours.attrs['confidence']:g} %"
    n, decided = len(neighbours), int(neighbours["decided"].sum())
    open_ = neighbours[~neighbours["decided"]]
    if open_.empty and n == 1:
        return f"The pair of neighbours in the ranking is decided at {level}."
    if open_.empty:
        return f"All {count(n, 'pair')} of neighbours in the ranking are decided at {level}."
    near = open_.loc[open_["median"].idxmin()]
    return (
        f"{decided:,} of {count(n, 'pair')} of neighbours in the ranking "
        f"{'is' if decided == 1 else 'are'} decided at {level}. The open one that needs fewest "
        f"duels: {join([near['first'], near['second']])}, {duels_in_words(near['median'])} more "
        "duels of this pair (median)."
    )


def _neighbours(neighbours: "pd.DataFrame") -> Table:
    rope = 100 * neighbours.attrs["rope"]
    rows = tuple(
        (
            str(row["first"]),
            str(row["second"]),
            f"{percent(row['beats_probability'])} %",
            f"{row['duels']:,}",
            *(
                ("decided", "\u2013", "\u2013")
                if row["decided"]
                else (
                    duels_in_words(row["expected"]),
                    f"{duels_in_words(row['median'])} "
                    f"({duels_in_words(row['lower'])} to {duels_in_words(row['upper'])})",
                    f"{percent(row['equal_probability'])} %",
                )
            ),
        )
        for row in neighbours.head(ROWS).to_dict("records")
    )
    return Table(
        columns="llnnnnn",
        heads=(
            *("first", "second", "first is\nbetter", "duels\nso far", "more duels,\nexpected"),
            *("median\n(10 % to 90 %)", "equal in\npractice"),
        ),
        rows=rows,
        full=True,
        caption="More duels of the pair after which the posterior would be sure which arm is "
        f"better (at {100 * neighbours.attrs['confidence']:g} %), if they are independent "
        "and fall as expected: quantiles over the posterior of the difference, and the mean over "
        "differences that matter. Equal in practice: probability that the win probability is "
        f"within {rope:g} percentage points of 50 %; no number of duels decides equal arms."
        f"{first_rows(ROWS, len(neighbours), ' pairs')}",
        data={name: neighbours[name].to_numpy() for name in neighbours},
    )


def _pairs(pairs: "pd.DataFrame") -> tuple[Table]:
    if pairs.attrs["about"] == "winner":
        words = "One more duel of these pairs says most about who is the winner."
    else:
        words = "The winner is known; one more duel of these pairs says most about all preferences."
    table = Table(
        columns="llnn",
        heads=("first", "second", "first wins", "duels so far"),
        rows=tuple(
            (
                str(row["first"]),
                str(row["second"]),
                f"{percent(row['preference_mean'])} % "
                f"({percent(row['preference_lower'])} to {percent(row['preference_upper'])})",
                f"{row['duels']:,.0f}",
            )
            for row in pairs.to_dict("records")
        ),
        name="pairs",
        caption=f"{words} By expected information gain, the largest first (in bits, in the "
        "files). Each pair is the best choice for a single further duel; fit again after asking.",
        data={name: pairs[name].to_numpy() for name in pairs},
    )
    return (table,)
