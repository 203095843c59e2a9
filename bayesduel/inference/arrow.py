"""Arrowhead precisions: groups of coefficients that only a border connects.

Effects by group (of arms by judge, by prompt) are many numbers in groups that are independent given
the others, because a duel has one group. Their precision is a block for each group, edges to the
border (everything else) and a corner. Eliminating the groups leaves a small matrix; nothing is as
large as all coefficients squared. Without groups the corner is everything.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dpotri, dtrtrs

from bayesduel.inference.conditional_mode import ascent, cholesky, solved
from bayesduel.inference.design import DesignMatrix, ScoresBeside, centre, uncentre
from bayesduel.inference.gaussian_prior import Prior
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.models.response import Derivatives

__all__ = ["Arrow", "Layout", "layout_of"]

FEWEST = 100  # coefficients by group from which they are eliminated


class Arrow(NamedTuple):
    """A factored arrowhead precision.

    Attributes
    ----------
    border
        Lower Cholesky factor of the precision of the border, the groups integrated out, (p, p).
    roots
        Inverses of the lower Cholesky factors of the blocks, (groups, m, m).
    pull
        How far the middle of each group moves with the border, (groups, m, p).
    """

    border: np.ndarray
    roots: np.ndarray
    pull: np.ndarray

    @property
    def half_log_det(self) -> float:
        """Half the log determinant of the precision."""
        blocks = np.log(np.diagonal(self.roots, axis1=1, axis2=2)).sum()
        return float(np.log(self.border.diagonal()).sum() - blocks)

    def covariance(self) -> np.ndarray:
        """Return the covariance of the border, (p, p)."""
        upper = dpotri(self.border, lower=1)[0]
        return np.tril(upper) + np.tril(upper, -1).T

    def variances(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the variances of the border (p,) and of the groups (groups, m)."""
        covariance = self.covariance()
        if not len(self.roots):
            return covariance.diagonal(), np.zeros((0, 0))
        within = (self.roots**2).sum(axis=1)
        across = ((self.pull @ covariance) * self.pull).sum(axis=2)
        return covariance.diagonal(), within + across


