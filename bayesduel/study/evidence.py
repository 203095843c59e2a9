"""The posterior on a study's goal: draws, the answer, upsets and ties."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesduel.study.goal import Goal

__all__ = ["Evidence"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The posterior on the goal, as draws."""

    goal: Goal
    scores: np.ndarray  # posterior draws of the scores, shape (n, K)
    # function of (indices, indices) that returns the draws of the probability that the first beats
    # the second, shape (n, pairs)
    win: Any
    wins: np.ndarray  # times i beat j, a tie half a win each, shape (K, K)
    n_duels: int  # those of retired arms too
    # function of differences of scores that returns the probability of winning; None where it is no
    # function of them
    link: Any = None
    target: str = ""  # of several sources the one whose duels are counted

    @cached_property
    def order(self) -> np.ndarray:
        """The arms from the best to the worst by posterior mean score."""
        return np.argsort(-self.scores.mean(axis=0), kind="stable")

    @cached_property
    def upset(self) -> np.ndarray:
        """Largest probability, in each draw, that an arm below beats one above it, (n,)."""
        if self.link is not None:
            return self.link(self.goal.reversal(self.scores, self.order))
        above, below = self.goal.contrasts(self.order)
        found = np.full(len(self.scores), 0.0)
        for start in range(0, len(above), 2000):
            part = slice(start, start + 2000)
            chances = self.win(below[part], above[part])
            found = np.maximum(found, chances.max(axis=1))
        return found

    @cached_property
    def probability(self) -> float:
        """Posterior probability that the answer is right."""
        return float(self.goal.correct(self.scores, self.order).mean())

    def tied(self, rope: float, p: float) -> tuple[list[np.ndarray], float]:
        """Return the groups of arms that are tied within the rope where the answer is open.

        A group holds arms next to each other in the order, of which, with joint probability at
        least `p`, none beats another by more than the rope. It begins with two arms whose order
        the goal asks for and which are in this order with probability below `p`, and grows by the
        next arm up or down whose order with its neighbour is as open.

        rope: difference of the probability to win from one half that does not matter.
        p: posterior probability that all groups hold, and below which an order is open.
        Returns the groups, indices from the best to the worst, and the probability that all hold.
        """
        order = self.order
        placed = self.scores[:, order]
        ahead = placed[:, :-1] > placed[:, 1:]
        open_ = ahead.mean(axis=0) < p  # the order of place r and r + 1
        holds = np.ones(len(self.scores), bool)
        groups: list[np.ndarray] = []
        free = np.ones(len(order), bool)
        for border in self.goal.borders(len(order)):
            if not (open_[border] and free[border] and free[border + 1]):
                continue
            low = high = border
            while True:
                grown = []
                below = high + 1
                above = low - 1
                if below < len(order) and free[below] and open_[high]:
                    grown.append((low, below))
                if low > 0 and high > border and free[above] and open_[above]:
                    grown.append((above, high))
                if not grown:
                    break
                kept = [holds & self._within(order[a : b + 1], rope) for a, b in grown]
                chances = [each.mean() for each in kept]
                best = int(np.argmax(chances))
                if chances[best] < p:
                    break
                low, high = grown[best]
                joint = kept[best]
            if high > low:
                groups.append(order[low : high + 1])
                free[low : high + 1] = False
                holds = joint
        return groups, float(holds.mean())

    def _within(self, arms: np.ndarray, rope: float) -> np.ndarray:
        """Return whether no arm of a group beats another by more than the rope, shape (n,)."""
        above, below = np.triu_indices(len(arms), 1)
        chances = self.win(arms[above], arms[below])
        return (np.abs(chances - 0.5) <= rope).all(axis=1)
