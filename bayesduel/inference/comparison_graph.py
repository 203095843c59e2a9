"""The comparison graph: precision matrices of scores as sparse matrices, solved and drawn from.

Arms are vertices, pairs that met are edges. The precision of scores given a weight for each edge is
the weighted Laplacian of the graph plus the prior's, ``sum_e w_e (u_i - u_j)(u_i - u_j)' + tau I``:
it is never stored as a K x K array. Systems are solved by conjugate gradients, and normal vectors
with this precision are drawn by perturbation: ``Q^-1 b`` where b is normal with covariance Q.

A few dense columns (a side advantage, covariates of the duel) may stand beside the scores: their
coefficients border that matrix, and their own precision given the scores' is its Schur complement.

References
----------
Papandreou & Yuille, "Gaussian sampling by local perturbations", NeurIPS 2010 (perturb and solve).
Deviations: none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesduel.data.votes import distinct
from bayesduel.inference.block_solver import add_pair_noise, solve_block
from bayesduel.inference.conjugate_gradient import EXACT, ITERATIONS, conjugate_gradient

__all__ = ["BorderedPrecision", "ComparisonGraph", "ScorePrecision"]


@dataclass(frozen=True, eq=False)
class ComparisonGraph:
    """Pairs that met, and the cells of a log: duels of a pair that a model does not tell apart."""

    n_arms: int  # K
    first: np.ndarray  # arms of each cell, indices, shape (cells,)
    second: np.ndarray
    # duels of each cell, and points of the first arm (a tie counts half), shape (cells,)
    n: np.ndarray
    points: np.ndarray
    # what enters the predictor of each cell beside the scores, times a coefficient each, shape
    # (cells, p)
    columns: np.ndarray
    tightness: np.ndarray  # prior precision of each of these coefficients, shape (p,)
    pair: np.ndarray  # pair of each cell, shape (cells,)
    ends: np.ndarray  # arms of each pair, shape (2, pairs)
    # number of the pair, from 0, at both places of its arms, sparse, (K, K)
    edges: "sparse.csr_array"

    @classmethod
    def of(
        cls,
        cells: Any,
        effects: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> "ComparisonGraph":
        """Return the graph of a model's cells.

        `effects` are the columns beside the scores, by name: their values and prior deviations.
        """
        data = cells.data
        n_arms = cells.log.n_arms
        first = np.ascontiguousarray(data["first"], np.int32)
        second = np.ascontiguousarray(data["second"], np.int32)
        pair, ends = _pairs(first, second)
        number = np.arange(ends.shape[1], dtype=np.int32)
        places = (ends.ravel(), ends[::-1].ravel())
        numbers = np.tile(number, 2)
        edges = sparse.csr_array((numbers, places), shape=(n_arms, n_arms))
        n = np.asarray(data["n"], dtype=float)
        points = np.asarray(data["points"], dtype=float)
        columns = [np.zeros((len(n), 0))]
        deviations = [np.zeros(0)]
        for values, deviation in (effects or {}).values():
            column = np.asarray(values, dtype=float)
            columns.append(column.reshape(len(n), -1))
            deviations.append(np.atleast_1d(deviation))
        tightness = np.concatenate(deviations) ** -2.0
        return cls(
            n_arms=n_arms,
            first=first,
            second=second,
            n=n,
            points=points,
            columns=np.concatenate(columns, axis=1),
            tightness=tightness,
            pair=pair,
            ends=ends,
            edges=edges,
        )

    @property
    def duels(self) -> np.ndarray:
        """Number of duels of each arm, shape (K,)."""
        left = np.bincount(self.first, self.n, self.n_arms)
        right = np.bincount(self.second, self.n, self.n_arms)
        return left + right

    def difference(self, score: np.ndarray) -> np.ndarray:
        """Return first's score minus second's of each cell, shape (cells, ...)."""
        return np.asarray(score[self.first] - score[self.second])

    def eta(self, score: np.ndarray, effect: np.ndarray) -> np.ndarray:
        """Return the linear predictor of each cell, shape (cells,)."""
        return self.difference(score) + self.columns @ effect

    def pull(self, slope: np.ndarray) -> np.ndarray:
        """Return the gradient in the scores from that in each cell's predictor, shape (K,)."""
        of_first = np.bincount(self.first, slope, self.n_arms)
        of_second = np.bincount(self.second, slope, self.n_arms)
        return np.asarray(of_first - of_second)

    def precision(self, weight: np.ndarray, tau: float) -> "ScorePrecision":
        """Return the Laplacian with these weights of cells, plus `tau` times the identity."""
        one, other = self.ends
        by_pair = np.bincount(self.pair, weight, len(one))
        degree = np.bincount(one, by_pair, self.n_arms)
        degree += np.bincount(other, by_pair, self.n_arms)
        edges = self.edges
        entries = (
            by_pair[edges.data],
            edges.indices,
            edges.indptr,
        )
        return ScorePrecision(
            graph=self,
            weight=by_pair,
            tau=tau,
            diagonal=degree + tau,
            off=sparse.csr_array(entries, shape=edges.shape),
        )

    def bordered(self, weight: np.ndarray, tau: float) -> "BorderedPrecision":
        """Return the precision of scores and coefficients with these weights of cells."""
        scores = self.precision(weight, tau)
        weighted = self.columns * weight[:, None]
        border = np.zeros((self.n_arms, weighted.shape[1]))
        for k, column in enumerate(weighted.T):
            border[:, k] = self.pull(column)
        # The precision left to the columns is a difference of numbers a thousand times as large.
        along = conjugate_gradient(scores.off, scores.diagonal, border, tolerance=1e-8)
        of_data = self.columns.T @ weighted
        own = of_data + np.diag(self.tightness) - border.T @ along
        covariance = np.linalg.inv((own + own.T) / 2)
        return BorderedPrecision(scores, border, along, covariance)


