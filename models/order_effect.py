"""OrderEffect: the side on the left (at home, shown first) has an advantage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from bayesduel.models.layers import Layer
from bayesduel.models.settings import check_positive

__all__ = ["OrderEffect"]

WRITTEN = 20  # decided duels, all won by one side, from which the side was written after them


@dataclass(frozen=True)
class OrderEffect(Layer):
    """An advantage of the left arm, the same in every duel.

    Generative model: that of the base, with a predictor that is shifted towards the left arm::

        order ~ Normal(0, prior)                 (in the unit of the response)
        eta   = eta of the base + order

    With Davidson at the bottom ties keep their own weight. P of a fit is that of a duel without
    the advantage, as if each pair met as often either way round.

    Use it where the side has a meaning: home and away, the first of two answers shown. In a log
    that lists the winner first, or pairs in the order of their names, the effect is an artefact.

    Parameters
    ----------
    base
        What is wrapped: a model or another layer. Default: Bradley-Terry.
    prior
        Prior standard deviation of the advantage, in the unit of the scores: logits, probits, or
        the size of a typical margin. ``numpy.inf`` is a flat prior. With 1 and
        Bradley-Terry the left of two equal arms wins between 12 % and 88 % of its duels, with
        probability 0.95.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when built, if the same side won all of twenty
        decided duels or more: such a log writes the winner there.

    References
    ----------
    Davidson & Beaver, "On extending the Bradley-Terry model to incorporate within-pair order
    effects", Biometrics 1977.
    """

    prior: float = field(default=1.0, kw_only=True)

    layer: ClassVar[str] = "order-effect"
    reads_own_order: ClassVar[bool] = True
    adds: ClassVar[bool] = True
    splits: ClassVar[bool] = False
    fixed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("prior", self.prior, flat=True)
        super().__post_init__()

    @property
    def flat_prior(self) -> bool:
        """Whether the prior of the advantage is flat."""
        return bool(np.isinf(self.prior))

    def own_columns(self, log: Any) -> dict[str, Any]:
        """Return nothing; raise where the sides are where the winner was written."""
        left, right = int(log.cells.left_wins.sum()), int(log.cells.right_wins.sum())
        if min(left, right) == 0 and max(left, right) >= WRITTEN:
            side = "left" if left else "right"
            raise ValueError(
                f"duels should say who was left before they were fought, got a log whose {side} "
                f"side won all {max(left, right):,} decided duels: it lists the winner on the {
                    side
                }"
            )
        return {}

    def add(
        self, given: Mapping[str, Any], parameters: Mapping[str, Any], log: Any
    ) -> dict[str, Any]:
        """Add ``order``."""
        import pymc as pm

        if self.flat_prior:
            return {"order": pm.Flat("order")}
        return {"order": pm.Normal("order", 0.0, self.prior * self.unit(given))}

    def own_fixed_effects(
        self, cells: Mapping[str, Any]
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the column of ``order``: 1 where the cell's first arm was left."""
        return {"order": (cells["left_first"], np.asarray(self.prior * self.unit(cells)))}

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the base's predictor, plus the advantage where the cell says who was left."""
        eta = self.base.eta(parameters, cells)
        if "left_first" not in cells:
            return eta
        return eta + parameters["order"][..., None] * cells["left_first"]
