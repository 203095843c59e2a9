"""Report section: the leaderboard, one row per arm, and the comparison of two arms."""

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
    before = []
    if note:
        before.append(Text(note, "alarm"))
    if winners.groups() is not None:
        before.append(Text(across_words(noun), "alarm"))
    table = _table(winners, duels, ratings, noun, views or {}, whole)
    comparison = _comparison(winners, duels, ratings, noun)
    body = blocks(*before, table, *comparison)
    return Section(id="ranking", title="Leaderboard", body=body)


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
    by_draw = drawn.to_numpy().reshape(-1, *drawn.shape[2:])
    rating = np.moveaxis(by_draw, 0, -1)  # period, arm, draw
    arms = drawn["arm"].to_numpy()
    told = scores.attrs
    anchor = told["anchor"]
    if anchor is None:
        origin = rating.mean(1)
    else:
        origin = rating[:, list(arms).index(anchor)]
    away = rating - origin[:, None]
    points = told["points"] + told["points_per_unit"] * away
    kept = np.isin(arms, scores.index)  # without retired arms
    points = points[:, kept]
    best_first = (-rating[:, kept]).argsort(1)
    ranks = best_first.argsort(1) + 1
    at = term.columns(duels)["period_of_cell"] * duels.n_sides
    n_periods = len(rating)
    n = n_periods * duels.n_sides
    met = np.bincount(at + votes.left, votes.weight, n)
    met += np.bincount(at + votes.right, votes.weight, n)
    n_duels = met.reshape(n_periods, -1)
    if duels.teams is not None:
        n_duels = n_duels @ duels.teams.matrix(len(arms))

    views = {}
    periods = drawn["period"].to_numpy()
    for k in reversed(range(n_periods - 1)):
        columns = {"arm": arms[kept], "duels": n_duels[k, kept]}
        for name, mean, values in (
            ("rating", "rating", points[k]),
            ("rank", "rank_mean", ranks[k]),
        ):
            low, high = eti(values, told["ci_prob"])
            columns[mean] = values.mean(1)
            columns[f"{name}_lower"] = low
            columns[f"{name}_upper"] = high
        date = str(periods[k])[:10]
        views[date] = pd.DataFrame(columns)
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
    confidence = 100 * winners.attrs["confidence"]
    level = f"{confidence:g} %"
    n_arms = len(frame)
    shown = min(n_arms, TABLE_ARMS)  # the files have all
    n_duels = duels.summary()["duels"]
    frame = frame.head(shown).assign(duels=n_duels)
    name = "win rate"
    words = f"{against_words(winners, noun)} (Borda score)"
    if ratings is not None:
        name = "rating"
        average = ratings["rating"].mean()
        words = f"Elo points; the average {noun} has {average:.0f}"
        frame = frame.join(ratings[list(RATING)])
    further = []
    if int(winners["tier"].max()) > 1:
        further.append("tier")
    labels = [str(arm) for arm in frame.index]
    groups = winners.groups()
    if groups is not None:
        further.append("group")
        frame["group"] = [groups[label] for label in labels]
    nouns = plural(noun)
    mean, *_ = _ends(frame)
    order = order_words(frame[mean].to_numpy(), noun)
    more = first_rows(shown, n_arms, f" {nouns}")
    tier_ends = np.flatnonzero(np.diff(frame["tier"]))
    of_views = {}
    for label, view in views.items():
        ranked = view.sort_values("rank_mean", kind="stable")
        of_views[label] = _rows(ranked, further)
    return Table(
        columns="nlnbnn" + "n" * len(further),
        heads=(
            "rank",
            noun,
            name,
            f"{level} interval",
            f"rank interval\n({level})",
            "duels",
            *further,
        ),
        rows=_rows(frame.reset_index(names="arm"), further, page_names(labels)),
        rules=tuple(int(k) + 1 for k in tier_ends),
        full=True,
        caption=f"{name.capitalize()}: {words}. {RANK_INTERVAL.format(noun, nouns)} "
        "To say who is above whom, quote the joint rank range, under Win rates and tiers."
        f"{order}{more}",
        data=_data(winners, duels, ratings),
        search="arm" if shown < n_arms else "",
        sought=noun,
        board=True,
        views=of_views,
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
    rows = frame.to_dict("records")
    shown = zip(rows, bars(*columns), *columns, strict=True)
    for rank, (row, bar, *ends) in enumerate(shown, 1):
        mean, low, high = (f"{end:.0f}" if rated else percent(end) for end in ends)
        arm = str(row["arm"])
        cells = [
            f"{rank}",
            Cell(arm, id=f"arm-{names[arm]}") if names else arm,
            mean if rated else f"{mean} %",
            Cell(f"{low} to {high}", bar=bar),
            rank_range(row["rank_lower"], row["rank_upper"]),
            f"{row['duels']:,.0f}",
        ]
        for name in further:
            cells.append(f"{row.get(name, '')}")
        found.append(tuple(cells))
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
        hyphened = re.sub(r"[^a-z0-9]+", "-", arm.lower())
        plain = hyphened[:40].strip("-") or "x"
        name = plain
        number = 1
        while name in taken or RESERVED.fullmatch(name):
            number += 1
            name = f"{plain}-{number}"
        found[arm] = name
        taken.add(name)
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
            pair = np.flatnonzero((own == k) & (other >= 0))
            opponent = other[pair]
            for row, values in zip(counts, (*sides, pairs.ties), strict=True):
                row[opponent] = values[pair]
        won, lost, tied = counts
        met = won + lost + tied
        return found | {"duels": met, "won": won, "lost": lost, "tied": tied}

    return numbers


def _data(winners: "Winners", duels: "Duels", ratings: "pd.DataFrame | None") -> Mapping[str, Any]:
    """Return the columns of its files, numbers not rounded."""
    frame = winners.table()
    arms = frame.index
    copeland = winners["winner_share"].sel(criterion="copeland")
    shares = copeland.to_series()
    share = shares[arms].to_frame("copeland_share")
    counts = duels.summary().loc[arms]
    parts = [frame, share, counts]
    if ratings is not None:
        rated = ratings.loc[arms].filter(like="rating")
        parts.insert(0, rated)
    found: dict[str, Any] = {"rank": range(1, len(arms) + 1), "arm": list(arms)}
    for part in parts:
        for name in part:
            found[str(name)] = part[name].to_numpy()
    return found


def _comparison(
    winners: "Winners",
    duels: "Duels",
    ratings: "pd.DataFrame | None",
    noun: str,
) -> tuple[Block, ...]:
    """Return the block in which a reader compares two arms; of many, by their ratings."""
    order = winners["order"].values
    in_order = winners["arm"].values[order]
    arms = [str(arm) for arm in in_order]
    if "preference_mean" not in winners:
        words = f"Pairs of more than {TABLE_ARMS:,} {plural(noun)} are not compared on a page."
        return (Text(words, "small"),)
    of = counts_of_pairs(winners, duels, arms)
    first = arms[:PAIRED]
    found: dict[str, list[float]] = {}
    for name in ("mean", "lower", "upper", "beats", "won", "lost", "tied"):
        found[name] = []
    for k, arm in enumerate(first):
        numbers = of(arm)
        for name, values in found.items():
            of_lower = numbers[name][k + 1 : PAIRED]
            values += of_lower.round(3).tolist()
    data = {
        "arms": first,
        "nouns": plural(noun),
        "paired": len(first),
        "pairs": found,
        "ties": bool(duels.n_ties),
    }
    for name in ("rope", "confidence"):
        data[name] = float(winners.attrs[name])
    if len(arms) == len(first):
        return (Compare(data),)
    n_paired = count(PAIRED, noun)
    words = f"The first {n_paired} can be compared."
    if ratings is not None:
        rating = [round(float(x), 1) for x in ratings.loc[arms, "rating"]]
        data |= {"arms": arms, "rating": rating}
        words = f"Beyond the first {n_paired}, the comparison uses only ratings."
    return Compare(data), Text(words, "small")
