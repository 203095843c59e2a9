"""The exact posterior of a preference matrix: given its concentration, pairs are conjugate.

Each pair's win probability is Beta a posteriori. The concentration, one number, is integrated on a
grid of its logarithm, on which its marginal posterior is a product of Beta functions. Draws need
no correction, so their k-hat is minus infinity.

References
----------
Gelman et al., "Bayesian Data Analysis", 3rd ed., section 5.3 (hierarchical beta-binomial).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln

from bayesduel.inference.approximation import Approximation
from bayesduel.inference.draws import Proposals
from bayesduel.inference.grid_draws import inverted, stratified
from bayesduel.models.pair_indices import empty_by_pair

__all__ = ["ConjugatePairs"]

# With a quarter of the points the draws of `tversky1969` have a standard deviation 0.04 % larger;
# limits of -5 and 10 change it by 1e-6 of itself.
LOG_CONCENTRATION = np.linspace(-3.0, 8.0, 2001)


@dataclass(frozen=True, eq=False)
class ConjugatePairs(Approximation):
    """Exact posterior of a preference matrix."""

    def propose(
        self,
        n: int,
        rng: np.random.Generator,
        *,
        log_likelihood: bool = False,
    ) -> Proposals:
        """Return `n` draws, whose log ratios are 0; see ``Approximation.propose``."""
        data = self.cells.data
        n_arms = self.cells.log.n_arms
        points = data["points"]
        trials = data["n"]
        place = data["pair_of_cell"]
        hyper = self._hyper(n, rng)
        half = np.exp(hyper)[:, None] / 2
        theta = empty_by_pair(n, n_arms)
        theta[:, place] = rng.beta(half + points, half + trials - points)
        every = np.arange(theta.shape[1])
        never = np.setdiff1d(every, place)
        theta[:, never] = rng.beta(half, half, size=(n, len(never)))
        cells = None
        if log_likelihood:
            cells = self.model.log_likelihood({"theta": theta}, self.cells)
        return Proposals(
            theta,
            hyper[:, None],
            np.zeros(n),
            self._evidence(hyper),
            cells,
        )

    def _hyper(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return draws of the log concentration, by inverting its distribution on the grid."""
        if self.model.concentration is not None:
            return np.full(n, np.log(self.model.concentration))
        log_density = self._evidence(LOG_CONCENTRATION)
        return inverted(LOG_CONCENTRATION, log_density, stratified(n, rng))

    def _evidence(self, hyper: np.ndarray) -> np.ndarray:
        """Return the log marginal density at log concentrations, up to a constant, (n,)."""
        points = self.cells.data["points"]
        trials = self.cells.data["n"]
        half = np.exp(hyper)[:, None] / 2
        evidence = -len(points) * betaln(half, half)[:, 0]
        gammas = (
            (points, 1, 1),
            (trials - points, 1, 1),
            (trials, 2, -1),
        )
        for values, times, sign in gammas:
            kinds, count = np.unique(values, return_counts=True)
            log_gamma = gammaln(times * half + kinds)
            evidence += sign * log_gamma @ count
        scales = self.model.scales.values()
        log_prior = sum(scale.log_density(hyper, 1.0) for scale in scales)
        return evidence + log_prior

    def parameters(
        self,
        x: np.ndarray,
        hyper: np.ndarray,
        rng: np.random.Generator,
    ) -> dict[str, np.ndarray]:
        """Return ``theta`` and a learned ``concentration``, draws first."""
        found = {"theta": x}
        if self.model.concentration is None:
            found["concentration"] = np.exp(hyper[:, 0])
        return found
