"""The comparison graph: precision matrices of scores as sparse matrices, solved and drawn from.

Arms are vertices, pairs that met are edges. The precision of scores given a weight for each edge is
the weighted Laplacian of the graph plus the prior's, ``sum_e w_e (u_i - u_j)(u_i - u_j)' + tau I``:
it is never stored as a K x K array. Systems are solved by conjugate gradients, and normal vectors
with this precision are drawn by perturbation: ``Q^-1 b`` where b is normal with covariance Q.

References
----------
Papandreou & Yuille, "Gaussian sampling by local perturbations", NeurIPS 2010 (perturb and solve).
Deviations: none.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesduel.inference.block_solver import add_pair_noise, solve_block
from bayesduel.inference.conjugate_gradient import conjugate_gradient

__all__ = ["ComparisonGraph", "ScorePrecision"]

ITERATIONS = 2000  # of conjugate gradients, at most


@dataclass(frozen=True, eq=False)
class ComparisonGraph:
    """Pairs that met, with their numbers of duels and the points of the first arm.

    Attributes
    ----------
    n_arms
        K.
    first, second
        Arms of each pair, indices, shape (pairs,).
    n, points
        Duels of each pair, and points of the first arm (a tie counts half), shape (pairs,).
    edges
        Number of the pair, from 0, at (first, second) and at (second, first), sparse, (K, K).
    """

    n_arms: int
    first: np.ndarray
    second: np.ndarray
    n: np.ndarray
    points: np.ndarray
    edges: sparse.csr_array

    @classmethod
    def of(cls, cells: Any) -> "ComparisonGraph":
        """Return the graph of a model's cells, each of which is a pair that met."""
        data, n_arms = cells.data, cells.log.n_arms
        first, second = (np.ascontiguousarray(data[k], np.int32) for k in ("first", "second"))
        n_pairs = len(first)
        pair = np.arange(n_pairs, dtype=np.int32)
        ends = (np.concatenate([first, second]), np.concatenate([second, first]))
        twice = np.concatenate([pair, pair])
        edges = sparse.csr_array((twice, ends), shape=(n_arms, n_arms))
        n, points = (np.asarray(data[k], dtype=float) for k in ("n", "points"))
        return cls(n_arms, first, second, n, points, edges)

    @property
    def duels(self) -> np.ndarray:
        """Number of duels of each arm, shape (K,)."""
        return np.bincount(self.first, self.n, self.n_arms) + np.bincount(
            self.second, self.n, self.n_arms
        )

    def difference(self, score: np.ndarray) -> np.ndarray:
        """Return first's score minus second's of each pair, shape (pairs,)."""
        return np.asarray(score[self.first] - score[self.second])

    def pull(self, slope: np.ndarray) -> np.ndarray:
        """Return the gradient in the scores from that in each pair's difference, shape (K,)."""
        return np.asarray(
            np.bincount(self.first, slope, self.n_arms)
            - np.bincount(self.second, slope, self.n_arms)
        )

    def precision(self, weight: np.ndarray, tau: float) -> "ScorePrecision":
        """Return the Laplacian with these weights of pairs, plus `tau` times the identity."""
        off = sparse.csr_array(
            (weight[self.edges.data], self.edges.indices, self.edges.indptr),
            shape=self.edges.shape,
        )
        degree = np.bincount(self.first, weight, self.n_arms)
        degree += np.bincount(self.second, weight, self.n_arms)
        return ScorePrecision(self, weight, tau, degree + tau, off)


@dataclass(frozen=True, eq=False)
class ScorePrecision:
    """A precision matrix of the scores on a comparison graph.

    Attributes
    ----------
    graph
        The graph.
    weight
        Of each pair, shape (pairs,).
    tau
        What is added to the diagonal: the prior's precision.
    diagonal
        Of the matrix, shape (K,).
    off
        Minus the rest of the matrix, sparse, (K, K).
    """

    graph: ComparisonGraph
    weight: np.ndarray
    tau: float
    diagonal: np.ndarray
    off: sparse.csr_array

    def solve(
        self, right: np.ndarray, start: np.ndarray | None = None, *, tolerance: float = 1e-6
    ) -> np.ndarray:
        """Return the solution for a right-hand side of shape (K,), by conjugate gradients.

        Raises
        ------
        FloatingPointError
            If they do not converge.
        """
        return conjugate_gradient(self.off, self.diagonal, right, start, tolerance=tolerance)

    def solve_block(self, right: np.ndarray, *, tolerance: float = 1e-3) -> np.ndarray:
        """Return the solutions for right-hand sides (K, columns), float32.

        Raises
        ------
        FloatingPointError
            If some column does not converge.
        """
        off, diagonal = self.off, self.diagonal.astype(np.float32)
        weight = off.data.astype(np.float32)
        found, steps = solve_block(
            off.indptr, off.indices, weight, diagonal, right, tolerance, ITERATIONS
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
        add_pair_noise(found, graph.first, graph.second, root, seed)
        return found
