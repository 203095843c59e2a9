"""Model criticism: is there one ranking, residuals of scores, and comparison of models."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from bayesduel.criticism import check_text
from bayesduel.criticism.cycle_posterior import Cycle, CyclePosterior, cycle_posterior
from bayesduel.criticism.model_cycles import (
    COMPARED_DRAWS,
    cycles_by_model,
    models_to_compare,
)
from bayesduel.criticism.order_share import CROSSED, OrderShare, order_share
from bayesduel.criticism.ranking import ranking_text as words
from bayesduel.criticism.ranking.posterior import (
    SURE,
    CyclicShare,
    RankingPosterior,
    ranking_posterior,
)
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
    shown_value,
)
from bayesduel.system.atomic_write import check_not_read, write_text
from bayesduel.system.memory import check_square
from bayesduel.system.options import Decision, check_options
from bayesduel.system.threads import one_thread_if_small
from bayesduel.text import Plain, count, plural, screen, to_json

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.criticism.compare import Comparison
    from bayesduel.criticism.intransitivity_index import MarginIndex
    from bayesduel.models.model import Model

__all__ = ["Check", "check", "expected_seconds"]

COMPARED_ARMS = 200  # up to as many arms, models are compared where none are named
# Of processor time, beside other work: 12.4 s of 345 arms and 5,100 pairs, 14.8 s of 200 arms and
# 19,900 pairs; see expected_seconds.
SECONDS_A_PAIR = 6e-4
SECONDS_A_TRIAD = 2e-7
DRAWS = 1000  # of logs by which arms are held against scores
DRAWN_AT_ONCE = (200, 2000)  # of its draws, at least and at most
CONTROLLED_CELLS = 20_000  # rows of counts up to which NUTS fits cycles and covariates
CONTROLLED_ARMS = 200  # and arms
NAN = float("nan")


@dataclass(frozen=True, eq=False, kw_only=True)
class Check:
    """The result of :func:`bayesduel.check`.

    Attributes
    ----------
    duels, units
        The log, and what was counted: the log itself, or one majority verdict a unit.
    evidence
        The predictive check of scores: cyclic triads of the log and of replicated ones.
    ranking
        What the log says of one ranking, by five models of a pair, or None where no triad could
        close.
    without_order
        The same without a side advantage, where pairs met in one order and it answers otherwise:
        it speaks against one ranking and `ranking` does not. Else None.
    cycle_posterior
        Cycles of three arms by the five models, or None where no triad could close.
    cycle_posteriors
        The same under each model compared, by name.
    residuals
        Tables by name: "pairs", "arms" and, where the log names them, "judges".
    order
        What the side listed first wins, or None where sides carry no meaning.
    margins
        The intransitivity index of the margins, or None where the log has none or some pair
        fewer than two.
    consistence
        Kendall's coefficient of consistence of the majorities, where all pairs are decided.
    comparison
        Of models, or None where `why_not_compared` says why.
    why_not_compared
        Why `comparison` is None, or "".
    seed
        Of all that was drawn.
    model
        Name of the compared model that winners are read from; None for the stacked one.
    of_teams
        Whether the log has teams. Each side is an arm of its own in `duels` then.
    noun
        What an arm is called in the sentences.
    """

    duels: Duels
    units: Duels
    evidence: CycleEvidence
    ranking: RankingPosterior | None
    without_order: RankingPosterior | None
    cycle_posterior: CyclePosterior | None
    cycle_posteriors: dict[str, CyclePosterior]
    residuals: dict[str, pd.DataFrame]
    order: OrderShare | None
    margins: "MarginIndex | None"
    consistence: float | None
    comparison: "Comparison | None"
    why_not_compared: str = ""
    seed: int = 0
    model: str | None = None
    of_teams: bool = False
    noun: str = "arm"

    @property
    def cyclic_share(self) -> CyclicShare | None:
        """The part of the squared log odds that no scores explain; None without a triad."""
        return None if self.ranking is None else self.ranking.cyclic_share

    @property
    def p_one_ranking(self) -> float:
        """Probability of one ranking; NaN where no three arms have all met."""
        return NAN if self.ranking is None else self.ranking.p_one_ranking

    @property
    def p_condorcet_winner(self) -> float:
        """Probability that one arm beats every other; NaN where no three arms have all met."""
        return NAN if self.ranking is None else self.ranking.p_condorcet_winner

    @property
    def p_material_cycle(self) -> float:
        """Probability of a cycle whose steps all matter; NaN where no three arms have all met."""
        return NAN if self.ranking is None else self.ranking.p_material_cycle

    @property
    def top_cycle(self) -> tuple[str, ...]:
        """The arms that are in the top cycle with probability one half or more."""
        return () if self.ranking is None else self.ranking.top_cycle

    @property
    def transitive(self) -> bool | None:
        """True where a ranking holds up to cycles that do not matter, False where it does not.

        True: one ranking, or no material cycle, with probability 0.95 or more. False: a material
        cycle with probability 0.95 or more. None where the log cannot tell, or where it hangs on
        whether the side listed first has an advantage.
        """
        if not self._led:
            return True if self.evidence.other_cause == "conditions" else None
        answers = {one.transitive for one in (self.ranking, self.without_order) if one}
        return answers.pop() if len(answers) == 1 else None

    @property
    def _led(self) -> bool:
        """Whether the answer is that of the five models of a pair.

        Not where conditions of the duels may be the cause of cycles, or a side advantage that the
        design does not identify: the models do not have these.
        """
        return self.ranking is not None and not self.evidence.other_cause

    @property
    def p_value(self) -> float:
        """The p-value of one score per arm; NaN where no three arms have all met."""
        return self.evidence.p_value

    @property
    def cycles(self) -> tuple[Cycle, ...]:
        """The most probable cycles."""
        return () if self.cycle_posterior is None else self.cycle_posterior.cycles

    @property
    def misstated(self) -> bool:
        """Whether scores misstate single pairs, although a ranking may hold."""
        if self.ranking is None or self.transitive is False:
            return False
        return self.ranking.model_weights["one score"] <= 1 - SURE

    @property
    def criterion(self) -> Literal["copeland", "condorcet", "von_neumann"]:
        """The winner criterion to use."""
        if self.transitive is not False:
            return "copeland"
        if self.p_condorcet_winner >= SURE:
            return "condorcet"
        return "von_neumann"

    @property
    def verdict(self) -> str:
        """The result, and what to do, in a few sentences."""
        return " ".join(self.verdict_parts)

    @property
    def verdict_parts(self) -> tuple[str, str]:
        """The first sentence of the verdict, and the others."""
        if self._led and self.ranking is not None:
            found = self.ranking
            first = words.headline_words(found, self.noun)
            size = words.size_words(found, self.noun)
            other = self.without_order
            if other is None:
                return first, f"{size} {words.advice_words(found, self.noun)}"
            apart = check_text.order_or_cycle_words(found, other, self.evidence.both_ways)
            rest = (check_text.ADVANTAGE, first, size, check_text.ORDER_ADVICE)
            return apart, " ".join(rest)
        return check_text.verdict_words(self.evidence, self.noun)

    @property
    def support(self) -> tuple[str, ...]:
        """The reasons of the verdict: the models of a pair, and the predictive check."""
        e = self.evidence
        if self.ranking is None:
            return ()  # the verdict says why
        told = (
            words.model_words(self.ranking, e.unit, self.noun),
            check_text.evidence_words(e, self.noun),
            check_text.once_words(e, self.noun),
        )
        return tuple(sentence for sentence in told if sentence)

    @property
    def not_compared_words(self) -> str:
        """Why models were not compared, or ""."""
        why = self.why_not_compared
        return _too_many(self.noun) if why == _too_many("arm") else why

    def using(self, model: str | None) -> "Check":
        """Return this check with winners to be read from one of the models compared.

        Raises ValueError if `model` is not one of them.
        """
        known = [] if self.comparison is None else list(self.comparison.fits)
        if model is not None and model not in known:
            raise ValueError(
                f"model should be one of those compared, {known}, got {shown_value(model)}"
            )
        return replace(self, model=model)

    @cached_property
    def fit(self) -> "xr.DataTree":
        """The fit that winners are read from.

        The model picked; else :attr:`averaged` if no ranking holds; else the stacked one, or
        Bradley-Terry where none were compared.
        """
        from bayesduel.inference.fit import fitted

        if self.model is not None and self.comparison is not None:
            return self.comparison.fits[self.model]
        if self.transitive is False:
            return self.averaged
        if self.comparison is not None:
            return self.comparison.stacked()
        return fitted(self.duels, "bradley-terry", "auto", seed=self.seed)

    @cached_property
    def averaged(self) -> "xr.DataTree":
        """The five models of a pair as a fit, averaged; a preference matrix where no triad closed.

        Of the units that were counted; P is that of neutral ground.
        """
        from bayesduel.criticism.compare import mixture
        from bayesduel.inference.fit import fit, without_draws
        from bayesduel.models import PreferenceMatrix

        # 20,000,000 draws x arms x arms of a preference matrix, about
        draws = int(np.clip(20_000_000 // self.duels.n_arms**2, *DRAWN_AT_ONCE))
        if self.ranking is None:
            return fit(self.units, "preference-matrix", draws=draws, seed=self.seed)
        own = np.random.SeedSequence(self.seed).spawn(6)[-1]
        rng = np.random.default_rng(own)
        theta = rng.permutation(self.ranking.chances(rng))
        weights = self.ranking.model_weights
        shown = ", ".join(f"{name} {weight:.2f}" for name, weight in weights.items())
        return mixture(
            theta,
            without_draws(self.units, PreferenceMatrix()),
            weights,
            method="averaging",
            method_reason=f"weights by the evidence of each model: {shown}",
            seed=self.seed,
            importance_ess=float(len(theta)),
            dependence=json.dumps(["", ""]),
        )

    @cached_property
    def without_ranking(self) -> "xr.DataTree":
        """A fit of a model that allows cycles: the model picked, if it does, else the average.

        See :meth:`using` and :attr:`averaged`.
        """
        if self.model is not None and self.comparison is not None:
            picked = self.comparison.fits[self.model]
            if not picked.duel.model.criteria_agree:
                return picked
        return self.averaged

    def answer_without_ranking(self, model: "Model") -> "tuple[xr.DataTree | None, str]":
        """Return a fit that allows cycles and controls for what `model` does, or None and why.

        :attr:`without_ranking` where `model` has no side advantage and no covariates of the duel.
        Otherwise blade-chest planes around `model`, fitted to the log; winners are those of neutral
        duels, too.
        """
        from bayesduel.inference.fit import fit
        from bayesduel.models import BladeChest, scored

        if self.of_teams:
            return None, check_text.teams_free_words(self.noun)
        if not model.terms.controls:
            return self.without_ranking, ""
        if model.terms.flat:
            return None, (
                "Winners without a ranking are left out: a model that allows cycles and "
                "has the same controls needs a proper prior."
            )
        cyclic = scored(model) + BladeChest()
        n_cells = len(cyclic.cells(self.duels))
        if n_cells > CONTROLLED_CELLS or self.duels.n_arms > CONTROLLED_ARMS:
            return None, (
                f"Winners without a ranking are left out. {cyclic.name} allows cycles and "
                f"has the same controls, but it needs NUTS: hours for {n_cells:,} rows of "
                f"{count(self.duels.n_arms, self.noun)}. A preference matrix does not have these "
                "controls."
            )
        draws = DRAWN_AT_ONCE[1]  # no more than the preference matrix has: NUTS takes the time
        return fit(self.duels, cyclic, draws=draws, seed=self.seed, log_likelihood=False), ""

    @cached_property
    def data(self) -> "xr.DataTree":
        """Everything as labelled arrays: groups replicated, pairs, arms, judges and cycles."""
        import xarray as xr

        e = self.evidence
        groups: dict[str, Any] = {
            name: xr.Dataset.from_dataframe(frame) for name, frame in self.residuals.items()
        }
        if e.n_replicated:
            groups["replicated"] = xr.Dataset(
                {
                    "logs": (("draw", "quantity"), e.replicated),
                    "observed": (("quantity",), [e.statistic, e.cyclic, e.decided]),
                },
                coords={"quantity": ["cyclicity", "cyclic", "decided"]},
            )
        if self.cycles:
            groups["cycles"] = xr.Dataset(
                {
                    "arm": (("cycle", "place"), [c.arms for c in self.cycles]),
                    "probability": (("cycle",), [c.probability for c in self.cycles]),
                }
            )
        tree = xr.DataTree.from_dict(groups)
        tree.attrs.update(p_value=self.p_value, verdict=self.verdict, seed=self.seed)
        return tree

    def to_dict(self) -> dict[str, Any]:
        """Return what was found; residuals are the first ten rows of each table."""
        e = self.evidence
        b = self.cycle_posterior
        # 10 rows of each table of residuals in a dictionary
        found = {
            "transitive": self.transitive,
            "p_value": e.p_value,
            "verdict": self.verdict,
            "cyclic_share": None if self.cyclic_share is None else asdict(self.cyclic_share),
            "p_one_ranking": self.p_one_ranking,
            "p_condorcet_winner": self.p_condorcet_winner,
            "p_material_cycle": self.p_material_cycle,
            "material": None if self.ranking is None else self.ranking.material,
            "top_cycle": self.top_cycle,
            "model_weights": {} if self.ranking is None else self.ranking.model_weights,
            "other_cause": e.other_cause,
            "criterion": self.criterion,
            "cycles": [
                {"arms": c.arms, "probability": c.probability, "counts": c.counts}
                for c in self.cycles
            ],
            "cycles_as_probable": 0 if b is None else b.n_alike,
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
            "why_not_compared": self.why_not_compared,
            "test": {
                "replicated_logs": e.n_replicated,
                "unit": e.unit,
                "cyclic_triads": e.cyclic,
                "expected_cyclic_triads": e.expected,
                "decided_triads": e.decided,
                "triads_by_counting": {"cyclic": e.unadjusted[0], "decided": e.unadjusted[1]},
                "closed_triads": e.n_closed,
                "triads": e.n_all,
                "share_of_triads_sampled": e.sampled,
                "order": e.order,
                "conditions": e.conditions,
                "p_conditions": e.p_conditions,
            },
            "p_one_ranking_without_side_advantage": None
            if self.without_order is None
            else self.without_order.p_one_ranking,
            "cycle_posterior": None if b is None else b.to_dict(),
            "cycle_posterior_by_model": {
                name: one.to_dict() for name, one in self.cycle_posteriors.items()
            },
            "consistence": self.consistence,
            "order": None
            if self.order is None
            else {
                "first_share": self.order.share,
                "interval": self.order.interval,
                "between_level_arms": self.order.between_level,
                "between_level_interval": self.order.between_interval,
                "pairs_in_both_orders": self.order.both_ways,
                "decisive_duels": self.order.n_decisive,
            },
            "margins": None if self.margins is None else asdict(self.margins),
            "residuals": {
                name: frame.head(10).to_dict("records") for name, frame in self.residuals.items()
            },
            "source": self.duels.read_summary.source,
            "seed": self.seed,
        }
        return Plain(found)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return :meth:`to_dict` as JSON, and write it to `path` if given; NaN becomes null."""
        text = to_json(self.to_dict())
        if path is not None:
            check_not_read(path, self.duels.read_summary.files)
            write_text(path, text + "\n")
        return text

    def __repr__(self) -> str:
        return screen(["<Check>"], [], [f"  {line}" for line in self.sentences])

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self.sentences)

    @property
    def sentences(self) -> list[str]:
        """The verdict and its evidence, a paragraph each."""
        paragraphs = (
            self.verdict,
            check_text.teams_tested_words(self.noun) if self.of_teams else "",
            *self.support,
            check_text.margin_words(self.margins),
            check_text.unordered_words(self.transitive, self.noun)
            if self.order is None
            else self.order.words(noun=self.noun),
            check_text.judge_words(self.residuals.get("judges"), self.noun),
            "" if self.comparison is None else self.comparison.sentence,
        )
        return [words for words in paragraphs if words]


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
    _, tested, asked, replicated, drawn = np.random.SeedSequence(seed).spawn(5)
    rng = np.random.default_rng(asked)
    step("replicating logs from scores")
    unit_of = "duel" if role is None else f"majority verdict of each pair and {role}"
    design = _counted(duels, role)
    with one_thread_if_small(duels.n_arms):
        evidence = cycle_evidence(design, unit_of, np.random.default_rng(tested))
        ranking = without_order = posterior = None
        if evidence.n_closed:
            step("estimating what is in no ranking")
            ranking = ranking_posterior(design, duels.arms, np.random.default_rng(drawn), material)
            triads = closed_triads(duels.n_arms, design.first, design.second, rng)
            posterior = cycle_posterior(ranking.ahead, design, duels.arms, triads)
            if design.has_order and design.both_ways < CROSSED:
                unordered = _counted(replace(duels, ordered=False), role)
                other = np.random.default_rng(drawn)
                without_order = ranking_posterior(unordered, duels.arms, other, material)
            if evidence.p_value <= LEVEL and ranking.p_one_ranking < SURE:
                evidence = _with_cause(evidence, duels, role, triads, seed)
    step("computing residuals")
    residuals = {}
    scores = evidence.scores
    voted = scores if role is None or scores is None else ScoreModel(design_of(duels))
    if scores is not None and voted is not None:
        # From 10,000 pairs that met, 100 logs are drawn for the arms
        # P-values of arms are then to a hundredth
        n_draws = 100 if len(design.first) > 10_000 else DRAWS
        residuals["pairs"] = pair_residuals(scores, duels.arms)
        residuals["arms"] = arm_residuals(scores, duels.arms, n_draws, rng)
        judged = judge_residuals(duels, voted)
        if judged is not None:
            residuals["judges"] = judged
    margins = None
    if duels.votes is not None and duels.votes.margin is not None:
        from bayesduel.criticism.intransitivity_index import margin_index

        margins = margin_index(duels, np.random.default_rng(replicated))
    found = Check(
        duels=duels,
        units=units,
        evidence=evidence,
        ranking=ranking,
        without_order=_otherwise(ranking, without_order),
        cycle_posterior=posterior,
        cycle_posteriors={},
        residuals=residuals,
        order=order_share(duels, voted),
        margins=margins,
        consistence=_consistence(units),
        comparison=None,
        why_not_compared=_why_not(duels, len(design.first), quick),
        seed=seed,
        of_teams=of_teams,
    )
    if models is None and found.why_not_compared:
        return found
    return _with_comparison(found, models, unit, step, progress)


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
        whole = found.units is found.duels
        clear = whole and found.order is not None and found.order.clear
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
    return replace(found, comparison=comparison, cycle_posteriors=posteriors, why_not_compared="")


