"""BETC-GLM: explore pairs by an optimal design for T^(2/3) duels, then commit to one item.

First `explore` uniformly random pairs; then each pair (i, j) of a design that is optimal for the
differences of attributes, ``ceil(n weight / error^2)`` times; then the item with the largest
estimated Borda score against itself. With differences of attributes the win probability rises
with the utility of an item, so that the item of the largest Borda score is that of the largest
utility.

References
----------
Wu, Jin, Di, Lou, Farnoud & Gu, "Borda Regret Minimization for Generalized Linear Dueling Bandits",
ICML 2024, Algorithm 1 with the error of its theorem, ``n^(1/6) T^(-1/3)``; the abstract could be
read, the algorithm is recalled. Deviations: the posterior mode under a normal prior in place of the
maximum likelihood estimate, which need not exist; the theorem leaves the constant of the number of
random pairs open, here 1: ``(n + ln T) / lambda^2``, with lambda the least eigenvalue of the mean
of z z' over the differences z of all pairs; the design is D-optimal to 1 %, which is G-optimal as
well (Kiefer and Wolfowitz).
"""

from dataclasses import dataclass
from math import ceil, log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs.best_item import best_item
from bayesduel.beliefs.item_belief import ItemSet, finite_only
from bayesduel.jit import compiled
from bayesduel.policies.contextual.optimal_design import optimal_design
from bayesduel.policies.policy import HorizonRule, ItemDuelPolicy

__all__ = ["BETCGLM"]


class Memory(NamedTuple):
    """The pairs of the exploration, and the item that is exploited."""

    explore: int  # how many random pairs
    first: np.ndarray  # items of the design's pairs, shape (s,)
    second: np.ndarray  # shape (s,)
    until: np.ndarray  # how many duels of the design are over after each pair, shape (s,)
    best: np.ndarray  # the exploited item, -1 before, shape (1,)


@compiled
def select(belief, memory, t, rng):
    """Return the next pair."""
    if t <= memory.explore:
        m = len(belief.pulls)
        return rng.integers(0, m), rng.integers(0, m)
    k = np.searchsorted(memory.until, t - memory.explore)
    if k < len(memory.until):
        return memory.first[k], memory.second[k]
    if memory.best[0] < 0:
        memory.best[0] = best_item(belief, belief.mode)
    return memory.best[0], memory.best[0]


@dataclass(frozen=True, kw_only=True)
class BETCGLM(HorizonRule, ItemDuelPolicy):
    """Explore then commit, for Borda regret in duels of a table of items with attributes.

    Parameters
    ----------
    explore
        How many uniformly random pairs come first. Default: by the attributes and the horizon.
    error
        Error of the estimate that the design is to reach, in (0, 1]. Default: by the horizon.

    Examples
    --------
    >>> problem = bd.problems.LogisticDuels(n_arms=20)
    >>> trace = bd.simulate(bd.policies.BETCGLM(), problem, 500, seed=0)
    >>> bd.regret(trace).isel(time=-1).shape  # by policy and replication
    (1, 1)
    """

    horizon: float | None = None
    explore: int | None = None
    error: float | None = None
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Wu, Jin, Di, Lou, Farnoud & Gu, ICML 2024, Algorithm 1"
    guarantee: ClassVar[str] = "Borda regret O(n^(2/3) T^(2/3)) up to logarithms"
    finite: ClassVar[bool] = True
    ranges: ClassVar = {"explore": "at least 0", "error": "in (0, 1]"}

    def init(self, items: ItemSet) -> Memory:
        """Return the memory before the first duel; raise ValueError unless there is a table."""
        finite_only(self, items)
        m, n = items.attributes.shape
        if not items.attributes.any():
            raise ValueError(
                "problem should have a table of items for BETCGLM, got items that are new in every "
                "round. VACDB, MaxInP and CoLSTIM can play with new items"
            )
        horizon = self.known_horizon()
        first, second = np.triu_indices(m, 1)
        differences = items.attributes[first] - items.attributes[second]
        pairs, weight = optimal_design(differences)
        error = self.error or n ** (1 / 6) * horizon ** (-1 / 3)
        explore = self.explore
        if explore is None:
            mean = 2 / m**2 * differences.T @ differences  # over ordered pairs, i = j included
            explore = ceil((n + log(horizon)) / np.linalg.eigvalsh(mean)[0] ** 2)
        return Memory(
            explore=explore,
            first=first[pairs],
            second=second[pairs],
            until=np.ceil(n * weight / error**2).cumsum(),
            best=np.full(1, -1, np.int64),
        )
