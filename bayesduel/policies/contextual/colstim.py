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
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs.item_belief import ItemSet, Logistic, finite_only
from bayesduel.jit import compiled
from bayesduel.policies.contextual.design_matrix import add_difference, width
from bayesduel.policies.policy import ItemPolicy

__all__ = ["CoLSTIM"]


class Memory(NamedTuple):
    """The factor of the width, and the design matrix."""

    alpha: float
    inverse: np.ndarray  # of the design matrix, shape (n, n)


@compiled
def select(belief, memory, t, rng):
    """Return the next pair, (best by perturbed utilities, competitor); they may coincide."""
    m, n = belief.attributes.shape
    threshold = sqrt(n * log(1.0 + t))
    independent = rng.random() < n * log(n * (1.0 + t)) / sqrt(t)
    first, most, noise = 0, -inf, 0.0
    for i in range(m):
        if independent or i == 0:
            noise = -log(rng.standard_exponential())
        x = belief.attributes[i].copy()
        share = min(max(noise, -threshold), threshold)
        utility = x @ belief.mode + share * width(memory.inverse, x)
        if utility > most:
            first, most = i, utility
    second, most = first, 0.0
    for j in range(m):
        z = belief.attributes[j] - belief.attributes[first]
        lead = z @ belief.mode + memory.alpha * threshold * width(memory.inverse, z)
        if lead > most:
            second, most = j, lead
    add_difference(memory.inverse, belief.attributes[first] - belief.attributes[second], 1.0)
    return first, second


@dataclass(frozen=True, kw_only=True)
class CoLSTIM(ItemPolicy):
    """Perturbed utilities and their strongest competitor, for duels of items with attributes.

    Parameters
    ----------
    alpha
        Factor of the competitor's confidence width, > 0.

    Raises
    ------
    ValueError
        If a setting is not as described, or (from ``init``) the items are a whole sphere.

    Examples
    --------
    >>> trace = bd.simulate(bd.CoLSTIM(), "contextual-duels", horizon=100, seed=0)
    >>> bd.regret(trace, "weak").isel(time=-1).shape  # by policy and replication
    (1, 1)
    """

    belief: Logistic = Logistic()
    alpha: float = 1.0
    shows: ClassVar[int] = 2
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Bengs, Saha & Hüllermeier, ICML 2022, Algorithm 1"
    guarantee: ClassVar[str] = "O(sqrt(n T)) up to logarithms, if contexts vary in all directions"
    ranges: ClassVar = {"alpha": "> 0"}

    def init(self, items: ItemSet) -> Memory:
        """Return the memory before the first duel."""
        finite_only(self, items)
        inverse = np.eye(items.attributes.shape[1]) * self.belief.scale**2
        return Memory(float(self.alpha), inverse)
