"""Double Thompson Sampling (D-TS) and D-TS+.

Draw the preference matrix twice. The first draw elects the champion, among the arms that may
still be Copeland winners; the second picks the challenger, among the opponents that the
champion is not yet known to beat. D-TS+ breaks ties between champions by the regret that
confirming each would cost if the first draw were the truth.

References
----------
Wu & Liu, "Double Thompson Sampling for Dueling Bandits", NeurIPS 2016: Algorithm 1; section 5
and Appendix E for D-TS+. Deviation: a pair that never met has the bounds plus
and minus infinity where the paper sets x / 0 := 1, that is 2 and -1; both are on the same side of
1/2, so that the decisions are the same.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import (
    BeliefSpec,
    Beta,
    bounds,
    pick,
    sample,
    sample_against,
)
from bayesduel.beliefs.kl import divergence_from_half
from bayesduel.jit import compiled
from bayesduel.policies.policy import PairPolicy

__all__ = ["DTS", "DTSPlus"]


class Memory(NamedTuple):
    """The settings: D-TS keeps nothing else between duels."""

    alpha: float
    plus: bool


@compiled
def select(belief, memory, t, rng):
    """Return (champion, challenger); the same arm twice once the winner is clear."""
    lower, upper = bounds(belief, 2 * memory.alpha * log(t))

    # Phase 1: of the arms with the largest upper Copeland score, those with most sampled wins.
    copeland_upper = (upper > 0.5).sum(axis=1)
    candidates = copeland_upper == copeland_upper.max()
    if candidates.sum() > 1:
        theta = sample(belief, rng)
        wins = np.where(candidates, (theta > 0.5).sum(axis=1), -1)
        candidates = wins == wins.max()
        if memory.plus:
            candidates = cheapest(candidates, theta)
    champion = pick(candidates, rng)

    # Phase 2: the opponent with the largest sampled chance to win, where P is undecided.
    undecided = lower[:, champion] <= 0.5
    theta_against = np.where(undecided, sample_against(belief, champion, rng), -1.0)
    return champion, pick(theta_against == theta_against.max(), rng)


@compiled
def cheapest(candidates, theta):
    """Return the candidates that would cost least regret to confirm if `theta` were the truth."""
    wins = (theta > 0.5).sum(axis=1)
    cost = np.full(len(theta), np.inf)
    for i in np.flatnonzero(candidates):
        cost[i] = confirmation_cost(i, theta, wins)
    return cost == cost.min()


@compiled
def confirmation_cost(i, theta, wins):
    """Return the sum over the duels of arm i of regret divided by information."""
    total = 0.0
    for j in range(len(wins)):
        information = divergence_from_half(theta[i, j])
        if j != i and information > 0:
            total += (wins.max() - (wins[i] + wins[j]) / 2) / information
    return total


@dataclass(frozen=True, kw_only=True)
class DTS(PairPolicy):
    """Double Thompson Sampling, for Copeland regret.

    Parameters
    ----------
    belief
        The posterior it samples. Default: the paper's independent Beta(1, 1), with Hoeffding
        bounds.
    alpha
        Exploration constant; the regret bound needs alpha > 0.5.

    Raises
    ------
    ValueError
        If ``alpha <= 0.5``, or if `belief` cannot be sampled.
    """

    belief: BeliefSpec = Beta(bounds="hoeffding")
    alpha: float = 0.51
    plus: ClassVar[bool] = False
    reads: ClassVar = "samples"
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Wu & Liu, NeurIPS 2016, Algorithm 1"
    guarantee: ClassVar[str] = "Copeland regret O(K^2 log T); O(K log T + K^2 log log T) Condorcet"
    ranges: ClassVar = {"alpha": "> 0.5"}

    def init(self, n_arms: int) -> Memory:
        """Return the memory before the first duel."""
        return Memory(float(self.alpha), self.plus)


@dataclass(frozen=True, kw_only=True)
class DTSPlus(DTS):
    """D-TS with ties between champions broken by regret; parameters and errors as :class:`DTS`."""

    plus: ClassVar[bool] = True
    reference: ClassVar[str] = "Wu & Liu, NeurIPS 2016, section 5 (D-TS+)"
    guarantee: ClassVar[str] = "as D-TS; smaller regret in practice where winners tie"
