"""Lower bounds: the slope of regret in ln T, and the duels that identify a winner.

The scale of regret is that of ``copeland`` regret, ``c* - (c_a + c_b) / 2`` a duel. Only pairs
whose majority can be reversed at a cost of information make another arm a winner, so that both
bounds are linear programs. They are solved by HiGHS; the compiled program of CW-RMED is meant for
few arms, where it is faster, and at 40 arms is slower by a factor of hundreds.

References
----------
Komiyama, Honda & Nakagawa, "Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal
Algorithm, and Computationally Efficient Algorithm", ICML 2016. The region of allocations
is restated as two sums per rival: with ``x_ij = q_ij d(p_ij)`` and i1 a winner, the rival i2
needs ``m = C_i1 - C_i2 + 1`` of the reversals (i1, j), j lost by i1's prey or i2's
superiors, each worth 1, and (i1, i2) worth 2; (A) the m smallest single items must sum to
at least 1, and (B) so must x_{i1 i2} with the m - 2 smallest. Both become linear through
"the sum of the m smallest of s is at least y" iff some lambda, e >= 0 have
``e_j >= lambda - s_j`` and ``m lambda - sum e >= y``. For identification: Garivier & Kaufmann,
"Optimal Best Arm Identification with Fixed Confidence", COLT 2016, Theorem 1, carried over from
arms to pairs, by Kaufmann, Cappé & Garivier, "On the Complexity of Best-Arm Identification in
Multi-Armed Bandit Models", JMLR 2016, Lemma 1, which holds at every delta; with a known gap for the
matrices of Haddenhorst, Bengs & Hüllermeier, NeurIPS 2021, whose own bound for two arms
(Proposition 4.1, in their program) is this one rounded up to whole leads of a sequential test.
Where several arms are right, Degenne & Koolen, "Pure Exploration with Multiple Correct Answers",
NeurIPS 2019.
"""

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from scipy.special import rel_entr

from bayesduel.policies.cw_rmed_allocation import costs
from bayesduel.preference import check_preference, condorcet_winner
from bayesduel.system.arguments import check_one_of, check_range

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["least_duels", "least_slope", "slopes_by_winner"]


def least_slope(P: "ArrayLike") -> float:
    """Return C*: no consistent policy's regret grows more slowly than C* ln T.

    Parameters
    ----------
    P
        Preference matrix, shape (K, K). An exact tie counts for neither arm, and is reversed at
        no cost of information; if ties alone could make another arm the winner, the slope is
        infinite.

    Returns
    -------
    The slope of ``copeland`` regret in ln T.

    Examples
    --------
    >>> round(bd.least_slope(bd.problems.named("mslr-5").P), 1)
    66.3
    """
    return min(slopes_by_winner(P).values())


def least_duels(
    P: "ArrayLike",
    delta: float,
    criterion: Literal["condorcet", "copeland"] = "condorcet",
    gap: float = 0.0,
) -> float:
    """Return the expected number of duels below which no policy identifies the winner.

    Parameters
    ----------
    P
        Preference matrix, shape (K, K).
    delta
        Probability of a wrong answer, in (0, 0.5).
    criterion
        "condorcet": of policies that are right wherever there is a Condorcet winner. "copeland":
        of those that find a Copeland winner of any matrix; an exact tie is as in
        ``least_slope``.
    gap
        Of policies that may rely on every probability being at least this far from 1/2, in
        [0, 0.5); with "condorcet" alone. By 0 they rely on nothing.

    Returns
    -------
    ``kl(delta, 1 - delta)`` times the least number of duels by which every alternative, a matrix
    with another winner, costs one unit of information. For a Condorcet winner this number is the
    sum over the other arms j of ``1 / max_k kl(P[k, j], 1/2 - gap)``, of the arms k that beat j: an
    alternative reverses all that j loses, and no pair is in two of these sums. It holds at every
    delta. For Copeland winners it is a linear programme; where there are several, the bound holds
    for delta to 0.

    Raises
    ------
    ValueError
        If no arm is the Condorcet winner, delta is outside (0, 0.5), or a probability of `P` is
        nearer to 1/2 than `gap`.

    Examples
    --------
    >>> P = bd.problems.named("mslr-5").P
    >>> round(bd.least_duels(P, 0.05)), round(bd.least_duels(P, 0.05, gap=0.009))
    (1209, 802)
    """
    check_one_of(criterion, "criterion", ("condorcet", "copeland"))
    check_range(delta, "delta", "in (0, 0.5)")
    check_range(gap, "gap", "in [0, 0.5)")
    P = check_preference(P)
    if gap > 0 and criterion == "copeland":
        raise ValueError(f"gap should be 0 under criterion 'copeland', got {gap}")
    itself = np.eye(len(P), dtype=bool)
    off_diagonal = P[~itself]
    nearest = abs(off_diagonal - 0.5).min()
    # Rounding of 1 - p beside p: 1e-12
    if gap > 0 and gap > nearest + 1e-12:
        raise ValueError(
            f"gap should be at most {nearest:.4g}, the least distance of an entry of P from 1/2, "
            f"got {gap}"
        )
    other = 0.5 - gap
    divergence = rel_entr(P, other) + rel_entr(1 - P, 1 - other)
    information = np.maximum(divergence, 0.0)
    with np.errstate(divide="ignore"):
        if criterion == "condorcet":
            winner = condorcet_winner(P)
            if winner < 0:
                raise ValueError("P should have a Condorcet winner, got a matrix without one")
            of_wins = np.where(P > 0.5, information, 0.0)
            clearest = of_wins.max(axis=0)
            of_losers = np.delete(clearest, winner)
            duels = float((1 / of_losers).sum())
        else:
            price = np.where(P == 0.5, 0.0, 1 / information)
            duels = min(_by_winner(P, price).values())
    log_odds = np.log((1 - delta) / delta)
    return float((1 - 2 * delta) * log_odds * duels)


