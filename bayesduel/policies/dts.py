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
1/2, so that the decisions are the same. Of the first draw D-TS reads only on which side of 1/2 each
pair is: with independent Beta posteriors that side is drawn, by its probability, which changes for
the pair that met alone.
"""

from dataclasses import dataclass
from math import exp, log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import BeliefSpec, Beta, bounds, pick, sample, sample_against
from bayesduel.beliefs.belief import FROM_BETA
from bayesduel.beliefs.beta import log_above
from bayesduel.beliefs.kl import divergence_from_half
from bayesduel.jit import compiled
from bayesduel.policies.policy import PairPolicy

__all__ = ["DTS", "DTSPlus"]


class Memory(NamedTuple):
    """The settings, and for Beta posteriors the probability that i beats j in more than half.

    `seen` is the number of duels that `chance`, shape (K, K), knows of.
    """

    alpha: float
    plus: bool
    chance: np.ndarray
    seen: np.ndarray


@compiled
def select(belief, memory, t, rng):
    """Return (champion, challenger); the same arm twice once the winner is clear."""
    lower, upper = bounds(belief, 2 * memory.alpha * log(t))

    # Phase 1: of the arms with the largest upper Copeland score, those with most sampled wins.
    copeland_upper = (upper > 0.5).sum(axis=1)
    candidates = copeland_upper == copeland_upper.max()
    sides = belief.source == FROM_BETA and not memory.plus
    if sides:
        refresh(belief, memory)
    if candidates.sum() > 1 and sides:
        wins = sampled_wins(memory.chance, candidates, rng)
        candidates = wins == wins.max()
    elif candidates.sum() > 1:
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
def refresh(belief, memory):
    """Bring the probabilities up to the belief: of the pair that met last, or of all pairs."""
    last, seen = belief.last, memory.seen
    new, seen[0] = belief.n_duels[0] - seen[0], belief.n_duels[0]
    if new == 1:
        know(belief, memory, min(last[0], last[1]), max(last[0], last[1]))
    elif new > 1:
        for i in range(len(belief.wins)):
            for j in range(i + 1, len(belief.wins)):
                know(belief, memory, i, j)


@compiled
def know(belief, memory, i, j):
    """Compute the probability that i beats j in more than half of their duels, i < j."""
    a, b = belief.prior + belief.wins[i, j], belief.prior + belief.wins[j, i]
    memory.chance[i, j] = exp(log_above(a, b, 0.5))


@compiled
def sampled_wins(chance, candidates, rng):
    """Return how many arms each candidate beats in a draw of P, -1 for other arms."""
    n_arms = len(candidates)
    wins = np.where(candidates, 0, -1)
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            if candidates[i] or candidates[j]:
                winner = i if rng.random() < chance[i, j] else j
                wins[winner] += candidates[winner]
    return wins


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
    """

    belief: BeliefSpec = Beta(bounds="hoeffding")
    alpha: float = 0.51
    plus: ClassVar[bool] = False
    reads: ClassVar = "samples"
    reference: ClassVar[str] = "Wu & Liu, NeurIPS 2016, Algorithm 1"
    guarantee: ClassVar[str] = "Copeland regret O(K^2 log T); O(K log T + K^2 log log T) Condorcet"
    ranges: ClassVar = {"alpha": "> 0.5"}

    def init(self, n_arms: int) -> Memory:
        chance = np.full((n_arms, n_arms), 0.5)  # of a prior alone: it is symmetric
        return Memory(float(self.alpha), self.plus, chance, np.zeros(1, np.int64))


@dataclass(frozen=True, kw_only=True)
class DTSPlus(DTS):
    """D-TS with ties between champions broken by regret."""

    plus: ClassVar[bool] = True
    reference: ClassVar[str] = "Wu & Liu, NeurIPS 2016, section 5 (D-TS+)"
    guarantee: ClassVar[str] = "as D-TS; smaller regret in practice where winners tie"
