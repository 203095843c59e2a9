"""Scores of the arms, the winners under each criterion, and rankings by score."""

from numbers import Real
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from bayesduel.preference.copeland import beats_all, blocks, check_preference, copeland_scores
from bayesduel.preference.von_neumann import von_neumann
from bayesduel.system.arguments import check_one_of, numbers, shown_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "CRITERIA",
    "EQUAL",
    "Criterion",
    "borda_scores",
    "random_walk_scores",
    "rank_order",
    "ranks",
    "top_k",
    "winner_mask",
]

Criterion = Literal["condorcet", "copeland", "borda", "random_walk", "von_neumann"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)

EQUAL = 1e-10  # scores closer than this are one score: sums of the same terms in another order


def borda_scores(P: "ArrayLike") -> np.ndarray:
    """Return each arm's mean probability of beating another, shape (..., K), in [0, 1].

    ``B_i = sum_{j != i} P[i, j] / (K - 1)``.
    """
    P = check_preference(P)
    others = P.sum(-1) - 0.5
    n_opponents = P.shape[-1] - 1
    return np.asarray(others / n_opponents)


def random_walk_scores(P: "ArrayLike") -> np.ndarray:
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
        moves = block / block.sum(-2, keepdims=True)
        balance = moves - np.eye(n_arms)
        balance[:, -1, :] = 1.0  # one balance equation is redundant: the sum takes its place
        right = np.broadcast_to(unit, (len(block), n_arms, 1))
        law = np.linalg.solve(balance, right)[..., 0]
        stop = start + len(block)
        flat[start:stop] = np.maximum(law, 0.0)
    return flat.reshape(out.shape)


def winner_mask(P: "ArrayLike", criterion: Criterion) -> np.ndarray:
    """Return whether each arm is a winner under a criterion, bool, shape (..., K).

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
    check_one_of(criterion, "criterion", CRITERIA)
    if criterion == "condorcet":
        return beats_all(P)
    if criterion == "von_neumann":
        return von_neumann(P) > 0
    functions = {
        "copeland": copeland_scores,
        "borda": borda_scores,
        "random_walk": random_walk_scores,
    }
    scores = functions[criterion](P)
    best = scores.max(-1, keepdims=True)
    return scores >= best - EQUAL


def rank_order(scores: "ArrayLike") -> np.ndarray:
    """Return the indices of the arms, best first, shape (..., K); ties in order of index."""
    scores = _check_scores(scores)
    return np.argsort(-scores, axis=-1, kind="stable")


def ranks(scores: "ArrayLike") -> np.ndarray:
    """Return the number of arms with a higher score, shape (..., K): 0 is best, ties share."""
    scores = _check_scores(scores)
    order = rank_order(scores)
    descending = np.take_along_axis(scores, order, axis=-1)
    places = np.arange(scores.shape[-1])
    place = np.broadcast_to(places, scores.shape).copy()
    before = descending[..., :-1]
    level = descending[..., 1:] == before
    place[..., 1:][level] = 0
    shared = np.maximum.accumulate(place, axis=-1)
    out = np.empty_like(shared)
    np.put_along_axis(out, order, shared, axis=-1)
    return out


def top_k(scores: "ArrayLike", k: int) -> np.ndarray:
    """Return whether each score is among the k largest, bool, shape (..., K); ties are in.

    Raises
    ------
    ValueError
        If k is not between 1 and K.
    """
    scores = _check_scores(scores)
    n_arms = scores.shape[-1]
    numeric = isinstance(k, Real) and not isinstance(k, bool)
    if not numeric or k not in range(1, n_arms + 1):
        raise ValueError(f"k should be a whole number from 1 to {n_arms}, got {shown_value(k)}")
    cut = n_arms - int(k)
    ascending_at_cut = np.partition(scores, cut, axis=-1)
    least = ascending_at_cut[..., [cut]]
    return np.asarray(scores >= least)


def _check_scores(scores: "ArrayLike") -> np.ndarray:
    array = numbers(scores, "scores")
    empty = array.ndim < 1 or array.shape[-1] < 1
    if empty or np.isnan(array).any():
        raise ValueError(f"scores should have shape (..., K) without NaN, got {array.shape}")
    return array
