"""RankEl: duel every undecided pair in turn until the ranking is decided.

The ranking is by Copeland or by Borda scores; it is decided where its distance from the true one,
in discordant pairs or as the largest difference of an arm's ranks, is small enough for every P
within the bounds.

References
----------
Busa-Fekete, Szörényi & Hüllermeier, "PAC Rank Elicitation through Adaptive Sampling of
Stochastic Pairwise Preferences", AAAI 2014. Deviation: the paper's constants were not at
hand; radii are Hoeffding's with a union bound over pairs and numbers of duels, and under "borda"
a pair is duelled while an arm of it may stand on either side of another. For one winner it is
racing without the early elimination of arms, as Zoghi et al. 2015 use it.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs import bounds, pick
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, conclude, no_answer, take_pair
from bayesduel.policies.policy import HorizonPolicy

__all__ = ["RankEl"]


class Memory(NamedTuple):
    budget: float  # ln(2 N T / delta)
    threshold: float  # 1/2 + epsilon
    borda: bool  # the criterion
    by_rank: bool  # the distance
    rho: float  # how much of it is allowed
    # Pairs still to duel in this round, first index below the second, shape (K, K).
    current: np.ndarray
    answer: Answer  # the first of the ranking


@compiled
def select(belief, memory, t, rng):
    """Return the next pair of the round, or the answer against itself."""
    answer = memory.answer.arm[0]
    if answer >= 0:
        return answer, answer
    current = memory.current
    if not current.any():
        place = end_round(belief, memory)
        if not current.any():
            return conclude(memory.answer, pick(place == place.max(), rng), t)
    return take_pair(current)


@compiled
def end_round(belief, memory):
    """List the pairs of the next round, none if the ranking is decided.

    Returns the ranking score, shape (K,): decided wins, then possible wins; under "borda" the
    middle of the bounds on the score.
    """
    lower, upper = bounds(belief, memory.budget)
    n_arms = len(lower)
    low = np.zeros(n_arms)
    high = np.zeros(n_arms)
    for i in range(n_arms):
        for j in range(n_arms):
            if i != j and memory.borda:
                low[i] += max(lower[i, j], 0.0)
                high[i] += min(upper[i, j], 1.0)
            elif i != j:
                low[i] += lower[i, j] > memory.threshold
                high[i] += upper[i, j] >= memory.threshold
    place = low + high if memory.borda else low * n_arms + high
    unclear = np.zeros((n_arms, n_arms), np.bool_)
    for i in range(n_arms):
        for j in range(n_arms):
            clear = low[i] >= high[j] or low[j] >= high[i]
            unclear[i, j] = i != j and not clear
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            if memory.borda:
                memory.current[i, j] = unclear[i].any() or unclear[j].any()
            else:
                open_ij = lower[i, j] <= memory.threshold <= upper[i, j]
                open_ji = lower[j, i] <= memory.threshold <= upper[j, i]
                memory.current[i, j] = open_ij or open_ji
    if distance(unclear, place, memory.by_rank) <= memory.rho:
        memory.current[:] = False
    return place


@compiled
def distance(unclear, place, by_rank):
    """Return how far the ranking by `place` can be from the true one.

    Discordant pairs, or by rank: the largest number of unclear arms on one side of an arm.
    """
    if not by_rank:
        return unclear.sum() // 2
    order = np.argsort(-place)
    largest = 0
    for rank in range(len(order)):
        in_order = unclear[order[rank]][order]
        above = in_order[:rank].sum()
        below = in_order[rank + 1 :].sum()
        largest = max(largest, above, below)
    return largest


@dataclass(frozen=True, kw_only=True)
class RankEl(HorizonPolicy):
    """RankEl: elicit the ranking, then exploit its first arm by self-duels.

    Parameters
    ----------
    criterion
        The score by which arms are ranked: "copeland" or "borda".
    distance
        From the true ranking: "pairs", the number of discordant pairs (Kendall), or "rank", the
        largest difference between an arm's ranks.
    delta
        Probability of a wrong ranking. Default: 1 / horizon.
    epsilon
        An arm beats another if it wins with more than 1/2 + epsilon, in [0, 1/2); 0 under "borda".
    rho
        Stop when the distance is at most this.
    """

    criterion: Literal["copeland", "borda"] = "copeland"
    distance: Literal["pairs", "rank"] = "pairs"
    horizon: float | None = None
    delta: float | None = None
    epsilon: float = 0.0
    rho: float = 0
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Busa-Fekete, Szörényi & Hüllermeier, AAAI 2014"
    guarantee: ClassVar[str] = "ranking correct up to rho with probability 1 - delta"
    ranges: ClassVar = {"epsilon": "in [0, 0.5)", "rho": ">= 0"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.criterion == "borda" and self.epsilon != 0:
            raise ValueError(f"epsilon should be 0 under 'borda', got {self.epsilon}")

    def init(self, n_arms: int) -> Memory:
        horizon = self.known_horizon()
        delta = float(self.delta or 1 / horizon)
        return Memory(
            budget=log(n_arms * (n_arms - 1) * horizon / delta),
            threshold=0.5 + self.epsilon,
            borda=self.criterion == "borda",
            by_rank=self.distance == "rank",
            rho=float(self.rho),
            current=np.triu(np.ones((n_arms, n_arms), np.bool_), 1),
            answer=no_answer(),
        )
