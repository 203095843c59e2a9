"""Responses of duels with margins: by how much left beat right.

A cell's margins are those of first over second, as sufficient statistics that keep the margins
in which first was left apart from those in which it was right
(:func:`bayesduel.models.cells.margins_of`). Densities take (margins, eta, order, variance, shape,
n, n_left): the statistics, the difference of the two scores, the side advantage
(0 where `eta` has it), the variance of a margin, one number more, and the numbers of margins.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy import special

from bayesduel.models.cells import (
    ModelCells,
    Seen,
    margins_of,
    seat_columns,
    seats_of_both,
    seen_in,
    votes_of,
)
from bayesduel.models.elementary import Quantity, Size, Unit, elementary
from bayesduel.models.pair_indices import empty_by_pair, n_arms_of, of_pairs, pair_place
from bayesduel.models.response import Derivatives, Predictor, Response, observe, without_own
from bayesduel.models.scale_prior import Scale
from bayesduel.models.settings import Arrays, Dims, Named

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayesduel.data.duels import Duels

__all__ = ["MarginResponse", "Variances"]

Variances = Literal["common", "arm", "pair"]


@dataclass(frozen=True, kw_only=True)
class MarginResponse(Response):
    """Normal or Student margins about the linear predictor.

    Parameters
    ----------
    variances
        "common", "arm" or "pair": which duels share the variance of their noise.
    degrees
        None: normal. A number or "learned": degrees of freedom of Student's t.
    unit_size
        Size of a typical margin; None: the root mean square of the log's margins.

    Examples
    --------
    >>> bd.models.Model(bd.models.MarginResponse(variances="arm")).variances
    'arm'
    """

    variances: Variances = "common"
    degrees: float | Literal["learned"] | None = None
    unit_size: float | None = None

    outcome: ClassVar[str] = "margin"
    score_unit: ClassVar[str] = "units of the margins"
    counts_add_up: ClassVar[bool] = False
    score_scale: ClassVar[float] = 1.0
    coords: ClassVar[Named] = {"statistic": ["mean_left", "mean_right", "scatter"]}
    _tie_rule: ClassVar[str] = "a tie is a margin of 0"

    def scales(self, *, flat: bool) -> dict[str, Scale]:
        found = {}
        if self.variances == "pair":
            found["shrinkage"] = Scale("log-normal", 5.0, 1.2, in_units=False)
        if self.degrees == "learned":
            found["degrees_over_1"] = Scale("log-normal", 8.0, 1.0, in_units=False)
        if self.variances == "arm":
            return found | {"noise": Scale("log-normal", 0.5**0.5, 1.0, dim="arm")}
        return found | {"noise": Scale("flat" if flat else "log-normal", 1.0, 1.0)}

    @property
    def by_vote(self) -> bool:
        """Student margins have no sufficient statistics."""
        return self.degrees is not None

    @property
    def coupled(self) -> bool:
        """Duels of a pair share its variance."""
        return self.variances == "pair"

    @property
    def criteria_agree(self) -> bool:
        """Whether an arm of larger score has the larger row of P: with equal noise only."""
        return self.variances == "common"

    @property
    def dims(self) -> Dims:
        own: dict[str, dict[str, tuple[str, ...]]] = {
            "arm": {"noise": ("arm",)},
            "pair": {"pair_noise": ("pair",)},
        }
        return own.get(self.variances, {})

    def check(self, duels: "Duels", *, ordered: bool, flat: bool) -> None:
        check_margins(duels, flat=flat, order=ordered)

    def unit(self, given: Named) -> Any:
        return given["unit"]

    def data(self, duels: "Duels", seen: Seen, *, explicit: bool) -> dict[str, np.ndarray]:
        """Return the statistics of the margins of each cell, and the ``unit``."""
        found = margins_of(duels, seen)
        if explicit:
            first = seen.columns["first"]
            second = seen.columns["second"]
            place = pair_place(first, second, duels.n_arms)
            found["pair_of_cell"] = place.astype(np.int64)
            found["pair_sign"] = np.where(first < second, 1.0, -1.0)
        found["unit"] = np.array(self.typical_margin(duels))
        return found

    def typical_margin(self, duels: "Duels") -> float:
        """Return the size of a typical margin: as given, else the root mean square of the log's."""
        if self.unit_size is not None:
            return float(self.unit_size)
        votes = votes_of(duels)
        margin = np.asarray(votes.margin)
        if not margin.any():
            raise ValueError("margins should not all be 0: they contain no information")
        mean_square = np.average(margin**2, weights=votes.weight)
        return float(np.sqrt(mean_square))

    def start(self, name: str, cells: ModelCells) -> Any:
        if name in ("shrinkage", "degrees_over_1"):
            return np.log(5.0 if name == "shrinkage" else 8.0)
        unit = float(np.log(cells.data["unit"]))
        if name in ("scale", "noise"):
            return unit
        return unit - np.log(4.0)

    def respond(self, eta: Quantity, given: Named, parameters: Named) -> dict[str, Any]:
        import pytensor.tensor as pt

        shape = self._shape(parameters)
        variance = self._variance(parameters, given)
        density, draw = self._density
        found: dict[str, Any] = {}
        if "pair_of_cell" in given:
            import pymc as pm

            chi = pm.ChiSquared("pair_chi_standard", shape, dims="pair")
            noise = parameters["noise"] * pt.sqrt(shape / chi)
            own = pm.Deterministic("pair_noise", noise, dims="pair")
            found["pair_noise"] = own
            variance = own[given["pair_of_cell"]] ** 2
            density = normal
            draw = draw_normal
        return found | observe_margins(eta, parameters, variance, shape, given, density, draw)

    def _shape(self, parameters: Named) -> Any:
        """Return the shape of the density: shrinkage, degrees of freedom, or 0."""
        if self.variances == "pair":
            return parameters["shrinkage"]
        if self.degrees == "learned":
            if "degrees" in parameters:
                return parameters["degrees"]
            return 1.0 + parameters["degrees_over_1"]
        return float(self.degrees or 0.0)

    def _variance(self, parameters: Named, data: Named) -> Any:
        """Return the variance of the margins of each cell, (..., cells); tensors and arrays."""
        noise = parameters["noise"]
        if self.variances == "arm":
            of_first = noise[..., data["first"]]
            of_second = noise[..., data["second"]]
            return of_first**2 + of_second**2
        return noise[..., None] ** 2 + 0.0 * data["n"]

    def _given(self, parameters: Named, data: Named) -> tuple[Any, Any, Any, Any]:
        """Return density, order, variance and shape of cells, arrays with draws first."""
        density = self._density[0]
        shape = np.asarray(self._shape(parameters))[..., None]
        if "pair_of_cell" in data:
            density = normal
            noise = np.asarray(parameters["pair_noise"])
            variance = noise[..., data["pair_of_cell"]] ** 2
        else:
            known = {**parameters, "noise": np.asarray(parameters["noise"])}
            variance = self._variance(known, data)
        order: Any = 0.0
        if "left_first" not in data and "order" in parameters:
            order = np.asarray(parameters["order"])[..., None]
        return density, order, variance, shape

    def log_likelihood(self, eta: np.ndarray, parameters: Named, data: Arrays) -> np.ndarray:
        density, *given = self._given(parameters, data)
        found = density(data["margins"], eta, *given, data["n"], data["n_left"])
        return np.asarray(found)

    def derivatives(self, eta: np.ndarray, parameters: Named, data: Arrays) -> Derivatives:
        density, order, variance, shape = self._given(parameters, data)
        ordered = "left_first" not in data and "order" in parameters
        margins = data["margins"]
        n = data["n"]
        n_left = data["n_left"]
        if density is student:
            away = margins[:, 0] - eta
            wide = shape * variance
            square = away**2
            both = wide + square
            weight = n * (shape + 1)
            slope = weight * away / both
            bend = weight * (square - wide) / both**2
            return without_own(slope, bend)
        left, right, _ = without_order(margins, order)
        ahead = n_left * (left - eta)
        behind = (n - n_left) * (right - eta)
        of_eta = ahead + behind
        of_order = ahead - behind
        apart = 2 * n_left - n
        if density is normal:
            bend = -n / variance
            return with_order(
                ordered,
                of_eta / variance,
                bend,
                of_order / variance,
                -apart / variance,
                bend,
            )
        wide = shape * variance
        rest = _squares(margins, eta, order, n, n_left)
        square = 1.0 + rest / wide
        weight = (shape + n) / (wide * square)
        turn = 2.0 / (wide * square)
        return with_order(
            ordered,
            weight * of_eta,
            -weight * (n - turn * of_eta**2),
            weight * of_order,
            -weight * (apart - turn * of_eta * of_order),
            -weight * (n - turn * of_order**2),
        )

    @property
    def _density(self) -> tuple[Any, Any]:
        """The log density of a cell, and how to draw from it."""
        if self.variances == "pair":
            return pair_student, draw_pair_student
        if self.degrees is None:
            return normal, draw_normal
        return student, draw_student

    def complete(
        self, posterior: Arrays, eta: Predictor, cells: ModelCells, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the draws with ``degrees`` and ``pair_noise``.

        ``pair_noise`` (draws, pairs), of all pairs in the order of ``triu_indices``, is drawn
        from its conditional distribution, for a pair that never met the population's.
        """
        found = dict(posterior)
        if "degrees_over_1" in found:
            found["degrees"] = 1.0 + found.pop("degrees_over_1")
        if self.variances != "pair" or "pair_noise" in found:
            return found
        data = cells.data
        n = data["n"]
        n_arms = cells.log.n_arms
        place = pair_place(data["first"], data["second"], n_arms)
        shrinkage = found["shrinkage"]
        noise = found["noise"]
        order = order_of(found)
        drawn = empty_by_pair(len(noise), n_arms)
        n_pairs = drawn.shape[1]
        for k in range(len(drawn)):
            freedom = np.full(n_pairs, shrinkage[k])
            freedom[place] += n
            of_prior = shrinkage[k] * noise[k] ** 2
            total = np.full(n_pairs, of_prior)
            middle = eta(slice(k, k + 1))[0]
            rest = _squares(data["margins"], middle, order[k], n, data["n_left"])
            total[place] += rest
            drawn[k] = np.sqrt(total / rng.chisquare(freedom))
        return found | {"pair_noise": drawn}

    def margin(
        self, eta: np.ndarray, parameters: Named, first: np.ndarray, second: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return location (..., n), scale (..., n) and degrees of freedom (..., 1).

        Infinite degrees are the normal distribution.
        """
        eta = np.asarray(eta)
        if self.variances == "pair":
            noise = np.asarray(parameters["pair_noise"])
            own = of_pairs(noise, first, second, n_arms_of(noise))
            spread = np.where(first == second, 1.0, own)
        else:
            spread = spread_of(self.variances, parameters, eta, first, second)
        if self.degrees == "learned":
            degrees = np.asarray(parameters["degrees"])[..., None]
        else:
            known = float(self.degrees or np.inf)
            degrees = np.full((*eta.shape[:-1], 1), known)
        return eta, spread, degrees

    def typical_score(self, eta: np.ndarray, parameters: Named) -> np.ndarray:
        """Return the probability of a positive margin at the typical noise of two arms."""
        noise = np.asarray(parameters["noise"])
        if self.variances == "arm":
            noise = np.sqrt(2 * (noise**2).mean(axis=-1))
        by_draw = (-1, *(1,) * (np.ndim(eta) - 1))
        standard = eta / noise.reshape(by_draw)
        if self.degrees is None:
            return special.ndtr(standard)
        if self.degrees == "learned":
            degrees = np.asarray(parameters["degrees"])
        else:
            degrees = np.full(len(eta), self.degrees)
        return special.stdtr(degrees.reshape(by_draw), standard)

    def outcome_probabilities(
        self, eta: np.ndarray, parameters: Named, first: Any, second: Any
    ) -> dict[str, np.ndarray]:
        """Return ``win`` and ``loss``: probabilities of a positive and a negative margin."""
        middle, spread, degrees = self.margin(eta, parameters, first, second)
        standard = middle / spread
        if self.degrees is None:
            win = special.ndtr(standard)
        else:
            win = special.stdtr(degrees, standard)
        return {"win": win, "loss": 1.0 - win}


def check_margins(duels: "Duels", *, flat: bool, order: bool) -> None:
    """Raise unless the margins of a log leave noise to be estimated.

    Raises ValueError if there are no margins, all are 0, or scores fit them all exactly; under a
    flat prior also if there are no more margins than scores.
    """
    from bayesduel.data.health import components

    votes = votes_of(duels)
    if not votes.margin.any():
        raise ValueError("margins should not all be 0: they contain no information")
    size = duels.n_arms - len(components(duels)) + int(order)
    freedom = duels.n_duels - size
    if freedom <= 0:
        if flat:
            raise ValueError(
                f"scale should be finite for this log, got inf: {duels.n_duels} margins are too "
                f"few to estimate the noise and {size} parameters"
            )
        return
    rest, total = _residual(duels, order)
    if rest <= 1e-20 * total:
        raise ValueError(
            "margins should vary, but the scores fit all margins exactly, so the noise cannot be "
            "estimated: check whether all margins are equal"
        )


# -- densities, and draws from them -------------------------------------------------------


def normal(
    margin: Quantity,
    eta: Quantity,
    order: Quantity,
    variance: Quantity,
    shape: Quantity,
    n: Quantity,
    n_left: Quantity,
) -> Any:
    """Return the log density of independent normal margins; `shape` is not used."""
    rest = _squares(margin, eta, order, n, n_left)
    log_variance = elementary(variance).log(2 * np.pi * variance)
    return -0.5 * (n * log_variance + rest / variance)


def student(
    margin: Quantity,
    eta: Quantity,
    order: Quantity,
    variance: Quantity,
    shape: Quantity,
    n: Quantity,
    n_left: Quantity,
) -> Any:
    """Return the log density of `n` equal margins, Student's t with `shape` degrees."""
    of = elementary(shape)
    log = elementary(variance).log
    away = margin[..., 0] - order - eta
    square = away**2 / (shape * variance)
    power = (shape + 1) / 2
    constant = of.gammaln(power) - of.gammaln(shape / 2)
    each = constant - 0.5 * log(np.pi * shape * variance)
    tail = power * elementary(square).log1p(square)
    return n * (each - tail)


def pair_student(
    margin: Quantity,
    eta: Quantity,
    order: Quantity,
    variance: Quantity,
    shape: Quantity,
    n: Quantity,
    n_left: Quantity,
) -> Any:
    """Return the log density of a pair's margins with their variance integrated out.

    It is `variance` times `shape` over a chi-squared of `shape` degrees.
    """
    of = elementary(variance)
    rest = _squares(margin, eta, order, n, n_left) / (shape * variance)
    power = (shape + n) / 2
    constant = of.gammaln(power) - of.gammaln(shape / 2)
    wide = n / 2 * of.log(np.pi * shape * variance)
    return constant - wide - power * of.log1p(rest)


def draw_student(
    eta: np.ndarray,
    order: np.ndarray,
    variance: np.ndarray,
    shape: np.ndarray,
    n: np.ndarray,
    n_left: np.ndarray,
    rng: np.random.Generator,
    size: Size = None,
) -> np.ndarray:
    """Draw margins, one per cell."""
    from scipy import stats

    standard = stats.t.rvs(shape, size=eta.shape, random_state=rng)
    drawn = eta + order + np.sqrt(variance) * standard
    return np.stack([drawn, 0 * drawn, 0 * drawn], axis=-1)


def draw_pair_student(
    eta: np.ndarray,
    order: np.ndarray,
    variance: np.ndarray,
    shape: np.ndarray,
    n: np.ndarray,
    n_left: np.ndarray,
    rng: np.random.Generator,
    size: Size = None,
) -> np.ndarray:
    """Draw variances, and the statistics of margins given them."""
    own = variance * shape / rng.chisquare(shape, size=eta.shape)
    return draw_normal(eta, order, own, shape, n, n_left, rng)


def with_order(
    ordered: bool,
    slope: np.ndarray,
    bend: np.ndarray,
    own: np.ndarray,
    cross: np.ndarray,
    second: np.ndarray,
) -> Derivatives:
    """Return the derivatives of cells, those in the side advantage where it is one."""
    shape = 0.0 * slope
    bend = bend + shape
    if not ordered:
        return without_own(slope, bend)
    own = own + shape
    total = np.sum(second + shape, axis=-1)
    return Derivatives(
        slope,
        bend,
        own[..., None],
        cross[..., None],
        total[..., None, None],
    )


def observe_margins(
    eta: Quantity,
    parameters: Named,
    variance: Quantity,
    shape: Unit,
    given: Named,
    density: "Callable[..., Any]",
    draw: "Callable[..., Any]",
) -> dict[str, Any]:
    """Add the margins of cells with linear predictor `eta` to the model in context.

    Where cells are unordered pairs the side advantage is not in `eta`.
    """
    import pytensor.tensor as pt

    order = 0.0 if "left_first" in given else parameters.get("order", 0.0)
    known_shape = pt.as_tensor(shape, dtype="float64")
    beside = (pt.as_tensor(order), variance, known_shape, given["n"], given["n_left"])
    how = {"random": draw, "signature": "(),(),(),(),(),()->(3)"}
    return observe("margins", given, eta, *beside, logp=density, **how)


def order_of(posterior: Arrays) -> np.ndarray:
    """Return the side advantage in each draw, 0 where the model has none."""
    n = len(next(iter(posterior.values())))
    return posterior["order"] if "order" in posterior else np.zeros(n)


def spread_of(
    variances: str, parameters: Named, eta: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return the scale of the noise of duels, shape (..., n)."""
    noise = np.asarray(parameters["noise"])
    if variances == "arm":
        return np.hypot(noise[..., first], noise[..., second])
    return np.broadcast_to(noise[..., None], eta.shape)


def _residual(duels: "Duels", order: bool) -> tuple[float, float]:
    """Return the least sum of squares of the margins about any scores, and about 0."""
    seen = seen_in(duels, by_vote=True)
    data = margins_of(duels, seen)
    n_left = data["n_left"]
    n_right = data["n"] - n_left
    mean_left, mean_right, scatter = data["margins"].T
    n_cells = len(n_left)
    rows = np.arange(2 * n_cells)
    design = np.zeros((len(rows), duels.n_arms + 1))
    first = seen.columns["first"]
    second = seen.columns["second"]
    cells = {"first": first, "second": second} | seat_columns(duels.teams, first, second)
    for arm, share in seats_of_both(cells):
        counted = share + 0.0 * arm
        design[rows, np.tile(arm, 2)] += np.tile(counted, 2)
    if order:
        design[:, -1] = np.repeat([1.0, -1.0], n_cells)
    root = np.sqrt(np.concatenate([n_left, n_right]))
    margin = np.concatenate([mean_left, mean_right])
    weighted = design * root[:, None]
    fitted, *_ = np.linalg.lstsq(weighted, margin * root, rcond=None)
    weight = root**2
    residual = margin - design @ fitted
    about_scores = (weight * residual**2).sum()
    about_zero = (weight * margin**2).sum()
    within = scatter.sum()
    return float(about_scores + within), float(about_zero + within)


def without_order(statistics: Quantity, order: Quantity) -> tuple[Any, Any, Any]:
    """Return the sides' mean margins without the effect of order, and the scatter."""
    left = statistics[..., 0] - order
    right = statistics[..., 1] + order
    return left, right, statistics[..., 2]


def _squares(
    statistics: Quantity, eta: Quantity, order: Quantity, n: Quantity, n_left: Quantity
) -> Any:
    """Return the sum of squares of a cell's margins about their expectation."""
    left, right, scatter = without_order(statistics, order)
    of_left = n_left * (left - eta) ** 2
    of_right = (n - n_left) * (right - eta) ** 2
    return scatter + of_left + of_right


def draw_normal(
    eta: np.ndarray,
    order: np.ndarray,
    variance: np.ndarray,
    shape: np.ndarray,
    n: np.ndarray,
    n_left: np.ndarray,
    rng: np.random.Generator,
    size: Size = None,
) -> np.ndarray:
    """Draw the statistics of cells of normal margins, shape (cells, 3); `shape` is not used."""
    sides = np.stack([n_left, n - n_left], axis=-1)
    middle = np.stack([eta + order, eta - order], axis=-1)
    of_means = variance[..., None] / np.maximum(sides, 1.0)
    drawn_means = rng.normal(middle, np.sqrt(of_means))
    means = np.where(sides > 0, drawn_means, 0.0)
    freedom = np.maximum(sides - 1, 0.0).sum(axis=-1)
    drawn = variance * rng.chisquare(np.maximum(freedom, 1.0))
    scatter = np.where(freedom > 0, drawn, 0.0)
    return np.concatenate([means, scatter[..., None]], axis=-1)
