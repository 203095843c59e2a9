"""The sentences of a check."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd
from scipy.special import ndtri

from bayesduel.criticism.cycle_posterior import Cycle, CyclePosterior
from bayesduel.criticism.transitivity.evidence import MIDDLE, CycleEvidence, Strength
from bayesduel.text import SENTENCE, join, p_value, percent, shorten

if TYPE_CHECKING:
    from bayesduel.criticism.compare import Comparison
    from bayesduel.criticism.intransitivity_index import MarginIndex

__all__ = [
    "MODELLED",
    "SURE",
    "TEAMS_FREE",
    "TEAMS_TESTED",
    "advice_words",
    "cycle_posterior_words",
    "cycle_words",
    "decided_units",
    "evidence_words",
    "judge_words",
    "leading_words",
    "margin_words",
    "mean_count",
    "naive_words",
    "once_words",
    "p_words",
    "power_words",
    "test_words",
    "too_cyclic_words",
    "unordered_words",
    "verdict_words",
]

TEAMS_TESTED = (
    "Sides have several arms: each side is tested as an arm of its own, whoever its members are."
)
TEAMS_FREE = (
    "No model without a ranking is offered for sides of several arms: it has a probability for "
    "each pair of sides, and nothing for their members."
)

SURE = 0.95  # posterior probability of what is taken as known
GOOD_POWER = 0.8
MOSTLY = 0.9  # share of pairs that met once from which the page says what that hides
CONDITIONAL = 399  # replicated logs of the model with conditions
NEAR = 4.0  # Monte Carlo standard errors from 0.05 within which a p-value is shown with its own
MODELLED = "fit the model BradleyTerry() + OrderEffect() (on the command line, --order-effect)"
NO_MEANING = (
    "if sides carry no meaning, check again with order_effect=False (on the command line, "
    "--no-order-effect)"
)
ADVICE = {
    "undecided": f"If the side listed first may have an advantage, {MODELLED}; {NO_MEANING}.",
    "borderline": (
        "Report the ranking together with the winners by criterion of a model without transitivity."
    ),
    "no fit": (
        "Report the ranking together with the winners by criterion of a model without transitivity."
    ),
    "conditions": "Fit a model with terms for these conditions, and use its ranking.",
    "no power": "A ranking is an assumption for this log.",
    "weak": (
        "A ranking is possible, but scores may misstate single pairs: read win probabilities "
        "from the model that predicts best or, where pairs met often, from the matrix of pairwise "
        "preferences."
    ),
}
LEVEL = 0.05  # of the test of transitivity; of naming some judge where all follow the ranking
JUDGED, NAMED = 30, 5  # votes of a judge to be named; judges named


def verdict_words(
    e: CycleEvidence, posterior: CyclePosterior | None, advice: str
) -> tuple[str, str]:
    """Return the first sentence of the verdict, and the others."""
    if not e.n_closed:
        return evidence_words(e), "Transitivity is an assumption for this log."
    p = p_words(e.p_value, e.n_replicated)
    if e.strength == "strong":
        return (
            f"The log has more cyclic triads than transitive models predict ({p}; neither strong "
            "transitivity nor the weakly transitive models of the test explain them).",
            f"{leading_words(posterior)} {advice}".strip(),
        )
    if e.strength == "conditions":
        return (
            f"The log has more cyclic triads than transitive models predict ({p}), but pairs met "
            f"under different conditions ({join(e.conditions)}): a ranking that changes with them "
            f"explains the cycles ({p_value(e.p_conditions, CONDITIONAL)}).",
            advice,
        )
    without = without_order_words(e)
    without = f"{without} " if without else ""
    if e.strength == "no power":
        return (
            "The log cannot tell whether a ranking holds: cycles whose every step is won at "
            f"{100 * MIDDLE:.0f} % would be detected with a probability of at most "
            f"{percent(e.best_power).removeprefix('< ')} %.",
            " ".join(
                words
                for words in (
                    f"Its cyclic triads are no more than transitive models predict ({p}).",
                    once_words(e),
                    f"{without}{advice}",
                )
                if words
            ),
        )
    if e.strength == "undecided":
        return (
            "The log cannot tell cycles from an order effect: it has more cyclic triads than "
            f"transitive models without an order effect predict ({p}), and too few pairs met in "
            "both orders to estimate one.",
            f"Transitivity is neither established nor rejected. {advice}",
        )
    if e.strength == "no fit":
        return (
            "The log cannot tell whether a ranking holds: no transitive model of the test fits its "
            f"{e.cyclic:,.0f} cyclic triads.",
            f"Some predict too few ({p}). {too_cyclic_words(e)} {advice}",
        )
    if e.strength == "borderline":
        return (
            f"The test of transitivity is undecided ({p}): after {e.n_replicated:,} replicated "
            f"logs of each null model, the p-value is within Monte Carlo error of {LEVEL:g}.",
            f"Transitivity is neither established nor rejected. {advice}",
        )
    if e.strength == "weak":
        strongly = p_words(e.p_strong, e.n_replicated)
        return (
            f"The log cannot be distinguished from a ranking with uneven margins ({p}).",
            f"{without}It has more cyclic triads than strongly transitive models such as "
            f"Bradley-Terry predict ({strongly}), but a ranking in which better arms win more "
            f"often than not, by margins that differ from pair to pair, explains them. {advice}",
        )
    first = f"The log is consistent with a transitive ranking ({p})."
    if e.without_order == "strong":
        first = f"The log is consistent with a transitive ranking and an order effect ({p})."
        advice = f"{without}{advice}"
    told = (power_words(e), once_words(e), advice)
    return first, " ".join(words for words in told if words)


def test_words(e: CycleEvidence) -> str:
    """Return what the predictive check of transitive models says, beside the answer by size."""
    p = p_words(e.p_value, e.n_replicated)
    told = {
        "none": f"has no more cyclic triads than transitive models predict ({p}).",
        "weak": (
            "has more cyclic triads than strongly transitive models such as Bradley-Terry predict "
            f"({p_words(e.p_strong, e.n_replicated)}), and no more than a ranking with uneven "
            f"margins predicts ({p})."
        ),
        "strong": f"has more cyclic triads than any transitive model predicts ({p}).",
        "borderline": f"has a p-value within Monte Carlo error of {LEVEL:g} ({p}).",
        "no fit": f"fits no transitive model of the test ({p}). {too_cyclic_words(e)}".rstrip(),
        "no power": (
            f"has no more cyclic triads than transitive models predict ({p}), which says nothing: "
            f"cycles whose every step is won at {100 * MIDDLE:.0f} % would be detected with a "
            f"probability of at most {percent(e.best_power).removeprefix('< ')} %."
        ),
    }[e.strength]
    further = (
        power_words(e) if e.strength == "none" else "",
        once_words(e),
        without_order_words(e),
    )
    return " ".join(["Predictive check: the log", told, *(w for w in further if w)])


def without_order_words(e: CycleEvidence) -> str:
    """Return that an order effect may hide cycles; "" where it cannot."""
    if e.without_order != "strong":
        return ""
    return f"Without an order effect the evidence of cycles would be strong; {NO_MEANING}."


def power_words(e: CycleEvidence) -> str:
    """Return what cycles the test would have found in a log of this size, local and global."""
    local, throughout = (e.power.get(k, {}).get(MIDDLE, 0.0) for k in ("three arms", "throughout"))
    if not any(row for row in e.power.values()):
        return ""
    if e.n_all == 1:  # a cycle of three arms is one through all arms
        seen = "It would probably have been seen."
        if local < GOOD_POWER:
            seen = "It may be there unnoticed, so transitivity is not established."
        return (
            f"Power: a cycle of the three arms, each step won at {100 * MIDDLE:.0f} %, would be "
            f"detected with a probability of {percent(local)} %. {seen}"
        )
    found = (
        f"Power: a single cycle of three arms, each step won at {100 * MIDDLE:.0f} %, would be "
        f"detected with a probability of {percent(local)} %; cycles of that strength through all "
        f"arms, added to the ranking, with {percent(throughout)} %"
    )
    if min(local, throughout) >= GOOD_POWER:
        return f"{found}. Cycles of either kind would probably have been seen."
    if throughout >= GOOD_POWER:
        return (
            f"{found}. The latter would probably have been seen; single cycles may be there "
            "unnoticed."
        )
    if local >= GOOD_POWER:
        return (
            f"{found}. The former would probably have been seen; weaker cycles, spread over all "
            "arms, may be there unnoticed."
        )
    return f"{found}. Either may be there unnoticed, so transitivity is not established."


def once_words(e: CycleEvidence) -> str:
    """Return what results of pairs that met once cannot tell; "" where most met more often."""
    if e.met_once < MOSTLY:
        return ""
    one = "decided duel" if e.unit == "duel" else "majority verdict"
    return (
        f"Of the pairs that met, {100 * e.met_once:.0f} % have one {one}: a result that would "
        "always recur and one by chance look alike, so a game without chance may be cyclic "
        "unnoticed. Repeated duels of the same pairs would tell; margins or attributes of the "
        "arms may."
    )


def leading_words(posterior: CyclePosterior | None) -> str:
    """Return the most probable cycle, or how many there are where none is ahead; else ""."""
    if posterior is None or not posterior.cycles:
        return ""
    top = posterior.cycles[0]
    if posterior.n_alike == 1:
        return f"The most probable cycle is {cycle_words(top)}."
    return (
        f"No single cycle stands out: {posterior.n_alike:,} cycles of three arms are as probable "
        f"({percent(top.probability)} %) up to Monte Carlo error."
    )


def p_words(p: float, n: int) -> str:
    """Return a p-value of `n` replicated logs; near 0.05, with its Monte Carlo standard error."""
    error = (p * (1 - p) / max(n, 1)) ** 0.5
    if p <= 1 / (n + 1) or abs(p - LEVEL) > NEAR * error:
        return p_value(p, n)
    return f"p = {p:.3f}, Monte Carlo standard error {error:.3f}"


def advice_words(
    strength: Strength,
    criterion: str,
    posterior: CyclePosterior | None,
    comparison: "Comparison | None" = None,
    posteriors: Mapping[str, CyclePosterior] | None = None,
) -> str:
    """Return what to report, by the evidence of cycles and the criterion of winner to use."""
    if strength in ADVICE:
        return ADVICE[strength]
    if criterion == "copeland":
        return "Use the ranking; under it all winner criteria name the same arm."
    if criterion == "condorcet":
        chance = percent(posterior.condorcet if posterior is not None else 0.0)
        return (
            "The cycles do not involve the best arm: some arm beats every other (probability "
            f"{chance} %). Report that Condorcet winner; the order of the other arms is not "
            "reliable."
        )
    words = (
        "A single ranking is not appropriate: use the von Neumann mixture (a mixture of arms that "
        "no arm beats), or the matrix of pairwise preferences."
    )
    if comparison is None or not posteriors:
        return words
    best = comparison.best
    transitive = [name for name in comparison.as_good if posteriors[name].weak > SURE]
    if best in transitive:
        return (
            f"{words} For predictions of single duels {best} is still the best of the models "
            "compared: there are cycles, but which ones is too uncertain."
        )
    if posteriors[best].weak >= 1 - SURE:
        return words
    if transitive:
        return (
            f"{words} Single duels are predicted best by {best}, which allows for cycles, but "
            f"{join(transitive)} cannot be distinguished from it: which cycles there are is "
            f"uncertain, and {comparison.weights_words}."
        )
    return f"{words} For predictions of single duels use {best}, which allows for cycles."


def cycle_words(cycle: Cycle) -> str:
    """Return one cycle with its probability."""
    arms = " > ".join(shorten(arm, SENTENCE) for arm in (*cycle.arms, cycle.arms[0]))
    return f"{arms} (probability {percent(cycle.probability)} %)"


def evidence_words(e: CycleEvidence) -> str:
    """Return the number of cyclic triads, the number expected, and the p-value."""
    if not e.n_closed:
        return (
            f"No three arms have all met (in none of {e.n_all:,} triads did all three pairs meet), "
            "so the log contains no information on transitivity."
        )
    sampled = ""
    if e.sampled < 1:
        sampled = f" (estimated from a sample of {100 * e.sampled:.2g} % of the triads)"
    found = f"{e.cyclic:,.0f} of {e.decided:,.0f} decided triads"
    found += " is cyclic" if round(e.cyclic) == 1 else " are cyclic"
    if round(e.decided) == 1:
        found = f"The only decided triad is {'' if e.cyclic else 'not '}cyclic"
    wrong = too_cyclic_words(e)
    uncounted = f" {wrong} Their p-values do not count." if wrong else ""
    adjusted, raw = "", tuple(f"{x:,.0f}" for x in e.unadjusted)
    if e.order == "estimated" and raw != (f"{e.cyclic:,.0f}", f"{e.decided:,.0f}"):
        adjusted = (
            ", majorities adjusted for the order effect (without that adjustment "
            f"{raw[0]} of {raw[1]})"
        )
    return (
        f"{found}{sampled}{adjusted}; the "
        f"transitive model with the largest p-value predicts {e.expected:,.0f} on the same "
        "design. "
        f"Weighted by their certainty: {p_words(e.p_value, e.n_replicated)} "
        f"({p_words(e.p_strong, e.n_replicated)} under strong transitivity).{uncounted}"
    )


def too_cyclic_words(e: CycleEvidence) -> str:
    """Return which null models do not fit, and what they predict; "" where all do."""
    if not e.too_cyclic:
        return ""
    found = join([f"{m} ({e.replicated[m][:, 1].mean():,.0f})" for m in e.too_cyclic], width=None)
    return f"Far more cyclic triads than the log has are predicted by: {found}."


def naive_words(e: CycleEvidence) -> str:
    """Return the result if every vote were independent, or "" where every vote is."""
    if e.naive is None or not e.naive.n_closed:
        return ""
    words = (
        f"One {e.unit} counts as one observation, because votes within it are not independent. "
        "Treating votes as independent would give "
        f"{p_words(e.naive.p_value, e.naive.n_replicated)}"
    )
    rejected, naive = e.transitive is False, e.naive.transitive is False
    if naive and not rejected:
        return f"{words} and reject transitivity."
    if rejected and not naive:
        return f"{words} and not reject transitivity."
    return f"{words}."


def cycle_posterior_words(b: CyclePosterior | None, n_closed: int, unit: str = "duel") -> str:
    """Return the posterior probabilities of cycles, pairs estimated independently."""
    if b is None:
        return ""
    error = (
        f" (\u00b1 {mean_count(b.cyclic_error)} from sampling of triads)" if b.cyclic_error else ""
    )
    before = f" (prior {percent(b.weak_prior)} %)" if b.weak_prior == b.weak_prior else ""
    return (
        "With a probability for each pair and no ranking assumed: no cycle with probability "
        f"{percent(b.weak)} %{before}; a Condorcet winner with probability "
        f"{percent(b.condorcet)} %; {mean_count(b.cyclic[0])} expected cyclic triads "
        f"({b.cyclic[1]:,.0f} to {b.cyclic[2]:,.0f}){error}, of {n_closed:,} whose pairs all have "
        f"decided {decided_units(unit)} (pairs with few duels add to that number by their "
        "uncertainty alone)."
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
        f"Margins: the intransitivity index is {m.index:.2f}; if scores explain the margins, "
        f"{m.expected:.2f} is expected on this design, and at most {m.upper:.2f} in 95 % of logs "
        f"({p_value(m.p_value, m.n_logs)}, not part of the p-value above)."
    )


def judge_words(judges: pd.DataFrame | None) -> str:
    """Return the judges whose votes the model does not expect, by Bonferroni's limit on z."""
    if judges is None:
        return ""
    table = judges[judges["votes"] >= JUDGED]
    odd = table[table["z"] < ndtri(LEVEL / max(len(table), 1))]
    if odd.empty:
        return ""
    share, expected = (
        percent(float((odd[name] * odd["votes"]).sum() / odd["votes"].sum()))
        for name in ("agreement", "expected")
    )
    return (
        f"Of {len(table):,} judges with {JUDGED} decided votes or more, "
        f"{join([str(judge) for judge in odd['judge']], NAMED)} voted for the arm that the model "
        f"favours in {share} % of these votes, where {expected} % is expected: random votes, or "
        "preferences of their own."
    )


def unordered_words(e: CycleEvidence) -> str:
    """Return a caution where cycles were found in a log whose sides carry no meaning, else ""."""
    if e.transitive is not False:
        return ""
    return (
        "Which arm was listed first is unknown or carries no meaning in this log; an advantage of "
        "one side could cause cycles, too."
    )
