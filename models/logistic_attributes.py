"""Logistic regression of pulls on the attributes of items."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from bayesduel.data.items import Items
from bayesduel.models.cells import ModelCells
from bayesduel.models.covariates import ItemCovariates
from bayesduel.models.elementary import Unit
from bayesduel.models.identifiability import check_independent, check_mixed
from bayesduel.models.model import Model
from bayesduel.models.response import Bernoulli, Response, log_coefficient
from bayesduel.models.settings import Arrays, Named
from bayesduel.models.term import Term, Terms
from bayesduel.models.touch import Touch

__all__ = ["Intercept", "LogisticAttributes"]


@dataclass(frozen=True)
class Intercept(Term):
    """The predictor of an item of average attributes: ``intercept ~ Normal(0, prior)``."""

    prior: float = 2.5  # prior standard deviation, in logits; ``numpy.inf`` is a flat prior

    name: ClassVar[str] = "intercept"
    parameter: ClassVar[str] = "intercept"
    ranges: ClassVar[dict[str, str]] = {"prior": "> 0"}

    def design(self, cells: Named) -> tuple[Touch, ...]:
        """Return 1 for each item; nothing for two, whose difference it leaves out."""
        return () if "second" in cells else (Touch((), np.ones(len(cells["first"]))),)

    def deviation(self, scales: Named, cells: Named, unit: Unit) -> Any:
        return self.prior


@dataclass(frozen=True)
class Paid(Bernoulli):
    """Success or not."""

    outcome: ClassVar[str] = "success"


@dataclass(frozen=True, kw_only=True)
class LogisticAttributes(Model):
    """Logistic regression of pulls on the attributes of items.

    Generative model: the probability of success is a logistic function of the attributes::

        intercept    ~ Normal(0, 2.5)                     (an item of average attributes)
        coefficient  ~ Normal(0, scale)                   (one per standardised attribute)
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

    References
    ----------
    Gelman, Jakulin, Pittau & Su, "A weakly informative default prior distribution for logistic
    and other regression models", Ann. Appl. Stat. 2008, for standardised inputs and weak priors.

    Examples
    --------
    >>> items = bd.datasets.items("chameleons")
    >>> pulls = bd.Pulls.from_rows(items.labels * 2, [1] * 35 + [0] * 35)
    >>> bd.fit(pulls, bd.models.LogisticAttributes(items=items)).attrs["method"]
    'laplace'
    """

    items: Items = None  # type: ignore[assignment]
    scale: float = 1.0
    sparsity: float | None = None

    name: ClassVar[str] = "logistic-attributes"
    title: ClassVar[str] = "logistic regression of pulls (one coefficient per attribute)"
    log_type: ClassVar[str] = "pulls"
    response: ClassVar[Response] = Paid("logit")

    def __post_init__(self) -> None:
        _ = self.terms  # whose settings these are, and who checks them

    @property
    def terms(self) -> Terms:
        own = ItemCovariates(self.items, self.scale, sparsity=self.sparsity)
        return own + Intercept(np.inf if own.flat else 2.5)

    def check(self, log: Any) -> None:
        """Raise ValueError unless the log determines what this model estimates.

        That is, if an item of the log is not in the table; under a flat prior also if the items of
        the log do not distinguish the attributes, or separate what paid from what did not.
        """
        table = self.items.matrix(log.arms)
        if self.terms.flat:
            names = [*self.items.names, "intercept"]
            design = np.column_stack([table, np.ones(len(table))])
            check_independent(table, names)
            check_mixed(design, log.successes, log.n, names)

    def cells(self, log: Any, **options: Any) -> ModelCells:
        if isinstance(log, ModelCells):
            return log
        n = log.n
        paid = log.successes
        data = {
            "first": np.arange(len(n)),
            "n": n,
            "log_coefficient": log_coefficient(np.stack([paid, n - paid], axis=-1)),
            "points": paid,
        }
        return ModelCells(log=log, seen=None, data=data | self.terms.tables(log.arms))

    def _worth(self, parameters: Named, cells: Named) -> Any:
        """Return the utility of each item, not centred; of two items asked about the difference."""
        if "second" in cells:
            return super()._worth(parameters, cells)
        return parameters["coefficient"] @ cells["table"].T

    def chance(self, posterior: Arrays, matrix: np.ndarray) -> np.ndarray:
        """Return the chance that items pay, shape (..., m), from their standardised attributes."""
        utility = np.asarray(posterior["coefficient"]) @ matrix.T
        return expit(np.asarray(posterior["intercept"])[..., None] + utility)
