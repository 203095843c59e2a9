"""JudgeReliability: a sensitivity for each judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from bayesduel.models.cells import judges_of
from bayesduel.models.layers import Layer
from bayesduel.models.scores import centre
from bayesduel.models.settings import check_positive

__all__ = ["JudgeReliability"]


@dataclass(frozen=True)
class JudgeReliability(Layer):
    """A sensitivity for each judge.

    Generative model: all judges look at the same strengths. An average judge's votes follow them as
    the base says; another's follow them more sharply, less, not at all (a random clicker:
    sensitivity 0) or the wrong way round (below 0)::

        judge_spread  ~ HalfNormal(prior)
        deviation_g   ~ Normal(0, judge_spread), then centred
        sensitivity_g = 1 + deviation_g
        eta           = sensitivity_g x eta of the base

    Identified because sensitivities have mean exactly 1: neither can all scores be
    stretched against them nor all signs be turned. P of a fit is that of the average judge. A
    vote without a judge is taken as the average judge's. A judge with few votes stays close
    to the others, with a wide interval.

    Use it to identify unreliable judges, and for a ranking in which random clickers have little
    weight. It assumes that judges agree on which arm is better and differ only in sensitivity;
    groups of judges with different preferences need separate logs.

    Parameters
    ----------
    base
        What is wrapped: a model or another layer. What lies inside is scaled: around
        ``OrderEffect`` a sharp judge is also more taken in by the order; put ``OrderEffect``
        outside for an advantage that is the same for all.
    prior
        Scale of the prior of ``judge_spread``. With 0.5 half of all panels have a spread below
        0.34, and one in twenty above 0.98.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when built, if the log names fewer than two judges.

    References
    ----------
    Chen, Bennett, Collins-Thompson & Horvitz, "Pairwise ranking aggregation in a crowdsourced
    setting", WSDM 2013 (Crowd-BT, where a judge is a mixture of right and wrong way round).
    Deviation: the sensitivity multiplies the predictor, as discrimination does in item
    response theory.
    """

    prior: float = field(default=0.5, kw_only=True)

    layer: ClassVar[str] = "judge-reliability"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("prior", self.prior)

    def own_columns(self, log: Any) -> dict[str, np.ndarray]:
        """Return each vote's judge, -1 where it has none."""
        return {"judge_of_cell": judges_of(log)}

    def own_coords(self, log: Any) -> dict[str, Any]:
        """Return the judges."""
        votes: Any = log.votes
        return {"judge": list(votes.judges), "judge_free": np.arange(len(votes.judges) - 1)}

    @property
    def own_dims(self) -> dict[str, tuple[str, ...]]:
        """``sensitivity`` is by judge."""
        return {"sensitivity": ("judge",)}

    def add(
        self, given: Mapping[str, Any], parameters: Mapping[str, Any], log: Any
    ) -> dict[str, Any]:
        """Add ``judge_spread`` and ``sensitivity``."""
        import pymc as pm

        spread = pm.HalfNormal("judge_spread", self.prior)
        free = pm.Normal("sensitivity_free", 0.0, 1.0, dims="judge_free")
        sensitivity = 1.0 + centre(spread * free)
        return {"sensitivity": pm.Deterministic("sensitivity", sensitivity, dims="judge")}

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the base's predictor, scaled where the cell says who judged."""
        eta = self.base.eta(parameters, cells)
        if "judge_of_cell" not in cells:
            return eta
        judge = cells["judge_of_cell"]
        named = judge >= 0
        # Index -1 takes the last judge's sensitivity, and the mask takes it out again.
        return eta * (
            named * parameters["sensitivity"][..., cells["judge_of_cell"]] + (1.0 - named)
        )
