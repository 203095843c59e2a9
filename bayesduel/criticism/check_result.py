"""The result of a check: its verdict, its sentences, and the fits that winners are read from."""

import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from bayesduel.criticism import check_text
from bayesduel.criticism.cycle_posterior import Cycle, CyclePosterior
from bayesduel.criticism.drift import Drift
from bayesduel.criticism.model_cycles import LeftOut
from bayesduel.criticism.order_share import OrderShare
from bayesduel.criticism.ranking import ranking_text as words
from bayesduel.criticism.ranking.posterior import SURE, CyclicShare, RankingPosterior
from bayesduel.criticism.transitivity.evidence import CycleEvidence
from bayesduel.data.duels import Duels
from bayesduel.records import Plain
from bayesduel.system.arguments import shown_value
from bayesduel.system.atomic_write import check_not_read, write_text
from bayesduel.system.cost import CostLimit
from bayesduel.text import screen, to_json

if TYPE_CHECKING:
    import xarray as xr

    from bayesduel.criticism.compare import Comparison
    from bayesduel.criticism.intransitivity_index import MarginIndex
    from bayesduel.models.model import Model

__all__ = ["Check"]

# Of a fit without a ranking, whose numbers are draws x arms x arms: 160 MB of them.
DRAWS = CostLimit(total=20_000_000, least=200, most=2000)
# Rows of counts and arms up to which NUTS fits cycles and covariates: beyond it takes many minutes,
# which nobody asked for who asked for winners.
CONTROLLED_CELLS = 20_000
CONTROLLED_ARMS = 200
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
    drift
        The trends of arms over the time of the log, or None where it has no times.
    margins
        The intransitivity index of the margins, or None where the log has none or some pair
        fewer than two.
    consistence
        Kendall's coefficient of consistence of the majorities, where all pairs are decided.
    comparison
        Of models, or None where :attr:`why_not_compared` says why.
    left_out
        Why `comparison` is None: a "quick" check, too many "arms" or too few "pairs"; else "".
    seed
        Of all that was drawn.
    model
        Name of the compared model that winners are read from; None for the stacked one.
    of_teams
        Whether the log has teams. Each side is an arm of its own in `duels` then.
    noun
        What an arm is called in the sentences.
    scope
        What of the log was not used, in sentences; "" where all was.
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
    drift: Drift | None
    margins: "MarginIndex | None"
    consistence: float | None
    comparison: "Comparison | None"
    left_out: LeftOut = ""
    seed: int = 0
    model: str | None = None
    of_teams: bool = False
    noun: str = "arm"
    scope: str = ""

    @property
    def drift_words(self) -> str:
        """Which arms changed over the time of the log; "" where none did beyond chance."""
        return "" if self.drift is None else self.drift.words(self.noun)

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
        asked = (self.ranking, self.without_order)
        answers = {one.transitive for one in asked if one is not None}
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
        ranking = self.ranking
        if ranking is None or not self._led:
            return check_text.verdict_words(self.evidence, self.noun)
        first = words.headline_words(ranking, self.noun)
        size = words.size_words(ranking, self.noun)
        other = self.without_order
        if other is None:
            advice = words.advice_words(ranking, self.noun)
            return first, f"{size} {advice}"
        apart = check_text.order_or_cycle_words(ranking, other, self.evidence.both_ways)
        rest = (check_text.ADVANTAGE, first, size, check_text.ORDER_ADVICE)
        return apart, " ".join(rest)

    @property
    def support(self) -> tuple[str, ...]:
        """The reasons of the verdict: the models of a pair, and the predictive check."""
        if self.ranking is None:
            return ()  # the verdict says why
        evidence = self.evidence
        told = (
            words.model_words(self.ranking, evidence.unit, self.noun),
            check_text.evidence_words(evidence, self.noun),
            check_text.once_words(evidence, self.noun),
        )
        return tuple(sentence for sentence in told if sentence)

    @property
    def why_not_compared(self) -> str:
        """Why models were not compared, or ""."""
        return check_text.not_compared_words(self.left_out, self.noun)

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

        Of the units that were counted; P is that of neutral ground. The attribute ``counted`` says
        what they are, "duels" or "majority verdicts".
        """
        found = self._averaged()
        found.attrs["counted"] = "duels" if self.units is self.duels else "majority verdicts"
        return found

    def _averaged(self) -> "xr.DataTree":
        """Return :attr:`averaged`, without what was counted."""
        from bayesduel.criticism.compare import mixture, weights_words
        from bayesduel.inference.fit import fit, without_draws
        from bayesduel.models import PreferenceMatrix

        if self.ranking is None:
            draws = DRAWS.times(self.duels.n_arms**2)
            return fit(self.units, "preference-matrix", draws=draws, seed=self.seed)
        own = np.random.SeedSequence(self.seed).spawn(6)[-1]  # `check` takes the first five
        rng = np.random.default_rng(own)
        theta = rng.permutation(self.ranking.chances(rng))
        weights = self.ranking.model_weights
        shown = weights_words(weights)
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
            return None, check_text.FLAT_FREE
        cyclic = scored(model) + BladeChest()
        n_cells = len(cyclic.cells(self.duels))
        n_arms = self.duels.n_arms
        if n_cells > CONTROLLED_CELLS or n_arms > CONTROLLED_ARMS:
            return None, check_text.controlled_free_words(cyclic.name, n_cells, n_arms, self.noun)
        # No more draws than the preference matrix has: NUTS takes the time
        fitted = fit(self.duels, cyclic, draws=DRAWS.most, seed=self.seed, log_likelihood=False)
        return fitted, ""

    @cached_property
    def data(self) -> "xr.DataTree":
        """Everything as labelled arrays: groups replicated, pairs, arms, judges and cycles."""
        import xarray as xr

        evidence = self.evidence
        groups: dict[str, Any] = {}
        for name, frame in self.residuals.items():
            groups[name] = xr.Dataset.from_dataframe(frame)
        if evidence.n_replicated:
            observed = [evidence.statistic, evidence.cyclic, evidence.decided]
            groups["replicated"] = xr.Dataset(
                {
                    "logs": (("draw", "quantity"), evidence.replicated),
                    "observed": (("quantity",), observed),
                },
                coords={"quantity": ["cyclicity", "cyclic", "decided"]},
            )
        if self.cycles:
            arms = [cycle.arms for cycle in self.cycles]
            probability = [cycle.probability for cycle in self.cycles]
            groups["cycles"] = xr.Dataset(
                {"arm": (("cycle", "place"), arms), "probability": (("cycle",), probability)}
            )
        tree = xr.DataTree.from_dict(groups)
        tree.attrs.update(p_value=self.p_value, verdict=self.verdict, seed=self.seed)
        return tree

    def to_dict(self) -> dict[str, Any]:
        """Return what was found; residuals are the first ten rows of each table."""
        ranking = self.ranking
        without_order = self.without_order
        posterior = self.cycle_posterior
        by_model = {name: one.to_dict() for name, one in self.cycle_posteriors.items()}
        residuals = {
            name: rows.head(10).to_dict("records") for name, rows in self.residuals.items()
        }
        found = {
            "transitive": self.transitive,
            "p_value": self.p_value,
            "verdict": self.verdict,
            "scope": self.scope,
            "cyclic_share": None if ranking is None else asdict(ranking.cyclic_share),
            "p_one_ranking": self.p_one_ranking,
            "p_condorcet_winner": self.p_condorcet_winner,
            "p_material_cycle": self.p_material_cycle,
            "material": None if ranking is None else ranking.material,
            "top_cycle": self.top_cycle,
            "model_weights": {} if ranking is None else ranking.model_weights,
            "other_cause": self.evidence.other_cause,
            "criterion": self.criterion,
            "cycles": [_cycle_dict(cycle) for cycle in self.cycles],
            "cycles_as_probable": 0 if posterior is None else posterior.n_alike,
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
            "why_not_compared": self.why_not_compared,
            "test": _test_dict(self.evidence),
            "p_one_ranking_without_side_advantage": None
            if without_order is None
            else without_order.p_one_ranking,
            "cycle_posterior": None if posterior is None else posterior.to_dict(),
            "cycle_posterior_by_model": by_model,
            "consistence": self.consistence,
            "order": None if self.order is None else _order_dict(self.order),
            "drift": None if self.drift is None else self.drift.to_dict(),
            "margins": None if self.margins is None else asdict(self.margins),
            "residuals": residuals,
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
        teams = check_text.teams_tested_words(self.noun) if self.of_teams else ""
        if self.order is None:
            order = check_text.unordered_words(self.transitive, self.noun)
        else:
            order = self.order.words(noun=self.noun)
        paragraphs = (
            self.verdict,
            self.scope,
            teams,
            *self.support,
            check_text.margin_words(self.margins),
            order,
            self.drift_words,
            check_text.judge_words(self.residuals.get("judges"), self.noun),
            "" if self.comparison is None else self.comparison.sentence,
        )
        return [paragraph for paragraph in paragraphs if paragraph]


def _cycle_dict(cycle: Cycle) -> dict[str, Any]:
    return {"arms": cycle.arms, "probability": cycle.probability, "counts": cycle.counts}


def _test_dict(evidence: CycleEvidence) -> dict[str, Any]:
    """Return the numbers of the predictive check of scores."""
    cyclic, decided = evidence.unadjusted
    return {
        "replicated_logs": evidence.n_replicated,
        "unit": evidence.unit,
        "cyclic_triads": evidence.cyclic,
        "expected_cyclic_triads": evidence.expected,
        "decided_triads": evidence.decided,
        "triads_by_counting": {"cyclic": cyclic, "decided": decided},
        "closed_triads": evidence.n_closed,
        "triads": evidence.n_all,
        "share_of_triads_sampled": evidence.sampled,
        "order": evidence.order,
        "conditions": evidence.conditions,
        "p_conditions": evidence.p_conditions,
    }


def _order_dict(order: OrderShare) -> dict[str, Any]:
    """Return what the side listed first wins."""
    return {
        "first_share": order.share,
        "interval": order.interval,
        "between_level_arms": order.between_level,
        "between_level_interval": order.between_interval,
        "pairs_in_both_orders": order.both_ways,
        "decisive_duels": order.n_decisive,
    }
