"""Gibbs sampling of scores with Polya-Gamma variables and conjugate gradients.

Given a Polya-Gamma variable for each pair, the posterior of the scores is normal; one joint draw of
all scores is the solution of one perturbed sparse system. Given the scores, the scale has a
one-dimensional density. The chain is exact (see :mod:`bayesduel.inference.polya_gamma` for pairs
of very many duels) and its draws of scores are almost independent.

Short chains that start from draws of an approximation are its certificate: they move away from it
where it is wrong.

References
----------
Polson, Scott & Windle, "Bayesian inference for logistic models using Polya-Gamma latent variables",
JASA 2013. Nishimura & Suchard, "Prior-preconditioned conjugate gradient method for accelerated
Gibbs sampling in large n, large p Bayesian sparse regression", JASA 2023 (conjugate gradients for
the perturbed system).
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bayesduel.inference.comparison_graph import ComparisonGraph
from bayesduel.inference.grid_draws import inverted
from bayesduel.inference.polya_gamma import polya_gamma
from bayesduel.inference.psis import Uncorrected
from bayesduel.inference.sparse_gaussian import SparseGaussian
from bayesduel.system.arguments import Progress
from bayesduel.system.cost import CostLimit

__all__ = [
    "ALLOWED",
    "Differences",
    "GibbsCertificate",
    "GibbsChain",
    "gibbs_certificate",
    "worst_mean",
]

# Sweeps of the certificate that are counted. Means are over a quarter of the arms, or the hubs.
SWEEPS = CostLimit(total=400_000, least=12, most=40)


class Differences(NamedTuple):
    """How far an approximation may be from a chain, beyond Monte Carlo error.

    Each as in the certificate.
    """

    shift: float
    spread: float
    scale_shift: float
    effect_shift: float


# A 95 % interval holds 94.9 % where scores are shifted by this, 94.4 to 95.6 % where variances
# differ by this, and that of a coefficient 94.0 %. A standard deviation of the log scale of K
# normal scores is (2 K)^-0.5, which is 3 % of 500 scores.
ALLOWED = Differences(shift=0.1, spread=0.05, scale_shift=1.0, effect_shift=0.3)


@dataclass
class GibbsChain:
    """A chain of scores and their scale."""

    graph: ComparisonGraph  # who met whom, and how it ended
    # scale of the half-normal prior of the scale; None where the scale is fixed
    typical: float | None
    score: np.ndarray  # the state: centred scores, shape (K,)
    log_scale: float  # the state: logarithm of the scale
    effect: np.ndarray  # the state: coefficients of the columns beside the scores, shape (p,)
    _pull: np.ndarray = field(init=False, repr=False)
    _push: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        slope = self.graph.points - self.graph.n / 2
        self._pull = self.graph.pull(slope)
        self._push = self.graph.columns.T @ slope

    def sweep(self, rng: np.random.Generator) -> None:
        """Draw variables of cells, then coefficients with scores, and the scale."""
        graph = self.graph
        eta = graph.eta(self.score, self.effect)
        weight = polya_gamma(graph.n, eta, rng)
        tau = float(np.exp(-2 * self.log_scale))
        precision = graph.bordered(weight, tau)
        of_scores = precision.along.T @ self._pull
        left = self._push - of_scores
        mean = precision.covariance @ left
        root = np.linalg.cholesky(precision.covariance)
        noise = root @ rng.standard_normal(len(root))
        self.effect = mean + noise
        of_effects = precision.border @ self.effect
        right = self._pull - of_effects
        prior_noise = precision.scores.perturbation(1, rng)
        perturbed = right + prior_noise[:, 0]
        score = precision.scores.solve(perturbed)
        self.score = score - score.mean()
        if self.typical is not None:
            self.log_scale = self._drawn_scale(rng)

    def _drawn_scale(self, rng: np.random.Generator) -> float:
        """Return a draw of the log scale given the scores, by inverting its distribution."""
        assert self.typical is not None
        n = self.graph.n_arms - 1
        squares = float(self.score @ self.score)
        middle = self.log_scale
        if squares > 0:
            middle = 0.5 * np.log(squares / n)
        reach = 12 / np.sqrt(2 * n) + 0.5
        # with a quarter and four times as many points draws are the same
        grid = np.linspace(middle - reach, middle + reach, 801)
        variance = np.exp(2 * grid)
        precision = np.exp(-2 * grid)
        log_likelihood = -n * grid - squares / 2 * precision
        penalty = variance / (2 * self.typical**2)
        log_density = log_likelihood + grid - penalty
        return float(inverted(grid, log_density, rng.random()))


@dataclass(frozen=True)
class GibbsCertificate(Uncorrected):
    """Whether a normal approximation can be trusted, by short Gibbs chains."""

    # largest mean distance of the chain from the approximation's mean, over groups of arms by
    # number of duels, away from 0 positive, in standard errors of a score
    shift: float
    spread: float  # largest distance from 1 of the mean squared distance, likewise
    # distance of the mean log scale, in its standard deviations; 0 where the scale is fixed
    scale_shift: float
    # largest distance of the mean of a coefficient, in its standard errors; 0 without any
    effect_shift: float
    errors: tuple[float, ...]  # Monte Carlo standard errors of the four
    sweeps: int  # how many sweeps were counted
    effective: float  # number of the draws of the approximation, which are independent
    # largest shift, spread, scale_shift and effect_shift with which it holds
    allowed: Differences = ALLOWED

    @classmethod
    def of(cls, *series: Any, n_draws: int, allowed: Differences = ALLOWED) -> "GibbsCertificate":
        """Return the certificate of the four distances in each sweep, (sweeps, ...) each."""
        found = map(worst_mean, series)
        means, errors = zip(*found, strict=True)
        shift, spread, scale, effect = means
        return cls(
            shift,
            spread,
            scale,
            effect,
            errors=errors,
            sweeps=len(series[0]),
            effective=float(n_draws),
            allowed=allowed,
        )

    @property
    def shortfall(self) -> str:
        named = (
            ("scores are shifted by", self.shift, "standard errors"),
            ("squared errors differ by", self.spread, "of a variance"),
            ("the log scale is shifted by", self.scale_shift, "standard deviations"),
            ("a coefficient is shifted by", self.effect_shift, "standard errors"),
        )
        limits = zip(named, self.allowed, self.errors, strict=True)
        for (words, value, unit), most, error in limits:
            if abs(value) - 2 * error > most:
                return f"against Gibbs sampling {words} {value:+.2f} {unit} (allowed: {most:g})"
        return ""

    def __str__(self) -> str:
        """Return the figures of the certificate."""
        shift, spread, scale, effect = self.allowed
        percent = 100 * abs(self.spread)
        most_percent = 100 * spread
        told = [
            f"scores by {abs(self.shift):.3f} standard errors on average (allowed: {shift:g})",
            f"their variances by {percent:.1f} % (allowed: {most_percent:g} %)",
            f"the log of the scale by {abs(self.scale_shift):.2f} standard deviations, with Monte "
            f"Carlo error {self.errors[2]:.2f} (allowed: {scale:g} and two errors)",
        ]
        if self.effect_shift:
            told.append(
                f"a coefficient by {abs(self.effect_shift):.2f} standard errors (allowed: "
                f"{effect:g})"
            )
        return (
            f"differences from {self.sweeps} sweeps of Polya-Gamma Gibbs sampling, at most: "
            f"{', '.join(told)}"
        )


def gibbs_certificate(
    found: SparseGaussian,
    n_draws: int,
    rng: np.random.Generator,
    progress: Progress = None,
) -> GibbsCertificate:
    """Return what a short Gibbs chain says of the approximation it starts from, and its draws."""
    graph = found.graph
    kept = SWEEPS.times(graph.n_arms)
    first = kept // 2
    sweeps = first + kept
    drawn = found.draw(1, rng)
    chain = GibbsChain(
        graph,
        found.typical,
        score=drawn.score[0].astype(float),
        log_scale=found.log_scale,
        effect=drawn.effect[0],
    )
    groups, sizes = _groups(graph.duels)
    error = found.standard_error
    middle = found.score
    sign = np.sign(middle)
    n_groups = len(sizes)
    moved = np.empty((kept, n_groups))
    spread = np.empty((kept, n_groups))
    scale = np.zeros((kept, 1))
    n_effects = len(found.effect)
    n_columns = max(1, n_effects)
    effect = np.zeros((kept, n_columns))
    for k in range(sweeps):
        chain.sweep(rng)
        if progress is not None:
            progress((k + 1) / sweeps)
        if k < first:
            continue
        row = k - first
        away = (chain.score - middle) / error
        toward = np.bincount(groups, sign * away, n_groups)
        squares = np.bincount(groups, away**2, n_groups)
        moved[row] = toward / sizes
        spread[row] = squares / sizes - 1
        scale[row] = chain.log_scale - found.log_scale
        effect[row, :n_effects] = chain.effect - found.effect
    if found.log_scale_sd > 0:
        scale /= found.log_scale_sd
    effect[:, :n_effects] /= found.effect_error
    return GibbsCertificate.of(moved, spread, scale, effect, n_draws=n_draws)


def _groups(duels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of each arm by its number of duels, and the sizes of the groups.

    Three of equal size, and the arms with the most duels: routes that are right of most arms can be
    wrong of hubs, by a fifth of a standard error (docs/validation/scale.md).
    """
    n_arms = len(duels)
    order = np.argsort(duels, kind="stable")
    place = np.empty(n_arms, dtype=np.int64)
    place[order] = np.arange(n_arms)
    n_hubs = max(30, int(0.01 * n_arms))
    third = 3 * place // n_arms
    is_hub = place >= n_arms - n_hubs
    groups = np.where(is_hub, 3, third)
    used, groups = np.unique(groups, return_inverse=True)
    sizes = np.bincount(groups, minlength=len(used))
    return groups, sizes


def worst_mean(series: Any) -> tuple[float, float]:
    """Return the largest mean of some series and its standard error.

    The error is that of a series with an autocorrelation that falls off geometrically.
    """
    series = np.asarray(series)
    mean = series.mean(axis=0)
    away = series - mean
    variance = (away**2).mean(axis=0)
    products = away[1:] * away[:-1]
    covariance = products.mean(axis=0)
    correlation = covariance / np.maximum(variance, 1e-30)
    lag = np.clip(correlation, 0, 0.9)
    chance = variance / len(series)
    of_mean = chance * (1 + lag) / (1 - lag)
    error = np.sqrt(of_mean)
    k = int(np.argmax(np.abs(mean)))
    return float(mean[k]), float(error[k])
