"""The cheapest information about each pair that confirms a Copeland winner.

With ``x_ij = N_ij d(p_ij) / ln t`` the information about a pair, i1 a winner, i2 a rival and
m the wins it lacks plus one, the reversals worth a win to i2 are the pairs (i1, j) that i1
wins and (j, i2) that j wins; reversing (i1, i2) is worth two. i2 is implausible when

(A) the m smallest of those x sum to at least 1, if there are m of them, and
(B) x_{i1 i2} and the m - 2 smallest do, if i1 beats i2.

The cheapest such x is a linear programme with one row for every choice of smallest terms.
Few rows matter: start from x = 0 with none, add the rows that x breaks, and repair it by the
dual simplex method, until none is broken.

References
----------
Komiyama, Honda & Nakagawa, ICML 2016; the region restated as in
``bayesduel.simulation.regret_lower_bound``. Dantzig's dictionaries and Bland's rule as in Chvátal,
"Linear Programming", 1983.
"""

import numpy as np

from bayesduel.beliefs.kl import divergence_from_half
from bayesduel.jit import compiled

__all__ = ["cheapest", "costs", "is_sure", "is_sure_relaxed", "relaxed"]

BROKEN = 1 - 1e-9  # a row's left side below this is broken


@compiled
def costs(P):
    """Return the regret per unit of information about each pair, shape (K, K)."""
    n_arms = len(P)
    wins = (P > 0.5).sum(axis=1)
    cost = np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(n_arms):
            information = divergence_from_half(P[i, j])
            if i != j and P[i, j] != 0.5 and information > 0:
                lost = wins.max() - (wins[i] + wins[j]) / 2
                regret = lost / (n_arms - 1)
                cost[i, j] = regret / information
    return cost


@compiled
def lacking(P, i1, i2):
    """Return the number of wins that i2 would have to gain on i1 to overtake it."""
    lack = 1
    for j in range(len(P)):
        lack += P[i1, j] > 0.5
        lack -= P[i2, j] > 0.5
    return lack


@compiled
def broken_row(P, x, i1, i2, outright, row):
    """Write the most violated row of rule (B), if `outright`, else of rule (A).

    row: written: the pairs (first index smaller) of the row, shape (K, K).
    Returns the row's left side; infinite if the rule does not apply.
    """
    n_arms = len(P)
    m = lacking(P, i1, i2)
    row[:] = False
    total = 0.0
    if outright:
        if not P[i1, i2] > 0.5:
            return np.inf
        row[min(i1, i2), max(i1, i2)] = True
        total = x[i1, i2]
        m = max(m - 2, 0)
    first = np.empty(2 * n_arms, np.int64)
    second = np.empty(2 * n_arms, np.int64)
    size = np.empty(2 * n_arms)
    n = 0
    for j in range(n_arms):
        if j not in (i1, i2):
            for winner, loser in ((i1, j), (j, i2)):
                if P[winner, loser] > 0.5:
                    first[n] = min(winner, loser)
                    second[n] = max(winner, loser)
                    size[n] = x[winner, loser]
                    n += 1
    if n < m:
        return np.inf
    order = np.argsort(size[:n])
    for k in order[:m]:
        row[first[k], second[k]] = True
        total += size[k]
    return total


@compiled
def is_sure(P, x, i1):
    """Return whether the information x leaves no rival of i1 plausible."""
    row = np.zeros((len(P), len(P)), np.bool_)
    for i2 in range(len(P)):
        if i2 != i1:
            for outright in (False, True):
                if broken_row(P, x, i1, i2, outright, row) < BROKEN:
                    return False
    return True


@compiled
def cheapest(P, cost, i1):
    """Return the cheapest information that confirms i1, shape (K, K), symmetric."""
    n_arms = len(P)
    n = n_arms * (n_arms - 1) // 2
    # The dictionary: basic = constant + table @ nonbasic, nonbasic = 0. Variables 0..n-1 are
    # pairs, n + r is the surplus of row r. Reduced costs stay >= 0.
    table = np.zeros((n, n))
    constant = np.zeros(n)
    basic = np.empty(n, np.int64)
    nonbasic = np.arange(n)
    reduced = np.empty(n)
    number = np.zeros((n_arms, n_arms), np.int64)
    k = 0
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            number[i, j] = number[j, i] = k
            reduced[k] = cost[i, j]
            k += 1
    n_rows = 0
    x = np.zeros((n_arms, n_arms))
    row = np.zeros((n_arms, n_arms), np.bool_)
    for _ in range(10_000):
        added = 0
        for i2 in range(n_arms):
            if i2 == i1:
                continue
            for outright in (False, True):
                if broken_row(P, x, i1, i2, outright, row) < BROKEN:
                    if n_rows == len(constant):
                        table = np.vstack((table, np.zeros((n, n))))
                        constant = np.append(constant, np.zeros(n))
                        basic = np.append(basic, np.empty(n, np.int64))
                    enter_row(table, constant, basic, nonbasic, n_rows, row, number)
                    n_rows += 1
                    added += 1
        if added == 0:
            return x
        repair(table[:n_rows], constant[:n_rows], basic, nonbasic, reduced)
        value = np.zeros(n)
        for r in range(n_rows):
            if basic[r] < n:
                value[basic[r]] = constant[r]
        for i in range(n_arms):
            for j in range(n_arms):
                if i != j:
                    x[i, j] = value[number[i, j]]
    raise RuntimeError("the linear programme of CW-RMED was not solved: it needed too many rows")


