"""Everything a report says of one log, computed once."""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesduel.criticism import calibration
from bayesduel.criticism.audit import audit as audit_of
from bayesduel.criticism.check import check as check_log
from bayesduel.criticism.check import expected_seconds
from bayesduel.criticism.check_text import teams_free_words
from bayesduel.criticism.posterior_predictive import check_margins
from bayesduel.data.health import disconnected_words, thin_data_words
from bayesduel.data.health import health as health_of
from bayesduel.data.rankings import Rankings
from bayesduel.data.sides import sides_of
from bayesduel.inference.default_model import AUTO, choose_model
from bayesduel.inference.fit import fit as fit_model
from bayesduel.intervals import eti
from bayesduel.models import PerturbedThurstone, Scores, SideAdvantage, Sources, ThurstoneScore
from bayesduel.posterior import information_gain
from bayesduel.posterior.coefficients import coefficients
from bayesduel.posterior.duels_to_decide import duels_to_decide
from bayesduel.posterior.estimand import estimand
from bayesduel.posterior.generalizability import facets_of, generalizability
from bayesduel.posterior.judge_agreement import judge_agreement
from bayesduel.posterior.scores import scores
from bayesduel.posterior.sources import sources
from bayesduel.posterior.verdict_check import checked
from bayesduel.posterior.winners import winners
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
    from bayesduel.criticism.posterior_predictive import MarginCheck
    from bayesduel.data.duels import Duels
    from bayesduel.data.health_record import Health
    from bayesduel.models.model import Model
    from bayesduel.posterior.generalizability import Generalizability
    from bayesduel.posterior.judge_agreement import JudgeAgreement
    from bayesduel.posterior.sources import SourceAgreement
    from bayesduel.posterior.winners import Winners

__all__ = [
    "Analysis",
    "Attempt",
    "MarginAnalysis",
    "analyse",
    "called_reasons",
    "called_warnings",
    "given_again",
]

Step = Callable[[str], None]  # called with the name of each step before it begins

RANKED = (
    "Not computed for rankings: it needs independent duels, and the places of one "
    "ranking are not independent."
)
UNAVAILABLE = "Not available for this log: {}."
NEIGHBOURS = 1000  # pairs of neighbours in the ranking that are looked at, of many arms
MARGIN_ARMS = 300  # up to as many arms, margins are analysed where the fit is not one of margins


class Attempt[T](NamedTuple):
    """A part of an analysis, or why it is missing."""

    value: T | None
    reason: str = ""  # "" where there is a value, or where the log has nothing to say of this


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginAnalysis:
    """What a report says of margins."""

    fit: "xr.DataTree"  # of a model of margins
    check: "MarginCheck"  # its residuals against replicated ones
    # a fit with residuals of pairs, or None where they cannot be estimated
    perturbed: "xr.DataTree | None"
    side: str  # what the side listed first is called in a sentence: "the home side"


@dataclass(frozen=True, eq=False, kw_only=True)
class Analysis:
    """What a report says of one log."""

    duels: "Duels"  # the log, its health, its fit and the winners of that
    health: "Health"
    fit: "xr.DataTree"
    winners: "Winners"
    check: "Attempt[Check]"  # of transitivity; models are compared where that was asked for
    # winners under a model that need not be transitive: the five models of a pair, averaged.
    # Missing without a reason where the model of `fit` is one itself.
    free: "Attempt[Winners]"
    calibration: "Attempt[Calibration]"  # held-out calibration
    margins: "Attempt[MarginAnalysis]"  # missing without a reason where the log has none
    # the most informative pairs; None where there are too many to choose from
    pairs: "pd.DataFrame | None"
    # how many more duels would decide neighbours in the ranking; of many arms, the first ones
    neighbours: "pd.DataFrame"
    judges: "JudgeAgreement | None"  # agreement of the judges, or None where the log has none
    scores: "pd.DataFrame | None"  # scores with intervals, or None where the model ranks by none
    # the same by robust errors alone, where the model has effects of prompts or judges
    scores_by_robust_errors: "pd.DataFrame | None"
    # what :func:`bayesduel.coefficients` returned, where the model has covariates, else None
    coefficients: "pd.DataFrame | None"
    # where the model has one side advantage: expected score of the left side against an equal arm,
    # its posterior mean and the ends of its interval; else None
    side_advantage: tuple[float, float, float] | None
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
    def ranked_by_score(self) -> bool:
        """Whether the model has one score per arm, so that all criteria have the same winner."""
        return bool(self.fit.duel.model.criteria_agree)

    @property
    def by_margins(self) -> bool:
        """Whether the model is one of margins."""
        return bool(self.fit.attrs["outcome"] == "margin")

    @property
    def ordered(self) -> bool:
        """Whether the model has a side advantage, one or by level."""
        return bool(self.fit.duel.model.terms.reads_order)

    @property
    def by_pair(self) -> "Winners":
        """The winners that probabilities of pairs are read from."""
        free = self.free.value
        return free if self.rejected and free is not None else self.winners

    @property
    def free_unit(self) -> str:
        """What `free` counts as one duel: "duel", or a unit of repeated votes, by its majority.

        A preference matrix has no cluster-robust standard errors.
        """
        check = self.check.value
        controlled = self.rejected and self.fit.duel.model.terms.controls
        return "duel" if check is None or controlled else check.evidence.unit


