"""Stacked: a mixture of models, each with the weight at which the mixture predicts best."""

from dataclasses import dataclass
from typing import Any, ClassVar

from bayesduel.models.preference_matrix import PreferenceMatrix

__all__ = ["Stacked"]


@dataclass(frozen=True, kw_only=True)
class Stacked(PreferenceMatrix):
    """Draws of P from several fits, as many from each as its weight says.

    Made by ``Comparison.stacked()``; it has no likelihood of its own and cannot be fitted.

    Parameters
    ----------
    concentration
        Not used.
    weights
        (name of the model, weight) in falling order; they sum to one.

    References
    ----------
    Yao, Vehtari, Simpson & Gelman, "Using stacking to average Bayesian predictive
    distributions", Bayesian Analysis 2018.

    Examples
    --------
    >>> comparison = bd.compare_models(bd.datasets.load("tennis1990"))
    >>> bd.winners(comparison.stacked()).verdict_kind
    'undecided'
    """

    weights: tuple[tuple[str, float], ...] = ()

    name: ClassVar[str] = "stacked"
    title: ClassVar[str] = "stacked models (a mixture with weights)"

    @property
    def settings(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def build(self, log: Any, *, centred: bool = True) -> Any:
        """Raise: a mixture of fits is not a model of duels."""
        raise TypeError(
            "a stack of fits cannot be fitted: fit each model and use bayesduel.compare_models"
        )
