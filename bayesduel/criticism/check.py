"""Model criticism: is there one ranking, residuals of scores, and comparison of models."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from bayesduel.criticism import check_text
from bayesduel.criticism.check_result import Check
from bayesduel.criticism.cycle_posterior import cycle_posterior
from bayesduel.criticism.drift import drift_of
from bayesduel.criticism.model_cycles import (
    COMPARED_DRAWS,
    cycles_by_model,
    left_out,
    models_to_compare,
)
from bayesduel.criticism.order_share import CROSSED, order_share
from bayesduel.criticism.ranking.posterior import SURE, RankingPosterior, ranking_posterior
from bayesduel.criticism.residuals import arm_residuals, judge_residuals, pair_residuals
from bayesduel.criticism.transitivity.conditions import conditional_p_value
from bayesduel.criticism.transitivity.design import DecidedDuels, design_of, majority_design
from bayesduel.criticism.transitivity.evidence import LEVEL, CycleEvidence, cycle_evidence
from bayesduel.criticism.transitivity.score_model import ScoreModel
from bayesduel.criticism.transitivity.triads import Triads, closed_triads
from bayesduel.data.duels import Duels
from bayesduel.data.majority import one_verdict_per_unit, repeated_role
from bayesduel.preference import consistence
from bayesduel.system.arguments import (
    check_call,
    check_flag,
    check_log,
    check_seed,
    renamed_arguments,
)
from bayesduel.system.memory import check_square
from bayesduel.system.options import Decision, check_options
from bayesduel.system.threads import one_thread_if_small

if TYPE_CHECKING:
    from bayesduel.criticism.intransitivity_index import MarginIndex

__all__ = ["check", "expected_seconds"]


@renamed_arguments(order_effect="side_advantage")
def check(
    duels: Duels,
    models: Iterable[Any] | Mapping[str, Any] | None = None,
    *,
    quick: bool = False,
    unit: str = "pair",
    side_advantage: bool = True,
    material: float = Decision.material,
    seed: int = 0,
    step: Callable[[str], None] = lambda name: None,
    progress: Callable[[float], None] | None = None,
) -> Check:
    """Say how far one ranking holds, compute residuals of scores, and compare models.

    Parameters
    ----------
    duels
        The log, or a frame that :func:`bayesduel.read_duels` reads without further options. Where
        its votes repeat a pair and group (or judge), one majority verdict of each is counted,
        because votes within it are not independent. Of a log with teams each side is tested as an
        arm of its own, whoever its members are: a cycle of sides contradicts scores of members.
    models
        What to compare, as in :func:`bayesduel.criticism.compare.compare_models`. Default: Bradley-
        Terry, Thurstone and the preference matrix; also Bradley-Terry with a side advantage
        where the log has a clear one. For up to 200 arms; none where `quick`. Name
        ``"bradley-terry + cycles"`` (:class:`bayesduel.models.BladeChest`) to compare cycles of
        low rank too: NUTS fits them, 20 arms in some ten seconds.
    quick
        Whether to leave out the comparison (unless `models` are named). All else is the same.
    unit
        What the comparison leaves out, one at a time: "pair", "duel", "judge", "group", "category",
        "time" or a column that was kept.
    side_advantage
        Whether the side listed first may have an advantage, which is then estimated together with
        the scores. False where sides carry no meaning.
    material
        Win probability of every step of a cycle that matters, above 0.5 and below 1.
    seed
        Random seed.
    step
        Called with the name of each step before it begins.
    progress
        Called with the share of the comparison done, from 0 to 1.

    Returns
    -------
    A `Check`: `print` it for the sentences; ``verdict``, ``transitive``, ``cyclic_share``,
    ``p_one_ranking``, ``p_condorcet_winner``, ``p_material_cycle``, ``top_cycle``, ``cycles``, and
    of the predictive check ``p_value``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    Examples
    --------
    >>> found = bd.check(bd.datasets.load("tversky1969"), quick=True)
    >>> round(found.p_one_ranking, 2), round(found.p_value, 1)
    (0.14, 0.0)
    """
    from bayesduel.data.read.duels import log_in

    duels = log_in(duels)
    check_log(duels, Duels)
    of_teams = duels.teams is not None
    scope = check_text.scope_words(duels)
    duels = duels.as_plain().as_sides()
    check_flag(quick, "quick")
    check_flag(side_advantage, "side_advantage")
    check_options(Decision, material=material)
    check_seed(seed)
    check_call(step, "step")
    check_call(progress, "progress", none=True)
    # 20 matrices of arm by arm: the expected outcomes, their design and workspace
    check_square(duels.n_arms, 20, "a check of transitivity", "check a part: Duels.subset(arms)")
    if not side_advantage:
        duels = replace(duels, ordered=False)
    role = repeated_role(duels)
    units = duels if role is None else one_verdict_per_unit(duels, role)
    unit_of = "duel" if role is None else f"majority verdict of each pair and {role}"
    seeds = np.random.SeedSequence(seed).spawn(7)
    _, tested, asked, replicated, drawn, _, timed = seeds
    rng = np.random.default_rng(asked)
    step("replicating logs from scores")
    design = _counted(duels, role)
    ranking = without_order = posterior = None
    with one_thread_if_small(duels.n_arms):
        evidence = cycle_evidence(design, unit_of, np.random.default_rng(tested))
        if evidence.n_closed:
            step("estimating what is in no ranking")
            ranking = ranking_posterior(design, duels.arms, np.random.default_rng(drawn), material)
            triads = closed_triads(duels.n_arms, design.first, design.second, rng)
            posterior = cycle_posterior(ranking.ahead, design, duels.arms, triads)
            if design.has_order and design.both_ways < CROSSED:
                unordered = _counted(replace(duels, ordered=False), role)
                same = np.random.default_rng(drawn)
                other = ranking_posterior(unordered, duels.arms, same, material)
                without_order = other if _contradicts(other, ranking) else None
            if evidence.p_value <= LEVEL and ranking.p_one_ranking < SURE:
                evidence = _with_cause(evidence, duels, role, triads, seed)
    step("computing residuals")
    scores = evidence.scores
    voted = scores
    if role is not None and scores is not None:
        voted = ScoreModel(design_of(duels))
    residuals = {}
    if scores is not None and voted is not None:
        residuals = _residuals(duels, scores, voted, rng)
    found = Check(
        duels=duels,
        units=units,
        evidence=evidence,
        ranking=ranking,
        without_order=without_order,
        cycle_posterior=posterior,
        cycle_posteriors={},
        residuals=residuals,
        order=order_share(duels, voted),
        drift=drift_of(duels, voted, np.random.default_rng(timed)),
        margins=_margins(duels, np.random.default_rng(replicated)),
        consistence=_consistence(units),
        comparison=None,
        left_out=left_out(duels, len(design.first), quick=quick),
        seed=seed,
        of_teams=of_teams,
        scope=scope,
    )
    if models is None and found.left_out:
        return found
    return _with_comparison(found, models, unit, step, progress)


def _counted(duels: Duels, role: Literal["group", "judge"] | None) -> DecidedDuels:
    """Return the decided duels of a log, or one majority verdict of each pair and unit."""
    return design_of(duels) if role is None else majority_design(duels, role)


def _contradicts(other: RankingPosterior, ranking: RankingPosterior) -> bool:
    """Return whether `other` speaks against one ranking, or rules it out, and `ranking` does not.

    One ranking has probability one half before the log is seen.
    """
    one = ranking.p_one_ranking
    of_other = other.p_one_ranking
    ruled_out = of_other <= 1 - SURE < one
    spoken_against = of_other <= 0.5 < one
    return ruled_out or spoken_against


def _with_cause(
    evidence: CycleEvidence,
    duels: Duels,
    role: Literal["group", "judge"] | None,
    triads: Triads,
    seed: int,
) -> CycleEvidence:
    """Return the evidence with what else may be the cause of cycles."""
    scores = evidence.scores
    assert scores is not None
    names, p = conditional_p_value(duels, scores.design, role, triads, scores.first_wins, seed)
    cause: Literal["", "conditions", "order"] = ""
    if p > LEVEL:
        cause = "conditions"
    elif evidence.order == "not identified":
        cause = "order"
    return replace(evidence, conditions=names, p_conditions=p, other_cause=cause)


def _residuals(
    duels: Duels, scores: ScoreModel, voted: ScoreModel, rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    """Return tables of residuals, by name.

    scores: of what was counted. voted: of single votes.
    """
    # P-values of arms are to a thousandth, from 10,000 pairs that met to a hundredth
    n_draws = 100 if len(scores.design.first) > 10_000 else 1000
    found = {
        "pairs": pair_residuals(scores, duels.arms),
        "arms": arm_residuals(scores, duels.arms, n_draws, rng),
    }
    judges = judge_residuals(duels, voted)
    if judges is not None:
        found["judges"] = judges
    return found


def _margins(duels: Duels, rng: np.random.Generator) -> "MarginIndex | None":
    """Return the intransitivity index of the margins, or None of a log without margins."""
    if duels.votes is None or duels.votes.margin is None:
        return None
    from bayesduel.criticism.intransitivity_index import margin_index

    return margin_index(duels, rng)


def _consistence(units: Duels) -> float | None:
    """Return Kendall's coefficient of consistence, or None where some pair is level or unmet."""
    wins, _ = units.tally("drop")
    majority = np.sign(wins - wins.T)
    found = float(consistence((1 + majority) / 2))
    return None if np.isnan(found) else found


