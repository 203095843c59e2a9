"""Report sections: the verdict, the ranking, probabilities of ranks and of pairs."""

import json
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.data.sides import sides_of
from bayesduel.inference.default_model import TIES
from bayesduel.posterior.estimand import level_words
from bayesduel.posterior.scores import scores_words
from bayesduel.posterior.verdict import across_words
from bayesduel.reporting.ranking_table import (
    RATE,
    bars,
    columns_of,
    rank_range_words,
    ranking_table,
)
from bayesduel.reporting.section import (
    Cell,
    Column,
    Figure,
    Matrix,
    Section,
    Table,
    Text,
    Verdict,
    blocks,
)
from bayesduel.reporting.verdict_text import alerts, exact_warnings, headline
from bayesduel.system.memory import TABLE_ARMS
from bayesduel.text import (
    SENTENCE,
    an,
    begun,
    count,
    digits_of,
    first_rows,
    join,
    percent,
    plural,
    shorten,
)

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.criticism.check_result import Check
    from bayesduel.data.duels import Duels
    from bayesduel.posterior.winners import Winners
    from bayesduel.reporting.analysis import Analysis

__all__ = [
    "PAIRED",
    "against_words",
    "caution_words",
    "controlled_words",
    "order_words",
    "preferences_section",
    "ranks_section",
    "rates_section",
    "tie_words",
    "verdict_section",
]

PAIRED = 60  # arms up to which a page holds the numbers of every pair: of more, the first
WAYS = {
    "logits": "The rating is the score in points of Elo. 400 points are odds of 10 to 1 of a "
    "win against a loss.",
    "probits": "The rating is the score in points of Elo's normal curve: the standard deviation "
    "of a difference in performance is 283 points.",
}


def verdict_section(
    winners: "Winners",
    duels: "Duels",
    warnings: tuple[tuple[str, str], ...] = (),
    caution: tuple[str, str] = ("", ""),
    further: tuple[str, ...] = (),
    board: "Winners | None" = None,
    noun: str = "arm",
) -> Section:
    """Return the section on the verdict.

    With the class and words of each warning, what :func:`caution_words` returned, and further
    paragraphs below the headline. The leaderboard is in the order of `board`, by default of
    `winners`; `noun` is what an arm is called.
    """
    plain_caution, exact_caution = caution
    board = winners if board is None else board
    said = headline(winners, noun, None if board is winners else board)
    exact, why = _verdict(winners)
    places = _place_words(winners, board, said)
    reasons = "".join(f" {words}" for words in json.loads(winners.attrs["model_reasons"]))
    verdict = Verdict(
        headline=said,
        text=tuple(words for words in (why, *further, places) if words),
        caution=plain_caution,
        exact=(
            *exact,
            *((exact_caution,) if exact_caution else ()),
            *exact_warnings(warnings),
            f"From {count(duels.n_duels, 'duel')} between {count(duels.n_arms, noun)}. A definite "
            f"verdict needs a posterior probability of {winners.attrs['confidence']:g}; win "
            f"probabilities within {winners.attrs['rope']:g} of one half are treated as "
            f"equal.{reasons}",
        ),
        settled=winners.attrs["verdict_kind"] not in ("undecided", "not comparable"),
    )
    return Section(id="verdict", body=(verdict, *alerts(warnings, noun)))


def caution_words(check: "Check | None", noun: str, *, assumed: bool) -> tuple[str, str]:
    """Return what the check says where a verdict assumes a ranking that it leaves open.

    In the words of a reader, and exactly; both are "" where it says nothing.
    """
    if check is None or not assumed or check.ranking is None:
        return "", ""
    other_cause = check.evidence.other_cause
    if check.transitive is not None and not other_cause:
        return "", ""
    doubt = f"The log gives that a probability of {percent(check.p_one_ranking)} %."
    if other_cause:
        doubt = "The log leaves open whether it does."
    plain = f"This assumes that one order of all {plural(noun)} holds. {doubt}"
    return plain, check.verdict_parts[0]


