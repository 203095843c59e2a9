"""Report section: margins, the difference in points by which duels were won."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.criticism.posterior_predictive import shown_check
from bayesduel.intervals import eti
from bayesduel.reporting.section import (
    FEW_ROWS,
    FIRST_ROWS,
    Cell,
    Figure,
    Group,
    Section,
    Table,
    blocks,
)
from bayesduel.system.options import Decision
from bayesduel.text import join, number_with_interval, significant

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.data.duels import Duels
    from bayesduel.reporting.analysis import MarginAnalysis

__all__ = ["margin_words", "margins_section"]

PARAMETERS = {
    "scale": "standard deviation of the scores (prior)",
    "noise": "standard deviation of the noise of one margin",
    "order": "side advantage",
    "residual_scale": "standard deviation of the residuals of pairs",
    "shrinkage": "shrinkage of the variances of pairs, in duels",
    "degrees": "degrees of freedom of the noise",
}


def margin_words(a: "MarginAnalysis | None", duels: "Duels", first: str) -> str:
    """Return what a reader of a ranking by margins, on which `first` leads, should know of wins.

    Wins are counted where all pairs met: elsewhere they depend on who met whom.
    """
    from bayesduel.data.head_to_head import raw_winners

    raw = raw_winners(duels).attrs
    words = "This ranking is by margins, not by who won."
    if raw["pairs_met"] == raw["pairs"] and first not in raw["borda"]:
        words += f" By wins only, {join(raw['borda'])} is first (see Raw counts)."
    if a is not None and a.check.failed:
        words += " The margins deviate from the model (see Margins): win rates may be off."
    return words


def margins_section(
    a: "MarginAnalysis", ranked: Sequence[str], *, own_ranking: bool = False, noun: str = "arm"
) -> Section:
    """Return the section on margins.

    `ranked` has the arms in the order of the report's ranking, without retired ones; `own_ranking`:
    whether that is by margins, too; `noun`: what an arm is called.
    """
    from bayesduel.plots.posterior_predictive import (
        MARGINS_SIZE,
        PAIRS_SIZE,
        plot_margins,
        plot_pair_residuals,
    )

    words = " ".join(filter(None, (_order_words(a), _residual_words(a))))
    margins = Figure(
        plot=partial(plot_margins, a.check),
        size=MARGINS_SIZE,
        alt="Standardised residuals of margins, observed and replicated",
        caption="Standardised residuals: difference of each margin from its expectation, in "
        "standard deviations of the noise. Bars: this log; band: the middle 95 % of replicated "
        "logs.",
    )
    pairs = Figure(
        plot=partial(plot_pair_residuals, a.check),
        size=PAIRS_SIZE,
        alt="Residuals of pairs against normal quantiles",
        caption="Residuals of pairs, over all duels of a pair, in increasing order. Band: what "
        "to expect from noise. Dots outside are pairs whose margins the scores do not "
        "explain.",
    )
    folded = Group(
        "Checks, and pairs with the largest residuals", _check_tables(a, noun), folded=True
    )
    return Section(
        id="margins",
        title="Margins",
        body=blocks(
            words,
            _parameter_table(a),
            _score_table(a, ranked, own_ranking, noun),
            a.check.words(noun),
            margins,
            pairs,
            folded,
        ),
    )


def _order_words(a: "MarginAnalysis") -> str:
    posterior = a.fit["posterior"]
    if "order" not in posterior:
        return "Each margin is modelled as the difference of two scores plus noise."
    order = posterior["order"].to_numpy().ravel()
    low, high = eti(order, Decision.ci_prob)
    if low <= 0 <= high:
        sides = "the interval contains 0"
    else:
        sides = f"{a.side} has {'an advantage' if low > 0 else 'a disadvantage'}"
    return (
        "A margin is the difference of two scores, plus a side advantage, plus noise. The side "
        f"advantage is {_summary(order)} (95 % interval): {sides}."
    )


def _residual_words(a: "MarginAnalysis") -> str:
    """Return how far from transitive the margins are."""
    fit = a.fit if "residual_scale" in a.fit["posterior"] else a.perturbed
    if fit is None:
        return ""
    d = fit["posterior"]["residual_scale"].to_numpy().ravel()
    score = _scores(fit)
    spread = float(np.sqrt(2) * score.std(axis=-1, ddof=1).mean())
    return (
        "Intransitivity: if every pair may deviate from its scores by a residual, the "
        f"residuals have a standard deviation of {_summary(d)}, compared with "
        f"{significant(spread)} for the differences of scores."
    )


def _parameter_table(a: "MarginAnalysis") -> Table:
    posterior = a.fit["posterior"]
    return Table(
        columns="tn",
        heads=("parameter, in units of the margins", "mean [95 % interval]"),
        rows=tuple(
            (words, _summary(posterior[name].to_numpy().ravel()))
            for name, words in PARAMETERS.items()
            if name in posterior and posterior[name].ndim == 2
        ),
    )


def _score_table(a: "MarginAnalysis", ranked: Sequence[str], own_ranking: bool, noun: str) -> Table:
    score = _scores(a.fit)
    labels = [str(arm) for arm in a.fit["posterior"]["arm"].to_numpy()]
    rank = {arm: f"{place}" for place, arm in enumerate(ranked, 1)}
    best = np.argsort(-score.mean(axis=0), kind="stable")[:FIRST_ROWS]
    different = " The ranking above is by wins; this table is by margins." * (not own_ranking)
    return Table(
        columns="lnn",
        heads=(
            "highest scores",
            "score [95 % interval]",
            "rank" if own_ranking else "rank by wins",
        ),
        rows=tuple((labels[k], _summary(score[:, k]), rank.get(labels[k], "\u2013")) for k in best),
        caption=f"Score: expected margin against an average {noun}, without an advantage of either "
        f"side.{different}",
    )


def _scores(fit: "xr.DataTree") -> np.ndarray:
    """Return the draws (draws, arms) of scores."""
    drawn = {str(name): v.to_numpy() for name, v in fit["posterior"].data_vars.items()}
    scores = np.asarray(fit.duel.model.parameters(drawn)["score"])
    return scores.reshape(-1, scores.shape[-1])


def _summary(draws: np.ndarray) -> str:
    """Return the mean and the interval of draws."""
    low, high = eti(draws, Decision.ci_prob)
    return number_with_interval(draws.mean(), float(low), float(high))


def _check_tables(a: "MarginAnalysis", noun: str) -> tuple[Table, Table]:
    styles: tuple[Any, Any] = ("plain", "alarm")

    def name(row: Any) -> Cell:
        return Cell(shown_check(row["check"], noun), style=styles[row["check"] in a.check.failed])

    checks = Table.of(
        (
            ("t", "check", name),
            ("n", "observed", lambda r: significant(r["observed"], 3)),
            ("n", "expected", lambda r: significant(r["expected"], 3)),
            ("n", "p", lambda r: a.check.p_cell(r["check"])),
        ),
        a.check.table.reset_index(names="check").to_dict("records"),
        caption="p: twice the posterior predictive p-value, which is conservative. Bold: fails "
        "at 0.05, adjusted for the number of checks.",
    )
    pairs = Table.of(
        (
            ("l", "pair", "{first} \u2013 {second}"),
            ("n", "duels", "{duels:,}"),
            ("n", "difference", lambda r: significant(r["off"], sign="+")),
            ("n", "residual", "{residual:+.1f}"),
        ),
        a.check.pairs.head(FEW_ROWS).to_dict("records"),
        caption=f"Difference: mean margin of the first {noun} less its expectation, in units of "
        "the margins. Residual: the same in standard errors.",
    )
    return checks, pairs
