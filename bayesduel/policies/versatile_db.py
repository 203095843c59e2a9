"""Versatile-DB: each side plays Tsallis-INF, whatever the other does.

An arm's weight is ``4 / (eta (L - x))^2`` with L its estimated loss, ``eta = 2 / sqrt(t)`` and x
such that weights sum to 1. In a duel the loser's loss is 1, divided by its weight.

References
----------
Saha & Gaillard, "Versatile Dueling Bandits: Best-of-both-World Analyses for Online Learning from
Preferences", ICML 2022, Algorithm 3, and its remark 2 for weights that both sides share; Zimmert &
Seldin, "Tsallis-INF", JMLR 2021, Algorithm 2 for x. Deviations: Newton's steps begin where the
largest weight is 1, from where they descend to x without safeguards; the outcome of an arm's duel
with itself is drawn by the policy.
"""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief
from bayesduel.jit import compiled
from bayesduel.policies.identification import best_by
from bayesduel.policies.last_duel import ask, draw_arm, no_duel, outcome_or_draw
from bayesduel.policies.policy import PairPolicy

__all__ = ["VersatileDB"]


class Memory(NamedTuple):
    """Losses and weights of the sides, shape (2, K); (1, K) where they are shared."""

    losses: np.ndarray  # less the smallest one, which makes no difference to weights
    weights: np.ndarray
    asked: np.ndarray  # the duel asked for last


@compiled
def select(belief, memory, t, rng):
    """Return an arm of each side, by its weights; they may coincide."""
    losses = memory.losses
    weights = memory.weights
    last = len(losses) - 1  # the second side, or the only one
    won = outcome_or_draw(memory.asked, belief, rng)
    if won >= 0:
        i, j = belief.last
        losses[0, i] += (1 - won) / weights[0, i] / (2 - last)
        losses[last, j] += won / weights[last, j] / (2 - last)
    for side in range(last + 1):
        losses[side] -= losses[side].min()
        weights[side] = tsallis_weights(losses[side], 2 / sqrt(t))
    first = draw_arm(weights[0], rng)
    return ask(memory.asked, belief, first, draw_arm(weights[last], rng))


@compiled
def tsallis_weights(losses, eta):
    """Return the weights of arms, whose smallest loss is 0."""
    x = -2 / eta
    while True:
        weights = 4 / (eta * (losses - x)) ** 2
        excess = weights.sum() - 1
        # How much the sum of weights may exceed 1: 1e-12
        if excess <= 1e-12:
            return weights
        x -= excess / (eta * (weights**1.5).sum())


@dataclass(frozen=True, kw_only=True)
class VersatileDB(PairPolicy):
    """Versatile-DB, for preferences that are constant, or that change in any way.

    Parameters
    ----------
    shared
        Both sides use the same weights and the mean of their losses.
    """

    shared: bool = False
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    reference: ClassVar[str] = "Saha & Gaillard, ICML 2022, Algorithm 3"
    guarantee: ClassVar[str] = (
        "Condorcet regret O(sum over arms of log T / gap) and, if preferences change, O(sqrt(K T))"
    )

    def init(self, n_arms: int) -> Memory:
        shape = 1 if self.shared else 2, n_arms
        return Memory(np.zeros(shape), np.full(shape, 1 / n_arms), no_duel())

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the arm with the least loss of both sides."""
        return best_by(-memory.losses.sum(axis=0), belief)
