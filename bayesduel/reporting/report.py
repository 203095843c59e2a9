"""Reports: self-contained HTML files on one log, or on several."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesduel.criticism.check_result import Check
from bayesduel.data.read.duels import log_in
from bayesduel.inference.default_model import AUTO
from bayesduel.posterior.duels_to_predict import conditions_read
from bayesduel.posterior.update import log_of
from bayesduel.posterior.winners_record import retired_words
from bayesduel.reporting.analysis import Analysis, analyse
from bayesduel.reporting.attributes import (
    AttributeAnalysis,
    attributes_verdict_section,
    coefficients_section,
    new_items_section,
)
from bayesduel.reporting.audit import audit_section
from bayesduel.reporting.calibration import calibration_section
from bayesduel.reporting.categories import (
    CategoryAnalysis,
    analyse_categories,
    categories_section,
    category_board,
    category_verdict_section,
    changes_section,
    table_section,
)
from bayesduel.reporting.check import (
    check_verdict_section,
    comparison_section,
    residuals_section,
    transitivity_section,
)
from bayesduel.reporting.fit import (
    Diagnostic,
    diagnostics,
    errors_section,
    few_clusters_words,
    fit_section,
    reproduce_section,
)
from bayesduel.reporting.generalizability import generalizability_section
from bayesduel.reporting.html import page
from bayesduel.reporting.judge_agreement import judge_agreement_section
from bayesduel.reporting.leaderboard import leaderboard_section, period_views
from bayesduel.reporting.log import log_section
from bayesduel.reporting.margins import margin_words, margins_section
from bayesduel.reporting.next_pairs import next_pairs_section
from bayesduel.reporting.partial_report import IndexRow, PartialReport, all_parts, index_section
from bayesduel.reporting.ranking import (
    advantage_words,
    caution_words,
    controlled_words,
    preferences_section,
    ranks_section,
    rates_section,
    tie_words,
    verdict_section,
)
from bayesduel.reporting.raw_counts import raw_counts_section
from bayesduel.reporting.section import Figure, Section, blocks
from bayesduel.reporting.sources import sources_section
from bayesduel.reporting.verdict_text import headline
from bayesduel.reporting.winners import winners_section
from bayesduel.system.arguments import (
    check_call,
    check_flag,
    check_seed,
    check_text,
    finite,
    path_of,
    texts_of,
)
from bayesduel.system.atomic_write import check_not_read, write_text
from bayesduel.system.options import Decision
from bayesduel.system.threads import one_at_a_time
from bayesduel.text import begun, join, plural

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.data.duels import Duels

__all__ = ["analysed", "files_read", "report", "sections"]

ENDINGS = (".html", ".htm")  # of a page
COUNTED = "Duels with retired {} are not counted here."
COUNTS = "Counts of wins are those of the log."
ORDER_FOUND = "See Side advantage, under Transitivity, for an advantage of one side."
UNEVEN = (
    "These are the probabilities of a model with one score per {}, which may misstate single "
    "pairs here (see Transitivity). Raw counts has the shares of each pair. A report with "
    "--model preference-matrix has a separate probability for each pair, which needs many duels "
    "of the pair."
)
MISSTATED = (
    "Ratings may misstate single pairs: how often one {0} beats another differs from what one "
    "score per {0} allows."
)

NEXT_REJECTED = (
    "The log contradicts a ranking (see Transitivity). The neighbours and pairs below "
    "belong to the ranking, which is for comparison only."
)
NEXT_FEW = (
    "Errors rest on few clusters (see the top of the page). The numbers below are for duels "
    "that are independent of those in the log, not for more duels of the same judges or groups."
)
REJECTED = "The log contradicts a ranking (see Transitivity): this one is for comparison only."

CONTRADICTED = (
    "The log contradicts a ranking: {} are in the order of their win rates by a model that allows "
    "cycles, {}."
)

Sections = tuple[Section, ...]


@one_at_a_time
def report(
    log: "Duels | xr.DataTree | Check | AttributeAnalysis | dict[str, Any]",
    path: str | Path = "report.html",
    *,
    duels: "Duels | None" = None,
    model: Any = AUTO,
    method: str = "auto",
    draws: int | None = None,
    seed: int = 0,
    rope: float = Decision.rope,
    confidence: float = Decision.confidence,
    anchor: str | None = None,
    points: float = 1000.0,
    against: Sequence[str] = (),
    compare: bool = False,
    audit: bool = False,
    at: Mapping[str, str] | None = None,
    weights: Mapping[str, Mapping[str, float]] | None = None,
    retired: Sequence[str] = (),
    pooled: bool = False,
    noun: str = "arm",
    title: str | None = None,
    command: str | None = None,
    step: Callable[[str], None] = lambda name: None,
) -> Path:
    """Write a report on a log, a fit or a check, as one HTML file.

    The file needs no network: figures and style are inside it.

    Parameters
    ----------
    log
        A log, or a frame of one; or a fit; or what :func:`bayesduel.check` returned; or what
        :func:`bayesduel.reporting.analyse_attributes` returned; or several logs or checks by
        label, for a report with a part for each.
    path
        The file to write.
    duels
        Where `log` is a fit: the log it was made of. Default: its tallies, without judges,
        groups, times and margins.
    model, method, draws, seed
        As in :func:`bayesduel.fit`; used only where `log` is a log.
    rope, confidence
        As in :func:`bayesduel.winners`; used only where `log` is a log or a fit.
    anchor, points
        As in :func:`bayesduel.scores`.
    against
        As in :func:`bayesduel.judge_agreement`.
    compare
        Whether to compare models by cross-validation, which can take minutes. Where the check of
        transitivity rejects a ranking, the winners are then those of the model without one that
        predicts best; otherwise those of the preference matrix. Used only where `log` is a log or
        a fit.
    audit
        Whether there is a section on how fragile the ranking is (:func:`bayesduel.audit`), for
        which the model is fitted some forty times. Used only where `log` is a log or a fit.
    at, weights
        Which duels the answers are about, as in :func:`bayesduel.estimand`; not of categories that
        are `pooled`.
    retired
        Arms that are left out of verdict and ranks, as in :func:`bayesduel.winners`; not of
        categories that are `pooled`.
    pooled
        Whether several logs are categories that share arms, reported on one page under one model
        with :class:`bayesduel.models.CategoryEffects`; else each log has a part of its own.
    noun
        What an arm is called in all texts of the page: "model", "player".
    title
        Heading. Default: the name of the log's file, or its source.
    command
        The command that made the report, to be shown in it.
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

    Notes
    -----
    Of several logs each part is kept in a folder beside the file as soon as it is done, until
    all are: a call that was stopped goes on where it was. A log that cannot be analysed has the
    reason in place of its part. Of more than 24 logs, parts have no figures.

    Examples
    --------
    >>> page = bd.report(bd.datasets.load("tennis1990"), "tennis.html", title="Tennis")
    >>> page.name
    'tennis.html'
    """
    from bayesduel.posterior.winners import check_decision

    check_decision(rope, confidence)
    path = path_of(path)
    check_seed(seed)
    for name, value in {"title": title, "command": command, "anchor": anchor}.items():
        check_text(value, name, none=True)
    for name, flag in {"compare": compare, "audit": audit, "pooled": pooled}.items():
        check_flag(flag, name)
    finite(points, "points")
    texts_of(against, "against")
    check_call(step, "step")
    if path.is_dir() or not path.parent.is_dir():
        raise FileNotFoundError(f"path should be a file in a folder that exists, got {path}")
    several: dict[Any, Any] = log if isinstance(log, dict) and log else {"": log}
    several = {label: log_in(one) for label, one in several.items()}
    check_not_read(path, files_read(several, duels))
    to_a_file = path.is_file() or not path.exists()  # /dev/stdout is none
    if to_a_file and path.suffix.lower() not in ENDINGS:
        raise ValueError(
            f"path should end with .html, because a report is a page, got {path.name!r}"
        )
    options: dict[str, Any] = {
        "model": model, "method": method, "draws": draws, "seed": seed,
        "rope": rope, "confidence": confidence, "anchor": anchor, "points": points,
        "against": against, "compare": compare, "audit": audit, "noun": noun,
        "at": at, "weights": weights, "retired": texts_of(retired, "retired"),
    }  # fmt: skip
    if pooled:
        if at is not None or weights is not None:
            raise ValueError("at and weights should be None where pooled is True")
        if retired:
            raise ValueError("retired should be empty where pooled is True")
        whole = ("anchor", "points", "against", "compare", "audit", "at", "weights", "retired")
        fitting = {n: v for n, v in options.items() if n not in whole}
        several = {"": analyse_categories(several, **fitting, step=step)}
    kept = PartialReport.beside(path, (options, command)) if _all_logs(several) else None
    source_title = ""

    def made(given: Any, step: Callable[[str], None]) -> tuple[Sections, IndexRow]:
        nonlocal source_title
        one = analysed(given, duels, options, step)
        source_title = one.duels.read_summary.title
        step("drawing")
        return sections(one, command=command), _row(one)

    parts, rows = all_parts(several, kept, made, step)
    first = next(iter(several.values()))
    text = page(
        title or (source_title if len(parts) == 1 else f"{len(parts)} logs"),
        parts,
        subject="transitivity" if isinstance(first, Check) else "paired comparisons",
        index=index_section([*parts], rows, noun) if len(parts) > 1 else None,
    )
    write_text(path, text)
    if kept is not None:
        kept.clear()
    return path


def files_read(several: Mapping[Any, Any], duels: "Duels | None") -> set[str]:
    """Return the files that the logs of a report were read from."""
    logs = [duels, *(getattr(one, "duels", one) for one in several.values())]
    summaries = [getattr(log, "read_summary", None) for log in logs]
    return {file for one in summaries if one is not None for file in one.files}


def sections(
    given: Analysis | Check | AttributeAnalysis | CategoryAnalysis,
    *,
    command: str | None = None,
) -> Sections:
    """Return the sections of a report, for a page, a terminal or a notebook.

    `command` is the one that made it, or None.
    """
    return _kind(given).sections(given, command)


def analysed(
    one: Any, duels: "Duels | None", options: dict[str, Any], step: Callable[[str], None]
) -> Any:
    """Return what a report is made of, for one of the logs of :func:`report`.

    `options` are keyword arguments of :func:`bayesduel.reporting.analysis.analyse`.

    Raises TypeError or ValueError if an argument is not as described.
    """
    import xarray as xr

    from bayesduel.data.duels import Duels
    from bayesduel.data.rankings import Rankings

    one = log_in(one)
    if isinstance(one, Analysis | Check | AttributeAnalysis | CategoryAnalysis):
        return replace(one, noun=options["noun"])
    if isinstance(one, Duels | Rankings):
        return analyse(one, **options, step=step)
    if isinstance(one, xr.DataTree):
        own = log_of(one) if duels is None else duels
        options = options | {"seed": int(one.attrs["seed"])}
        return analyse(own, one, **options, step=step)
    raise TypeError(
        "log should be a Duels, a fit, a Check, an AttributeAnalysis, or a dict from labels to "
        f"these, got {type(one).__name__}"
    )


def _of_log(a: Analysis, command: str | None) -> Sections:
    found_diagnostics = diagnostics(a.fit)
    few = few_clusters_words(a)
    rejected = REJECTED if a.rejected else ""
    neutral = controlled_words(a, "this ranking is that")
    found = (
        _verdict(a, found_diagnostics, few),
        _leaderboard(a),
        _noted(
            rates_section(a.winners, a.duels, a.scores, a.noun),
            rejected,
            tie_words(a),
            neutral,
            COUNTS if neutral else "",
        ),
        _noted(ranks_section(a.winners, a.noun), rejected),
        _noted(preferences_section(a.by_pair, a.noun), _pairs_words(a)),
        _over_time(a.fit, a.noun),
        winners_section(a),
        _raw_counts(a),
        _margins(a),
        _log(a),
        judge_agreement_section(a.judges, a.noun),
        None if a.sources is None else sources_section(a.sources, a.noun),
        None if a.audit is None else audit_section(a.audit, a.noun),
        None
        if a.generalizability is None
        else generalizability_section(a.generalizability, a.noun),
        None if a.coefficients is None else coefficients_section(a.coefficients, a.fit),
        *_checked(a),
        _calibration(a),
        fit_section(a.fit, found_diagnostics, a.noun),
        _noted(errors_section(a), few),
        _noted(
            next_pairs_section(a.neighbours, a.pairs, a.winners.sizes["arm"], a.noun),
            NEXT_REJECTED if a.rejected else "",
            NEXT_FEW if few else "",
        ),
        _reproduce(a.fit, command),
    )
    return tuple(section for section in found if section is not None)


def _verdict(a: Analysis, found: Sequence[Diagnostic], few: str) -> Section:
    """Return the section on the verdict.

    found: the diagnostics of the fit.
    few: what is said of few clusters, or "".
    """
    ranked = a.winners.attrs["verdict_kind"] != "not comparable"
    caution = caution_words(a.check.value, a.noun, assumed=a.ranked_by_score and ranked)
    warnings = a.warnings + _doubts(a, found, few)
    return verdict_section(a.winners, a.duels, warnings, caution, _further(a), a.by_pair, a.noun)


def _doubts(a: Analysis, found: Sequence[Diagnostic], few: str) -> tuple[tuple[str, str], ...]:
    """Return name and words of what makes results doubtful, beside the warnings of the log."""
    doubts = [
        (
            "UncertifiedWarning",
            f"The {name} is {value} and should be {wanted}: results may be inaccurate.",
        )
        for name, value, wanted, good in found
        if not good
    ]
    if few:
        doubts.append(("FewClustersWarning", few))
    check = a.check.value
    if check is not None and check.drift_words and "time" not in conditions_read(a.fit):
        doubts.append(("Drift", check.drift_words))
    return tuple(doubts)


def _further(a: Analysis) -> tuple[str, ...]:
    """Return the paragraphs below the headline."""
    words = [retired_words(a.winners), *advantage_words(a)]
    if a.by_margins:
        board = a.by_pair
        first = str(board["arm"].values[board["order"].values[0]])
        words.append(margin_words(a.margins.value, a.duels, first))
    if _misstated(a):
        words.append(MISSTATED.format(a.noun))
    return tuple(filter(None, words))


def _misstated(a: Analysis) -> bool:
    """Return whether the model has one score per arm, and these misstate single pairs."""
    check = a.check.value
    return a.ranked_by_score and check is not None and check.misstated


def _leaderboard(a: Analysis) -> Section:
    """Return the leaderboard, of a model that allows cycles where the log contradicts a ranking."""
    pairs = a.by_pair
    scores = a.scores
    note = REJECTED if a.rejected else ""
    if pairs is not a.winners:
        scores = None
        note = CONTRADICTED.format(plural(a.noun), pairs.attrs["model"])
    views = period_views(a.fit, a.duels, scores)
    return leaderboard_section(pairs, a.duels, scores, note, a.noun, views, "latest")


def _pairs_words(a: Analysis) -> str:
    """Return which model the probabilities of pairs are of, where one score per arm is wrong."""
    pairs = a.by_pair
    if pairs is a.winners:
        return UNEVEN.format(a.noun) if _misstated(a) else ""
    unit = "" if a.free_unit == "duel" else f" One {a.free_unit} counts as one duel."
    return (
        f"By the model {pairs.attrs['model']}, which allows cycles. {begun(plural(a.noun))} are in "
        f"the order of its Borda scores.{unit}"
    )


def _raw_counts(a: Analysis) -> Section | None:
    """Return the section on raw counts; None where only retired arms had duels."""
    duels = a.duels
    if a.retired:
        gone = np.isin(duels.arms, a.retired)
        met = duels.pairs()
        if (gone[met.first] | gone[met.second]).all():
            return None
        duels = duels.subset(arm for arm in duels.arms if arm not in a.retired)
    effects = join(a.fit.duel.model.terms.samples, word="or")
    section = raw_counts_section(duels, a.winners, a.by_pair, effects=effects, noun=a.noun)
    return _noted(section, COUNTED.format(plural(a.noun)) if a.retired else "")


def _margins(a: Analysis) -> Section | None:
    """Return the section on margins, or why they are not analysed; None where the log has none."""
    found, reason = a.margins
    if found is not None:
        ranked = list(a.winners.table().index)
        return margins_section(found, ranked, own_ranking=a.by_margins, noun=a.noun)
    return Section(id="margins", title="Margins", body=blocks(reason)) if reason else None


def _log(a: Analysis) -> Section:
    """Return the section on the log."""
    check = a.check.value
    order = None if check is None else check.order
    clear = order is not None and order.clear and not a.ordered
    further = ORDER_FOUND if clear else ""
    return log_section(a.duels, a.health, further=further, ordered=a.ordered, noun=a.noun)


def _over_time(fit: "xr.DataTree", noun: str) -> Section | None:
    """Return the section on ratings that change over time; None where they do not."""
    from bayesduel.plots.ratings import RATINGS_SIZE, plot_ratings

    if "rating" not in fit["posterior"]:
        return None
    words = f"Scores over time of the six {plural(noun)} that are highest in the last period"
    figure = Figure(
        plot=partial(plot_ratings, fit), size=RATINGS_SIZE, alt=words, caption=f"{words}."
    )
    return Section(id="time", title="Scores over time", body=(figure,))


def _checked(a: Analysis) -> Sections:
    """Return the sections on the check, or why there is none."""
    check, reason = a.check
    if check is None:
        return (Section(id="transitivity", title="Transitivity", body=blocks(reason)),)
    tested = transitivity_section(check, verdict=True, modelled=a.ordered)
    compared = () if check.comparison is None else (comparison_section(check),)
    return (tested, residuals_section(check), *compared)


def _calibration(a: Analysis) -> Section:
    """Return the section on predictions of held-out duels, or why there are none."""
    found, reason = a.calibration
    return calibration_section(found, reason if found is None else found.sentence)


def _noted(section: Section, *notes: str) -> Section:
    """Return the section with notes before its body, in one paragraph."""
    return replace(section, body=(*blocks(" ".join(filter(None, notes))), *section.body))


def _of_check(check: Check, command: str | None) -> Sections:
    from bayesduel import __version__

    return (
        check_verdict_section(check),
        transitivity_section(check),
        residuals_section(check),
        comparison_section(check),
        reproduce_section(check.seed, {"bayesduel": __version__}, command),
    )


def _of_attributes(a: AttributeAnalysis, command: str | None) -> Sections:
    level = f"{100 * a.table.attrs['ci_prob']:g} %"
    return (
        attributes_verdict_section(a),
        coefficients_section(a.table, a.fit),
        *(() if a.new is None else (new_items_section(a.new, level),)),
        calibration_section(a.calibration.value, a.held_words),
        fit_section(a.fit, noun=a.noun),
        _reproduce(a.fit, command),
    )


def _of_categories(a: CategoryAnalysis, command: str | None) -> Sections:
    from bayesduel.data.health import health

    average = (
        "Ranks and win rates are those of the average over the categories of the log. The score "
        "in each category counts by its votes."
    )
    found = (
        category_verdict_section(a),
        _noted(category_board(a), average),
        categories_section(a),
        changes_section(a),
        table_section(a),
        _noted(rates_section(a.winners, a.duels, noun=a.noun), average),
        log_section(a.duels, health(a.duels), noun=a.noun),
        fit_section(a.fit, noun=a.noun),
        _reproduce(a.fit, command),
    )
    return tuple(section for section in found if section is not None)


def _reproduce(fit: "xr.DataTree", command: str | None) -> Section:
    return reproduce_section(fit.attrs["seed"], json.loads(fit.attrs["versions"]), command)


def _all_logs(several: Mapping[Any, Any]) -> bool:
    """Return whether there are several logs, so that parts are kept while others are made."""
    from bayesduel.data.duels import Duels

    return len(several) > 1 and all(isinstance(one, Duels) for one in several.values())


class Kind(NamedTuple):
    """What a report asks of one kind of analysis."""

    # its sections, given it and the command that made it
    sections: Callable[[Any, str | None], Sections]
    verdict: Callable[[Any], str]  # its main result, in the table of several logs
    # whether the check lets a ranking stand; None where it was not made or cannot
    # tell
    transitive: Callable[[Any], bool | None] = lambda one: None


KINDS: dict[type, Kind] = {
    Analysis: Kind(
        _of_log,
        lambda a: headline(a.winners, a.noun, None if a.by_pair is a.winners else a.by_pair),
        lambda a: None if a.check.value is None else a.check.value.transitive,
    ),
    Check: Kind(_of_check, lambda check: check.verdict, lambda check: check.transitive),
    AttributeAnalysis: Kind(_of_attributes, lambda a: a.sentence),
    CategoryAnalysis: Kind(_of_categories, lambda a: a.ranks.words(a.noun)),
}


def _kind(one: Any) -> Kind:
    return next(found for kind, found in KINDS.items() if isinstance(one, kind))


def _row(one: Any) -> IndexRow:
    """Return the row of an analysis in the table of several logs."""
    kind = _kind(one)
    duels = one.duels
    size = f"{duels.n_duels:,}", f"{duels.n_arms:,}"
    return IndexRow(*size, kind.verdict(one), kind.transitive(one))
