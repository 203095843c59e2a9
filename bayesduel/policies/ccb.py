"""Copeland Confidence Bound (CCB).

The champion is an optimistic Copeland winner, the challenger the arm with the largest upper bound
against it. The search for opponents is narrowed to small sets of arms that beat each loser.

References
----------
Zoghi, Karnin, Whiteson & de Rijke, "Copeland Dueling Bandits", NIPS 2015, Algorithm 1.
Deviations: line 13's ``B^i`` is read as ``B^c``; where no arm of ``B^c`` qualifies, all
arms are candidates (the paper is silent). A pair that never met has the bounds plus and minus
infinity where the paper sets x / 0 := 1, that is 2 and -1. Both are on the same side of 1/2; but
here a challenger that never met the champion precedes all that did, and there one with
``share + sqrt(alpha ln t / n) > 2`` precedes it. Line numbers below are the paper's.
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar, NamedTuple

import numpy as np

from bayesduel.beliefs import Belief, pick, upper_bounds
from bayesduel.beliefs.decided_pairs import DecidedPairs, no_decided_pairs, update
from bayesduel.jit import compiled
from bayesduel.policies.identification import best_by_shares
from bayesduel.policies.policy import PairPolicy
from bayesduel.policies.rucb import challenger

__all__ = ["CCB"]


class Memory(NamedTuple):
    alpha: float  # exploration constant
    # The decided pairs; the `watched` rows are the sets B^i of arms that have beaten i.
    decided: DecidedPairs
    potential: np.ndarray  # the set B of potential winners, shape (K,)
    size: np.ndarray  # the sizes of the sets B^i, shape (K,)
    losses: np.ndarray  # the assumed number of losses of a Copeland winner, shape (1,)


@compiled
def select(belief, memory, t, rng):
    """Return the next pair, (champion, challenger)."""
    update(memory.decided, belief, memory.alpha, t)
    decided = memory.decided
    potential = memory.potential
    size = memory.size
    beats = decided.beats
    beaten = decided.watched
    losses = decided.sure_losses
    sure = decided.sure_wins
    n_arms = len(potential)
    most_sure = sure.max()
    fewest = losses.min()
    chosen = np.empty(n_arms, np.bool_)  # at first the leaders
    for i in range(n_arms):
        chosen[i] = losses[i] == fewest

    # 9A: a set B^i holds an arm that i turns out to beat.
    if decided.contradicted[0]:
        reset(memory)

    # 9B: arms that cannot win leave B, keeping who has beaten them.
    remain = False
    for i in range(n_arms):
        if potential[i] and n_arms - 1 - losses[i] < most_sure:
            potential[i] = False
            if size[i] != memory.losses[0] + 1:
                beaten[i] = beats[:, i]
                size[i] = losses[i]
                decided.n_open[i] = 0
        remain |= potential[i]
    if not remain:
        reset(memory)

    # 9C: a leader all of whose duels are decided sets the number of losses to look for.
    if n_arms - 1 - fewest == most_sure:
        for i in shuffled(chosen & (sure == most_sure), rng):
            potential[i] = True
            clear(memory, i)
            memory.losses[0] = fewest
            for j in range(n_arms):
                if j != i and size[j] < memory.losses[0] + 1:
                    clear(memory, j)
                elif j != i and size[j] > memory.losses[0] + 1:
                    shorten(memory, j, rng)

    # 10: settle a duel that once was decided.
    if rng.random() < 0.25 and decided.n_open.any():
        return pick_open(decided, rng)

    # 11, 12: the champion.
    among_potential = False
    for i in range(n_arms):
        among_potential |= potential[i] and chosen[i]
    if among_potential and rng.random() < 2 / 3:
        for i in range(n_arms):
            chosen[i] &= potential[i]
    champion = pick(chosen, rng)

    # 13: the challenger.
    open_to = ~beats[:, champion]
    narrowed = open_to & beaten[champion]
    if rng.random() < 0.5 and narrowed.any():
        open_to = narrowed
    upper = upper_bounds(belief, champion, open_to, 2 * memory.alpha * log(t))
    return champion, challenger(upper, champion, rng)


@compiled
def reset(memory):
    """Reset all conclusions; the tallies stay."""
    memory.potential[:] = True
    memory.size[:] = 0
    memory.losses[0] = len(memory.potential)
    memory.decided.watched[:] = False
    memory.decided.n_open[:] = 0
    memory.decided.contradicted[0] = False


@compiled
def clear(memory, i):
    """Empty the set B^i."""
    if memory.size[i] > 0:
        memory.decided.watched[i] = False
        memory.decided.n_open[i] = 0
        memory.size[i] = 0


@compiled
def shorten(memory, i, rng):
    """Keep a uniformly random subset of B^i, of size losses + 1."""
    decided = memory.decided
    while memory.size[i] > memory.losses[0] + 1:
        j = pick(decided.watched[i], rng)
        decided.watched[i, j] = False
        if not (decided.beats[i, j] or decided.beats[j, i]):
            decided.n_open[i] -= 1
        memory.size[i] -= 1


@compiled
def shuffled(mask, rng):
    """Return the indices of the True entries in random order."""
    order = np.flatnonzero(mask)
    for place in range(len(order) - 1):
        other = place + int(rng.random() * (len(order) - place))
        order[place], order[other] = order[other], order[place]
    return order


@compiled
def pick_open(decided, rng):
    """Return a uniformly random undecided pair (i, j) with j in B^i."""
    i = 0
    skip = int(rng.random() * decided.n_open.sum())
    while skip >= decided.n_open[i]:
        skip -= decided.n_open[i]
        i += 1
    known = decided.beats[i] | decided.beats[:, i]
    return i, np.flatnonzero(decided.watched[i] & ~known)[skip]


@dataclass(frozen=True, kw_only=True)
class CCB(PairPolicy):
    """Copeland Confidence Bound, for Copeland regret.

    Parameters
    ----------
    belief
        The belief that bounds P. Default: Hoeffding's inequality, kept by crossing times.
    alpha
        Exploration constant, > 0.5.
    """

    alpha: float = 0.51
    select: ClassVar = staticmethod(select)
    reference: ClassVar[str] = "Zoghi et al., NIPS 2015, Algorithm 1"
    guarantee: ClassVar[str] = "Copeland regret O((K^2 + (C + L_C) K log T) / gap^2)"
    ranges: ClassVar = {"alpha": "> 0.5"}

    def init(self, n_arms: int) -> Memory:
        return Memory(
            alpha=float(self.alpha),
            decided=no_decided_pairs(n_arms),
            potential=np.ones(n_arms, np.bool_),
            size=np.zeros(n_arms, np.int64),
            losses=np.full(1, n_arms, np.int64),
        )

    def recommend(self, belief: Belief, memory: Memory) -> int:
        """Return the best arm so far: among the leaders of line 12, by the observed shares.

        The leaders have most possible wins by the bounds (the set C); potential winners among
        them (the set B) come first.
        """
        decided = DecidedPairs(*(array.copy() for array in memory.decided))
        update(decided, belief, self.alpha, int(belief.n_duels[0]) + 1)
        leaders = decided.sure_losses == decided.sure_losses.min()
        if (leaders & memory.potential).any():
            leaders &= memory.potential
        return best_by_shares(belief, leaders)
