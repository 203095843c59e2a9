"""The sentences of a check."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bayesduel.text import SENTENCE, join, p_value, percent, shorten

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.criticism.comparison import Comparison
    from bayesduel.criticism.cycle_posterior import Cycle, CyclePosterior
    from bayesduel.criticism.intransitivity_index import MarginIndex
    from bayesduel.criticism.transitivity import Evidence

__all__ = [
    "SURE",
    "advice_words",
    "cycle_posterior_words",
    "cycle_words",
    "evidence_words",
    "judge_words",
    "margin_words",
    "naive_words",
    "order_words",
    "verdict_words",
]

SURE = 0.95  # posterior probability of what is taken as known
MIDDLE = 0.75  # win probability of the planted cycles whose power is reported
GOOD_POWER, FAIR_POWER = 0.8, 0.5
LEVEL = 0.05  # of naming some judge where all votes follow the ranking
JUDGED, NAMED = 30, 5  # votes of a judge to be named; judges named


def verdict_words(e: "Evidence", cycles: "tuple[Cycle, ...]", advice: str) -> tuple[str, str]:
    """Return the first sentence of the verdict, and the others.

    Parameters
    ----------
    e
        The test of transitivity.
    cycles
        The most probable cycles, the first of them first.
    advice
        What :func:`advice_words` returned.
    """
    if not e.n_closed:
        return evidence_words(e), "Transitivity is an assumption for this log."
    p = p_value(e.p_value, e.n_replicated)
    if not e.transitive:
        extent = (
            "neither strong nor weak transitivity explains them"
            if e.strength == "strong"
            else "strong transitivity does not explain them, but weak transitivity may"
        )
        example = f"The most probable cycle is {cycle_words(cycles[0])}. " if cycles else ""
        return (
            f"The log has more cyclic triads than transitive models predict ({p}; {extent}).",
            f"{example}{advice}",
        )
    first = f"The log is consistent with a transitive ranking ({p})."
    power = e.power.get("throughout", {}).get(MIDDLE, float("nan"))
    if power != power:
        return first, advice
    shown = (
        "power to detect cycles through all arms with a win probability of "
        f"{100 * MIDDLE:.0f} %: {percent(power)} %"
    )
    if power >= GOOD_POWER:
        return first, f"The test has high power ({shown}). {advice}"
    how = "moderate" if power >= FAIR_POWER else "low"
    return first, (
        f"The test has only {how} power ({shown}), so transitivity is not established. {advice}"
    )


def advice_words(
    criterion: str,
    posterior: "CyclePosterior | None",
    comparison: "Comparison | None" = None,
    posteriors: "Mapping[str, CyclePosterior] | None" = None,
) -> str:
    """Return what to report, by the criterion of winner to use.

    Parameters
    ----------
    criterion
        "copeland", "condorcet" or "von_neumann".
    posterior
        Posterior probabilities of cycles, pairs estimated independently.
    comparison, posteriors
        The models compared, and the same probabilities under each of them.
    """
    if criterion == "copeland":
        return "Use the ranking; all winner criteria agree on its first arm."
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


def cycle_words(cycle: "Cycle") -> str:
    """Return one cycle with its probability."""
    arms = " > ".join(shorten(arm, SENTENCE) for arm in (*cycle.arms, cycle.arms[0]))
    return f"{arms} (probability {percent(cycle.probability)} %)"


def evidence_words(e: "Evidence") -> str:
    """Return the number of cyclic triads, the number expected, and the p-value."""
    if not e.n_closed:
        return (
            f"No three arms have all met (in none of {e.n_all:,} triads did all three pairs meet), "
            "so the log contains no information on transitivity."
        )
    sampled = ""
    if e.sampled < 1:
        sampled = f" (estimated from a sample of {100 * e.sampled:.2g} % of the triads)"
    return (
        f"{e.cyclic:,.0f} of {e.decided:,.0f} decided triads are cyclic{sampled}; the best-fitting "
        f"transitive model predicts {e.expected:,.0f} on the same design. Weighted by their "
        f"certainty: {p_value(e.p_value, e.n_replicated)}."
    )


def naive_words(e: "Evidence") -> str:
    """Return the result if every vote were independent, or "" where every vote is."""
    if e.naive is None or not e.naive.n_closed:
        return ""
    words = (
        f"One {e.unit} counts as one observation, because votes within it are not independent. "
        "Treating votes as independent would give "
        f"{p_value(e.naive.p_value, e.naive.n_replicated)}"
    )
    if e.transitive and not e.naive.transitive:
        return f"{words} and reject transitivity."
    if e.naive.transitive and not e.transitive:
        return f"{words} and not reject transitivity."
    return f"{words}."


def cycle_posterior_words(b: "CyclePosterior | None", n_closed: int) -> str:
    """Return the posterior probabilities of cycles, pairs estimated independently.

    `n_closed` is the number of triads whose pairs all met.
    """
    if b is None:
        return ""
    error = f" (\u00b1 {b.cyclic_error:,.1f} from sampling of triads)" if b.cyclic_error else ""
    before = f" (prior {percent(b.weak_prior)} %)" if b.weak_prior == b.weak_prior else ""
    return (
        "With a probability for each pair and no ranking assumed: no cycle with probability "
        f"{percent(b.weak)} %{before}; a Condorcet winner with probability "
        f"{percent(b.condorcet)} %; {b.cyclic[0]:,.1f} expected cyclic triads "
        f"({b.cyclic[1]:,.0f} to {b.cyclic[2]:,.0f}){error}, of {n_closed:,} whose pairs all met "
        "(pairs with few duels add to that number by their uncertainty alone)."
    )


def margin_words(m: "MarginIndex | None") -> str:
    """Return the intransitivity index of the margins and its null distribution."""
    if m is None:
        return ""
    return (
        f"Margins: the intransitivity index is {m.index:.2f}; if scores explain the margins, "
        f"{m.expected:.2f} is expected on this design, and at most {m.upper:.2f} in 95 % of logs "
        f"({p_value(m.p_value, m.n_logs)}, not part of the p-value above)."
    )


def judge_words(judges: "pd.DataFrame | None") -> str:
    """Return the judges whose votes the model does not expect, by Bonferroni's limit on z."""
    from scipy.stats import norm

    if judges is None:
        return ""
    table = judges[judges["votes"] >= JUDGED]
    odd = table[table["z"] < -norm.isf(LEVEL / max(len(table), 1))]
    if odd.empty:
        return ""
    share, expected = (
        percent(float((odd[name] * odd["votes"]).sum() / odd["votes"].sum()))
        for name in ("agreement", "expected")
    )
    return (
        f"Of {len(table):,} judges with {JUDGED} votes or more, "
        f"{join([str(judge) for judge in odd['judge']], NAMED)} voted for the arm that the model "
        f"favours in {share} % of duels, where {expected} % is expected: random votes, or "
        "preferences of their own."
    )


def order_words(
    share: float, interval: tuple[float, float], between_level: float, n_decisive: int, clear: bool
) -> str:
    """Return the share of duels that the side listed first won.

    Parameters
    ----------
    share, interval
        Of the decisive duels, and its 95 % interval.
    between_level
        Win probability of the first side between arms of equal score.
    n_decisive
        Number of decisive duels.
    clear
        Whether the interval excludes one half.
    """
    low, high = (100 * x for x in interval)
    effect = "This is an order effect" if clear else "There is no clear order effect"
    return (
        f"The side listed first won {100 * share:.1f} % of {n_decisive:,} decisive duels (95 %: "
        f"{low:.1f} to {high:.1f}), and {100 * between_level:.1f} % between arms of equal score. "
        f"{effect}; the test of transitivity adjusts for it."
    )
