"""RandomEffects: scores that deviate by judge, prompt, category or another column of few levels."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesduel.models.cells import seats, seats_of_both
from bayesduel.models.elementary import Unit
from bayesduel.models.prior import Prior
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Dims, Named
from bayesduel.models.term import NEW, ByLevel, Term
from bayesduel.models.touch import Touch
from bayesduel.system.arguments import shown_value
from bayesduel.text import plural

__all__ = ["CategoryEffects", "RandomEffects"]

NEVER = ("left", "right", "arm", "cell", "order", "scale")  # names that a fit uses otherwise


@dataclass(frozen=True)
class RandomEffects(ByLevel, Term):
    """Deviations of the arms' scores by the levels of a column, partially pooled.

    In each level g of the column every arm deviates from its overall score::

        {by}_scale        ~ HalfNormal(prior)               (in the unit of the response)
        {by}_deviation_gi ~ Normal(0, {by}_scale), then centred over the arms of level g
        eta               = eta of the other terms + deviation_g,first - deviation_g,second

    Levels are alike where the spread is near 0: their scores are then pooled. It is learned from
    all levels together, so that an arm with few duels in a level keeps to its overall score there.
    The levels are a sample of more: P and all that follows are of a duel in a new level, whose
    deviations are integrated out (15 points of Gauss-Hermite quadrature). A vote without a level
    has the overall scores. Where the levels are all there is, use :class:`CategoryEffects`.

    Use it where votes are grouped and arms may be better in one group than in another: by judge
    (tastes), by prompt (what was asked), by league. Several may stand in one model, by judge and by
    prompt at once.

    Parameters
    ----------
    by
        The column: "judge", "group" or "category" as the log has them, or one that was kept
        (``read_duels(..., keep=["prompt"])``).
    prior
        Scale of the prior of the spread, in the unit of the scores. With 0.5 and Bradley-Terry, two
        arms of equal overall score beat each other with probability 0.18 to 0.82 in a level, with
        probability 0.95 before any duel is seen.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; when fitted, if the log has no such column or fewer than
        two levels of it.

    References
    ----------
    Gelman & Hill, "Data Analysis Using Regression and Multilevel/Hierarchical Models", 2007,
    chapters 11-13 (also of crossed effects).

    Examples
    --------
    >>> from bayesduel.models import BradleyTerry, RandomEffects, Scores
    >>> BradleyTerry(Scores() + RandomEffects("judge") + RandomEffects("prompt")).name
    'bradley-terry + random:judge + random:prompt'
    """

    by: str
    prior: float | Prior = 0.5

    name: ClassVar[str] = "random"
    takes_teams: ClassVar[bool] = True
    deviates: ClassVar[bool] = True
    samples: ClassVar[bool] = True
    ranges: ClassVar[dict[str, str]] = {"prior": "> 0 and finite"}

    def __post_init__(self) -> None:
        if not isinstance(self.by, str) or not self.by:
            raise TypeError(f"by should be the name of a column, got {shown_value(self.by)}")
        if self.by in NEVER or set(self.by) & set("()+:"):
            raise ValueError(f"by should be a column of the votes, got {shown_value(self.by)}")
        super().__post_init__()

    @property
    def parameter(self) -> str:  # type: ignore[override]
        """Name of the deviations."""
        return f"{self.by}_deviation"

    @property
    def spread(self) -> str:
        """Name of their standard deviation."""
        return f"{self.by}_scale"

    @property
    def scales(self) -> dict[str, Scale]:
        return {self.spread: Scale("half-normal", self.prior)}

    @property
    def dims(self) -> Dims:
        return {self.parameter: (self.by, "arm")}

    @property
    def explains(self) -> tuple[str, ...]:
        return (self.by,) if self.by in ("judge", "group") else ()

    def neutral(self, name: str, cells: Named | None = None) -> str:
        return f"a new {name}"

    def design(self, cells: Named) -> tuple[Touch, ...]:
        level, known = self.level_of(cells)
        if level is None:
            return ()
        touches = []
        for arm, share in seats_of_both(cells):
            touches.append(Touch((level, arm), share * known))
        return tuple(touches)

    def deviation(self, scales: Named, cells: Named, unit: Unit) -> Any:
        return scales[self.spread]

    def unsaid(self, parameters: Named, cells: Named) -> Any:
        level, _ = self.level_of(cells)
        new = np.ones(1) if level is None else (np.asarray(level) == NEW) * 1.0
        if not self.samples or not new.any():
            return None
        independent = _of_independent(cells) if "first" in cells else 2.0
        spread = np.asarray(parameters[self.spread])[..., None]
        return spread**2 * new * independent


def _of_independent(cells: Named) -> Any:
    """Return the variance that deviations of variance 1 of the members give to each cell."""
    first = seats(cells, "first")
    second = seats(cells, "second")
    alone = sum(share**2 for _, share in (*first, *second))
    shared = sum(
        share * other * (np.asarray(arm) == opposite)
        for arm, share in first
        for opposite, other in second
    )
    return alone - 2.0 * shared


@dataclass(frozen=True)
class CategoryEffects(RandomEffects):
    """Deviations as :class:`RandomEffects` by levels that are all there is: languages, leagues.

    ``score`` is the average over the categories, each by its share of the votes; P and all that
    follows are of these scores (:func:`bayesduel.estimand` takes other weights, or one category).
    By "category" its parameters are called ``deviation`` and ``category_spread``, by another column
    as those of :class:`RandomEffects`.

    Parameters
    ----------
    by, prior
        As in :class:`RandomEffects`; by default the column "category".

    Raises
    ------
    TypeError, ValueError
        If `prior` is not as described; when fitted, if the log has fewer than two categories.

    Examples
    --------
    >>> model = bd.models.BradleyTerry() + bd.models.CategoryEffects("topic")
    >>> model.name
    'bradley-terry + category:topic'
    """

    by: str = "category"

    name: ClassVar[str] = "category"
    samples: ClassVar[bool] = False

    @classmethod
    def worded(cls, text: str) -> RandomEffects:
        """Return the term of another column that is kept: "category:topic"."""
        return cls(text)

    def neutral(self, name: str, cells: Named | None = None) -> str:
        return f"the average over the {plural(name)}, by their votes"

    @property
    def key(self) -> str:
        return self.name if self.by == "category" else f"{self.name}:{self.by}"

    @property
    def parameter(self) -> str:  # type: ignore[override]
        return "deviation" if self.by == "category" else f"{self.by}_deviation"

    @property
    def spread(self) -> str:
        return "category_spread" if self.by == "category" else f"{self.by}_scale"