def tie_words(a: "Analysis") -> str:
    """Return what ties count for where they are common, in a model of wins; else ""."""
    share = a.winners.attrs["tie_share"]
    if share <= TIES or a.fit.attrs["outcome"] != "win":
        return ""
    return (
        f"{percent(share)} % of the duels are ties (more than {100 * TIES:g} %), and the fitted "
        "model counts each as half a win for either side. So a win rate is not the share of wins."
    )


def controlled_words(a: "Analysis", subject: str) -> str:
    """Return what the model controls for and the levels that answers are about; "" for nothing.

    `subject` is of neutral duels, with its verb: "this ranking is that".
    """
    covariates = "covariate_effect" in a.fit["posterior"]
    causes = []
    neutral = []
    if covariates:
        causes.append("covariates of the duel")
        neutral.append("all covariates are zero")
    if a.ordered:
        causes.append("the side advantage")
        neutral.append("neither side has an advantage")
    levels = level_words(a.fit)
    if not causes:
        return levels
    held = f"The fitted model controls for {join(causes)}"
    sides = f"{held}: {subject} of duels in which {join(neutral)}."
    return f"{sides} {levels}".strip()


def advantage_words(a: "Analysis") -> tuple[str, ...]:
    """Return the advantage of a side that the ranking is free of, where its interval shows one."""
    if a.side_advantage is None or a.side_advantage[1] <= 0.5 <= a.side_advantage[2]:
        return ()
    middle, low, high = (percent(value) for value in a.side_advantage)
    halves = " (by the fitted model; a tie counts half)" if a.duels.n_ties else ""
    zero = " whose covariates are all zero" if "covariate_effect" in a.fit["posterior"] else ""
    side = sides_of(a.duels).left
    return (
        f"Side advantage: {side} wins {middle} % [{low}, {high}] of duels between equals"
        f"{zero}{halves}. The ranking is without this advantage.",
    )


def rates_section(
    winners: "Winners",
    duels: "Duels",
    scores: "pd.DataFrame | None" = None,
    noun: str = "arm",
) -> Section:
    """Return the section on win rates and scores with intervals, tiers and joint rank ranges."""
    of_scores: tuple[str | None, ...] = ()
    if scores is not None:
        of_scores = scores_words(scores.attrs, noun), WAYS.get(scores.attrs["unit"])
    return Section(
        id="rates",
        title="Win rates and tiers",
        body=blocks(
            _tier_words(winners, noun),
            None if winners.groups() is None else Text(across_words(noun), "alarm"),
            *of_scores,
            _rates_table(winners, duels, scores, noun),
        ),
    )


def ranks_section(winners: "Winners", noun: str = "arm") -> Section:
    """Return the section on the probability of each rank."""
    from bayesduel.plots.ranking import plot_ranks, ranks_size
    from bayesduel.plots.style import WRITTEN

    width = (winners["rank_upper"] - winners["rank_lower"]).values
    n = len(width)
    nouns = plural(noun)
    spanned = count(round(float(np.median(width))) + 1, "rank")
    words = (
        f"The {_level(winners)} interval of a rank spans {spanned} for the median {noun}; for "
        f"{int((width == 0).sum()):,} of {n:,} {nouns} it is a single rank."
    )
    if "rank_probability" not in winners:
        words += f" There is no figure of all ranks for more than {TABLE_ARMS:,} {nouns}."
        return Section(id="ranks", title="Rank probabilities", body=blocks(words))
    figure = Figure(
        plot=partial(plot_ranks, winners),
        size=ranks_size(n),
        alt="Probability of each rank",
        caption=f"Rows: {nouns} in rank order; columns: ranks. Darker cells are more probable"
        f"{'; numbers in per cent, omitted where they round to 0' if n <= WRITTEN else ''}.",
        wide=True,
    )
    return Section(id="ranks", title="Rank probabilities", body=blocks(words, figure))


