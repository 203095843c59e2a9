"""Densities of the margins of a cell, as PyTensor graphs, and draws from them.

Each takes (margins, eta, order, variance, shape, n, n_left): the statistics of
:func:`bayesduel.models.margin_response.cells`, the difference of the two scores, the advantage of
the left side, the variance of a margin, one number more, and the numbers of margins.
"""

from typing import Any

import numpy as np
from scipy import stats

from bayesduel.models import margin_response as margins

__all__ = [
    "draw_normal",
    "draw_pair_student",
    "draw_perturbed",
    "draw_student",
    "normal",
    "pair_student",
    "perturbed",
    "student",
]


def normal(
    margin: Any, eta: Any, order: Any, variance: Any, shape: Any, n: Any, n_left: Any
) -> Any:
    """Return the log density of independent normal margins; `shape` is not looked at."""
    import pytensor.tensor as pt

    rest = margins.squares(margin, eta, order, n, n_left)
    return -0.5 * (n * pt.log(2 * np.pi * variance) + rest / variance)


def student(
    margin: Any, eta: Any, order: Any, variance: Any, shape: Any, n: Any, n_left: Any
) -> Any:
    """Return the log density of `n` equal margins, Student's t with `shape` degrees."""
    import pytensor.tensor as pt

    square = (margin[..., 0] - order - eta) ** 2 / (shape * variance)
    constant = pt.gammaln((shape + 1) / 2) - pt.gammaln(shape / 2)
    each = constant - 0.5 * pt.log(np.pi * shape * variance)
    return n * (each - (shape + 1) / 2 * pt.log1p(square))


def pair_student(
    margin: Any, eta: Any, order: Any, variance: Any, shape: Any, n: Any, n_left: Any
) -> Any:
    """Return the log density of a pair's margins with their variance integrated out.

    It is `variance` times `shape` over a chi-squared of `shape` degrees.
    """
    import pytensor.tensor as pt

    rest = margins.squares(margin, eta, order, n, n_left) / (shape * variance)
    constant = pt.gammaln((shape + n) / 2) - pt.gammaln(shape / 2)
    return constant - n / 2 * pt.log(np.pi * shape * variance) - (shape + n) / 2 * pt.log1p(rest)


def draw_normal(
    eta: Any, order: Any, variance: Any, shape: Any, n: Any, n_left: Any,
    rng: np.random.Generator, size: Any = None,
) -> np.ndarray:  # fmt: skip
    """Draw the statistics of normal margins."""
    return margins.drawn_statistics(eta, order, variance, n, n_left, rng)


def draw_student(
    eta: Any, order: Any, variance: Any, shape: Any, n: Any, n_left: Any,
    rng: np.random.Generator, size: Any = None,
) -> np.ndarray:  # fmt: skip
    """Draw margins, one a cell."""
    drawn = eta + order + np.sqrt(variance) * stats.t.rvs(shape, size=eta.shape, random_state=rng)
    return np.stack([drawn, 0 * drawn, 0 * drawn], axis=-1)


def draw_pair_student(
    eta: Any, order: Any, variance: Any, shape: Any, n: Any, n_left: Any,
    rng: np.random.Generator, size: Any = None,
) -> np.ndarray:  # fmt: skip
    """Draw variances, and the statistics of margins given them."""
    own = variance * shape / rng.chisquare(shape, size=eta.shape)
    return margins.drawn_statistics(eta, order, own, n, n_left, rng)


def perturbed(
    margin: Any, eta: Any, order: Any, variance: Any, shape: Any, n: Any, n_left: Any
) -> Any:
    """Return the log density of a pair's margins with their residual integrated out.

    The residual is normal with variance ``shape**2`` and common to all margins of the pair.
    """
    import pytensor.tensor as pt

    mean, within = margins.pooled(margin, order, n, n_left)
    between = shape**2 + variance / n
    inside = (n - 1) * pt.log(2 * np.pi * variance) + pt.log(n) + within / variance
    return -0.5 * (inside + pt.log(2 * np.pi * between) + (mean - eta) ** 2 / between)


def draw_perturbed(
    eta: Any, order: Any, variance: Any, shape: Any, n: Any, n_left: Any,
    rng: np.random.Generator, size: Any = None,
) -> np.ndarray:  # fmt: skip
    """Draw residuals, and the statistics of margins given them."""
    moved = eta + shape * rng.standard_normal(eta.shape)
    return margins.drawn_statistics(moved, order, variance, n, n_left, rng)
