"""A variational Gaussian approximation on a sparse comparison graph, for many arms.

For a logistic likelihood and one score per arm, the normal distribution that is closest to the
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

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, ndtri

from bayesduel.inference.comparison_graph import BorderedPrecision, ComparisonGraph
from bayesduel.inference.grid_draws import stratified
from bayesduel.models.model import NODES, WEIGHTS
from bayesduel.system.arguments import Progress
from bayesduel.system.cost import CostLimit

__all__ = ["ScoreDraws", "SparseGaussian"]

# Figures here and below are of 15,000 votes of 3,000 arms, 4,000 draws, which take 1.4 s; shifts
# are in standard deviations.
BLOCK = 64  # draws solved for together; with 16 a fit takes 1.9 s
# Perturbed solutions for variances while the approximation is fitted. Of one arm the variance
# beyond that of its own duels then has a relative error of 35 % with 16 and 18 % with 64, (2 /
# n)^0.5; the errors of arms are independent.
PROBES = CostLimit(total=200_000, least=16, most=64)


@dataclass(frozen=True, eq=False)
class ScoreDraws:
    """Draws of scores."""

    score: np.ndarray  # centred, shape (draws, K), float32
    scale: np.ndarray  # shape (draws,)
    standard_error: np.ndarray  # of each score, shape (K,): what the draws were stretched to
    effect: np.ndarray  # coefficients of the columns beside the scores, shape (draws, p)


@dataclass(frozen=True, eq=False)
class SparseGaussian:
    """A normal distribution of scores, coefficients and the logarithm of the scores' scale."""

    graph: ComparisonGraph  # who met whom
    # scale of the half-normal prior of the scale; None where the scale is fixed
    typical: float | None
    mean: np.ndarray  # of the scores before centring, shape (K,)
    effect: np.ndarray  # mean of the coefficients of the columns beside the scores, shape (p,)
    # of the scores before centring and the coefficients, given the scale
    precision: BorderedPrecision
    variance: np.ndarray  # of each centred score given the coefficients, shape (K,)
    # mean and standard deviation of the logarithm of the scale; 0 the latter where it is fixed
    log_scale: float
    log_scale_sd: float
    # how the means of scores and coefficients move with the logarithm of the scale, shapes (K,) and
    # (p,)
    along: np.ndarray
    effect_along: np.ndarray

    @classmethod
    def of(
        cls,
        graph: ComparisonGraph,
        scale: float | None,
        typical: float,
        rng: np.random.Generator,
    ) -> "SparseGaussian":
        """Return the approximation of the posterior of scores on a graph.

        `scale` is the prior standard deviation of a score; None learns it, with a half-normal prior
        of the scale `typical`.

        Raises FloatingPointError if some iteration does not converge.
        """
        seed = int(rng.integers(2**63))
        learned = scale is None
        log_scale = 0.0 if scale is None else float(np.log(scale))
        by_arm = np.zeros(graph.n_arms)
        by_column = np.zeros(len(graph.tightness))
        weight = graph.n / 4  # of even duels
        start = cls(
            graph=graph,
            typical=typical if learned else None,
            mean=by_arm,
            effect=by_column,
            precision=graph.bordered(weight, 1.0),
            variance=by_arm,
            log_scale=log_scale,
            log_scale_sd=0.0,
            along=by_arm,
            effect_along=by_column,
        )
        at_mode = start._at_mode()
        found = at_mode._at(log_scale, seed, probed=2)
        if learned:
            return found._with_scale(seed)
        return found

    @property
    def scale(self) -> float:
        """The scale at the mean of its logarithm."""
        return float(np.exp(self.log_scale))

    @property
    def score(self) -> np.ndarray:
        """The mean of the centred scores, shape (K,)."""
        return np.asarray(self.mean - self.mean.mean())

    @property
    def score_along(self) -> np.ndarray:
        """How the centred scores move with the logarithm of the scale, shape (K,)."""
        return np.asarray(self.along - self.along.mean())

    @property
    def standard_error(self) -> np.ndarray:
        """The standard deviation of each centred score, shape (K,)."""
        return self._standard_error(self.variance)

    @property
    def effect_error(self) -> np.ndarray:
        """The standard deviation of each coefficient, shape (p,)."""
        own = self.precision.covariance.diagonal()
        of_scale = (self.log_scale_sd * self.effect_along) ** 2
        return np.sqrt(own + of_scale)

    def draw(
        self,
        n: int,
        rng: np.random.Generator,
        progress: Progress = None,
    ) -> ScoreDraws:
        """Return `n` draws of the scores, the coefficients and the scale."""
        n_arms = self.graph.n_arms
        score = np.empty((n, n_arms), dtype=np.float32)
        starts = range(BLOCK, n, BLOCK)
        blocks = np.split(score, starts)
        sources = rng.spawn(len(blocks))

        def fill(block: np.ndarray, source: np.random.Generator) -> np.ndarray:
            drawn, square = self._perturbed(len(block), source)
            block[:] = drawn.T
            return square

        squares = np.zeros(n_arms)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            filled = pool.map(fill, blocks, sources)
            for done, square in enumerate(filled, 1):
                squares += square
                if progress is not None:
                    progress(done / len(blocks))
        own = self.precision.scores.conditional_variance
        remote = squares / n
        error = self._standard_error(own + remote)
        level = stratified(n, rng)
        inside = np.clip(level, 1e-12, 1 - 1e-12)  # quantiles of 0 and 1 are infinite
        away = self.log_scale_sd * ndtri(inside)
        root = np.linalg.cholesky(self.precision.covariance)
        standard = rng.standard_normal((n, len(self.effect)))
        effect = standard @ root.T
        by_effects = effect @ self.precision.along.T
        by_scale = np.outer(away, self.score_along)
        score -= score.mean(axis=1, keepdims=True)
        score += by_scale.astype(np.float32)
        score -= by_effects.astype(np.float32)
        _stretch(score, error)
        score += self.score.astype(np.float32)
        score -= score.mean(axis=1, keepdims=True)
        effect += np.outer(away, self.effect_along)
        _stretch(effect, self.effect_error)
        return ScoreDraws(
            score=score,
            scale=np.exp(self.log_scale + away),
            standard_error=error,
            effect=effect + self.effect,
        )

    def averaged(self) -> tuple[np.ndarray, np.ndarray]:
        """Return slope and weight of each cell, averaged over the distribution of its predictor."""
        graph = self.graph
        middle = graph.eta(self.mean, self.effect)
        variance = self._spread()
        sd = np.sqrt(variance)
        chance = np.zeros_like(middle)
        curve = np.zeros_like(middle)
        for node, mass in zip(NODES, WEIGHTS, strict=True):
            eta = middle + node * sd
            here = expit(eta)
            weighted = mass * here
            chance += weighted
            curve += weighted * (1 - here)
        expected = graph.n * chance
        return graph.points - expected, graph.n * curve

    def _spread(self) -> np.ndarray:
        """Return the variance of each cell's predictor, (cells,)."""
        graph = self.graph
        precision = self.precision
        variance = self.variance
        first = graph.first
        second = graph.second
        diagonal = precision.scores.diagonal
        weight = precision.scores.weight[graph.pair]
        product = diagonal[first] * diagonal[second]
        covariance = weight / product  # to the first order
        both = variance[first] + variance[second]
        spread = both - 2 * covariance
        along = graph.difference(precision.along)
        reach = graph.columns - along
        spread += np.einsum("cp,pq,cq->c", reach, precision.covariance, reach)
        return np.maximum(spread, 0)

    def _standard_error(self, variance: np.ndarray) -> np.ndarray:
        """Return standard errors from variances of centred scores given the coefficients."""
        given_scale = variance + self.precision.added
        whole = np.maximum(given_scale, 1e-12)
        of_scale = (self.log_scale_sd * self.score_along) ** 2
        return np.sqrt(whole + of_scale)

    def _perturbed(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return draws around 0 given the rest, (K, n), and what they say of remote variance.

        That is the sum over draws of the squares of each arm's mean given the others, (K,), less
        the variance of the mean of all scores, which is known and independent of the centred ones.
        """
        precision = self.precision.scores
        right = precision.perturbation(n, rng)
        drawn = precision.solve_block(right)
        drawn -= _column_means(drawn)
        right -= _column_means(right)
        right /= precision.diagonal[:, None].astype(np.float32)
        conditional = drawn - right
        squares = np.einsum("ij,ij->i", conditional, conditional, dtype=float)
        tau = precision.tau
        share = tau / precision.diagonal
        of_mean = (1 - share) ** 2 - 1
        known = n * of_mean / (tau * len(drawn))
        return drawn, squares + known

    # -- fitting, in calling order -------------------------------------------------------------

    def _at_mode(self) -> "SparseGaussian":
        """Return the same at the mode of scores and coefficients, by damped Newton steps."""
        graph = self.graph
        tau = 1 / self.scale**2
        found = self
        value = self._log_density()
        for _ in range(50):
            eta = graph.eta(found.mean, found.effect)
            chance = expit(eta)
            expected = graph.n * chance
            residual = graph.points - expected
            right, other = found._gradient(residual)
            weight = expected * (1 - chance)
            precision = graph.bordered(weight, tau)
            step, turn = precision.solve(right, other)
            gain = right @ step + other @ turn
            length = 1.0
            while True:
                moved = found._moved(length * step, length * turn)
                better = moved._log_density()
                if better >= value or length <= 1e-6:
                    break
                length /= 2
            found = replace(moved, precision=precision)
            value = max(better, value)
            if gain < 1e-3:
                break
        return replace(found, variance=precision.scores.conditional_variance)

    def _moved(self, step: np.ndarray, turn: np.ndarray) -> "SparseGaussian":
        """Return the same with other means of the scores, (K,), and of the coefficients, (p,)."""
        return replace(
            self,
            mean=self.mean + step,
            effect=self.effect + turn,
        )

    def _log_density(self) -> float:
        graph = self.graph
        mean = self.mean
        effect = self.effect
        eta = graph.eta(mean, effect)
        log_normaliser = np.logaddexp(0, eta)
        value = graph.points @ eta - graph.n @ log_normaliser
        value -= graph.tightness @ effect**2 / 2
        twice_variance = 2 * self.scale**2
        of_scores = mean @ mean / twice_variance
        return float(value - of_scores)

    @property
    def _tau(self) -> float:
        """The prior precision of a score."""
        return float(np.exp(-2 * self.log_scale))

    def _gradient(self, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient in scores and coefficients, given that in each predictor."""
        graph = self.graph
        score = graph.pull(slope) - self._tau * self.mean
        pulled = graph.columns.T @ slope
        effect = pulled - graph.tightness * self.effect
        return score, effect

    def _at(self, log_scale: float, seed: int, *, probed: int = 1) -> "SparseGaussian":
        """Return the approximation given a scale, from this one.

        log_scale: its logarithm.
        seed: of the perturbations: the same at every scale, so that slopes can be compared.
        probed: how often variances are computed from perturbed solutions.
        """
        found = replace(self, log_scale=log_scale)
        graph = self.graph
        tau = found._tau
        remote = self.variance - self.precision.scores.conditional_variance
        probes = PROBES.times(graph.n_arms)
        for k in range(6):  # with 3 the scale shifts by 0.006
            slope, weight = found.averaged()
            precision = graph.bordered(weight, tau)
            right, other = found._gradient(slope)
            step, turn = precision.solve(right, other)
            own = precision.scores.conditional_variance
            moved = found._moved(step, turn)
            found = replace(moved, precision=precision, variance=own + remote)
            if k < probed:
                rng = np.random.default_rng(seed)
                _, squares = found._perturbed(probes, rng)
                remote = squares / probes
                found = replace(found, variance=own + remote)
                continue
            gain = right @ step + other @ turn
            # In nats. With a tenth of 1e-7 per arm nothing changes, with ten times of it the scale
            # shifts by 0.005, with a thousand times by 0.06.
            if gain < 1e-7 * graph.n_arms:
                break
        return found

    def _with_scale(self, seed: int) -> "SparseGaussian":
        """Return the approximation with a learned scale, by secant steps on its logarithm."""
        n_arms = self.graph.n_arms
        found = self
        slope = self._scale_slope()
        curvature = 0.5 * n_arms
        most = 2 * n_arms
        for _ in range(12):  # from a start by moments
            newton = slope / curvature
            move = float(np.clip(newton, -0.25, 0.25))
            # In standard deviations. With a quarter of 0.02 nothing changes, with four times of it
            # the scale shifts by 0.08.
            if abs(move) < 0.02 / curvature**0.5:
                break
            before = slope
            found = found._at(found.log_scale + move, seed)
            slope = found._scale_slope()
            secant = (before - slope) / move
            curvature = float(np.clip(secant, 0.05 * n_arms, most))
        sd = curvature**-0.5
        ahead = found._at(found.log_scale + sd, seed)
        behind = found._at(found.log_scale - sd, seed)
        apart = 2 * sd
        fall = behind._scale_slope() - ahead._scale_slope()
        secant = fall / apart
        curvature = float(np.clip(secant, 0.02 * n_arms, most))
        moved = ahead.mean - behind.mean
        effect_moved = ahead.effect - behind.effect
        return replace(
            found,
            log_scale_sd=curvature**-0.5,
            along=moved / apart,
            effect_along=effect_moved / apart,
        )

    def _scale_slope(self) -> float:
        """Return the slope in log scale of the lower bound of the scale's log density."""
        assert self.typical is not None
        squared = self.scale**2
        n_free = self.graph.n_arms - 1
        score = self.score
        variance = self.variance.sum() + self.precision.added.sum()
        expected_squares = score @ score + variance
        expected = expected_squares / squared
        of_prior = squared / self.typical**2
        slope = expected - n_free - of_prior + 1
        return float(slope)


def _column_means(block: np.ndarray) -> np.ndarray:
    """Return the mean of each column, (columns,), float32."""
    means: np.ndarray = block.mean(axis=0, dtype=float)
    return means.astype(np.float32)


def _stretch(draws: np.ndarray, error: np.ndarray) -> None:
    """Give each column the mean 0 and this standard deviation, in place."""
    draws -= draws.mean(axis=0)
    squares = np.einsum("ij,ij->j", draws, draws, dtype=float)
    deviation = np.sqrt(squares / len(draws))
    stretch = error / np.maximum(deviation, 1e-30)
    draws *= stretch.astype(draws.dtype)
