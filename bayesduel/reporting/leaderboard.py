"""Report section: the leaderboard, one row per arm, and the comparison of two arms."""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.intervals import eti
from bayesduel.models import TimeVarying
from bayesduel.posterior.verdict import across_words
from bayesduel.reporting.ranking import PAIRED, against_words, order_words
from bayesduel.reporting.ranking_table import RANK_INTERVAL, bars
from bayesduel.reporting.section import Block, Cell, Compare, Section, Table, Text, blocks
from bayesduel.system.memory import TABLE_ARMS
from bayesduel.text import count, first_rows, percent, plural, rank_range

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesduel.data.duels import Duels
    from bayesduel.posterior.winners import Winners

__all__ = ["VIEWED", "counts_of_pairs", "leaderboard_section", "page_names", "period_views"]

VIEWED = 3000  # arms times categories or periods up to which a page has a leaderboard of each
RATING = ("rating", "rating_lower", "rating_upper")
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])")  # that name no file on Windows


def leaderboard_section(
    winners: "Winners",
    duels: "Duels",
    scores: "pd.DataFrame | None" = None,
    note: str = "",
    noun: str = "arm",
    views: "Mapping[str, pd.DataFrame] | None" = None,
    whole: str = "all",
) -> Section:
    """Return the section that a reader sees first: ranks, ratings with intervals, duels, tiers.

    Ratings are of what :func:`bayesduel.scores` returned; without them there are win rates. `note`
    is a sentence before the table, and `noun` what an arm is called. `views` holds other rankings
    that a reader can choose, by label (a category, a period): ``rating`` and its ends,
    ``rank_mean``, ``rank_lower``, ``rank_upper`` and ``duels`` by arm; `whole` is the label of the
    first.
    """
    rated = scores is not None and "rating" in scores
    ratings = scores if rated else None
    return Section(
        id="ranking",
        title="Leaderboard",
        body=blocks(
            Text(note, "alarm") if note else None,
            None if winners.groups() is None else Text(across_words(noun), "alarm"),
            _table(winners, duels, ratings, noun, views or {}, whole),
            *_comparison(winners, duels, ratings, noun),
        ),
    )


def period_views(
    fit: "xr.DataTree", duels: "Duels", scores: "pd.DataFrame | None"
) -> "dict[str, pd.DataFrame]":
    """Return the ranking of each earlier period, the latest first, as `views` of a leaderboard.

    {} where the scores of the fit do not change over time, or its log has no times.
    """
    import pandas as pd

    term = fit.duel.model.terms.find(TimeVarying)
    votes = duels.votes
    if term is None or votes is None or scores is None or "rating" not in scores:
        return {}
    drawn = fit["posterior"].dataset["rating"]
    if drawn[0, 0].size > VIEWED:
        return {}
    rating = np.moveaxis(drawn.to_numpy().reshape(-1, *drawn.shape[2:]), 0, -1)  # period, arm, draw
    arms = drawn["arm"].to_numpy()
    anchor = scores.attrs["anchor"]
    told = scores.attrs
    origin = rating.mean(1) if anchor is None else rating[:, list(arms).index(anchor)]
    points = told["points"] + told["points_per_unit"] * (rating - origin[:, None])
    kept = np.isin(arms, scores.index)  # without retired arms
    ranks = (-rating[:, kept]).argsort(1).argsort(1) + 1
    place = {"rating": points[:, kept], "rank": ranks}
    at = term.columns(duels)["period_of_cell"] * duels.n_sides
    n = len(rating) * duels.n_sides
    met = np.bincount(at + votes.left, votes.weight, n)
    met += np.bincount(at + votes.right, votes.weight, n)
    if duels.teams is not None:
        met = (met.reshape(len(rating), -1) @ duels.teams.matrix(len(arms))).ravel()

    views = {}
    for k in range(len(rating) - 2, -1, -1):
        columns = {"arm": arms[kept], "duels": met[k * len(arms) : (k + 1) * len(arms)][kept]}
        for name, values in place.items():
            low, high = eti(values[k], told["ci_prob"])
            mean = "rating" if name == "rating" else "rank_mean"
            columns |= {mean: values[k].mean(1), f"{name}_lower": low, f"{name}_upper": high}
        views[str(drawn["period"].to_numpy()[k])[:10]] = pd.DataFrame(columns)
    return views


