"""One item is shown and pays or not: logistic regression on what it is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import expit, gammaln, log_expit

from bayesduel.data.items import Items
from bayesduel.models import scores
from bayesduel.models.bradley_terry import binomial
from bayesduel.models.covariates import EXAMPLE
from bayesduel.models.horseshoe import check_sparsity, coefficients
from bayesduel.models.identifiability import check_determined

if TYPE_CHECKING:
    import pymc as pm

    from bayesduel.data.pulls import Pulls

__all__ = ["LogisticAttributes"]


@dataclass(frozen=True, kw_only=True)
class LogisticAttributes:
    """Pulls of items that have attributes.

    The story: one vector says how much each attribute counts; an item pays the oftener the
    more it has of what counts::

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
        None, or how many attributes are thought to count: a regularised horseshoe in place of
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

    items: Items
    scale: float = 1.0
    sparsity: float | None = None

    name: ClassVar[str] = "logistic-attributes"
    link: ClassVar[str] = "logit"
    dims: ClassVar[dict[str, tuple[str, ...]]] = {"local": ("attribute",)}
    hyper: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        if not isinstance(self.items, Items):
            raise TypeError(
                f"items should be what bayesduel.read_items returned, got {self.items!r}"
            )
        if self.scale is None:
            raise TypeError("scale should be a number or numpy.inf, got None")
        scores.check_scale(self.scale)
        check_sparsity(self.sparsity, self.scale, len(self.items.names))

    @property
    def settings(self) -> dict[str, Any]:
        """Settings without the items, which a fit keeps in a group of their own."""
        return {"scale": self.scale, "sparsity": self.sparsity}

    def example(self) -> tuple["LogisticAttributes", "Pulls"]:
        """Return a model of the same form on a small log; equal for equal settings."""
        from bayesduel.data.pulls import Pulls

        log = Pulls(arms=("0", "1", "2"), n=np.full(3, 2.0), successes=np.ones(3))
        return replace(self, items=EXAMPLE, sparsity=None), log

    def check(self, pulls: "Pulls") -> None:
        """Raise unless the log determines what this model estimates.

        Raises
        ------
        ValueError
            If an item of the log is not in the table; under a flat prior also if the items of
            the log do not tell the attributes apart, or separate what paid from what did not.
        """
        data = self.data(pulls)
        if np.isinf(self.scale):
            names = [*self.items.names, "intercept"]
            design = np.column_stack([data["design"], np.ones(len(data["n"]))])
            check_determined(data["design"], design, data["points"], data["n"], names)

    def data(self, pulls: "Pulls") -> dict[str, np.ndarray]:
        """Return what the likelihood is evaluated on: one cell an item of the log."""
        n, paid = pulls.n, pulls.successes
        return {
            "n": n,
            "log_coefficient": gammaln(n + 1) - gammaln(paid + 1) - gammaln(n - paid + 1),
            "points": paid,
            "design": self.items.matrix(pulls.arms),
        }

    def build(self, pulls: "Pulls", *, centred: bool = True) -> "pm.Model":
        """Return the PyMC model of `pulls`, with dims arm, attribute, cell.

        Parameters
        ----------
        pulls
            The log.
        centred
            Not used: no scale is learned.
        """
        import pymc as pm

        data = self.data(pulls)
        coords = {
            "arm": list(pulls.arms),
            "attribute": list(self.items.names),
            "cell": np.arange(len(data["n"])),
        }
        with pm.Model(coords=coords) as model:
            given = scores.register(data)
            flat = np.isinf(self.scale)
            intercept = pm.Flat("intercept") if flat else pm.Normal("intercept", 0.0, 2.5)
            coefficient = coefficients(self.scale, self.sparsity, data["n"].sum())
            eta = intercept + given["design"] @ coefficient
            eta.name = "eta"
            binomial(eta, given)
            pm.Deterministic("score", eta - eta.mean())
        return model

    def scores(self, posterior: Mapping[str, np.ndarray], arms: tuple[str, ...]) -> np.ndarray:
        """Return the centred utilities of `arms`, shape (..., K), from the parameters."""
        utility = np.asarray(posterior["coefficient"]) @ self.items.matrix(arms).T
        return utility - utility.mean(axis=-1, keepdims=True)

    def log_likelihood(self, posterior: Mapping[str, np.ndarray], pulls: "Pulls") -> np.ndarray:
        """Return the log likelihood of each draw and cell (an item of the log), (draws, cells)."""
        data = self.data(pulls)
        eta = posterior["intercept"][:, None] + posterior["coefficient"] @ data["design"].T
        points, n = data["points"], data["n"]
        return points * log_expit(eta) + (n - points) * log_expit(-eta) + data["log_coefficient"]

    def chance(self, posterior: Mapping[str, np.ndarray], matrix: np.ndarray) -> np.ndarray:
        """Return the chance that items pay, shape (..., m), from their standardised attributes."""
        utility = np.asarray(posterior["coefficient"]) @ matrix.T
        return expit(np.asarray(posterior["intercept"])[..., None] + utility)
