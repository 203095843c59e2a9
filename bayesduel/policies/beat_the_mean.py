"""Beat the Mean: eliminate the arms that lose to the average of the active arms.

References
----------
Yue & Joachims, "Beat the Mean Bandit", ICML 2011, Algorithm 1. Deviation: an arm does not
duel itself, since a self-duel carries no information.
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, pick
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, best_by, conclude, no_answer
from bayesduel.policies.last_duel import ask, no_duel, outcome
from bayesduel.policies.policy import HorizonPolicy

__all__ = ["BeatTheMean"]


class Memory(NamedTuple):
    log_inverse_delta: float
    factor: float  # the radius is ``factor sqrt(ln(1 / delta) / n)``
    active: np.ndarray  # arms not eliminated, shape (K,)
    # wins, duels: of i as first arm against j, shape (K, K).
    wins: np.ndarray
    duels: np.ndarray
    asked: np.ndarray  # the duel asked for last
    answer: Answer  # the last arm left


@compiled
def select(belief, memory, t, rng):
    """Return the active arm with fewest duels, and a random other active arm."""
    answer = memory.answer.arm[0]
    if answer >= 0:
        return answer, answer
    learn(belief, memory, rng)
    active = memory.active
    if active.sum() == 1:
        return conclude(memory.answer, pick(active, rng), t)
    counts = np.where(active, memory.duels.sum(axis=1), inf)
    first = pick(counts == counts.min(), rng)
    others = active.copy()
    others[first] = False
    second = pick(others, rng)
    return ask(memory.asked, belief, first, second)


@compiled
def learn(belief, memory, rng):
    """Count the last duel, for its first arm only; eliminate the worst arm if it is separated."""
    won = outcome(memory.asked, belief)
    if won < 0:
        return
    i, j = belief.last
    memory.wins[i, j] += won
    memory.duels[i, j] += 1
    n = memory.duels.sum(axis=1)
    mean = np.full(len(n), 0.5)
    for k in range(len(n)):
        if n[k] > 0:
            mean[k] = memory.wins[k].sum() / n[k]
    fewest = np.where(memory.active, n, inf).min()
    radius = 1.0
    if fewest > 0:
        radius = memory.factor * sqrt(memory.log_inverse_delta / fewest)
    lowest = np.where(memory.active, mean, inf).min()
    highest = np.where(memory.active, mean, -inf).max()
    if lowest + radius <= highest - radius:
        worst = pick(memory.active & (mean == lowest), rng)
        memory.active[worst] = False
        memory.wins[:, worst] = 0
        memory.duels[:, worst] = 0


@dataclass(frozen=True, kw_only=True)
class BeatTheMean(HorizonPolicy):
    """Beat the Mean: eliminate arms that lose to the average, then exploit the last one.

    Parameters
    ----------
    gamma
        Assumed degree of relaxed stochastic transitivity, >= 1.
    factor
        Factor of the confidence radius: 3 in the paper; 1 in some experiments.
    """

    horizon: float | None = None
    gamma: float = 1.0
    factor: float = 3.0
    select: ClassVar = staticmethod(select)
    reads: ClassVar = "counts"
    reference: ClassVar[str] = "Yue & Joachims, ICML 2011, Algorithm 1"
    guarantee: ClassVar[str] = "O(gamma^7 K log T / gap) under relaxed stochastic transitivity"
    ranges: ClassVar = {"gamma": "at least 1", "factor": "> 0"}

    def init(self, n_arms: int) -> Memory:
        horizon = self.known_horizon()
        return Memory(
            log_inverse_delta=log(2 * horizon * n_arms),
            factor=self.factor * self.gamma**2,
            active=np.ones(n_arms, np.bool_),
            wins=np.zeros((n_arms, n_arms)),
            duels=np.zeros((n_arms, n_arms)),
            asked=no_duel(),
            answer=no_answer(),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the active arm that wins most against the others."""
        n = memory.duels.sum(axis=1)
        mean = np.divide(memory.wins.sum(axis=1), n, out=np.full(len(n), 0.5), where=n > 0)
        return best_by(np.where(memory.active, mean, -1), belief)
