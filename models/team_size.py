"""TeamSize: what one member more is worth, where sides of several arms differ in size."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesduel.models.cells import seats
from bayesduel.models.prior import Prior
from bayesduel.models.settings import Named
from bayesduel.models.term import Term
from bayesduel.models.touch import Touch

__all__ = ["TeamSize"]


@dataclass(frozen=True)
class TeamSize(Term):
    """The worth of one member more: the same for each member.

    A side of several arms is worth the sum of its members' scores, which are 0 on average. A larger
    side then gains nothing by its size. This term learns what it gains::

        size  ~ Normal(0, prior)                     (in the unit of the response)
        eta   = eta of the other terms + size x (members of first - members of second)

    ``score`` of a fit still says how much better or worse than the average arm each arm is.

    Use it where sides of a log differ in size: two against three, systems with or without a part.
    In a log whose sides are of one size it has its prior.

    Parameters
    ----------
    prior
        Prior standard deviation, in the unit of the scores. ``numpy.inf`` is a flat prior.

    Examples
    --------
    >>> from bayesduel.models import BradleyTerry, Scores, TeamSize
    >>> BradleyTerry(Scores() + TeamSize()).name
    'bradley-terry + team-size'
    """

    prior: float | Prior = 1.0

    name: ClassVar[str] = "team-size"
    parameter: ClassVar[str] = "size"
    takes_teams: ClassVar[bool] = True
    splits: ClassVar[bool] = False
    controls: ClassVar[tuple[str, ...]] = ("sides are of one size",)
    ranges: ClassVar[dict[str, str]] = {"prior": "> 0"}

    def design(self, cells: Named) -> tuple[Touch, ...]:
        """Return how many members more first has, where sides have several."""
        members = {
            side: sum((share > 0) * 1.0 for _, share in seats(cells, side))
            for side in ("first", "second")
        }
        more = np.asarray(members["first"] - members["second"])
        return (Touch((), more * np.ones(np.shape(cells["first"]))),)

    def deviation(self, scales: Named, cells: Named, unit: Any) -> Any:
        return self.prior * unit
