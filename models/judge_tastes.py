"""JudgeTastes: each judge has coefficients of their own around the average judge's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from bayesduel.models.cells import judges_of
from bayesduel.models.layers import Layer
from bayesduel.models.settings import check_positive
from bayesduel.system.arguments import shown_value

__all__ = ["JudgeTastes"]


@dataclass(frozen=True)
class JudgeTastes(Layer):
    """A coefficient vector for each judge.

    Generative model: the base has the average judge's coefficients; each judge deviates from
    them::

        judge_spread  ~ HalfNormal(prior)                 (one an attribute)
        taste_g       ~ Normal(0, judge_spread)           (of judge g, one an attribute)
        eta           = eta of the base + (u_i - u_j)' taste_g

    The coefficients and scores of a fit are those of the average judge, and carry the differences
    between judges in their intervals. A vote without a judge has the average judge's coefficients.

    Use it where items have attributes and judges may weigh them differently. Where judges differ
    only in sensitivity, use ``JudgeReliability``.

    Parameters
    ----------
    base
        What is wrapped: a model whose predictor is ``Covariates(items)``, or a layer around one.
    prior
        Scale of the prior of ``judge_spread``, in the unit of the response, for one standard
        deviation of an attribute.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when fitted, if the log names fewer than two judges.

    References
    ----------
    Revelt & Train, "Mixed logit with repeated choices", Review of Economics and Statistics 1998.
    """

    prior: float = field(default=0.5, kw_only=True)

    layer: ClassVar[str] = "judge-tastes"
    models_votes_of: ClassVar[tuple[str, ...]] = ("judge",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("prior", self.prior)
        if self.items is None:
            raise ValueError(
                f"base should have the attributes of items, Covariates(items), "
                f"got {shown_value(self.base)}"
            )

    def own_columns(self, log: Any) -> dict[str, np.ndarray]:
        """Return each vote's judge, -1 where it has none."""
        return {"judge_of_cell": judges_of(log)}

    def own_coords(self, log: Any) -> dict[str, Any]:
        """Return the judges."""
        return {"judge": list(log.votes.judges)}

    def own_data(
        self, arms: tuple[str, ...], cells: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return ``design``, the attributes of first minus those of second, (cells, attribute)."""
        assert self.items is not None
        matrix = self.items.matrix(arms)
        return {"design": matrix[cells["first"]] - matrix[cells["second"]]}

    @property
    def own_dims(self) -> dict[str, tuple[str, ...]]:
        """Spreads are by attribute, tastes by judge and attribute."""
        return {"judge_spread": ("attribute",), "taste": ("judge", "attribute")}

    def add(
        self, given: Mapping[str, Any], parameters: Mapping[str, Any], log: Any
    ) -> dict[str, Any]:
        """Add ``judge_spread`` and ``taste``."""
        import pymc as pm

        both = ("judge", "attribute")
        spread = pm.HalfNormal("judge_spread", self.prior * self.unit(given), dims="attribute")
        standard = pm.Normal("taste_standard", 0.0, 1.0, dims=both)
        return {"taste": pm.Deterministic("taste", spread * standard, dims=both)}

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the base's predictor, and the judge's taste where the cell says who judged."""
        eta = self.base.eta(parameters, cells)
        if "judge_of_cell" not in cells:
            return eta
        judge = cells["judge_of_cell"]  # -1: none; the mask takes the last one out again
        own = (cells["design"] * parameters["taste"][..., judge, :]).sum(axis=-1)
        return eta + (judge >= 0) * own
