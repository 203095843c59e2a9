"""Report sections: transitivity, residuals of the transitive model, model comparison."""

from functools import partial
from typing import TYPE_CHECKING, Any

from bayesduel.criticism import check_text
from bayesduel.reporting.section import (
    Block,
    Figure,
    Group,
    Section,
    Table,
    Text,
    Verdict,
    blocks,
    frame_table,
)
from bayesduel.text import SENTENCE, count, p_value, percent, shorten, significant

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.criticism.check import Check
    from bayesduel.criticism.compare import Comparison

__all__ = [
    "check_verdict_section",
    "comparison_section",
    "comparison_table",
    "residuals_section",
    "transitivity_section",
]

ROWS = 8  # of a table of residuals
NULL_MODELS = {
    "logistic": "scores, logistic (Bradley-Terry with lapses)",
    "normal": "scores, normal (Thurstone with lapses)",
    "isotonic": "strongly transitive, no link assumed",
    "irregular": "weakly transitive, in the order of the scores",
    "reordered": "weakly transitive, in the order that contradicts fewest majorities",
    "mixture": "weakly transitive, pairs as level or as certain as those of the log",
}
RESIDUALS: dict[str, tuple[tuple[tuple[Any, ...], ...], str]] = {  # columns, and a note
    "pairs": (
        (
            ("l", "first", "{first}"),
            ("l", "second", "{second}"),
            ("n", "won by first", "{observed:,} of {duels:,}"),
            ("n", "expected", lambda r: _expected(r["expected"])),
            ("n", "z", "{z:+z.1f}"),
            ("n", "adjusted p", lambda r: _p(r["surprise"])),
        ),
        "Largest residuals under the transitive model that fits best. Adjusted p: probability that "
        "the largest of so many residuals is at least this large.",
    ),
    "arms": (
        (
            ("l", "arm", "{arm}"),
            ("n", "opponents", "{opponents:,}"),
            ("n", "mean square", "{misfit:.2f}"),
            ("n", "p", lambda r: _p(r["p"], r["n_draws"])),
        ),
        "Mean squared residual of an arm's pairs, 1 if the model holds. p: share of replicated "
        "logs in which it is at least as large.",
    ),
    "judges": (
        (
            ("l", "judge", "{judge}"),
            ("n", "decided\nvotes", "{votes:,}"),
            ("n", "agreement", lambda r: f"{percent(r['agreement'])} %"),
            ("n", "expected", lambda r: f"{percent(r['expected'])} %"),
            ("n", "z", lambda r: "\u2013" if r["z"] != r["z"] else f"{r['z']:+z.1f}"),
        ),
        "Share of a judge's decided votes for the arm that the model favours, and its "
        "expectation; z of the log likelihood of these votes, taken as independent: strongly "
        "negative if the model does not expect them. No z for fewer than five of them.",
    ),
}
NO_CYCLES_NOTE = "No decided triad of the log is cyclic; these are the most probable to be."
CYCLES_NOTES = {
    "none": "Any log has some cycles; these are no more than expected by chance.",
    "weak": "A ranking with uneven margins may explain these cycles.",
    "undecided": "An order effect may explain these cycles.",
    "conditions": "A ranking that changes with the conditions of a duel explains these cycles.",
    "no power": "No more than expected by chance; more would hardly have been noticed.",
    "borderline": "Whether a ranking explains these cycles is undecided.",
    "no fit": "Whether a ranking explains these cycles is undecided.",
}
POWER_NAMES = {"three arms": "one cycle of three arms", "throughout": "cycles through all arms"}


def check_verdict_section(check: "Check") -> Section:
    """Return the section on the verdict of a check."""
    headline, rest = check.verdict_parts
    verdict = Verdict(
        headline=headline,
        text=(rest,),
        note=(f"From {check.duels.n_duels:,} duels between {check.duels.n_arms:,} arms."),
        settled=check.transitive is False,
    )
    return Section(id="verdict", body=(verdict,))


