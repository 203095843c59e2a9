"""The page on attributes: one self-contained HTML file on what makes items win."""

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesduel.criticism.calibration import Calibration
    from bayesduel.data.duels import Duels

__all__ = ["AttributeAnalysis", "analyse_attributes", "write_page"]


@dataclass(frozen=True, eq=False, kw_only=True)
class AttributeAnalysis:
    """What the page tells of one log and its attributes.

    Attributes
    ----------
    duels, fit
        The log and the fit of a model of attributes.
    table
        What :func:`bayesduel.coefficients` returned.
    told
        What :func:`bayesduel.posterior.coefficients.explained_share` returned, or None where the
        model lets the attributes tell everything.
    new
        What :func:`bayesduel.predict_items` returned, or None.
    calibration, plain
        Held-out calibration of this model, and of Bradley-Terry on the same folds; None where
        `reason` says why.
    reason
        Why there is no calibration, or "".
    """

    duels: "Duels"
    fit: "xr.DataTree"
    table: "pd.DataFrame"
    told: tuple[float, float, float] | None
    new: "pd.DataFrame | None"
    calibration: "Calibration | None"
    plain: "Calibration | None"
    reason: str

    @property
    def sentence(self) -> str:
        """What the attributes say, for a reader."""
        from bayesduel.text import join, probability

        prob = self.table.attrs["ci_prob"]
        table = self.table[self.table["column"] != ""]  # the side is no attribute
        more = table.index[table["lower"] > 0].tolist()
        less = table.index[table["upper"] < 0].tolist()
        level = f"{100 * prob:g} %"
        if not more and not less:
            chance = np.maximum(table["positive"], 1 - table["positive"])
            best = str(chance.idxmax())
            way = "helps" if table.loc[best, "positive"] > 0.5 else "harms"
            return (
                f"No attribute clearly counts: every {level} interval holds zero. The likeliest "
                f"is {best}, which {way} (probability {probability(chance.max())})."
            )
        parts = []
        if more:
            parts.append(f"more of {join(more)} wins more")
        if less:
            parts.append(f"more of {join(less)} wins less")
        words = "; ".join(parts)
        return f"{words[0].upper()}{words[1:]} (each {level} interval leaves out zero)."

    @property
    def told_words(self) -> str:
        """How much of the differences between items the attributes tell."""
        if self.told is None:
            return (
                "The model takes the attributes to tell everything: if items differ in ways that "
                "the table does not hold, these intervals are too narrow."
            )
        mean, lower, upper = (max(0.0, 100 * x) for x in self.told)
        return (
            f"The attributes tell {mean:.0f} % of the differences between items "
            f"({100 * self.table.attrs['ci_prob']:g} % interval {lower:.0f} to {upper:.0f} %, "
            "adjusted for their number); the rest is what the table does not hold."
        )

    @property
    def errors_words(self) -> str:
        """Whose errors the intervals carry."""
        used = self.table.attrs["covariance"]
        if "taste" in self.fit["posterior"]:
            n = self.fit["posterior"].sizes["judge"]
            return (
                f"Each of {n:,} judges has coefficients of their own; these are the average "
                "judge's, and their intervals carry the differences between judges."
            )
        if used == "model":
            if "clusters" in self.fit:
                return "Counting repeated votes whole does not widen the intervals."
            few = json.loads(self.fit.attrs.get("clusters_left_out", "{}"))
            told = " and ".join(f"{n} by {name}" for name, n in few.items())
            if few:
                return (
                    f"The log repeats votes, but in too few clusters ({told}) to count them whole: "
                    "the intervals take votes as independent and are too narrow."
                )
            return ""
        group = self.fit["clusters"]
        n = int(group["n_clusters"].sel(clustering=used))
        rough = " That is few clusters, so these errors are rough." if n < 40 else ""
        return (
            f"The log repeats votes by {used}; they are counted whole ({n:,} clusters), which "
            f"widens the intervals.{rough}"
        )

    @property
    def held_words(self) -> str:
        """How well the model predicts duels that it has not seen."""
        if self.calibration is None or self.plain is None:
            return f"It could not be done: {self.reason}."
        return (
            f"{self.calibration.sentence} Bradley-Terry, which knows no attributes, scores "
            f"{self.plain.log_loss:.3f} on the same folds."
        )