def slopes_by_winner(P: "ArrayLike") -> dict[int, float]:
    """Return, for every Copeland winner, the least cost of identifying it."""
    P = check_preference(P)
    return _by_winner(P, costs(P))


def _by_winner(P: np.ndarray, price: np.ndarray) -> dict[int, float]:
    """Return the least cost of information for every winner, by its price at each pair."""
    wins = (P > 0.5).sum(axis=1)
    winners = np.flatnonzero(wins == wins.max())
    return {i1: _cheapest(P, i1, price) for i1 in winners.tolist()}


def _needed(P: np.ndarray, i1: int, i2: int) -> int:
    """Return how many wins a rival must gain on the winner; its exact ties come free."""
    wins = (P > 0.5).sum(axis=1)
    ties = (P[i2] == 0.5).sum() - 1
    behind = wins[i1] - wins[i2]
    return int(behind + 1 - ties)


def _cheapest(P: np.ndarray, i1: int, price: np.ndarray) -> float:
    """Return the optimum of the linear programme of winner `i1`."""
    n_arms = len(P)
    first, second = np.triu_indices(n_arms, 1)
    n_pairs = len(first)
    pair = np.zeros((n_arms, n_arms), dtype=int)
    pair[first, second] = np.arange(n_pairs)
    pair[second, first] = np.arange(n_pairs)
    columns = n_pairs
    rows: list[dict[int, float]] = []
    bounds_from: list[float] = []

    def at_least_one(items: list[int], m: int, extra: int | None) -> None:
        """Require x[extra] + the sum of the m smallest x[items] >= 1."""
        nonlocal columns
        row: dict[int, float] = {}
        if extra is not None:
            row[extra] = 1.0
        if m > 0:
            level = columns
            columns = level + 1 + len(items)
            slack = range(level + 1, columns)
            free.append(level)
            row[level] = float(m)
            for item, e in zip(items, slack, strict=True):
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
        others = np.ones(n_arms, dtype=bool)
        others[[i1, i2]] = False
        prey = others & (P[i1] > 0.5)
        superiors = others & (P[:, i2] > 0.5)
        items = pair[i1, prey].tolist()
        items += pair[superiors, i2].tolist()
        if len(items) >= needed:
            at_least_one(items, needed, None)
        fewer = max(needed - 2, 0)
        beats_rival = P[i1, i2] > 0.5
        if beats_rival and len(items) >= fewer:
            own_pair = int(pair[i1, i2])
            at_least_one(items, fewer, own_pair)
    row_of: list[int] = []
    column_of: list[int] = []
    values: list[float] = []
    for place, row in enumerate(rows):
        row_of += [place] * len(row)
        column_of += row.keys()
        values += row.values()
    matrix = csr_matrix((values, (row_of, column_of)), shape=(len(rows), columns))
    objective = np.zeros(columns)
    objective[:n_pairs] = price[first, second]
    limits = np.zeros((columns, 2))
    limits[:, 1] = np.inf
    limits[free, 0] = -np.inf
    at_most = -np.array(bounds_from)
    solved = linprog(objective, A_ub=-matrix, b_ub=at_most, bounds=limits)
    if not solved.success:
        raise RuntimeError(f"the linear programme of arm {i1} failed: {solved.message}")
    return float(solved.fun)