def analyse(
    log: "Duels | Rankings",
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
    step: Step = lambda name: None,
) -> Analysis:
    """Return everything a report says of `log`, of which `fit` is a fit.

    The other arguments are those of :func:`bayesduel.report`.
    """
    duels = log.duels if isinstance(log, Rankings) else log
    _check_arguments(
        duels, compare=compare, audit=audit, noun=noun, retired=retired, against=against
    )
    deciding: dict[str, Any] = {"rope": rope, "confidence": confidence, "retired": retired}
    scale: dict[str, Any] = {"anchor": anchor, "points": points, "ci_prob": confidence}
    asked = model if fit is None else AUTO
    with given_again() as raised, one_thread_if_small(duels.n_arms):
        step("checking the log")
        health = health_of(duels)
        if fit is None:
            step("fitting")
            options = {"draws": draws, "seed": seed, "log_likelihood": False}  # nothing reads that
            fit = fit_model(log, model, method, **options)  # type: ignore[arg-type]
        if at is not None or weights is not None:
            fit = estimand(fit, at=at, weights=weights)
        step("computing winners")
        found = winners(fit, **deciding, noun=noun)
        found = found.assign_attrs(model_reasons=called_reasons(fit, asked, log, noun))
    audited = audit_of(fit, duels, confidence=confidence, seed=seed, step=step) if audit else None
    fitted = fit.duel.model
    with warnings.catch_warnings(), one_thread_if_small(duels.n_arms):
        warnings.simplefilter("ignore", UserWarning)  # the log's warnings have been given once
        check = _check(log, noun, step, compare=compare, seed=seed)
        free = _free_winners(log, fit, check, deciding, noun, step)
        cyclic = free.value if fitted.criteria_agree else found
        found = checked(found, check.value, cyclic, free.reason, noun)
        return Analysis(
            duels=duels,
            health=health,
            fit=fit,
            winners=found,
            check=check,
            free=free,
            calibration=_calibration(log, fit, noun, step, seed=seed),
            margins=_margins(duels, fit, noun, step, seed=seed),
            pairs=_informative_pairs(fit, duels.n_arms, deciding, step),
            neighbours=_neighbours(fit, found, **deciding),
            judges=judge_agreement(duels, fit, against=against) if _judged(duels) else None,
            scores=_scores(fit, scale, retired),
            scores_by_robust_errors=_scores_by_robust_errors(
                log, fit, scale, step, draws=draws, seed=seed
            ),
            coefficients=_coefficients(fit, confidence),
            side_advantage=_side_advantage(fit, confidence),
            sources=sources(fit, confidence) if fitted.terms.find(Sources) else None,
            audit=audited,
            generalizability=generalizability(fit) if facets_of(fitted) else None,
            warnings=called_warnings(raised, duels, noun),
            noun=noun,
        )


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
    stored = str(fit.attrs.get("model_reasons", "[]"))
    reasons = json.loads(stored)
    if noun == "arm" or not reasons:
        return stored
    said: dict[str, str] = {}
    for model in (asked, fit.duel.model):
        plain = choose_model(model, log).reasons
        said |= zip(plain, choose_model(model, log, noun=noun).reasons, strict=True)
    return json.dumps([said.get(words, words) for words in reasons])


def _check_arguments(
    duels: "Duels",
    *,
    compare: bool,
    audit: bool,
    noun: str,
    retired: Sequence[str],
    against: Sequence[str],
) -> None:
    """Raise TypeError or ValueError unless arguments of :func:`analyse` are as described."""
    check_flag(compare, "compare")
    check_flag(audit, "audit")
    check_noun(noun)
    if audit and retired:
        raise ValueError(
            "audit should be False where arms are retired, because it is about all arms of a log"
        )
    if against and not _judged(duels):
        rule = f"{as_options(against=None)} should name judges of the log"
        how = f"read it with {as_options(judge=None)}"
        raise ValueError(f"{rule}, but the log has no judges: {how}")


