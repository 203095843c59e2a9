"""Report sections: coefficients of the items' attributes, and new items."""

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.posterior.dependence import dependence_of
from bayesduel.reporting.analysis import Attempt
from bayesduel.reporting.section import Cell, Figure, Section, Table, Verdict, blocks
from bayesduel.system.options import Decision
from bayesduel.text import begun, count, join, percent, probability, rounded

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesduel.criticism.calibration import Calibration
    from bayesduel.data.duels import Duels

__all__ = [
    "AttributeAnalysis",
    "analyse_attributes",
    "attributes_verdict_section",
    "coefficients_section",
    "new_items_section",
]


@dataclass(frozen=True, eq=False, kw_only=True)
class AttributeAnalysis:
    """What a page says of one log and the attributes of its items."""

    duels: "Duels"  # the log and the fit of a model of attributes
    fit: "xr.DataTree"
    table: "pd.DataFrame"  # what :func:`bayesduel.coefficients` returned
    # what :func:`bayesduel.posterior.coefficients.explained_share` returned, or None where the
    # model has no effects of items
    explained: tuple[float, float, float] | None
    new: "pd.DataFrame | None"  # what :func:`bayesduel.predict_items` returned, or None
    calibration: "Attempt[Calibration]"  # held-out calibration
    plain: "Calibration | None"  # the same of Bradley-Terry, on the same folds
    noun: str = "arm"  # what an arm is called

    @property
    def sentence(self) -> str:
        """Which attributes depend on others; and those whose intervals exclude zero."""
        table = self.table[self.table["column"] != ""]  # the side is no attribute
        more = table.index[table["lower"] > 0].tolist()
        less = table.index[table["upper"] < 0].tolist()
        level = _level(self.table)
        apart = self.dependent_words
        if apart and not more and not less:
            return apart  # an interval that contains zero says nothing of such an effect
        if not more and not less:
            chance = np.maximum(table["positive"], 1 - table["positive"])
            best = str(chance.idxmax())
            sign = "positive" if table.loc[best, "positive"] > 0.5 else "negative"
            return (
                f"No attribute has a clear effect: every {level} interval contains zero. The most "
                f"probable effect is that of {best}, {sign} with probability "
                f"{probability(float(chance.max()))}."
            )
        parts = []
        if more:
            parts.append(f"more of {join(more)} wins more")
        if less:
            parts.append(f"more of {join(less)} wins less")
        words = "; ".join(parts)
        which = "interval excludes" if len(more) + len(less) == 1 else "intervals exclude"
        clear = f"{begun(words)} ({level} {which} zero)."
        return f"{apart} {clear}" if apart else clear

    @property
    def dependent_words(self) -> str:
        """Why the log cannot tell the effects of some attributes apart, or ""."""
        items = self.fit.duel.model.terms.items
        return items.dependence(self.fit.duel.arms) if items else ""

    @property
    def explained_words(self) -> str:
        """The share of the differences between items that the attributes explain."""
        if self.explained is None:
            return (
                "The model has no effects of items beyond their attributes: if items differ in "
                "other ways, these intervals are too narrow."
            )
        mean, lower, upper = (max(0.0, 100 * x) for x in self.explained)
        return (
            f"The attributes explain {mean:.0f} % of the differences between items "
            f"({_level(self.table)} interval {lower:.0f} to {upper:.0f} %, adjusted for "
            "their number). The rest comes from things that are not in the table."
        )

    @property
    def covariance_words(self) -> str:
        """Which standard errors the intervals are based on, and why."""
        used = self.table.attrs["covariance"]
        if "taste" in self.fit["posterior"]:
            n = self.fit["posterior"].sizes["judge"]
            return (
                f"Each of {n:,} judges has own coefficients. These are the coefficients "
                "of the average judge. Their intervals include the differences between "
                "judges."
            )
        told = dependence_of(self.fit, used, "auto", self.noun)
        few = " Estimates from so few clusters are rough." if told.refusal else ""
        return f"{told.sentence}{few}"

    @property
    def held_words(self) -> str:
        """How well the model predicts held-out duels."""
        found, reason = self.calibration
        if found is None or self.plain is None:
            return f"Not available: {reason}."
        return (
            f"{found.sentence} Bradley-Terry, which has no attributes, has a log loss "
            f"of {self.plain.log_loss:.3f} on the same folds."
        )


