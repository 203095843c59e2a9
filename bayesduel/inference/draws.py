"""Draws of a posterior: what an approximation proposes, and what a sampler hands over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from bayesduel.inference.psis import Quality
    from bayesduel.inference.sparse_gaussian import SparseGaussian

__all__ = ["PosteriorDraws", "Proposals", "chains_joined"]


def chains_joined(values: np.ndarray) -> np.ndarray:
    """Return draws (chains, draws, ...) chain after chain, (n, ...)."""
    return values.reshape(-1, *values.shape[2:])


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
