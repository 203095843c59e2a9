"""PreferenceMatrix: one win probability a pair, nothing assumed between pairs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayesduel.models import scores

if TYPE_CHECKING:
    import pymc as pm

    from bayesduel.data.duels import Duels

__all__ = ["PreferenceMatrix"]


@dataclass(frozen=True, kw_only=True)
class PreferenceMatrix:
    """One probability for each pair, shrunk towards one half as far as the log says.

    The story: each pair of arms draws its own win probability, and pairs know nothing of
    each other beyond how decided pairs tend to be::

        concentration ~ LogNormal(log 4, 1)               (if learned)
        theta_ij      ~ Beta(concentration / 2, concentration / 2)
        wins_ij       ~ Binomial(n_ij, theta_ij)
        Pr(i beats j) = theta_ij,  Pr(j beats i) = 1 - theta_ij

    A tie counts half a win for each side (half a success in the likelihood). A pair that
    never met keeps the prior, as decided as the other pairs are: wide.

    Use it when preferences may be intransitive, when pairs are well covered, or as the
    yardstick for models that assume more.

    Parameters
    ----------
    concentration
        Prior duels' worth of evidence for one half, in duels. None learns it: the prior's
        90 % interval is 0.8 to 21, and before any duel is seen one pair in twelve lies
        outside 0.05 to 0.95. A number fixes it: 2 is uniform.

    Raises
    ------
    TypeError, ValueError
        If `concentration` is not None or a positive finite number.

    References
    ----------
    Gelman et al., "Bayesian Data Analysis", 3rd ed., section 5.3 (hierarchical
    beta-binomial).
    """

    concentration: float | None = None

    name: ClassVar[str] = "preference-matrix"
    link: ClassVar[str] = "identity"
    tie_outcome: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.concentration is None:
            return
        if isinstance(self.concentration, bool) or not isinstance(self.concentration, int | float):
            raise TypeError(f"concentration should be None or a number, got {self.concentration!r}")
        if not 0 < self.concentration < np.inf:
            raise ValueError(f"concentration should be > 0, finite, got {self.concentration}")

    def build(self, duels: "Duels", *, centred: bool = True) -> "pm.Model":
        """Return the PyMC model of `duels`, with dims arm, opponent, pair, cell.

        Parameters
        ----------
        duels
            The log; only its tallies by unordered pair are used.
        centred
            Accepted for the models' common form; this model has one parameterisation.
        """
        import pymc as pm
        import pytensor.tensor as pt

        n_arms = duels.n_arms
        first, second = np.triu_indices(n_arms, 1)
        coords = scores.coords(duels) | {"pair": np.arange(len(first))}
        with pm.Model(coords=coords) as model:
            data = scores.register(self.data(duels))
            if self.concentration is None:
                concentration = pm.LogNormal("concentration", np.log(4.0), 1.0)
            else:
                concentration = pt.as_tensor(float(self.concentration))
            theta = pm.Beta("theta", concentration / 2, concentration / 2, dims="pair")
            # Logarithms before gathering, so that they stay exact at any log odds.
            pm.CustomDist(
                scores.outcome_name,
                pt.log(theta)[data["pair_of_cell"]],
                pt.log1p(-theta)[data["pair_of_cell"]],
                data["n"],
                data["log_coefficient"],
                logp=_log_likelihood,
                random=_draw,
                observed=data["points"],
                dims="cell",
            )
            if n_arms <= scores.PREFERENCE_ARMS:
                upper = pt.zeros((n_arms, n_arms))[first, second].set(theta)
                lower = pt.zeros((n_arms, n_arms))[second, first].set(1.0 - theta)
                half = pt.eye(n_arms) / 2
                pm.Deterministic("preference", upper + lower + half, dims=("arm", "opponent"))
        return model

    def data(self, duels: "Duels") -> dict[str, np.ndarray]:
        """Return what the likelihood is evaluated on: the tallied cells, and each one's pair."""
        arrays = scores.cells(duels)
        place = place_of(arrays["first"], arrays["second"], duels.n_arms)
        return arrays | {"pair_of_cell": place.astype(np.int32)}

    def unmet(self, concentration: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the win probabilities of `n` pairs that never met: the prior, (draws, n).

        `concentration` has shape (draws,).
        """
        half = concentration[:, None] / 2
        return rng.beta(half, half, size=(len(half), n))

    def integrated(
        self, posterior: Mapping[str, Any], points: np.ndarray, n: np.ndarray, draws: int
    ) -> np.ndarray:
        """Return the log probability of whole pairs' outcomes in their order, (draws, pairs).

        Integrated over what only that pair tells of, its win probability: the probability
        before seeing the pair, given the concentration. `points` are the first arms' wins
        (half a win for a tie) in `n` duels, shape (pairs,).

        References
        ----------
        Merkle, Furr & Rabe-Hesketh, "Bayesian comparison of latent variable models:
        conditional versus marginal likelihoods", Psychometrika 2019.
        """
        from scipy.special import betaln

        fixed = np.full(draws, np.nan if self.concentration is None else self.concentration)
        half = np.asarray(posterior.get("concentration", fixed))[:, None] / 2
        return betaln(half + points, half + n - points) - betaln(half, half)

    def preference(self, posterior: Mapping[str, Any]) -> np.ndarray:
        """Return P, shape (..., K, K), from ``posterior["theta"]``, shape (..., K (K - 1) / 2)."""
        theta = np.asarray(posterior["theta"])
        n_arms = round((1 + np.sqrt(1 + 8 * theta.shape[-1])) / 2)
        first, second = np.triu_indices(n_arms, 1)
        result = np.full((*theta.shape[:-1], n_arms, n_arms), 0.5)
        result[..., first, second] = theta
        result[..., second, first] = 1.0 - theta
        return result

    def outcome_probabilities(
        self, posterior: Mapping[str, Any], left: np.ndarray, right: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return ``win`` and ``loss`` of `left` against `right`, shape (..., n)."""
        theta = np.asarray(posterior["theta"])
        n_arms = round((1 + np.sqrt(1 + 8 * theta.shape[-1])) / 2)
        place = place_of(np.minimum(left, right), np.maximum(left, right), n_arms)
        stronger = theta[..., np.where(left == right, 0, place)]
        win = np.where(left < right, stronger, 1.0 - stronger)
        win = np.where(left == right, 0.5, win)
        return {"win": win, "loss": 1.0 - win}


def place_of(first: np.ndarray, second: np.ndarray, n_arms: int) -> np.ndarray:
    """Return the place of each pair, ``first < second``, among all pairs in row order."""
    low, high = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    return low * (2 * n_arms - low - 1) // 2 + high - low - 1


def _log_likelihood(points: Any, log_win: Any, log_loss: Any, n: Any, log_coefficient: Any) -> Any:
    return points * log_win + (n - points) * log_loss + log_coefficient


def _draw(
    log_win: np.ndarray,
    log_loss: np.ndarray,
    n: np.ndarray,
    log_coefficient: np.ndarray,
    rng: np.random.Generator,
    size: Any = None,
) -> np.ndarray:
    return scores.drawn_points(np.exp(log_win), n, rng, size)
