"""Logistic regression of pulls on the attributes of items."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit

from bayesduel.data.items import Items
from bayesduel.models.cells import ModelCells
from bayesduel.models.composed_model import ComposedModel
from bayesduel.models.covariates import ItemCovariates
from bayesduel.models.identifiability import check_determined
from bayesduel.models.predictor import Predictor
from bayesduel.models.response import Bernoulli, Response, log_coefficient

__all__ = ["LogisticAttributes"]


@dataclass(frozen=True, kw_only=True)
class LogisticAttributes(ComposedModel):
    """Logistic regression of pulls on the attributes of items.

    Generative model: the probability of success is a logistic function of the attributes::

        intercept    ~ Normal(0, 2.5)                     (an item of average attributes)
        coefficient  ~ Normal(0, scale)                   (one a standardised attribute)
        successes_i  ~ Binomial(n_i, logistic(intercept + u_i' coefficient))

    Use it where one item is shown at a time: bought or not, passed or not. Items are taken to
    differ by their attributes alone; where they differ in ways that the table does not hold,
    intervals are too narrow.

    Parameters
    ----------
    items
        The attributes of every item of the log: :func:`bayesduel.read_items`.
    scale
        Prior standard deviation of a coefficient, in logits for one standard deviation of a
        numeric attribute. ``numpy.inf`` is a flat prior on all, logistic regression by maximum
        likelihood.
    sparsity
        None, or the expected number of relevant attributes: a regularised horseshoe in place of
        the normal prior, fitted by NUTS.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    References
    ----------
    Gelman, Jakulin, Pittau & Su, "A weakly informative default prior distribution for logistic
    and other regression models", Ann. Appl. Stat. 2008, for standardised inputs and weak priors.
    """

    items: Items = None  # type: ignore[assignment]
    scale: float = 1.0
    sparsity: float | None = None

    name: ClassVar[str] = "logistic-attributes"
    title: ClassVar[str] = "logistic regression of pulls (one coefficient per attribute)"
    log_type: ClassVar[str] = "pulls"
    outcome: ClassVar[str] = "success"
    response: ClassVar[Response] = Bernoulli("logit")
    ranks_by_score: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _ = self.predictor  # whose settings these are, and who checks them

    @property
    def predictor(self) -> Predictor:
        """The attributes of the items, which say everything."""
        own = ItemCovariates(self.items, self.scale, item_effect=False, sparsity=self.sparsity)
        return Predictor(own)

    @property
    def settings(self) -> dict[str, Any]:
        """Settings without the items, which a fit keeps in a group of their own."""
        return {"scale": self.scale, "sparsity": self.sparsity}

    @classmethod
    def from_settings(cls, *, items: Items, **own: Any) -> Self:
        """Return the model of these `settings`."""
        return cls(items=items, **own)

    def example(self) -> tuple["LogisticAttributes", Any]:
        """Return a model of the same form on a small log; equal for equal settings."""
        from bayesduel.data.pulls import Pulls

        return self.of_example(), Pulls(
            arms=("0", "1", "2"), n=np.full(3, 2.0), successes=np.ones(3)
        )

    def of_example(self) -> "LogisticAttributes":
        """Return a model of the same form for the arms "0", "1" and "2"."""
        example = self.predictor.arms.example()
        assert example.items is not None
        return replace(self, items=example.items, sparsity=None)

    def check(self, log: Any) -> None:
        """Raise unless the log determines what this model estimates.

        Raises
        ------
        ValueError
            If an item of the log is not in the table; under a flat prior also if the items of
            the log do not distinguish the attributes, or separate what paid from what did not.
        """
        table = self.items.matrix(log.arms)
        if self.flat:
            names = [*self.items.names, "intercept"]
            design = np.column_stack([table, np.ones(len(table))])
            check_determined(table, design, log.successes, log.n, names)

    def cells(self, log: Any, *, each: bool = False) -> ModelCells:
        """Return one cell an item of the log."""
        if isinstance(log, ModelCells):
            return log
        n, paid = log.n, log.successes
        data = {
            "n": n,
            "log_coefficient": log_coefficient(np.stack([paid, n - paid], axis=-1)),
            "points": paid,
        }
        return ModelCells(log=log, seen=None, data=data | self.tables(log, data))

    def latents(self, given: Mapping[str, Any], log: Any, *, centred: bool) -> dict[str, Any]:
        """Add intercept and coefficients to the model in context."""
        import pymc as pm

        intercept = pm.Flat("intercept") if self.flat else pm.Normal("intercept", 0.0, 2.5)
        utility = self.predictor.arms.utility(given, 1.0, 1.0, centred=centred)
        return {"intercept": intercept, "score": utility}

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return intercept and utility of each item."""
        if "coefficient" in parameters:  # draws, whose score is centred
            utility = np.asarray(parameters["coefficient"]) @ cells["table"].T
            return np.asarray(parameters["intercept"])[..., None] + utility
        return parameters["intercept"] + parameters["score"]

    def chance(self, posterior: Mapping[str, np.ndarray], matrix: np.ndarray) -> np.ndarray:
        """Return the chance that items pay, shape (..., m), from their standardised attributes."""
        utility = np.asarray(posterior["coefficient"]) @ matrix.T
        return expit(np.asarray(posterior["intercept"])[..., None] + utility)
