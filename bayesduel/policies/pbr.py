"""Preference-Based Racing (PBR): racing for the k best arms.

Every round duels once each pair that can still change the selection. Arms whose score is among
the k best by its bounds are selected, arms whose score is not are discarded.

References
----------
Busa-Fekete, Szörényi, Weng, Cheng & Hüllermeier, "Top-k Selection based on Adaptive Sampling
of Noisy Preferences", ICML 2013, Algorithms 1 to 4. Deviations: under "random_walk" the
perturbation bound is a heuristic (the printed one is reported to be in error), and every
pair is duelled in every round. That bound is loose: at T = 1e5 and delta = 1 / T it asks for
some 526,000 duels of each pair on Cyclic-4, and more on most matrices of the literature, so
that the race under "random_walk" is over only where the gap in the stationary law is wide.
"""

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, Bernstein, Hoeffding, bounds, shares
from bayesduel.beliefs.query import met
from bayesduel.jit import compiled
from bayesduel.policies.identification import Answer, best_by, conclude, no_answer, take_pair
from bayesduel.policies.pbr_random_walk import stationary, walk_is_settled
from bayesduel.policies.policy import HorizonPolicy

if TYPE_CHECKING:
    from bayesduel.policies.top_k.margin_race import MarginRace

__all__ = ["PBR"]

COPELAND, BORDA, WALK = range(3)
CRITERIA = {"copeland": COPELAND, "borda": BORDA, "random_walk": WALK}


class Memory(NamedTuple):
    criterion: int
    k: int
    budget: float
    cap: float  # duels per pair at most
    # Pairs still to duel in this round, first index below the second, shape (K, K).
    current: np.ndarray
    # selected, discarded: arms decided to be among the k best, and not to be, shape (K,).
    selected: np.ndarray
    discarded: np.ndarray
    answer: Answer  # the best arm, once the race is over


@compiled
def select(belief, memory, t, rng):
    """Return the next pair of the round, or the answer against itself."""
    answer = memory.answer.arm[0]
    if answer >= 0:
        return answer, answer
    current = memory.current
    if not current.any():
        end_round(belief, memory)
        if not current.any():
            return conclude(memory.answer, best(belief, memory), t)
    return take_pair(current)


@compiled
def best(belief, memory):
    """Return the arm to exploit: the best score among those not discarded."""
    score = np.where(memory.discarded, -1.0, scores(belief, memory.criterion))
    return np.where(memory.selected, 1 + score, score).argmax()


@compiled
def scores(belief, criterion):
    """Return the scores of the arms by the observed shares, shape (K,)."""
    share = shares(belief)
    if criterion == COPELAND:
        return (share > 0.5).sum(axis=1).astype(np.float64)
    if criterion == BORDA:
        return share.sum(axis=1)
    return stationary(share)


@compiled
def end_round(belief, memory):
    """Select and discard the decided arms, and list the pairs of the next round."""
    lower, upper = bounds(belief, memory.budget)
    n_arms = len(lower)
    if memory.criterion == WALK:
        if not walk_is_settled(shares(belief), upper, memory.k):
            enlist(belief, memory, np.zeros((n_arms, n_arms), np.bool_))
        return
    if memory.criterion == COPELAND:
        low = (lower > 0.5).sum(axis=1).astype(np.float64)
        high = n_arms - 1.0 - (lower > 0.5).sum(axis=0)
        settled = (lower > 0.5) | (upper < 0.5)
    else:
        low = lower.sum(axis=1)
        high = upper.sum(axis=1)
        settled = np.zeros((n_arms, n_arms), np.bool_)
    for i in range(n_arms):
        if (high < low[i]).sum() >= n_arms - memory.k:
            memory.selected[i] = True
        if (low > high[i]).sum() >= memory.k:
            memory.discarded[i] = True
    enlist(belief, memory, settled)


@compiled
def enlist(belief, memory, settled):
    """List the unsettled pairs of an undecided arm, below the cap."""
    n_arms = len(settled)
    undecided = ~(memory.selected | memory.discarded)
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            n = met(belief, i, j)
            matters = undecided[i] or undecided[j]
            memory.current[i, j] = matters and n < memory.cap and not settled[i, j]


@dataclass(frozen=True, kw_only=True)
class PBR(HorizonPolicy):
    """Preference-based racing for the k best arms; in simulations of regret, then self-duels.

    On score duels (``bayesduel.simulate`` with ``k``) it races by mean margins: under "borda", with
    the experiment's k and its budget for the horizon.

    Parameters
    ----------
    criterion
        The score that is meant: "copeland", "borda" or "random_walk".
    k
        How many arms to select.
    delta
        Probability of a wrong selection. Default: 1 / horizon.
    cap
        Duels per pair at most. Default: the horizon.
    """

    criterion: Literal["copeland", "borda", "random_walk"] = "copeland"
    k: int = 1
    horizon: float | None = None
    delta: float | None = None
    cap: float | None = None
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Busa-Fekete et al., ICML 2013, Algorithms 1 to 4"
    guarantee: ClassVar[str] = "correct with probability 1 - delta under copeland and borda"
    ranges: ClassVar = {"k": "at least 1", "cap": "at least 1"}

    def init(self, n_arms: int) -> Memory:
        horizon = self.known_horizon()
        if not self.k < n_arms:
            raise ValueError(f"n_arms should be more than k = {self.k}, got {n_arms}")
        cap = float(self.cap or horizon)
        delta = float(self.delta or 1 / horizon)
        return Memory(
            criterion=CRITERIA[self.criterion],
            k=int(self.k),
            budget=log(2 * n_arms**2 * cap / delta),
            cap=cap,
            current=np.triu(np.ones((n_arms, n_arms), np.bool_), 1),
            selected=np.zeros(n_arms, np.bool_),
            discarded=np.zeros(n_arms, np.bool_),
            answer=no_answer(),
        )

    def on_margins(self, k: int, budget: int) -> "MarginRace":
        """Return the same race on score duels."""
        from bayesduel.policies.top_k.margin_race import MarginRace

        if self.criterion != "borda":
            raise ValueError(f"criterion should be 'borda' on score duels, got {self.criterion!r}")
        if not isinstance(self.belief, Hoeffding | Bernstein):
            raise ValueError(
                f"belief should be Hoeffding() or Bernstein() on score duels, got {self.belief!r}"
            )
        if self.k not in (1, k):
            raise ValueError(f"policies should select k = {k} arms, got {self!r}")
        horizon = float(self.horizon or budget)
        return MarginRace(
            k=k,
            horizon=horizon,
            delta=float(self.delta or 1 / horizon),
            cap=float(self.cap or horizon),
            bernstein=isinstance(self.belief, Bernstein),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        return best_by(scores(belief, memory.criterion), belief)

    def selection(self, belief: Belief, memory: Memory) -> np.ndarray:
        """Return the k selected arms: the decided ones, then the best so far; bool, shape (K,)."""
        rank = np.lexsort((-scores(belief, memory.criterion), memory.discarded, ~memory.selected))
        return np.isin(np.arange(len(rank)), rank[: memory.k])
