"""Hoeffding's inequality: the mean, plus or minus sqrt(budget / 2n).

References
----------
Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 1963,
Theorem 1.
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import ClassVar

from bayesduel.beliefs.belief import BY_HOEFFDING, BeliefSpec
from bayesduel.jit import compiled

__all__ = ["Hoeffding", "hoeffding_upper"]


@dataclass(frozen=True, kw_only=True)
class Hoeffding(BeliefSpec):
    """Bounds by Hoeffding's inequality, at a number of duels fixed beforehand.

    Not clipped to [0, 1]: dueling-bandit rules compare them.
    """

    kind: ClassVar[int] = BY_HOEFFDING


@compiled
def hoeffding_upper(wins, losses, budget):
    """Return the upper bound on a win probability; infinity before the first duel."""
    n = wins + losses
    if n == 0:
        return inf
    return wins / n + sqrt(budget / (2 * n))
