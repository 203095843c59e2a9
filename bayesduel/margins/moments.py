"""Moments of the scores by sample means and by the model, and their intransitivity index.

Both give the mean and the variance of every arm's score, the sum of its mean margins.

References
----------
Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits", sections 3, 4 and 6. Deviations: ``index="predictive"`` (see ``intransitivity``).
"""

from typing import Any

import numpy as np

from bayesduel.jit import compiled
from bayesduel.margins.newton import climb, least_squares, profile
from bayesduel.margins.tallies import Moments, pair_variances, require_margins
from bayesduel.margins.update import follow
from bayesduel.system.arguments import check_one_of

__all__ = [
    "best_scores",
    "fitted_moments",
    "gap",
    "index_of",
    "intransitivity",
    "is_warming_up",
    "mean_scores",
    "model_scores",
    "opening",
    "sample_moments",
    "spreads",
]

INDICES = ("predictive", "posterior")


@compiled
def is_warming_up(t, warm_up, n_arms):
    """Return whether duel t is in the first rounds, `warm_up` of them, in which all pairs meet."""
    n_pairs = n_arms * (n_arms - 1) // 2
    return t <= warm_up * n_pairs


@compiled
def opening(t, n_arms):
    """Return the pair of duel t when all pairs take turns."""
    n_pairs = n_arms * (n_arms - 1) // 2
    place = (t - 1) % n_pairs
    i = 0
    others = n_arms - 1  # of arm i, those after it
    while place >= others:
        place -= others
        i += 1
        others -= 1
    j = i + 1 + place
    return i, j


@compiled
def sample_moments(margins, shrinkage):
    """Return the moments of each pair by its own margins, variances shrunk to the pooled one."""
    n_arms = len(margins.n)
    mean = np.zeros((n_arms, n_arms))
    scatter = np.zeros((n_arms, n_arms))
    variance = np.zeros((n_arms, n_arms))
    pooled, floor = pair_variances(margins, shrinkage, mean, scatter, variance)
    return Moments(margins.n, mean, scatter, variance, pooled, floor, shrinkage)


@compiled
def fitted_moments(margins, moments, score, kept=None):
    """Fit from the start `score`, which is overwritten; return the fitted variances, (K, K).

    With `kept`, the state of the fit one duel before, from which `score` is.
    """
    fitted = np.zeros_like(moments.mean)
    # A Newton step of 1e-6 standard deviations leaves an error of its square.
    step = 1e-6 * np.sqrt(max(moments.pooled, moments.floor))
    if kept is None:
        climb(moments, score, fitted, step, 10000)
    else:
        follow(margins, moments, score, fitted, step, kept)
    return fitted


@compiled
def best_scores(margins, moments):
    """Return the fitted scores of largest likelihood among those reached from three starts.

    The likelihood has local maxima. Starts: the sample means; least squares weighted by the
    sample variances; the medians of an arm's mean margins. Shape (K,), mean 0.
    """
    mean = moments.mean
    n_arms = len(mean)
    starts = np.empty((3, n_arms))
    for i in range(n_arms):
        of_arm = mean[i].sum() / n_arms
        starts[0, i] = of_arm
        starts[1, i] = of_arm
        starts[2, i] = np.median(mean[i])
    least_squares(moments.n, mean, moments.variance, starts[1])
    best = np.inf
    chosen = 0
    for k in range(3):
        score = starts[k]
        score -= score.mean()
        fitted_moments(margins, moments, score)
        value = profile(moments, score)
        if value < best:
            best = value
            chosen = k
    return starts[chosen]


@compiled
def spreads(variance, n):
    """Return the variance of each arm's sum of mean margins, shape (K,)."""
    n_arms = len(n)
    spread = np.zeros(n_arms)
    for i in range(n_arms):
        for j in range(n_arms):
            met = n[i, j]
            if met > 0:
                spread[i] += variance[i, j] / met
    return spread


@compiled
def gap(mu, variance, mu_fitted, fitted, n, posterior):
    """Return the index from both means and variances."""
    if posterior:
        a = spreads(variance, n)
        b = spreads(fitted, n)
    else:
        a = variance.sum(axis=1)
        b = fitted.sum(axis=1)
    n_arms = len(mu)
    total = 0.0
    for i in range(n_arms):
        d = (mu[i] - mu_fitted[i]) ** 2
        by_model = (a[i] + d) / b[i]
        by_sample = (b[i] + d) / a[i]
        total += 0.5 * (by_model + by_sample) - 1
    return 1 - np.exp(-total / (2 * n_arms))


def index_of(margins: Any, shrinkage: float, posterior: bool) -> float:
    """Return the intransitivity index; `posterior`: whether of the estimated scores."""
    moments = sample_moments(margins, shrinkage)
    mu = moments.mean.sum(axis=1)
    score = mu / len(mu)
    fitted = fitted_moments(margins, moments, score)
    mu_fitted = len(mu) * score
    return float(gap(mu, moments.variance, mu_fitted, fitted, margins.n, posterior))


@compiled
def mean_scores(margins, memory):
    """Return each arm's sum of mean margins, shape (K,)."""
    n_arms = len(margins.n)
    total = np.zeros(n_arms)
    for i in range(n_arms):
        for j in range(n_arms):
            met = margins.n[i, j]
            if met > 0:
                total[i] += margins.total[i, j] / met
    return total


@compiled
def model_scores(margins, memory):
    """Return K times the fitted scores, or ``mean_scores`` while a pair has fewer than 2 duels."""
    for i in range(len(margins.n)):
        for j in range(i):
            if margins.n[i, j] < 2:
                return mean_scores(margins, memory)
    moments = sample_moments(margins, 0.0)
    score = moments.mean.sum(axis=1) / len(moments.mean)
    fitted_moments(margins, moments, score)
    return len(score) * score


def intransitivity(margins: Any, index: str = "predictive") -> float:
    """Return the intransitivity index: the distance of model and sample means, in [0, 1].

    ``1 - exp(-(1/2K) sum_i [KL(S_i || S*_i) + KL(S*_i || S_i)])``, where S_i and S*_i are
    normal, with the mean of arm i's score by the samples and by the model.

    margins: sufficient statistics in which every pair has met at least twice.
    index: which variances: "predictive", of the score one full round of duels would show (the sum
        of the pairs' variances); "posterior", of the estimated score (that sum with each variance
        divided by its number of duels), which does not vanish under a true model.
    Raises ValueError if a pair met fewer than twice, a margin is infinite or missing, or `index` is
    neither.
    """
    check_one_of(index, "index", INDICES)
    require_margins(margins)
    n_arms = len(margins.n)
    apart = ~np.eye(n_arms, dtype=bool)
    fewest = margins.n[apart].min()
    if fewest < 2:
        raise ValueError(f"margins should hold 2 duels per pair, got {fewest:g}")
    posterior = index == "posterior"
    return index_of(margins, 0.0, posterior)
