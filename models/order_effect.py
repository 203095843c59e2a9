"""OrderEffect: the side on the left (at home, shown first) has an advantage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from bayesduel.models.layers import Layer, check_prior

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["OrderEffect"]

WRITTEN = 20  # decided duels, all won by one side, from which the side was written after them


@dataclass(frozen=True)
class OrderEffect(Layer):
    """An advantage of the left arm, the same in every duel.

    The story: as its base tells it, but the predictor of a duel moves towards the left arm::

        order ~ Normal(0, prior)
        eta   = eta of the base + order

    With Davidson at the bottom ties keep their own weight. P of a fit is that of a duel without
    the advantage, as if each pair met as often either way round.

    Use it where left means something: home and away, the first of two answers shown. A log
    that writes the winner left, or pairs in the order of their names, has no such meaning, and
    the effect is then an artefact.

    Parameters
    ----------
    base
        What is wrapped: a score model or another layer. Default: Bradley-Terry.
    prior
        Prior standard deviation of the advantage, on the scale of the scores. With 1 and
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
    reads_order: ClassVar[bool] = True
    adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_prior("prior", self.prior)

    def own_columns(self, duels: "Duels") -> dict[str, Any]:
        """Return nothing; raise where the sides are where the winner was written."""
        left, right = int(duels.cells.left_wins.sum()), int(duels.cells.right_wins.sum())
        if min(left, right) == 0 and max(left, right) >= WRITTEN:
            side = "left" if left else "right"
            raise ValueError(
                f"duels should say who was left before they were fought, got a log whose {side} "
                f"side won all {max(left, right):,} decided duels: it writes the winner {side}"
            )
        return {}

    def add(self, duels: "Duels") -> dict[str, Any]:
        """Add ``order``."""
        import pymc as pm

        return {"order": pm.Normal("order", 0.0, self.prior)}

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the base's predictor, plus the advantage where the cell says who was left."""
        eta = self.base.eta(parameters, cells)
        if "left_first" not in cells:
            return eta
        return eta + parameters["order"][..., None] * cells["left_first"]
