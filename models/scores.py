"""Scores: the predictor of arms with one strength each.

An arm's score is its strength. Only differences of scores are ever observed, so scores are
centred: they live in the (K - 1)-dimensional space of vectors that sum to zero, reached from
K - 1 free numbers by an isometry. Independent normal scores, once centred, are independent
normal free numbers of the same standard deviation.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.models.predictor import ArmPredictor
from bayesduel.models.settings import check_positive

__all__ = ["Scores", "centre"]


@dataclass(frozen=True)
class Scores(ArmPredictor):
    """One score an arm: ``score_i ~ Normal(0, scale)``, then centred.

    Parameters
    ----------
    scale
        Prior standard deviation of a score, in the unit of the response. None learns it, with a
        half-normal prior whose scale the response knows; a number fixes it; ``numpy.inf`` is a
        flat prior.

    Raises
    ------
    TypeError, ValueError
        If `scale` is not None or a positive number.
    """

    scale: float | None = None

    def __post_init__(self) -> None:
        check_positive("scale", self.scale, none=True, flat=True)

    @property
    def flat(self) -> bool:
        """Whether the prior is flat."""
        return self.scale is not None and bool(np.isinf(self.scale))

    @property
    def independent(self) -> bool:
        """Whether each arm has a normal score of its own: unless the prior is flat."""
        return not self.flat

    @property
    def hypers(self) -> tuple[str, ...]:
        """The learned scale."""
        return ("scale",) if self.scale is None else ()

    @property
    def settings(self) -> dict[str, Any]:
        """Settings as JSON holds them."""
        return {"scale": self.scale}

    def utility(self, given: Any, typical: Any, unit: Any, *, centred: bool) -> Any:
        """Add the scores to the model in context and return them, shape (arm,).

        Parameters
        ----------
        given
            The model's data; not used.
        typical
            Scale of the prior of a learned scale.
        unit
            Unit of the response; a fixed scale is in the numbers' own unit.
        centred
            With a learned scale: sample the scores themselves (mixes well when data are
            plentiful) or the scores divided by their scale (mixes well when data are scarce).
            The posterior is the same.
        """
        import pymc as pm

        if self.flat:
            free = pm.Flat("score_free", dims="free")
        elif self.scale is not None:
            free = pm.Normal("score_free", 0.0, float(self.scale), dims="free")
        else:
            spread = pm.HalfNormal("scale", typical)
            if centred:
                free = pm.Normal("score_free", 0.0, spread, dims="free")
            else:
                free = spread * pm.Normal("score_standard", 0.0, 1.0, dims="free")
        return pm.Deterministic("score", centre(free), dims="arm")


def centre(free: Any) -> Any:
    """Map K - 1 free numbers (..., K - 1) to K that sum to zero, keeping lengths; tensors."""
    import pytensor.tensor as pt

    total = free.sum(axis=-1, keepdims=True)
    n_arms = free.shape[-1] + 1.0
    root = pt.sqrt(n_arms)
    return pt.concatenate([free - total / (n_arms + root), -total / root], axis=-1)