def _with_comparison(
    found: Check,
    models: Iterable[Any] | Mapping[str, Any] | None,
    unit: str,
    step: Callable[[str], None],
    progress: Callable[[float], None] | None,
) -> Check:
    """Return a check with models compared, and the cycles under each of them."""
    from bayesduel.criticism.compare import compare_models

    log = found.duels
    if models is None:
        single = found.units is found.duels
        clear = single and found.order is not None and found.order.clear
        log = found.units if unit in ("pair", "duel") else found.duels  # a judge has votes
        models = models_to_compare(log, with_side_advantage=clear)
    step("comparing models")
    # 5 refits of a model without the units that importance sampling cannot leave out
    comparison = compare_models(
        log, models, unit=unit, draws=COMPARED_DRAWS, folds=5, seed=found.seed, progress=progress
    )
    posteriors = {}
    scores = found.evidence.scores
    if found.cycle_posterior is not None and scores is not None:
        step("finding cycles under each model")
        asked = np.random.SeedSequence(found.seed).spawn(3)[-1]
        rng = np.random.default_rng(asked)
        posteriors = cycles_by_model(comparison.fits, scores.design, log.arms, rng)
    return replace(found, comparison=comparison, cycle_posteriors=posteriors, left_out="")


def expected_seconds(duels: Duels) -> float:
    """Return about how many processor seconds a quick check of a log takes.

    Most of it fits the models of a pair: by pair their quadrature, by arm
    their matrices.
    """
    n_pairs = len(duels.pairs().first)
    # Measured beside other work: 12.4 s of 345 arms and 5,100 pairs, 14.8 s of 200 arms and 19,900
    # pairs.
    return 6e-4 * n_pairs + 2e-7 * duels.n_arms**3