@dataclass(frozen=True, eq=False)
class ScorePrecision:
    """A precision matrix of the scores on a comparison graph."""

    graph: ComparisonGraph
    weight: np.ndarray  # of each pair, shape (pairs,)
    tau: float  # what is added to the diagonal: the prior's precision
    diagonal: np.ndarray  # of the matrix, shape (K,)
    off: "sparse.csr_array"  # minus the rest of the matrix, sparse, (K, K)

    @property
    def conditional_variance(self) -> np.ndarray:
        """The variance of each score given all others, shape (K,)."""
        return 1 / self.diagonal

    def solve(self, right: np.ndarray, *, tolerance: float = EXACT) -> np.ndarray:
        """Return the solution for a right-hand side of shape (K,), by conjugate gradients.

        Raises FloatingPointError if they do not converge.
        """
        return conjugate_gradient(self.off, self.diagonal, right, tolerance=tolerance)

    def solve_block(self, right: np.ndarray, *, tolerance: float = EXACT) -> np.ndarray:
        """Return the solutions for right-hand sides (K, columns), float32.

        Raises FloatingPointError if some column does not converge.
        """
        off = self.off
        diagonal = self.diagonal.astype(np.float32)
        weight = off.data.astype(np.float32)
        found, steps = solve_block(
            off.indptr,
            off.indices,
            weight,
            diagonal,
            right,
            tolerance,
            ITERATIONS,
        )
        if steps < 0:
            raise FloatingPointError(
                f"conjugate gradients did not converge in {ITERATIONS:,} steps"
            )
        return np.asarray(found)

    def perturbation(self, columns: int, rng: np.random.Generator) -> np.ndarray:
        """Return normal vectors whose covariance is this matrix, (K, columns), float32."""
        graph = self.graph
        found = rng.standard_normal((graph.n_arms, columns), dtype=np.float32)
        found *= np.float32(np.sqrt(self.tau))
        seed = np.uint64(rng.integers(2**64, dtype=np.uint64))
        root = np.sqrt(self.weight).astype(np.float32)
        add_pair_noise(found, graph.ends[0], graph.ends[1], root, seed)
        return found


@dataclass(frozen=True, eq=False)
class BorderedPrecision:
    """The precision of the scores and of p coefficients beside them."""

    scores: ScorePrecision  # that of the scores given the coefficients
    border: np.ndarray  # the scores' rows and the coefficients' columns, shape (K, p)
    # how the scores move with minus each coefficient, shape (K, p): the solution for `border`
    along: np.ndarray
    covariance: np.ndarray  # of the coefficients, shape (p, p): the inverse of the Schur complement

    @property
    def added(self) -> np.ndarray:
        """What the coefficients add to the variance of each score, shape (K,)."""
        return np.einsum("ip,pq,iq->i", self.along, self.covariance, self.along)

    def solve(
        self,
        right: np.ndarray,
        other: np.ndarray,
        *,
        tolerance: float = EXACT,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the solution, scores (K,) and coefficients (p,), for such right-hand sides."""
        left = other - self.along.T @ right
        effect = self.covariance @ left
        right_score = right - self.border @ effect
        score = self.scores.solve(right_score, tolerance=tolerance)
        return score, effect


def _pairs(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pair of each cell, (cells,), and the arms of each pair, (2, pairs).

    Where no pair has two cells, pairs are the cells in their order.
    """
    smaller = np.minimum(first, second)
    larger = np.maximum(first, second)
    row, pair = distinct(smaller, larger)
    if len(row) == len(pair):
        return np.arange(len(pair)), np.stack([first, second])
    return pair, np.stack([first[row], second[row]])
