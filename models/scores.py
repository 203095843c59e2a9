"""Scores: the predictor of arms with one strength each.

An arm's score is its strength. Only differences of scores are ever observed, so scores are
centred: they live in the (K - 1)-dimensional space of vectors that sum to zero, reached from
K - 1 free numbers by an isometry. Independent normal scores, once centred, are independent
normal free numbers of the same standard deviation.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Dims, Named
from bayesduel.models.term import ArmTerm, centre
from bayesduel.system.arguments import check_one_of

__all__ = ["Scores"]


@dataclass(frozen=True)
class Scores(ArmTerm):
    """One score an arm: ``score_i ~ Normal(0, scale)``, then centred.

    Parameters
    ----------
    scale
        Prior standard deviation of a score, in the unit of the response. None learns it, with a
        half-normal prior whose scale the response knows; a number fixes it; ``numpy.inf`` is a
        flat prior.
    side
        What a side of several arms is worth (doubles, teams, systems made of parts): the "sum" of
        its members' scores, or the "mean". Under "sum", where sizes differ, a member whose score
        is 0, that of the average arm, adds nothing to a side: see :class:`TeamSize`. Of sides of
        one arm both are its score.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> bd.models.BradleyTerry(bd.models.Scores(scale=1.0)) == bd.models.BradleyTerry(scale=1.0)
    True
    """

    scale: float | None = None
    side: Literal["sum", "mean"] = "sum"

    name: ClassVar[str] = "scores"
    parameter: ClassVar[str] = "score"
    dims: ClassVar[Dims] = {"score": ("arm",)}
    free_dims: ClassVar[tuple[str, ...]] = ("free",)  # from which the centred scores follow
    ranges: ClassVar[dict[str, str]] = {"scale": "> 0"}

    def __post_init__(self) -> None:
        check_one_of(self.side, "side", ("sum", "mean"))
        super().__post_init__()

    @property
    def scales(self) -> dict[str, Scale]:
        """The learned scale; its size is that which the response finds typical."""
        return {"scale": Scale("half-normal", None)} if self.scale is None else {}

    def deviation(self, scales: Named, cells: Named, unit: Any) -> Any:
        return scales["scale"] if self.scale is None else float(self.scale)

    @property
    def arms_have_own(self) -> bool:
        """Whether each arm has a normal score of its own: unless the prior is flat."""
        return not self.flat

    def add(self, given: Named, unit: Any, scales: Named, *, centred: bool) -> dict[str, Any]:
        """Add the scores to the PyMC model in context and return them.

        With a learned scale `centred` draws the scores themselves (mixes well when data are
        plentiful), otherwise the scores divided by their scale.
        """
        import pymc as pm

        deviation = self.deviation(scales, given, unit)
        if self.flat:
            free = pm.Flat("score_free", dims="free")
        elif centred or self.scale is not None:
            free = pm.Normal("score_free", 0.0, deviation, dims="free")
        else:
            free = deviation * pm.Normal("score_standard", 0.0, 1.0, dims="free")
        return {"score": pm.Deterministic("score", centre(free), dims="arm")}
