"""What an approximation of a posterior answers, and what those of a density have in common."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.inference.conditional_mode import named_parameters
from bayesduel.inference.draws import Proposals
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.inference.psis import Quality
from bayesduel.system.arguments import Progress

__all__ = ["Approximation", "DensityApproximation"]


@dataclass(frozen=True, eq=False)
class Approximation(ABC):
    """A normalised density that resembles a posterior and can be drawn from."""

    model: Any  # the model whose posterior it resembles, and the log as the model sees it
    cells: Any

    @abstractmethod
    def propose(
        self, n: int, rng: np.random.Generator, *, log_likelihood: bool = False
    ) -> Proposals:
        """Return `n` draws and the log ratio of the model's density to this one's.

        `log_likelihood` says whether to keep that of every cell.
        """

    @abstractmethod
    def parameters(
        self, x: np.ndarray, hyper: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the model's parameters by name, draws first."""

    def summary(self) -> Mapping[str, Any]:
        """Return the group ``laplace``: mode, covariance, grid of the scale; none by default."""
        return {}

    def refined(self, proposals: Proposals, weights: np.ndarray) -> "Approximation | None":
        """Return an approximation fitted to weighted draws of this one; None by default.

        `weights` are normalised, shape (n,).
        """
        return None

    def certified(
        self, proposals: Proposals, rng: np.random.Generator, progress: Progress = None
    ) -> Quality | None:
        """Return another certificate of the draws, without weights; by default these certify."""
        return None


@dataclass(frozen=True, eq=False)
class DensityApproximation(Approximation):
    """A base of approximations of a linear predictor's posterior, whose log density is `density`.

    A subclass says how to ``draw``.
    """

    density: LinearPredictor

    @abstractmethod
    def draw(
        self, n: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return draws x (n, size) and phi (n, q), and their log density here (n,).

        None of so many coefficients that no ratio of densities says anything.
        """

    def propose(
        self, n: int, rng: np.random.Generator, *, log_likelihood: bool = False
    ) -> Proposals:
        x, phi, log_q = self.draw(n, rng)
        if log_q is None:
            unknown = np.full(n, np.nan)
            return Proposals(x, phi, unknown, unknown, None)
        if log_likelihood:
            value, cells = self.density.batch(x, phi)
        else:
            value = self.density.values(x, phi)
            cells = None
        return Proposals(x, phi, value - log_q, value, cells)

    def parameters(
        self, x: np.ndarray, hyper: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        return named_parameters(self.density, x, hyper)
