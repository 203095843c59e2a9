"""Report section: the leaderboard, one row an arm, and the comparison of two of them."""

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.reporting.ranking import against_words, order_words, score_name
from bayesduel.reporting.section import Block, Cell, Compare, Section, Table, Text, blocks
from bayesduel.system.memory import TABLE_ARMS
from bayesduel.text import count, percent, rank_range

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.data.duels import Duels
    from bayesduel.posterior.winners import Winners

__all__ = ["leaderboard_section"]

LISTED = 1000  # arms on the page, of more than TABLE_ARMS: the files have all
PAIRED = 60  # arms up to which the page holds the numbers of every pair


def leaderboard_section(
    winners: "Winners",
    duels: "Duels",
    scores: "pd.DataFrame | None" = None,
    pairs: "Winners | None" = None,
    note: str = "",
) -> Section:
    """Return the section that a reader sees first: ranks, ratings with intervals, duels, tiers.

    Parameters
    ----------
    winners, duels
        The winners, and the log.
    scores
        What :func:`bayesduel.scores` returned, for ratings; default: win rates.
    pairs
        Winners of the model that the probabilities of pairs are read from. Default: `winners`.
    note
        A sentence before the table, in bold, or "".
    """
    rated = scores is not None and "rating" in scores
    ratings = scores if rated else None
    return Section(
        id="ranking",
        title="Leaderboard",
        body=blocks(
            Text(note, "alarm") if note else None,
            _table(winners, duels, ratings),
            *_comparison(winners, duels, ratings, winners if pairs is None else pairs),
        ),
    )


# -- in calling order ----------------------------------------------------------------------


def _table(winners: "Winners", duels: "Duels", ratings: "pd.DataFrame | None") -> Table:
    frame, n_duels, group = winners.table(), duels.summary()["duels"], winners.groups()
    level = f"{100 * winners.attrs['confidence']:g} %"
    n_arms, tier = len(frame), frame["tier"].to_numpy()
    shown = LISTED if n_arms > TABLE_ARMS else n_arms
    frame = frame.head(shown)
    if ratings is None:
        name, words = score_name(winners), f"{against_words(winners)} (Borda score)"
        mean, low, high = (100 * frame[f"borda_{k}"].to_numpy() for k in ("mean", "lower", "upper"))
        told = [f"{percent(p / 100)} %" for p in mean]
        ends = [f"{percent(a / 100)} to {percent(b / 100)}" for a, b in zip(low, high, strict=True)]
    else:
        name, words = "rating", f"Elo points, see Scores; the average arm has {_origin(ratings)}"
        of = ratings.loc[frame.index]
        mean, low, high = (of[f"rating{k}"].to_numpy() for k in ("", "_lower", "_upper"))
        told = [f"{x:.0f}" for x in mean]
        ends = [f"{a:.0f} to {b:.0f}" for a, b in zip(low, high, strict=True)]
    tiered, names = tier.max() > 1, _links(map(str, frame.index))
    rows = tuple(
        (
            f"{place}",
            Cell(str(arm), id=names[str(arm)]),
            told[place - 1],
            Cell(ends[place - 1], bar=bar),
            rank_range(row["rank_lower"], row["rank_upper"]),
            f"{n_duels[arm]:,.0f}",
            *((f"{row['tier']:.0f}",) if tiered else ()),
            *((f"{group[str(arm)]}",) if group else ()),
        )
        for place, ((arm, row), bar) in enumerate(
            zip(frame.iterrows(), _bars(mean, low, high), strict=True), 1
        )
    )
    heads = ("rank", "arm", name, f"{level} interval", f"rank interval\n({level})", "duels")
    more = f" The first {shown:,} of {n_arms:,} arms; the files have all." * (shown < n_arms)
    return Table(
        columns="nlnbnn" + "n" * (len(heads) - 6 + tiered + bool(group)),
        heads=(*heads, *(("tier",) if tiered else ()), *(("group",) if group else ())),
        rows=rows,
        rules=tuple(int(k) + 1 for k in np.flatnonzero(np.diff(tier[:shown]))),
        full=True,
        caption=f"{name.capitalize()}: {words}. Rank interval ({level}): pointwise, for each "
        "arm on its own; joint rank ranges are under Win rates and tiers."
        f"{order_words(mean)}{more}",
        data=_data(winners, duels, ratings),
        search="arm" if shown < n_arms else "",
        board=True,
    )


