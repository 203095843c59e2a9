"""SideAdvantage: the side on the left (at home, shown first) has an advantage, one or by source."""

from dataclasses import dataclass
from typing import Any, ClassVar

from bayesduel.models.prior import Prior
from bayesduel.models.settings import Dims, Named
from bayesduel.models.term import ByLevel, Term
from bayesduel.models.touch import Touch
from bayesduel.system.arguments import check_names

__all__ = ["SideAdvantage"]


@dataclass(frozen=True)
class SideAdvantage(ByLevel, Term):
    """An advantage of the left arm, the same in every duel or in those of a level of a column.

    The predictor is shifted towards the left arm by::

        order             ~ Normal(0, prior)     (in the unit of the response)
        order_by_{by}[s]  ~ Normal(0, prior)     where it is by level, as of who judged

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
    by
        A column of the votes, whose levels have an advantage each: "judge", "group" or "category",
        or one that was kept (``read_duels(..., keep=["source"])``). A vote without a level has
        none.

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
    >>> from bayesduel.models import BradleyTerry, SideAdvantage, Scores
    >>> BradleyTerry(Scores() + SideAdvantage()).name
    'bradley-terry + order'
    >>> BradleyTerry(Scores() + SideAdvantage(by="source")).name
    'bradley-terry + order:source'
    """

    prior: float | Prior = 1.0
    by: str | None = None

    name: ClassVar[str] = "order"
    takes_teams: ClassVar[bool] = True
    reads_order: ClassVar[bool] = True
    controls: ClassVar[tuple[str, ...]] = ("neither side has an advantage",)
    ranges: ClassVar[dict[str, str]] = {"prior": "> 0"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by is not None:
            check_names(self.by, "by")

    @classmethod
    def worded(cls, text: str) -> "SideAdvantage":
        """Return the term of a column: "order:source"."""
        return cls(by=text)

    @property
    def parameter(self) -> str:  # type: ignore[override]
        """Name of the advantage, or of those by level."""
        return "order" if self.by is None else f"order_by_{self.by}"

    @property
    def splits(self) -> bool:  # type: ignore[override]
        return self.by is not None

    def neutral(self, name: str, cells: Named | None = None) -> str:
        return "no side advantage"

    @property
    def dims(self) -> Dims:
        return {} if self.by is None else {self.parameter: (self.by,)}

    def columns(self, log: Any) -> dict[str, Any]:
        """Return each vote's level, -1 where it has none; raise where a side is the winner's."""
        left = int(log.cells.left_wins.sum())
        right = int(log.cells.right_wins.sum())
        # Decided duels, all won by one side, from which the side was written after them: 20
        if min(left, right) == 0 and max(left, right) >= 20:
            side = "left" if left else "right"
            raise ValueError(
                f"the side advantage cannot be estimated, because the {side} side won all "
                f"{max(left, right):,} decided duels: use the side that each arm had before the "
                "duel, not the place of the winner in the row"
            )
        return super().columns(log)

    def design(self, cells: Named) -> tuple[Touch, ...]:
        """Return 1 where the cell's first arm was left; nothing where the cells do not say."""
        if "left_first" not in cells:
            return ()
        if self.by is None:
            return (Touch((), cells["left_first"]),)
        level, known = self.level_of(cells)
        return () if level is None else (Touch((level,), cells["left_first"] * known),)

    def deviation(self, scales: Named, cells: Named, unit: Any) -> Any:
        return self.prior * unit
