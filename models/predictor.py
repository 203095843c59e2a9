"""Linear predictors: what makes left better than right.

A predictor is what the arms are worth (:class:`~bayesduel.models.scores.Scores`, or the
attributes of items), plus, if wanted, covariates of the duel itself; ``+`` joins them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.models.settings import ByValue

if TYPE_CHECKING:
    from bayesduel.data.items import Items

__all__ = ["ArmPredictor", "DuelPredictor", "Predictor", "difference"]


class ArmPredictor(ByValue, ABC):
    """What the arms are worth, one utility each; a duel sees the difference of two.

    Attributes
    ----------
    scale
        Prior standard deviation; None where it is learned, infinite where the prior is flat.
    items
        The table of attributes, where there is one.
    """

    scale: float | None
    items: "Items | None" = None

    @property
    @abstractmethod
    def flat(self) -> bool:
        """Whether the prior is flat."""

    @property
    @abstractmethod
    def hypers(self) -> tuple[str, ...]:
        """Names of learned standard deviations."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Settings as JSON holds them."""

    @abstractmethod
    def utility(self, given: Any, typical: Any, unit: Any, *, centred: bool) -> Any:
        """Add parameters and ``score`` to the model in context; return the utilities, (arm,).

        `given` is the model's data, `typical` the scale of the prior of a learned scale, `unit` the
        unit of the response, `centred` the parameterisation of a learned standard deviation (the
        posterior does not depend on it).
        """

    @property
    def independent(self) -> bool:
        """Whether each arm has a normal score of its own and nothing else."""
        return False

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of the parameters, but for ``score``."""
        return {}

    @property
    def why_nuts(self) -> str:
        """Why only NUTS can sample this predictor, or ""."""
        return ""

    def coords(self, log: Any) -> dict[str, Any]:
        """Return the coordinates of this predictor's own dimensions."""
        return {}

    def data(self, log: Any) -> dict[str, np.ndarray]:
        """Return tables of the arms that the model registers."""
        return {}

    def score(
        self, posterior: Mapping[str, np.ndarray], arms: tuple[str, ...]
    ) -> Mapping[str, np.ndarray]:
        """Return the draws with ``score``, shape (..., K), which a sampler need not hand over."""
        return posterior

    def example(self) -> "ArmPredictor":
        """Return a predictor of the same form for a log of the arms "0", "1" and "2"."""
        return self

    def __add__(self, other: Any) -> "Predictor":
        return Predictor(self) + other


class DuelPredictor(ByValue, ABC):
    """Covariates of the duel itself, left minus right.

    Attributes
    ----------
    columns
        Their names.
    deviations
        The standard deviation of each; None before it is read off a log.
    """

    columns: tuple[str, ...]
    deviations: tuple[float, ...] | None

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Settings as JSON holds them."""

    @property
    @abstractmethod
    def flat(self) -> bool:
        """Whether the prior is flat."""

    @abstractmethod
    def settled(self, log: Any) -> "DuelPredictor":
        """Return the same with every setting that is read off the log written down."""

    @abstractmethod
    def differences(self, log: Any) -> dict[str, np.ndarray]:
        """Return the covariates of each vote, left minus right, by name, (votes, ...)."""

    @abstractmethod
    def data(self, log: Any) -> dict[str, np.ndarray]:
        """Return what the model registers beside the cells."""

    @abstractmethod
    def add(self, given: Any, unit: Any) -> dict[str, Any]:
        """Add the coefficients to the model in context and return them by name."""

    @abstractmethod
    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the contribution to the predictor of cells; 0 where they say nothing."""

    @abstractmethod
    def fixed_effects(
        self, cells: Mapping[str, Any], unit: Any
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the columns of each parameter and the deviations of its normal prior, by name."""

    @property
    @abstractmethod
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of the coefficients."""

    @abstractmethod
    def coords(self, log: Any) -> dict[str, Any]:
        """Return the coordinates of this predictor's own dimensions."""

    @abstractmethod
    def example(self) -> "DuelPredictor":
        """Return a predictor of the same form that asks nothing of a log but its columns."""

    def __add__(self, other: Any) -> "Predictor":
        if not isinstance(other, ArmPredictor):
            raise TypeError(
                "predictor should say what arms are worth, Scores() or Covariates(items), got "
                f"{self!r} + {other!r}"
            )
        return Predictor(other, self)

    __radd__ = __add__


@dataclass(frozen=True)
class Predictor:
    """What arms are worth, and covariates of the duel.

    Parameters
    ----------
    arms
        ``Scores()`` or ``Covariates(items)``.
    duel
        ``Covariates(["column", ...])``, or None.

    Raises
    ------
    TypeError
        If the parts are not as described.
    """

    arms: ArmPredictor
    duel: DuelPredictor | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.arms, ArmPredictor):
            raise TypeError(
                "predictor should say what arms are worth, Scores() or Covariates(items), got "
                f"{self.arms!r}"
            )

    def __add__(self, other: Any) -> "Predictor":
        if isinstance(other, DuelPredictor) and self.duel is None:
            return replace(self, duel=other)
        raise TypeError(
            "predictor should be one of Scores() and Covariates(items), plus at most one "
            f"Covariates([columns]), got {self!r} + {other!r}"
        )

    @property
    def flat(self) -> bool:
        """Whether some prior is flat."""
        return self.arms.flat or (self.duel is not None and self.duel.flat)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings as JSON holds them."""
        duel = {} if self.duel is None else {"covariates": self.duel.settings}
        return self.arms.settings | duel


def difference(parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
    """Return first's score minus second's in each cell, shape (..., cells).

    Serves tensors of a model (one draw) and arrays of draws alike.
    """
    score = parameters["score"]
    return score[..., cells["first"]] - score[..., cells["second"]]
