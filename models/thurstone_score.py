"""Thurstone with margins: the difference of two noisy scores is itself observed."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from bayesduel.models.margin_response import MarginResponse, Variances
from bayesduel.models.response import Response
from bayesduel.models.score_model import ScoreModel
from bayesduel.system.arguments import check_one_of, real, shown_value

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels
    from bayesduel.data.pulls import Pulls
    from bayesduel.data.rankings import Rankings

    pass

__all__ = ["ThurstoneScore"]


@dataclass(frozen=True)
class ThurstoneScore(ScoreModel):
    """Scores in the unit of the margins (goals, points, chips), one per arm.

    Generative model: each arm draws a score; a duel ends with the difference of the scores, plus
    noise::

        scale         ~ HalfNormal(unit)                  (if learned)
        score_i       ~ Normal(0, scale), then centred
        margin_ij     ~ Normal(score_i - score_j, sigma_ij^2)
        Pr(i beats j) = Pr(margin_ij > 0)

        variances="common":  sigma_ij = noise,        noise ~ LogNormal(log unit, 1)
        variances="arm":     sigma_ij^2 = noise_i^2 + noise_j^2,
                             noise_i ~ LogNormal(log(unit / sqrt 2), 1)
        variances="pair":    sigma_ij^2 ~ noise^2 shrinkage / ChiSquared(shrinkage),
                             noise ~ LogNormal(log unit, 1),
                             shrinkage ~ LogNormal(log 5, 1.2)
        degrees:             Student's t with so many degrees instead of the normal, with
                             sigma_ij its scale; "learned": 1 + LogNormal(log 8, 1)

    A variance for each pair is shrunk towards what pairs have in common: as much as
    `shrinkage` more duels of a typical variance would. Without that (maximum likelihood,
    :func:`bayesduel.policies.top_k.fit_margins`) the variance of a pair with few duels collapses.

    Use it for logs with margins: a margin is several times more informative than the winner. A
    tie is a margin of 0. ``ThurstoneScore(Scores() + SideAdvantage())``
    adds the side advantage.

    Parameters
    ----------
    scale
        Short for ``Scores(scale=...)``: prior standard deviation of a score, in the unit of the
        margins. None learns it. ``numpy.inf`` is a flat prior, and unless the noise is by arm one
        on its logarithm too: with a common variance the posterior is that of least squares.
    variances
        What duels have in common in their noise.
    degrees
        None: normal margins. A number or "learned": Student's t, robust to odd margins.
    unit
        Size of a typical margin, on which all priors stand. None: the root mean square of the
        log's margins.

    References
    ----------
    Thurstone, "A law of comparative judgment", Psychological Review 1927, Cases III (by arm)
    and V (common). Groves & Branke, "Exploiting Transitivity for Top-k Selection with
    Score-Based Dueling Bandits", section 4, for a variance a pair (by maximum likelihood).
    Lange, Little & Taylor, "Robust statistical modeling using the t distribution", JASA 1989.

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("icehockey"), bd.models.ThurstoneScore())
    >>> bd.scores(fit).attrs["unit"]
    'units of the margins'
    """

    variances: Variances = field(default="common", kw_only=True)
    degrees: float | Literal["learned"] | None = field(default=None, kw_only=True)
    unit: float | None = field(default=None, kw_only=True)

    label: ClassVar[str] = "thurstone-score"
    assumption: ClassVar[str] = (
        "Thurstone with margins (one score per {noun}, in units of the margins)"
    )
    ranges: ClassVar[dict[str, str]] = {"unit": "> 0 and finite"}

    def __post_init__(self) -> None:
        check_one_of(self.variances, "variances", ("common", "arm", "pair"))
        super().__post_init__()
        if self.degrees is None:
            return
        if not isinstance(self.degrees, str) or self.degrees != "learned":
            if isinstance(self.degrees, bool | str):
                raise TypeError(
                    f"degrees should be None, a number or 'learned', "
                    f"got {shown_value(self.degrees)}"
                )
            real(self.degrees, "degrees")
            if not 0 < self.degrees < np.inf:
                raise ValueError(f"degrees should be a finite number > 0, got {self.degrees}")
        if self.variances == "pair":
            raise ValueError(
                "degrees should be None with variances='pair', because its tails are heavy "
                f"already, got {shown_value(self.degrees)}"
            )

    @classmethod
    def of_response(cls, response: Response) -> dict[str, Any] | None:
        if type(response) is not MarginResponse:
            return None
        own = {"variances": response.variances, "degrees": response.degrees}
        return own | {"unit": response.unit_size}

    @property
    def response(self) -> Response:
        return MarginResponse(variances=self.variances, degrees=self.degrees, unit_size=self.unit)

    def settled(self, log: "Duels | Rankings | Pulls") -> Self:
        """Return the same with the size of a typical margin of the log written down."""
        response: Any = self.response
        return replace(super().settled(log), unit=response.typical_margin(log))
