"""Queries of a belief about P: bounds, draws and observed shares; recording an outcome.

Everything here is compiled and branches on ``belief.kind``, so that one compiled policy serves
every specification of a belief.
"""

from math import inf, sqrt

import numpy as np

from bayesduel.beliefs.belief import (
    BY_BERNSTEIN,
    BY_BETTING,
    BY_GAUSSIAN,
    BY_HOEFFDING,
    BY_KL,
    BY_RANKED,
    BY_STITCHED,
    FROM_DRAWS,
    FROM_NOTHING,
)
from bayesduel.beliefs.bernstein import bernstein_upper
from bayesduel.beliefs.beta import beta_upper
from bayesduel.beliefs.confidence_sequence import betting_upper, stitched_upper
from bayesduel.beliefs.hoeffding import hoeffding_upper
from bayesduel.beliefs.kl import kl_upper
from bayesduel.beliefs.model_posterior import gaussian_upper, ranked_upper
from bayesduel.jit import compiled

__all__ = [
    "bounds",
    "met",
    "new_duels",
    "other_arm",
    "pick",
    "record",
    "results_since",
    "sample",
    "sample_against",
    "share",
    "shares",
    "takes_part",
    "upper_against",
    "upper_bound",
    "upper_bounds",
    "upper_from_counts",
]


@compiled
def bounds(belief, budget):
    """Return lower and upper bounds on P, each failing with probability exp(-budget).

    Parameters
    ----------
    belief
        The belief.
    budget
        Minus the logarithm of the one-sided failure probability of an entry, >= 0.

    Returns
    -------
    Two arrays of shape (K, K), diagonal 1/2; infinite before the first duel of a pair.
    """
    n_arms = len(belief.wins)
    lower = np.full((n_arms, n_arms), 0.5)
    upper = np.full((n_arms, n_arms), 0.5)
    half = belief.kind == BY_HOEFFDING  # its radius is one for both sides: half the roots
    for i in range(n_arms):
        for j in range(i):
            wins = belief.wins[i, j]
            losses = belief.wins[j, i]
            n = wins + losses
            if half and n == 0:
                of_i = inf
                of_j = inf
            elif half:
                radius = sqrt(budget / (2 * n))
                of_i = wins / n + radius
                of_j = losses / n + radius
            else:
                of_i = upper_bound(belief, i, j, budget)
                of_j = upper_bound(belief, j, i, budget)
            upper[i, j] = of_i
            upper[j, i] = of_j
            lower[i, j] = 1 - of_j
            lower[j, i] = 1 - of_i
    return lower, upper


@compiled
def upper_against(belief, arm, budget):
    """Return upper bounds on P[:, arm], shape (K,); 1/2 at `arm`."""
    n_arms = len(belief.wins)
    every_arm = np.ones(n_arms, np.bool_)
    return upper_bounds(belief, arm, every_arm, budget)


@compiled
def upper_bounds(belief, arm, among, budget):
    """Return upper bounds on P[:, arm], shape (K,); 1/2 at `arm`, minus infinity off a mask.

    `among` are the rows whose bounds are wanted, (K,); each fails with probability exp(-budget).
    """
    n_arms = len(belief.wins)
    upper = np.full(n_arms, -np.inf)
    if belief.kind == BY_HOEFFDING:  # a copied column is read nine times as fast as one by strides
        wins = belief.wins[:, arm].copy()
        losses = belief.wins[arm]
        for j in range(n_arms):
            if among[j]:
                upper[j] = hoeffding_upper(wins[j], losses[j], budget)
    else:
        for j in range(n_arms):
            if among[j] and j != arm:
                upper[j] = upper_bound(belief, j, arm, budget)
    if among[arm]:
        upper[arm] = 0.5
    return upper


@compiled
def upper_bound(belief, i, j, budget):
    """Return the upper bound on P[i, j], i != j."""
    wins = belief.wins[i, j]
    losses = belief.wins[j, i]
    if belief.kind == BY_HOEFFDING:  # first, because its bound costs least
        return hoeffding_upper(wins, losses, budget)
    if belief.kind == BY_GAUSSIAN:
        location = belief.location[i, j]
        spread = belief.spread[i, j]
        return gaussian_upper(location, spread, budget)
    if belief.kind == BY_RANKED:
        location = belief.location[i, j]
        spread = belief.spread[i, j]
        ranked = belief.ranked[:, i, j]
        return ranked_upper(ranked, location, spread, budget)
    return upper_from_counts(belief, wins, losses, budget)


