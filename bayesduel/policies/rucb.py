"""Relative Upper Confidence Bound (RUCB).

An arm that may still be the Condorcet winner, on its best behaviour, meets the arm most
likely to beat it.

References
----------
Zoghi, Whiteson, Munos & de Rijke, "Relative Upper Confidence Bound for the K-Armed
Dueling Bandit Problem", ICML 2014, Algorithm 1. Deviations: none. Without a Condorcet
winner its regret is linear.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Hoeffding, Recipe, pick, upper_against
from bayesduel.beliefs.decided_pairs import Standings, open_standings, refresh, survey
from bayesduel.jit import compiled

__all__ = ["RUCB"]


class Memory(NamedTuple):
    """The hypothesised best arm (-1 if none), shape (1,), and what is decided."""

    alpha: float
    best: np.ndarray
    standings: Standings


@dataclass(frozen=True, kw_only=True)
class RUCB:
    """Relative Upper Confidence Bound, for Condorcet regret.

    Parameters
    ----------
    belief
        What bounds P. Default: Hoeffding's inequality, kept by crossing times.
    alpha
        Exploration constant, > 0.5; the expected regret bound needs alpha > 1.

    Raises
    ------
    ValueError
        If ``alpha <= 0.5``.
    """

    belief: Recipe = Hoeffding()
    alpha: float = 0.51
    source: ClassVar[str] = "Zoghi et al., ICML 2014, Algorithm 1"
    guarantee: ClassVar[str] = "Condorcet regret O(K log T + K^2); linear without such a winner"

    def __post_init__(self) -> None:
        if not self.alpha > 0.5:
            raise ValueError(f"alpha should be > 0.5, got {self.alpha}")

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        return Memory(float(self.alpha), np.full(1, -1, np.int64), open_standings(n_arms))

    @property
    def select(self):
        """The compiled rule: by crossing times for Hoeffding's bound, else the plain one."""
        return select_by_crossings if isinstance(self.belief, Hoeffding) else select


@compiled
def select(belief, memory, t, rng):
    """Name the next pair, (champion, challenger), from the bounds of any belief."""
    survey(memory.standings, belief, memory.alpha, t)
    return choose(belief, memory, t, rng)


@compiled
def select_by_crossings(belief, memory, t, rng):
    """Name the pair ``select`` would, in O(K) a step, under Hoeffding's bound."""
    refresh(memory.standings, belief, memory.alpha, t)
    return choose(belief, memory, t, rng)


@compiled
def choose(belief, memory, t, rng):
    """Name the next pair once it is known what is decided."""
    best = memory.best
    unbeaten = memory.standings.sure_losses == 0
    n_unbeaten = unbeaten.sum()
    if best[0] >= 0 and not unbeaten[best[0]]:
        best[0] = -1

    if n_unbeaten == 0:
        champion = pick(~unbeaten, rng)
    elif n_unbeaten == 1:
        champion = pick(unbeaten, rng)
        best[0] = champion
    elif best[0] >= 0 and rng.random() < 0.5:
        champion = best[0]
    else:
        if best[0] >= 0:
            unbeaten[best[0]] = False
        champion = pick(unbeaten, rng)

    upper = upper_against(belief, champion, 2 * memory.alpha * log(t))
    challengers = upper == upper.max()
    if challengers.sum() > 1:
        challengers[champion] = False
    return champion, pick(challengers, rng)
