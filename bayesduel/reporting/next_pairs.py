"""Report section: how many duels would decide neighbours, and which pairs to ask about next."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.reporting.section import Block, Group, Section, Table, Text, blocks, frame_table
from bayesduel.text import SCREEN, count, first_rows, join, percent, plural

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["duels_in_words", "next_pairs_section"]


def next_pairs_section(
    neighbours: "pd.DataFrame", pairs: "pd.DataFrame | None", n_arms: int, noun: str = "arm"
) -> Section:
    """Return the section on the next duels.

    Of what :func:`bayesduel.duels_to_decide` returned of neighbours in the ranking, and
    :func:`bayesduel.next_pairs` of `pairs` (None where there are too many). `noun` is what an arm
    is called.
    """
    part = ""
    if len(neighbours) < n_arms - 1:
        part = f"The first {len(neighbours) + 1:,} of {n_arms:,} {plural(noun)} of the ranking."
    following: Block = Text(f"There are too many {plural(noun)} to choose the next pair.")
    if pairs is not None:
        following = Group("Which pair next", _pairs(pairs))
    return Section(
        id="next",
        title="Duels to decide",
        body=blocks(part, _words(neighbours), _neighbours(neighbours, noun), following),
    )


def duels_in_words(n: float) -> str:
    """Return a number of duels, to two digits above a hundred."""
    if not np.isfinite(n) or n >= 1e6:  # nobody casts as many on one pair
        return "> 1,000,000"
    if n >= 100:
        n = float(f"{n:.2g}")
    return f"{n:,.0f}"


def _words(neighbours: "pd.DataFrame") -> str:
    level = f"{100 * neighbours.attrs['confidence']:g} %"
    n = len(neighbours)
    decided = int(neighbours["decided"].sum())
    open_ = neighbours[~neighbours["decided"]]
    if open_.empty and n == 1:
        return f"The pair of neighbours in the ranking is decided at {level}."
    if open_.empty:
        return f"All {count(n, 'pair')} of neighbours in the ranking are decided at {level}."
    near = open_.loc[open_["median"].idxmin()]
    duels = duels_in_words(near["median"])
    return (
        f"{decided:,} of {count(n, 'pair')} of neighbours in the ranking "
        f"{'is' if decided == 1 else 'are'} decided at {level}. The open one that needs fewest "
        f"duels: {join([near['first'], near['second']])}, {duels} more "
        f"{'duel' if duels == '1' else 'duels'} of this pair (median)."
    )


def _neighbours(neighbours: "pd.DataFrame", noun: str) -> Table:
    def if_open(words: Callable[[Any], str], decided: str = "\u2013") -> Callable[[Any], str]:
        return lambda r: decided if r["decided"] else words(r)

    def quantiles(row: Any) -> str:
        middle, low, high = (duels_in_words(row[name]) for name in ("median", "lower", "upper"))
        return f"{middle} ({low} to {high})"

    rope = 100 * neighbours.attrs["rope"]
    columns = (
        ("l", "first", "{first}"),
        ("l", "second", "{second}"),
        ("n", "first is\nbetter", lambda r: f"{percent(r['beats_probability'])} %"),
        ("n", "duels\nso far", "{duels:,}"),
        ("n", "more duels,\nexpected", if_open(lambda r: duels_in_words(r["expected"]), "decided")),
        ("n", "median\n(10 % to 90 %)", if_open(quantiles)),
        ("n", "equal in\npractice", if_open(lambda r: f"{percent(r['equal_probability'])} %")),
    )
    return frame_table(
        neighbours,
        columns,
        neighbours.head(SCREEN.lines),
        full=True,
        caption=f"How many more duels of the pair make the posterior sure which {noun} is better "
        f"(at {100 * neighbours.attrs['confidence']:g} %), if they are independent and "
        "go as expected. Quantiles over the posterior of the difference, and the mean "
        "over differences that matter. Equal in practice: probability that the win "
        f"probability is within {rope:g} percentage points of 50 %. No number of duels "
        f"decides equal {plural(noun)}.{first_rows(SCREEN.lines, len(neighbours), ' pairs')}",
    )


def _pairs(pairs: "pd.DataFrame") -> tuple[Table]:
    if pairs.attrs["about"] == "winner":
        words = "One more duel of these pairs says most about who is the winner."
    else:
        words = "The winner is known; one more duel of these pairs says most about all preferences."

    def preference(row: Any) -> str:
        mean, low, high = (percent(row[f"preference_{end}"]) for end in ("mean", "lower", "upper"))
        return f"{mean} % ({low} to {high})"

    columns = (
        ("l", "first", "{first}"),
        ("l", "second", "{second}"),
        ("n", "first wins", preference),
        ("n", "duels so far", "{duels:,.0f}"),
    )
    table = frame_table(
        pairs,
        columns,
        name="pairs",
        caption=(
            f"{words} Pairs are in the order of expected information gain (in bits, in the "
            "files). Each pair is the best choice for a single further duel. Fit again after "
            "asking."
        ),
    )
    return (table,)
