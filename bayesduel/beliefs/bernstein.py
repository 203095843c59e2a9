"""The empirical Bernstein bound: narrow where outcomes vary little.

References
----------
Maurer & Pontil, "Empirical Bernstein bounds and sample variance penalization", COLT 2009,
Theorem 4: with L = budget + ln 2 and V the sample variance, the mean plus
sqrt(2 V L / n) + 7 L / (3 (n - 1)).
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import ClassVar

from bayesduel.beliefs.belief import BY_BERNSTEIN, BeliefSpec
from bayesduel.jit import compiled

__all__ = ["Bernstein", "bernstein_upper"]


@dataclass(frozen=True, kw_only=True)
class Bernstein(BeliefSpec):
    """Bounds by the empirical Bernstein inequality, at a fixed number of duels.

    Tighter than Hoeffding's for one-sided pairs once a few dozen duels are in.
    """

    kind: ClassVar[int] = BY_BERNSTEIN


@compiled
def bernstein_upper(wins, losses, budget):
    """Return the upper bound on a win probability; infinity before the second duel."""
    n = wins + losses
    if n < 2:
        return inf
    variance = wins * losses / (n * (n - 1))
    level = budget + log(2.0)
    of_variance = sqrt(2 * variance * level / n)
    of_range = 7 * level / (3 * (n - 1))
    return wins / n + of_variance + of_range
