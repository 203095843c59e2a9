"""The conditional posterior's mode: Newton's method to it, the curvature there, and their names.

Given the scale of what is learned, the posterior of a model with a linear predictor is
log-concave: damped Newton steps find its one mode.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs

from bayesduel.inference.design import centre, uncentre
from bayesduel.inference.gaussian_prior import LOG_2PI
from bayesduel.inference.hyper_grid import Grid, spline
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.models.settings import Arrays

__all__ = [
    "Mode",
    "ascent",
    "centres",
    "cholesky",
    "find_mode",
    "grid_variables",
    "half_log_det",
    "log_scales",
    "named_parameters",
    "score_covariance",
    "solved",
    "spread",
    "standardised",
    "start_at",
]


@dataclass(frozen=True, eq=False)
class Mode:
    """The conditional posterior at one value of the hyperparameter."""

    x: np.ndarray  # free numbers and extra parameters at the mode, shape (size,)
    value: float  # log density there
    factor: np.ndarray  # lower Cholesky factor of the precision there, shape (size, size)
    prior: np.ndarray  # the prior's part of the precision, shape (size, size)

    @property
    def log_marginal(self) -> float:
        """Laplace's approximation of the log marginal density of the hyperparameter."""
        constant = len(self.x) / 2 * LOG_2PI
        return self.value + constant - half_log_det(self.factor)

    @cached_property
    def covariance(self) -> np.ndarray:
        """The inverse of the precision, shape (size, size)."""
        return solved(self.factor, np.eye(len(self.x)))


def find_mode(
    density: LinearPredictor,
    hyper: Any,
    start: np.ndarray | None = None,
    *,
    tolerance: float = 1e-22,
) -> Mode:
    """Return the mode given `hyper`, by Newton's method with backtracking from `start`.

    It stops when the Newton decrement, twice the log density still to be gained, is below
    `tolerance` times the number of parameters (or below rounding error).

    Raises FloatingPointError if there is no mode: the likelihood increases without bound (flat
    priors only).
    """
    x = np.zeros(density.size) if start is None else start
    prior = density.prior(hyper)
    here = density.parts(x, hyper, prior)
    n_terms = float(np.sum(density.data["n"]))
    noise = 1e-15 * n_terms  # of a sum of as many
    for _ in range(200):
        factor, bowl = ascent(here.precision)
        gradient = here.gradient
        step = solved(factor, gradient)
        decrement = float(gradient @ step)
        rounding = 1e-13 * max(1.0, abs(here.value))
        converged = decrement < tolerance * len(x)
        exhausted = decrement < rounding and _small(step, x)
        if converged or exhausted:
            if not bowl:
                raise FloatingPointError("Newton's method ended on a saddle, not at a mode")
            _check_curvature(factor, here.prior)
            return Mode(x, here.value, factor, here.prior)
        length = 1.0
        while True:
            moved = x + length * step
            ahead = density.parts(moved, hyper, prior)
            gained = ahead.value - here.value
            expected = 1e-4 * length * decrement
            if gained >= expected - max(rounding, noise):
                break
            length /= 2
            if length < 1e-12:
                raise FloatingPointError(f"Newton's method found no ascent at hyper = {hyper}")
        x = moved
        here = ahead
        if np.abs(x).max() > 1e4:
            break
    raise FloatingPointError("the likelihood has no maximum: some scores run to infinity")


def _check_curvature(factor: np.ndarray, prior: np.ndarray) -> None:
    """Raise FloatingPointError where the data alone curve the posterior, and do not.

    factor: lower Cholesky factor of the precision. prior: the prior's part of the precision.
    """
    curvature = factor.diagonal()
    flat = prior.diagonal() == 0
    if not flat.any():
        return
    # Rounding may leave a curvature of 1,000 times 2e-16, of which this is a root.
    least = 1e-6 * curvature.max()
    if curvature[flat].min() < least:
        raise FloatingPointError("the posterior has no curvature in some direction")


def start_at(density: LinearPredictor, parameters: Arrays | None) -> np.ndarray | None:
    """Return x (size,) at parameters by name; 0 where one is missing or of another length."""
    if parameters is None:
        return None
    known = dict(parameters)
    if "score" in known:
        known["score_free"] = uncentre(known.pop("score"))
    zero = density.parameters(np.zeros(density.size))
    fitting = {}
    for name, value in zero.items():
        own = known.get(name)
        shape = np.shape(value)
        if own is not None and np.shape(own) == shape:
            fitting[name] = own
    return density.pack(zero | fitting)


def log_scales(density: LinearPredictor, posterior: Arrays) -> np.ndarray:
    """Return the logarithms of the posterior medians of the scales, (q,), or (1,) if none.

    posterior: draws by name, draws first.
    """
    found = [np.zeros(0 if density.hypers else 1)]
    for name in density.hypers:
        if name == "degrees_over_1":
            median = np.median(posterior["degrees"], axis=0) - 1.0
        else:
            median = np.median(posterior[name], axis=0)
        found.append(np.log(np.atleast_1d(median)))
    return np.concatenate(found)


def named_parameters(
    density: LinearPredictor, x: np.ndarray, phi: np.ndarray
) -> dict[str, np.ndarray]:
    """Return parameters by name from x (..., size) and phi (..., q), with centred scores."""
    found = density.parameters(x)
    if "score_free" in found:
        found = {"score": centre(found.pop("score_free"))} | found
    return found | density.hyper_parameters(phi)


