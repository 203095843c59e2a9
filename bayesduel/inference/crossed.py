"""Crossed groups: what blocks of a precision that are coupled have beside what each has alone.

Effects by judge and by prompt at once are groups of coefficients, each with a block of the
precision, and a sparse coupling of the blocks that share duels. Whitened by the roots of the
blocks the precision is ``1 + A``, where A has no entries inside a block. Systems are solved by
conjugate gradients; the log determinant and the mean variance of a family of groups are traces,
estimated with probes that are always the same.

References
----------
Ubaru, Chen & Saad, "Fast estimation of tr(f(A)) via stochastic Lanczos quadrature", SIAM Journal
on Matrix Analysis and Applications 2017.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from bayesduel.inference.conjugate_gradient import conjugate_gradient

__all__ = ["Crossing"]

RESIDUAL = {"float64": 1e-6, "float32": 1e-4}  # of a solution, relative, by its type
PROBES = 16
STEPS = 10  # of Lanczos' method


class Crossing(NamedTuple):
    """Coupled blocks."""

    roots: np.ndarray  # inverses of the lower Cholesky factors of the blocks, (groups, m, m)
    between: sparse.csr_array  # the precision between groups, sparse, (groups m, groups m)
    families: tuple[slice, ...]  # the groups of each family, slices; those of one are not coupled

    def solve(self, right: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Return the solution x of ``(1 + A) x = right``, (size, columns), as exact as its type."""
        roots, between = self.roots.astype(right.dtype), self.between.astype(right.dtype)
        alike = Crossing(roots, between, self.families)
        operator = LinearOperator(
            between.shape,
            lambda x: -alike.times(x),
            matmat=lambda x: -alike.times(x),
            dtype=right.dtype,
        )
        tolerance = RESIDUAL[right.dtype.name]
        return conjugate_gradient(
            operator, np.ones(len(right), right.dtype), right, start, tolerance=tolerance
        )

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return A x, (size, columns)."""
        return self._rooted(self.between @ self._rooted(x, turned=True))

    def log_det(self) -> float:
        """Return the log determinant of 1 + A, by Lanczos' method; that A has no trace is used."""
        probes = self._probes()
        size = len(probes)
        before, here, beta = np.zeros_like(probes), probes / np.sqrt(size), np.zeros(PROBES)
        matrix = np.zeros((PROBES, STEPS, STEPS))
        for k in range(STEPS):
            ahead = here + self.times(here) - beta * before
            matrix[:, k, k] = alpha = (here * ahead).sum(axis=0)
            ahead -= alpha * here
            beta = np.sqrt((ahead**2).sum(axis=0))
            if k + 1 < STEPS:
                matrix[:, k, k + 1] = matrix[:, k + 1, k] = beta
            before, here = here, ahead / np.maximum(beta, 1e-300)
        value, vector = np.linalg.eigh(matrix)
        value = np.maximum(value, 1e-300)  # 0, without any weight, where the method has ended early
        logarithm = (vector[:, 0] ** 2 * np.log(value)).sum(axis=1)
        return float(size * (logarithm - (matrix[:, 0, 0] - 1)).mean())

    def widening(self) -> np.ndarray:
        """Return how many times as large as alone the variances of each family are, (families,)."""
        probes, found = self._probes(), []
        m = self.roots.shape[1]
        for family in self.families:
            mine = np.zeros_like(probes)
            here = slice(family.start * m, family.stop * m)
            mine[here] = probes[here]
            rooted = self._rooted(mine)
            found.append((rooted * self.solve(rooted)).sum() / (rooted**2).sum())
        return np.array(found)

    def _probes(self) -> np.ndarray:
        """Return columns of random signs, (size, PROBES)."""
        signs = np.random.default_rng(0).integers(0, 2, (self.between.shape[0], PROBES))
        return 2.0 * signs - 1.0

    def _rooted(self, x: np.ndarray, *, turned: bool = False) -> np.ndarray:
        """Return the roots, or their transposes, times x, (size, columns)."""
        roots = self.roots.swapaxes(1, 2) if turned else self.roots
        return (roots @ x.reshape(*roots.shape[:2], -1)).reshape(x.shape)
