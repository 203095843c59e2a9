"""RankEl: duel every undecided pair in turn until the Copeland ranking is decided.

References
----------
Busa-Fekete, Szörényi & Hüllermeier, "PAC Rank Elicitation through Adaptive Sampling of
Stochastic Pairwise Preferences", AAAI 2014. Deviation: the paper's constants were not at
hand; radii are Hoeffding's with a union bound over pairs and numbers of duels. For one
winner it is racing without the early elimination of arms, as Zoghi et al. 2015 use it.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import BeliefSpec, Hoeffding, bounds, pick
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, conclude, no_answer
from bayesduel.policies.policy import HorizonPolicy

__all__ = ["RankEl"]


class Memory(NamedTuple):
    """State of RankEl between duels.

    Attributes
    ----------
    budget, threshold, rho
        ln(2 N T / delta); 1/2 + epsilon; discordant pairs allowed.
    current
        Pairs still to duel in this round, first index below the second, shape (K, K).
    answer
        The first of the ranking.
    """

    budget: float
    threshold: float
    rho: float
    current: np.ndarray
    answer: Answer


@compiled
def select(belief, memory, t, rng):
    """Return the next pair of the round, or the answer against itself."""
    if memory.answer.arm[0] >= 0:
        return memory.answer.arm[0], memory.answer.arm[0]
    current = memory.current
    if not current.any():
        place = end_round(belief, memory)
        if not current.any():
            return conclude(memory.answer, pick(place == place.max(), rng), t)
    for i in range(len(current)):
        for j in range(i + 1, len(current)):
            if current[i, j]:
                current[i, j] = False
                return i, j
    raise RuntimeError("a round of RankEl should hold a pair")


@compiled
def end_round(belief, memory):
    """List the pairs of the next round, none if the ranking is decided.

    Returns
    -------
    The ranking score, shape (K,): decided wins, then possible wins.
    """
    lower, upper = bounds(belief, memory.budget)
    n_arms = len(lower)
    sure = np.zeros(n_arms, np.int64)
    possible = np.zeros(n_arms, np.int64)
    for i in range(n_arms):
        for j in range(n_arms):
            if i != j:
                sure[i] += lower[i, j] > memory.threshold
                possible[i] += upper[i, j] >= memory.threshold
    unclear = 0
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            unclear += not (sure[i] >= possible[j] or sure[j] >= possible[i])
            open_ij = lower[i, j] <= memory.threshold <= upper[i, j]
            open_ji = lower[j, i] <= memory.threshold <= upper[j, i]
            memory.current[i, j] = open_ij or open_ji
    if unclear <= memory.rho:
        memory.current[:] = False
    return sure * n_arms + possible


@dataclass(frozen=True, kw_only=True)
class RankEl(HorizonPolicy):
    """RankEl: elicit the Copeland ranking, then exploit its first arm by self-duels.

    Parameters
    ----------
    belief
        The belief that bounds P.
    horizon
        Total number of duels. Default: the simulation's.
    delta
        Probability of a wrong ranking. Default: 1 / horizon.
    epsilon
        An arm beats another if it wins with more than 1/2 + epsilon, in [0, 1/2).
    rho
        Stop when at most this many pairs of arms may stand in the wrong order.

    Raises
    ------
    ValueError
        If a setting is out of its range.
    """

    belief: BeliefSpec = Hoeffding()
    horizon: float | None = None
    delta: float | None = None
    epsilon: float = 0.0
    rho: float = 0
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Busa-Fekete, Szörényi & Hüllermeier, AAAI 2014"
    guarantee: ClassVar[str] = "ranking correct up to rho with probability 1 - delta"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_horizon(self.delta)
        if not 0 <= self.epsilon < 0.5:
            raise ValueError(f"epsilon should be in [0, 0.5), got {self.epsilon}")
        if not self.rho >= 0:
            raise ValueError(f"rho should be >= 0, got {self.rho}")

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel.

        Raises
        ------
        ValueError
            If `horizon` is not known.
        """
        horizon = self.known_horizon()
        delta = float(self.delta or 1 / horizon)
        return Memory(
            budget=log(n_arms * (n_arms - 1) * horizon / delta),
            threshold=0.5 + self.epsilon,
            rho=float(self.rho),
            current=np.triu(np.ones((n_arms, n_arms), np.bool_), 1),
            answer=no_answer(),
        )
