"""Independent Beta posteriors, one per pair.

References
----------
Thompson, "On the likelihood that one unknown probability exceeds another", Biometrika
1933. The incomplete Beta function by its continued fraction: DLMF 8.17.22, evaluated by
Lentz's method.
"""

from dataclasses import dataclass
from math import exp, inf, lgamma, log, log1p
from typing import ClassVar, Literal

from bayesduel.beliefs.belief import BOUNDS, FROM_BETA, Belief, BeliefSpec, fresh
from bayesduel.jit import compiled

__all__ = ["Beta", "beta_upper", "log_above"]


@dataclass(frozen=True, kw_only=True)
class Beta(BeliefSpec):
    """Independent posteriors P[i, j] ~ Beta(prior + wins[i, j], prior + wins[j, i]).

    Parameters
    ----------
    prior
        Pseudo-wins of either side, > 0. 1: uniform; 1/2: Jeffreys.
    bounds
        "quantile" of the posterior, or a frequentist bound on the same tallies:
        "hoeffding", "kl", "bernstein".
    """

    prior: float = 1.0
    bounds: Literal["quantile", "hoeffding", "kl", "bernstein"] = "quantile"
    can_sample: ClassVar[bool] = True
    ranges: ClassVar = {"prior": "positive and finite"}

    def init(self, n_arms: int) -> Belief:
        return fresh(n_arms, BOUNDS[self.bounds], FROM_BETA, self.prior)


@compiled
def beta_upper(a, b, budget):
    """Return the x that Beta(a, b) exceeds with probability exp(-budget).

    Newton's method on the logarithm of that probability, kept inside a bracket that
    each step narrows.
    """
    if budget <= 0:
        return 0.0
    low = 0.0
    high = 1.0
    x = a / (a + b)
    for _ in range(200):
        above = log_above(a, b, x)
        excess = above + budget
        if excess == 0:
            return x
        if excess > 0:
            low = x
        else:
            high = x
        slope = log_density(a, b, x) - above
        step = excess * exp(min(-slope, 700.0))  # finite: exp(710) is not
        new = x + step
        if not low < new < high:
            new = (low + high) / 2
        still = abs(new - x) <= 1e-15 * x
        if still or new == low or new == high:
            return new
        x = new
    return x


@compiled
def log_above(a, b, x):
    """Return ln Pr(X > x) for X ~ Beta(a, b)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return -inf
    front = log_density(a, b, x) + log(x) + log1p(-x)
    if x < (a + 1) / (a + b + 2):
        below = exp(front) / a * fraction(a, b, x)
        return log1p(-below) if below < 1 else -inf
    of_other_tail = fraction(b, a, 1 - x) / b
    return front + log(of_other_tail)


@compiled
def log_density(a, b, x):
    """Return the logarithm of the Beta(a, b) density at x in (0, 1)."""
    constant = lgamma(a + b) - lgamma(a) - lgamma(b)
    of_x = (a - 1) * log(x)
    of_rest = (b - 1) * log1p(-x)
    return constant + of_x + of_rest


@compiled
def fraction(a, b, x):
    """Return the continued fraction of the incomplete Beta function, for x < a/(a+b)."""
    tiny = 1e-300
    c = 1.0
    d = 1 - (a + b) * x / (a + 1)
    d = d if abs(d) > tiny else tiny
    d = 1 / d
    value = d
    for m in range(1, 100_000):
        at = a + 2 * m
        for half in range(2):
            if half == 0:
                numerator = m * (b - m) * x
                denominator = (at - 1) * at
            else:
                numerator = -(a + m) * (a + b + m) * x
                denominator = at * (at + 1)
            term = numerator / denominator
            d = 1 + term * d
            d = d if abs(d) > tiny else tiny
            d = 1 / d
            c = 1 + term / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return value
