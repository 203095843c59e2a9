"""VACDB: layers of estimates, each of the duels that were as uncertain as its level.

In every round the items pass through layers l = 1, 2, ... If a pair is more uncertain than 2^-l, it
duels, weighted so that it counts as one of exactly that uncertainty. Otherwise items that are
clearly worse than the best go, and the next layer looks at the rest. Where every pair is known to
the last level, the pair with the largest sum of utilities and confidence width duels. The width
has the variance of the layer's duels in it, so that clear preferences are learned faster.

References
----------
Di, Jin, Wu, Zhao, Farnoud & Gu, "Variance-aware regret bounds for stochastic contextual dueling
bandits", ICLR 2024, arXiv 2310.00968, Algorithm 1; second hand from the authors' code, whose
constants for the width this has. Deviations: there are 8 layers, log2(T^1.5) in the paper;
`scale` takes the place of 1 / kappa in the width, which is far too wide (the authors' experiments
scale it down, too); residuals are those by the estimate of their round; of a layer's
uncertain pairs, any in the paper, the one with the largest estimated utilities duels. The variance
of a layer is its weighted sum of squared residuals on all layers. The authors' code
(github.com/uclaml/VACDB, suplin.py) takes the number of the layer's duels until 2^l is at least
64 L_mu / kappa sqrt(ln(4 (t + 1)^2 L / delta)); at 8 layers, delta = 0.05 and L_mu = kappa = 1
that is above 2^8 from round 120 on. At the same scale its rule has average regret 652, this one
449. Their code then writes another width over that of the paper, and plays it:
2^-l sqrt(ln T) divided by a scale of the problem, with no variance in it.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs.item_belief import (
    ItemBelief,
    ItemSet,
    Logistic,
    finite_only,
    record_weighted,
)
from bayesduel.beliefs.logistic_laplace import overwrite, sigmoid
from bayesduel.jit import compiled
from bayesduel.policies.contextual.design_matrix import add_difference, best_pair, width
from bayesduel.policies.policy import ItemDuelPolicy

__all__ = ["VACDB"]

LAYERS = 8  # the last one takes about 2 n 4^8 duels, 650,000 with 5 attributes
FINEST = 0.5**LAYERS


class Memory(NamedTuple):
    """State of VACDB; row l - 1 of an array is of layer l."""

    delta: float
    scale: float
    layers: ItemBelief  # the estimate of each layer by its own duels: arrays (LAYERS, ...)
    inverse: np.ndarray  # of the design matrix of each layer, shape (LAYERS, n, n)
    spread: np.ndarray  # weighted sum of squared residuals of each layer, shape (LAYERS,)
    # Layer less 1 that the last duel is for, -1 if none, and wins of its first item before,
    # shape (2,), int64.
    noted: np.ndarray
    z: np.ndarray  # difference in attributes of that duel, shape (n,)
    weight: np.ndarray  # its weight, shape (1,)


@compiled
def select(belief, memory, t, rng):
    """Return the next pair; the only item left duels itself."""
    learn_last(belief, memory)
    m = len(belief.attributes)
    among = np.ones(m, np.bool_)
    level = 1.0
    for k in range(LAYERS):
        level /= 2
        inverse = memory.inverse[k]
        utility = np.dot(belief.attributes, memory.layers.mode[k])
        i, j, widest = best_pair(belief, among, utility, inverse, 0.0, level)
        if widest > level:
            memory.noted[0] = k
            memory.noted[1] = belief.successes[i]
            overwrite(memory.z, belief.attributes[i] - belief.attributes[j])
            memory.weight[0] = (level / width(inverse, memory.z)) ** 2
            add_difference(inverse, memory.z, memory.weight[0])
            return i, j
        beta = confidence(memory, k, level, t)
        if widest <= FINEST:
            break
        most = -np.inf
        for i in range(m):
            if among[i]:
                most = max(most, utility[i])
        among &= utility >= most - level * beta
    i, j, _ = best_pair(belief, among, utility, inverse, beta, 0.0)
    return i, j


@compiled
def learn_last(belief, memory):
    """Enter the outcome of the last duel into its layer, if it is for one."""
    k = memory.noted[0]
    if k >= 0:
        won = float(belief.successes[belief.last[0]] - memory.noted[1])
        chance = sigmoid(memory.z @ memory.layers.mode[k])
        memory.spread[k] += memory.weight[0] * (won - chance) ** 2
        layer = estimate(memory.layers, k, belief.attributes)
        record_weighted(layer, memory.z, won, memory.weight[0])
        memory.noted[0] = -1


@compiled
def estimate(layers, k, attributes):
    """Return the estimate of layer k + 1, whose arrays are those of `layers`.

    With the `attributes` of the items, which it does not read, its type is that of the belief, so
    that what enters a duel is compiled once.
    """
    return ItemBelief(
        attributes=attributes,
        values=layers.values[k],
        sphere=layers.sphere[k],
        learns=layers.learns[k],
        pulls=layers.pulls[k],
        successes=layers.successes[k],
        rows=layers.rows[k],
        tries=layers.tries[k],
        paid=layers.paid[k],
        row_of=layers.row_of[k],
        n_rows=layers.n_rows[k],
        centre=layers.centre[k],
        stiffness=layers.stiffness[k],
        mode=layers.mode[k],
        precision=layers.precision[k],
        covariance=layers.covariance[k],
        last=layers.last[k],
        n_pulls=layers.n_pulls[k],
        due=layers.due[k],
    )


@compiled
def confidence(memory, k, level, t):
    """Return beta, the factor of the width of layer k + 1, whose level is 2^-(k + 1)."""
    ever = 4.0 * LAYERS / memory.delta
    now = log(ever * (t + 1.0) ** 2)
    then = log(ever * (1.0 * t) ** 2)
    most = 16 * sqrt((8 * memory.spread[k] + 18 * now) * then) + 6 * then
    return level * (memory.scale * most + 2)


@dataclass(frozen=True, kw_only=True)
class VACDB(ItemDuelPolicy):
    """Variance-aware layers of estimates, for duels of items with attributes.

    The width has the squared residuals of a layer's duels on all layers, where the authors' code
    counts duels first and then plays a width without variances: see the module.

    Parameters
    ----------
    delta
        Probability that a confidence width fails, in (0, 1).
    kappa
        Least slope of the link, > 0: it scales the ridge of the estimates.
    scale
        Factor of the statistical part of the confidence width, > 0.
    """

    delta: float = 0.05
    kappa: float = 0.1
    scale: float = 0.001
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Di et al., ICLR 2024, Algorithm 1"
    guarantee: ClassVar[str] = "n sqrt(sum of variances) + n up to logarithms, at the paper's width"
    ranges: ClassVar = {"delta": "in (0, 1)", "kappa": "positive and finite", "scale": "> 0"}

    def init(self, items: ItemSet) -> Memory:
        finite_only(self, items)
        n = items.attributes.shape[1]
        size = 2.0 ** np.arange(1, LAYERS + 1)
        none = ItemSet(np.zeros((1, n)), np.ones(1), False)
        each = [Logistic(scale=float(s / self.kappa**0.5)).init(none) for s in size]
        layers: Any = map(np.stack, zip(*each, strict=True))
        return Memory(
            delta=float(self.delta),
            scale=float(self.scale),
            layers=ItemBelief(*layers),
            inverse=np.eye(n) * size[:, None, None] ** 2,
            spread=np.zeros(LAYERS),
            noted=np.array([-1, 0]),
            z=np.zeros(n),
            weight=np.zeros(1),
        )