def analyse_attributes(
    duels: "Duels",
    model: Any,
    *,
    new: Any = None,
    method: str = "auto",
    draws: int | None = None,
    seed: int = 0,
    ci_prob: float = Decision.ci_prob,
    check: bool = True,
    step: Callable[[str], None] = lambda name: None,
) -> AttributeAnalysis:
    """Return everything a page says of attributes.

    duels, model, method, draws, seed: as in :func:`bayesduel.fit`, of a model whose predictor is
        ``Covariates(items)``.
    new: items to predict, as :func:`bayesduel.read_items` takes them; or None.
    ci_prob: posterior probability of the intervals, in (0, 1).
    check: whether to predict held-out duels.
    step: called with the name of each step before it begins.
    """
    from bayesduel.criticism.calibration import held_out
    from bayesduel.data.read.items import read_items
    from bayesduel.inference.fit import fit as fit_model
    from bayesduel.posterior.coefficients import coefficients, explained_share, predict_items

    read = None if new is None else read_items(new, like=model.terms.items)
    step("fitting")
    options: dict[str, Any] = {} if draws is None else {"draws": draws}
    fit = fit_model(duels, model, method, seed=seed, **options)  # type: ignore[arg-type]
    table = coefficients(fit, ci_prob)
    table = table[table["kind"] == "effect"]
    explained = explained_share(fit, ci_prob) if "effect_scale" in model.scales else None
    predicted = None if read is None else predict_items(fit, read, ci_prob, seed=seed)
    found: Attempt[Calibration] = Attempt(None, "it was not asked for")
    plain = None
    if check:
        step("predicting held-out duels")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                found = Attempt(held_out(duels, model, seed=seed))
                plain = held_out(duels, seed=seed)
        except ValueError as error:
            found = Attempt(None, str(error))
    return AttributeAnalysis(
        duels=duels,
        fit=fit,
        table=table,
        explained=explained,
        new=predicted,
        calibration=found,
        plain=plain,
    )


def attributes_verdict_section(a: AttributeAnalysis) -> Section:
    """Return the section on the main result."""
    table = Path(a.fit["items"].attrs["source"]).name
    apart = a.dependent_words
    reasons = json.loads(a.fit.attrs.get("model_reasons", "[]"))
    model = " ".join([f"Model: {a.fit.duel.model.titled(a.noun)}.", *reasons])
    alone = "" if apart else " Each effect is that of one attribute while all others are equal."
    verdict = Verdict(
        headline=a.sentence,
        text=tuple(filter(None, (a.explained_words, a.covariance_words))),
        note=(
            f"From {count(a.duels.n_duels, 'duel')} between {count(a.duels.n_arms, a.noun)}, with "
            f"attributes in {table}.{alone} {model}"
        ),
    )
    return Section(id="verdict", body=(verdict,))