def _judged(duels: "Duels") -> bool:
    """Return whether a log names judges."""
    return duels.votes is not None and duels.votes.judge is not None


def _check(
    log: "Duels | Rankings", noun: str, step: Step, *, compare: bool, seed: int
) -> "Attempt[Check]":
    """Return the check of transitivity, or why it is left out of a report."""
    if isinstance(log, Rankings):
        return Attempt(None, RANKED)
    duels = log.as_sides()
    if duels.n_arms > TABLE_ARMS:
        return Attempt(None, _beyond_tables("The check of transitivity", noun))
    if expected_seconds(duels) > 15.0:  # the page names the command where it takes more
        return Attempt(
            None,
            "This report has no check of transitivity, because the check takes a minute or more "
            f"for {duels.n_arms:,} {plural(noun)} and {len(duels.pairs().first):,} pairs that met. "
            "Run bayesduel check for it.",
        )
    step("checking transitivity")
    return Attempt(replace(check_log(log, quick=not compare, seed=seed, step=step), noun=noun))


def _beyond_tables(what: str, noun: str) -> str:
    """Return why something is not computed for many arms, and what computes it for a part."""
    nouns = plural(noun)
    return (
        f"{what} is not computed for more than {TABLE_ARMS:,} {nouns}, because it needs "
        f"tables of all pairs. bayesduel check computes it for a part of the {nouns}."
    )


def _free_winners(
    log: "Duels | Rankings",
    fit: "xr.DataTree",
    check: "Attempt[Check]",
    deciding: Mapping[str, Any],
    noun: str,
    step: Step,
) -> "Attempt[Winners]":
    """Return the winners under a model that need not be transitive, or why there are none."""
    loose, reason = _free_fit(log, fit, check, noun, step)
    return Attempt(None if loose is None else winners(loose, **deciding, noun=noun), reason)


def _free_fit(
    log: "Duels | Rankings", fit: "xr.DataTree", check: "Attempt[Check]", noun: str, step: Step
) -> "Attempt[xr.DataTree]":
    """Return a fit that need not be transitive, where the model of `fit` is; or why there is none.

    Where the check rejects a ranking, it controls for what the model does.
    """
    model = fit.duel.model
    made = check.value
    if not model.criteria_agree:
        return Attempt(None)
    if made is not None and made.transitive is False:
        step("fitting without transitivity")
        return Attempt(*made.answer_without_ranking(model))
    reason = _why_not_free(log, fit, check.reason, noun)
    if made is None or reason or log.n_arms <= 2:
        return Attempt(None, reason)
    step("fitting without transitivity")
    return Attempt(made.averaged)


def _why_not_free(log: "Duels | Rankings", fit: "xr.DataTree", unchecked: str, noun: str) -> str:
    """Return why no model without transitivity is fitted where a ranking may hold, or "".

    unchecked: why there is no check, or "".
    """
    if isinstance(log, Rankings):
        return "There is no model without a ranking for a log of rankings."
    if log.n_arms > TABLE_ARMS:
        return _beyond_tables("A model without transitivity", noun)
    if "covariate_effect" in fit["posterior"]:
        return (
            "The model without transitivity has no covariates. So its winners would not be "
            "controlled for them."
        )
    if unchecked:
        return unchecked
    if log.teams is not None:
        return teams_free_words(noun)
    met = len(log.pairs().first) / (log.n_arms * (log.n_arms - 1) / 2)
    # Of up to 200 arms a pair that never met is told by intervals as wide as its prior
    if log.n_arms <= 200 or met >= 0.5:
        return ""
    return (
        "A model without transitivity has a separate probability for each pair. Only "
        f"{percent(met)} % of the pairs have met, so its winners would mostly show its prior."
    )


def _calibration(
    log: "Duels | Rankings", fit: "xr.DataTree", noun: str, step: Step, *, seed: int
) -> "Attempt[Calibration]":
    """Return predictions of held-out duels, or why there are none."""
    if isinstance(log, Rankings):
        return Attempt(None, RANKED)
    if log.n_arms > TABLE_ARMS:
        return Attempt(
            None,
            f"Not computed for more than {TABLE_ARMS:,} {plural(noun)}, because it needs five "
            "fits. In Python: bayesduel.criticism.calibration.held_out(duels).",
        )
    step("predicting held-out duels")
    try:
        return Attempt(calibration.held_out(log, fit.duel.model, seed=seed, fit=fit))
    except ValueError as error:
        return Attempt(None, UNAVAILABLE.format(error))


