"""Bradley-Terry: every arm has a strength, and the odds of winning are their ratio."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import expit

from bayesduel.models import scores
from bayesduel.models.cells import Seen

if TYPE_CHECKING:
    import pymc as pm

    from bayesduel.data.duels import Duels

__all__ = ["BradleyTerry", "binomial"]


@dataclass(frozen=True, kw_only=True)
class BradleyTerry:
    """Scores on a logit scale, one an arm.

    The story: each arm draws a score; in a duel the first wins with probability
    logistic of the difference::

        scale         ~ HalfNormal(2)                     (if learned)
        score_i       ~ Normal(0, scale), then centred
        Pr(i beats j) = 1 / (1 + exp(score_j - score_i))
        wins_ij       ~ Binomial(n_ij, Pr(i beats j))

    A tie counts half a win for each side (half a success in the likelihood).

    Use it as the first model of any log: it is the maximum-entropy model given every arm's
    number of wins and the only one in which these are sufficient. It assumes that
    preferences are transitive.

    Parameters
    ----------
    scale
        Prior standard deviation of a score, in logits. None learns it: with its
        HalfNormal(2) prior, the win probability of one random arm over another lies
        outside 0.05 to 0.95 for about one pair in five before any duel is seen. A number fixes
        it: with 1, the better of two random arms wins 72 % of its duels on average.
        ``numpy.inf`` is a flat prior: maximum likelihood, with standard errors from the
        Fisher information.

    Raises
    ------
    TypeError, ValueError
        If `scale` is not None or a positive number.

    References
    ----------
    Bradley & Terry, "Rank analysis of incomplete block designs", Biometrika 1952.
    Zermelo, "Die Berechnung der Turnier-Ergebnisse", Mathematische Zeitschrift 1929.
    """

    scale: float | None = None

    name: ClassVar[str] = "bradley-terry"
    link: ClassVar[str] = "logit"
    typical: ClassVar[float] = 2.0  # of the half-normal prior of a learned scale
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

        with pm.Model(coords=scores.coords(duels)) as model:
            data = scores.register(self.data(duels))
            score = scores.scores(self.scale, self.typical, centred=centred)
            self.respond(scores.differences(score, data), data)
            scores.preference(duels, score, pm.math.sigmoid)
        return model

    def data(self, duels: "Duels", seen: Seen | None = None) -> dict[str, np.ndarray]:
        """Return what the likelihood is evaluated on: the tallied cells (those `seen`)."""
        return scores.cells(duels, seen=seen)

    def eta(self, parameters: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
        """Return the linear predictor of cells: first's score minus second's, (..., cells)."""
        return scores.difference(parameters, cells)

    def respond(self, eta: Any, data: Mapping[str, Any]) -> None:
        """Add the outcomes of cells, whose linear predictor is `eta`, to the model in context."""
        binomial(eta, data)

    def chances(self, eta: np.ndarray, parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Return ``win`` and ``loss`` of first where the linear predictor is `eta` (..., n)."""
        return {"win": expit(eta), "loss": expit(-eta)}

    def preference(self, posterior: Mapping[str, Any]) -> np.ndarray:
        """Return P, shape (..., K, K), from ``posterior["score"]``, shape (..., K)."""
        return scores.matrix(posterior, expit)

    def outcome_probabilities(
        self, posterior: Mapping[str, Any], left: np.ndarray, right: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return ``win`` and ``loss`` of `left` against `right`, shape (..., n)."""
        return scores.win_and_loss(posterior, left, right, expit)


def binomial(eta: Any, data: Mapping[str, Any]) -> None:
    """Add the outcomes of cells, whose linear predictor is `eta`, to the model in context."""
    scores.outcomes(eta, data, _log_likelihood, _draw)


def _log_likelihood(points: Any, eta: Any, n: Any, log_coefficient: Any) -> Any:
    import pytensor.tensor as pt

    return points * eta - n * pt.softplus(eta) + log_coefficient


def _draw(
    eta: np.ndarray,
    n: np.ndarray,
    log_coefficient: np.ndarray,
    rng: np.random.Generator,
    size: Any = None,
) -> np.ndarray:
    return scores.drawn_points(expit(eta), n, rng, size)