def expected_seconds(duels: Duels) -> float:
    """Return about how many processor seconds a quick check of a log takes.

    By two measured times. Most of it fits the models of a pair: by pair their quadrature, by arm
    their matrices.
    """
    n_pairs = len(duels.pairs().first)
    return SECONDS_A_PAIR * n_pairs + SECONDS_A_TRIAD * duels.n_arms**3


def _why_not(duels: Duels, n_pairs: int, quick: bool) -> str:
    """Return why models are not compared where none are named, or ""."""
    if quick:
        return "Left out: this was a quick check."
    if duels.n_arms > COMPARED_ARMS:
        return _too_many("arm")
    if duels.n_arms < 3 or n_pairs < 2:
        return "Left out: fewer than two pairs met."
    return ""


def _too_many(noun: str) -> str:
    return f"Left out: with more than {COMPARED_ARMS} {plural(noun)}, name the models to compare."


def _counted(duels: Duels, role: Literal["group", "judge"] | None) -> DecidedDuels:
    """Return the decided duels of a log, or one majority verdict of each pair and unit."""
    return design_of(duels) if role is None else majority_design(duels, role)


def _otherwise(
    ranking: RankingPosterior | None, other: RankingPosterior | None
) -> RankingPosterior | None:
    """Return `other` where it speaks against one ranking, or rules it out, and `ranking` does not.

    One ranking has probability one half before the log is seen.
    """
    if ranking is None or other is None:
        return None
    one = ranking.p_one_ranking
    turned = any(other.p_one_ranking <= level < one for level in (1 - SURE, 0.5))
    return other if turned else None


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
    evidence = replace(evidence, conditions=names, p_conditions=p)
    if p > LEVEL:
        return replace(evidence, other_cause="conditions")
    return replace(evidence, other_cause="order" if evidence.order == "not identified" else "")


def _consistence(units: Duels) -> float | None:
    """Return Kendall's coefficient of consistence, or None where some pair is level or unmet."""
    wins, _ = units.tally("drop")
    found = float(consistence((1 + np.sign(wins - wins.T)) / 2))
    return None if np.isnan(found) else found
