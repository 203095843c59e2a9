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
from bayesduel.margins.newton import climb, inverted, shifted, write_variances

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
        np.zeros((size - 1, size - 1)), np.zeros((size, size)), np.full(2, -1, dtype=np.int64)
    )


@compiled
def follow(margins, mean, scatter, pooled, floor, shrinkage, score, variance, step, kept):
    """Do as ``climb``, from the last fit and its kept state.

    margins: the statistics; since the last fit none or one duel was recorded, or the fit is made
        from scratch.
    kept: read and written; see ``climb`` for the others.
    """
    n = margins.n
    n_arms = len(score)
    age = kept.age
    news = margins.n_duels[0] - age[1]
    age[1] = margins.n_duels[0]
    if len(kept.weight) < n_arms:
        climb(n, mean, scatter, pooled, floor, shrinkage, score, variance, step, 10000)
        return
    if age[0] >= 0 and age[0] < n_arms and news <= 1:
        age[0] += 1
        before = score.copy()
        i = margins.last[0]
        j = margins.last[1]
        w = curvature(
            n[i, j], mean[i, j], scatter[i, j], pooled, floor, shrinkage, score[i] - score[j]
        )
        if update(kept, i, j, w) and walk(
            n, mean, scatter, pooled, floor, shrinkage, score, step, kept.inverse
        ):
            write_variances(n, mean, scatter, pooled, floor, shrinkage, score, variance)
            return
        score[:] = before
    climb(n, mean, scatter, pooled, floor, shrinkage, score, variance, step, 10000)
    age[0] = -1
    if renew(n, mean, scatter, pooled, floor, shrinkage, score, kept):
        age[0] = 0


@compiled
def curvature(n, mean, scatter, pooled, floor, shrinkage, lead):
    """Return the second derivative of a pair's profile by the lead of i over j."""
    e = mean - lead
    weight = shrinkage + n
    v = (shrinkage * pooled + scatter + n * e * e) / weight
    if v <= floor:
        return n / floor
    return n / v * (1 - 2 * n * e * e / (weight * v))


@compiled
def update(kept, i, j, w):
    """Update the inverse by the new weight of a pair; return whether that is possible."""
    change = w - kept.weight[i, j]
    size = len(kept.inverse)
    column = np.zeros(size)
    for k in range(size):
        if i > 0:
            column[k] += kept.inverse[k, i - 1]
        if j > 0:
            column[k] -= kept.inverse[k, j - 1]
    lead = (column[i - 1] if i > 0 else 0.0) - (column[j - 1] if j > 0 else 0.0)
    below = 1 + change * lead
    if not below > 1e-6:
        return False
    for k in range(size):
        by = change * column[k] / below
        for m in range(size):
            kept.inverse[k, m] -= by * column[m]
    kept.weight[i, j] = kept.weight[j, i] = w
    return True


@compiled
def walk(n, mean, scatter, pooled, floor, shrinkage, score, step, inverse):
    """Move the scores by the inverse times the gradient; return whether the steps converge."""
    n_arms = len(score)
    slope = np.empty(n_arms)
    trial = np.empty(n_arms)
    last = np.inf
    for _ in range(12):
        slope[:] = 0.0
        for i in range(n_arms):
            for j in range(i):
                if n[i, j] > 0:
                    e = mean[i, j] - score[i] + score[j]
                    v = shrinkage * pooled + scatter[i, j] + n[i, j] * e * e
                    g = n[i, j] * e / max(v / (shrinkage + n[i, j]), floor)
                    slope[i] += g
                    slope[j] -= g
        moved = shifted(score, inverse @ slope[1:], trial)
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
def renew(n, mean, scatter, pooled, floor, shrinkage, score, kept):
    """Compute the inverse at the scores; return whether the Hessian is positive there."""
    n_arms = len(score)
    inverse = kept.inverse
    inverse[:] = 0.0
    for i in range(n_arms):
        for j in range(i):
            w = 0.0
            if n[i, j] > 0:
                lead = score[i] - score[j]
                w = curvature(n[i, j], mean[i, j], scatter[i, j], pooled, floor, shrinkage, lead)
            kept.weight[i, j] = kept.weight[j, i] = w
            inverse[i - 1, i - 1] += w
            if j > 0:
                inverse[j - 1, j - 1] += w
                inverse[i - 1, j - 1] -= w
                inverse[j - 1, i - 1] -= w
    return inverted(inverse)
