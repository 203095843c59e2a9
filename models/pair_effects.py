"""PairEffects: each pair deviates from what its arms are worth, so that cycles are possible."""

from dataclasses import dataclass
from typing import Any, ClassVar

from bayesduel.models.cells import Log
from bayesduel.models.elementary import Unit
from bayesduel.models.prior import Prior
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Dims, Named
from bayesduel.models.term import Term
from bayesduel.models.touch import Touch

__all__ = ["PairEffects"]


@dataclass(frozen=True)
class PairEffects(Term):
    """A residual of each pair, partially pooled.

    Each pair, met or not, is off the difference of the scores by a number of its own::

        pair_scale        ~ HalfNormal(prior)             (in the unit of the response)
        pair_residual_ij  ~ Normal(0, pair_scale),  pair_residual_ji = -pair_residual_ij
        eta               = eta of the other terms + pair_residual_first,second

    At ``pair_scale`` 0 one ranking explains the log; the more it exceeds the differences of
    scores, the less a ranking says of who beats whom. Winners are those of the preferences with
    residuals, so cycles are possible, winner criteria may differ, and arms rank by Borda score. A
    pair that never met has a residual, too: it is drawn from the population of pairs.

    Use it where preferences may be cyclic and many pairs met, with any response of outcomes and
    beside any terms. Where pairs are thinly covered, ``BladeChest`` has fewer numbers. For
    margins, ``PerturbedThurstone`` integrates the residuals out.

    Parameters
    ----------
    prior
        Scale of the prior of ``pair_scale``. With 1 and Bradley-Terry, two arms of equal score
        beat each other with probability 0.09 to 0.91, with probability 0.95 before any duel.

    Raises
    ------
    TypeError, ValueError
        If `prior` is not as described; when fitted, if the log has only two arms.

    References
    ----------
    Gelman & Hill, "Data Analysis Using Regression and Multilevel/Hierarchical Models", 2007,
    chapter 14 (partial pooling). Tsai & Bockenholt, "Modelling intransitive preferences: a
    random-effects approach", Journal of Mathematical Psychology 2006 (residuals of pairs).

    Examples
    --------
    >>> model = bd.models.BradleyTerry() + bd.models.PairEffects()
    >>> model.name
    'bradley-terry + pair-residuals'
    """

    prior: float | Prior = 1.0

    name: ClassVar[str] = "pair-residuals"
    parameter: ClassVar[str] = "pair_residual"
    cyclic: ClassVar[bool] = True
    splits: ClassVar[bool] = False
    dims: ClassVar[Dims] = {"pair_residual": ("matchup",)}
    ranges: ClassVar[dict[str, str]] = {"prior": "> 0 and finite"}

    @property
    def scales(self) -> dict[str, Scale]:
        return {"pair_scale": Scale("half-normal", self.prior)}

    def coords(self, log: Log) -> dict[str, Any]:
        """Return the pairs of arms, in the order of their places in `design`."""
        if log.n_arms < 3:
            raise ValueError(
                "duels should have at least three arms, because cycles need three, got "
                f"{log.n_arms}"
            )
        arms = log.arms
        names = [f"{arms[low]} - {arms[high]}" for high in range(len(arms)) for low in range(high)]
        return {"matchup": names}

    def design(self, cells: Named) -> tuple[Touch, ...]:
        """Return the residual of each cell's pair, with its sign; 0 for an arm and itself."""
        first = cells["first"]
        second = cells["second"]
        behind = (first > second) * 1
        low = first + (second - first) * behind
        high = first + second - low
        # Of pairs by their later arm, then by the earlier: unlike `pair_place`, it needs no number
        # of arms, which cells do not have, and PyTensor takes it.
        place = high * (high - 1) // 2 + low
        sign = (first < second) * 1.0 - (first > second) * 1.0
        return (Touch((place * (first != second),), sign),)

    def deviation(self, scales: Named, cells: Named, unit: Unit) -> Any:
        return scales["pair_scale"]