@compiled
def upper_from_counts(belief, wins, losses, budget):
    """Return the upper bound on a probability of which these are the counts.

    For beliefs whose bounds follow from counts (``BeliefSpec.bounds_counts``).
    """
    kind = belief.kind
    if kind == BY_HOEFFDING:
        return hoeffding_upper(wins, losses, budget)
    if kind == BY_KL:
        return kl_upper(wins, losses, budget)
    if kind == BY_BERNSTEIN:
        return bernstein_upper(wins, losses, budget)
    if kind == BY_BETTING:
        return betting_upper(wins, losses, budget)
    if kind == BY_STITCHED:
        return stitched_upper(wins, losses, budget)
    return beta_upper(belief.prior + wins, belief.prior + losses, budget)


@compiled
def sample(belief, rng):
    """Return one draw of P, shape (K, K), diagonal 1/2.

    Raises
    ------
    ValueError
        If the belief cannot be sampled; a policy that samples refuses it when built.
    """
    n_arms = len(belief.wins)
    if belief.source == FROM_NOTHING:
        raise ValueError("belief should be one that can be sampled, such as Beta()")
    if belief.source == FROM_DRAWS:
        at = rng.integers(0, len(belief.draws))
        return belief.draws[at].copy()
    draw = np.full((n_arms, n_arms), 0.5)
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            wins = belief.wins[i, j]
            losses = belief.wins[j, i]
            drawn = rng.beta(belief.prior + wins, belief.prior + losses)
            draw[i, j] = drawn
            draw[j, i] = 1 - drawn
    return draw


@compiled
def sample_against(belief, arm, rng):
    """Return one draw of P[:, arm], shape (K,), 1/2 at `arm`; raise ValueError as `sample` does."""
    n_arms = len(belief.wins)
    if belief.source == FROM_NOTHING:
        raise ValueError("belief should be one that can be sampled, such as Beta()")
    if belief.source == FROM_DRAWS:
        at = rng.integers(0, len(belief.draws))
        return belief.draws[at, :, arm].copy()
    draw = np.full(n_arms, 0.5)
    for j in range(n_arms):
        if j != arm:
            wins = belief.wins[j, arm]
            losses = belief.wins[arm, j]
            draw[j] = rng.beta(belief.prior + wins, belief.prior + losses)
    return draw


@compiled
def met(belief, i, j):
    """Return the number of duels of i and j; 0 for an arm and itself."""
    return belief.wins[i, j] + belief.wins[j, i]


@compiled
def results_since(belief, before, i, j):
    """Return the wins of i over j and those of j over i since the wins were `before`, (K, K)."""
    won = belief.wins[i, j] - before[i, j]
    lost = belief.wins[j, i] - before[j, i]
    return won, lost


@compiled
def new_duels(belief, seen):
    """Return how many duels there are since the last look; `seen` is what is kept of it, (1,)."""
    new = belief.n_duels[0] - seen[0]
    seen[0] = belief.n_duels[0]
    return new


@compiled
def takes_part(belief, new, arm):
    """Return whether an arm is, or may be, in one of the `new` duels: of several all arms may."""
    in_last = arm == belief.last[0] or arm == belief.last[1]
    return new > 1 or (new == 1 and in_last)


@compiled
def other_arm(i, n_arms, rng):
    """Return an arm other than i, at random."""
    j = int(rng.random() * (n_arms - 1))
    return j + (j >= i)


@compiled
def shares(belief):
    """Return the shares of duels won by i against j, shape (K, K); 1/2 where they never met."""
    n_arms = len(belief.wins)
    share = np.full((n_arms, n_arms), 0.5)
    for i in range(n_arms):
        for j in range(n_arms):
            wins = belief.wins[i, j]
            n = wins + belief.wins[j, i]
            if n > 0:
                share[i, j] = wins / n
    return share


@compiled
def share(belief, i, j):
    """Return the share of duels won by i against j; 1/2 where they never met or i is j."""
    wins = belief.wins[i, j]
    n = wins + belief.wins[j, i]
    return wins / n if n > 0 else 0.5


@compiled
def record(belief, pair, outcome):
    """Record one outcome.

    Parameters
    ----------
    belief
        Its `wins`, `last` and `n_duels` are written.
    pair
        (i, j). A self-duel is counted, and changes no wins.
    outcome
        1 if i won, 0 if j won, 0.5 for a tie (half a win each).
    """
    i, j = pair
    if i != j:
        belief.wins[i, j] += outcome
        belief.wins[j, i] += 1 - outcome
    belief.last[0] = i
    belief.last[1] = j
    belief.n_duels[0] += 1


@compiled
def pick(mask, rng):
    """Return a uniformly random index of a True entry; no draw is made if it is the only one.

    Raises ValueError if no entry is True.
    """
    n = mask.sum()
    if n == 0:
        raise ValueError("mask should have at least one True entry")
    skip = int(rng.random() * n) if n > 1 else 0
    for index in range(len(mask)):
        if mask[index]:
            if skip == 0:
                return index
            skip -= 1
    raise ValueError("mask should not change while it is read")
