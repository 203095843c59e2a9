"""D-EXP3: both arms by exponential weights of estimated Borda scores.

References
----------
Saha, Koren & Mansour, "Adversarial Dueling Bandits", ICML 2021, Algorithm 1 with the constants of
its theorem on expected regret. Deviations: the share of uniform draws, ``sqrt(eta K)``, is at most
1; the outcome of an arm's duel with itself is drawn by the policy.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief
from bayesduel.jit import compiled
from bayesduel.policies.identification import best_by
from bayesduel.policies.last_duel import ask, draw_arm, no_duel, outcome_or_draw
from bayesduel.policies.policy import HorizonPolicy

__all__ = ["DEXP3"]


class Memory(NamedTuple):
    eta: float  # the learning rate
    gamma: float  # the share of uniform draws
    scores: np.ndarray  # sums of estimated Borda scores, shape (K,)
    weights: np.ndarray  # the chances of arms, shape (K,)
    asked: np.ndarray  # the duel asked for last


@compiled
def select(belief, memory, t, rng):
    """Return two independent draws; they may coincide."""
    scores = memory.scores
    weights = memory.weights
    n_arms = len(scores)
    won = outcome_or_draw(memory.asked, belief, rng)
    if won >= 0:
        i, j = belief.last
        scores[i] += won / (n_arms * weights[i] * weights[j])
        weights[:] = np.exp(memory.eta * (scores - scores.max()))
        weights[:] = (1 - memory.gamma) * weights / weights.sum() + memory.gamma / n_arms
    first = draw_arm(weights, rng)
    return ask(memory.asked, belief, first, draw_arm(weights, rng))


@dataclass(frozen=True, kw_only=True)
class DEXP3(HorizonPolicy):
    """D-EXP3, for Borda regret where preferences may change in any way."""

    horizon: float | None = None
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    reference: ClassVar[str] = "Saha, Koren & Mansour, ICML 2021, Algorithm 1"
    guarantee: ClassVar[str] = "Borda regret O((K log K)^(1/3) T^(2/3)), if preferences change too"

    def init(self, n_arms: int) -> Memory:
        eta = (log(n_arms) / (self.known_horizon() * sqrt(n_arms))) ** (2 / 3)
        return Memory(
            eta=eta,
            gamma=min(sqrt(eta * n_arms), 1.0),
            scores=np.zeros(n_arms),
            weights=np.full(n_arms, 1 / n_arms),
            asked=no_duel(),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the arm with the largest estimated score."""
        return best_by(memory.scores, belief)
