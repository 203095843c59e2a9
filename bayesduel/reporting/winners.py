"""Report section: winners by criterion."""

import json
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.plots.preference import CRITERION_NAMES
from bayesduel.posterior.duels_to_predict import conditions_read
from bayesduel.preference import CRITERIA
from bayesduel.reporting.ranking import controlled_words
from bayesduel.reporting.section import Figure, Group, Section, Table, blocks
from bayesduel.system.memory import TABLE_ARMS
from bayesduel.text import SENTENCE, join, percent, plural, shorten

if TYPE_CHECKING:
    from bayesduel.posterior.winners import Winners
    from bayesduel.reporting.analysis import Analysis

__all__ = ["criterion_rows", "criterion_words", "winners_section"]

ROWS = 15  # arms with a row of their own in the figure, about: it is 5.7 inches high, as it is wide
NONE = "none"
AS_PLAYED = "Sides are as they were played, without a side advantage."
CRITERION_MEANINGS = {  # of an arm that is called {0}, of arms called {1}
    "condorcet": "beats every other {0}",
    "copeland": "beats most {1}",
    "borda": "highest win rate",
    "random_walk": "beats {1} that beat others",
    "von_neumann": "weight in the maximin mixture",
}


def winners_section(a: "Analysis") -> Section:
    """Return the section on winners by criterion, under a model that lets them differ."""
    shown = a.winners if a.free.value is None else a.free.value
    caption = (
        f"Probability that each {a.noun} wins, by criterion; divided between {plural(a.noun)} that "
        f"tie. None: no {a.noun} beats every other."
    )
    return Section(
        id="winners",
        title="Winners by criterion",
        body=blocks(*_words(a), _figure(shown, caption), _table(shown, a.noun), _answers(a)),
    )


def criterion_rows(
    winners: "Winners", noun: str = "arm"
) -> tuple[tuple[str, str, str, str, str], ...]:
    """Return the two most probable winners by each criterion; of equal ones, the better ranked.

    No second one is named where the first wins in every draw. `noun` is what an arm is called.
    """
    rows = []
    for name, chances in _chances(winners).items():
        (first, p), (second, q) = sorted(chances, key=lambda c: -c[1])[:2]
        other = (second, f"{percent(q)} %") if q > 0 else ("\u2013", "\u2013")
        meaning = CRITERION_MEANINGS[name].format(noun, plural(noun))
        shown = f"{CRITERION_NAMES[name]} ({meaning})"
        rows.append((shown, first, f"{percent(p)} %", *other))
    return tuple(rows)


def criterion_words(winners: "Winners", noun: str = "arm") -> str:
    """Return whether the criteria agree, as far as the posterior draws can show.

    Two disagree where each puts its own most probable winner ahead of the other's by more than
    two Monte Carlo standard errors.
    """
    chances = {name: dict(found) for name, found in _chances(winners).items()}
    first = {name: max(found, key=lambda arm: found[arm]) for name, found in chances.items()}
    named = {name: arm for name, arm in first.items() if (name, arm) != ("condorcet", NONE)}
    effective = float(winners.attrs["effective_draws"])
    differ = any(
        _ahead(chances[n], a, b, effective) and _ahead(chances[m], b, a, effective)
        for (n, a), (m, b) in combinations(named.items(), 2)
        if a != b
    )
    leaders = list(dict.fromkeys(named.values()))
    if len(set(first.values())) == 1:
        best = shorten(first["condorcet"], SENTENCE)
        words = f"The criteria agree: {best} is the most probable winner by each."
    elif len(leaders) > 1 and not differ:
        words = (
            f"The draws do not show whether the criteria disagree: {join(leaders)} are the most "
            "probable winners by some of them, none ahead by more than Monte Carlo error."
        )
    else:
        by_arm: dict[str, list[str]] = {}
        for name in CRITERIA:
            if name in named:
                by_arm.setdefault(named[name], []).append(CRITERION_NAMES[name])
        parts = [f"{shorten(arm, SENTENCE)} by {join(names)}" for arm, names in by_arm.items()]
        agree = "agree except for Condorcet" if len(by_arm) == 1 else "disagree"
        words = f"The criteria {agree}. Most probable winner: {'; '.join(parts)}."
    exists = percent(float(winners["condorcet_exists"]))
    return (
        f"{words} Some {noun} beats every other (a Condorcet winner) with probability {exists} %."
    )


def _words(a: "Analysis") -> tuple[str, ...]:
    """Return what the section is based on, and what it shows."""
    assumed = f"In a model with one score per {a.noun}, all criteria have the same winner"
    own = controlled_words(a, "these winners are those")
    if not a.ranked_by_score:
        return own, criterion_words(a.winners, a.noun)
    free, reason = a.free
    if free is None:
        (_, arm, chance, *_), *_ = criterion_rows(a.winners)
        return (
            own,
            f"{assumed} and some {a.noun} beats every other, by assumption. {reason} "
            f"The most probable winner is {shorten(arm, SENTENCE)} (probability {chance}).",
        )
    unit = ""
    if a.free_unit != "duel":
        unit = f" (one {a.free_unit} counts as one duel: votes within it are not independent)"
    sides = free.attrs["controls"] or (AS_PLAYED if a.ordered else "")
    sides = f" {sides}" if sides else ""
    about = _about(a)
    sides += f" It is about {about}." if about else ""
    basis = f"{assumed}. This section is based on models with which cycles are possible, averaged"
    if a.rejected:
        basis = (
            "The log contradicts a ranking, so this section is based on the model "
            f"{free.attrs['model']}, which allows cycles"
        )
    return (
        f"{basis}{unit}.{sides}",
        criterion_words(free, a.noun),
        _other_leader_words(a, free),
    )