def _table(
    winners: "Winners",
    duels: "Duels",
    ratings: "pd.DataFrame | None",
    noun: str,
    views: "Mapping[str, pd.DataFrame]",
    whole: str,
) -> Table:
    frame = winners.table()
    level = f"{100 * winners.attrs['confidence']:g} %"
    n_arms = len(frame)
    shown = min(n_arms, TABLE_ARMS)  # the files have all
    frame = frame.head(shown).assign(duels=duels.summary()["duels"])
    name = "win rate"
    words = f"{against_words(winners, noun)} (Borda score)"
    if ratings is not None:
        name = "rating"
        words = f"Elo points; the average {noun} has {ratings['rating'].mean():.0f}"
        frame = frame.join(ratings[list(RATING)])
    further = ["tier"] if int(winners["tier"].max()) > 1 else []
    if (groups := winners.groups()) is not None:
        further = [*further, "group"]
        frame["group"] = [groups[str(arm)] for arm in frame.index]
    more = first_rows(shown, n_arms, f" {plural(noun)}")
    ranks = f"rank interval\n({level})"
    return Table(
        columns="nlnbnn" + "n" * len(further),
        heads=(
            "rank",
            noun,
            name.replace("expected ", "expected\n"),
            f"{level} interval",
            ranks,
            "duels",
            *further,
        ),
        rows=_rows(frame.reset_index(names="arm"), further, page_names(map(str, frame.index))),
        rules=tuple(int(k) + 1 for k in np.flatnonzero(np.diff(frame["tier"]))),
        full=True,
        caption=f"{name.capitalize()}: {words}. {RANK_INTERVAL.format(noun, plural(noun))} "
        "To say who is above whom, quote the joint rank range, under Win rates and tiers."
        f"{order_words(frame[_ends(frame)[0]].to_numpy(), noun)}{more}",
        data=_data(winners, duels, ratings),
        search="arm" if shown < n_arms else "",
        sought=noun,
        board=True,
        views={
            label: _rows(view.sort_values("rank_mean", kind="stable"), further)
            for label, view in views.items()
        },
        whole=whole,
    )


def _ends(frame: "pd.DataFrame") -> tuple[str, ...]:
    """Return the columns of what a leaderboard shows of each arm: mean and interval."""
    return RATING if "rating" in frame else ("win_rate", "win_rate_lower", "win_rate_upper")


def _rows(
    frame: "pd.DataFrame", further: Sequence[str], names: Mapping[str, str] | None = None
) -> tuple[tuple[str | Cell, ...], ...]:
    """Return the rows of a ranking, with `further` columns; of arms with `names`, with links."""
    found = []
    rated = "rating" in frame
    columns = [frame[name].to_numpy() for name in _ends(frame)]
    for k, (row, bar) in enumerate(zip(frame.to_dict("records"), bars(*columns), strict=True)):
        mean, low, high = (f"{c[k]:.0f}" if rated else percent(c[k]) for c in columns)
        arm = str(row["arm"])
        cells = (
            f"{k + 1}",
            Cell(arm, id=f"arm-{names[arm]}") if names else arm,
            mean if rated else f"{mean} %",
            Cell(f"{low} to {high}", bar=bar),
            rank_range(row["rank_lower"], row["rank_upper"]),
            f"{row['duels']:,.0f}",
        )
        found.append((*cells, *(f"{row[name]}" if name in row else "" for name in further)))
    return tuple(found)


