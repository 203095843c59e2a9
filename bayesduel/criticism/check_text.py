"""The sentences of a check."""

from typing import TYPE_CHECKING

import pandas as pd
from scipy.special import ndtri

from bayesduel.criticism.calibration import ENOUGH
from bayesduel.criticism.cycle_posterior import Cycle, CyclePosterior
from bayesduel.criticism.model_cycles import COMPARED_ARMS, LeftOut
from bayesduel.criticism.ranking.posterior import RankingPosterior
from bayesduel.criticism.transitivity.conditions import DRAWS
from bayesduel.criticism.transitivity.evidence import LEVEL, CycleEvidence
from bayesduel.text import NAMED, SENTENCE, an, count, join, p_value, percent, plural, shorten

if TYPE_CHECKING:
    from bayesduel.criticism.intransitivity_index import MarginIndex
    from bayesduel.data.duels import Duels

__all__ = [
    "ADVANTAGE",
    "FLAT_FREE",
    "MODELLED",
    "ORDER_ADVICE",
    "both_orders_words",
    "controlled_free_words",
    "cycle_words",
    "decided_units",
    "evidence_words",
    "judge_words",
    "leading_words",
    "margin_words",
    "mean_count",
    "not_compared_words",
    "once_words",
    "order_or_cycle_words",
    "p_words",
    "teams_free_words",
    "teams_tested_words",
    "unordered_words",
    "verdict_words",
]

MODELLED = "fit the model BradleyTerry() + SideAdvantage() (on the command line, --side-advantage)"
NO_MEANING = (
    "if sides carry no meaning, check again with side_advantage=False (on the command line, "
    "--no-side-advantage)"
)
ADVANTAGE = "What follows allows a side advantage."
ORDER_ADVICE = f"Let pairs meet in both orders to distinguish them; {NO_MEANING}."
FLAT_FREE = (
    "Winners without a ranking are left out: a model that allows cycles and has the same controls "
    "needs a proper prior."
)


def teams_tested_words(noun: str) -> str:
    """Return what is tested where sides have several arms; `noun` is what an arm is called."""
    return (
        f"Sides have several {plural(noun)}: each side is tested as {an(noun)} of its own, whoever "
        "its members are."
    )


def teams_free_words(noun: str) -> str:
    """Return why sides of several arms have no model without a ranking."""
    return (
        f"Sides of several {plural(noun)} have no model without a ranking: it would have a "
        "probability for each pair of sides, and none for their members."
    )


def scope_words(duels: "Duels") -> str:
    """Return what of a log a check does not use, "" where it uses all."""
    votes = duels.votes
    if votes is None:
        return ""
    words = []
    if votes.sampling_weight is not None:
        words.append("The check counts each vote once: it does not use the sampling weights.")
    if votes.covariate_names:
        names = join(votes.covariate_names, quote=True)
        words.append(f"The check does not control for {names}.")
    return " ".join(words)


def controlled_free_words(model: str, n_cells: int, n_arms: int, noun: str) -> str:
    """Return why a large log has no model that allows cycles and has controls."""
    return (
        f"Winners without a ranking are left out. {model} allows cycles and has the same controls, "
        f"but it needs NUTS: hours for {n_cells:,} rows of {count(n_arms, noun)}. A preference "
        "matrix does not have these controls."
    )


def not_compared_words(cause: LeftOut, noun: str = "arm") -> str:
    """Return why models were not compared where none are named; "" where they were."""
    arms = f"with more than {COMPARED_ARMS} {plural(noun)}, name the models to compare"
    reasons: dict[LeftOut, str] = {
        "quick": "this was a quick check",
        "arms": arms,
        "pairs": "fewer than two pairs met",
    }
    return f"Left out: {reasons[cause]}." if cause else ""


def verdict_words(e: CycleEvidence, noun: str = "arm") -> tuple[str, str]:
    """Return the verdict where the models of a pair do not lead: its first sentence, the others."""
    if not e.n_closed:
        return evidence_words(e, noun), "Transitivity is an assumption for this log."
    p = p_words(e.p_value, e.n_replicated)
    if e.other_cause == "order":
        return (
            "The log cannot tell cycles from a side advantage: it has more cyclic triads than "
            f"scores without a side advantage predict ({p}). Too few pairs met in both orders to "
            "estimate the side advantage.",
            "Transitivity is neither established nor rejected. If the side listed first may have "
            f"an advantage, {MODELLED}; {NO_MEANING}.",
        )
    return (
        f"The log has more cyclic triads than scores predict ({p}), but pairs met under different "
        f"conditions ({join(e.conditions)}): a ranking that changes with them explains the cycles "
        f"({p_value(e.p_conditions, DRAWS)}).",
        "Fit a model with terms for these conditions, and use its ranking.",
    )


def once_words(e: CycleEvidence, noun: str = "arm") -> str:
    """Return what results of pairs that met once cannot tell; "" where most met more often."""
    # Share of pairs that met once, from which the page says what that hides: 0.9
    if e.met_once < 0.9:
        return ""
    one = "decided duel" if e.unit == "duel" else "majority verdict"
    return (
        f"Of the pairs that met, {100 * e.met_once:.0f} % have only one {one}. One result "
        "does not tell whether it would come again, so cycles may go unnoticed. Repeated "
        f"duels of the same pairs would tell; margins or attributes of the {plural(noun)} may."
    )


