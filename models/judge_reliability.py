"""JudgeReliability: a sensitivity for each judge."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesduel.models.cells import Log
from bayesduel.models.elementary import Quantity, Unit, centre
from bayesduel.models.prior import Prior
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Dims, Named
from bayesduel.models.term import ByLevel, Modifier

__all__ = ["JudgeReliability"]


@dataclass(frozen=True)
class JudgeReliability(ByLevel, Modifier):
    """A sensitivity for each judge.

    All judges look at the same strengths. An average judge's votes follow them as the other terms
    say; another's follow them more sharply, less, not at all (a random clicker:
    sensitivity 0) or the wrong way round (below 0)::

        judge_spread  ~ HalfNormal(prior)
        deviation_g   ~ Normal(0, judge_spread), then centred
        sensitivity_g = 1 + deviation_g
        eta           = sensitivity_g x eta of the terms before it

    Identified because sensitivities have mean exactly 1: neither can all scores be
    stretched against them nor all signs be turned. P of a fit is that of the average judge. A
    vote without a judge is taken as the average judge's. A judge with few votes stays close
    to the others, with a wide interval.

    What stands before it in the list is scaled: after ``SideAdvantage`` a sharp judge is also more
    taken in by the order; put ``SideAdvantage`` after it for an advantage that is the same for all.

    Use it to identify unreliable judges, and for a ranking in which random clickers have little
    weight. It assumes that judges agree on which arm is better and differ only in sensitivity;
    groups of judges with different preferences need separate logs.

    Parameters
    ----------
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

    Examples
    --------
    >>> model = bd.models.BradleyTerry() + bd.models.JudgeReliability()
    >>> model.name
    'bradley-terry + reliability'
    """

    prior: float | Prior = 0.5

    name: ClassVar[str] = "reliability"
    takes_teams: ClassVar[bool] = True
    key: ClassVar[str] = name
    dims: ClassVar[Dims] = {"sensitivity": ("judge",)}
    by = "judge"
    ranges: ClassVar[dict[str, str]] = {"prior": "> 0 and finite"}

    @property
    def scales(self) -> dict[str, Scale]:
        return {"judge_spread": Scale("half-normal", self.prior, in_units=False)}

    def neutral(self, name: str, cells: Named | None = None) -> str:
        return "a judge of average sensitivity"

    def coords(self, log: Log) -> dict[str, Any]:
        found = super().coords(log)
        return found | {"judge_free": np.arange(len(found["judge"]) - 1)}

    def add(self, given: Named, unit: Unit, scales: Named, *, centred: bool) -> dict[str, Any]:
        import pymc as pm

        free = pm.Normal("sensitivity_free", 0.0, 1.0, dims="judge_free")
        sensitivity = 1.0 + centre(scales["judge_spread"] * free)
        return {"sensitivity": pm.Deterministic("sensitivity", sensitivity, dims="judge")}

    def apply(self, eta: Quantity, parameters: Named, cells: Named) -> Any:
        """Return the predictor, scaled where the cell says who judged."""
        if "judge_of_cell" not in cells:
            return eta
        judge = cells["judge_of_cell"]
        named = judge >= 0
        # Index -1 takes the last judge's sensitivity, and the mask takes it out again.
        return eta * (named * parameters["sensitivity"][..., judge] + (1.0 - named))