def transitivity_section(
    check: "Check", *, verdict: bool = False, modelled: bool = False
) -> Section:
    """Return the section on the test of transitivity, with or without the verdict at its top.

    `modelled`: whether the model of the page's ranking has an order effect.
    """
    words = check_text.unordered_words(check.evidence)
    if check.order is not None:
        words = check.order.words(modelled=modelled)
    order = Group("Order effect", (Text(words),)) if words else None
    naive = check_text.naive_words(check.evidence)
    return Section(
        id="transitivity",
        title="Transitivity",
        body=blocks(
            Text(check.verdict, "strong") if verdict else None,
            check_text.TEAMS_TESTED if check.of_teams else None,
            _arcs(check),
            *check.support,
            f"{check_text.evidence_words(check.evidence)} {naive}".strip(),
            _cyclicity_figure(check),
            _test_in_numbers(check),
            f"{check.independent_words} {_consistence_words(check)}".strip(),
            check_text.margin_words(check.margins),
            _cycles(check),
            order,
        ),
    )


def residuals_section(check: "Check") -> Section:
    """Return the section on what the transitive model does not explain."""
    from bayesduel.plots.transitivity import plot_residuals, residuals_size

    figure = None
    if check.evidence.null_models is not None:
        figure = Figure(
            plot=partial(plot_residuals, check),
            size=residuals_size(check.duels.n_arms),
            alt="Share of duels won by each pair, in rank order",
            caption="Arms in the order of the transitive model that fits best, which may differ "
            "from the ranking. Purple: the row won most of its "
            "decided duels with the column; orange: the column. Crosses: pairs whose result has a "
            "p-value below 0.01 under that model. Grey: no "
            f"decided {check_text.decided_units(check.evidence.unit)}.",
            wide=True,
        )
    tables = (_residuals(name, frame) for name, frame in check.residuals.items())
    return Section(id="residuals", title="Residuals", body=blocks(figure, *tables))


def comparison_section(check: "Check") -> Section:
    """Return the section on the models that a check compared."""
    body: tuple[Block, ...]
    if check.comparison is None:
        body = blocks(check.why_not_compared)
    else:
        body = blocks(
            comparison_table(check.comparison), check.comparison.sentence, _cycles_by_model(check)
        )
    return Section(id="comparison", title="Model comparison", body=body)


def comparison_table(comparison: "Comparison") -> Table:
    """Return the table of a comparison of models, the best first."""
    frame = comparison.formatted()
    return Table(
        columns="t" + "n" * frame.shape[1],
        heads=("model", *map(str, frame.columns)),
        rows=tuple((str(name), *row) for name, row in zip(frame.index, frame.values, strict=True)),
        full=True,
        caption="elpd: log predictive density of the units left out, in nats, with its standard "
        "error (se); difference: from the best model. p_loo: effective number of parameters. "
        "Weight: in the stacked model. High: observations with k-hat too high for importance "
        "sampling; refitted: those predicted by a refit without them.",
    )


def _cyclicity_figure(check: "Check") -> Figure | None:
    from bayesduel.plots.transitivity import CYCLICITY_SIZE, plot_cyclicity

    e = check.evidence
    if not e.cyclic and not any(logs[:, 1].any() for logs in e.replicated.values()):
        return None  # no log has a cycle, as the text says
    return Figure(
        plot=partial(plot_cyclicity, check),
        size=CYCLICITY_SIZE,
        alt="Cyclicity of replicated logs and of this one",
        caption="Replicated logs on the same design, by null model: scores (logistic or normal), "
        "strong transitivity (a better ranked arm does at least as well against every opponent), "
        "and weak transitivity (it only wins more often than not). Filled: the null model that "
        "gives the p-value; line: this log. Cyclic triads are weighted by the certainty of "
        "their three majorities.",
    )


def _test_in_numbers(check: "Check") -> Group | None:
    e = check.evidence
    if not e.replicated:
        return None
    nulls = Table(
        columns="tnn",
        name="null-models",
        heads=("null model", "cyclic triads expected", "p-value"),
        rows=tuple(
            (
                NULL_MODELS[model],
                check_text.mean_count(logs[:, 1].mean()),
                "does not fit"
                if model in e.too_cyclic
                else p_value(e.p_by_model[model], len(logs)).removeprefix("p ").removeprefix("= "),
            )
            for model, logs in e.replicated.items()
        ),
        caption="The p-value of the test is the largest of the models that fit. A model does not "
        "fit if at most 2.5 % of its logs have as few cycles as this one. Evidence of cycles is "
        "strong where all are at most 0.05, and weak where those of strong transitivity are. "
        f"{e.n_replicated:,} logs were replicated from each null model. All three pairs have "
        f"decided {check_text.decided_units(e.unit)} in {e.n_closed:,} of "
        f"{count(e.n_all, 'triad')}.",
    )
    strengths = tuple(f"won at {100 * s:.0f} %" for s in e.power["throughout"])
    power = Table(
        columns="t" + "n" * len(strengths),
        name="power",
        heads=("alternative", *strengths),
        rows=tuple(
            (POWER_NAMES[kind], *(f"{percent(v)} %" for v in row.values()))
            for kind, row in e.power.items()
            if kind == "three arms" or e.n_all > 1
        ),
        caption="Power: probability that the test rejects transitivity where such cycles are added "
        "to the fitted ranking, and all else is as fitted.",
    )
    if e.strength == "strong":  # the question that it answers does not arise
        return Group("The test in numbers", (nulls,), folded=True)
    return Group("The test in numbers", (nulls, power), folded=True)


