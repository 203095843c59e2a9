"""Confidence sequences: bounds valid at all numbers of duels simultaneously.

*Betting.* A bettor against the probability q multiplies the wealth by ``theta/q`` after a win and
``(1-theta)/(1-q)`` after a loss. Averaged over theta under Beta(1/2, 1/2) the wealth is a
martingale if q is the truth, so it ever exceeds exp(budget) with probability at most
exp(-budget): the interval holds the q under which it has not. The wealth depends only on the
tallies, and the interval is Chernoff's with a larger budget.

*Stitched.* A radius by the law of the iterated logarithm, in closed form and wider.

References
----------
Robbins, "Statistical methods related to the law of the iterated logarithm", Ann. Math.
Stat. 1970; Waudby-Smith & Ramdas, "Estimating means of bounded random variables by
betting", JRSS B 2024; Orabona & Jun, "Tight concentrations and confidence sequences from
the regret of universal portfolio", IEEE Trans. Inf. Theory 2024 (the mixture).
Howard, Ramdas, McAuliffe & Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence
sequences", Ann. Stat. 2021, eq. 2 (stitched; one side, so 5.2 where they print 10.4).
"""

from dataclasses import dataclass
from math import inf, lgamma, log, pi, sqrt
from typing import Literal

from bayesduel.beliefs.belief import BY_BETTING, BY_STITCHED, Belief, BeliefSpec, fresh
from bayesduel.beliefs.kl import largest_within
from bayesduel.jit import compiled
from bayesduel.system.arguments import check_one_of

__all__ = ["ConfidenceSequence", "betting_upper", "stitched_upper"]


@dataclass(frozen=True, kw_only=True)
class ConfidenceSequence(BeliefSpec):
    """Bounds valid at every time simultaneously, for one budget.

    Parameters
    ----------
    method
        "betting" (tighter) or "stitched" (closed form).
    """

    method: Literal["betting", "stitched"] = "betting"

    def __post_init__(self) -> None:
        check_one_of(self.method, "method", ("betting", "stitched"))

    def init(self, n_arms: int) -> Belief:
        return fresh(n_arms, BY_BETTING if self.method == "betting" else BY_STITCHED)


@compiled
def betting_upper(wins, losses, budget):
    """Return the upper bound on a win probability; infinity before the first duel."""
    n = wins + losses
    if n == 0:
        return inf
    # ln of the wealth if q is the empirical mean.
    beta = lgamma(wins + 0.5) + lgamma(losses + 0.5) - lgamma(n + 1)
    wealth = beta - log(pi)
    if wins > 0:
        wealth -= wins * log(wins / n)
    if losses > 0:
        wealth -= losses * log(losses / n)
    return largest_within(wins / n, (budget - wealth) / n)


@compiled
def stitched_upper(wins, losses, budget):
    """Return the upper bound on a win probability; infinity before the first duel."""
    n = wins + losses
    if n == 0:
        return inf
    looks = log(log(2 * n))
    level = 0.72 * (log(5.2) + budget)
    return wins / n + 0.85 * sqrt((looks + level) / n)
