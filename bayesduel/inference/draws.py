"""Draws of a posterior: what an approximation proposes, and what a sampler hands over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy.stats import norm

from bayesduel.inference.psis import TAIL, TRUSTED, Tails

if TYPE_CHECKING:
    from bayesduel.inference.sparse_gaussian import SparseGaussian

__all__ = ["COVERED", "Certificate", "PosteriorDraws", "Proposals", "Quality"]

COVERED = 0.75  # of the mass of a tail, at least, should be reached by proposals
SURE = 0.95  # confidence with which a smaller share is taken for one
LEAST = 0.1  # of the draws of a tail, at least, have to be effective


class Proposals(NamedTuple):
    """Draws of an approximation and their log importance ratios.

    Attributes
    ----------
    x
        Unconstrained parameters, shape (n, size).
    hyper
        Hyperparameters on the log scale, shape (n, q).
    log_ratio
        Log density of the model minus that of the approximation, shape (n,).
    log_density
        Log density of the model, shape (n,).
    log_likelihood
        By cell, shape (n, cells), or None.
    """

    x: np.ndarray
    hyper: np.ndarray
    log_ratio: np.ndarray
    log_density: np.ndarray
    log_likelihood: np.ndarray | None


class Quality(Protocol):
    """What is known of the quality of draws, however it was measured."""

    @property
    def khat(self) -> float:
        """Pareto k-hat; NaN where draws were not corrected by importance sampling."""

    @property
    def effective(self) -> float:
        """Effective number of the draws."""

    @property
    def tails(self) -> Tails:
        """What is known of the tails of the parameters."""

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the draws."""

    @property
    def shortfall(self) -> str:
        """What speaks against the draws, as a clause; empty where nothing does."""


@dataclass(frozen=True)
class Certificate:
    """Whether draws that were corrected by importance sampling can be trusted.

    Attributes
    ----------
    khat
        Pareto k-hat; minus infinity where the draws are exact.
    effective
        Effective number of the draws.
    n_draws
        Number of the draws.
    tails
        What is known of the tails of the parameters.
    """

    khat: float
    effective: float
    n_draws: int
    tails: Tails

    @property
    def tail_draws(self) -> float:
        """Number of independent draws that would lie in a tail."""
        return TAIL * self.n_draws

    @property
    def covered_least(self) -> float:
        """Smallest `tails.covered` that may be `COVERED` but for chance, by Bonferroni's bound."""
        errors = float(norm.isf((1 - SURE) / self.tails.n_tails))
        return COVERED - errors * (COVERED / self.tail_draws) ** 0.5

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the draws."""
        return not self.shortfall

    @property
    def shortfall(self) -> str:
        """What speaks against the draws, as a clause; empty where nothing does."""
        if not self.khat < TRUSTED:
            return f"k-hat {self.khat:.2f} is not below {TRUSTED}"
        if self.effective < self.n_draws / 2:
            return f"{self.effective:,.0f} effective draws are fewer than half of {self.n_draws:,}"
        if self.tails.covered < self.covered_least:
            return (
                f"a tail of a parameter has {self.tails.covered:.2f} times as many proposals as "
                f"independent draws would have, less than {self.covered_least:.2f}"
            )
        if self.tails.effective < LEAST * self.tail_draws:
            return (
                f"{self.tails.effective:.1f} effective draws in a tail of a parameter are fewer "
                f"than {LEAST * self.tail_draws:.1f}"
            )
        return ""

    def __str__(self) -> str:
        """Return the figures of the certificate."""
        return (
            f"k-hat {self.khat:.2f}, {self.effective:,.0f} effective draws of {self.n_draws:,}, "
            f"{self.tails.effective:,.0f} in the thinnest tail"
        )


@dataclass(frozen=True, eq=False)
class PosteriorDraws:
    """Equally weighted draws of a model's parameters, and what is known of their quality.

    Attributes
    ----------
    posterior
        Parameters by name, draws first.
    stats
        Sample statistics by name, draws first.
    log_likelihood
        By cell, shape (draws, cells), or None.
    certificate
        What is known of their quality.
    extra
        Group ``laplace``: mode, covariance, grid of the scale.
    approximation
        The sparse approximation that was drawn from or started at; None by other methods.
    """

    posterior: Mapping[str, np.ndarray]
    stats: Mapping[str, np.ndarray]
    log_likelihood: np.ndarray | None
    certificate: Quality
    extra: Mapping[str, Any] = field(default_factory=dict)
    approximation: "SparseGaussian | None" = None