def _margins(
    duels: "Duels", fit: "xr.DataTree", noun: str, step: Step, *, seed: int
) -> "Attempt[MarginAnalysis]":
    """Return the analysis of margins, by `fit` if that is of a model of margins."""
    step("analysing margins")
    if duels.votes is None or duels.votes.margin is None:
        return Attempt(None)
    if duels.n_arms > MARGIN_ARMS:
        return Attempt(
            None,
            f"Margins of more than {MARGIN_ARMS} {plural(noun)} are not analysed here; fit a model "
            "of margins (--model thurstone-score).",
        )
    # Of 2,000 draws the Monte Carlo error of an end of a 95 % interval is 0.06 deviations
    fitted = partial(fit_model, duels, draws=2000, seed=seed, log_likelihood=False)
    try:
        if fit.duel.model.response.outcome != "margin":
            fit = fitted(ThurstoneScore(Scores() + SideAdvantage()))
        check = check_margins(fit, seed=seed)
        loose = _with_residuals(duels, fit.duel.model)
        perturbed = None if loose is None else fitted(loose)
    except ValueError as error:
        return Attempt(None, UNAVAILABLE.format(error))
    side = sides_of(duels).left
    return Attempt(MarginAnalysis(fit=fit, check=check, perturbed=perturbed, side=side))


def _with_residuals(duels: "Duels", model: "Model") -> "Model | None":
    """Return a model of margins with residuals of pairs, or None where they cannot be estimated."""
    few = 2 < duels.n_arms <= 60  # of which there are 1,770 residuals
    again = duels.pairs().first_wins.size < duels.n_duels
    if not (few and again and model.ranks_by_score and duels.teams is None):
        return None
    loose = PerturbedThurstone()
    return loose + SideAdvantage() if model.terms.reads_order else loose


def _informative_pairs(
    fit: "xr.DataTree", n_arms: int, deciding: Mapping[str, Any], step: Step
) -> "pd.DataFrame | None":
    """Return the most informative pairs; None where there are too many to choose from."""
    step("choosing informative pairs")
    return None if n_arms > TABLE_ARMS else information_gain.next_pairs(fit, FEW_ROWS, **deciding)


def _neighbours(
    fit: "xr.DataTree", found: "Winners", *, rope: float, confidence: float, retired: Sequence[str]
) -> "pd.DataFrame":
    """Return how many more duels would decide neighbours; of many arms, the first ones."""
    of = None
    if retired or found.sizes["arm"] > TABLE_ARMS:
        best = found["arm"].values[found["order"].values[: NEIGHBOURS + 1]]
        of = [(str(a), str(b)) for a, b in pairwise(best)]
    return duels_to_decide(fit, of, rope=rope, confidence=confidence)


def _scores(
    fit: "xr.DataTree", scale: Mapping[str, Any], retired: Sequence[str]
) -> "pd.DataFrame | None":
    """Return the scores of the arms that are not retired; None where the model ranks by none."""
    if not fit.duel.model.ranks_by_score:
        return None
    rows = scores(fit, **scale)
    return rows[~rows.index.isin(retired)] if retired else rows


def _scores_by_robust_errors(
    log: "Duels | Rankings",
    fit: "xr.DataTree",
    scale: Mapping[str, Any],
    step: Step,
    **options: Any,
) -> "pd.DataFrame | None":
    """Return the scores of a fit whose robust errors alone say what votes share.

    None where `fit` is one, or the model ranks by no scores; None, too, where such a fit takes
    long, or has no robust errors.

    options: as in :func:`bayesduel.fit`.
    """
    model = fit.duel.model
    effects = [part for part in model.terms.deviating if part.samples]
    if not effects or "clusters" not in fit or not model.ranks_by_score:
        return None
    kept = tuple(part for part in model.terms if part not in effects)
    plain = replace(model, predictor=type(model.terms)(kept))
    if plain.why_not("laplace"):
        return None
    step("fitting without effects of what votes share")
    found = fit_model(log, plain, log_likelihood=False, **options)
    return scores(found, **scale) if "clusters" in found else None


def _coefficients(fit: "xr.DataTree", ci_prob: float) -> "pd.DataFrame | None":
    """Return the effects of attributes and covariates; None in a model without."""
    if not {"coefficient", "covariate_effect"} & set(fit["posterior"].data_vars):
        return None
    effects = coefficients(fit, ci_prob)
    return effects[effects["kind"] == "effect"]


def _side_advantage(fit: "xr.DataTree", ci_prob: float) -> tuple[float, float, float] | None:
    """Return the expected score of the left side against an equal arm, mean and interval."""
    draws = fit.duel.posterior()
    if "order" not in draws:
        return None
    score = fit.duel.model.typical_score(draws["order"][:, None], draws)[:, 0]
    low, high = eti(score, ci_prob)
    return float(score.mean()), float(low), float(high)