@compiled
def enter_row(table, constant, basic, nonbasic, r, row, number):
    """Enter row r, ``surplus = sum of its pairs - 1``, in terms of the nonbasic variables."""
    n = len(nonbasic)
    table[r] = 0
    constant[r] = -1
    basic[r] = n + r
    for i in range(len(row)):
        for j in range(i + 1, len(row)):
            if row[i, j]:
                for k in range(n):
                    if nonbasic[k] == number[i, j]:
                        table[r, k] += 1
                for other in range(r):
                    if basic[other] == number[i, j]:
                        constant[r] += constant[other]
                        table[r] += table[other]


@compiled
def repair(table, constant, basic, nonbasic, reduced):
    """Pivot until no basic variable is negative: the dual simplex method, Bland's rule."""
    for _ in range(100_000):
        leaving = -1
        for r in range(len(constant)):
            first = leaving < 0 or basic[r] < basic[leaving]
            if first and constant[r] < -1e-11:
                leaving = r
        if leaving < 0:
            return
        entering = -1
        ratio = np.inf
        for k in range(len(nonbasic)):
            if table[leaving, k] > 1e-11:
                this = reduced[k] / table[leaving, k]
                if this < ratio or (this == ratio and nonbasic[k] < nonbasic[entering]):
                    entering = k
                    ratio = this
        if entering < 0:
            raise RuntimeError("the linear programme of CW-RMED has no solution")
        pivot(table, constant, basic, nonbasic, reduced, leaving, entering)
    raise RuntimeError("the linear programme of CW-RMED was not solved: it needed too many pivots")


@compiled
def pivot(table, constant, basic, nonbasic, reduced, leaving, entering):
    """Exchange a basic and a nonbasic variable."""
    by = table[leaving, entering]
    table[leaving] /= -by
    constant[leaving] /= -by
    table[leaving, entering] = 1 / by
    basic[leaving], nonbasic[entering] = nonbasic[entering], basic[leaving]
    for r in range(len(constant)):
        if r != leaving and table[r, entering] != 0:
            by = table[r, entering]
            table[r, entering] = 0
            table[r] += by * table[leaving]
            constant[r] += by * constant[leaving]
    by = reduced[entering]
    reduced[entering] = 0
    reduced += by * table[leaving]
    np.maximum(reduced, 0.0, reduced)  # rounding


@compiled
def relaxed(P, cost, i1):
    """Return ECW-RMED's allocation, shape (K, K), symmetric; it has a closed form.

    All of i1's victories are made sure; a rival with g superiors (i1 apart) to spare is
    refuted on its h > g cheapest ones, to ``1 / (h - g)`` each, at the cheapest h.
    """
    n_arms = len(P)
    x = np.zeros((n_arms, n_arms))
    for j in range(n_arms):
        if P[i1, j] > 0.5:
            x[i1, j] = x[j, i1] = 1
    for i2 in range(n_arms):
        if i2 != i1:
            superiors = superiors_of(P, i1, i2)
            spare = len(superiors) - lacking(P, i1, i2)
            if spare < 0:
                continue
            superiors = superiors[np.argsort(cost[superiors, i2])]
            total = 0.0
            best = np.inf
            share = 0
            for h in range(1, len(superiors) + 1):
                total += cost[superiors[h - 1], i2]
                if h > spare and total / (h - spare) < best:
                    best = total / (h - spare)
                    share = h
            for j in superiors[:share]:
                needed = max(x[j, i2], 1 / (share - spare))
                x[j, i2] = needed
                x[i2, j] = needed
    return x


@compiled
def superiors_of(P, i1, i2):
    """Return the arms other than i1 that beat i2."""
    chosen = np.empty(len(P), np.int64)
    n = 0
    for j in range(len(P)):
        if j != i1 and P[j, i2] > 0.5:
            chosen[n] = j
            n += 1
    return chosen[:n]


@compiled
def is_sure_relaxed(P, x, i1):
    """Return whether the information x satisfies the conditions of ECW-RMED."""
    for i2 in range(len(P)):
        if i2 == i1:
            continue
        if P[i1, i2] > 0.5 and x[i1, i2] < BROKEN:
            return False
        needed = lacking(P, i1, i2)
        superiors = superiors_of(P, i1, i2)
        if len(superiors) >= needed:
            known = np.sort(x[superiors, i2])
            if known[:needed].sum() < BROKEN:
                return False
    return True