def grid_variables(density: LinearPredictor, grid: Grid) -> dict[str, Any]:
    """Return the conditional mode at the best node, and the grid, as variables of a Dataset.

    The mode has its errors; where there are scores it has the covariance of the centred scores.
    """
    mode = grid.conditionals[grid.best]
    dims = density.dims
    made = dict[str, Any]()
    found = density.parameters(mode.x)
    errors = {}
    if "score_free" in found:
        score = centre(found.pop("score_free"))
        covariance = score_covariance(mode, len(score))
        made["score_mode"] = ("arm", score)
        made["score_cov"] = (("arm", "opponent"), covariance)
    else:
        errors = density.parameters(np.sqrt(mode.covariance.diagonal()))
    for ending, values in (("mode", found), ("se", errors)):
        for name, value in values.items():
            own = dims.get(name, ())
            made[f"{name}_{ending}"] = (own, value)
    if len(grid.nodes) > 1:
        made["hyper_node"] = ("node", np.exp(grid.nodes))
        made["hyper_log_density"] = ("node", grid.log_density)
    return made


def centres(grid: Grid, hyper: np.ndarray) -> np.ndarray:
    """Return the mode at each of `hyper`, (n, size), interpolated between those of the nodes."""
    modes = np.stack([conditional.x for conditional in grid.conditionals])
    if len(grid.nodes) == 1:
        return np.repeat(modes, len(hyper), axis=0)
    return spline(grid.nodes, hyper) @ modes


def spread(grid: Grid, hyper: np.ndarray, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised numbers with the covariance at each of `hyper`, and its log volume.

    Roots of the covariance are interpolated between the nodes. With those of the nearest node,
    100 scores that the prior alone holds leave half of the draws effective (of 4,000 draws from a
    million duels of equal arms 1,825; interpolated 3,992).

    hyper: shape (n,).
    normal: shape (n, size).
    Returns numbers (n, size), and the log determinant of the root at each of `hyper` (n,).
    """
    spread_out = np.empty_like(normal)
    log_volume = np.empty(len(hyper))
    for mine, share, below, above in _intervals(grid, hyper):
        standard = normal[mine].T
        at_below = solve_triangular(below.T, standard, lower=False).T
        at_above = solve_triangular(above.T, standard, lower=False).T
        left = 1 - share
        spread_out[mine] = left * at_below + share * at_above
        below_lengths = left / below.diagonal()
        above_lengths = share / above.diagonal()
        lengths = below_lengths + above_lengths
        log_volume[mine] = np.log(lengths).sum(axis=1)
    return spread_out, log_volume


def standardised(grid: Grid, hyper: np.ndarray, away: np.ndarray) -> np.ndarray:
    """Return the standardised numbers (n, size) that :func:`spread` takes to `away`.

    Roots of the precision are interpolated. Where those of neighbours differ by 20 %, the numbers
    are 1 % too large at most.
    """
    found = np.empty_like(away)
    for mine, share, below, above in _intervals(grid, hyper):
        here = away[mine]
        at_below = here @ below
        at_above = here @ above
        left = 1 - share
        found[mine] = left * at_below + share * at_above
    return found


def _intervals(
    grid: Grid, hyper: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield which of `hyper` lie between two nodes, how far, and the factors at both nodes."""
    last = len(grid.nodes) - 1
    place, share = grid.between(hyper)
    for node in np.unique(place):
        mine = place == node
        following = min(node + 1, last)
        below = grid.conditionals[node].factor
        above = grid.conditionals[following].factor
        yield mine, share[mine, None], below, above


def score_covariance(mode: Mode, n_arms: int) -> np.ndarray:
    """Return the covariance of the centred scores at `mode`, shape (K, K)."""
    cut = n_arms - 1
    covariance = mode.covariance[:cut, :cut]
    return centre(centre(covariance).T)


def ascent(precision: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the lower Cholesky factor of a positive definite stand-in of `precision`.

    That is itself where it can be (then the second is True). Where the density is convex in
    some direction, as heavy tails are far out, curvatures count by their size.
    """
    try:
        return cholesky(precision), True
    except FloatingPointError:
        if not np.isfinite(precision).all():
            raise
        values, vectors = np.linalg.eigh(precision)
        size = np.abs(values)
        if values[0] > -1e-9 * size.max():
            raise
        convex = np.maximum(size, 1e-3 * size.max())
        return cholesky((vectors * convex) @ vectors.T), False


def cholesky(precision: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor, by LAPACK without SciPy's checks of every call.

    Raises FloatingPointError if the matrix is not positive definite.
    """
    factor, failed = dpotrf(precision, lower=1, clean=1)
    if failed:
        raise FloatingPointError("the posterior has no curvature in some direction")
    return factor


def half_log_det(factor: np.ndarray) -> float:
    """Return half the log determinant of a matrix, given its Cholesky factor."""
    return float(np.log(factor.diagonal()).sum())


def solved(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solution of a system given the lower Cholesky factor of its matrix."""
    return dpotrs(factor, right, lower=1)[0]


def _small(step: np.ndarray, x: np.ndarray) -> bool:
    largest = max(1.0, float(np.abs(x).max()))
    change = np.abs(step).max()
    return bool(change <= 1e-9 * largest)
