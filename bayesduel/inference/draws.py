"""Draws of a posterior: what an approximation proposes, and what a sampler hands over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from bayesduel.inference.psis import Quality
    from bayesduel.inference.sparse_gaussian import SparseGaussian

__all__ = ["PosteriorDraws", "Proposals", "chains_joined", "inverted", "normalised", "stratified"]


def chains_joined(values: np.ndarray) -> np.ndarray:
    """Return draws (chains, draws, ...) chain after chain, (n, ...)."""
    return values.reshape(-1, *values.shape[2:])


def stratified(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return levels in [0, 1), one in each n-th part, in random order, (n,)."""
    part = rng.permutation(n)
    return (part + rng.uniform(size=n)) / n


def normalised(log_weights: np.ndarray) -> np.ndarray:
    """Return weights with these logarithms, which add up to 1, (n,)."""
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    return weights


def inverted(grid: np.ndarray, log_density: np.ndarray, level: Any) -> Any:
    """Return quantiles at levels in [0, 1) of a density that is linear between points of a grid."""
    height = np.exp(log_density - log_density.max())
    between = (height[1:] + height[:-1]) / 2
    cumulative = np.append(0.0, np.cumsum(between))
    return np.interp(level * cumulative[-1], cumulative, grid)


class Proposals(NamedTuple):
    """Draws of an approximation and their log importance ratios."""

    x: np.ndarray  # unconstrained parameters, shape (n, size)
    hyper: np.ndarray  # hyperparameters on the log scale, shape (n, q)
    log_ratio: np.ndarray  # log density of the model minus that of the approximation, shape (n,)
    log_density: np.ndarray  # log density of the model, shape (n,)
    log_likelihood: np.ndarray | None  # by cell, shape (n, cells), or None


@dataclass(frozen=True, eq=False)
class PosteriorDraws:
    """Equally weighted draws of a model's parameters, and what is known of their quality."""

    posterior: Mapping[str, np.ndarray]  # parameters by name, draws first
    stats: Mapping[str, np.ndarray]  # sample statistics by name, draws first
    log_likelihood: np.ndarray | None  # by cell, shape (draws, cells), or None
    certificate: "Quality"  # what is known of their quality
    # group ``laplace``: mode, covariance, grid of the scale
    extra: Mapping[str, Any] = field(default_factory=dict)
    # the sparse approximation that was drawn from or started at; None by other methods
    approximation: "SparseGaussian | None" = None
