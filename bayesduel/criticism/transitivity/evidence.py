"""Predictive check of scores: cyclic triads of a log, and those that one score per arm predicts.

The p-value is the share of logs replicated from the scores
(:mod:`bayesduel.criticism.transitivity.score_model`), on the same design, that are at least as
cyclic (:mod:`bayesduel.criticism.transitivity.triads`). It says whether scores fit, and nothing of
how large a cycle is: that is the answer of :mod:`bayesduel.criticism.ranking.posterior`.

References
----------
Gelman, Meng & Stern, "Posterior predictive assessment of model fitness", Statistica Sinica 1996
(the reference, which is conservative).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesduel.criticism.transitivity.design import DecidedDuels, OrderStatus
from bayesduel.criticism.transitivity.score_model import ScoreModel
from bayesduel.criticism.transitivity.triads import as_cyclic, closed_triads, measured
from bayesduel.intervals import TAILS95

__all__ = ["LEVEL", "CycleEvidence", "cycle_evidence"]

# What p-values are held against: Fisher, "Statistical Methods for Research Workers", 1925.
LEVEL = 0.05


@dataclass(frozen=True, eq=False, kw_only=True)
class CycleEvidence:
    """The result of `cycle_evidence`."""

    # share of the replicated logs, the log itself among them, that are as cyclic; NaN where no
    # three arms have all met
    p_value: float
    # of the log: its cyclicity, its cyclic triads, and its triads without a level pair (the latter
    # two scaled up where triads were sampled)
    statistic: float
    cyclic: float
    decided: float
    # the same three of the replicated logs, shape (draws, 3)
    replicated: np.ndarray
    # triads whose pairs all met, and all triads. A triad that cannot close says nothing.
    n_closed: int
    n_all: int
    sampled: float  # share of the closed triads that was looked at
    # what counts as one observation: "duel", or "majority verdict of each pair and group" (or
    # judge)
    unit: str
    # whether an effect of the order was "estimated" together with the scores, was "not identified"
    # by the design, or sides were "not recorded"
    order: OrderStatus
    scores: ScoreModel | None  # None where no duel is decided
    # the log's cyclic and decided triads by counting alone, not adjusted for a side advantage
    unadjusted: tuple[float, float] = (0.0, 0.0)
    # conditions that the votes name (time, category, covariates, ...), where neither scores nor one
    # ranking explain the log, and the p-value under a ranking that changes with them; NaN where
    # that was not tested
    conditions: tuple[str, ...] = ()
    p_conditions: float = float("nan")
    # what else may be the cause of cycles that neither scores nor one ranking explain: "conditions"
    # under which pairs met, or an "order" effect that the design does not identify
    other_cause: Literal["", "conditions", "order"] = ""

    @property
    def met_once(self) -> float:
        """Share of the pairs with decided duels that have a single one."""
        if self.scores is None:
            return 0.0
        design = self.scores.design
        return float((design.by_pair(design.n) == 1).mean())

    @property
    def both_ways(self) -> float:
        """Share of the pairs with decided duels that met in both orders."""
        return 0.0 if self.scores is None else self.scores.design.both_ways

    @property
    def n_replicated(self) -> int:
        """Number of replicated logs; 0 where no triad could close."""
        return len(self.replicated)

    @property
    def expected(self) -> float:
        """Mean number of cyclic triads in replicated logs."""
        return float(self.replicated[:, 1].mean()) if self.n_replicated else 0.0

    @property
    def expected_interval(self) -> tuple[float, float]:
        """The 95 % interval of the number of cyclic triads in replicated logs."""
        cyclic = self.replicated[:, 1]
        low, high = np.quantile(cyclic, TAILS95)
        return float(low), float(high)


def cycle_evidence(design: DecidedDuels, unit: str, rng: np.random.Generator) -> CycleEvidence:
    """Compare the cyclic triads of a log with those of logs replicated from its scores.

    The statistic is the log of one plus the sum over cyclic triads of ``exp(z^2 / 2)``, z the z
    score of the weakest of the three majorities.

    unit: what one observation of the design is, in words.
    """
    triads = closed_triads(design.n_arms, design.first, design.second, rng)
    scores = ScoreModel(design) if len(design.n) else None
    if scores is None or not triads.n_closed:
        return CycleEvidence(
            p_value=float("nan"),
            statistic=0.0,
            cyclic=0.0,
            decided=0.0,
            replicated=np.empty((0, 3)),
            n_closed=0,
            n_all=triads.n_all,
            sampled=1.0,
            unit=unit,
            order=design.order,
            scores=scores,
        )
    won = design.by_pair(design.won)[None]
    observed = measured(design, triads, won, scores.first_wins)[0]
    counted = measured(design, triads, won, 0.5)[0]
    _, n_cyclic, n_decided = map(float, counted / triads.share)
    # 400 replicated logs: the smallest p-value is 1 / 401
    # 10,000 pairs that met, from which fewer logs are drawn: 50 of 19,900 take a second
    # 50 logs then: the smallest p-value is 1 / 51, below 0.05
    n_draws = 50 if len(design.first) > 10_000 else 400
    logs = scores.replicate(n_draws, rng)
    parts = [measured(design, triads, part, scores.first_wins) for part in logs]
    replicated = np.concatenate(parts)
    n_as_cyclic = as_cyclic(replicated[:, 0], observed[0]).sum()
    of_all = 1 / triads.share
    scale = np.array([1.0, of_all, of_all])
    statistic, cyclic, decided = map(float, observed * scale)
    return CycleEvidence(
        p_value=float((1 + n_as_cyclic) / (1 + n_draws)),
        statistic=statistic,
        cyclic=cyclic,
        decided=decided,
        replicated=replicated * scale,
        n_closed=triads.n_closed,
        n_all=triads.n_all,
        sampled=triads.share,
        unit=unit,
        order=design.order,
        scores=scores,
        unadjusted=(n_cyclic, n_decided),
    )
