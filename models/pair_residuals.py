"""Responses of margins with residuals of pairs: margins are off the predictor, pair by pair.

Densities and their arguments are those of :mod:`bayesduel.models.margin_response`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayesduel.models.cells import ModelCells
from bayesduel.models.elementary import Quantity, Size, elementary
from bayesduel.models.margin_response import (
    MarginResponse,
    draw_normal,
    normal,
    observe_margins,
    order_of,
    spread_of,
    with_order,
    without_order,
)
from bayesduel.models.pair_indices import empty_by_pair, n_arms_of, of_pairs, pair_place
from bayesduel.models.response import Derivatives, Predictor
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Arrays, Dims, Named

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["PairResiduals"]


@dataclass(frozen=True, kw_only=True)
class PairResiduals(MarginResponse):
    """Normal margins whose expectation is off the predictor by a residual of each pair.

    The residual is normal about 0, with a learned standard deviation, and common to all duels of
    the pair.

    variances, unit_size: as in :class:`MarginResponse`; "common" or "arm".
    """

    ranks_by_score: ClassVar[bool] = False
    coupled: ClassVar[bool] = True  # by the residual
    criteria_agree: ClassVar[bool] = False  # cycles are possible

    def scales(self, *, flat: bool) -> dict[str, Scale]:
        """Return the deviation of the residuals, and the noise."""
        return {"residual_scale": Scale("half-normal", 0.5), **super().scales(flat=flat)}

    @property
    def dims(self) -> Dims:
        found: Dims = {"residual": ("pair",)}
        if self.variances == "arm":
            found["noise"] = ("arm",)
        return found

    def check(self, duels: "Duels", *, ordered: bool, flat: bool) -> None:
        super().check(duels, ordered=ordered, flat=flat)
        pairs = duels.pairs()
        n = pairs.first_wins + pairs.second_wins + pairs.ties
        if not (n > 1).any():
            raise ValueError(
                "at least one pair should have two duels or more, got "
                f"{len(n)} pairs with one duel each: one duel cannot separate a residual from noise"
            )

    @property
    def _density(self) -> tuple[Any, Any]:
        return perturbed, draw_perturbed

    def _shape(self, parameters: Named) -> Any:
        """Return the deviation of the residuals."""
        return parameters["residual_scale"]

    def respond(self, eta: Quantity, given: Named, parameters: Named) -> dict[str, Any]:
        import pymc as pm

        spread = parameters["residual_scale"]
        variance = self._variance(parameters, given)
        if "pair_of_cell" not in given:
            how = (spread, given, perturbed, draw_perturbed)
            return observe_margins(eta, parameters, variance, *how)
        standard = pm.Normal("residual_standard", 0.0, 1.0, dims="pair")
        residual = pm.Deterministic("residual", spread * standard, dims="pair")
        eta = eta + given["pair_sign"] * residual[given["pair_of_cell"]]
        observe_margins(eta, parameters, variance, 0.0, given, normal, draw_normal)
        return {"residual": residual}

    def log_likelihood(self, eta: np.ndarray, parameters: Named, data: Arrays) -> np.ndarray:
        density, order, variance, shape = self._given(parameters, data)
        if "pair_of_cell" in data:
            residual = np.asarray(parameters["residual"])
            own = residual[:, data["pair_of_cell"]]
            density = normal
            eta = eta + data["pair_sign"] * own
        given = (order, variance, shape, data["n"], data["n_left"])
        return np.asarray(density(data["margins"], eta, *given))

    def derivatives(self, eta: np.ndarray, parameters: Named, data: Arrays) -> Derivatives:
        _, order, variance, shape = self._given(parameters, data)
        ordered = "left_first" not in data and "order" in parameters
        n = data["n"]
        share = data["n_left"] / n
        other = 1 - share
        left, right, _ = without_order(data["margins"], order)
        between = shape**2 + variance / n
        away = share * left + other * right - eta
        turn = 1 - 2 * share
        spread = 4 * n * share * other / variance
        of_sides = spread / 2 * (left - right)
        of_mean = away * turn / between
        return with_order(
            ordered,
            away / between,
            -1 / between,
            of_sides - of_mean,
            turn / between,
            -spread - turn**2 / between,
        )

    def _given(self, parameters: Named, data: Named) -> tuple[Any, Any, Any, Any]:
        rest = {name: v for name, v in data.items() if name != "pair_of_cell"}
        return super()._given(parameters, rest)

    def complete(
        self, posterior: Arrays, eta: Predictor, cells: ModelCells, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the draws with the residuals.

        ``residual`` (draws, pairs), first over second, of all pairs in the order of
        ``triu_indices``, is drawn from its conditional distribution, for a pair that never met
        the population's.
        """
        if "residual" in posterior:
            return dict(posterior)
        data = cells.data
        n_arms = cells.log.n_arms
        first = data["first"]
        second = data["second"]
        n = data["n"]
        place = pair_place(first, second, n_arms)
        spread = posterior["residual_scale"]
        order = order_of(posterior)
        drawn = empty_by_pair(len(spread), n_arms)
        n_pairs = drawn.shape[1]
        for k in range(len(drawn)):
            variance = posterior["noise"][k] ** 2
            if np.ndim(variance):
                variance = variance[first] + variance[second]
            mean, _ = _pooled(data["margins"], order[k], n, data["n_left"])
            of_margins = n / variance
            precision = 1 / spread[k] ** 2 + of_margins
            predicted = eta(slice(k, k + 1))[0]
            away = mean - predicted
            middle = np.zeros(n_pairs)
            middle[place] = of_margins * away / precision
            error = np.full(n_pairs, spread[k])
            error[place] = 1 / np.sqrt(precision)
            drawn[k] = middle + error * rng.standard_normal(n_pairs)
        return {**posterior, "residual": drawn}

    def margin(
        self, eta: np.ndarray, parameters: Named, first: np.ndarray, second: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        residual = np.asarray(parameters["residual"])
        own = of_pairs(residual, first, second, n_arms_of(residual))
        of_first = np.where(first < second, own, -own)
        middle = np.asarray(eta) + of_first
        spread = spread_of(self.variances, parameters, middle, first, second)
        degrees = np.full((*middle.shape[:-1], 1), np.inf)
        return middle, spread, degrees


def perturbed(
    margin: Quantity,
    eta: Quantity,
    order: Quantity,
    variance: Quantity,
    shape: Quantity,
    n: Quantity,
    n_left: Quantity,
) -> Any:
    """Return the log density of a pair's margins with their residual integrated out.

    The residual is normal with variance ``shape**2`` and common to all margins of the pair.
    """
    log = elementary(variance).log
    mean, within = _pooled(margin, order, n, n_left)
    between = shape**2 + variance / n
    log_variance = log(2 * np.pi * variance)
    log_between = log(2 * np.pi * between)
    inside = (n - 1) * log_variance + elementary(n).log(n) + within / variance
    of_mean = (mean - eta) ** 2 / between
    return -0.5 * (inside + log_between + of_mean)


def draw_perturbed(
    eta: np.ndarray,
    order: np.ndarray,
    variance: np.ndarray,
    shape: np.ndarray,
    n: np.ndarray,
    n_left: np.ndarray,
    rng: np.random.Generator,
    size: Size = None,
) -> np.ndarray:
    """Draw residuals, and the statistics of margins given them."""
    moved = eta + shape * rng.standard_normal(eta.shape)
    return draw_normal(moved, order, variance, shape, n, n_left, rng)


def _pooled(
    statistics: Quantity, order: Quantity, n: Quantity, n_left: Quantity
) -> tuple[Any, Any]:
    """Return the mean of a cell's margins without the effect of order, and the squares about it."""
    left, right, scatter = without_order(statistics, order)
    share = n_left / n
    mean = share * left + (1 - share) * right
    of_sides = n * share * (1 - share) * (left - right) ** 2
    return mean, scatter + of_sides
