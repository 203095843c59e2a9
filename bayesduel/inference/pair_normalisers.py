"""Log normalisers of pairs, summed over cells, without exponentials or a logarithm of each cell.

Of scores s and other columns with predictor o, ``exp(eta / 2) + exp(-eta / 2) + tie`` is
``(x^2 + tie x y + y^2) / (x y)``, with ``x = exp(s_i / 2 + o / 4)`` and
``y = exp(s_j / 2 - o / 4)``: products of numbers of arms and of kinds of cells. Cells are in the
order of their duels, so that one logarithm serves the product of several that have as many.
"""

import math
from dataclasses import dataclass

import numpy as np

from bayesduel.inference.coefficient_prior import TOGETHER
from bayesduel.inference.design import PairDifferences, centre
from bayesduel.jit import compiled
from bayesduel.system.memory import CACHED

__all__ = ["PairNormalisers"]

LARGEST = 700 / TOGETHER  # logarithm of a numerator: the product is below e^700, a finite number


@dataclass(frozen=True, eq=False)
class PairNormalisers:
    """The sum over cells of n log(exp(eta / 2) + exp(-eta / 2) + tie), as a function of draws."""

    n_arms: int
    # of each cell, in the order of their duels, int64: its arms, and which row of `kinds` it has
    first: np.ndarray
    second: np.ndarray
    kind: np.ndarray
    kinds: np.ndarray  # distinct rows of the other columns, (kinds, p)
    ends: np.ndarray  # where each product of cells ends, and the duels of its cells
    duels: np.ndarray
    met: np.ndarray  # duels of each arm, (K,)

    @classmethod
    def of(cls, design: PairDifferences, n: np.ndarray) -> "PairNormalisers | None":
        """Return those of cells with `n` duels; None if the other columns are sparse."""
        columns = design.beside.jacobian
        if not isinstance(columns, np.ndarray):
            return None
        kinds = np.zeros((1, columns.shape[1]))
        kind = np.zeros(len(n), dtype=np.int64)
        if columns.shape[1]:
            kinds, kind = np.unique(columns, axis=0, return_inverse=True)
        n_cells = len(n)
        order = np.argsort(n, kind="stable")
        ordered = n[order]
        changes = np.append(True, np.diff(ordered) > 0)
        begin = np.flatnonzero(changes)  # of cells that have as many duels
        lengths = np.diff(np.append(begin, n_cells))
        begin_of_cell = np.repeat(begin, lengths)
        place = np.arange(n_cells) - begin_of_cell
        begins_product = place % TOGETHER == 0
        begin_of_product = np.flatnonzero(begins_product)
        ends = np.append(begin_of_product[1:], n_cells)
        met = np.bincount(design.first, n, design.n_arms)
        met += np.bincount(design.second, n, design.n_arms)
        return cls(
            n_arms=design.n_arms,
            first=design.first.astype(np.int64)[order],
            second=design.second.astype(np.int64)[order],
            kind=kind.ravel().astype(np.int64)[order],
            kinds=kinds,
            ends=ends,
            duels=ordered[ends - 1],
            met=met,
        )

    def summed(self, u: np.ndarray, tie: np.ndarray | None) -> np.ndarray | None:
        """Return the sums (draws,) of u (draws, size); None if a number may be too large.

        tie: logarithm of the weight of a tie, (draws,); None where there are no ties.
        """
        cut = self.n_arms - 1
        found = np.empty(len(u))
        rows = max(self.n_arms, len(self.kinds))
        step = max(1, CACHED // rows)
        for start in range(0, len(u), step):
            here = slice(start, start + step)
            centred = centre(u[here, :cut])
            score = np.ascontiguousarray(centred.T)  # draws beside one another
            other = self.kinds @ u[here, cut:].T / 4
            weight = np.zeros(score.shape[1])
            if tie is not None:
                log_tie = np.minimum(tie[here], LARGEST)
                weight = np.exp(log_tie)
            largest_score = np.abs(score).max(initial=0.0)
            largest_other = np.abs(other).max(initial=0.0)
            log_weight = math.log(2 + weight.max(initial=0.0))
            largest = largest_score + 2 * largest_other + log_weight
            if not largest < LARGEST:  # or not a number
                return None
            found[here] = _sums(
                np.exp(score / 2),
                np.exp(other),
                np.exp(-other),
                weight,
                self.first,
                self.second,
                self.kind,
                self.ends,
                self.duels,
            )
            found[here] -= self.met @ score / 2
        return found


@compiled(error_model="numpy")
def _sums(
    strength: np.ndarray,
    ahead: np.ndarray,
    behind: np.ndarray,
    tie: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    kind: np.ndarray,
    ends: np.ndarray,
    duels: np.ndarray,
) -> np.ndarray:
    """Return the sum over cells of n log(x^2 + tie x y + y^2), (draws,).

    strength: of arms, (K, draws); ahead, behind: of kinds, (kinds, draws).
    """
    n_draws = strength.shape[1]
    total = np.zeros(n_draws)
    product = np.empty(n_draws)
    start = 0
    for k in range(len(ends)):
        product[:] = 1.0
        for cell in range(start, ends[k]):
            one = strength[first[cell]]
            other = strength[second[cell]]
            up = ahead[kind[cell]]
            down = behind[kind[cell]]
            for d in range(n_draws):
                x = one[d] * up[d]
                y = other[d] * down[d]
                product[d] *= x * (x + tie[d] * y) + y * y
        for d in range(n_draws):
            total[d] += duels[k] * math.log(product[d])
        start = ends[k]
    return total