def page_names(arms: Iterable[str], known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the name of each arm in links and files: small letters, digits and hyphens.

    All are different; those that are `known` stay as they are.
    """
    found = dict(known or {})
    taken = {*found.values()}
    for arm in arms:
        if arm in found:
            continue
        plain = re.sub(r"[^a-z0-9]+", "-", arm.lower())[:40].strip("-") or "x"
        free = (f"{plain}{'-' * (k > 1)}{k if k > 1 else ''}" for k in itertools.count(1))
        found[arm] = next(n for n in free if n not in taken and not RESERVED.fullmatch(n))
        taken.add(found[arm])
    return found


def counts_of_pairs(
    winners: "Winners", duels: "Duels", arms: Sequence[str]
) -> Callable[[str], dict[str, np.ndarray]]:
    """Return a function of an arm: its numbers against each of `arms`, by name, shape (n_arms,).

    ``mean``, ``lower`` and ``upper`` of the probability that it wins, and ``beats``, that this is
    above one half, where the winners hold those of pairs; ``duels``, ``won``, ``lost`` and ``tied``
    as logged. Arms of the log that are not among `arms` have none.
    """
    place = {arm: k for k, arm in enumerate(arms)}
    of_log = np.array([place.get(str(label), -1) for label in duels.arms])
    held = {str(label): k for k, label in enumerate(winners["arm"].values)}
    of_model = np.array([held[arm] for arm in arms])
    pairs = duels.pairs()
    first = of_log[pairs.first]
    second = of_log[pairs.second]
    tables = {}
    if "preference_mean" in winners:
        ends = ("mean", "lower", "upper")
        tables = {end: winners[f"preference_{end}"].values for end in ends}
        tables["beats"] = winners["beats_probability"].values

    def numbers(arm: str) -> dict[str, np.ndarray]:
        k = place[arm]
        found = {end: table[of_model[k], of_model] for end, table in tables.items()}
        counts = np.zeros((3, len(arms)))
        for own, other, sides in (
            (first, second, (pairs.first_wins, pairs.second_wins)),
            (second, first, (pairs.second_wins, pairs.first_wins)),
        ):
            met = np.flatnonzero((own == k) & (other >= 0))
            for row, values in zip(counts, (*sides, pairs.ties), strict=True):
                row[other[met]] = values[met]
        won, lost, tied = counts
        return found | {"duels": won + lost + tied, "won": won, "lost": lost, "tied": tied}

    return numbers


def _data(winners: "Winners", duels: "Duels", ratings: "pd.DataFrame | None") -> Mapping[str, Any]:
    """Return the columns of its files, numbers not rounded."""
    frame = winners.table()
    counts = duels.summary()
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
    winners: "Winners",
    duels: "Duels",
    ratings: "pd.DataFrame | None",
    noun: str,
) -> tuple[Block, ...]:
    """Return the block in which a reader compares two arms; of many, by their ratings."""
    order = winners["order"].values
    arms = [str(arm) for arm in winners["arm"].values[order]]
    if "preference_mean" not in winners:
        words = f"Pairs of more than {TABLE_ARMS:,} {plural(noun)} are not compared on a page."
        return (Text(words, "small"),)
    of = counts_of_pairs(winners, duels, arms)
    first = arms[:PAIRED]
    above = [
        {name: values[k + 1 : PAIRED].round(3).tolist() for name, values in of(arm).items()}
        for k, arm in enumerate(first)
    ]
    names = ("mean", "lower", "upper", "beats", "won", "lost", "tied")
    found = {name: list(itertools.chain(*(row[name] for row in above))) for name in names}
    data = {
        "arms": first,
        "nouns": plural(noun),
        "paired": len(first),
        "pairs": found,
        "ties": bool(duels.n_ties),
    }
    data |= {name: float(winners.attrs[name]) for name in ("rope", "confidence")}
    if len(arms) == len(first):
        return (Compare(data),)
    words = f"The first {count(PAIRED, noun)} can be compared."
    if ratings is not None:
        rating = [round(float(x), 1) for x in ratings.loc[arms, "rating"]]
        data |= {"arms": arms, "rating": rating}
        words = f"Beyond the first {count(PAIRED, noun)}, the comparison uses only ratings."
    return Compare(data), Text(words, "small")
