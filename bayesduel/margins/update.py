"""Rank-one updates of the maximum likelihood fit, from duel to duel.

One more duel changes one weight of the Hessian of the scores' profile much and the others
little. The kept inverse takes up the one by the formula of Sherman & Morrison and then serves
for steps of O(K^2) each, in place of Newton's O(K^3), until they no longer move the scores.
It is made anew every K duels, and whenever its steps do not shrink.

References
----------
Sherman & Morrison, Annals of Mathematical Statistics 1950.
"""

from typing import NamedTuple

import numpy as np

from bayesduel.jit import compiled
from bayesduel.margins.newton import (
    add_weight,
    climb,
    inverted,
    misfit,
    pair_variance,
    shifted,
    write_variances,
)

__all__ = ["Kept", "follow", "nothing_kept"]

FEWEST_ARMS = 25  # With fewer, Newton's method is as quick (``benchmarks.selection``).


class Kept(NamedTuple):
    """State kept between fits."""

    inverse: np.ndarray  # of the Hessian, the first score held, shape (K - 1, K - 1)
    weight: np.ndarray  # the Hessian's weights in it, shape (K, K)
    # Fits since the inverse was made (-1: never), and duels at the last fit; shape (2,).
    age: np.ndarray


def nothing_kept(n_arms: int) -> Kept:
    """Return the state before the first fit, of minimal size where it is not used."""
    size = n_arms if n_arms >= FEWEST_ARMS else 1
    return Kept(
        inverse=np.zeros((size - 1, size - 1)),
        weight=np.zeros((size, size)),
        age=np.full(2, -1, dtype=np.int64),
    )


@compiled
def follow(margins, moments, score, variance, step, kept):
    """Do as ``climb``, from the last fit and its kept state.

    margins: the statistics; since the last fit none or one duel was recorded, or the fit is made
        from scratch.
    kept: read and written; see ``climb`` for the others.
    """
    n_arms = len(score)
    age = kept.age
    n_duels = margins.n_duels[0]
    news = n_duels - age[1]
    age[1] = n_duels
    if len(kept.weight) < n_arms:
        climb(moments, score, variance, step, 10000)
        return
    usable = 0 <= age[0] < n_arms
    if usable and news <= 1:
        age[0] += 1
        before = score.copy()
        i = margins.last[0]
        j = margins.last[1]
        w = curvature(moments, score, i, j)
        found = update(kept, i, j, w)
        if found:
            found = walk(moments, score, step, kept.inverse)
        if found:
            write_variances(moments, score, variance)
            return
        score[:] = before
    climb(moments, score, variance, step, 10000)
    age[0] = -1
    if renew(moments, score, kept):
        age[0] = 0


@compiled
def curvature(moments, score, i, j):
    """Return the second derivative of a pair's profile by the lead of i over j."""
    n = moments.n[i, j]
    lead = score[i] - score[j]
    e = moments.mean[i, j] - lead
    v = pair_variance(moments, i, j, e)
    if v <= moments.floor:
        return n / moments.floor
    weight = moments.shrinkage + n
    bend = 2 * n * e * e / (weight * v)
    return n / v * (1 - bend)


@compiled
def update(kept, i, j, w):
    """Update the inverse by the new weight of a pair; return whether that is possible."""
    inverse = kept.inverse
    weight = kept.weight
    change = w - weight[i, j]
    size = len(inverse)
    column = np.zeros(size)
    if i > 0:
        column += inverse[:, i - 1]
    if j > 0:
        column -= inverse[:, j - 1]
    ahead = column[i - 1] if i > 0 else 0.0
    behind = column[j - 1] if j > 0 else 0.0
    below = 1 + change * (ahead - behind)
    if not below > 1e-6:
        return False
    for k in range(size):
        by = change * column[k] / below
        for m in range(size):
            inverse[k, m] -= by * column[m]
    weight[i, j] = w
    weight[j, i] = w
    return True


@compiled
def walk(moments, score, step, inverse):
    """Move the scores by the inverse times the gradient; return whether the steps converge."""
    n_arms = len(score)
    slope = np.empty(n_arms)
    trial = np.empty(n_arms)
    last = np.inf
    for _ in range(12):
        slope[:] = 0.0
        for i in range(n_arms):
            for j in range(i):
                met = moments.n[i, j]
                if met > 0:
                    e = misfit(moments.mean, score, i, j)
                    v = pair_variance(moments, i, j, e)
                    g = met * e / max(v, moments.floor)
                    slope[i] += g
                    slope[j] -= g
        move = inverse @ slope[1:]
        moved = shifted(score, move, trial)
        if not moved <= 0.5 * last:
            return False
        score[:] = trial
        # The climb's last step: here an error shrinks by a factor, not
        # squared.
        if moved <= 1e-3 * step:
            return True
        last = moved
    return False


@compiled
def renew(moments, score, kept):
    """Compute the inverse at the scores; return whether the Hessian is positive there."""
    n_arms = len(score)
    inverse = kept.inverse
    weight = kept.weight
    inverse[:] = 0.0
    for i in range(n_arms):
        for j in range(i):
            w = 0.0
            if moments.n[i, j] > 0:
                w = curvature(moments, score, i, j)
            weight[i, j] = w
            weight[j, i] = w
            add_weight(inverse, i, j, w)
    return inverted(inverse)
