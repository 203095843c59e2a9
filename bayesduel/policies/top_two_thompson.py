"""Top-two Thompson sampling: the best arm of one posterior draw against that of another.

Draw the scores; draw again until the answer differs. The two draws disagree over a pair of arms,
which duels. Where that pair is forbidden, the allowed pair duels that takes most variance off
its difference of scores.

References
----------
Russo, "Simple Bayesian algorithms for best-arm identification", Operations Research 2020 (COLT
2016), top-two Thompson sampling with beta = 1/2. Deviations: both arms duel each other, where
the paper measures one of them; after `draws` draws that agree, the arms next to the border duel.
For the k best, a random pair over which the two draws' sets differ; for a ranking, a random pair
that they order differently.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesduel.beliefs.score_posterior import contrast, expected_information, heaviest
from bayesduel.jit import compiled
from bayesduel.policies.score_rules import (
    RANKING,
    ScoreRule,
    arms_by_mean,
    best_pair,
    contenders,
    fresh_draws,
)

__all__ = ["TopTwoThompson"]


@compiled
def select(belief, memory, t, rng):
    """Return the pair over which two posterior draws disagree."""
    scores = fresh_draws(belief, memory, rng)
    i, j = pair_in_question(scores, memory, rng)
    if memory.cost[i, j] < np.inf:
        return i, j
    return best_pair(variance_reduction(memory, i, j), memory, rng)


@compiled
def pair_in_question(scores, memory, rng):
    """Return a pair of arms over which the first draw and a later one disagree."""
    n_arms = scores.shape[1]
    for d in range(1, len(scores)):
        count = 0
        first = -1
        second = -1
        one = scores[0]
        two = scores[d]
        if memory.goal == RANKING:
            for a in range(n_arms):
                for b in range(n_arms):
                    if one[a] > one[b] and two[a] < two[b]:
                        count += 1
                        if rng.random() * count < 1.0:
                            first = a
                            second = b
        elif memory.k == 1:
            a = one.argmax()
            b = two.argmax()
            if a != b:
                return a, b
        else:
            mine = np.argsort(-one)[: memory.k]
            other = np.argsort(-two)[: memory.k]
            for a in mine:
                for b in other:
                    if (other != a).all() and (mine != b).all():
                        count += 1
                        if rng.random() * count < 1.0:
                            first = a
                            second = b
        if count > 0:
            return first, second
    open_ = contenders(scores, memory)
    order = np.array([a for a in arms_by_mean(memory) if open_[a]])
    return order[0], order[1]


@compiled
def variance_reduction(memory, a, b):
    """Return what a duel of each pair is expected to take off the variance of a minus b."""
    mean, C = heaviest(memory.posterior)
    n_arms = len(mean)
    link = memory.posterior.link
    gain = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(i):
            bend = expected_information(link, mean[i] - mean[j])
            of_outcome = 1.0 / max(bend, 1e-300) + contrast(C, i, j)
            shared = C[i, a] - C[i, b] - C[j, a] + C[j, b]
            gain[i, j] = shared**2 / of_outcome
    return gain


@dataclass(frozen=True, kw_only=True)
class TopTwoThompson(ScoreRule):
    """Top-two Thompson sampling of the posterior of the scores."""

    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Russo, COLT 2016 (Operations Research 2020)"
