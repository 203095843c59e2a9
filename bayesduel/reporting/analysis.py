"""Everything a report says of one log, computed once."""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bayesduel.data.health import disconnected_words, thin_data_words
from bayesduel.data.rankings import Rankings
from bayesduel.inference.default_model import AUTO, TIES
from bayesduel.models import Sources
from bayesduel.posterior.update import log_of
from bayesduel.reporting.section import FEW_ROWS
from bayesduel.system.arguments import as_options, check_flag, check_noun
from bayesduel.system.memory import TABLE_ARMS
from bayesduel.system.options import Decision
from bayesduel.system.threads import one_thread_if_small
from bayesduel.system.warnings import warn
from bayesduel.text import percent, plural

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesduel.criticism.audit import Audit
    from bayesduel.criticism.calibration import Calibration
    from bayesduel.criticism.check_result import Check
    from bayesduel.data.duels import Duels
    from bayesduel.data.health import Health
    from bayesduel.posterior.generalizability import Generalizability
    from bayesduel.posterior.judge_agreement import JudgeAgreement
    from bayesduel.posterior.sources import SourceAgreement
    from bayesduel.posterior.winners import Winners
    from bayesduel.reporting.margins import MarginAnalysis

__all__ = [
    "TIES",
    "Analysis",
    "analyse",
    "beyond_tables",
    "called_reasons",
    "called_warnings",
    "given_again",
    "log_of",
]

# Arms from which that model needs the share of pairs that met: of fewer a pair that never met is
# told by intervals as wide as its prior.
FREE_ARMS = 200
MET = 0.5
CHECK_SECONDS = 15.0  # that the check may take; the page names the command where it takes more
RANKED = (
    "Not computed for rankings: it needs independent duels, and the places of one "
    "ranking are not independent."
)
NEIGHBOURS = 1000  # pairs of neighbours in the ranking that are looked at, of many arms


@dataclass(frozen=True, eq=False, kw_only=True)
class Analysis:
    """What a report says of one log."""

    duels: "Duels"  # the log, its health, its fit and the winners of that
    health: "Health"
    fit: "xr.DataTree"
    winners: "Winners"
    # whether the model of `fit` has one score per arm, so that all criteria have the same winner
    ranked_by_score: bool
    by_margins: bool  # whether it is a model of margins
    # winners under a model that need not be transitive: the five models of a pair, averaged. None
    # where the model of `fit` is one itself.
    free: "Winners | None"
    free_reason: str  # why one of these is None though the log could have it, or ""
    # what `free` counts as one duel: "duel", or the majority verdict of a unit of repeated votes,
    # since a preference matrix has no cluster-robust standard errors
    free_unit: str
    check: "Check | None"  # the check of transitivity; models are compared where that was asked for
    check_reason: str
    calibration: "Calibration | None"  # held-out calibration
    calibration_reason: str
    margins: "MarginAnalysis | None"  # the analysis of margins, where the log has some
    margins_reason: str
    # what :func:`bayesduel.coefficients` returned, where the model has covariates, else None
    coefficients: "pd.DataFrame | None"
    # where the model has one side advantage: expected score of the left side against an equal arm,
    # its posterior mean and the ends of its interval; else None
    side_advantage: tuple[float, float, float] | None
    # the most informative pairs; None where there are too many to choose from
    pairs: "pd.DataFrame | None"
    # how many more duels would decide neighbours in the ranking; of many arms, the first ones
    neighbours: "pd.DataFrame"
    scores: "pd.DataFrame | None"  # scores with intervals, or None where the model ranks by none
    # the same by robust errors alone, where the model has effects of prompts or judges
    scores_by_robust_errors: "pd.DataFrame | None"
    judges: "JudgeAgreement | None"  # agreement of the judges, or None where the log has none
    sources: "SourceAgreement | None"
    audit: "Audit | None"
    generalizability: "Generalizability | None"
    warnings: tuple[tuple[str, str], ...]  # (name, words) of every warning raised on the way
    noun: str = "arm"  # what an arm is called

    @property
    def retired(self) -> tuple[str, ...]:
        """The arms that are left out of the verdict, because they are retired."""
        return tuple(json.loads(self.winners.attrs.get("retired", "[]")))

    @property
    def rejected(self) -> bool:
        """Whether the log contradicts the ranking that `winners` gives."""
        return bool(self.winners.attrs["verdict_kind"] == "no ranking")

    @property
    def ordered(self) -> bool:
        """Whether the model has a side advantage, one or by level."""
        return bool(self.fit.duel.model.terms.reads_order)

    @property
    def by_pair(self) -> "Winners":
        """The winners that probabilities of pairs are read from."""
        return self.free if self.rejected and self.free is not None else self.winners


