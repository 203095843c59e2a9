"""What an approximation of a posterior answers, and what those of a density have in common."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayesduel.inference.conditional_mode import named_parameters
from bayesduel.inference.draws import Proposals, Quality
from bayesduel.inference.linear_predictor import LinearPredictor

__all__ = ["Approximation", "DensityApproximation"]


class Approximation(Protocol):
    """A normalised density that resembles a posterior and can be drawn from."""

    @property
    def model(self) -> Any:
        """The model whose posterior it resembles."""

    @property
    def cells(self) -> Any:
        """The log as the model sees it."""

    def propose(
        self,
        n: int,
        rng: np.random.Generator,
        *,
        log_likelihood: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> Proposals:
        """Return `n` draws and the log ratio of the model's density to this one's.

        Parameters
        ----------
        n
            Number of draws.
        rng
            Source of randomness.
        log_likelihood
            Whether to keep the log likelihood of every cell.
        progress
            Called with the share of the work done, from 0 to 1.
        """

    def parameters(
        self, x: np.ndarray, hyper: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the model's parameters by name, draws first."""

    def summary(self) -> Mapping[str, Any]:
        """Return the mode and the grid of the scale, as variables of a Dataset."""

    def refined(self, proposals: Proposals, weights: np.ndarray) -> "Approximation | None":
        """Return an approximation fitted to weighted draws of this one, or None."""

    def certified(
        self,
        proposals: Proposals,
        rng: np.random.Generator,
        progress: Callable[[float], None] | None = None,
    ) -> Quality | None:
        """Return another certificate of the draws as they are, without weights; None of none."""


@dataclass(frozen=True, eq=False)
class DensityApproximation:
    """A base of approximations of a linear predictor's posterior.

    Attributes
    ----------
    model, cells
        What is approximated.
    density
        Its log density.
    """

    model: Any
    cells: Any
    density: LinearPredictor

    def weighed(
        self,
        x: np.ndarray,
        phi: np.ndarray,
        log_q: np.ndarray,
        *,
        log_likelihood: bool,
        progress: Callable[[float], None] | None,
    ) -> Proposals:
        """Return draws x (n, size) and phi (n, q), whose log density here is `log_q` (n,)."""
        if log_likelihood:
            value, cells = self.density.batch(x, phi)
        else:
            value, cells = self.density.values(x, phi), None
        if progress is not None:
            progress(1.0)
        return Proposals(x, phi, value - log_q, value, cells)

    def parameters(
        self, x: np.ndarray, hyper: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the parameters of kept draws by name, draws first."""
        return named_parameters(self.density, x, hyper)

    def certified(
        self,
        proposals: Proposals,
        rng: np.random.Generator,
        progress: Callable[[float], None] | None = None,
    ) -> Quality | None:
        """Return None: the draws are certified by their weights."""
        return None

    def refined(self, proposals: Proposals, weights: np.ndarray) -> Approximation | None:
        """Return None: it is not fitted to its draws."""
        return None
