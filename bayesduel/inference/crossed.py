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

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from bayesduel.inference.conjugate_gradient import conjugate_gradient
from bayesduel.system.threads import side_by_side

__all__ = ["Crossing"]

RESIDUAL = {"float64": 1e-6, "float32": 1e-4}  # of a solution, relative, by its type
PROBES = 16
MANY = 32  # columns from which two threads pay
STEPS = 10  # of Lanczos' method


@dataclass(frozen=True, eq=False)
class Crossing:
    """Coupled blocks."""

    roots: np.ndarray  # inverses of the lower Cholesky factors of the blocks, (groups, m, m)
    between: sparse.csr_array  # the precision between groups, sparse, (groups m, groups m)
    families: tuple[slice, ...]  # the groups of each family, slices; those of one are not coupled

    def solve(self, right: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Return the solution x of ``(1 + A) x = right``, (size, columns), as exact as its type."""
        if right.shape[1] < MANY:
            return self._solved(right, start)
        halves = [slice(0, right.shape[1] // 2), slice(right.shape[1] // 2, None)]
        found = side_by_side(
            lambda k: self._solved(right[:, k], None if start is None else start[:, k]), halves
        )
        return np.concatenate(found, axis=1)

    def _solved(self, right: np.ndarray, start: np.ndarray | None) -> np.ndarray:
        """Return the same; the first family is eliminated, as its groups are not coupled."""
        roots, between = self.roots.astype(right.dtype), self.between.astype(right.dtype)
        n = self.families[0].stop
        first, rest = roots[:n], roots[n:]
        cut = n * roots.shape[1]
        ahead, back, inside = between[:cut, cut:], between[cut:, :cut], between[cut:, cut:]
        within = first.swapaxes(1, 2) @ first

        def off(x: np.ndarray) -> np.ndarray:
            turned = _by_group(rest.swapaxes(1, 2), x)
            across = back @ _by_group(within, ahead @ turned)
            return _by_group(rest, across - inside @ turned if inside.nnz else across)

        operator = LinearOperator(inside.shape, off, matmat=off, dtype=right.dtype)
        coupled = back @ _by_group(first.swapaxes(1, 2), right[:cut])
        found = conjugate_gradient(
            operator,
            np.ones(len(rest) * roots.shape[1], right.dtype),
            right[cut:] - _by_group(rest, coupled),
            None if start is None else start[cut:],
            tolerance=RESIDUAL[right.dtype.name],
        )
        turned = ahead @ _by_group(rest.swapaxes(1, 2), found)
        return np.concatenate([right[:cut] - _by_group(first, turned), found])

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return A x, (size, columns)."""
        return _by_group(self.roots, self.between @ _by_group(self.roots.swapaxes(1, 2), x))

    @cached_property
    def log_det(self) -> float:
        """The log determinant of 1 + A, by Lanczos' method; that A has no trace is used."""
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

    @cached_property
    def widening(self) -> np.ndarray:
        """How many times as large as alone the variances of each family are, (families,)."""
        found = [
            (signs * turned).sum() / (_by_group(self.roots, signs) ** 2).sum()
            for signs, turned in self.probed
        ]
        return np.array(found)

    @cached_property
    def probed(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Probes of each family, and the inverse of the coupled blocks times these.

        Both are (size, PROBES).
        """
        probes, found = self._probes(), []
        m = self.roots.shape[1]
        for family in self.families:
            mine = np.zeros_like(probes)
            here = slice(family.start * m, family.stop * m)
            mine[here] = probes[here]
            solved = self.solve(_by_group(self.roots, mine))
            found.append((mine, _by_group(self.roots.swapaxes(1, 2), solved)))
        return found

    def _probes(self) -> np.ndarray:
        """Return columns of random signs, (size, PROBES)."""
        signs = np.random.default_rng(0).integers(0, 2, (self.between.shape[0], PROBES))
        return 2.0 * signs - 1.0


def _by_group(blocks: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return blocks (groups, m, m) times the rows of x of each group, (groups m, columns)."""
    return (blocks @ x.reshape(*blocks.shape[:2], -1)).reshape(x.shape)
