"""Allocation by the covariance of scores under a mixed model with residuals.

As ``score_covariance``, for mean margins ``gamma_i - gamma_j + eps_ij``, ``eps_ij ~ N(0, d^2)``,
with d estimated from the duels (``residual_variance``). The predicted mean margin of a pair is a
weighted mean of the model's and the sample's, and an arm's score, the sum over its pairs, has the
covariance of both parts. At d = 0 this is the allocation by the model, at large d one by sample
means.

References
----------
None: ours. The prediction is the best linear unbiased predictor of a mixed model (Henderson,
Biometrics 1975).
"""

from typing import NamedTuple

import numpy as np

from bayesduel.beliefs.score_posterior import contrast
from bayesduel.jit import compiled
from bayesduel.margins.moments import is_warming_up, opening, sample_moments
from bayesduel.margins.newton import least_squares, misfit
from bayesduel.policies.top_k.aepcs import best_pair
from bayesduel.policies.top_k.residual_variance import grid_of_sizes, learned_square, quantiles
from bayesduel.policies.top_k.score_covariance import score_covariance, slopes

__all__ = ["Memory", "initial_memory", "scores", "select"]


class Memory(NamedTuple):
    """Settings, and the last fit, from which the next starts."""

    k: int
    warm_up: int
    shrinkage: float
    fitted: np.ndarray  # scores, shape (K,)
    variance: np.ndarray  # of a margin of each pair, shape (K, K)
    square: np.ndarray  # d^2, shape (1,)
    # How many duels there were at the last fit, and when d was last learned; shape (2,).
    done: np.ndarray
    # sizes, normal: where the likelihood of d is looked at.
    sizes: np.ndarray
    normal: np.ndarray


def initial_memory(n_arms: int, k: int, warm_up: int, shrinkage: float) -> Memory:
    """Return the memory before the first duel."""
    return Memory(
        k=k,
        warm_up=warm_up,
        shrinkage=shrinkage,
        fitted=np.zeros(n_arms),
        variance=np.zeros((n_arms, n_arms)),
        square=np.zeros(1),
        done=np.zeros(2, np.int64),
        sizes=grid_of_sizes(),
        normal=quantiles(),
    )


@compiled
def select(margins, memory, t, rng):
    """Return the next pair: the warm-up in turn, then the pair with the largest gain."""
    n_arms = len(memory.fitted)
    if is_warming_up(t, memory.warm_up, n_arms):
        return opening(t, n_arms)
    mean = refit(margins, memory)
    mu, own, weight = predicted(margins.n, mean, memory)
    return best_pair(choice_gains(margins.n, mu, own, weight, memory), rng)


@compiled
def scores(margins, memory):
    """Return the sums of the pairs' predicted mean margins, shape (K,)."""
    mean = refit(margins, memory)
    return predicted(margins.n, mean, memory)[0]


@compiled
def refit(margins, memory):
    """Fit again, if there are new duels; return the sample means, shape (K, K).

    Scores by weighted least squares and variances by expectation-maximisation take turns; d
    is learned again every K duels.
    """
    moments = sample_moments(margins, memory.shrinkage)
    mean = moments.mean
    done = memory.done
    n = margins.n
    if done[0] == margins.n_duels[0]:
        return mean
    n_arms = len(mean)
    # 3 half-steps of each that starts from the last
    rounds = 3
    if done[0] == 0:
        # Half-steps of the first fit: 30
        rounds = 30
        memory.fitted[:] = mean.sum(axis=1) / n_arms
        memory.variance[:] = moments.variance
    done[0] = margins.n_duels[0]
    since_learned = done[0] - done[1]
    if done[1] == 0 or since_learned >= n_arms:
        done[1] = done[0]
        memory.square[0] = learned_square(moments, memory.fitted, memory.sizes, memory.normal)
    square = memory.square[0]
    nu = memory.shrinkage
    total = np.zeros((n_arms, n_arms))
    for _ in range(rounds):
        for i in range(n_arms):
            for j in range(i):
                met = n[i, j]
                e = misfit(mean, memory.fitted, i, j)
                before = memory.variance[i, j]
                own = square / (square + before / met)
                squares = nu * moments.pooled + moments.scatter[i, j]
                about_model = met * (1 - own) ** 2 * e * e
                squares = squares + about_model + own * before
                v = max(squares / (nu + met), moments.floor)
                memory.variance[i, j] = v
                memory.variance[j, i] = v
                of_total = v + met * square
                total[i, j] = of_total
                total[j, i] = of_total
        least_squares(n, mean, total, memory.fitted)
    return mean


@compiled
def predicted(n, mean, memory):
    """Return predicted scores, and the variance of and weight of the model in each pair's mean.

    Returns the scores, shape (K,); the variance of each pair's mean margin given the model's part,
    (K, K); the weight of the model in it, (K, K).
    """
    n_arms = len(mean)
    square = memory.square[0]
    mu = np.zeros(n_arms)
    own = np.zeros((n_arms, n_arms))
    weight = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(n_arms):
            if i != j:
                v = memory.variance[i, j] / n[i, j]
                of_model = v / (square + v)
                lead = memory.fitted[i] - memory.fitted[j]
                by_sample = mean[i, j]
                weight[i, j] = of_model
                own[i, j] = (1 - of_model) * v
                mu[i] += by_sample + of_model * (lead - by_sample)
    return mu, own, weight


@compiled
def laplacian(weight):
    """Return the graph Laplacian of symmetric weights, shape (K, K)."""
    result = -weight
    for i in range(len(weight)):
        result[i, i] = weight[i].sum()
    return result


@compiled
def score_law(n, own, weight, memory):
    """Return the covariances of scores, of scores with the model's scores, and of the latter."""
    total = memory.variance + n * memory.square[0]
    model = score_covariance(n, total)
    spread = laplacian(weight)
    across = spread @ model
    return laplacian(own) + across @ spread, across, model


@compiled
def choice_gains(n, mu, own, weight, memory):
    """Return the first-order increase of ln of the probability by pair, up to a factor, (K, K).

    One more duel of (i, j) shows its mean margin m with noise; the variance of a difference of
    scores falls by its squared covariance with m over the variance of what is shown.
    """
    n_arms = len(mu)
    covariance, across, model = score_law(n, own, weight, memory)
    slope = slopes(mu, covariance, memory.k)
    one = slope @ across
    two = across.T @ one
    gain = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(i):
            u = own[i, j]
            b = weight[i, j]
            across_pair = one[i, i] - one[i, j] - one[j, i] + one[j, j]
            rise = u * u * contrast(slope, i, j)
            rise += 2 * u * b * across_pair
            rise += b * b * contrast(two, i, j)
            v = u + b * b * contrast(model, i, j)
            relative = rise / (memory.variance[i, j] + v)
            gain[i, j] = relative
            gain[j, i] = relative
    return gain