def coefficients_section(table: "pd.DataFrame", fit: "xr.DataTree") -> Section:
    """Return the section on what :func:`bayesduel.coefficients` returned of a fit."""
    from bayesduel.plots.coefficients import coefficients_size, plot_coefficients

    level = _level(table)
    judges = "judge_spread" in table
    clear = bool(((table["lower"] > 0) | (table["upper"] < 0)).any())
    bold = " Bold: the interval excludes zero."
    figure = Figure(
        plot=partial(plot_coefficients, fit, ci_prob=table.attrs["ci_prob"]),
        size=coefficients_size(len(table)),
        alt="Coefficients with intervals, the largest at the top",
        caption="Log odds of winning. For a numeric attribute: for one standard deviation "
        "more. For a categorical one: for a level instead of the reference level. Dot: "
        f"posterior mean, filled if the {level} interval excludes zero; thick bar: 50 % "
        f"interval; thin bar: {level} interval.",
    )
    of_judges = (
        " Coefficients are the average judge's; spread of judges: posterior median of the standard "
        "deviation of their own log odds per unit."
    )
    columns: list[tuple[Any, ...]] = [
        ("l", "attribute", _name),
        ("n", f"log odds per unit\n{level} interval", lambda r: _estimate(r, "", "coefficient")),
        ("n", f"odds ratio\n{level} interval", lambda r: _estimate(r, "odds_ratio")),
        ("n", f"win rate, points\n{level} interval", lambda r: _estimate(r, "change", times=100)),
        ("n", "positive\neffect", lambda r: f"{percent(float(r['positive']))} %"),
    ]
    if judges:
        columns.append(("n", "spread of\njudges", _spread))
    cells = Table.of(
        columns,
        table.reset_index(names="attribute").to_dict("records"),
        full=True,
        caption="Effect of one more unit of the attribute or covariate, all else equal; or of "
        "a level instead of its reference. Win rate: change of the win probability "
        "against an otherwise equal item, from one half, in percentage points. "
        f"Positive effect: its posterior probability.{bold * clear}{of_judges * judges}",
    )
    neutral = ""
    if "covariate_effect" in fit["posterior"]:
        neutral = "Ranking and winners are those of duels whose covariates are all zero."
    return Section(id="coefficients", title="Coefficients", body=blocks(neutral, figure, cells))


def new_items_section(new: "pd.DataFrame", level: str) -> Section:
    """Return the section on new items, with intervals of `level`, e.g. "95 %"."""

    def ends(row: Any) -> str:
        return f"{100 * row['win_rate_lower']:.0f} to {100 * row['win_rate_upper']:.0f}"

    columns = (
        ("l", "item", "{item}"),
        ("n", "win rate", lambda r: f"{100 * r['win_rate']:.0f} %"),
        ("n", f"{level} interval", ends),
        ("n", "better than all", lambda r: f"{percent(float(r['beats_best']))} %"),
        ("n", "extrapolated", lambda r: f"{int(r['outside'])}" if r["outside"] else ""),
    )
    table = Table.of(
        columns,
        new.reset_index(names="item").to_dict("records"),
        caption="Predicted from attributes only. Win rate: probability of beating an item of "
        "the log drawn at random. Better than all: probability of a higher score than "
        "every item of the log. Extrapolated: number of attributes outside the range of "
        "the table of items.",
    )
    return Section(id="new", title="New items", body=(table,))


def _level(table: "pd.DataFrame") -> str:
    return f"{100 * table.attrs['ci_prob']:g} %"


def _name(row: Mapping[str, Any]) -> Cell:
    """Return the cell of an attribute's name, strong where its interval excludes zero."""
    small = f"against {row['reference']}" if row["level"] else ""
    clear = bool(row["lower"] > 0 or row["upper"] < 0)
    return Cell(row["attribute"], small=small, style="strong" if clear else "plain")


def _estimate(row: Mapping[str, Any], name: str, middle: str = "", times: float = 1) -> Cell:
    """Return the cell of a number of that name (or of `middle`) and its interval."""
    prefix = f"{name}_" if name else ""
    estimate = row[middle or name]
    lower = row[f"{prefix}lower"]
    upper = row[f"{prefix}upper"]
    # 3 significant figures of the width of an interval: one more than elsewhere
    words, low, high = rounded(times * estimate, times * lower, times * upper, 3)
    return Cell(words, small=f"{low} to {high}")


def _spread(row: Mapping[str, Any]) -> str:
    return "" if np.isnan(row["judge_spread"]) else _estimate(row, "judge_spread").text