def analyse(
    duels: "Duels | Rankings",
    fit: "xr.DataTree | None" = None,
    *,
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
    noun: str = "arm",
    step: Callable[[str], None] = lambda name: None,
) -> Analysis:
    """Return everything a report says of `duels`, of which `fit` is a fit.

    The other arguments are those of :func:`bayesduel.report`.
    """
    from bayesduel.criticism.calibration import held_out
    from bayesduel.criticism.check import check as check_log
    from bayesduel.data.health import health as health_of
    from bayesduel.inference.fit import fit as fit_model
    from bayesduel.posterior.coefficients import coefficients
    from bayesduel.posterior.duels_to_decide import duels_to_decide
    from bayesduel.posterior.estimand import estimand
    from bayesduel.posterior.generalizability import facets_of, generalizability
    from bayesduel.posterior.information_gain import next_pairs
    from bayesduel.posterior.judge_agreement import judge_agreement
    from bayesduel.posterior.scores import scores
    from bayesduel.posterior.sources import sources
    from bayesduel.posterior.verdict_check import checked, rejects
    from bayesduel.posterior.winners import winners
    from bayesduel.reporting.margins import analyse_margins

    check_flag(compare, "compare")
    check_flag(audit, "audit")
    check_noun(noun)
    if audit and retired:
        raise ValueError(
            "audit should be False where arms are retired, because it is about all arms of a log"
        )
    log = duels
    ranked = isinstance(duels, Rankings)
    duels = log.duels if isinstance(log, Rankings) else log
    with_judges = duels.votes is not None and duels.votes.judge is not None
    if against and not with_judges:
        rule = f"{as_options(against=None)} should name judges of the log"
        how = f"read it with {as_options(judge=None)}"
        raise ValueError(f"{rule}, but the log has no judges: {how}")
    with given_again() as raised, one_thread_if_small(duels.n_arms):
        step("checking the log")
        health = health_of(duels)
        asked = AUTO
        if fit is None:
            asked = model
            step("fitting")
            options = {"draws": draws, "seed": seed, "log_likelihood": False}  # nothing reads that
            fit = fit_model(log, model, method, **options)  # type: ignore[arg-type]
        if at is not None or weights is not None:
            fit = estimand(fit, at=at, weights=weights)
        step("computing winners")
        deciding: dict[str, Any] = {"rope": rope, "confidence": confidence, "retired": retired}
        found = winners(fit, **deciding, noun=noun)
        found = found.assign_attrs(model_reasons=called_reasons(fit, asked, log, noun))

    audited = None
    if audit:
        from bayesduel.criticism.audit import audit as audit_of

        audited = audit_of(fit, duels, confidence=confidence, seed=seed, step=step)
    model = fit.duel.model
    covariates = {"coefficient", "covariate_effect"} & set(fit["posterior"].data_vars)
    by_score = model.criteria_agree
    many = duels.n_arms > TABLE_ARMS
    with warnings.catch_warnings(), one_thread_if_small(duels.n_arms):
        # The log's warnings have been given once.
        warnings.simplefilter("ignore", UserWarning)
        free = None
        free_reason = ""
        free_unit = "duel"
        if by_score and "covariate_effect" in covariates:
            free_reason = (
                "The model without transitivity has no covariates. So its winners would "
                "not be controlled for them."
            )
        if ranked:
            free_reason = "There is no model without a ranking for a log of rankings."
        elif many and by_score:
            free_reason = beyond_tables("A model without transitivity", "bayesduel check", noun)
        check: Check | None = None
        check_reason = RANKED if ranked else _why_no_check(duels, noun)
        if check_reason:
            free_reason = free_reason or check_reason
        else:
            step("checking transitivity")
            check = replace(check_log(duels, quick=not compare, seed=seed, step=step), noun=noun)
        loose = None
        if check is not None and rejects(check, fit):
            step("fitting without transitivity")
            loose, free_reason = check.answer_without_ranking(model)
            free_unit = check.evidence.unit if not model.terms.controls else "duel"
        elif check is not None and by_score and duels.n_arms > 2:
            free_reason = free_reason or _why_not_free(duels, noun)
            if not free_reason:
                step("fitting without transitivity")
                loose = check.averaged
                free_unit = check.evidence.unit
        if loose is not None:
            free = winners(loose, **deciding, noun=noun)
        found = checked(found, check, free if by_score else found, free_reason, noun)
        calibration = None
        calibration_reason = ""
        if ranked:
            calibration_reason = RANKED
        elif many:
            calibration_reason = (
                f"Not computed for more than {TABLE_ARMS:,} {plural(noun)}, because it needs five "
                "fits. In Python: bayesduel.criticism.calibration.held_out(duels)."
            )
        else:
            step("predicting held-out duels")
            try:
                calibration = held_out(duels, model, seed=seed, fit=fit)
            except ValueError as error:
                calibration_reason = f"Not available for this log: {error}."
        step("analysing margins")
        margins, margins_reason = analyse_margins(duels, fit, seed, noun)
        step("choosing informative pairs")
        pairs = None
        of = None
        if many or retired:
            best = found["arm"].values[found["order"].values[: NEIGHBOURS + 1]]
            of = [(str(a), str(b)) for a, b in pairwise(best)]
        if not many:
            pairs = next_pairs(fit, FEW_ROWS, **deciding)
        neighbours = duels_to_decide(fit, of, rope=rope, confidence=confidence)
        judges = judge_agreement(duels, fit, against=against) if with_judges else None
        rated = None
        by_robust_errors = None
        if model.ranks_by_score:
            scale: dict[str, Any] = {"anchor": anchor, "points": points, "ci_prob": confidence}
            rated = _remaining(scores(fit, **scale), retired)
            plain = _without_effects(log, fit, step, draws=draws, seed=seed)
            by_robust_errors = None if plain is None else scores(plain, **scale)
    effects = coefficients(fit, confidence)
    effects = effects[effects["kind"] == "effect"]
    return Analysis(
        duels=duels,
        health=health,
        fit=fit,
        winners=found,
        ranked_by_score=by_score,
        by_margins=fit.attrs["outcome"] == "margin",
        free=free,
        free_reason=free_reason,
        free_unit=free_unit,
        check=check,
        check_reason=check_reason,
        calibration=calibration,
        calibration_reason=calibration_reason,
        margins=margins,
        margins_reason=margins_reason,
        coefficients=effects if covariates else None,
        side_advantage=_side_advantage(fit, confidence),
        pairs=pairs,
        neighbours=neighbours,
        scores=rated,
        scores_by_robust_errors=by_robust_errors,
        judges=judges,
        sources=sources(fit, confidence) if model.terms.find(Sources) else None,
        audit=audited,
        generalizability=generalizability(fit) if facets_of(fit.duel.model) else None,
        warnings=called_warnings(raised, duels, noun),
        noun=noun,
    )


