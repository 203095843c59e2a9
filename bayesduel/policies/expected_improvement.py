"""One duel ahead: the pair that is expected to improve the answer most, were it given after it.

``ExpectedPCS`` values an answer by the posterior probability that it is correct,
``KnowledgeGradient`` by the win probability that it gives away against the best arm. As long as
no single outcome changes the answer, no pair improves it: then the pair of largest information
about the goal duels.

References
----------
Frazier, Powell & Dayanik, "A knowledge-gradient policy for sequential information collection",
SIAM Journal on Control and Optimization 2008. Chen, Lin, Yücesan & Chick, "Simulation budget
allocation for further enhancing the efficiency of ordinal optimization", Discrete Event Dynamic
Systems 2000, for the probability of correct selection. Deviations: posterior draws weighted by
the outcome's likelihood in place of formulas; for the k best, the sum over the arms of the set.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesduel.beliefs.score_posterior import win_probability
from bayesduel.jit import compiled
from bayesduel.policies.information_gain import BLOCK, information, possible_duels, win_chances
from bayesduel.policies.score_rules import ScoreRule, best_pair, fresh_draws, kth_largest, members

__all__ = ["ExpectedPCS", "KnowledgeGradient"]


@compiled
def select_by_probability(belief, memory, t, rng):
    """Return the pair that is expected to raise the probability of a correct answer most."""
    scores = fresh_draws(belief, memory, rng)
    worth = members(scores, memory.k).astype(np.float64)
    return most_improving(scores, worth, memory, rng)


@compiled
def select_by_loss(belief, memory, t, rng):
    """Return the pair that is expected to lower the loss of the answer most."""
    scores = fresh_draws(belief, memory, rng)
    n, n_arms = scores.shape
    link = memory.posterior.link
    worth = np.zeros((n, n_arms))
    for d in range(n):
        score = scores[d]
        kth = kth_largest(score, memory.k)
        for a in range(n_arms):  # against the last of the k best, no more than even
            chance = win_probability(link, score[a] - kth)
            worth[d, a] = min(chance, 0.5)
    return most_improving(scores, worth, memory, rng)


@compiled
def most_improving(scores, worth, memory, rng):
    """Return the pair after whose duel the best answer is expected to be worth most."""
    pairs, strength = possible_duels(scores, memory)
    gain = improvement(worth, pairs, strength, memory)
    if gain.max() <= 1e-9:
        gain = information(scores, pairs, strength, memory)
    return best_pair(gain, memory, rng)


@compiled
def improvement(worth, pairs, strength, memory):
    """Return the expected improvement of each pair, shape (K, K).

    worth: what choosing each arm is worth in each draw, shape (n, K).
    pairs, strength: as `possible_duels` returns them.
    memory: settings.
    """
    n, n_arms = worth.shape
    k = memory.k
    total = worth.sum(axis=0)
    now = largest(total, k)
    useful = np.flatnonzero(total)
    worth = np.ascontiguousarray(worth[:, useful])
    total = total[useful]
    gain = np.zeros((n_arms, n_arms))
    link = memory.posterior.link
    for start in range(0, len(pairs), BLOCK):
        block = pairs[start : start + BLOCK]
        won = win_chances(strength, link, block) @ worth
        for row in range(len(block)):
            i, j = block[row]
            after = largest(won[row], k) + largest(total - won[row], k)
            gain[i, j] = max((after - now) / n, 0.0)
    return gain


@compiled
def largest(values, k):
    """Return the sum of the k largest values."""
    return values.max() if k == 1 else np.sort(values)[max(len(values) - k, 0) :].sum()


@dataclass(frozen=True, kw_only=True)
class ExpectedPCS(ScoreRule):
    """Largest expected probability of correct selection one duel ahead."""

    goals: ClassVar[tuple[str, ...]] = ("winner", "top_k")
    select: ClassVar = staticmethod(select_by_probability)
    reference: ClassVar[str] = "Chen, Lin, Yücesan & Chick 2000"


@dataclass(frozen=True, kw_only=True)
class KnowledgeGradient(ScoreRule):
    """Largest expected reduction of the answer's loss one duel ahead."""

    goals: ClassVar[tuple[str, ...]] = ("winner", "top_k")
    select: ClassVar = staticmethod(select_by_loss)
    reference: ClassVar[str] = "Frazier, Powell & Dayanik 2008"
