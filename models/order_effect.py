"""OrderEffect: the side on the left (at home, shown first) has an advantage."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesduel.models.settings import check_positive
from bayesduel.models.term import Term, Touch

__all__ = ["OrderEffect"]

WRITTEN = 20  # decided duels, all won by one side, from which the side was written after them


@dataclass(frozen=True)
class OrderEffect(Term):
    """An advantage of the left arm, the same in every duel.

    The predictor is shifted towards the left arm by::

        order ~ Normal(0, prior)                 (in the unit of the response)

    With Davidson's response ties keep their own weight. P of a fit is that of a duel without
    the advantage, as if each pair met as often either way round.

    Use it where the side has a meaning: home and away, the first of two answers shown. In a log
    that lists the winner first, or pairs in the order of their names, the effect is an artefact.

    Parameters
    ----------
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

    Examples
    --------
    >>> from bayesduel.models import BradleyTerry, OrderEffect, Scores
    >>> BradleyTerry(Scores() + OrderEffect()).name
    'bradley-terry + order'
    """

    prior: float = 1.0

    name: ClassVar[str] = "order"
    parameter: ClassVar[str] = "order"
    reads_order: ClassVar[bool] = True
    splits: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive("prior", self.prior, flat=True)

    @property
    def flat(self) -> bool:
        """Whether the prior of the advantage is flat."""
        return bool(np.isinf(self.prior))

    @property
    def controls(self) -> tuple[str, ...]:
        """No advantage of a side."""
        return ("neither side has an advantage",)

    def columns(self, log: Any) -> dict[str, Any]:
        """Return nothing; raise where the sides are where the winner was written."""
        left, right = int(log.cells.left_wins.sum()), int(log.cells.right_wins.sum())
        if min(left, right) == 0 and max(left, right) >= WRITTEN:
            side = "left" if left else "right"
            raise ValueError(
                f"duels should say who was left before they were fought, got a log whose {side} "
                f"side won all {max(left, right):,} decided duels: it lists the winner there"
            )
        return {}

    def design(self, cells: Mapping[str, Any]) -> tuple[Touch, ...]:
        """Return 1 where the cell's first arm was left; nothing where the cells do not say."""
        return (Touch((), cells["left_first"]),) if "left_first" in cells else ()

    def deviation(self, scales: Mapping[str, Any], cells: Mapping[str, Any], unit: Any) -> Any:
        """Return the prior deviation."""
        return self.prior * unit
