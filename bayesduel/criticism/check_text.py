"""What a check says, in sentences."""

from typing import TYPE_CHECKING, Literal

from bayesduel.text import SENTENCE, join, p_value, percent, shorten

if TYPE_CHECKING:
    from bayesduel.criticism.check_result import Check
    from bayesduel.criticism.transitivity import Evidence

__all__ = [
    "belief_words",
    "criterion_of",
    "cycle_words",
    "evidence_words",
    "judge_words",
    "margin_words",
    "naive_words",
    "order_words",
    "verdict_parts",
    "verdict_words",
]

SURE = 0.95  # posterior probability that counts as settled
MIDDLE = 0.75  # the planted strength that verdicts speak of
GOOD_POWER, FAIR_POWER = 0.8, 0.5
LEVEL = 0.05  # of naming some judge where all vote as the ranking says
JUDGED, NAMED = 30, 5  # votes of a judge to be named; judges named


def cycle_words(check: "Check", n: int = 1) -> str:
    """Return the likeliest cycles, each with its probability."""
    if check.belief is None:
        return ""
    told = [
        f"{' > '.join(shorten(a, SENTENCE) for a in (*c.arms, c.arms[0]))} "
        f"(probability {percent(c.probability)} %)"
        for c in check.belief.cycles[:n]
    ]
    return "; ".join(told)


def evidence_words(e: "Evidence") -> str:
    """Tell the count of cycles, what it is held against, and the p-value."""
    if not e.n_closed:
        return (
            f"No three arms have all met (of {e.n_all:,} triads none can close): there is "
            "nothing that could be cyclic, and this log says nothing of transitivity."
        )
    draws = len(next(iter(e.replicated.values())))
    sampled = ""
    if e.sampled < 1:
        sampled = f" (estimated from a sample of {100 * e.sampled:.2g} % of the triads)"
    return (
        f"{e.cyclic:,.0f} of {e.decided:,.0f} decided triads are cyclic{sampled}; the transitive "
        f"world that explains the log best makes {e.expected:,.0f} on the same design. Weighed "
        f"by how sure they are: {p_value(e.p_value, draws)}."
    )


def naive_words(e: "Evidence") -> str:
    """Tell what taking every vote as independent would have said."""
    if e.naive is None:
        return ""
    if not e.naive.n_closed:
        return ""
    draws = len(next(iter(e.naive.replicated.values())))
    words = (
        f"One {e.unit} counts as one observation, for the votes within it are not independent. "
        f"Taking each vote as independent would give {p_value(e.naive.p_value, draws)}"
    )
    if e.transitive and not e.naive.transitive:
        return f"{words}, and would have accused this log wrongly."
    if e.naive.transitive and not e.transitive:
        return f"{words}, and would have missed the cycles."
    return f"{words}."


def verdict_words(check: "Check") -> str:
    """Return the verdict: what holds, what it rests on, and what to do."""
    return " ".join(verdict_parts(check))


def verdict_parts(check: "Check") -> tuple[str, str]:
    """Return the verdict's first sentence, and the others."""
    e = check.evidence
    if not e.n_closed:
        return evidence_words(e), "A ranking is an assumption here."
    draws = len(next(iter(e.replicated.values())))
    p = p_value(e.p_value, draws)
    if not e.transitive:
        extent = (
            "neither a regular ranking nor an uneven one explains them"
            if e.strength == "strong"
            else "no regular ranking explains them, though an uneven one might"
        )
        named = cycle_words(check)
        example = f"The likeliest cycle is {named}. " if named else ""
        return (
            f"This log goes round in circles more than chance allows ({p}; {extent}).",
            f"{example}{_advice(check)}",
        )
    first = f"Nothing in this log speaks against a single ranking ({p})."
    power = e.power.get("throughout", {}).get(MIDDLE, float("nan"))
    if power != power:
        return first, _advice(check)
    shown = (
        f"had cycles won at {100 * MIDDLE:.0f} % run through all arms, the chance to see it was "
        f"{percent(power)} %"
    )
    if power >= GOOD_POWER:
        return first, f"It could have: {shown}. {_advice(check)}"
    could = "might not" if power >= FAIR_POWER else "could hardly"
    return first, (
        f"But it {could} have shown cycles ({shown}), so that a ranking is assumed rather than "
        f"proven. {_advice(check)}"
    )


