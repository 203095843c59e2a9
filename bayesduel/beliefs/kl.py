"""Chernoff's bound for Bernoulli variables, inverted: all q with n kl(mean, q) <= budget.

``largest_within`` finds the largest such q, ``log_upper_gap`` ln(1 - q) for q so close to 1 that
1 - q would be rounded.

References
----------
Chernoff, "A measure of asymptotic efficiency", Ann. Math. Stat. 1952; Garivier & Cappé,
"The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011, eq. 5.
"""

from dataclasses import dataclass
from math import exp, inf, log, log1p, sqrt
from typing import ClassVar

from bayesduel.beliefs.belief import BY_KL, BeliefSpec
from bayesduel.jit import compiled

__all__ = [
    "KL",
    "divergence_from_half",
    "kl_upper",
    "largest_within",
    "log_upper_gap",
    "negative_entropy",
]


@dataclass(frozen=True, kw_only=True)
class KL(BeliefSpec):
    """Bounds by Chernoff's inequality, at a number of duels fixed beforehand.

    Never wider than Hoeffding's.
    """

    kind: ClassVar[int] = BY_KL


@compiled
def kl_upper(wins, losses, budget):
    """Return the upper bound on a win probability; infinity before the first duel."""
    n = wins + losses
    if n == 0:
        return inf
    return largest_within(wins / n, budget / n)


@compiled
def largest_within(p, c):
    """Return the largest q with kl(p, q) <= c, to machine precision.

    Newton's method on the distance q - p, from the right: the divergence is convex in q,
    so every step stays right of the root and shrinks the distance.
    """
    if c <= 0 or p >= 1:
        return min(p, 1.0)
    if p <= 0:
        return 1 - exp(-c)
    # Two upper bounds on the distance: Pinsker's, and dropping the term -p ln q >= 0.
    loss = 1 - p
    exponent = -(c - p * log(p)) / loss
    pinsker = sqrt(c / 2)
    without_term = loss * (1 - exp(exponent))
    distance = min(pinsker, without_term)
    for _ in range(100):
        if distance >= loss:
            return 1.0
        of_wins = -p * log1p(distance / p)
        of_losses = loss * log1p(-distance / loss)
        excess = of_wins - of_losses - c
        step = excess * (p + distance) * (loss - distance) / distance
        if not distance - step < distance:
            break
        distance -= step
    return p + distance


@compiled
def log_upper_gap(p, c):
    """Return ln(1 - q) for the largest q with kl(p, q) <= c, however close q is to 1.

    Newton's method on v = ln(1 - q) from the left: the divergence is decreasing and convex
    in v, so no step oversteps the root.
    """
    if p >= 1:
        return -inf
    if p <= 0:
        return -c
    loss = 1 - p
    of_win = -p * log(p)
    entropy = of_win - loss * log1p(-p)
    v = -(c + entropy) / loss
    for _ in range(200):
        gap = exp(v)
        excess = -entropy - p * log1p(-gap) - loss * v - c
        slope = p * gap / (1 - gap) - loss
        new = v - excess / slope
        if not new > v:
            break
        v = new
    return v


@compiled
def divergence_from_half(p):
    """Return d(p) = kl(p, 1/2), in [0, ln 2]."""
    total = log(2.0)
    if p > 0:
        total += p * log(p)
    if p < 1:
        total += (1 - p) * log1p(-p)
    return max(total, 0.0)


@compiled
def negative_entropy(p):
    """Return p ln p + (1 - p) ln(1 - p), with 0 ln 0 = 0."""
    total = 0.0
    if p > 0:
        total += p * log(p)
    if p < 1:
        total += (1 - p) * log(1 - p)
    return total
