"""A variational Gaussian approximation on a sparse comparison graph, for many arms.

For a logistic likelihood and one score an arm, the normal distribution that is closest to the
posterior given the scale (in Kullback-Leibler divergence from it) has the mean at which the slope
of the log density, averaged over the distribution itself, vanishes, and the averaged curvature as
its precision. Averages of a pair need only the variance of its difference. So nothing is as large
as K x K: the variances come from the diagonal of the precision and from perturbed solutions
(Rao-Blackwell), the mean from conjugate gradients. The scale has a normal distribution on the log
scale, from the slope of the lower bound of its log density. Laplace's method, which takes slope and
curvature at the mode, is wrong at this size: by a third of a standard deviation for arms of many
duels, by several for the scale.

Draws are moved and stretched to these means and standard errors, arm by arm. What the approximation
misses is measured by :mod:`bayesduel.inference.polya_gamma_gibbs`.

References
----------
Opper & Archambeau, "The variational Gaussian approximation revisited", Neural Computation 2009
(equations 9 and 10). Papandreou & Yuille, "Efficient variational inference in large-scale Bayesian
compressed sensing", ICCV Workshops 2011 (variances from perturbed solutions). Deviations: the
variance of a difference has its covariance to first order only; Rao-Blackwell variances.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, ndtri

from bayesduel.inference.comparison_graph import ComparisonGraph, ScorePrecision

__all__ = ["ScoreDraws", "SparseGaussian"]

BLOCK = 64  # draws solved for together
PROBES = (16, 64)  # perturbed solutions for variances while the approximation is fitted
ARM_PROBES = 200_000  # arms times these, about
NODES = 5  # of Gauss-Hermite quadrature
MANY_NODES = 15  # where some difference has a standard deviation above `WIDE`
WIDE = 4.0
INNER = 6  # steps at one value of the scale, at most
ROUNDS = 12  # values of the scale, at most
CLOSE = 0.02  # of a standard deviation of the log scale: how close its mode should be
FORCING = 1e-4  # relative residual of the solutions on the way
DRAWN = 1e-3  # and of those that make draws
STILL = 1e-7  # gain of a step, an arm, below which the mean is found
WORKERS = 2


@dataclass(frozen=True, eq=False)
class ScoreDraws:
    """Draws of scores.

    Attributes
    ----------
    score
        Centred, shape (draws, K), float32.
    scale
        Shape (draws,).
    standard_error
        Of each score, shape (K,): what the draws were stretched to.
    """

    score: np.ndarray
    scale: np.ndarray
    standard_error: np.ndarray


@dataclass(frozen=True, eq=False)
class SparseGaussian:
    """A normal distribution of the scores and of the logarithm of their scale.

    Attributes
    ----------
    graph
        Who met whom.
    typical
        Scale of the half-normal prior of the scale; None where the scale is fixed.
    mean
        Of the scores before centring, shape (K,).
    precision
        Of the scores before centring, given the scale.
    variance
        Of each of them, shape (K,).
    log_scale, log_scale_sd
        Mean and standard deviation of the logarithm of the scale; 0 the latter where it is fixed.
    along
        How the mean moves with the logarithm of the scale, shape (K,).
    """

    graph: ComparisonGraph
    typical: float | None
    mean: np.ndarray
    precision: ScorePrecision
    variance: np.ndarray
    log_scale: float
    log_scale_sd: float
    along: np.ndarray

    @classmethod
    def of(
        cls, graph: ComparisonGraph, scale: float | None, typical: float, rng: np.random.Generator
    ) -> "SparseGaussian":
        """Return the approximation of the posterior of scores on a graph.

        Parameters
        ----------
        graph
            Who met whom, and how it ended.
        scale
            Prior standard deviation of a score; None learns it.
        typical
            Scale of its half-normal prior, where it is learned.
        rng
            Source of the perturbations.

        Raises
        ------
        FloatingPointError
            If some iteration does not converge.
        """
        seed = int(rng.integers(2**63))
        start = 0.0 if scale is None else float(np.log(scale))
        found = cls(
            graph=graph,
            typical=typical if scale is None else None,
            mean=np.zeros(graph.n_arms),
            precision=graph.precision(graph.n / 4, 1.0),
            variance=np.zeros(graph.n_arms),
            log_scale=start,
            log_scale_sd=0.0,
            along=np.zeros(graph.n_arms),
        )._at_mode()
        found = found._at(start, seed, probed=2)
        return found if scale is not None else found._with_scale(seed)

    @property
    def scale(self) -> float:
        """The scale at the mean of its logarithm."""
        return float(np.exp(self.log_scale))

    @property
    def score(self) -> np.ndarray:
        """The mean of the centred scores, shape (K,)."""
        return np.asarray(self.mean - self.mean.mean())

    @property
    def standard_error(self) -> np.ndarray:
        """The standard deviation of each centred score, shape (K,)."""
        return self._standard_error(self.variance)

    def draw(
        self,
        n: int,
        rng: np.random.Generator,
        progress: Callable[[float], None] | None = None,
    ) -> ScoreDraws:
        """Return `n` draws of the scores and their scale.

        Parameters
        ----------
        n
            Number of draws.
        rng
            Source of randomness.
        progress
            Called with the share of the work done, from 0 to 1.
        """
        n_arms = self.graph.n_arms
        score = np.empty((n, n_arms), dtype=np.float32)
        starts = range(0, n, BLOCK)
        sources = rng.spawn(len(starts))

        def fill(k: int) -> np.ndarray:
            here = score[starts[k] : starts[k] + BLOCK]
            drawn, conditional = self._perturbed(len(here), sources[k])
            here[:] = drawn.T
            return np.einsum("ij,ij->i", conditional, conditional, dtype=float)

        squares = np.zeros(n_arms)
        with ThreadPoolExecutor(WORKERS) as pool:
            for done, square in enumerate(pool.map(fill, range(len(starts))), 1):
                squares += square
                if progress is not None:
                    progress(done / len(starts))
        error = self._standard_error(1 / self.precision.diagonal + squares / n)
        away = self.log_scale_sd * _spread_normal(n, rng)
        middle, along = self.score, self.along - self.along.mean()
        score -= score.mean(axis=1, keepdims=True)
        score += np.outer(away, along).astype(np.float32)
        score -= score.mean(axis=0)
        score *= (error / np.maximum(_deviation(score), 1e-30)).astype(np.float32)
        score += middle.astype(np.float32)
        score -= score.mean(axis=1, keepdims=True)
        return ScoreDraws(score, np.exp(self.log_scale + away), error)

    def _standard_error(self, variance: np.ndarray) -> np.ndarray:
        """Return standard errors of centred scores from variances before centring."""
        along = self.along - self.along.mean()
        centred = variance - self.scale**2 / self.graph.n_arms
        return np.sqrt(np.maximum(centred, 1e-12) + (self.log_scale_sd * along) ** 2)

    def _perturbed(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return draws around 0 given the scale, and each arm's mean given the others, (K, n)."""
        right = self.precision.perturbation(n, rng)
        drawn = self.precision.solve_block(right, tolerance=DRAWN)
        right /= self.precision.diagonal[:, None].astype(np.float32)
        return drawn, drawn - right

    # -- fitting, in calling order -------------------------------------------------------------

    def _at_mode(self) -> "SparseGaussian":
        """Return the same at the mode of the scores, by damped Newton steps."""
        graph, tau = self.graph, 1 / self.scale**2
        mean, value = self.mean, self._log_density(self.mean)
        for _ in range(50):
            chance = expit(graph.difference(mean))
            gradient = graph.pull(graph.points - graph.n * chance) - tau * mean
            precision = graph.precision(graph.n * chance * (1 - chance), tau)
            step = precision.solve(gradient, tolerance=FORCING)
            gain, length = float(gradient @ step), 1.0
            while (better := self._log_density(mean + length * step)) < value and length > 1e-6:
                length /= 2
            mean, value = mean + length * step, max(better, value)
            if gain < 1e-3:
                break
        variance = 1 / precision.diagonal
        return replace(self, mean=mean, precision=precision, variance=variance)

    def _log_density(self, mean: np.ndarray) -> float:
        graph, eta = self.graph, self.graph.difference(mean)
        value = graph.points @ eta - graph.n @ np.logaddexp(0, eta)
        return float(value - mean @ mean / (2 * self.scale**2))

    def _at(self, log_scale: float, seed: int, *, probed: int = 1) -> "SparseGaussian":
        """Return the approximation given a scale, from this one.

        Parameters
        ----------
        log_scale
            Its logarithm.
        seed
            Of the perturbations: the same at every scale, so that slopes can be compared.
        probed
            How often variances are computed from perturbed solutions.
        """
        found = replace(self, log_scale=log_scale)
        graph, tau = self.graph, float(np.exp(-2 * log_scale))
        remote = np.maximum(self.variance - 1 / self.precision.diagonal, 0)
        probes = int(np.clip(ARM_PROBES // graph.n_arms, *PROBES))
        for k in range(INNER):
            slope, weight = _averaged(graph, found)
            precision = graph.precision(weight, tau)
            gradient = graph.pull(slope) - tau * found.mean
            step = precision.solve(gradient, tolerance=FORCING)
            found = replace(
                found,
                mean=found.mean + step,
                precision=precision,
                variance=1 / precision.diagonal + remote,
            )
            if k < probed:
                _, conditional = found._perturbed(probes, np.random.default_rng(seed))
                remote = np.einsum("ij,ij->i", conditional, conditional, dtype=float) / probes
                found = replace(found, variance=1 / precision.diagonal + remote)
            elif gradient @ step < STILL * graph.n_arms:
                break
        return found

    def _with_scale(self, seed: int) -> "SparseGaussian":
        """Return the approximation with a learned scale, by secant steps on its logarithm."""
        n_arms = self.graph.n_arms
        found, slope, curvature = self, self._scale_slope(), 0.5 * n_arms
        for _ in range(ROUNDS):
            move = float(np.clip(slope / curvature, -0.25, 0.25))
            if abs(move) < CLOSE / curvature**0.5:
                break
            last, before = found, slope
            found = last._at(last.log_scale + move, seed)
            slope = found._scale_slope()
            secant = (before - slope) / move
            curvature = float(np.clip(secant, 0.05 * n_arms, 2 * n_arms))
        sd = curvature**-0.5
        ahead, behind = (found._at(found.log_scale + s * sd, seed) for s in (1.0, -1.0))
        secant = (behind._scale_slope() - ahead._scale_slope()) / (2 * sd)
        curvature = float(np.clip(secant, 0.02 * n_arms, 2 * n_arms))
        along = (ahead.mean - behind.mean) / (2 * sd)
        return replace(found, log_scale_sd=curvature**-0.5, along=along)

    def _scale_slope(self) -> float:
        """Return the slope in log scale of the lower bound of the scale's log density."""
        assert self.typical is not None
        squared, n_arms = self.scale**2, self.graph.n_arms
        score = self.score
        expected = (score @ score + self.variance.sum()) / squared - 1
        return float(expected - (n_arms - 1) - squared / self.typical**2 + 1)


def _averaged(graph: ComparisonGraph, at: SparseGaussian) -> tuple[np.ndarray, np.ndarray]:
    """Return slope and weight of each pair, averaged over the distribution of its difference."""
    middle = graph.difference(at.mean)
    diagonal, variance = at.precision.diagonal, at.variance
    both = at.precision.weight / (diagonal[graph.first] * diagonal[graph.second])
    spread = variance[graph.first] + variance[graph.second] - 2 * both
    sd = np.sqrt(np.maximum(spread, 0))
    n_nodes = MANY_NODES if sd.max(initial=0) > WIDE else NODES
    nodes, masses = np.polynomial.hermite_e.hermegauss(n_nodes)
    chance, curve = np.zeros_like(middle), np.zeros_like(middle)
    for node, mass in zip(nodes, masses / masses.sum(), strict=True):
        here = expit(middle + node * sd)
        chance += mass * here
        curve += mass * here * (1 - here)
    return graph.points - graph.n * chance, graph.n * curve


def _spread_normal(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return standard normal numbers, one from each of n equally probable intervals, shuffled."""
    level = (rng.permutation(n) + rng.uniform(size=n)) / n
    return np.asarray(ndtri(np.clip(level, 1e-12, 1 - 1e-12)))


def _deviation(score: np.ndarray) -> np.ndarray:
    """Return the standard deviation of columns whose mean is 0."""
    return np.sqrt(np.einsum("ij,ij->j", score, score, dtype=float) / len(score))
