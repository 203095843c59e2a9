"""The table of a ranking: columns by name, of which pages and the terminal show some each."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.posterior.winners_record import winners_note
from bayesduel.reporting.section import Column, Section, Table, Text, blocks
from bayesduel.text import an, number_with_interval, percent, plural, rank_range

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.posterior.winners import Winners

__all__ = [
    "RANK_INTERVAL",
    "RATE",
    "bars",
    "columns_of",
    "rank_range_words",
    "ranking_table",
    "rating_words",
    "score_words",
    "winners_table_section",
]

# As in the glossary
RANK_INTERVAL = (
    "Rank interval: the central interval of the rank of one {}, without the other {} (pointwise)."
)
RATE = ("win_rate", "win_rate_lower", "win_rate_upper")
ROWS = 50  # arms that are shown of a result, two screens; the files have all
PRINTED = ("place", "arm", "all", "best", "joint ranks", "score", "top", "tier", "group")


def rank_range_words(noun: str = "arm") -> str:
    """Return what a joint rank range is, as in the glossary; `noun` is what an arm is called."""
    return (
        f"Rank range (joint): the ranks {an(noun)} can have, given the {plural(noun)} that surely "
        "rank above and below it."
    )


def columns_of(
    winners: "Winners", ratings: "pd.DataFrame | None" = None, noun: str = "arm"
) -> dict[str, Column]:
    """Return the columns by name; a row has ``place``, ``arm`` and what ``Winners.table`` has.

    `ratings` are what :func:`bayesduel.scores` returned, and `noun` is what an arm is called.
    """
    level = f"{100 * winners.attrs['confidence']:g} %"
    group = winners.groups()
    top = winners.attrs["k"]
    found = {
        "place": Column("n", "rank", "{place}"),
        "arm": Column("l", noun, "{arm}"),
        "all": Column("n", "beats\nall", lambda r: f"{percent(r['condorcet'])} %"),
        "best": Column("n", "best", lambda r: f"{percent(r['copeland'])} %"),
        "joint ranks": Column(
            "n",
            f"rank range [{level}]",
            lambda r: rank_range(r["rank_joint_lower"], r["rank_joint_upper"]),
        ),
        "mean": Column("n", "win\nrate", lambda r: f"{percent(r['win_rate'])} %"),
        "score": Column("n", f"win rate [{level}]", score_words),
        "top": Column("n", f"top {top}", lambda r: f"{percent(r[f'top_{top}'])} %"),
        "tier": Column("n", "tier", "{tier:.0f}"),
    }
    if ratings is not None:
        name = "rating" if "rating" in ratings else "score"
        head = f"{name} [{level}]"
        found["rating"] = Column("n", head, lambda r: rating_words(ratings.loc[r["arm"]]))
    if group is not None:
        found["group"] = Column("n", "group", lambda r: f"{group[r['arm']]}")
    return found


def winners_table_section(winners: "Winners") -> Section:
    """Return the section of what :func:`bayesduel.winners` returned: its first arms."""
    known = columns_of(winners, noun=winners.attrs.get("noun", "arm"))
    shown = [known[name] for name in PRINTED if name in known]
    left_out = winners.sizes["arm"] - ROWS
    more = f"... and {left_out:,} more (.table() has all)" if left_out > 0 else None
    table = ranking_table(winners, shown, ROWS, ruled=False, data=winners.table().reset_index())
    note = Text(winners_note(winners), "small")
    return Section(id="ranking", body=blocks(table, more, note))


def ranking_table(
    winners: "Winners", columns: Sequence[Column], shown: int, *, ruled: bool = True, **options: Any
) -> Table:
    """Return the table of the first arms of a ranking, by default with a rule between tiers."""
    frame = winners.table().head(shown)
    rules = np.flatnonzero(np.diff(frame["tier"].to_numpy())) if ruled else ()
    records = (
        {"place": place, "arm": str(arm), **row}
        for place, (arm, row) in enumerate(frame.iterrows(), 1)
    )
    return Table.of(columns, records, rules=tuple(int(k) + 1 for k in rules), **options)


def bars(mean: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[tuple[float, float, float]]:
    """Return left end, middle and width of intervals, in per cent of their common range."""
    least = min(low.min(), mean.min())
    most = max(high.max(), mean.max())
    per = 94 / (most - least if most > least else 1.0)
    return [
        (round(3 + per * (a - least), 1), round(3 + per * (m - least), 1), round(per * (b - a), 1))
        for m, a, b in zip(mean.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def score_words(r: Mapping[str, Any]) -> str:
    """Return a win rate with its interval."""
    mean, low, high = (percent(r[name]) for name in RATE)
    return f"{mean} % [{low}, {high}]"


def rating_words(row: Mapping[str, Any]) -> str:
    """Return a rating with its interval, or the score in the unit of the margins."""
    if "rating" in row:
        return f"{row['rating']:.0f} [{row['rating_lower']:.0f}, {row['rating_upper']:.0f}]"
    return number_with_interval(row["score_mean"], row["score_lower"], row["score_upper"])