def _other_leader_words(a: "Analysis", free: "Winners") -> str:
    """Return why the first arm of the leaderboard wins by no criterion here; "" where it does."""
    board = a.by_pair
    leader = str(board["arm"].values[board["order"].values[0]])
    if leader in {arm for _, arm, *_ in criterion_rows(free)}:
        return ""
    if _about(a):
        return (
            f"The leaderboard has {shorten(leader, SENTENCE)} first: it answers another question."
        )
    words = (
        f"The leaderboard has {shorten(leader, SENTENCE)} first, because it is of another model."
    )
    if a.free_unit == "duel":
        return (
            f"{words} That model has one score per {a.noun}. Cycles are possible only in this "
            "section."
        )
    return (
        f"{words} That model has one score per {a.noun}, and every vote counts. In this section "
        f"cycles are possible, and one {a.free_unit} counts as one duel."
    )


def _about(a: "Analysis") -> str:
    """Return which duels a model without terms answers for, where the ranking is about others."""
    words = []
    if "time" in conditions_read(a.fit):
        words.append("the whole time of the log")
    columns = json.loads(a.fit.attrs.get("estimand", "{}"))
    words += [f"duels of every {column}, as often as the log has them" for column in columns]
    votes = a.duels.votes
    if votes is not None and votes.sampling_weight is not None:
        words.append("votes that count once each, without sampling weights")
    return join(words, len(words), width=None)


def _figure(winners: "Winners", caption: str) -> Figure:
    from bayesduel.plots.preference import LEAST_SHOWN, plot_winners, winners_size

    best = np.sort(winners["winner_share"].max("criterion").values)[::-1]
    least = max(LEAST_SHOWN, float(best[ROWS])) if len(best) > ROWS else LEAST_SHOWN
    rows = int((best >= least).sum())
    return Figure(
        plot=partial(plot_winners, winners, least=least),
        size=winners_size(rows + (rows < len(best)) + 1),
        alt="Probability of winning, by criterion",
        caption=caption,
    )


def _table(winners: "Winners", noun: str) -> Table:
    return Table(
        columns="llnln",
        heads=("criterion", "most probable winner", "probability", "next", "probability"),
        rows=criterion_rows(winners, noun),
        data=_data(winners),
    )


def _answers(a: "Analysis") -> Group | None:
    """Return the answers of all models of the page, each with what it assumes; None for one."""
    own = a.winners.attrs
    free = a.free.value
    assumed = "a probability of its own for each pair"
    if a.ranked_by_score:
        assumed = f"one score per {a.noun}"
    tied = own["tie_share"] > 0 and a.fit.attrs["outcome"] == "win"
    halves = ", a tie counting half" if tied else ""
    answer = str(own.get("ranking_verdict", own["verdict"]))
    rows = [(str(own["model"]), f"{assumed}{halves}", answer)]
    if free is not None and free is not a.winners:
        unit = "" if a.free_unit == "duel" else f"; one {a.free_unit} counts as one duel"
        about = _about(a)
        other = f"; about {about}" if about else ""
        allowed = f"no ranking: cycles are possible{unit}{other}"
        rows.append((str(free.attrs["model"]), allowed, str(free.attrs["verdict"])))
    if len(rows) == 1:
        return None
    heads = ("model", "what it assumes", "its answer")
    table = Table(columns="ttt", heads=heads, rows=tuple(rows), full=True, name="models")
    return Group("Answers by model", (table,))


def _data(winners: "Winners") -> dict[str, list[Any]]:
    """Return the columns of its files: one row a criterion and arm."""
    rows = [
        (name, arm, chance)
        for name, chances in _chances(winners).items()
        for arm, chance in chances
        if len(chances) <= TABLE_ARMS or chance > 0
    ]
    criterion, arm, share = zip(*rows, strict=True)
    return {"criterion": list(criterion), "arm": list(arm), "probability": list(share)}


def _chances(winners: "Winners") -> dict[str, list[tuple[str, float]]]:
    """Return (arm, probability) by criterion, in rank order; for Condorcet also of none."""
    order = winners["order"].values
    share = winners["winner_share"].transpose("criterion", "arm").values[:, order]
    arms = [str(a) for a in winners["arm"].values[order]]
    found = {
        str(name): list(zip(arms, map(float, p), strict=True))
        for name, p in zip(winners["criterion"].values, share, strict=True)
    }
    found["condorcet"].append((NONE, 1 - float(winners["condorcet_exists"])))
    return found


def _ahead(chances: dict[str, float], first: str, second: str, effective: float) -> bool:
    """Return whether `first` is more probable than `second` beyond Monte Carlo error.

    The error is that of the difference of two shares of `effective` independent draws.
    """
    p, q = (chances.get(arm, 0.0) for arm in (first, second))
    return bool(p - q > 2 * np.sqrt(max(p + q - (p - q) ** 2, 0.0) / effective))