def analyse_attributes(
    duels: "Duels",
    model: Any,
    *,
    new: Any = None,
    method: str = "auto",
    draws: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    check: bool = True,
    step: Callable[[str], None] = lambda name: None,
) -> AttributeAnalysis:
    """Return everything the page tells.

    Parameters
    ----------
    duels, model
        The log and a :class:`bayesduel.models.AttributeDuels`.
    new
        Items to predict, as :func:`bayesduel.read_items` takes them; or None.
    method, draws, seed
        As in :func:`bayesduel.fit`.
    confidence
        What intervals hold.
    check
        Whether to predict held-out duels.
    step
        Called with the name of each step before it begins.
    """
    from bayesduel.criticism.calibration import held_out
    from bayesduel.data.read.items import read_items
    from bayesduel.inference.fit import fit as fit_model
    from bayesduel.posterior.coefficients import coefficients, explained_share, predict_items

    read = None if new is None else read_items(new, like=model.items)
    step("fitting")
    options: dict[str, Any] = {} if draws is None else {"draws": draws}
    fit = fit_model(duels, model, method, seed=seed, **options)  # type: ignore[arg-type]
    table = coefficients(fit, confidence)
    told = explained_share(fit, confidence) if "effect_scale" in model.hypers else None
    predicted = None if read is None else predict_items(fit, read, confidence, seed=seed)
    found, plain, reason = None, None, "it was not asked for"
    if check:
        step("predicting held-out duels")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                found = held_out(duels, model, seed=seed)
                plain = held_out(duels, seed=seed)
                reason = ""
        except ValueError as error:
            reason = str(error)
    return AttributeAnalysis(
        duels=duels,
        fit=fit,
        table=table,
        told=told,
        new=predicted,
        calibration=found,
        plain=plain,
        reason=reason,
    )


def write_page(
    a: AttributeAnalysis, path: str | Path, *, title: str | None = None, command: str | None = None
) -> Path:
    """Write the page and return its path.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    from importlib.resources import files

    from jinja2 import Environment, PackageLoader, StrictUndefined

    from bayesduel import __version__, plots
    from bayesduel.plots.calibration import CALIBRATION_SIZE
    from bayesduel.plots.coefficients import coefficients_size
    from bayesduel.reporting import fit as provenance
    from bayesduel.reporting.attribute_rows import coefficient_row, new_item_row
    from bayesduel.reporting.figures import draw

    environment = Environment(
        loader=PackageLoader("bayesduel.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    prob = a.table.attrs["ci_prob"]
    forest = draw(
        plots.plot_coefficients,
        coefficients_size(len(a.table)),
        "Coefficients with intervals, the most helpful on top",
        a.fit,
        prob=prob,
    )
    curve = None
    if a.calibration is not None:
        curve = draw(plots.plot_calibration, CALIBRATION_SIZE, "Reliability curve", a.calibration)
    own: Any = a  # the small print looks at the fit alone
    page = environment.get_template("attributes.html").render(
        a=a,
        title=title or a.duels.read_summary.source,
        style=(files("bayesduel.reporting") / "templates" / "report.css").read_text(
            encoding="utf-8"
        ),
        level=f"{100 * prob:g} %",
        judges="judge_spread" in a.table,
        rows=[coefficient_row(str(name), row) for name, row in a.table.iterrows()],
        new=[]
        if a.new is None
        else [new_item_row(str(name), row) for name, row in a.new.iterrows()],
        items_source=str(a.fit["items"].attrs["source"]),
        n_items=a.duels.n_arms,
        n_duels=f"{a.duels.n_duels:,}",
        forest=forest,
        curve=curve,
        model=provenance.model_words(own),
        diagnostics=provenance.diagnostics(own),
        seed=a.fit.attrs["seed"],
        versions=json.loads(a.fit.attrs["versions"]),
        command=command,
        version=__version__,
    )
    path = Path(path)
    path.write_text(page, encoding="utf-8")
    return path
