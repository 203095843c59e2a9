"""Contrast allocation: duel the pair that takes most variance off the contrasts in question.

A contrast is a difference of two scores; it is in question as far as two posterior draws disagree
about the goal over it. The pair to duel is the one whose outcome is expected to take the largest
relative variance off all contrasts, each weighted by that disagreement, under the normal
approximation of the posterior. The pair may be none of those in question: a forbidden pair
is replaced by the best indirect duel.

References
----------
Own rule of this package; measured in docs/validation/studies.md. It is of the family of expected
variance reduction for logistic models (Schein & Ungar, "Active learning for logistic regression: an
evaluation", Machine Learning 2007). Deviations: none.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

import numpy as np

from bayesduel.beliefs.score_posterior import contrast, expected_information, heaviest
from bayesduel.jit import compiled
from bayesduel.policies.score_rules import (
    RANKING,
    ScoreRule,
    best_pair,
    contenders,
    fresh_draws,
    members,
)

__all__ = ["ContrastAllocation"]

BLOCK = 256  # rows of a product at a time


@compiled
def select(belief, memory, t, rng):
    """Return the pair with the largest expected reduction of relative variance."""
    scores = fresh_draws(belief, memory, rng)
    return best_pair(reduction(scores, memory), memory, rng)


@compiled
def reduction(scores, memory):
    """Return the expected reduction of each pair, shape (K, K)."""
    mean, C = heaviest(memory.posterior)
    n_arms = len(mean)
    arms = np.flatnonzero(contenders(scores, memory))
    weight = disagreement(scores, memory, arms, mean, C)
    m = len(arms)
    laplacian = np.zeros((m, m))
    for a in range(m):
        for b in range(a):
            i = arms[a]
            j = arms[b]
            g = weight[a, b] / max(contrast(C, i, j), 1e-300)
            laplacian[a, a] += g
            laplacian[b, b] += g
            laplacian[a, b] = laplacian[b, a] = -g
    part = np.ascontiguousarray(C[:, arms])
    M = lower_product(part @ laplacian, part)
    gain = np.zeros((n_arms, n_arms))
    link = memory.posterior.link
    for i in range(n_arms):
        for j in range(i):
            bend = expected_information(link, mean[i] - mean[j])
            of_outcome = 1.0 / max(bend, 1e-300) + contrast(C, i, j)
            gain[i, j] = contrast(M, i, j) / of_outcome
    return gain


@compiled
def lower_product(A, B):
    """Return ``A @ B.T``, which is symmetric; its entries above the diagonal may be left out."""
    n = len(A)
    found = np.zeros((n, n))
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        found[start:stop, :stop] = A[start:stop] @ B[:stop].T
    return found


@compiled
def disagreement(scores, memory, arms, mean, C):
    """Return how often two draws disagree about the goal over each pair of `arms`."""
    m = len(arms)
    n = len(scores)
    # The smallest weight of a contrast between contenders: 1e-9
    weight = np.full((m, m), 1e-9)
    if memory.goal == RANKING:
        apart = log((0.5 + memory.rope) / (0.5 - memory.rope))
        each = np.ascontiguousarray(scores[:, arms].T)
        for a in range(m):
            for b in range(a):
                above = below = 0
                i = arms[a]
                j = arms[b]
                variance = max(contrast(C, i, j), 0.0)
                lead = abs(mean[i] - mean[j])
                # Posterior standard deviations beyond which the order of two arms is known: 4
                if lead + apart > 4.0 * sqrt(variance):
                    continue
                for d in range(n):
                    difference = each[a, d] - each[b, d]
                    above += difference > apart
                    below += difference < -apart
                weight[a, b] += min(above, below) / n
        return weight
    inside = members(scores, memory.k)
    if memory.k == 1:  # the draws are independent: a best in one, b best in the other
        share = np.empty(m)
        for a in range(m):
            share[a] = inside[:, arms[a]].sum() / n
        for a in range(m):
            for b in range(a):
                weight[a, b] += share[a] * share[b]
        return weight
    held = np.ascontiguousarray(inside[:, arms].T)
    for a in range(m):
        for b in range(a):
            first = second = 0
            for d in range(n):
                first += held[a, d] and not held[b, d]
                second += held[b, d] and not held[a, d]
            weight[a, b] += first * second / n**2
    return weight


@dataclass(frozen=True, kw_only=True)
class ContrastAllocation(ScoreRule):
    """Largest expected reduction of relative variance of the contrasts in question."""

    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "bayesduel, docs/validation/studies.md"
