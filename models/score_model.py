"""Score models: a predictor and a response, without layers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayesduel.models.cells import ModelCells
from bayesduel.models.composed_model import ComposedModel
from bayesduel.models.covariates import DuelCovariates, ItemCovariates
from bayesduel.models.predictor import ArmPredictor, Predictor, difference
from bayesduel.models.scores import Scores
from bayesduel.system.arguments import shown_value

if TYPE_CHECKING:
    from bayesduel.data.items import Items

__all__ = ["ScoreModel"]

DEFAULT = Predictor(Scores())  # a score an arm, the scale learned


@dataclass(frozen=True)
class ScoreModel(ComposedModel):
    """What the models of scores share; see the models themselves.

    Parameters
    ----------
    predictor
        What arms are worth: ``Scores()`` (default), ``Covariates(items)``, or either plus
        covariates of the duel, ``Scores() + Covariates(["length_difference"])``.
    scale
        Short for ``Scores(scale=...)``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or both are given and differ.
    """

    predictor: Any = DEFAULT
    scale: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        given = self.predictor
        if isinstance(given, Predictor) and given == DEFAULT:
            given = Scores(self.scale)
        if isinstance(given, ArmPredictor):
            given = Predictor(given)
        if not isinstance(given, Predictor):
            raise TypeError(
                "predictor should be Scores(), Covariates(items), or either plus "
                f"Covariates([columns]), got {shown_value(self.predictor)}"
            )
        own = given.arms.scale
        if self.scale not in (None, own):
            raise ValueError(
                f"scale should be given to the predictor or alone, got {self.scale} and {own}"
            )
        object.__setattr__(self, "predictor", given)
        object.__setattr__(self, "scale", own)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings as JSON holds them; items are kept apart."""
        left_out = ("predictor", "scale")
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}
        return {"predictor": self.predictor.settings, **own}

    @classmethod
    def from_settings(
        cls, predictor: Mapping[str, Any], *, items: "Items | None" = None, **own: Any
    ) -> Self:
        """Return the model of these `settings`."""
        known = dict(predictor)
        duel = known.pop("covariates", None)
        kind = known.pop("kind", None)
        if kind is not None:
            if not (isinstance(kind, type) and issubclass(kind, ArmPredictor)):
                raise TypeError(f"kind should be a class of predictors, got {shown_value(kind)}")
            arms: ArmPredictor = kind(**known)
        else:
            arms = Scores(**known) if items is None else ItemCovariates(items, **known)
        return cls(Predictor(arms, None if duel is None else DuelCovariates(**duel)), **own)

    @property
    def score_link(self) -> str | None:
        """Link of a model of who wins by one score an arm, its scale learned; else None."""
        return self.response.score_link if self.predictor == DEFAULT else None

    @property
    def why_not_sparse(self) -> str:
        """Why it cannot be sampled on the sparse graph of pairs that met, or ""."""
        if self.response.score_link != "logit":
            return f"the response of {self.name} is not a logistic one of who wins"
        if self.predictor.duel is not None and self.predictor.duel.flat:
            return "the prior of its covariates is flat"
        if not self.predictor.arms.independent:
            return "its scores do not have independent normal priors"
        return ""

    def fixed_effects(self, cells: ModelCells) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the covariates of the duel and the standard deviations of their priors."""
        duel = self.predictor.duel
        return (
            {} if duel is None else duel.fixed_effects(cells.data, self.response.unit(cells.data))
        )

    def settled(self, log: Any) -> Self:
        """Return the same with the deviations of its covariates written down."""
        duel = self.predictor.duel
        if duel is None:
            return self
        return replace(self, predictor=replace(self.predictor, duel=duel.settled(log)))

    def of_example(self) -> Self:
        """Return a model of the same form for the arms "0", "1" and "2"."""
        arms, duel = self.predictor.arms.example(), self.predictor.duel
        return replace(self, predictor=Predictor(arms, None if duel is None else duel.example()))

    def latents(self, given: Mapping[str, Any], log: Any, *, centred: bool) -> dict[str, Any]:
        """Add the parameters of the predictor to the model in context; return them by name."""
        unit = self.response.unit(given)
        typical = self.response.score_scale * unit
        found = {"score": self.predictor.arms.utility(given, typical, unit, centred=centred)}
        duel = self.predictor.duel
        return found if duel is None else found | duel.add(given, unit)

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return first's utility minus second's, and what covariates of the duel add."""
        apart = difference(parameters, cells)
        duel = self.predictor.duel
        return apart if duel is None else apart + duel.eta(parameters, cells)
