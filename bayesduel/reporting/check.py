"""Report sections: transitivity, residuals of scores, model comparison."""

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
from bayesduel.text import SENTENCE, an, begun, count, percent, plural, shorten, significant

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.criticism.check_result import Check
    from bayesduel.criticism.compare import Comparison

__all__ = [
    "check_verdict_section",
    "comparison_section",
    "comparison_table",
    "residuals_section",
    "transitivity_section",
]

# Columns, and a note; of an arm that is called {0}, "an arm" being {1}
RESIDUALS: dict[str, tuple[tuple[tuple[Any, ...], ...], str]] = {
    "pairs": (
        (
            ("l", "first", "{first}"),
            ("l", "second", "{second}"),
            ("n", "won by first", "{observed:,} of {duels:,}"),
            ("n", "expected", lambda r: _expected(r["expected"])),
            ("n", "z", "{z:+z.1f}"),
            ("n", "adjusted p", lambda r: _p(r["surprise"])),
        ),
        "Largest residuals under one score per {0}. Adjusted p: probability that the largest of "
        "all these residuals is at least this large.",
    ),
    "arms": (
        (
            ("l", "{0}", "{arm}"),
            ("n", "opponents", "{opponents:,}"),
            ("n", "mean square", "{misfit:.2f}"),
            ("n", "p", lambda r: _p(r["p"], r["n_draws"])),
        ),
        "Mean squared residual of {1}'s pairs; about 1 if the fitted model is right. p: share of "
        "replicated logs in which it is at least as large.",
    ),
    "judges": (
        (
            ("l", "judge", "{judge}"),
            ("n", "decided\nvotes", "{votes:,}"),
            ("n", "agreement", lambda r: f"{percent(r['agreement'])} %"),
            ("n", "expected", lambda r: f"{percent(r['expected'])} %"),
            ("n", "z", lambda r: "\u2013" if r["z"] != r["z"] else f"{r['z']:+z.1f}"),
        ),
        "Share of a judge's decided votes for the {0} that the fitted model favours, and its "
        "expectation. z: of the log likelihood of these votes, taken as independent. It "
        "is strongly negative if the fitted model does not expect them. A judge with fewer than "
        "five such votes has no z.",
    ),
}
NO_CYCLES_NOTE = (
    "No decided triad of the log is cyclic. These triads are the most likely to be cyclic."
)
CAUSES = {
    "": "",
    "order": "A side advantage may explain these cycles.",
    "conditions": "A ranking that changes with the conditions of a duel explains these cycles.",
}


def check_verdict_section(check: "Check") -> Section:
    """Return the section on the verdict of a check."""
    headline, rest = check.verdict_parts
    verdict = Verdict(
        headline=headline,
        text=(rest,),
        note=f"From {count(check.duels.n_duels, 'duel')} between "
        f"{count(check.duels.n_arms, check.noun)}.",
        settled=check.transitive is False,
    )
    return Section(id="verdict", body=(verdict,))


def transitivity_section(
    check: "Check", *, verdict: bool = False, modelled: bool = False
) -> Section:
    """Return the section on whether there is one ranking, with or without the verdict at its top.

    `modelled`: whether the model of the page's ranking has a side advantage.
    """
    words = check_text.unordered_words(check.transitive, check.noun)
    if check.order is not None:
        words = check.order.words(modelled=modelled, noun=check.noun)
    order = Group("Side advantage", (Text(words),)) if words else None
    changed = check.drift_words
    drift = Group("Change over time", (Text(changed),)) if changed else None
    return Section(
        id="transitivity",
        title="Transitivity",
        body=blocks(
            Text(check.verdict, "strong") if verdict else None,
            check.scope or None,
            check_text.teams_tested_words(check.noun) if check.of_teams else None,
            _arcs(check),
            *check.support,
            _cyclicity_figure(check),
            _consistence_words(check),
            check_text.margin_words(check.margins),
            _cycles(check),
            order,
            drift,
        ),
    )