def order_or_cycle_words(
    found: RankingPosterior, without: RankingPosterior, both_ways: float
) -> str:
    """Return that a side advantage and a cycle look alike, and what each of them would say."""
    one = percent(found.p_one_ranking)
    other = percent(without.p_one_ranking)
    return (
        f"{both_orders_words(both_ways)}. So the log cannot tell a cycle from a side "
        f"advantage (of the side listed first). One ranking has probability {one} % with "
        f"a side advantage, and {other} % without one."
    )


def both_orders_words(both_ways: float) -> str:
    """Return how few of the pairs met in both orders."""
    if both_ways == 0:
        return "No pair met in both orders"
    share = "Fewer than 1" if both_ways < 0.01 else f"Only {100 * both_ways:.0f}"
    return f"{share} % of the pairs met in both orders"


def leading_words(posterior: CyclePosterior | None, noun: str = "arm") -> str:
    """Return the most probable cycle, or how many there are where none is ahead; else ""."""
    if posterior is None or not posterior.cycles:
        return ""
    top = posterior.cycles[0]
    if posterior.n_alike == 1:
        return f"The most probable cycle is {cycle_words(top)}."
    return (
        f"No single cycle stands out: {posterior.n_alike:,} cycles of three {plural(noun)} are as "
        f"probable ({percent(top.probability)} %) up to Monte Carlo error."
    )


def p_words(p: float, n: int) -> str:
    """Return a p-value of `n` replicated logs; near 0.05, with its Monte Carlo standard error."""
    variance = p * (1 - p)
    error = (variance / max(n, 1)) ** 0.5
    least = 1 / (n + 1)
    # 4 Monte Carlo standard errors from 0.05 within which a p-value is shown with its own
    if p <= least or abs(p - LEVEL) > 4.0 * error:
        return p_value(p, n)
    return f"p = {p:.3f}, Monte Carlo standard error {error:.3f}"


def cycle_words(cycle: Cycle) -> str:
    """Return one cycle with its probability."""
    first, *others = [shorten(arm, SENTENCE) for arm in cycle.arms]
    around = " > ".join([first, *others, first])
    return f"{around} (probability {percent(cycle.probability)} %)"


def evidence_words(e: CycleEvidence, noun: str = "arm") -> str:
    """Return the number of cyclic triads, the number expected, and the p-value."""
    if not e.n_closed:
        return (
            f"No three {plural(noun)} have all met: 0 of {e.n_all:,} triads are complete. So the "
            "log contains no information on transitivity."
        )
    sampled = ""
    if e.sampled < 1:
        sampled = f" (estimated from a sample of {100 * e.sampled:.2g} % of the triads)"
    verb = "is" if round(e.cyclic) == 1 else "are"
    numbers = f"{e.cyclic:,.0f} of {e.decided:,.0f}"
    found = f"{numbers} decided triads {verb} cyclic"
    if round(e.decided) == 1:
        found = f"The only decided triad is {'' if e.cyclic else 'not '}cyclic"
    adjusted = ""
    raw_cyclic, raw_decided = e.unadjusted
    raw = f"{raw_cyclic:,.0f} of {raw_decided:,.0f}"
    if e.order == "estimated" and raw != numbers:
        adjusted = f", majorities adjusted for the side advantage (without that adjustment {raw})"
    low, high = e.expected_interval
    return (
        f"Predictive check: {found}{sampled}{adjusted}; one score per {noun} predicts "
        f"{mean_count(e.expected)} ({low:,.0f} to {high:,.0f}) on the same design. Weighted by "
        f"their certainty: {p_words(e.p_value, e.n_replicated)}."
    )


def decided_units(unit: str) -> str:
    """Return what decides a pair: "duels", or "majority verdicts" of repeated votes."""
    return "duels" if unit == "duel" else "majority verdicts"


def mean_count(x: float) -> str:
    """Return a mean of counts, "1.2", or "1,285" where decimals say nothing."""
    return f"{x:,.1f}" if x < 100 else f"{x:,.0f}"


def margin_words(m: "MarginIndex | None") -> str:
    """Return the intransitivity index of the margins and its null distribution."""
    if m is None:
        return ""
    return (
        f"Margins: the intransitivity index is {m.index:.2f}. If scores explain the margins, "
        f"{m.expected:.2f} is expected on this design, and at most {m.upper:.2f} in 95 % of logs "
        f"({p_value(m.p_value, m.n_logs)}, not part of the p-value above)."
    )


def judge_words(judges: pd.DataFrame | None, noun: str = "arm") -> str:
    """Return the judges whose votes the model does not expect, by Bonferroni's limit on z."""
    if judges is None:
        return ""
    table = judges[judges["votes"] >= ENOUGH]
    limit = ndtri(LEVEL / max(len(table), 1))
    odd = table[table["z"] < limit]
    if odd.empty:
        return ""
    votes = odd["votes"]
    shares = []
    for name in ("agreement", "expected"):
        in_votes = (odd[name] * votes).sum()
        shares.append(percent(float(in_votes / votes.sum())))
    share, expected = shares
    named = join(map(str, odd["judge"]), NAMED)
    return (
        f"Of {len(table):,} judges with {ENOUGH} decided votes or more, "
        f"{named} voted for the {noun} that the "
        f"model favours in {share} % of these votes, where {expected} % is expected: random "
        "votes, or preferences of their own."
    )


def unordered_words(transitive: bool | None, noun: str = "arm") -> str:
    """Return a caution where cycles were found in a log whose sides carry no meaning, else ""."""
    if transitive is not False:
        return ""
    return (
        f"Which {noun} was listed first is unknown or carries no meaning in this log; an advantage "
        "of one side could cause cycles, too."
    )