def criterion_of(check: "Check") -> Literal["copeland", "condorcet", "von_neumann"]:
    """Return the winner criterion to use: of `bayesduel.preference.CRITERIA`."""
    if check.evidence.transitive:
        return "copeland"
    if check.belief is not None and check.belief.condorcet >= SURE:
        return "condorcet"
    return "von_neumann"


# -- in calling order ----------------------------------------------------------------------


def _advice(check: "Check") -> str:
    criterion = criterion_of(check)
    if criterion == "copeland":
        return "Read the ranking; all winner criteria agree on its top."
    if criterion == "condorcet":
        return (
            "The cycles lie below the top: some arm beats every other (probability "
            f"{percent(check.belief.condorcet if check.belief else 0.0)} %), so name that "
            "Condorcet winner and do not trust the order of the rest."
        )
    words = (
        "Do not read one ranking off it: use the von Neumann mixture (the arms that nothing "
        "beats together), or look at who beats whom."
    )
    if check.comparison is None or not check.beliefs:
        return words
    best, beliefs = check.comparison.best, check.beliefs
    ranked = [name for name in check.comparison.as_good if beliefs[name].weak > SURE]
    if best in ranked:
        words += (
            f" To predict single duels {best} is still the best of the models "
            "compared: the cycles are there, but which they are is not known well enough."
        )
    elif beliefs[best].weak < 1 - SURE and ranked:
        words += (
            f" Single duels are predicted best by {best}, which knows of the cycles, but "
            f"{join(ranked)} cannot be told from it: which cycles there are is hardly known."
        )
    elif beliefs[best].weak < 1 - SURE:
        words += f" To predict single duels use {best}, which knows of the cycles."
    return words


def belief_words(check: "Check") -> str:
    """Tell the posterior probabilities when every pair stands for itself."""
    b = check.belief
    if b is None:
        return ""
    error = f" (give or take {b.cyclic_error:,.1f} from sampling triads)" if b.cyclic_error else ""
    before = ""
    if b.weak_prior == b.weak_prior:
        before = f"; before the log it was {percent(b.weak_prior)} %"
    return (
        "If every pair has a probability of its own: no cycle at all with probability "
        f"{percent(b.weak)} %{before}; an arm that beats every other with probability "
        f"{percent(b.condorcet)} %; {b.cyclic[0]:,.1f} cyclic triads are expected "
        f"({b.cyclic[1]:,.0f} to {b.cyclic[2]:,.0f}){error}, of {check.evidence.n_closed:,} "
        "whose pairs all met (seldom met pairs add to that by ignorance alone)."
    )


def margin_words(check: "Check") -> str:
    """Tell the intransitivity index of the margins."""
    m = check.margins
    if m is None:
        return ""
    return (
        f"By how much arms won: the intransitivity index of the margins is {m.index:.2f}; logs "
        f"that scores explain have {m.expected:.2f} on this design, 95 % of them at most "
        f"{m.upper:.2f} ({p_value(m.p_value, m.n_logs)}, not part of the p-value above)."
    )


def judge_words(check: "Check") -> str:
    """Name the judges whose votes surprise, by Bonferroni's limit on the z of all judges."""
    from scipy.stats import norm

    table = check.residuals.get("judges")
    if table is None:
        return ""
    table = table[table["votes"] >= JUDGED]
    odd = table[table["z"] < -norm.isf(LEVEL / max(len(table), 1))]
    if odd.empty:
        return ""
    share, expected = (
        percent(float((odd[name] * odd["votes"]).sum() / odd["votes"].sum()))
        for name in ("agreement", "expected")
    )
    return (
        f"Of {len(table):,} judges with {JUDGED} votes or more, "
        f"{join([str(judge) for judge in odd['judge']], NAMED)} voted for the ranking's favourite "
        f"in {share} % of duels where {expected} % would be expected: random clicks, or a taste "
        "of their own."
    )


def order_words(check: "Check") -> str:
    """Tell what the side listed first wins."""
    o = check.order
    if o is None:
        return ""
    low, high = (100 * x for x in o.interval)
    return (
        f"The side listed first won {100 * o.share:.1f} % of {o.n_decisive:,} decisive duels "
        f"(95 %: {low:.1f} to {high:.1f}); between level arms it wins "
        f"{100 * o.between_level:.1f} %. "
        + ("That is an effect of the order, " if o.clear else "No clear effect of the order; ")
        + "allowed for in the test of transitivity."
    )
