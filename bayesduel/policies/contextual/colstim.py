"""CoLSTIM: the best item by perturbed utilities, and the strongest competitor to it.

The perturbations imitate the noise of the duels: Gumbel noise, of which the largest sum is a choice
by the logistic model, times the uncertainty of each item's utility. The competitor has the largest
upper confidence bound on its lead over the first item.

References
----------
Bengs, Saha & Hüllermeier, "Stochastic contextual dueling bandits under linear stochastic
transitivity models", ICML 2022, Algorithm 1, second hand (its quotation in a public comparison of
implementations with the paper). Deviations: a normal prior in place of tau rounds of random pairs;
time t for the horizon in the threshold, ``sqrt(n ln(1 + t))``, in the width, alpha times that, and
in the chance of independent perturbations, ``min(1, n ln(n (1 + t)) / sqrt(t))``; the logistic
estimate and Gumbel noise under every link.
"""

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import ClassVar

from bayesduel.jit import compiled
from bayesduel.policies.contextual.design_matrix import DesignPolicy, add_difference, width

__all__ = ["CoLSTIM"]


@compiled
def select(belief, memory, t, rng):
    """Return the next pair, (best by perturbed utilities, competitor); they may coincide."""
    m, n = belief.attributes.shape
    threshold = sqrt(n * log(1.0 + t))
    independent = rng.random() < n * log(n * (1.0 + t)) / sqrt(t)
    first = 0
    most = -inf
    noise = 0.0
    for i in range(m):
        if independent or i == 0:
            noise = -log(rng.standard_exponential())
        x = belief.attributes[i].copy()
        share = min(max(noise, -threshold), threshold)
        utility = x @ belief.mode + share * width(memory.inverse, x)
        # Utilities within 1e-12 are tied: noise beyond the threshold is cut, to the same of items
        # that are as uncertain
        if utility > most + 1e-12:
            first = i
            most = utility
    second = first
    most = 0.0
    for j in range(m):
        z = belief.attributes[j] - belief.attributes[first]
        lead = z @ belief.mode + memory.alpha * threshold * width(memory.inverse, z)
        if lead > most:
            second = j
            most = lead
    difference = belief.attributes[first] - belief.attributes[second]
    add_difference(memory.inverse, difference, 1.0)
    return first, second


@dataclass(frozen=True, kw_only=True)
class CoLSTIM(DesignPolicy):
    """Perturbed utilities and their strongest competitor, for duels of items with attributes."""

    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Bengs, Saha & Hüllermeier, ICML 2022, Algorithm 1"
    guarantee: ClassVar[str] = "O(sqrt(n T)) up to logarithms, if contexts vary in all directions"
