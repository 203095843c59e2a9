"""PreferenceMatrix: one win probability per pair, nothing assumed between pairs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import betaln

from bayesduel.models.cells import ModelCells, Seen, seen_in
from bayesduel.models.elementary import Quantity, Size
from bayesduel.models.model import PREFERENCE_ARMS, Model
from bayesduel.models.pair_indices import n_arms_of, pair_place
from bayesduel.models.response import Bernoulli, Response, log_coefficient, observe
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Arrays, Dims, Named
from bayesduel.models.term import Terms

if TYPE_CHECKING:
    import pymc as pm


__all__ = ["PreferenceMatrix"]


@dataclass(frozen=True)
class Probabilities(Bernoulli):
    """Win or loss with a probability of each pair's own, of which nothing else depends."""

    score_unit: ClassVar[str] = "probability"
    score_link: ClassVar[None] = None
    ranks_by_score: ClassVar[bool] = False
    criteria_agree: ClassVar[bool] = False
    coupled: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class PreferenceMatrix(Model):
    """One probability for each pair, shrunk towards one half; the log determines how far.

    Generative model: each pair of arms draws its own win probability, and pairs share only the
    concentration of these probabilities::

        concentration ~ LogNormal(log 4, 1)               (if learned)
        theta_ij      ~ Beta(concentration / 2, concentration / 2)
        wins_ij       ~ Binomial(n_ij, theta_ij)
        Pr(i beats j) = theta_ij,  Pr(j beats i) = 1 - theta_ij

    A tie counts half a win for each side (half a success in the likelihood). A pair that
    never met keeps the prior, whose concentration the other pairs inform.

    Use it when preferences may be intransitive, when pairs are well covered, or as the
    yardstick for models that assume more.

    Parameters
    ----------
    concentration
        Prior duels' worth of evidence for one half, in duels. None learns it: the prior's
        90 % interval is 0.8 to 21, and before any duel is seen one pair in twelve lies
        outside 0.05 to 0.95. A number fixes it: 2 is uniform.

    References
    ----------
    Gelman et al., "Bayesian Data Analysis", 3rd ed., section 5.3 (hierarchical
    beta-binomial).

    Examples
    --------
    >>> fit = bd.fit(bd.datasets.load("tennis1990"), bd.models.PreferenceMatrix())
    >>> fit.attrs["method"]
    'laplace'
    """

    concentration: float | None = None

    name: ClassVar[str] = "preference-matrix"
    title: ClassVar[str] = "preference matrix (one probability per pair, no transitivity assumed)"
    terms: ClassVar[Terms] = Terms(())
    response: ClassVar[Response] = Probabilities()
    dims: ClassVar[Dims] = {"theta": ("pair",)}
    ranges: ClassVar[dict[str, str]] = {"concentration": "> 0 and finite"}

    @property
    def scales(self) -> dict[str, Scale]:
        learned = Scale("log-normal", 4.0, 1.0, in_units=False)
        return {"concentration": learned} if self.concentration is None else {}

    def why_not(self, method: str) -> str:
        """Return "" of "conjugate": given the concentration, pairs are."""
        return "" if method == "conjugate" else super().why_not(method)

    def cells(
        self,
        log: Any,
        *,
        unit: str = "",
        seen: Seen | None = None,
        **options: Any,
    ) -> ModelCells:
        if isinstance(log, ModelCells):
            return log
        self.check_teams(log.teams)
        if seen is None:
            seen = seen_in(log, **options)
        half_ties = seen.counts[:, 2:] / 2
        counts = seen.counts[:, :2] + half_ties
        first = seen.columns["first"]
        second = seen.columns["second"]
        turned = first > second
        counts = np.where(turned[:, None], counts[:, ::-1], counts)
        lower = np.minimum(first, second)
        higher = np.maximum(first, second)
        place = pair_place(lower, higher, log.n_arms).astype(np.int32)
        data = {
            "first": lower,
            "second": higher,
            "n": counts.sum(axis=-1),
            "log_coefficient": np.zeros(len(counts)) if unit else log_coefficient(counts),
            "points": counts[:, 0],
            "pair_of_cell": place,
        }
        return ModelCells(log=log, seen=seen, data=data)

    def log_likelihood(self, posterior: Named, cells: ModelCells, unit: str = "") -> np.ndarray:
        """Return the log likelihood of each draw and cell, (draws, cells).

        That of a `unit` "pair" is integrated over its win probability: the probability before
        seeing the pair, given the concentration.

        References
        ----------
        Merkle, Furr & Rabe-Hesketh, "Bayesian comparison of latent variable models:
        conditional versus marginal likelihoods", Psychometrika 2019.
        """
        data = cells.data
        draws = len(posterior["theta"])
        points = data["points"]
        n = data["n"]
        if unit != "pair":
            theta = np.asarray(posterior["theta"], dtype=float)
            win = theta.take(data["pair_of_cell"], axis=1)
            log_win = np.log(np.maximum(win, 1e-300))
            log_loss = np.log1p(-np.minimum(win, 1 - 1e-16))
            return _log_likelihood(points, log_win, log_loss, n, data["log_coefficient"])
        concentration = posterior.get("concentration")
        if concentration is None:
            known = np.nan if self.concentration is None else self.concentration
            concentration = np.full(draws, known)
        half = np.asarray(concentration)[:, None] / 2
        before = betaln(half, half)
        after = betaln(half + points, half + n - points)
        return after - before

    def build(self, log: Any, *, centred: bool = True) -> "pm.Model":
        """Return the PyMC model of a log (or of its cells), with dims arm, opponent, pair, cell.

        It has one parameterisation, whatever `centred` says.
        """
        import pymc as pm
        import pytensor.tensor as pt

        cells = self.cells(log)
        arms = list(cells.log.arms)
        n_arms = len(arms)
        first, second = np.triu_indices(n_arms, 1)
        coords = {
            "arm": arms,
            "opponent": arms,
            "pair": np.arange(len(first)),
            "cell": np.arange(len(cells)),
        }
        with pm.Model(coords=coords) as model:
            data = cells.register()
            if self.concentration is None:
                concentration = self.scales["concentration"].add("concentration", 1.0)
            else:
                concentration = pt.as_tensor(float(self.concentration))
            half = concentration / 2
            theta = pm.Beta("theta", half, half, dims="pair")
            # Logarithms before gathering, so that they stay exact at any log odds.
            win = pt.log(theta)[data["pair_of_cell"]]
            loss = pt.log1p(-theta)[data["pair_of_cell"]]
            given = (win, loss, data["n"], data["log_coefficient"])
            observe("points", data, *given, logp=_log_likelihood, random=_draw)
            if n_arms <= PREFERENCE_ARMS:
                zeros = pt.zeros((n_arms, n_arms))
                upper = zeros[first, second].set(theta)
                lower = zeros[second, first].set(1.0 - theta)
                diagonal = pt.eye(n_arms) / 2
                preference = upper + lower + diagonal
                pm.Deterministic("preference", preference, dims=("arm", "opponent"))
        return model

    def complete(
        self, posterior: Arrays, cells: ModelCells, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the draws: there is nothing else to draw."""
        return dict(posterior)

    def _n_arms(self, posterior: Named) -> int:
        return n_arms_of(posterior["theta"])

    def outcomes(self, posterior: Named, conditions: Named) -> dict[str, np.ndarray]:
        win = self.expected_score(posterior, conditions)
        return {"win": win, "loss": 1.0 - win}

    def expected_score(self, posterior: Named, conditions: Named) -> np.ndarray:
        first = np.asarray(conditions["first"])
        second = np.asarray(conditions["second"])
        itself = first == second
        theta = np.asarray(posterior["theta"])
        place = pair_place(first, second, self._n_arms(posterior))
        of_lower = theta.take(np.where(itself, 0, place), axis=-1)
        win = np.where(first < second, of_lower, 1.0 - of_lower)
        return np.where(itself, 0.5, win)

    def results(self, posterior: Named, conditions: Named) -> np.ndarray:
        outcomes = self.outcomes(posterior, conditions)
        return np.stack([*outcomes.values()], axis=-1)

    def margins(self, posterior: Named, conditions: Named) -> None:
        """Return None: it is a model of who wins."""
        return


def _log_likelihood(
    points: Quantity, log_win: Quantity, log_loss: Quantity, n: Quantity, log_coefficient: Quantity
) -> Any:
    return points * log_win + (n - points) * log_loss + log_coefficient


def _draw(
    log_win: np.ndarray,
    log_loss: np.ndarray,
    n: np.ndarray,
    log_coefficient: np.ndarray,
    rng: np.random.Generator,
    size: Size = None,
) -> np.ndarray:
    drawn = rng.binomial(n.astype(np.int64), np.exp(log_win), size=size)
    return drawn.astype(float)