@dataclass(frozen=True, eq=False)
class Layout:
    """Which coefficients of a density are the border, and which are groups.

    Attributes
    ----------
    density
        The density.
    border
        Places in x of the border, the response's own numbers last, (p,).
    groups
        Places in x of each group, (groups, m); (0, 0) without groups.
    to_border, to_groups
        Design of the border, of scores where there are some, and of all groups, sparse.
    scored
        Whether the first of the border are the free numbers of scores.
    """

    density: LinearPredictor
    border: np.ndarray
    groups: np.ndarray
    to_border: sparse.csr_array
    to_groups: sparse.csr_array
    scored: int

    def join(self, border: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Return x (..., size) from border (..., p) and groups (..., groups, m)."""
        x = np.empty((*border.shape[:-1], self.density.size))
        x[..., self.border] = border
        x[..., self.groups.ravel()] = groups.reshape(*border.shape[:-1], -1)
        return x

    def factor(self, found: Derivatives, prior: Prior) -> Arrow:
        """Return the factored precision where cells bend so.

        Raises
        ------
        FloatingPointError
            If it is not positive definite.
        """
        weight = np.maximum(-found.bend, 0.0)
        if not len(self.groups):
            return self.bordered(self.bent(found), prior)
        n_groups, m = self.groups.shape
        heavy = self.to_border.multiply(weight[:, None])
        corner = self._free(self._free((self.to_border.T @ heavy).toarray()).T)
        edges = self._free((self.to_groups.T @ heavy).toarray()).reshape(n_groups, m, -1)
        inside = sparse.coo_array(self.to_groups.T @ self.to_groups.multiply(weight[:, None]))
        blocks = np.zeros((n_groups, m, m))
        row, column = inside.coords
        blocks[row // m, row % m, column % m] = inside.data
        n_own = len(self.density.own)
        if n_own:
            p = len(corner)
            corner = np.pad(corner, (0, n_own))
            side = -self._free((self.to_border.T @ found.cross).T).T
            corner[:p, p:], corner[p:, :p] = side, side.T
            corner[p:, p:] = -found.second
            own = -(self.to_groups.T @ found.cross).reshape(n_groups, m, n_own)
            edges = np.concatenate([edges, own], axis=2)
        at = np.full(self.density.size, -1)
        at[self.border] = np.arange(len(self.border))
        for piece in prior.pieces:
            place = at[piece.here]
            if place[0] >= 0:
                corner[np.ix_(place, place)] += piece.dense()
            else:
                diagonal = piece.tight.reshape(n_groups, m)
                blocks[:, np.arange(m), np.arange(m)] += diagonal
        try:
            roots = np.linalg.inv(np.linalg.cholesky(blocks))
        except np.linalg.LinAlgError as error:
            raise FloatingPointError("the posterior has no curvature in some direction") from error
        outer = roots @ edges
        flat = outer.reshape(-1, outer.shape[2])
        border = cholesky(corner - flat.T @ flat)
        return Arrow(border, roots, -(roots.swapaxes(1, 2) @ outer))

    def bent(self, found: Derivatives) -> np.ndarray:
        """Return what the cells add to the precision where they bend so, (size, size)."""
        return self.density.bent(found._replace(bend=np.minimum(found.bend, 0.0)))

    def bordered(self, bent: np.ndarray, prior: Prior) -> Arrow:
        """Return the factored precision where all coefficients are of the border.

        Raises
        ------
        FloatingPointError
            If it is not positive definite.
        """
        none = np.zeros((0, 0, 0))  # own numbers may bend upwards in some cells
        return Arrow(ascent(bent + prior.precision)[0], none, none)

    def solve(self, arrow: Arrow, gradient: np.ndarray) -> np.ndarray:
        """Return the inverse precision times a vector, (size,)."""
        right = gradient[self.border]
        if not len(self.groups):
            return self.join(solved(arrow.border, right), np.zeros((0, 0)))
        by_group = gradient[self.groups]
        right = right + np.einsum("gmp,gm->p", arrow.pull, by_group)
        along = solved(arrow.border, right)
        half = (arrow.roots @ by_group[..., None])[..., 0]
        across = (arrow.roots.swapaxes(1, 2) @ half[..., None])[..., 0] + arrow.pull @ along
        return self.join(along, across)

    def draw(self, arrow: Arrow, normal: np.ndarray) -> np.ndarray:
        """Return normal vectors with this precision, (n, size), from standard ones."""
        border = normal[:, self.border]
        along = dtrtrs(arrow.border, border.T, lower=1, trans=1)[0].T
        if not len(self.groups):
            return self.join(along, np.zeros((len(normal), 0, 0)))
        own = normal[:, self.groups]  # (n, groups, m)
        across = np.einsum("gkm,ngk->ngm", arrow.roots, own)
        across += np.einsum("gmp,np->ngm", arrow.pull, along, optimize=True)
        return self.join(along, across)

    def spread(self, arrow: Arrow) -> np.ndarray:
        """Return the variance of each cell's predictor, (cells,)."""
        n_own = len(self.density.own)
        covariance = arrow.covariance()
        if not len(self.groups):
            return self.density.spread(covariance) ** 2
        keep = slice(0, len(covariance) - n_own)
        both = self._raw(self._raw(covariance[keep, keep]).T)
        n_groups, m = self.groups.shape
        whole = (arrow.pull.reshape(n_groups * m, -1) @ covariance).reshape(arrow.pull.shape)
        within = arrow.roots.swapaxes(1, 2) @ arrow.roots + whole @ arrow.pull.swapaxes(1, 2)
        across = self._raw(whole[..., keep].reshape(n_groups * m, -1))
        (at, value), (at_group, of_group) = self._touched
        own = np.einsum("cab,ca,cb->c", both[at[:, :, None], at[:, None, :]], value, value)
        mixed = across[at_group[:, :, None], at[:, None, :]]
        own += 2 * np.einsum("cab,ca,cb->c", mixed, of_group, value)
        inside = within[
            (at_group // m)[:, :, None], (at_group % m)[:, :, None], (at_group % m)[:, None]
        ]
        own += np.einsum("cab,ca,cb->c", inside, of_group, of_group)
        return np.maximum(own, 0.0)

    @cached_property
    def _touched(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Columns and entries of each row of the two designs, padded by zeros, (cells, most)."""
        return _padded(self.to_border), _padded(self.to_groups)

    def _free(self, raw: np.ndarray) -> np.ndarray:
        """Return gradients in the free numbers from those in scores and others, (..., raw)."""
        if not self.scored:
            return raw
        parts = [uncentre(raw[..., : self.scored]), raw[..., self.scored :]]
        return np.concatenate(parts, axis=-1)

    def _raw(self, free: np.ndarray) -> np.ndarray:
        """Return scores and others from the free numbers, (..., raw)."""
        if not self.scored:
            return free
        cut = self.scored - 1
        return np.concatenate([centre(free[..., :cut]), free[..., cut:]], axis=-1)


def layout_of(density: LinearPredictor) -> Layout:
    """Return the layout of a density: its largest term by group is eliminated."""
    every = np.arange(density.size)
    none = sparse.csr_array((density.n_cells, 0))
    alone = Layout(density, every, np.zeros((0, 0), dtype=int), none, none, 0)
    starts = np.cumsum([0, *(block.size for block in density.terms.values())])
    best, found = FEWEST - 1, None
    for start, block in zip(starts, density.terms.values(), strict=False):
        if len(block.lengths) != 2 or block.size <= best:
            continue
        touches = block.term.design(density.data)
        first = touches[0].at[0]
        same = all(t.at[0] is first or np.array_equal(t.at[0], first) for t in touches)
        scales = {name: np.ones(1) for name in density.hypers}
        if same and block.term.covariance(scales, block.lengths[0]) is None:
            best, found = block.size, every[start : start + block.size].reshape(block.lengths)
    if found is None or not isinstance(density.design, DesignMatrix):
        return alone
    scored = density.design.n_arms if isinstance(density.design, ScoresBeside) else 0
    shift = 1 if scored else 0  # the scores have a column more than free numbers
    border = np.setdiff1d(every, found.ravel())
    columns = border[border < density.size - len(density.own)]
    raw = np.concatenate([np.arange(scored), columns[columns >= scored - 1] + shift])
    raw = raw if scored else columns
    matrix = sparse.csc_array(density.design.jacobian)
    to_border = sparse.csr_array(matrix[:, raw])
    to_groups = sparse.csr_array(matrix[:, found.ravel() + shift])
    return Layout(density, border, found, to_border, to_groups, scored)


def _padded(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return columns and entries of each row of a sparse matrix, padded by zeros."""
    length = np.diff(matrix.indptr)
    shape = (matrix.shape[0], int(length.max(initial=0)))
    column, entry = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    inside = np.arange(shape[1]) < length[:, None]
    column[inside], entry[inside] = matrix.indices, matrix.data
    return column, entry
