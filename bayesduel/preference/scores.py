"""Functions of the preference matrix: winners, scores, rankings and cycles.

``P[i, j]`` is the probability that i beats j; ``P[j, i] = 1 - P[i, j]`` and the diagonal is
1/2. Every function takes shape (..., K, K) and keeps the leading axes (draws, chains). i
*beats* j when ``P[i, j] > 1/2``; at exactly 1/2 they tie, and by default a tie counts for
nobody. Nothing depends on how the arms are numbered, except that `kemeny`, `slater` and
`rank_order` must put equals in some order.
"""

from typing import Any, Literal, get_args

import numpy as np

from bayesduel.preference.copeland import (
    beats,
    blocks,
    check_preference,
    condorcet_winner,
    copeland_scores,
    cyclic_triads,
    decided_triads,
    opposite,
    smith_set,
)
from bayesduel.preference.kemeny import cheapest_order
from bayesduel.preference.von_neumann import maximin

__all__ = [
    "CRITERIA",
    "Criterion",
    "beats",
    "borda_scores",
    "check_preference",
    "condorcet_winner",
    "copeland_scores",
    "cyclic_triads",
    "decided_triads",
    "kemeny",
    "random_walk_scores",
    "rank_order",
    "ranks",
    "slater",
    "smith_set",
    "top_k",
    "von_neumann",
    "winner_mask",
]

Criterion = Literal["condorcet", "copeland", "borda", "random_walk", "von_neumann"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)

EQUAL = 1e-10  # scores closer than this are one score: sums of the same terms in another order


def borda_scores(P: Any) -> np.ndarray:
    """Return each arm's mean probability of beating another, shape (..., K), in [0, 1].

    ``B_i = sum_{j != i} P[i, j] / (K - 1)``.
    """
    P = check_preference(P)
    return (P.sum(-1) - 0.5) / (P.shape[-1] - 1)


def random_walk_scores(P: Any) -> np.ndarray:
    """Return the stationary law of the walk towards arms that win, shape (..., K), sum 1.

    The walk leaves j for i with probability ``P[i, j] / sum_l P[l, j]``, the diagonal 1/2
    kept. Of any two arms one can be left for the other, so the law is always unique.

    References
    ----------
    Busa-Fekete et al., "Top-k selection based on adaptive sampling of noisy preferences",
    ICML 2013; Negahban, Oh & Shah, "Rank Centrality", Operations Research 2017.
    """
    P = check_preference(P)
    n_arms = P.shape[-1]
    out = np.empty(P.shape[:-1])
    flat = out.reshape(-1, n_arms)
    unit = np.zeros((n_arms, 1))
    unit[-1] = 1.0
    for start, block in blocks(P):
        walk = block / block.sum(-2, keepdims=True) - np.eye(n_arms)
        walk[:, -1, :] = 1.0  # one balance equation is redundant: the sum takes its place
        law = np.linalg.solve(walk, np.broadcast_to(unit, (len(block), n_arms, 1)))[..., 0]
        flat[start : start + len(block)] = np.maximum(law, 0.0)
    return flat.reshape(out.shape)


def von_neumann(P: Any) -> np.ndarray:
    """Return the maximin mixture of the game with payoff ``2 P - 1``, shape (..., K), sum 1.

    No arm beats the mixture with probability above 1/2. A Condorcet winner is the whole of
    it; otherwise it lies within the Smith set, to which the game is cut down first. Where
    exact ties allow many mixtures, the one that mixes all arms that any of them mixes.

    References
    ----------
    Dudík, Hofmann, Schapire, Slivkins & Zoghi, "Contextual Dueling Bandits", COLT 2015;
    the maximal lotteries of Fishburn, Review of Economic Studies 1984.
    """
    P = check_preference(P)
    flat = P.reshape(-1, *P.shape[-2:])
    cycle = smith_set(P).reshape(len(flat), -1)
    out = cycle.astype(float)  # already right where the set is a single arm
    size = cycle.sum(1)
    for m in np.unique(size[size > 1]):
        draws = np.flatnonzero(size == m)
        arms = np.nonzero(cycle[draws])[1].reshape(-1, m)
        game = 2 * flat[draws[:, None, None], arms[:, :, None], arms[:, None, :]] - 1
        out[draws[:, None], arms] = maximin((game - opposite(game)) / 2)
    return out.reshape(P.shape[:-1])


