"""A check as a page: its numbers put into words, rows and pictures for the templates."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesduel.criticism import check_text as wording
from bayesduel.text import CELL, SENTENCE, p_value, percent, shorten

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.criticism.check_result import Check

__all__ = ["page", "told"]

ROWS = 8  # of a table of residuals
WORLD_NAMES = {
    "logistic ladder": "scores, logistic (Bradley-Terry, with lapses)",
    "normal ladder": "scores, normal (Thurstone, with lapses)",
    "monotone": "any regular ranking (strongly transitive)",
    "irregular": "an uneven ranking (weakly transitive), in the order of scores",
    "reordered": "an uneven ranking, in the order that contradicts fewest majorities",
}
POWER_NAMES = {"three arms": "one cycle of three arms", "throughout": "cycles through all arms"}


def page(checks: "Mapping[str | None, Check]", title: str | None, command: str | None) -> str:
    """Return one HTML page on one check, or on many by label."""
    from importlib.resources import files

    from jinja2 import Environment, PackageLoader, StrictUndefined

    from bayesduel import __version__

    environment = Environment(
        loader=PackageLoader("bayesduel.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = lambda label: shorten(str(label), CELL)
    first = next(iter(checks.values()))
    return environment.get_template("check.html").render(
        title=title or first.duels.read_summary.source,
        style=(files("bayesduel.reporting") / "templates" / "report.css").read_text(
            encoding="utf-8"
        ),
        parts=[{"label": label, **told(one)} for label, one in checks.items()],
        command=command,
        version=__version__,
    )


def told(check: "Check") -> dict[str, Any]:
    """Return what the templates tell of a check."""
    e, b = check.evidence, check.belief
    headline, rest = wording.verdict_parts(check)
    draws = len(next(iter(e.replicated.values()))) if e.replicated else 0
    curl = ""
    if b is not None:
        low, high = b.curl[1:]
        curl = (
            f"Of these preferences, {percent(b.curl[0])} % is no difference of scores (curl, "
            f"{percent(low)} to {percent(high)} %), chance included."
        )
        if check.consistence is not None:
            curl += f" Kendall's coefficient of consistence is {check.consistence:.2f}."
    return {
        "verdict": check.verdict,
        "headline": headline,
        "rest": rest,
        "transitive": check.transitive,
        "strength": e.strength,
        "p": p_value(e.p_value, draws) if draws else "\u2013",
        "n_duels": f"{check.duels.n_duels:,}",
        "n_arms": f"{check.duels.n_arms:,}",
        "evidence_words": wording.evidence_words(e),
        "naive_words": wording.naive_words(e),
        "belief_words": wording.belief_words(check),
        "curl_words": curl,
        "margin_words": wording.margin_words(check),
        "order_words": wording.order_words(check),
        "worlds": [
            {
                "name": WORLD_NAMES[world],
                "expected": f"{logs[:, 1].mean():,.1f}",
                "p": p_value(e.p_by_world[world], draws).removeprefix("p = "),
            }
            for world, logs in e.replicated.items()
        ],
        "closing": f"{e.n_closed:,} of {e.n_all:,} triads can close: their pairs all met.",
        "strengths": [f"{100 * s:.0f} %" for s in e.power["throughout"]] if e.power else [],
        "power": [
            (POWER_NAMES[kind], [f"{percent(v)} %" for v in row.values()])
            for kind, row in e.power.items()
        ],
        "cycles": [
            {
                "around": " > ".join(shorten(a, SENTENCE) for a in (*c.arms, c.arms[0])),
                "probability": f"{percent(c.probability)} %",
                "counts": ", ".join(f"{won}:{lost}" for won, lost in c.counts),
            }
            for c in check.cycles
        ],
        "tables": [_table(name, frame) for name, frame in check.residuals.items()],
        "judge_words": wording.judge_words(check),
        "comparison": "" if check.comparison is None else check.comparison.to_html(),
        "beliefs": [
            {
                "name": name,
                "weak": f"{percent(one.weak)} %",
                "condorcet": f"{percent(one.condorcet)} %",
                "cyclic": f"{one.cyclic[0]:,.1f} ({one.cyclic[1]:,.0f} to {one.cyclic[2]:,.0f})",
                "curl": f"{percent(one.curl[0])} %",
            }
            for name, one in check.beliefs.items()
        ],
        "why_not_compared": check.why_not_compared,
        "pictures": _pictures(check),
        "seed": check.seed,
    }


# -- in calling order ----------------------------------------------------------------------


def _table(name: str, frame: "pd.DataFrame") -> dict[str, Any]:
    """Return title, words, head and rows of a table of residuals."""
    rows = frame.head(ROWS).to_dict("records")
    if name == "pairs":
        return {
            "title": "Pairs",
            "words": "The most surprising results under the transitive model that fits best. "
            "Chance: that the most surprising of so many pairs is this surprising.",
            "head": [("first", False), ("second", False), ("won by first", True),
                     ("expected", True), ("z", True), ("chance", True)],
            "rows": [
                (r["first"], r["second"], f"{r['observed']:,} of {r['duels']:,}",
                 f"{r['expected']:,.1f}", f"{r['z']:+.1f}", _chance(r["surprise"]))
                for r in rows
            ],
        }  # fmt: skip
    if name == "arms":
        return {
            "title": "Arms",
            "words": "Misfit: the mean squared residual of an arm's pairs, 1 where all is well. "
            "p: the share of logs of that model in which it is at least so large.",
            "head": [("arm", False), ("opponents", True), ("misfit", True), ("p", True)],
            "rows": [
                (r["arm"], f"{r['opponents']:,}", f"{r['misfit']:.2f}", _chance(r["p"]))
                for r in rows
            ],
        }
    return {
        "title": "Judges",
        "words": "How often a judge's votes went to the model's favourite, and how often they "
        "should; z of the surprise of the votes, far below 0 where they surprise more. No z for "
        "fewer than five votes.",
        "head": [("judge", False), ("votes", True), ("agreement", True), ("expected", True),
                 ("z", True)],
        "rows": [
            (r["judge"], f"{r['votes']:,}", f"{percent(r['agreement'])} %",
             f"{percent(r['expected'])} %", "\u2013" if r["z"] != r["z"] else f"{r['z']:+.1f}")
            for r in rows
        ],
    }  # fmt: skip


def _chance(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.2g}"


def _pictures(check: "Check") -> dict[str, Any]:
    from bayesduel import plots
    from bayesduel.plots.transitivity import CYCLES_SIZE, CYCLICITY_SIZE, residuals_size
    from bayesduel.reporting.figures import draw

    found: dict[str, Any] = {"cyclicity": None, "cycles": None, "residuals": None}
    if check.evidence.replicated:
        found["cyclicity"] = draw(
            plots.plot_cyclicity, CYCLICITY_SIZE, "Cyclicity of drawn logs and of this one", check
        )
    if check.cycles and not check.transitive:
        found["cycles"] = draw(plots.plot_cycles, CYCLES_SIZE, "The likeliest cycles", check)
    if check.evidence.worlds is not None:
        size = residuals_size(check.duels.n_arms)
        found["residuals"] = draw(
            plots.plot_residuals, size, "Who won, in rank order, misfits marked", check
        )
    return found
