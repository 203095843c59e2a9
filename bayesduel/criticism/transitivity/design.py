"""The design and the outcomes of a log: who met whom, on which side, and who won.

Ties are left out: of decided duels the better arm wins more often, whatever causes ties. Where
votes repeat a pair and group (or judge), one majority verdict of each such unit is counted,
because votes within it are not independent.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["Design", "design_of", "majority_design"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Design:
    """Decided duels by cell: a pair of arms met in one order.

    Attributes
    ----------
    n_arms
        Arms of the log.
    first, second
        The arms of each pair that met, first < second, shape (n_pairs,).
    pair
        Which pair a cell is of, shape (n_cells,).
    side
        1.0 where `first` was listed first, -1.0 where second, 0.0 where neither (or where
        sides carry no meaning), shape (n_cells,).
    n, won
        Decided duels, and those that went to `first`, float, shape (n_cells,).
    """

    n_arms: int
    first: np.ndarray
    second: np.ndarray
    pair: np.ndarray
    side: np.ndarray
    n: np.ndarray
    won: np.ndarray

    @property
    def has_order(self) -> bool:
        """Whether an order effect can be distinguished from strength."""
        return bool(self.side.any())

    def by_pair(self, values: np.ndarray) -> np.ndarray:
        """Return the sums over the cells of each pair, shape (n_pairs,)."""
        return np.bincount(self.pair, values, len(self.first))


def design_of(duels: "Duels") -> Design:
    """Return the decided duels of a log, each vote counted."""
    cells = duels.cells
    low = np.minimum(cells.left, cells.right).astype(np.int64)
    high = np.maximum(cells.left, cells.right).astype(np.int64)
    side = np.where(cells.left == low, 1.0, -1.0)
    won = np.where(side > 0, cells.left_wins, cells.right_wins)
    return _gather(duels.n_arms, low, high, side, cells.left_wins + cells.right_wins, won)


def majority_design(duels: "Duels", role: Literal["group", "judge"]) -> Design:
    """Return one majority verdict for each pair and unit of `role`.

    Ties do not vote and level units are left out; a vote that names no unit is one of its own.
    A verdict's side is the order in which most of its votes were shown, if any.
    """
    votes = duels.votes
    if votes is None or getattr(votes, role) is None:
        raise ValueError(f"duels should name a {role} for each vote, got a log without")
    rows = np.flatnonzero((votes.outcome != 0) & (votes.weight > 0))
    left, right = votes.left[rows].astype(np.int64), votes.right[rows].astype(np.int64)
    low, high = np.minimum(left, right), np.maximum(left, right)
    code = getattr(votes, role)[rows].astype(np.int64)
    unit = np.where(code >= 0, code, -1 - np.arange(len(code)))
    keys, place = np.unique(
        np.stack([low * duels.n_arms + high, unit]), axis=1, return_inverse=True
    )
    listed = np.where(left == low, 1.0, -1.0)
    weight = votes.weight[rows]
    points = np.bincount(place, listed * votes.outcome[rows] * weight, keys.shape[1])
    side = np.sign(np.bincount(place, listed * weight, keys.shape[1]))
    low, high = np.divmod(keys[0], duels.n_arms)
    decided = points != 0
    won = (points[decided] > 0).astype(float)
    return _gather(duels.n_arms, low[decided], high[decided], side[decided], np.ones(len(won)), won)


# -- in calling order ----------------------------------------------------------------------


def _gather(
    n_arms: int, low: np.ndarray, high: np.ndarray, side: np.ndarray, n: np.ndarray, won: np.ndarray
) -> Design:
    """Return one cell for each pair and side; one for each pair where sides mean nothing."""
    kept = n > 0
    low, high, side, n, won = low[kept], high[kept], side[kept], n[kept], won[kept]
    if not _sides_mean_something(low * n_arms + high, side, n, won):
        side = np.zeros(len(side))
    code, place = np.unique((low * n_arms + high) * 3 + side.astype(np.int64), return_inverse=True)
    of_cell = (code + 1) // 3
    pairs, pair = np.unique(of_cell, return_inverse=True)
    return Design(
        n_arms=n_arms,
        first=pairs // n_arms,
        second=pairs % n_arms,
        pair=pair.astype(np.int64),
        side=(code - 3 * of_cell).astype(float),
        n=np.bincount(place, n, len(code)).astype(float),
        won=np.bincount(place, won, len(code)).astype(float),
    )


def _sides_mean_something(
    pair: np.ndarray, side: np.ndarray, n: np.ndarray, won: np.ndarray
) -> bool:
    """Return whether most pairs met in both orders, and each side won some duel.

    Where one side won every duel, the side was written down after the outcome.
    """
    if not len(pair):
        return False
    ways = [set(pair[side == s].tolist()) for s in (1.0, -1.0)]
    first_won = (won * (side > 0) + (n - won) * (side < 0)).sum()
    decided = (n * (side != 0)).sum()
    both = 2 * len(ways[0] & ways[1]) >= len(ways[0] | ways[1])
    return both and bool(0 < first_won < decided)
