"""The design and the outcomes of a log: who met whom, on which side, and who won.

Ties are left out: of decided duels the better arm wins more often, whatever causes ties. Where
votes repeat a pair and group (or judge), one majority verdict of each such unit is counted,
because votes within it are not independent.

A side advantage is estimated together with the scores wherever the design identifies it: where the
information about it that is left once the scores are estimated is at least `LEAST_INFORMATION`,
and where scores and side advantage together do not fit every outcome of the design.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayesduel.data.duels import Duels
from bayesduel.data.majority import units_of
from bayesduel.data.votes import distinct, unordered
from bayesduel.inference.design import laplacian

__all__ = ["LEAST_INFORMATION", "DecidedDuels", "OrderStatus", "design_of", "majority_design"]

LEAST_INFORMATION = 1.0  # about a side advantage, per squared logit: that of its prior, N(0, 1)
OrderStatus = Literal["estimated", "not identified", "not recorded"]


@dataclass(frozen=True, eq=False, kw_only=True)
class DecidedDuels:
    """Decided duels by cell: a pair of arms met in one order."""

    n_arms: int  # arms of the log
    first: np.ndarray  # the arms of each pair that met, first < second, shape (n_pairs,)
    second: np.ndarray
    pair: np.ndarray  # which pair a cell is of, in order, shape (n_cells,)
    # 1.0 where `first` was listed first, -1.0 where second, 0.0 where neither (or where no side
    # advantage is estimated), shape (n_cells,)
    side: np.ndarray
    n: np.ndarray  # decided duels, and those that went to `first`, float, shape (n_cells,)
    won: np.ndarray
    # "estimated": the design identifies an effect of the order; "not identified": sides were
    # recorded, but an effect of the order cannot be separated from scores or from cycles; "not
    # recorded": sides carry no meaning, as in a matrix of wins, or where one side won every duel
    # (it was written down after the outcome)
    order: OrderStatus = "not recorded"
    both_ways: float = 0.0  # share of the pairs that met in both orders

    @property
    def has_order(self) -> bool:
        """Whether an effect of the order is estimated."""
        return self.order == "estimated"

    @property
    def starts(self) -> np.ndarray:
        """Place of the first cell of each pair, shape (n_pairs,)."""
        return np.searchsorted(self.pair, np.arange(len(self.first)))

    def by_pair(self, values: np.ndarray) -> np.ndarray:
        """Return the sums over the cells of each pair, shape (n_pairs,)."""
        return np.bincount(self.pair, values, len(self.first))

    def moments(self, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of what the first arm of each pair wins, given its chances.

        chance: of each cell, shape (n_cells,).
        """
        expected = self.n * chance
        variance = expected * (1 - chance)
        return self.by_pair(expected), self.by_pair(variance)


def design_of(duels: Duels) -> DecidedDuels:
    """Return the decided duels of a log, each vote counted."""
    cells = duels.cells
    low, high = unordered(cells.left.astype(np.int64), cells.right.astype(np.int64))
    low_first = cells.left == low
    side = np.where(low_first, 1.0, -1.0) * duels.ordered
    won = np.where(low_first, cells.left_wins, cells.right_wins)
    n = cells.left_wins + cells.right_wins
    return _gather(duels.n_arms, low, high, side, n, won)


def majority_design(duels: Duels, role: Literal["group", "judge"]) -> DecidedDuels:
    """Return one majority verdict for each pair and unit of `role`.

    Ties do not vote and level units are left out; a vote that names no unit is one of its own.
    A verdict's side is the order in which most of its votes were shown, if any.
    """
    units = units_of(duels, role)
    points = units.points(units.outcome)
    decided = points != 0
    won = (points[decided] > 0).astype(float)
    return _gather(
        duels.n_arms,
        units.low[decided],
        units.high[decided],
        units.side[decided],
        np.ones(len(won)),
        won,
    )


def _gather(
    n_arms: int, low: np.ndarray, high: np.ndarray, side: np.ndarray, n: np.ndarray, won: np.ndarray
) -> DecidedDuels:
    """Return one cell for each pair and side; one for each pair without a side advantage."""
    kept = n > 0
    low = low[kept]
    high = high[kept]
    side = side[kept]
    n = n[kept]
    won = won[kept]
    pairs = low * n_arms + high
    order = _order_status(n_arms, low, high, side, n, won)
    forth = pairs[side > 0]
    back = pairs[side < 0]
    both_ways = np.intersect1d(forth, back)
    if order != "estimated":
        side = np.zeros(len(side))
    cell, place = distinct(pairs, side.astype(np.int64))
    n_cells = len(cell)
    pairs, pair = np.unique(pairs[cell], return_inverse=True)
    first, second = np.divmod(pairs, n_arms)
    return DecidedDuels(
        n_arms=n_arms,
        first=first,
        second=second,
        pair=pair.astype(np.int64),
        side=side[cell],
        n=np.bincount(place, n, n_cells).astype(float),
        won=np.bincount(place, won, n_cells).astype(float),
        order=order,
        both_ways=len(both_ways) / max(len(pairs), 1),
    )


def _order_status(
    n_arms: int, low: np.ndarray, high: np.ndarray, side: np.ndarray, n: np.ndarray, won: np.ndarray
) -> OrderStatus:
    """Return whether an effect of the order can be estimated together with the scores."""
    from scipy.sparse import csgraph, csr_array

    lost = n - won
    forth = won * (side > 0)
    back = lost * (side < 0)
    first_won = (forth + back).sum()
    sided = (n * (side != 0)).sum()
    if not 0 < first_won < sided:
        return "not recorded"
    cell, _ = distinct(low, high, side.astype(np.int64))
    ones = np.ones(len(low))
    edges = csr_array((ones, (low, high)), shape=(n_arms, n_arms))
    n_components, _ = csgraph.connected_components(edges, directed=False)
    n_scores = n_arms - n_components
    if len(cell) <= n_scores + 1:
        return "not identified"
    information = _profile_information(n_arms, low, high, side, n)
    return "estimated" if information >= LEAST_INFORMATION else "not identified"


def _profile_information(
    n_arms: int, low: np.ndarray, high: np.ndarray, side: np.ndarray, n: np.ndarray
) -> float:
    """Return the information about the side advantage once scores are estimated, level arms.

    The Fisher information of logits is n / 4 a cell; its part in the space of differences of
    scores is taken away.
    """
    weight = n / 4
    precision = laplacian(weight, low, high, n_arms)
    pull = weight * side
    into = np.bincount(low, pull, n_arms)
    out_of = np.bincount(high, pull, n_arms)
    flow = into - out_of
    mean = precision.trace() / n_arms
    ridge = 1e-9 * max(mean, 1.0)  # scores are known up to a constant
    precision[np.diag_indices(n_arms)] += ridge
    whole = (pull * side).sum()
    of_scores = flow @ np.linalg.solve(precision, flow)
    return float(whole - of_scores)