def _origin(ratings: "pd.DataFrame") -> str:
    return f"{ratings['rating'].mean():.0f}"


def _links(arms: Iterable[str]) -> dict[str, str]:
    """Return the name of each arm in links: ASCII letters, digits and hyphens, all different."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for arm in arms:
        plain = re.sub(r"[^a-z0-9]+", "-", arm.lower()).strip("-")[:40] or "x"
        free = (f"arm-{plain}{'-' * (k > 1)}{k if k > 1 else ''}" for k in itertools.count(1))
        found[arm] = next(name for name in free if name not in taken)
        taken.add(found[arm])
    return found


def _bars(mean: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[tuple[float, float, float]]:
    """Return left end, middle and width of intervals, in per cent of their common range."""
    least, most = min(low.min(), mean.min()), max(high.max(), mean.max())
    per = 94 / (most - least if most > least else 1.0)
    return [
        (round(3 + per * (a - least), 1), round(3 + per * (m - least), 1), round(per * (b - a), 1))
        for m, a, b in zip(mean.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def _data(winners: "Winners", duels: "Duels", ratings: "pd.DataFrame | None") -> Mapping[str, Any]:
    """Return the columns of its files, numbers not rounded."""
    frame, counts = winners.table(), duels.summary()
    best = winners["winner_share"].sel(criterion="copeland").to_series()
    rated = {} if ratings is None else ratings.loc[frame.index].filter(like="rating")
    return {
        "rank": range(1, len(frame) + 1),
        "arm": list(frame.index),
        **{name: rated[name].to_numpy() for name in rated},
        **{str(name): frame[name].to_numpy() for name in frame},
        "copeland_share": best[frame.index].to_numpy(),
        **{name: counts.loc[frame.index, name].to_numpy() for name in counts},
    }


def _comparison(
    winners: "Winners", duels: "Duels", ratings: "pd.DataFrame | None", pairs: "Winners"
) -> tuple[Block, ...]:
    """Return the block in which a reader compares two arms; of many, by their ratings."""
    order = winners["order"].values
    arms = [str(arm) for arm in winners["arm"].values[order]]
    n = len(arms)
    if n > PAIRED or "preference_mean" not in pairs:
        if ratings is None or pairs is not winners or n > TABLE_ARMS:
            words = f"Two arms cannot be compared here: the page holds pairs of {PAIRED} arms."
            return (Text(words, "small"),)
        rating = [round(float(x), 1) for x in ratings.loc[arms, "rating"]]
        words = f"With more than {count(PAIRED, 'arm')}, the comparison is by ratings alone."
        return (Compare({"arms": arms, "rating": rating}), Text(words, "small"))
    first, second = np.triu_indices(n, 1)
    model, logged = (
        np.array([[str(label) for label in labels].index(arm) for arm in arms])
        for labels in (pairs["arm"].values, duels.arms)
    )
    (wins, ties), i, j = duels.tally(), logged[first], logged[second]
    found: dict[str, list[float]] = {
        end: pairs[f"preference_{end}"].values[model[first], model[second]].round(3).tolist()
        for end in ("mean", "lower", "upper")
    }
    counted = {"won": wins[i, j], "lost": wins[j, i], "tied": ties[i, j]}
    found |= {name: np.asarray(values).tolist() for name, values in counted.items()}
    return (Compare({"arms": arms, "pairs": found, "ties": bool(duels.n_ties)}),)
