"""Thurstone: every arm shows a normal performance around its strength; the larger wins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import ndtr

from bayesduel.models import scores
from bayesduel.models.cells import Seen

if TYPE_CHECKING:
    import pymc as pm

    from bayesduel.data.duels import Duels

__all__ = ["Thurstone"]


@dataclass(frozen=True, kw_only=True)
class Thurstone:
    """Scores on a probit scale, one an arm (Thurstone's Case V).

    The story: each arm draws a score; in each duel both show it with independent normal
    noise of variance 1/2, and the larger wins::

        scale         ~ HalfNormal(1.2)                   (if learned)
        score_i       ~ Normal(0, scale), then centred
        Pr(i beats j) = Phi(score_i - score_j)
        wins_ij       ~ Binomial(n_ij, Pr(i beats j))

    A tie counts half a win for each side (half a success in the likelihood).

    Use it where a duel compares two noisy sums of many small things (perception, points).
    It differs from Bradley-Terry in the tails: upsets of much stronger arms are rarer. It
    assumes that preferences are transitive.

    Parameters
    ----------
    scale
        Prior standard deviation of a score, in probits. None learns it: with its
        HalfNormal(1.2) prior, the win probability of one random arm over another lies outside
        0.05 to 0.95 for about one pair in five before any duel is seen. A number fixes it: with 1,
        the better of two random arms wins 80 % of its duels on average.
        ``numpy.inf`` is a flat prior: maximum likelihood, with standard errors from the
        observed information.

    Raises
    ------
    TypeError, ValueError
        If `scale` is not None or a positive number.

    References
    ----------
    Thurstone, "A law of comparative judgment", Psychological Review 1927, Case V.
    """

    scale: float | None = None

    name: ClassVar[str] = "thurstone"
    link: ClassVar[str] = "probit"
    typical: ClassVar[float] = 1.2  # of the half-normal prior of a learned scale
    tie_outcome: ClassVar[bool] = False

    def __post_init__(self) -> None:
        scores.check_scale(self.scale)

    def build(self, duels: "Duels", *, centred: bool = True) -> "pm.Model":
        """Return the PyMC model of `duels`, with dims arm, opponent, cell.

        Parameters
        ----------
        duels
            The log; only its tallies by unordered pair are used.
        centred
            Parameterisation of a learned scale; the posterior does not depend on it.
        """
        import pymc as pm
        import pytensor.tensor as pt

        with pm.Model(coords=scores.coords(duels)) as model:
            data = scores.register(self.data(duels))
            score = scores.scores(self.scale, self.typical, centred=centred)
            self.respond(scores.differences(score, data), data)
            scores.preference(duels, score, lambda d: pt.erfc(-d / np.sqrt(2.0)) / 2.0)
        return model

    def data(self, duels: "Duels", seen: Seen | None = None) -> dict[str, np.ndarray]:
        """Return what the likelihood is evaluated on: the tallied cells (those `seen`)."""
        return scores.cells(duels, seen=seen)

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the linear predictor of cells: first's score minus second's, (..., cells)."""
        return scores.difference(parameters, cells)

    def respond(self, eta: Any, data: Mapping[str, Any]) -> None:
        """Add the outcomes of cells, whose linear predictor is `eta`, to the model in context."""
        scores.outcomes(eta, data, _log_likelihood, _draw)

    def chances(self, eta: np.ndarray, parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Return ``win`` and ``loss`` of first where the linear predictor is `eta` (..., n)."""
        return {"win": ndtr(eta), "loss": ndtr(-eta)}

    def preference(self, posterior: Mapping[str, Any]) -> np.ndarray:
        """Return P, shape (..., K, K), from ``posterior["score"]``, shape (..., K)."""
        return scores.matrix(posterior, ndtr)

    def outcome_probabilities(
        self, posterior: Mapping[str, Any], left: np.ndarray, right: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return ``win`` and ``loss`` of `left` against `right`, shape (..., n)."""
        return scores.win_and_loss(posterior, left, right, ndtr)


def _log_phi(x: Any) -> Any:
    """Return log Phi(x), accurate in the far tail."""
    import pytensor.tensor as pt

    root = np.sqrt(2.0)
    low = pt.switch(x < 0.0, x, 0.0)  # each branch sees only arguments it is finite at
    high = pt.switch(x < 0.0, 0.0, x)
    tail = pt.log(pt.erfcx(-low / root) / 2.0) - low**2 / 2.0
    return pt.switch(x < 0.0, tail, pt.log1p(-pt.erfc(high / root) / 2.0))


def _log_likelihood(points: Any, eta: Any, n: Any, log_coefficient: Any) -> Any:
    return points * _log_phi(eta) + (n - points) * _log_phi(-eta) + log_coefficient


def _draw(
    eta: np.ndarray,
    n: np.ndarray,
    log_coefficient: np.ndarray,
    rng: np.random.Generator,
    size: Any = None,
) -> np.ndarray:
    return scores.drawn_points(ndtr(eta), n, rng, size)
