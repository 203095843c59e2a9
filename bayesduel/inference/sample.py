"""Sample a posterior: propose from an approximation, correct by importance, keep or refuse.

Every approximation answers three questions: ``propose`` (draws with their log importance ratios),
``parameters`` (what the kept draws mean, by name) and ``summary`` (its mode and grid, for the
group ``laplace``). Which one serves a model, the model says.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from bayesduel.inference.conjugate import ConjugatePairs
from bayesduel.inference.draws import PosteriorDraws, Proposals
from bayesduel.inference.laplace import Laplace
from bayesduel.inference.population_monte_carlo import PopulationMonteCarlo
from bayesduel.inference.psis import importance_weights, resample

__all__ = ["APPROXIMATIONS", "Approximation", "sample"]


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

    def widened(self) -> "Approximation | None":
        """Return a wider approximation to try if this one fails, or None."""


APPROXIMATIONS: Mapping[str, Callable[[Any, Any], Approximation]] = {
    "laplace": Laplace.of,
    "population monte carlo": PopulationMonteCarlo.of,
    "conjugate": ConjugatePairs.of,
}


def sample(
    approximation: Approximation,
    n: int,
    rng: np.random.Generator,
    *,
    log_likelihood: bool = False,
    progress: Callable[[float], None] | None = None,
) -> PosteriorDraws:
    """Return `n` equally weighted draws, with their Pareto k-hat.

    Parameters
    ----------
    approximation
        Of the posterior.
    n
        Number of draws.
    rng
        Source of randomness.
    log_likelihood
        Whether to keep the log likelihood of every cell.
    progress
        Called with the share of the work done, from 0 to 1.

    References
    ----------
    Vehtari, Simpson, Gelman, Yao & Gabry, "Pareto smoothed importance sampling", JMLR 2024.
    """
    options: dict[str, Any] = {"log_likelihood": log_likelihood, "progress": progress}
    proposals = approximation.propose(n, rng, **options)
    psis = importance_weights(proposals.log_ratio)
    wider = None if psis.good(n) else approximation.widened()
    if wider is not None:
        again = wider.propose(n, rng, **options)
        if (retried := importance_weights(again.log_ratio)).khat < psis.khat:
            proposals, psis = again, retried
    kept = resample(psis.weights, rng)
    by_cell = proposals.log_likelihood
    drawn = approximation.parameters(proposals.x[kept], proposals.hyper[kept], rng)
    return PosteriorDraws(
        posterior=approximation.model.complete(drawn, approximation.cells, rng),
        stats={
            "lp": proposals.log_density[kept],
            "importance_weight": psis.weights[kept] * n,
        },
        log_likelihood=None if by_cell is None else by_cell[kept],
        khat=psis.khat,
        effective=psis.effective,
        extra=approximation.summary(),
    )