def preferences_section(winners: "Winners", noun: str = "arm") -> Section:
    """Return the section on the preference matrix."""
    n = winners.sizes["arm"]
    if "preference_mean" not in winners:
        words = (
            f"There is no table of all pairs for more than {TABLE_ARMS:,} {plural(noun)}. In "
            "Python, bayesduel.predict(fit, left, right) has the win probability of any "
            "pair."
        )
        return Section(id="preferences", title="Pairwise preferences", body=blocks(words))
    first, second = np.triu_indices(n, 1)
    low, high = (winners[f"preference_{e}"].values[first, second] for e in ("lower", "upper"))
    uncertain = int(((low <= 0.5) & (high >= 0.5)).sum())
    order = winners["order"].values[:PAIRED]
    table = np.ix_(order, order)
    low, mean, high = (
        winners[f"preference_{end}"].values[table] for end in ("lower", "mean", "upper")
    )
    some = f" The first {PAIRED} of {n:,} {plural(noun)}." if n > PAIRED else ""
    matrix = Matrix(
        arms=[str(arm) for arm in winners["arm"].values[order]],
        mean=mean,
        clear=(low > 0.5) | (high < 0.5),
    )
    halves = ", a tie counting half" if winners.attrs["tie_share"] else ""
    caption = (
        f"Probability, in per cent, that the {noun} of the row beats the {noun} of the "
        f"column{halves}. Purple: the row is favoured; orange: the column. Bold, or dotted: "
        f"the {_level(winners)} interval excludes 1/2.{some} Point at a cell, or move with the "
        "arrow keys, for its interval and its duels; the files of Head to head, under Raw counts, "
        "have them too."
    )
    words = (
        f"{uncertain:,} of {len(first):,} pairs are uncertain: the {_level(winners)} interval of "
        "their win probability contains 1/2."
    )
    return Section(
        id="preferences",
        title="Pairwise preferences",
        body=blocks(words, matrix, Text(caption, "small")),
    )


def against_words(winners: "Winners", noun: str = "arm") -> str:
    """Return what a win rate is the probability of."""
    other = f"another {noun} drawn at random"
    if winners.attrs["tie_share"]:
        return f"expected points against {other}; a tie counts half"
    return f"probability of beating {other}"


def _verdict(winners: "Winners") -> tuple[tuple[str, ...], str]:
    """Return the verdict in exact terms, and why no ranking holds, or ""."""
    attrs = winners.attrs
    exact = str(attrs["verdict_overall"])
    if "ranking_verdict" in attrs:
        return (exact, str(attrs["verdict_source"])), str(json.loads(attrs["check"])["sentence"])
    inside = [part for part in json.loads(attrs["component_verdicts"]) if part["verdict"]]
    return (exact, *(f"Within {join(part['arms'])}: {part['verdict']}" for part in inside)), ""


def _place_words(winners: "Winners", board: "Winners", said: str) -> str:
    """Return why arms that the headline names are not at the top of the leaderboard, or ""."""
    order = [shorten(str(arm), SENTENCE) for arm in board["arm"].values[board["order"].values]]
    arms = {shorten(str(arm), SENTENCE) for arm in json.loads(winners.attrs["verdict_arms"])}
    named = [(place, arm) for place, arm in enumerate(order, 1) if arm in arms and arm in said]
    lower = [f"{arm} (rank {place})" for place, arm in named if place > len(named)]
    if not lower or winners.groups() is not None:
        return ""
    if winners.attrs["verdict_kind"] == "no ranking":
        return f"The leaderboard is in the order of win rates, the verdict is not: {join(lower)}."
    return f"The leaderboard is in the order of mean ranks; wide intervals favour {join(lower)}."


def _level(winners: "Winners") -> str:
    return f"{100 * winners.attrs['confidence']:g} %"


def _tier_words(winners: "Winners", noun: str) -> str:
    nouns = plural(noun)
    n = int(winners["tier"].max())
    most = f"{100 - 100 * winners.attrs['confidence']:g} %"
    if n == 1:
        return (
            f"The ranking has one tier. No boundary between {nouns} is sure enough: it would be "
            f"wrong with a probability above {most}."
        )
    return (
        f"The ranking has {n} tiers. The first {noun} of a tier is above all {nouns} of lower "
        f"tiers. This is wrong with a probability of at most {most} for each boundary on its own. "
        f"Other {nouns} of a tier may be as good as some of the next."
    )


