"""The report: one self-contained HTML file on one log, or on many."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.posterior.verdict_text import ACROSS
from bayesduel.reporting import fit as provenance
from bayesduel.reporting import ranking as sections
from bayesduel.reporting.margins import margin_part
from bayesduel.text import CELL, shorten

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.data.duels import Duels
    from bayesduel.reporting.analysis import Analysis

__all__ = ["report"]

PLACES = 16  # places of the ranking in one picture, at most: two pictures fill a printed page
ROWS = 15  # arms with a row of their own among the winners by criterion, about
LEAST = 0.01  # probability that earns such a row


def report(
    log: "Duels | xr.DataTree | dict[str, Duels]",
    path: str | Path = "report.html",
    *,
    duels: "Duels | None" = None,
    model: Any = "bradley-terry",
    method: str = "auto",
    draws: int | None = None,
    seed: int = 0,
    rope: float = 0.02,
    confidence: float = 0.95,
    title: str | None = None,
    command: str | None = None,
    step: Callable[[str], None] = lambda name: None,
) -> Path:
    """Write a report: verdict, ranking, checks and how it was made, in one HTML file.

    The file needs no network: pictures and style are inside it.

    Parameters
    ----------
    log
        A log; or a fit of one; or many logs by label, for a report with a part for each.
    path
        The file to write.
    duels
        Where `log` is a fit: the log it was made of. Default: its tallies, which know
        nothing of judges, groups, times and margins.
    model, method, draws, seed
        As in :func:`bayesduel.fit`; not looked at where `log` is a fit.
    rope, confidence
        As in :func:`bayesduel.winners`.
    title
        Heading. Default: the source of the log.
    command
        The command that made the report, to be told in it.
    step
        Called with the name of each step before it begins.

    Returns
    -------
    The path of the file.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    OSError
        If the file cannot be written.
    """
    import xarray as xr

    from bayesduel.data.duels import Duels
    from bayesduel.posterior.winners import check_decision
    from bayesduel.reporting.analysis import analyse, log_of

    check_decision(rope, confidence)
    path = Path(path)
    if path.is_dir() or not path.parent.is_dir():
        raise FileNotFoundError(f"path should be a file in a folder that exists, got {path}")
    judging: dict[str, Any] = {"rope": rope, "confidence": confidence}
    fitting: dict[str, Any] = {"model": model, "method": method, "draws": draws, "seed": seed}
    analyses: dict[str | None, Analysis] = {}
    if isinstance(log, Duels):
        analyses[None] = analyse(log, **fitting, **judging, step=step)
    elif isinstance(log, xr.DataTree):
        own = log_of(log) if duels is None else duels
        analyses[None] = analyse(own, log, seed=int(log.attrs["seed"]), **judging, step=step)
    elif isinstance(log, dict) and log and all(isinstance(d, Duels) for d in log.values()):
        for label, one in log.items():

            def labelled(name: str, label: str = label) -> None:
                step(f"{label}: {name}")

            analyses[label] = analyse(one, **fitting, **judging, step=labelled)
    else:
        raise TypeError(
            "log should be a Duels, a fit, or a dict from labels to Duels, "
            f"got {type(log).__name__}"
        )
    step("drawing")
    path.write_text(_render(analyses, title, command), encoding="utf-8")
    return path


# -- in calling order ----------------------------------------------------------------------


def _render(analyses: "dict[str | None, Analysis]", title: str | None, command: str | None) -> str:
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
    first = next(iter(analyses.values()))
    source = first.duels.read_summary.source
    many = None not in analyses
    parts = [
        _part(a, label, f"p{k}-" if many else "")
        for k, (label, a) in enumerate(analyses.items(), 1)
    ]
    return environment.get_template("report.html").render(
        title=title or (f"{len(parts)} logs" if many else source),
        style=(files("bayesduel.reporting") / "templates" / "report.css").read_text(
            encoding="utf-8"
        ),
        parts=parts,
        many=many,
        command=command,
        version=__version__,
    )


def _part(a: "Analysis", label: str | None, prefix: str) -> dict[str, Any]:
    """Return what the template needs to tell of one log."""
    import json

    from bayesduel.posterior.draws import model_of
    from bayesduel.reporting.check import told

    w = a.winners
    diagnostics = provenance.diagnostics(a)
    doubts = [
        f"The {d['name']} is {d['value']} and should be {d['wanted']}: numbers may be off."
        for d in diagnostics
        if not d["good"]
    ]
    verdict, within = sections.verdict_parts(w)
    head, cluster = provenance.cluster_rows(a) if "clusters" in a.fit else ([], [])
    return {
        "label": label,
        "prefix": prefix,
        "source": a.duels.read_summary.source,
        "verdict": verdict,
        "within": within,
        "kind": w.attrs["verdict_kind"],
        "caution": sections.caution(a),
        "rope": w.attrs["rope"],
        "confidence": w.attrs["confidence"],
        "n_duels": f"{a.duels.n_duels:,}",
        "n_arms": f"{a.duels.n_arms:,}",
        "n_ties": a.duels.n_ties,
        "warnings": sections.warning_words(a) + [("Diagnostics", w) for w in doubts],
        "n_tiers": int(w["tier"].max()),
        "facts": sections.facts(a),
        "health": a.health,
        "ranking": sections.ranking_rows(a),
        "across": ACROSS if w.groups() is not None else "",
        "tier_words": sections.tier_words(w),
        "rank_words": sections.rank_words(w),
        "uncertain_words": sections.uncertain_words(w),
        "is_score_model": model_of(a.fit).criteria_agree,
        "criteria": sections.criterion_rows(w if a.free is None else a.free),
        "criterion_words": sections.criterion_words(w if a.free is None else a.free),
        "free_words": "" if a.free is None else a.free.attrs["verdict"],
        "free_unit": a.free_unit,
        "free_reason": a.free_reason,
        "check": told(a.check),
        "calibration": a.calibration,
        "calibration_reason": a.calibration_reason,
        "model": provenance.model_words(a),
        "diagnostics": diagnostics,
        "cluster_words": provenance.cluster_words(a),
        "cluster_head": head,
        "cluster_rows": cluster,
        "errors": w.attrs["covariance"],
        "by_margins": a.fit.attrs["outcome"] == "margin",
        "margins": None if a.margins is None else margin_part(a.margins, w["order"].values),
        "margins_reason": a.margins_reason,
        "pairs": sections.pair_rows(a),
        "pair_words": sections.pair_words(a),
        "versions": json.loads(a.fit.attrs["versions"]),
        "seed": a.fit.attrs["seed"],
        "model_name": a.fit.attrs["model"],
        "pictures": _pictures(a),
    }


def _pictures(a: "Analysis") -> dict[str, Any]:
    """Return the figures of one log."""
    from bayesduel import plots
    from bayesduel.plots.calibration import CALIBRATION_SIZE
    from bayesduel.plots.posterior_predictive import MARGINS_SIZE, PAIRS_SIZE
    from bayesduel.plots.preference import preference_size, winners_size
    from bayesduel.plots.ranking import label_width, ranking_size, ranks_size
    from bayesduel.reporting.figures import draw

    w, n = a.winners, a.duels.n_arms
    panels = -(-n // PLACES)  # as even as can be
    left = label_width(w)
    forests = [
        draw(
            plots.plot_ranking,
            ranking_size(stop - start),
            f"Win rates with intervals, places {start + 1} to {stop}",
            w,
            left=left,
            places=slice(start, stop),
        )
        for start, stop in pairwise(round(n * k / panels) for k in range(panels + 1))
    ]
    criteria = w if a.free is None else a.free
    best = np.sort(criteria["winner_share"].max("criterion").values)[::-1]
    least = max(LEAST, float(best[ROWS])) if n > ROWS else LEAST
    rows = int((best >= least).sum())
    pictures: dict[str, Any] = {
        "ranking": forests,
        "ranks": draw(plots.plot_ranks, ranks_size(n), "Probability of each rank", w),
        "preference": draw(
            plots.plot_preference, preference_size(n), "Probability that row beats column", w
        ),
        "winners": draw(
            plots.plot_winners,
            winners_size(rows + (rows < n) + 1),
            "Probability of winning, by winner criterion",
            criteria,
            least=least,
        ),
        "calibration": None,
    }
    if a.margins is not None:
        check = a.margins.check
        words = "Standardised residuals of margins, observed and replicated"
        pictures["margins"] = draw(plots.plot_margins, MARGINS_SIZE, words, check)
        words = "Residuals of pairs against normal quantiles"
        pictures["pairs"] = draw(plots.plot_pair_residuals, PAIRS_SIZE, words, check)
    if a.calibration is not None:
        pictures["calibration"] = draw(
            plots.plot_calibration, CALIBRATION_SIZE, "Reliability curve", a.calibration
        )
    return pictures
