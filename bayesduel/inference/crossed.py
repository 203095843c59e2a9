"""Crossed groups: what blocks of a precision that are coupled have beside what each has alone.

Effects by judge and by prompt at once are groups of coefficients, each with a block of the
precision, and a sparse coupling of the blocks that share duels. Whitened by the roots of the
blocks the precision is ``1 + A``, where A has no entries inside a block. Systems are solved by
conjugate gradients, in single precision; the log determinant and the mean variance of a family of
groups are traces, estimated with probes that are always the same.

References
----------
Ubaru, Chen & Saad, "Fast estimation of tr(f(A)) via stochastic Lanczos quadrature", SIAM Journal
on Matrix Analysis and Applications 2017.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from bayesduel.inference.conjugate_gradient import conjugate_gradient, inner
from bayesduel.system.threads import side_by_side

__all__ = ["Crossing"]

# Figures are of 12,000 votes of 30 arms, 60 judges and 100 prompts, 4,000 draws, in standard
# deviations.
EXACT = 1e-4  # of a solution, relative; with a tenth and with ten times of it nothing changes
# Random signs of a log determinant and of variances. With 8 and with 32 means of scales shift by
# 0.01 and standard deviations change by 0.4 %.
PROBES = 16
MANY = 32  # columns from which they are halved, for two threads
# Of Lanczos' method, at most, and the change of a log determinant by a step that ends them, in
# nats. With half and twice the steps, and with a quarter and four times the change, nothing
# changes.
STEPS = 10
SETTLED = 0.01


@dataclass(frozen=True, eq=False)
class Crossing:
    """Coupled blocks."""

    # In single precision:
    roots: np.ndarray  # inverses of the lower Cholesky factors of the blocks, (groups, m, m)
    between: sparse.csr_array  # the precision between groups, sparse, (groups m, groups m)
    families: tuple[slice, ...]  # the groups of each family, slices; those of one are not coupled

    def solve(
        self, right: np.ndarray, start: np.ndarray | None = None, residual: float = EXACT
    ) -> np.ndarray:
        """Return the solution x of ``(1 + A) x = right``, (size, columns), single precision."""
        right = right.astype(np.float32, copy=False)
        if right.shape[1] < MANY:
            return self._solved(right, start, residual)
        halves = [slice(0, right.shape[1] // 2), slice(right.shape[1] // 2, None)]
        found = side_by_side(
            lambda k: self._solved(right[:, k], None if start is None else start[:, k], residual),
            halves,
        )
        return np.concatenate(found, axis=1)

    def _solved(self, right: np.ndarray, start: np.ndarray | None, residual: float) -> np.ndarray:
        """Return the same; the first family is eliminated, as its groups are not coupled."""
        first, rest, ahead, back, inside, within = self._parts
        cut = ahead.shape[0]

        def off(x: np.ndarray) -> np.ndarray:
            turned = _by_group(rest.swapaxes(1, 2), x)
            across = back @ _by_group(within, ahead @ turned)
            return _by_group(rest, across - inside @ turned if inside.nnz else across)

        operator = LinearOperator(inside.shape, off, matmat=off, dtype=right.dtype)
        coupled = back @ _by_group(first.swapaxes(1, 2), right[:cut])
        found = conjugate_gradient(
            operator,
            np.ones(inside.shape[0], right.dtype),
            right[cut:] - _by_group(rest, coupled),
            None if start is None else start[cut:],
            tolerance=residual,
        )
        turned = ahead @ _by_group(rest.swapaxes(1, 2), found)
        return np.concatenate([right[:cut] - _by_group(first, turned), found])

    @cached_property
    def _parts(self) -> tuple[Any, ...]:
        """Roots of the first family and of others, what is between these, and among the others.

        And the inverses of the blocks of the first.
        """
        n = self.families[0].stop
        between = self.between
        first = self.roots[:n]
        rest = self.roots[n:]
        cut = n * self.roots.shape[1]
        among = between[:cut, cut:], between[cut:, :cut], between[cut:, cut:]
        return first, rest, *among, first.swapaxes(1, 2) @ first

    def times(self, x: np.ndarray) -> np.ndarray:
        """Return A x, (size, columns)."""
        return _by_group(self.roots, self.between @ _by_group(self.roots.swapaxes(1, 2), x))

    @cached_property
    def log_det(self) -> float:
        """The log determinant of 1 + A, by Lanczos' method; that A has no trace is used."""
        probes = self._probes()
        size = len(probes)
        found = np.inf
        before = np.zeros_like(probes)
        here = probes / np.float32(np.sqrt(size))
        matrix = np.zeros((PROBES, STEPS, STEPS))
        beta = np.zeros(PROBES)
        for k in range(STEPS):
            ahead = here + self.times(here) - beta.astype(here.dtype) * before
            matrix[:, k, k] = alpha = inner(here, ahead)
            ahead -= alpha.astype(here.dtype) * here
            value, vector = np.linalg.eigh(matrix[:, : k + 1, : k + 1])
            value = np.maximum(value, 1e-300)  # 0, without any weight, where it has ended early
            logarithm = (vector[:, 0] ** 2 * np.log(value)).sum(axis=1)
            last = found
            found = float(size * (logarithm - (matrix[:, 0, 0] - 1)).mean())
            beta = np.sqrt(inner(ahead, ahead))
            if abs(found - last) < SETTLED:
                break
            if k + 1 < STEPS:
                matrix[:, k, k + 1] = matrix[:, k + 1, k] = beta
            before = here
            here = ahead / np.maximum(beta, 1e-30).astype(here.dtype)
        return found

    @cached_property
    def widening(self) -> np.ndarray:
        """How many times as large as alone the variances of each family are, (families,)."""
        found = [
            (signs * turned).sum(dtype=float) / (_by_group(self.roots, signs) ** 2).sum(dtype=float)
            for signs, turned in self.probed
        ]
        return np.array(found)

    @cached_property
    def probed(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Probes of each family, and the inverse of the coupled blocks times these.

        Both are (size, PROBES).
        """
        probes = self._probes()
        group = np.arange(len(probes))[:, None] // self.roots.shape[1]
        mine = [probes * ((f.start <= group) & (group < f.stop)) for f in self.families]
        solved = self.solve(_by_group(self.roots, np.concatenate(mine, axis=1)))
        turned = _by_group(self.roots.swapaxes(1, 2), solved)
        return list(zip(mine, np.split(turned, len(mine), axis=1), strict=True))

    def _probes(self) -> np.ndarray:
        """Return columns of random signs, (size, PROBES)."""
        signs = np.random.default_rng(0).integers(0, 2, (self.between.shape[0], PROBES))
        return (2 * signs - 1).astype(np.float32)


def _by_group(blocks: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return blocks (groups, m, m) times the rows of x of each group, (groups m, columns)."""
    return (blocks @ x.reshape(*blocks.shape[:2], -1)).reshape(x.shape)