def _rates_table(
    winners: "Winners", duels: "Duels", scores: "pd.DataFrame | None", noun: str
) -> Table:
    frame = winners.table()
    nouns = plural(noun)
    counts = duels.summary()
    best = winners["winner_share"].sel(criterion="copeland").to_series()
    level = _level(winners)
    n_arms = len(frame)
    shown = min(n_arms, TABLE_ARMS)  # its files have all
    more = first_rows(shown, n_arms, f" {nouns}")
    results = ("wins", "ties", "losses") if duels.n_ties else ("wins", "losses")
    scored = {} if scores is None else _scored(scores)
    known = columns_of(winners, noun=noun)
    mean, low, high = (frame[name].to_numpy()[:shown] for name in RATE)
    ends = [
        Cell(f"{percent(a)} to {percent(b)}", bar=bar)
        for a, b, bar in zip(low, high, bars(mean, low, high), strict=True)
    ]
    won = "won / tied\n/ lost" if duels.n_ties else "won /\nlost"
    of_scores = [
        Column("n", "score", lambda r: scored[r["arm"]][0]),
        Column("n", "score\ninterval", lambda r: scored[r["arm"]][1]),
    ]
    listed = (
        known["arm"],
        known["mean"],
        Column("b", f"{level} interval", lambda r: ends[r["place"] - 1]),
        *(of_scores if scored else ()),
        Column("n", f"best\n{noun}", lambda r: f"{percent(best[r['arm']])} %"),
        known["joint ranks"]._replace(head=f"joint rank\nrange, {level}"),
        Column("n", won, lambda r: " / ".join(f"{counts.loc[r['arm'], c]:,.0f}" for c in results)),
    )
    columns = (*RATE, "rank_joint_lower", "rank_joint_upper")
    return ranking_table(
        winners,
        listed,
        shown,
        full=True,
        caption=f"Win rate: {against_words(winners, noun)} (Borda score). Best "
        f"{noun}: probability of being the Copeland winner, divided between {nouns} that "
        f"tie. Intervals contain {level} of the posterior. {rank_range_words(noun)} It goes from "
        f"1 + the number of {nouns} surely above to {n_arms:,} - the number surely below. All "
        f"statements about {an(noun)} hold together with probability {level}."
        f"{_joint_words(frame, winners.attrs['confidence'], noun)}"
        f"{order_words(frame['win_rate'].to_numpy(), noun)}{more}",
        data={
            "arm": list(frame.index),
            **{name: frame[name].to_numpy() for name in columns},
            **(
                {} if scores is None else {c: scores.loc[frame.index, c].to_numpy() for c in scores}
            ),
            "copeland_share": best[frame.index].to_numpy(),
            **{name: counts.loc[frame.index, name].to_numpy() for name in results},
        },
    )


def _scored(scores: "pd.DataFrame") -> dict[str, tuple[str, str]]:
    """Return score and interval of each arm as text, with as many decimals in every row."""
    width = (scores["score_upper"] - scores["score_lower"]).to_numpy()
    digits = digits_of(float(np.median(width[width > 0]))) if (width > 0).any() else 0
    told = {end: [f"{x:z.{digits}f}" for x in scores[f"score_{end}"]] for end in
            ("mean", "lower", "upper")}  # fmt: skip
    ends = (f"{low} to {high}" for low, high in zip(told["lower"], told["upper"], strict=True))
    return dict(zip(map(str, scores.index), zip(told["mean"], ends, strict=True), strict=True))


def _joint_words(frame: "pd.DataFrame", confidence: float, noun: str = "arm") -> str:
    """Return why the best arm is not alone in its tier, where its probability is sure."""
    if frame["copeland"].max() < confidence or (frame["tier"] == 1).sum() == 1:
        return ""
    return (
        f" Rank ranges and tiers allow for the number of {plural(noun)} compared. The probability "
        f"of the best {noun} does not. So it may name a best {noun} where they leave it open."
    )


def order_words(mean: np.ndarray, noun: str = "arm") -> str:
    """Return what arms are ordered by, and more where the means so (K,) are not decreasing."""
    words = f" {begun(plural(noun))} are in the order of their mean rank in the posterior"
    if (np.diff(mean) <= 0).all():
        return f"{words}."
    return f"{words}. This order may differ from that of their means if intervals overlap."
