"""Thurstone with margins and a residual of each pair."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from bayesduel.models.pair_residuals import PairResiduals
from bayesduel.models.response import Response
from bayesduel.models.score_model import ScoreModel
from bayesduel.system.arguments import check_one_of

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels
    from bayesduel.data.pulls import Pulls
    from bayesduel.data.rankings import Rankings

    pass

__all__ = ["PerturbedThurstone"]


@dataclass(frozen=True)
class PerturbedThurstone(ScoreModel):
    """Scores in the unit of the margins, and a residual of each pair.

    Generative model: as :class:`ThurstoneScore`, but the expected margin of a pair is off the
    difference of the scores by a residual of its own, which all duels of the pair share::

        scale         ~ HalfNormal(unit)                  (if learned)
        score_i       ~ Normal(0, scale), then centred
        d             ~ HalfNormal(unit / 2)              (called residual_scale)
        residual_ij   ~ Normal(0, d^2),  residual_ji = -residual_ij
        margin_ij     ~ Normal(score_i - score_j + residual_ij, sigma_ij^2)
        Pr(i beats j) = Phi((score_i - score_j + residual_ij) / sigma_ij)

    with sigma_ij as there, common or by arm. The posterior of d measures intransitivity in the
    unit of the margins: at 0 one ranking explains the log, and where d is as large as the
    differences of scores, scores are little informative about who beats whom. Winners are those of
    the preferences with residuals, so cycles are possible and winner criteria may differ;
    arms rank by Borda score.

    Use it where matchups matter (styles, strategies, non-transitive games). A residual can be
    distinguished from noise only where pairs meet more than once.

    Parameters
    ----------
    predictor, scale
        As in :class:`ThurstoneScore`.
    variances, unit
        As in :class:`ThurstoneScore`; `variances` is "common" or "arm".

    References
    ----------
    Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
    Bandits", section 6, for the perturbed scores; there d is known, here it is learned.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("icehockey"), bd.models.PerturbedThurstone())
    >>> float(fit.posterior["residual_scale"].mean().round(1))
    0.3
    """

    variances: Literal["common", "arm"] = field(default="common", kw_only=True)
    unit: float | None = field(default=None, kw_only=True)

    label: ClassVar[str] = "perturbed-thurstone"
    assumption: ClassVar[str] = "Thurstone with margins, and a residual for each pair"
    ranges: ClassVar[dict[str, str]] = {"unit": "> 0 and finite"}

    def __post_init__(self) -> None:
        check_one_of(self.variances, "variances", ("common", "arm"))
        super().__post_init__()

    @classmethod
    def of_response(cls, response: Response) -> dict[str, Any] | None:
        if type(response) is not PairResiduals:
            return None
        return {"variances": response.variances, "unit": response.unit_size}

    @property
    def response(self) -> Response:
        return PairResiduals(variances=self.variances, unit_size=self.unit)

    def settled(self, log: "Duels | Rankings | Pulls") -> Self:
        """Return the same with the size of a typical margin of the log written down."""
        response: Any = self.response
        return replace(super().settled(log), unit=response.typical_margin(log))
