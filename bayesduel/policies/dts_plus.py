"""D-TS+: Double Thompson Sampling that breaks champions' ties by the regret to come.

Among the arms with most sampled wins, the champion is the one that would be cheapest to
confirm were the sample the truth: the sum over its duels of regret per unit of information.

References
----------
Wu & Liu, "Double Thompson Sampling for Dueling Bandits", NeurIPS 2016, section 5 and
Appendix E. Deviations: none.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np

from bayesduel.beliefs import bounds, pick, sample, sample_against
from bayesduel.beliefs.kl import divergence_from_half
from bayesduel.jit import compiled
from bayesduel.policies.dts import DTS

__all__ = ["DTSPlus"]


@dataclass(frozen=True, kw_only=True)
class DTSPlus(DTS):
    """Double Thompson Sampling with ties broken by regret, for Copeland regret.

    Parameters
    ----------
    belief
        What it samples from. Default: independent Beta(1, 1), bounded by Hoeffding.
    alpha
        Exploration constant, > 0.5.

    Raises
    ------
    ValueError
        If ``alpha <= 0.5``, or if `belief` cannot be sampled.
    """

    source: ClassVar[str] = "Wu & Liu, NeurIPS 2016, section 5 (D-TS+)"
    guarantee: ClassVar[str] = "as D-TS; smaller regret in practice where winners tie"

    @property
    def select(self):
        """The compiled rule."""
        return select


@compiled
def select(belief, memory, t, rng):
    """Name the next pair, (champion, challenger); they may coincide."""
    lower, upper = bounds(belief, 2 * memory.alpha * log(t))

    # Champion: most sampled wins among the contenders, then the least regret to confirm.
    possible = (upper > 0.5).sum(axis=1)
    contenders = possible == possible.max()
    if contenders.sum() > 1:
        drawn = sample(belief, rng)
        wins = (drawn > 0.5).sum(axis=1)
        sampled = np.where(contenders, wins, -1)
        price = np.full(len(wins), np.inf)
        for i in np.flatnonzero(sampled == sampled.max()):
            price[i] = price_of(i, drawn, wins)
        contenders = price == price.min()
    champion = pick(contenders, rng)

    # Challenger: best sampled chance to beat it, among undecided duels.
    undecided = lower[:, champion] <= 0.5
    chance = np.where(undecided, sample_against(belief, champion, rng), -1.0)
    return champion, pick(chance == chance.max(), rng)


@compiled
def price_of(i, drawn, wins):
    """Return the regret of an arm's duels per unit of information, if `drawn` were true."""
    total = 0.0
    for j in range(len(wins)):
        information = divergence_from_half(drawn[i, j])
        if j != i and information > 0:
            total += (wins.max() - (wins[i] + wins[j]) / 2) / information
    return total
