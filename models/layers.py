"""Layers: what a model can be wrapped in, one inside the other.

A model says two things: the linear predictor of a duel, and what outcomes it makes likely. A
layer changes the predictor and leaves the rest to what it wraps; so every layer works with every
predictor and every response. The predictor is written once, in ``eta``: the same expression
serves the tensors of the ``pm.Model`` and arrays of draws. What a duel's cell does not say (who
judged, when, who was left) a layer takes as neutral, so the preference matrix of a fit is that of
a duel without an advantage, before an average judge, today.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.cells import ModelCells
from bayesduel.models.composed_model import ComposedModel
from bayesduel.models.model import Model
from bayesduel.models.predictor import Predictor
from bayesduel.models.response import Response
from bayesduel.system.arguments import shown_value

__all__ = ["Layer"]


@dataclass(frozen=True)
class Layer(ComposedModel):
    """What all layers share; see the layers themselves.

    A layer of one's own says its `name_of_layer` and defines ``add`` (its parameters) and ``eta``
    (the predictor with them); `own_columns`, `own_coords`, `own_dims` and `own_data` where it
    reads more of the log than who met whom.

    Attributes
    ----------
    base
        What is wrapped: a model of duels or another layer.
    """

    base: Any = field(default_factory=BradleyTerry)

    layer: ClassVar[str]
    required: ClassVar[tuple[str, ...]] = ("layer",)
    reads_own_order: ClassVar[bool] = False  # whether the layer itself asks who was left
    adds: ClassVar[bool] = False  # whether the layer only adds numbers times data to the predictor
    fixed: ClassVar[bool] = False  # whether these numbers have known normal priors and no others
    cyclic: ClassVar[bool] = False  # whether the layer itself lets preferences be intransitive
    models_votes_of: ClassVar[tuple[str, ...]] = ()  # roles whose dependence the layer models
    splits: ClassVar[bool] = (
        True  # whether it distinguishes duels of a pair by more than their order
    )

    def __post_init__(self) -> None:
        if not isinstance(self.base, ComposedModel) or self.base.log_type != "duels":
            raise TypeError(
                f"base should be a model with a linear predictor of duels or a layer, such as "
                f"BradleyTerry(), got {shown_value(self.base)}"
            )
        if self.layer in self.base.layers:
            raise ValueError(
                f"base should not have a layer of the same kind, got {shown_value(self.base)}"
            )
        if self.base.flat and not self.flat_prior:
            raise ValueError(
                f"base should have a proper prior (scale not infinite), "
                f"got {shown_value(self.base)}"
            )

    # -- what a layer says of itself ---------------------------------------------------------

    @abstractmethod
    def add(self, given: Mapping[str, Any], parameters: Mapping[str, Any], log: Any) -> Any:
        """Add this layer's own parameters to the model in context; return them by name.

        `given` is the model's data, `parameters` are those of what is wrapped.
        """

    def own_columns(self, log: Any) -> dict[str, np.ndarray]:
        """Return what this layer asks of each vote, whole numbers by name."""
        return {}

    def own_coords(self, log: Any) -> dict[str, Any]:
        """Return the coordinates of this layer's own dimensions."""
        return {}

    def own_data(
        self, arms: tuple[str, ...], cells: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return what this layer registers beside the cells."""
        return {}

    @property
    def own_dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of this layer's own parameters that are no scalars."""
        return {}

    @property
    def own_hypers(self) -> tuple[str, ...]:
        """Names of this layer's learned standard deviations."""
        return ()

    @property
    def own_varying(self) -> dict[str, tuple[str, str]]:
        """Varying effects of the layer itself; see ``Model.varying``."""
        return {}

    def own_fixed_effects(
        self, cells: Mapping[str, Any]
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the columns and prior deviations of a layer that is `fixed`, by parameter."""
        return {}

    def own_implied(
        self, posterior: Mapping[str, np.ndarray], arms: tuple[str, ...]
    ) -> Mapping[str, np.ndarray]:
        """Return the draws with what this layer's free numbers imply in place of these."""
        return posterior

    @property
    def flat_prior(self) -> bool:
        """Whether this layer's own prior is flat."""
        return False

    # -- what follows ------------------------------------------------------------------------

    @property
    def why_not_sparse(self) -> str:
        """Why it cannot be sampled on the sparse graph of pairs that met, or ""."""
        if not self.fixed:
            return f"the parameters of {self.layer} do not have known normal priors alone"
        if self.flat_prior:
            return f"the prior of {self.layer} is flat"
        return self.base.why_not_sparse

    def fixed_effects(self, cells: ModelCells) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return what enters the predictor of cells beside the scores, innermost first."""
        return self.base.fixed_effects(cells) | self.own_fixed_effects(cells.data)

    def settled(self, log: Any) -> Self:
        """Return the same with every setting that is read off the log written down."""
        return replace(self, base=self.base.settled(log))

    @property
    def response(self) -> Response:
        """That of what is wrapped."""
        return self.base.response

    @property
    def predictor(self) -> Predictor:
        """What arms are worth and covariates of the duel, below all layers."""
        return self.base.predictor

    @property
    def with_ties(self) -> Model | None:
        """The same layer around what is wrapped, with ties as an outcome."""
        within = self.base.with_ties
        return None if within is None else replace(self, base=within)

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the layers, outermost first."""
        return (self.layer, *self.base.layers)

    @property
    def accounts_for(self) -> tuple[str, ...]:
        """Roles whose dependence this layer or what it wraps models."""
        return (*self.models_votes_of, *self.base.accounts_for)

    @property
    def parts(self) -> tuple[type[Model], ...]:
        """Classes of the layers and of what they wrap, outermost first."""
        return (type(self), *self.base.parts)

    @property
    def name(self) -> str:
        """Name, e.g. "order-effect(bradley-terry)"."""
        return f"{self.layer}({self.base.name})"

    @property
    def title(self) -> str:
        """The title of what is wrapped, and what the layer adds."""
        return f"{self.base.title} + {self.layer.replace('-', ' ')}"

    @property
    def reads_order(self) -> bool:
        """Whether it matters who was left."""
        return self.reads_own_order or self.base.reads_order

    @property
    def ranks_by_layers(self) -> bool:
        """Whether no layer lets preferences be intransitive."""
        return not self.cyclic and self.base.ranks_by_layers

    @property
    def linear(self) -> bool:
        """Whether the predictor is linear in the scores and a few numbers."""
        return self.adds and self.base.linear

    @property
    def hypers(self) -> tuple[str, ...]:
        """Learned positive parameters of what is wrapped, then those of the layer."""
        return (*self.base.hypers, *self.own_hypers)

    @property
    def spreads(self) -> tuple[str, ...]:
        """Learned standard deviations of the effects of layers."""
        return (*self.base.spreads, *self.own_hypers)

    @property
    def varying(self) -> Mapping[str, tuple[str, str]]:
        """Varying effects of all layers."""
        return {**self.base.varying, **self.own_varying}

    def start(self, cells: Any) -> np.ndarray:
        """Return where the search for the `hypers` starts: effects are a quarter of scores."""
        scale = float(self.response.start(cells).get("scale", 0.0))
        own = np.full(len(self.own_hypers), scale - np.log(4.0))
        return np.concatenate([self.base.start(cells), own])

    def implied(
        self, posterior: Mapping[str, np.ndarray], arms: tuple[str, ...]
    ) -> Mapping[str, np.ndarray]:
        """Return the draws with what the free numbers of all layers imply."""
        return self.own_implied(self.base.implied(posterior, arms), arms)

    @property
    def flat(self) -> bool:
        """Whether some prior is flat."""
        return self.flat_prior or self.base.flat

    @property
    def splits_pairs(self) -> bool:
        """Whether duels of a pair are distinguished by more than their order."""
        return self.splits or self.base.splits_pairs

    @property
    def settings(self) -> dict[str, Any]:
        """Settings as JSON holds them; ``bayesduel.models.named`` takes them."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "base"}
        return {"base": self.base.settings, **own}

    def columns(self, log: Any) -> dict[str, np.ndarray]:
        """Return what is asked of each vote, by all layers."""
        return self.base.columns(log) | self.own_columns(log)

    def coords(self, log: Any) -> dict[str, Any]:
        """Return the coordinates of all layers' own dimensions."""
        return self.base.coords(log) | self.own_coords(log)

    def tables(self, log: Any, cells: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return what all layers register beside the outcomes of cells."""
        return self.base.tables(log, cells) | self.own_data(log.arms, cells)

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of the parameters that are no scalars."""
        return self.base.dims | self.own_dims

    def predictor_data(
        self, arms: tuple[str, ...], columns: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return what the predictor of cells needs beside their columns."""
        return self.base.predictor_data(arms, columns) | self.own_data(arms, columns)

    def latents(self, given: Mapping[str, Any], log: Any, *, centred: bool) -> dict[str, Any]:
        """Add the parameters of all layers to the model in context, innermost first."""
        below = self.base.latents(given, log, centred=centred)
        return below | self.add(given, below, log)

    def of_example(self) -> Self:
        """Return a model of the same form for the arms "0", "1" and "2"."""
        return replace(self, base=self.base.of_example())

    def unit(self, given: Mapping[str, Any]) -> Any:
        """Return the unit of the scores, on which priors stand."""
        return self.response.unit(given)