def _consistence_words(check: "Check") -> str:
    if check.consistence is None:
        return ""
    return f"Kendall's coefficient of consistence is {check.consistence:.2f}."


def _arcs(check: "Check") -> Figure | None:
    from bayesduel.plots.transitivity import cycles_size, plot_cycles

    if check.ranking is None:
        return None
    return Figure(
        plot=partial(plot_cycles, check),
        size=cycles_size(check.duels.n_arms),
        alt="Arms in order of strength, with arcs for pairs that contradict the order",
        caption="Arms in order of strength, the strongest at the top. An arc joins two arms of "
        "which the lower one probably beats the higher one. Dark: more certain (almost: with "
        "a probability of 0.95); thick: the lower arm wins by more.",
    )


def _cycles(check: "Check") -> Group | None:
    if not check.cycles:
        return None
    note = Text(check_text.leading_words(check.cycle_posterior), "small")
    if check.evidence.strength != "strong":
        note = Text(_cycles_note(check), "small")
    table = Table(
        columns="tnn",
        name="cycles",
        heads=("cycle", "probability", "won : lost"),
        rows=tuple(
            (
                " > ".join(shorten(a, SENTENCE) for a in (*c.arms, c.arms[0])),
                f"{percent(c.probability)} %",
                ", ".join(f"{won}:{lost}" for won, lost in c.counts),
            )
            for c in check.cycles
        ),
        full=True,
    )
    return Group("Most probable cycles", blocks(note, table))


def _cycles_note(check: "Check") -> str:
    """Return what to make of cycles where the evidence is not strong, and how many are alike."""
    e, b = check.evidence, check.cycle_posterior
    note = CYCLES_NOTES[e.strength] if e.cyclic else NO_CYCLES_NOTE
    if b is None or b.n_alike <= len(check.cycles):
        return note
    return f"{note} {check_text.leading_words(b)}"


def _residuals(name: str, frame: "pd.DataFrame") -> Group:
    """Return the largest residuals of pairs, arms or judges."""
    columns, note = RESIDUALS[name]
    shown = frame.head(ROWS).assign(n_draws=frame.attrs.get("n_draws", 0))
    table = frame_table(frame, columns, shown, full=True, name=name)
    judges = check_text.judge_words(frame) if name == "judges" else ""
    return Group(name.capitalize(), blocks(judges, Text(note, "small"), table))


def _expected(mean: float) -> str:
    return significant(mean, 1) if mean < 0.05 else f"{mean:,.1f}"  # a tenth would show none


def _p(p: float, draws: int = 0) -> str:
    """Return a p-value, of so many replicated logs, with no more precision than they allow."""
    if draws and p <= 1 / (draws + 1):
        return f"< {1 / draws:.2g}"
    if p < 0.001:
        return "< 0.001"
    return significant(p) if p < 0.0995 else f"{p:.2f}"


def _cycles_by_model(check: "Check") -> Group | None:
    if not check.cycle_posteriors:
        return None
    table = Table(
        columns="tnnn",
        name="cycles-by-model",
        heads=("model", "no cycle", "Condorcet winner", "cyclic triads"),
        rows=tuple(
            (
                name,
                f"{percent(b.weak)} %",
                f"{percent(b.condorcet)} %",
                f"{check_text.mean_count(b.cyclic[0])} ({b.cyclic[1]:,.0f} to {b.cyclic[2]:,.0f})",
            )
            for name, b in check.cycle_posteriors.items()
        ),
        full=True,
        caption="Probability that no triad is cyclic, and that some arm beats every other; "
        "expected cyclic triads, with 95 % interval, of the triads whose pairs all have "
        f"decided {check_text.decided_units(check.evidence.unit)}.",
    )
    return Group("Cycles by model", (table,))