def _remaining(rows: "pd.DataFrame", retired: Sequence[str]) -> "pd.DataFrame":
    """Return the rows of a table by arm that are not of retired arms."""
    return rows[~rows.index.isin(retired)] if retired else rows


@contextmanager
def given_again() -> Iterator[list[tuple[str, str]]]:
    """Give the warnings of the block, each once, at its end; yield a list for class and words."""
    found: list[tuple[str, str]] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield found
    raised = dict.fromkeys((w.category, str(w.message)) for w in caught)
    found += [(category.__name__, words) for category, words in raised]
    for category, words in raised:
        warn(words, category)


def called_warnings(
    raised: Sequence[tuple[str, str]], duels: "Duels", noun: str
) -> tuple[tuple[str, str], ...]:
    """Return warnings, each its class and its words, with what an arm is called."""
    said = {
        "DisconnectedWarning": disconnected_words(duels, noun),
        "ThinDataWarning": thin_data_words(duels, noun),
    }
    return tuple((name, said.get(name) or words) for name, words in raised)


def called_reasons(fit: "xr.DataTree", asked: Any, log: "Duels | Rankings", noun: str) -> str:
    """Return the reasons for the model of a fit, as JSON, with what an arm is called.

    asked: the model that was asked for. Reasons that are not of its rule stay as the fit has them.
    """
    from bayesduel.inference.default_model import choose_model

    stored = str(fit.attrs.get("model_reasons", "[]"))
    reasons = json.loads(stored)
    if noun == "arm" or not reasons:
        return stored
    said: dict[str, str] = {}
    for model in (asked, fit.duel.model):
        plain = choose_model(model, log).reasons
        said |= zip(plain, choose_model(model, log, noun=noun).reasons, strict=True)
    return json.dumps([said.get(words, words) for words in reasons])


