"""JudgeTastes: each judge has coefficients of their own around the average judge's."""

from dataclasses import dataclass
from typing import Any, ClassVar

from bayesduel.models.covariates import attributes_apart
from bayesduel.models.elementary import Unit
from bayesduel.models.prior import Prior
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Dims, Named
from bayesduel.models.term import ByLevel, Term
from bayesduel.models.touch import Touch

__all__ = ["JudgeTastes"]


@dataclass(frozen=True)
class JudgeTastes(ByLevel, Term):
    """A coefficient vector for each judge.

    The attributes of items have the average judge's coefficients; each judge deviates from them::

        judge_spread  ~ HalfNormal(prior)                 (one per attribute)
        taste_g       ~ Normal(0, judge_spread)           (of judge g, one per attribute)
        eta           = eta of the other terms + (u_i - u_j)' taste_g

    The coefficients and scores of a fit are those of the average judge, and carry the differences
    between judges in their intervals. A vote without a judge has the average judge's coefficients.

    Use it where items have attributes and judges may weigh them differently. Where judges differ
    only in sensitivity, use ``JudgeReliability``.

    Parameters
    ----------
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

    Examples
    --------
    >>> items = bd.datasets.items("chameleons")
    >>> (bd.models.BradleyTerry(bd.models.Covariates(items)) + bd.models.JudgeTastes()).name
    'bradley-terry + tastes'
    """

    prior: float | Prior = 0.5

    name: ClassVar[str] = "tastes"
    takes_teams: ClassVar[bool] = True
    key: ClassVar[str] = name
    by = "judge"
    parameter: ClassVar[str] = "taste"
    needs_items: ClassVar[bool] = True
    explains: ClassVar[tuple[str, ...]] = ("judge",)
    dims: ClassVar[Dims] = {"judge_spread": ("attribute",), "taste": ("judge", "attribute")}
    ranges: ClassVar[dict[str, str]] = {"prior": "> 0 and finite"}

    @property
    def scales(self) -> dict[str, Scale]:
        """A spread for each attribute."""
        return {"judge_spread": Scale("half-normal", self.prior, dim="attribute")}

    def neutral(self, name: str, cells: Named | None = None) -> str:
        return "a judge of average tastes"

    def design(self, cells: Named) -> tuple[Touch, ...]:
        """Return the attributes of first minus those of second where the cell says who judged."""
        judge, known = self.level_of(cells)
        if judge is None:
            return ()
        return (Touch((judge,), known[:, None] * attributes_apart(cells)),)

    def deviation(self, scales: Named, cells: Named, unit: Unit) -> Any:
        return scales["judge_spread"]
