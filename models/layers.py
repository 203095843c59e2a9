"""Layers: what a model of scores can be wrapped in, one inside the other.

A score model says two things: the linear predictor of a duel, the difference of two scores,
and what outcomes it makes likely. A layer changes the predictor and leaves the rest to what it
wraps. The predictor is written once, in :meth:`Layer.eta`: the same expression serves the
tensors of the ``pm.Model`` and arrays of draws. What a duel's cell does not say (who judged,
when, who was left) a layer takes as neutral, so the preference matrix of a fit is that of a
duel without an advantage, before an average judge, today.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayesduel.models import scores
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.cells import Seen, tallied

if TYPE_CHECKING:
    import pymc as pm

    from bayesduel.data.duels import Duels

__all__ = ["Layer", "check_prior"]

CHUNK = 4_000_000  # draws x cells worked on at once


@dataclass(frozen=True)
class Layer(ABC):
    """What all layers share; see the layers themselves.

    Attributes
    ----------
    base
        What is wrapped: a score model or another layer.
    """

    base: Any = field(default_factory=BradleyTerry)

    layer: ClassVar[str]
    reads_order: ClassVar[bool] = False  # whether the layer itself asks who was left
    adds: ClassVar[bool] = False  # whether the layer only adds scalars times data to the predictor
    cyclic: ClassVar[bool] = False  # whether the layer itself lets preferences be intransitive

    def __post_init__(self) -> None:
        if not hasattr(self.base, "respond") and not isinstance(self.base, Layer):
            raise TypeError(
                f"base should be a score model (BradleyTerry, Thurstone, Davidson) or a layer, "
                f"got {self.base!r}"
            )
        if isinstance(self.base, Layer) and self.layer in self.base.layers:
            raise ValueError(f"base should not have a layer of the same kind, got {self.base!r}")
        if self.root.scale is not None and np.isinf(self.root.scale):
            raise ValueError(
                f"base should have a proper prior (scale not infinite), got {self.root!r}"
            )

    # -- what a layer says of itself ---------------------------------------------------------

    @abstractmethod
    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the linear predictor of cells, (..., cells), from parameters (..., own dims)."""

    @abstractmethod
    def add(self, duels: "Duels") -> dict[str, Any]:
        """Add this layer's own parameters to the model in context; return them by name."""

    def own_columns(self, duels: "Duels") -> dict[str, np.ndarray]:
        """Return what this layer asks of each vote, whole numbers by name."""
        return {}

    def own_coords(self, duels: "Duels") -> dict[str, Any]:
        """Return the coordinates of this layer's own dimensions."""
        return {}

    @property
    def own_dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of this layer's own parameters that are no scalars."""
        return {}

    def settled(self, duels: "Duels") -> Self:
        """Return the same with every setting that is read off the log written down."""
        base = self.base.settled(duels) if isinstance(self.base, Layer) else self.base
        return replace(self, base=base)

    # -- what follows ------------------------------------------------------------------------

    @property
    def root(self) -> Any:
        """The score model at the bottom."""
        return self.base.root if isinstance(self.base, Layer) else self.base

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the layers, outermost first."""
        return (self.layer, *(self.base.layers if isinstance(self.base, Layer) else ()))

    @property
    def name(self) -> str:
        """Name, e.g. "order-effect(bradley-terry)"."""
        return f"{self.layer}({self.base.name})"

    @property
    def link(self) -> str:
        """Link of the score model."""
        return self.root.link

    @property
    def tie_outcome(self) -> bool:
        """Whether a tie is an outcome of its own."""
        return self.root.tie_outcome

    @property
    def ordered(self) -> bool:
        """Whether it matters who was left."""
        return self.reads_order or getattr(self.base, "ordered", False)

    @property
    def transitive(self) -> bool:
        """Whether scores decide who beats whom."""
        return not self.cyclic and getattr(self.base, "transitive", True)

    @property
    def linear(self) -> bool:
        """Whether the predictor is linear in the scores and a few scalars."""
        return self.adds and getattr(self.base, "linear", True)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that JSON can hold; ``bayesduel.models.named`` takes them."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "base"}
        base = self.base.settings if isinstance(self.base, Layer) else vars(self.base)
        return {"base": dict(base), **own}

    def columns(self, duels: "Duels") -> dict[str, np.ndarray]:
        """Return what is asked of each vote, by all layers."""
        below = self.base.columns(duels) if isinstance(self.base, Layer) else {}
        return below | self.own_columns(duels)

    def coords(self, duels: "Duels") -> dict[str, Any]:
        """Return the coordinates of the layers' own dimensions."""
        below = self.base.coords(duels) if isinstance(self.base, Layer) else {}
        return below | self.own_coords(duels)

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of the layers' own parameters that are no scalars."""
        below = self.base.dims if isinstance(self.base, Layer) else {}
        return below | self.own_dims

    def seen(self, duels: "Duels") -> Seen:
        """Return the log in the cells that this model tells apart."""
        return tallied(duels, self.columns(duels), ordered=self.ordered)

    def data(self, duels: "Duels") -> dict[str, np.ndarray]:
        """Return what the likelihood is evaluated on: the tallied cells."""
        return self.root.data(duels, self.seen(duels))

    def build(self, duels: "Duels", *, centred: bool = True) -> "pm.Model":
        """Return the PyMC model of `duels`.

        Parameters
        ----------
        duels
            The log.
        centred
            Parameterisation of a learned scale; the posterior does not depend on it.

        Raises
        ------
        ValueError
            If the log does not say what a layer asks.
        """
        import pymc as pm

        data = self.data(duels)
        coords = scores.coords(duels) | self.coords(duels)
        coords |= {"cell": np.arange(len(data["n"]))}
        if self.tie_outcome:
            coords |= {"result": ["first", "second", "tie"]}
        with pm.Model(coords=coords) as model:
            given = scores.register(data)
            score = scores.scores(self.root.scale, self.root.typical, centred=centred)
            parameters = {"score": score} | self.added(duels)
            eta = self.eta(parameters, given)
            eta.name = "eta"
            self.root.respond(eta, given)
        return model

    def added(self, duels: "Duels") -> dict[str, Any]:
        """Add the parameters of all layers to the model in context, innermost first."""
        below = self.base.added(duels) if isinstance(self.base, Layer) else {}
        return below | self.add(duels)

    def chances(self, eta: np.ndarray, parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Return the chances of win, loss and (some models) tie where the predictor is `eta`."""
        return self.root.chances(eta, parameters)

    def preference(self, posterior: Mapping[str, Any]) -> np.ndarray:
        """Return P of a neutral duel, shape (..., K, K), from draws of the parameters."""
        n_arms = np.shape(posterior["score" if self.transitive else "strength"])[-1]
        first, second = np.triu_indices(n_arms, 1)
        chances = self.outcome_probabilities(posterior, first, second)
        points = chances["win"] + chances["tie"] / 2 if "tie" in chances else chances["win"]
        result = np.full((*points.shape[:-1], n_arms, n_arms), 0.5)
        result[..., first, second] = points
        result[..., second, first] = 1.0 - points
        return result

    def outcome_probabilities(
        self, posterior: Mapping[str, Any], left: np.ndarray, right: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return the chances of a neutral duel of `left` against `right`, each (..., n)."""
        parameters = self.parameters(posterior)
        return self.chances(self.eta(parameters, {"first": left, "second": right}), parameters)

    def parameters(self, posterior: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return draws by the names that :meth:`eta` knows.

        A fit calls the scores ``strength`` where they do not decide who beats whom.
        """
        if self.transitive or "strength" not in posterior:
            return posterior
        return {**posterior, "score": posterior["strength"]}

    def log_likelihood(self, posterior: Mapping[str, Any], duels: "Duels") -> np.ndarray:
        """Return the log likelihood of each draw and cell, (draws, cells)."""
        parameters, data = self.parameters(posterior), self.data(duels)
        draws, n_cells = len(parameters["score"]), len(data["n"])
        result = np.empty((draws, n_cells))
        step = max(1, CHUNK // draws)
        for start in range(0, n_cells, step):
            here = slice(start, start + step)
            cells = {name: column[here] for name, column in data.items()}
            chances = self.chances(self.eta(parameters, cells), parameters)
            if self.tie_outcome:
                won, lost, tied = cells["counts"].T
                terms = [(won, "win"), (lost, "loss"), (tied, "tie")]
            else:
                terms = [(cells["points"], "win"), (cells["n"] - cells["points"], "loss")]
            total = np.zeros((draws, len(cells["n"])))
            for times, outcome in terms:
                total += times * np.log(np.maximum(chances[outcome], 1e-300))
            result[:, here] = total + cells["log_coefficient"]
        return result


def check_prior(name: str, value: Any) -> None:
    """Raise unless the scale `value` of a prior is a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} should be a number, got {value!r}")
    if not 0 < value < np.inf:
        raise ValueError(f"{name} should be > 0 and finite, got {value}")