def _without_effects(
    log: "Duels | Rankings", fit: "xr.DataTree", step: Callable[[str], None], **options: Any
) -> "xr.DataTree | None":
    """Return a fit whose robust errors alone say what votes share; None where that is so already.

    None, too, where such a model takes long, or has no robust errors.
    """
    from bayesduel.inference.fit import fit as fit_model

    model = fit.duel.model
    effects = [part for part in model.terms.deviating if part.samples]
    if not effects or "clusters" not in fit:
        return None
    kept = tuple(part for part in model.terms if part not in effects)
    plain = replace(model, predictor=type(model.terms)(kept))
    if plain.why_not("laplace"):
        return None
    step("fitting without effects of what votes share")
    found = fit_model(log, plain, log_likelihood=False, **options)
    return found if "clusters" in found else None


def beyond_tables(what: str, command: str, noun: str) -> str:
    """Return why something is not computed for many arms, and what computes it for a part."""
    nouns = plural(noun)
    return (
        f"{what} is not computed for more than {TABLE_ARMS:,} {nouns}, because it needs "
        f"tables of all pairs. {command} computes it for a part of the {nouns}."
    )


def _why_no_check(duels: "Duels", noun: str) -> str:
    """Return why the check of transitivity is left out of a report, or ""."""
    from bayesduel.criticism.check import expected_seconds

    duels = duels.as_sides()
    if duels.n_arms > TABLE_ARMS:
        return beyond_tables("The check of transitivity", "bayesduel check", noun)
    if expected_seconds(duels) <= CHECK_SECONDS:
        return ""
    return (
        "This report has no check of transitivity, because the check takes a minute or more "
        f"for {duels.n_arms:,} {plural(noun)} and {len(duels.pairs().first):,} pairs that met. Run "
        "bayesduel check for it."
    )


def _why_not_free(duels: "Duels", noun: str) -> str:
    """Return why no model without transitivity is fitted where a ranking may hold, or ""."""
    from bayesduel.criticism.check_text import teams_free_words

    if duels.teams is not None:
        return teams_free_words(noun)
    met = len(duels.pairs().first) / (duels.n_arms * (duels.n_arms - 1) / 2)
    if duels.n_arms <= FREE_ARMS or met >= MET:
        return ""
    return (
        "A model without transitivity has a separate probability for each pair. Only "
        f"{percent(met)} % of the pairs have met, so its winners would mostly show its prior."
    )


def _side_advantage(fit: "xr.DataTree", ci_prob: float) -> tuple[float, float, float] | None:
    """Return the expected score of the left side against an equal arm, mean and interval."""
    from bayesduel.intervals import eti

    draws = fit.duel.posterior()
    if "order" not in draws:
        return None
    score = fit.duel.model.typical_score(draws["order"][:, None], draws)[:, 0]
    low, high = eti(score, ci_prob)
    return float(score.mean()), float(low), float(high)
