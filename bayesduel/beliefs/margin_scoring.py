"""Scores by which a plain allocation chooses the k best: sample means, or the fitted model.

References
----------
Groves & Branke, "Exploiting Transitivity for Top-k Selection with Score-Based Dueling
Bandits": the scores of POCBAm and of ML-POCBAm. Deviations: none.
"""

import numpy as np

from bayesduel.beliefs.margin_moments import fitted_account, sample_account
from bayesduel.jit import compiled

__all__ = ["mean_scores", "model_scores"]


@compiled
def mean_scores(margins, memory):
    """Return each arm's sum of mean margins, shape (K,)."""
    n_arms = len(margins.n)
    total = np.zeros(n_arms)
    for i in range(n_arms):
        for j in range(n_arms):
            if margins.n[i, j] > 0:
                total[i] += margins.total[i, j] / margins.n[i, j]
    return total


@compiled
def model_scores(margins, memory):
    """Return K times the fitted scores, or the sums of means where the model has too little."""
    for i in range(len(margins.n)):
        for j in range(i):
            if margins.n[i, j] < 2:
                return mean_scores(margins, memory)
    mean, scatter, _, pooled, floor = sample_account(margins, 0.0)
    score = mean.sum(axis=1) / len(mean)
    fitted_account(margins, 0.0, mean, scatter, pooled, floor, score)
    return len(score) * score