def residuals_section(check: "Check") -> Section:
    """Return the section on what scores do not explain."""
    from bayesduel.plots.transitivity import plot_residuals, residuals_size

    figure = None
    if check.evidence.scores is not None:
        figure = Figure(
            plot=partial(plot_residuals, check),
            size=residuals_size(check.duels.n_arms),
            alt="Share of duels won by each pair, in rank order",
            caption=f"{begun(plural(check.noun))} in the order of their scores. Purple: the row "
            "won most of its decided duels with the column; orange: the column. Crosses: pairs "
            f"whose result has a p-value below 0.01 under one score per {check.noun}. Grey: no "
            f"decided {check_text.decided_units(check.evidence.unit)}.",
            wide=True,
        )
    tables = (_residuals(name, frame, check.noun) for name, frame in check.residuals.items())
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
        caption="elpd: log predictive density of the units left out, in nats (units of the "
        "natural logarithm), with its standard error (se). Difference: from the best model. p_loo: "
        "effective number of "
        "parameters. Weight: in the stacked model. High: observations with k-hat too "
        "high for importance sampling; refitted: those predicted by a refit without "
        "them.",
    )


def _cyclicity_figure(check: "Check") -> Figure | None:
    from bayesduel.plots.transitivity import CYCLICITY_SIZE, plot_cyclicity

    e = check.evidence
    if not e.cyclic and not e.expected:
        return None  # no log has a cycle, as the text says
    return Figure(
        plot=partial(plot_cyclicity, check),
        size=CYCLICITY_SIZE,
        alt="Cyclicity of replicated logs and of this one",
        caption=f"{e.n_replicated:,} logs replicated from one score per {check.noun} on the same "
        "design; line: this log. Cyclic triads are weighted by the certainty of their three "
        f"majorities. All three pairs have decided {check_text.decided_units(e.unit)} in "
        f"{e.n_closed:,} of {count(e.n_all, 'triad')}.",
    )


def _consistence_words(check: "Check") -> str:
    if check.consistence is None:
        return ""
    return f"Kendall's coefficient of consistence is {check.consistence:.2f}."


def _arcs(check: "Check") -> Figure | None:
    from bayesduel.plots.transitivity import cycles_size, plot_cycles

    if check.ranking is None:
        return None
    nouns = plural(check.noun)
    return Figure(
        plot=partial(plot_cycles, check),
        size=cycles_size(check.duels.n_arms),
        alt=f"{begun(nouns)} in order of strength, with arcs for pairs that contradict the order",
        caption=f"{begun(nouns)} in order of strength, the strongest at the top. An arc joins two "
        f"{nouns} of which the lower one probably beats the higher one. The darker, the "
        f"more certain; thick: the lower {check.noun} wins by more.",
    )


def _cycles(check: "Check") -> Group | None:
    if not check.cycles:
        return None
    e = check.evidence
    about = NO_CYCLES_NOTE if not e.cyclic else CAUSES[e.other_cause]
    leading = check_text.leading_words(check.cycle_posterior, check.noun)
    note = Text(f"{about} {leading}".strip(), "small")
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


def _residuals(name: str, frame: "pd.DataFrame", noun: str = "arm") -> Group:
    """Return the largest residuals of pairs, arms or judges."""
    known, note = RESIDUALS[name]
    columns = [(letter, head.format(noun), cell) for letter, head, cell in known]
    title = begun(plural(noun)) if name == "arms" else name.capitalize()
    largest = frame.head(8)  # by eye
    shown = largest.assign(n_draws=frame.attrs.get("n_draws", 0))
    table = frame_table(frame, columns, shown, full=True, name=name)
    judges = check_text.judge_words(frame, noun) if name == "judges" else ""
    words = Text(note.format(noun, an(noun)), "small")
    return Group(title, blocks(judges, words, table))


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
        caption=f"Probability that no triad is cyclic, and that some {check.noun} beats every "
        "other; expected cyclic triads, with 95 % interval, of the triads whose pairs all have "
        f"decided {check_text.decided_units(check.evidence.unit)}.",
    )
    return Group("Cycles by model", (table,))