def winner_mask(P: Any, criterion: Criterion) -> np.ndarray:
    """Return who is a winner, bool, shape (..., K).

    Scores that differ by less than 1e-10 are equal: all of their arms win together.

    Parameters
    ----------
    P
        Preference matrices, shape (..., K, K).
    criterion
        "condorcet" (nobody, where no arm beats all others), "copeland" (strict ties),
        "borda", "random_walk", or "von_neumann" (the support of the maximin mixture).

    Raises
    ------
    ValueError
        If `criterion` is none of these.
    """
    if criterion == "condorcet":
        won = beats(P)
        return won.sum(-1) == won.shape[-1] - 1
    if criterion == "von_neumann":
        return von_neumann(P) > 0
    functions = {
        "copeland": copeland_scores,
        "borda": borda_scores,
        "random_walk": random_walk_scores,
    }
    if criterion not in functions:
        raise ValueError(f"criterion should be one of {', '.join(CRITERIA)}, got {criterion!r}")
    scores = functions[criterion](P)
    return scores >= scores.max(-1, keepdims=True) - EQUAL


def rank_order(scores: Any) -> np.ndarray:
    """Return the arms' indices, best first, shape (..., K); equals in the order of index."""
    return np.argsort(-_check_scores(scores), axis=-1, kind="stable")


def ranks(scores: Any) -> np.ndarray:
    """Return how many arms score strictly better, shape (..., K): 0 is best, equals share."""
    scores = _check_scores(scores)
    order = np.argsort(-scores, axis=-1, kind="stable")
    descending = np.take_along_axis(scores, order, axis=-1)
    place = np.broadcast_to(np.arange(scores.shape[-1]), scores.shape).copy()
    place[..., 1:][descending[..., 1:] == descending[..., :-1]] = 0
    out = np.empty_like(place)
    np.put_along_axis(out, order, np.maximum.accumulate(place, axis=-1), axis=-1)
    return out


def top_k(scores: Any, k: int) -> np.ndarray:
    """Return the k largest, bool, shape (..., K); all arms equal to the k-th are in.

    Raises
    ------
    ValueError
        If k is not between 1 and K.
    """
    scores = _check_scores(scores)
    n_arms = scores.shape[-1]
    if isinstance(k, bool) or k != int(k) or not 1 <= k <= n_arms:
        raise ValueError(f"k should be a whole number from 1 to {n_arms}, got {k}")
    return scores >= np.partition(scores, n_arms - int(k), axis=-1)[..., [n_arms - int(k)]]


def kemeny(P: Any) -> np.ndarray:
    """Return the ranking that disagrees least with P, best arm first, shape (..., K).

    It minimises the sum of ``P[b, a]`` over pairs ranked a above b, exactly. Of several, the
    first in the order of the arms' indices.

    Raises
    ------
    ValueError
        If there are more than 16 arms.
    """
    return _over_matrices(opposite(check_preference(P)))


def slater(P: Any) -> np.ndarray:
    """Return the ranking that reverses fewest majorities, best arm first, shape (..., K).

    It minimises the number of pairs ranked a above b where b beats a, exactly. Several are
    common; the first in the order of the arms' indices is returned.

    Raises
    ------
    ValueError
        If there are more than 16 arms.
    """
    return _over_matrices(opposite(beats(P)).astype(float))


def _check_scores(scores: Any) -> np.ndarray:
    array = np.asarray(scores, dtype=float)
    if array.ndim < 1 or array.shape[-1] < 1 or np.isnan(array).any():
        raise ValueError(f"scores should have shape (..., K) without NaN, got {array.shape}")
    return array


def _over_matrices(cost: np.ndarray) -> np.ndarray:
    flat = cost.reshape(-1, *cost.shape[-2:])
    return np.stack([cheapest_order(c) for c in flat]).reshape(cost.shape[:-1])
