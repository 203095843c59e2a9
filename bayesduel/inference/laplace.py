"""Laplace's method: Newton to the mode, curvature there, draws, corrected.

Given the scale of what is learned, the posterior of a model with a linear predictor is
log-concave: one mode, found by damped Newton steps, and a normal distribution around it. The
scale itself is integrated on its own grid (:mod:`bayesduel.inference.hyper_grid`). The draws of
this mixture of normal distributions are proposals; their importance ratios against the model's own
density correct and certify them.

References
----------
Tierney & Kadane, "Accurate approximations for posterior moments and marginal densities", JASA
1986. Rue, Martino & Chopin, "Approximate Bayesian inference for latent Gaussian models by using
integrated nested Laplace approximations", JRSS B 2009.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.inference.approximation import DensityApproximation
from bayesduel.inference.conditional_mode import (
    Mode,
    centres,
    find_mode,
    grid_variables,
    spread,
    start_at,
)
from bayesduel.inference.draws import Proposals
from bayesduel.inference.gaussian_prior import LOG_2PI
from bayesduel.inference.hyper_grid import Grid, explore
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.inference.skewed_laplace import SkewedLaplace

__all__ = ["LaplaceApproximation", "conditionals"]


@dataclass(frozen=True, eq=False)
class LaplaceApproximation(DensityApproximation):
    """A mixture of normal distributions over the grid of one hyperparameter."""

    grid: Grid  # of the hyperparameter, with the conditional mode at each node

    @classmethod
    def of(
        cls, density: LinearPredictor, cells: Any, near: Mapping[str, np.ndarray] | None = None
    ) -> "LaplaceApproximation":
        """Return the approximation of a posterior, given its density.

        The search for the first mode starts at the parameters `near`, by name, else at 0.

        Raises FloatingPointError if the posterior has no mode.
        """
        modes = conditionals(density, start_at(density, near))
        return cls(density.model, cells, density, modes)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return `n` draws and their log density; see ``DensityApproximation.draw``."""
        density = self.density
        grid = self.grid
        hyper, log_proposal = grid.draw(n, rng)
        normal = rng.standard_normal((n, density.size))
        away, log_volume = spread(grid, hyper, normal)
        square = (normal**2).sum(axis=1)
        log_q = log_proposal - 0.5 * square - log_volume
        log_q -= density.size / 2 * LOG_2PI
        x = centres(grid, hyper) + away
        return x, hyper[:, None], log_q

    def summary(self) -> dict[str, Any]:
        return grid_variables(self.density, self.grid)

    def refined(self, proposals: Proposals, weights: np.ndarray) -> SkewedLaplace:
        """Return the approximation by skewed densities; of the draws nothing is needed yet."""
        return SkewedLaplace.of(self.model, self.cells, self.density, self.grid)


def conditionals(density: LinearPredictor, start: np.ndarray | None = None) -> Grid:
    """Return the grid of the hyperparameter with the mode at each node.

    The search for the first mode begins at `start`, shape (size,), else at 0.
    """
    if density.hyper is None:
        mode = find_mode(density, 0.0, start)
        log_density = np.array([mode.log_marginal])
        return Grid(np.zeros(1), log_density, (mode,))

    def evaluate(value: float, near: Mode | None) -> tuple[float, Mode]:
        here = start if near is None else near.x
        mode = find_mode(density, value, here, tolerance=1e-10)
        return mode.log_marginal, mode

    return explore(evaluate, 0.0)
