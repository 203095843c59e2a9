"""The least regret any consistent policy can have: slopes in ln T, to plot beside runs.

Scale: ``copeland`` regret, ``c* - (c_a + c_b) / 2`` a duel. Only majorities reversed at a
cost of information make another arm a winner, so the bound is a linear programme.

References
----------
Komiyama, Honda & Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal
Algorithm, and Computationally Efficient Algorithm", ICML 2016. The region of allocations
is restated as two sums a rival: with ``x_ij = q_ij d(p_ij)`` and i1 a winner, the rival i2
needs ``m = C_i1 - C_i2 + 1`` of the reversals (i1, j), j lost by i1's prey or i2's
superiors, each worth 1, and (i1, i2) worth 2; (A) the m smallest single items must sum to
at least 1, and (B) so must x_{i1 i2} with the m - 2 smallest. Both become linear through
"the sum of the m smallest of s is at least y" iff some lambda, e >= 0 have
``e_j >= lambda - s_j`` and ``m lambda - sum e >= y``.
"""

from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from scipy.special import rel_entr

from bayesduel.preference import check_preference

__all__ = ["divergence_from_half", "least_slope", "relaxed_slope", "slopes_by_winner"]


def divergence_from_half(P: Any) -> np.ndarray:
    """Return d(p) = kl(p, 1/2) of every entry, shape that of `P`."""
    P = np.asarray(P, dtype=float)
    return rel_entr(P, 0.5) + rel_entr(1 - P, 0.5)


def least_slope(P: Any) -> float:
    """Return C*: no consistent policy's regret grows more slowly than C* ln T.

    Parameters
    ----------
    P
        Preference matrix, shape (K, K). An exact tie counts for neither arm, and is
        reversed at no cost of information; where ties alone could dethrone the winner
        the slope is infinite.

    Returns
    -------
    The slope of ``copeland`` regret in ln T.
    """
    return min(slopes_by_winner(P).values())


def slopes_by_winner(P: Any) -> dict[int, float]:
    """Return, for every Copeland winner, the least cost of being sure of it."""
    P = check_preference(P)
    wins = (P > 0.5).sum(axis=1)
    winners = np.flatnonzero(wins == wins.max())
    return {int(i1): _cheapest(P, int(i1)) for i1 in winners}


def relaxed_slope(P: Any) -> float:
    """Return the slope of ECW-RMED, an allocation in closed form; at least C*.

    Every inferior of the winner i1 is refuted outright; a rival i2 with ``g`` superiors to
    spare is refuted on its ``h > g`` cheapest ones, each to ``1 / (h - g)``.
    """
    P = check_preference(P)
    wins = (P > 0.5).sum(axis=1)
    cost = _cost(P)
    slopes = []
    for i1 in np.flatnonzero(wins == wins.max()).tolist():
        share = np.zeros_like(P)
        for inferior in np.flatnonzero(P[i1] > 0.5):
            share[i1, inferior] = share[inferior, i1] = 1
        for i2 in range(len(P)):
            if i2 == i1:
                continue
            superiors = [j for j in range(len(P)) if P[j, i2] > 0.5 and j != i1]
            needed = _needed(P, i1, i2)
            if needed <= 0:
                return np.inf
            spare = len(superiors) - needed
            if spare < 0:
                continue
            superiors.sort(key=lambda j, i2=i2: cost[j, i2])  # type: ignore[misc]
            totals = [
                sum(cost[j, i2] for j in superiors[:h]) / (h - spare)
                for h in range(spare + 1, len(superiors) + 1)
            ]
            best = spare + 1 + int(np.argmin(totals))
            for j in superiors[:best]:
                share[j, i2] = share[i2, j] = max(share[j, i2], 1 / (best - spare))
        slopes.append(float((np.triu(share, 1) * cost).sum()))
    return min(slopes)


def _needed(P: np.ndarray, i1: int, i2: int) -> int:
    """Return how many wins a rival must gain on the winner; its exact ties come free."""
    wins = (P > 0.5).sum(axis=1)
    ties = (P[i2] == 0.5).sum() - 1
    return int(wins[i1] - wins[i2] + 1 - ties)


def _cost(P: np.ndarray) -> np.ndarray:
    """Return the regret of a unit of information about each pair, shape (K, K)."""
    n_arms = len(P)
    wins = (P > 0.5).sum(axis=1)
    regret = (2 * wins.max() - wins[:, None] - wins) / (2 * (n_arms - 1))
    information = divergence_from_half(P)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(information > 0, regret / information, 0.0)


def _cheapest(P: np.ndarray, i1: int) -> float:
    """Return the optimum of the linear programme of winner `i1`."""
    n_arms = len(P)
    first, second = np.triu_indices(n_arms, 1)
    pair = np.zeros((n_arms, n_arms), dtype=int)
    pair[first, second] = pair[second, first] = np.arange(len(first))
    columns = len(first)
    rows: list[dict[int, float]] = []
    bounds_from: list[float] = []

    def at_least_one(items: list[int], m: int, extra: int | None) -> None:
        """Require x[extra] + the sum of the m smallest x[items] >= 1."""
        nonlocal columns
        row: dict[int, float] = {} if extra is None else {extra: 1.0}
        if m > 0:
            level, slack = columns, columns + 1 + np.arange(len(items))
            columns += 1 + len(items)
            free.append(level)
            row[level] = float(m)
            for item, e in zip(items, slack.tolist(), strict=True):
                row[e] = -1.0
                rows.append({e: 1.0, level: -1.0, item: 1.0})
                bounds_from.append(0.0)
        rows.append(row)
        bounds_from.append(1.0)

    free: list[int] = []
    for i2 in range(n_arms):
        if i2 == i1:
            continue
        needed = _needed(P, i1, i2)
        if needed <= 0:  # Ties alone could make i2 the winner: no number of duels is enough.
            return np.inf
        others = [j for j in range(n_arms) if j not in (i1, i2)]
        items = [int(pair[i1, j]) for j in others if P[i1, j] > 0.5]
        items += [int(pair[j, i2]) for j in others if P[j, i2] > 0.5]
        if len(items) >= needed:
            at_least_one(items, needed, None)
        if P[i1, i2] > 0.5 and len(items) >= max(needed - 2, 0):
            at_least_one(items, max(needed - 2, 0), int(pair[i1, i2]))
    entries = [(r, c, v) for r, row in enumerate(rows) for c, v in row.items()]
    r, c, v = (np.array(part) for part in zip(*entries, strict=True))
    matrix = csr_matrix((v, (r, c)), shape=(len(rows), columns))
    objective = np.zeros(columns)
    objective[: len(first)] = _cost(P)[first, second]
    limits = np.zeros((columns, 2))
    limits[:, 1] = np.inf
    limits[free, 0] = -np.inf
    solved = linprog(objective, A_ub=-matrix, b_ub=-np.array(bounds_from), bounds=limits)
    if not solved.success:
        raise RuntimeError(f"the linear programme of arm {i1} failed: {solved.message}")
    return float(solved.fun)
