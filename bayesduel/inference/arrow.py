"""Arrowhead precisions: groups of coefficients that only a border connects.

Effects by group (of arms by judge, by prompt) are many numbers in groups that are independent given
the others, because a duel has one group. Their precision is a block for each group, edges to the
border (everything else) and a corner. Eliminating the groups leaves a small matrix; nothing is as
large as all coefficients squared. Without groups the corner is everything.

Of crossed effects (by judge and by prompt at once) that are too many for a border, all are groups,
and the blocks of two that share duels are coupled. Means, and the precision of the border, account
for that, by conjugate gradients; given the border, draws of different groups are independent.

References
----------
Goplerud, Papaspiliopoulos & Zanella, "Partially factorized variational inference for
high-dimensional mixed models", Biometrika 2024 (groups independent given the border, whose
distribution is that of the joint one where the posterior is normal).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dpotri, dtrtri, dtrtrs
from scipy.sparse.linalg import LinearOperator, cg

from bayesduel.inference.conditional_mode import ascent, cholesky, half_log_det, solved
from bayesduel.inference.conjugate_gradient import EXACT, LOOSE
from bayesduel.inference.crossed import Crossing
from bayesduel.inference.design import Gram, ScoreDesign, centre, uncentre
from bayesduel.inference.gaussian_prior import Prior
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.models.response import Derivatives
from bayesduel.system.memory import AT_ONCE
from bayesduel.system.threads import side_by_side

__all__ = ["WIDEST", "Arrow", "Layout", "layout_of"]

# Coefficients whose precision is factored as a whole, a border's or all: that takes as long as the
# cube of them (`python -m benchmarks.crossed --beside`), and products with a factor 0.4 ms.
WIDEST = 1000


class Arrow(NamedTuple):
    """A factored arrowhead precision."""

    # lower Cholesky factor of the precision of the border, the groups integrated out, (p, p)
    border: np.ndarray
    roots: np.ndarray  # inverses of the lower Cholesky factors of the blocks, (groups, m, m)
    pull: np.ndarray  # how far the middle of each group moves with the border, (groups, m, p)
    # the precision of the border less its prior, the groups integrated out, (p, p)
    bare: np.ndarray
    tight: np.ndarray  # prior precisions of the groups, (groups, m)
    # the coupling of groups that are crossed; None where there are no such
    crossing: Crossing | None = None

    @property
    def half_log_det(self) -> float:
        """Half the log determinant of the precision."""
        diagonals = np.diagonal(self.roots, axis1=1, axis2=2)
        of_roots = np.log(diagonals).sum(dtype=float)
        uncoupled = float(half_log_det(self.border) - of_roots)
        if self.crossing is None:
            return uncoupled
        return uncoupled + self.crossing.log_det / 2

    @property
    def pull_rows(self) -> np.ndarray:
        """How far the middle of each coefficient of groups moves, (groups m, p)."""
        return self.pull.reshape(-1, self.pull.shape[2])

    @property
    def width(self) -> Any:
        """How many times as large as alone the deviations of groups are, (groups, 1), or 1."""
        if self.crossing is None:
            return 1.0
        sizes = []
        for family in self.crossing.families:
            n_groups = family.stop - family.start
            sizes.append(n_groups)
        widening = np.sqrt(self.crossing.widening)
        by_group = np.repeat(widening, sizes)
        return by_group[:, None]

    def covariance(self) -> np.ndarray:
        """Return the covariance of the border, (p, p)."""
        upper = dpotri(self.border, lower=1)[0]
        lower = np.tril(upper)
        return lower + np.tril(upper, -1).T

    def variances(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the variances of the border (p,) and of the groups (groups, m)."""
        covariance = self.covariance()
        of_border = covariance.diagonal()
        if not len(self.roots):
            return of_border, np.zeros((0, 0))
        alone = (self.roots**2).sum(axis=1)
        within = self.width**2 * alone
        moved = self.pull @ covariance.astype(self.pull.dtype)
        across = (moved * self.pull).sum(axis=2)
        return of_border, within + across


@dataclass(frozen=True, eq=False)
class Layout:
    """Which coefficients of a density are the border, and which are groups."""

    density: LinearPredictor
    border: np.ndarray  # places in x of the border, the response's own numbers last, (p,)
    groups: np.ndarray  # places in x of each group, (groups, m); (0, 0) without groups
    # design of the border, of scores where there are some, and of all groups, sparse
    to_border: sparse.csr_array
    to_groups: sparse.csr_array
    scored: int  # whether the first of the border are the free numbers of scores
    families: tuple[slice, ...] = ()  # which groups are of one term; their places follow

    @cached_property
    def _of_border(self) -> Gram:
        """The curvature of the border."""
        return Gram(self.to_border, self.to_border)

    @cached_property
    def _across(self) -> Gram:
        """The curvature of groups with the border."""
        return Gram(self.to_groups, self.to_border)

    @cached_property
    def _of_groups(self) -> Gram:
        """The curvature of groups."""
        return Gram(self.to_groups, self.to_groups)

    @cached_property
    def _touched(self) -> sparse.csr_array:
        """The design of the border and of the groups, side by side."""
        both = sparse.hstack([self.to_border, self.to_groups])
        return sparse.csr_array(both.astype(self.kind))

    @cached_property
    def _by_family(self) -> list[sparse.csr_array]:
        """The design of the groups of each family."""
        design = self.to_groups.astype(self.kind)
        found = []
        for columns in self._places:
            of_family = design[:, columns]
            found.append(of_family)
        return found

    @cached_property
    def _places(self) -> list[slice]:
        """Which coefficients of groups are of each family."""
        m = self.groups.shape[1]
        found = []
        for family in self.families:
            start = family.start * m
            stop = family.stop * m
            found.append(slice(start, stop))
        return found

    @property
    def crossed(self) -> bool:
        """Whether blocks of groups are coupled, so that a factor costs many times a step."""
        return len(self.families) > 1

    @property
    def kind(self) -> Any:
        """Type of what is kept of groups: crossed ones are many numbers, and single."""
        return np.float32 if self.crossed else np.float64

    @cached_property
    def place_in_border(self) -> np.ndarray:
        """Where in the border each coefficient is, -1 of those of groups, (size,)."""
        place = np.full(self.density.size, -1)
        place[self.border] = np.arange(len(self.border))
        return place

    def join(self, border: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Return x (..., size) from border (..., p) and groups (..., groups, m)."""
        leading = border.shape[:-1]
        shape = (*leading, self.density.size)
        x = np.empty(shape)
        x[..., self.border] = border
        flat = groups.reshape(*leading, -1)
        x[..., self.groups.ravel()] = flat
        return x

    def factor(
        self,
        found: Derivatives,
        prior: Prior,
        near: Arrow | None = None,
        residual: float = EXACT,
    ) -> Arrow:
        """Return the factored precision where cells bend so, from one that is `near`.

        Of crossed groups what is solved for has that relative residual. Raises FloatingPointError
        if it is not positive definite.
        """
        if not len(self.groups):
            return self.bordered(self.bent(found), prior)
        weight = _weights(found)
        corner = self.corner(found)
        edges = self._all_edges(found, weight)
        known, tight = self.priors(prior)
        factors, between = self._inside(weight, tight)
        inverses = np.linalg.inv(factors)
        roots = inverses.astype(self.kind, copy=False)
        outer = roots @ edges
        p = outer.shape[2]
        flat = outer.reshape(-1, p)
        crossing = None
        apart = flat
        if self.crossed:
            coupling = between.astype(self.kind)
            crossing = Crossing(roots, coupling, self.families)
            start = None
            if near is not None:
                turn = factors.swapaxes(1, 2).astype(self.kind)
                apart_before = turn @ near.pull
                start = -apart_before.reshape(flat.shape)
            apart = crossing.solve(flat, start, residual)
        bare = corner - flat.T @ apart
        by_group = apart.reshape(outer.shape)
        turned = roots.swapaxes(1, 2) @ by_group
        border = cholesky(bare + known)
        pull = -turned
        return Arrow(border, roots, pull, bare, tight, crossing)

    def corner(self, found: Derivatives) -> np.ndarray:
        """Return what the cells add to the precision of the border where they bend so, (p, p)."""
        on_border = self._of_border.of(_weights(found))
        rows = self.free(on_border.toarray())
        corner = self.free(rows.T)
        n_own = len(self.density.own)
        if not n_own:
            return corner
        p = len(corner)
        corner = np.pad(corner, (0, n_own))
        pulled = self.to_border.T @ found.cross
        side = -self.free(pulled.T)
        corner[:p, p:] = side.T
        corner[p:, :p] = side
        corner[p:, p:] = -found.second
        return corner

    def edges(self, weight: np.ndarray) -> sparse.csr_array:
        """Return the precision between groups and raw numbers of the border, own ones left out.

        weight: minus the curvature of each cell, (cells,).
        """
        return sparse.csr_array(self._across.of(weight))

    def _all_edges(self, found: Derivatives, weight: np.ndarray) -> np.ndarray:
        """Return the precision between groups and the free numbers of the border, (groups, m, p).

        weight: minus the curvature of each cell, (cells,).
        """
        n_groups, m = self.groups.shape
        on_raw = self.edges(weight).astype(self.kind)
        edges = self.free(on_raw.toarray())
        edges = edges.reshape(n_groups, m, -1)
        n_own = len(self.density.own)
        if not n_own:
            return edges
        on_own = self.to_groups.T @ found.cross
        by_group = on_own.reshape(n_groups, m, n_own)
        cross = -by_group
        own_edges = cross.astype(self.kind)
        return np.concatenate([edges, own_edges], axis=2)

    def flat(self, found: Derivatives, prior: Prior) -> Arrow:
        """Return the factored precision of the border where the groups do not differ."""
        known, tight = self.priors(prior)
        corner = self.corner(found)
        none = np.zeros((0, 0, 0))
        border = cholesky(corner + known)
        return Arrow(border, none, none, corner, tight)

    def moments(self, found: Derivatives) -> np.ndarray:
        """Return the variance of each family of groups by the method of moments, (families,).

        found: where the groups are 0, and the border is at its mode. The square of the slope of a
        group is what each cell adds by itself, and what cells have in common by each family.
        """
        weight = _weights(found)
        inside = self._of_groups.of(weight)
        slope = self.to_groups.T @ found.slope
        places = self._places
        n_families = len(places)
        lengths = np.empty((n_families, len(weight)))
        squares = np.empty(n_families)
        shares = np.empty((n_families, n_families))
        for a, rows in enumerate(places):
            design = self._by_family[a]
            squared_design = design.multiply(design)
            lengths[a] = squared_design.sum(axis=1)
            squared_slope = slope[rows] ** 2
            squares[a] = squared_slope.sum()
            for b, columns in enumerate(places):
                block = inside[rows][:, columns]
                squared_block = block.data**2
                shares[a, b] = squared_block.sum()
        squares -= lengths @ found.slope**2
        of_cells = lengths * weight**2
        shares -= of_cells @ lengths.T
        return np.linalg.lstsq(shares, squares)[0]

    def _inside(self, weight: np.ndarray, tight: np.ndarray) -> tuple[np.ndarray, sparse.csr_array]:
        """Return lower Cholesky factors of the blocks, (groups, m, m), and what is between these.

        weight: minus the curvature of each cell, (cells,).
        tight: prior precisions, (groups, m).
        """
        n_groups, m = self.groups.shape
        inside = self._of_groups.of(weight)
        column = inside.indices
        n_of_row = np.diff(inside.indptr)
        every_row = np.arange(n_groups * m)
        row = np.repeat(every_row, n_of_row)
        own = row // m == column // m
        group, place = np.divmod(row[own], m)
        place_beside = column[own] % m
        blocks = np.zeros((n_groups, m, m))
        blocks[group, place, place_beside] = inside.data[own]
        diagonal = np.arange(m)
        blocks[:, diagonal, diagonal] += tight
        apart = ~own
        n_before = np.append(0, np.cumsum(apart))
        entries = (
            inside.data[apart],
            column[apart],
            n_before[inside.indptr],
        )
        between = sparse.csr_array(entries, inside.shape)
        try:
            return np.linalg.cholesky(blocks), between
        except np.linalg.LinAlgError as error:
            raise FloatingPointError("the posterior has no curvature in some direction") from error

    def beside(self, arrow: Arrow, prior: Prior) -> Arrow | None:
        """Return the precision of the same curvatures under another prior of the border.

        None where crossed groups have another prior, too, or there are no such.
        """
        if not self.crossed:
            return None
        known, tight = self.priors(prior)
        if not np.array_equal(tight, arrow.tight):
            return None
        border = cholesky(arrow.bare + known)
        return arrow._replace(border=border)

    def priors(self, prior: Prior) -> tuple[np.ndarray, np.ndarray]:
        """Return the prior precision of the border, (p, p), and of the groups, (groups, m)."""
        p = len(self.border)
        known = np.zeros((p, p))
        tight = np.zeros(self.density.size)
        for piece in prior.pieces:
            place = self.place_in_border[piece.here]
            if place[0] >= 0:
                block = np.ix_(place, place)
                known[block] += piece.dense()
            else:
                tight[piece.here] = piece.tight
        return known, tight[self.groups]

    def bent(self, found: Derivatives) -> np.ndarray:
        """Return what the cells add to the precision where they bend so, (size, size)."""
        return self.density.bent(_concave(found))

    def bordered(self, bent: np.ndarray, prior: Prior) -> Arrow:
        """Return the factored precision where all coefficients are of the border.

        Raises FloatingPointError if it is not positive definite.
        """
        none = np.zeros((0, 0, 0))
        factor = ascent(bent + prior.precision)[0]  # own numbers may bend upwards in some cells
        tight = np.zeros((0, 0))
        return Arrow(factor, none, none, bent, tight)

    def solve(self, arrow: Arrow, gradient: np.ndarray) -> np.ndarray:
        """Return the inverse precision times a vector, (size,)."""
        right = gradient[self.border]
        if not len(self.groups):
            along = solved(arrow.border, right)
            no_groups = np.zeros((0, 0))
            return self.join(along, no_groups)
        of_groups = gradient[self.groups]
        by_group = of_groups.astype(self.kind, copy=False)
        pull = arrow.pull_rows
        pulled_border = by_group.ravel() @ pull
        along = solved(arrow.border, right + pulled_border)
        half = arrow.roots @ by_group[..., None]
        if arrow.crossing is not None:
            column = half.reshape(-1, 1)
            solution = arrow.crossing.solve(column)
            half = solution.reshape(half.shape)
        across = arrow.roots.swapaxes(1, 2) @ half
        pulled = pull @ along.astype(pull.dtype)
        by_border = pulled.reshape(by_group.shape)
        groups = across[..., 0] + by_border
        return self.join(along, groups)

    def step(
        self,
        found: Derivatives,
        prior: Prior,
        gradient: np.ndarray,
        near: Arrow | None = None,
    ) -> tuple[np.ndarray, Arrow]:
        """Return the inverse precision times a vector, (size,), and what was factored for it.

        Of crossed groups that is the one given, `near`: conjugate gradients need no better one for
        a step that the next one corrects. Raises FloatingPointError if these do not converge.
        """
        if near is None or near.crossing is None:
            arrow = self.factor(found, prior)
            return self.solve(arrow, gradient), arrow
        density = self.density
        apart = near._replace(crossing=None)
        concave = _concave(found)

        def times(x: np.ndarray) -> np.ndarray:
            return density.times(concave, prior, x)

        def nearly_solved(x: np.ndarray) -> np.ndarray:
            return self.solve(apart, x)

        shape = (density.size, density.size)
        whole = LinearOperator(shape, times, dtype=float)
        nearly = LinearOperator(shape, nearly_solved, dtype=float)
        step, failed = cg(whole, gradient, rtol=LOOSE, M=nearly)
        if failed:
            raise FloatingPointError("conjugate gradients did not converge")
        return np.asarray(step), near

    def traces(
        self,
        arrow: Arrow,
        border: Sequence[np.ndarray],
        groups: Sequence[np.ndarray],
    ) -> np.ndarray:
        """Return the traces of the covariance C in ``A_k C A_l C``, (q, q).

        Each A has a matrix (p, p) of the border and a diagonal (groups, m) of the groups.
        """
        covariance = arrow.covariance()
        p = len(covariance)
        turned = []
        for on_border, diagonal in zip(border, groups, strict=True):
            moved = diagonal.any(axis=1)
            pull_by_group = arrow.pull[moved]
            pull = pull_by_group.reshape(-1, p)
            weight = diagonal[moved].reshape(-1, 1)
            scaled = pull * weight.astype(self.kind)
            through_groups = pull.T @ scaled
            whole = on_border + through_groups
            turned.append(whole @ covariance)
        shared = np.stack(turned)
        found = np.einsum("kij,lji->kl", shared, shared)
        diagonals = np.stack(groups)
        if arrow.crossing is None:
            return found
        first = [family.start for family in self.families]
        each = diagonals[:, first, 0]  # a family has one prior precision
        squares = self._squares(arrow, covariance)
        return found + each @ squares @ each.T

    def draw(self, arrow: Arrow, normal: np.ndarray) -> np.ndarray:
        """Return normal vectors with this precision, (n, size), from standard ones.

        Crossed groups are independent given the border.
        """
        on_border = normal[:, self.border].T
        solution, _ = dtrtrs(
            arrow.border,
            on_border.astype(float),
            lower=1,
            trans=1,
        )
        along = solution.T
        found = np.empty_like(normal)
        found[:, self.border] = along
        along = along.astype(self.kind, copy=False)
        shape = (len(arrow.roots), 1)
        each_width = np.broadcast_to(arrow.width, shape)
        width = each_width.astype(self.kind)
        n = len(normal)
        for family in self.families:
            place = self.groups[family]
            by_group = (n, *place.shape)
            first = int(place[0, 0])
            here = slice(first, first + place.size)
            own = normal[:, here].reshape(by_group)
            groups_first = own.swapaxes(0, 1)
            rotated = groups_first @ arrow.roots[family]
            scaled = rotated * width[family, :, None]
            pull = arrow.pull[family].reshape(place.size, -1)
            pulled = along @ pull.T
            moved = pulled.reshape(by_group)
            moved += scaled.swapaxes(0, 1)
            found[:, here] = moved.reshape(n, -1)
        return found

    def spread(self, arrow: Arrow) -> np.ndarray:
        """Return the variance of each cell's predictor, (cells,)."""
        if not len(self.groups):
            deviation = self.density.spread(arrow.covariance())
            return deviation**2
        n_own = len(self.density.own)
        n_raw = len(arrow.border) - n_own
        inverse, failed = dtrtri(arrow.border, lower=1)
        assert not failed
        inverse = inverse.astype(self.kind, copy=False)
        raw = self.raw(inverse[:, :n_raw])
        of_groups = arrow.pull_rows @ inverse.T
        columns = np.concatenate([raw.T, of_groups])
        through_border = _squares_of_rows(self._touched, columns)
        return through_border + self._alone(arrow.roots)

    def foreseen(self, arrow: Arrow, found: Derivatives, prior: Prior) -> np.ndarray:
        """Return how much that variance changes, nearly, as crossed groups have another prior.

        The border is held as the one of `arrow`, whose curvatures are given; (cells,).
        """
        _, tight = self.priors(prior)
        weight = _weights(found)
        factors, _ = self._inside(weight, tight)
        roots = np.linalg.inv(factors)
        after = self._alone(roots.astype(self.kind))
        before = self._alone(arrow.roots)
        return after - before

    def widened(self, arrow: Arrow, loosened: np.ndarray) -> np.ndarray:
        """Return how fast that variance grows, (cells,), as prior precisions change: not upwards.

        loosened: how these of the groups do, (groups, m).
        """
        if not loosened.any():
            return np.zeros(self.density.n_cells)
        roots = arrow.roots
        inverse = roots.swapaxes(1, 2) @ roots
        by = np.sqrt(-loosened).astype(self.kind)
        scaled = inverse * by[..., None]
        return self._alone(scaled)

    def _alone(self, roots: np.ndarray) -> np.ndarray:
        """Return the variance of each cell's predictor given the border, (cells,)."""
        turned = roots.swapaxes(1, 2)
        m = roots.shape[1]
        found = np.zeros(self.density.n_cells)
        for family, mine in zip(self.families, self._by_family, strict=True):
            columns = turned[family].reshape(-1, m)
            found += _squares_of_rows(mine, columns)
        return found

    def _squares(self, arrow: Arrow, covariance: np.ndarray) -> np.ndarray:
        """Return sums of squares of covariances of families but for those through the border."""
        assert arrow.crossing is not None
        pull = arrow.pull_rows
        covariance = covariance.astype(self.kind)
        found = []
        for signs, turned in arrow.crossing.probed:
            on_border = covariance @ (pull.T @ signs)
            through = pull @ on_border
            products = (turned + 2 * through) * turned
            rows = products.mean(axis=1)
            of_families = [rows[place].sum() for place in self._places]
            found.append(of_families)
        squares = np.array(found)
        symmetric = (squares + squares.T) / 2
        return np.asarray(symmetric)

    def free(self, raw: np.ndarray) -> np.ndarray:
        """Return gradients in the free numbers from those in scores and others, (..., raw)."""
        if not self.scored:
            return raw
        free = uncentre(raw[..., : self.scored])
        others = raw[..., self.scored :]
        return np.concatenate([free, others], axis=-1)

    def raw(self, free: np.ndarray) -> np.ndarray:
        """Return scores and others from the free numbers, (..., raw)."""
        if not self.scored:
            return free
        cut = self.scored - 1
        scores = centre(free[..., :cut])
        others = free[..., cut:]
        return np.concatenate([scores, others], axis=-1)


def layout_of(density: LinearPredictor, *, fewest: int = 100) -> Layout:
    """Return the layout of a density: its largest term by group is eliminated.

    Further ones are, the largest first, while the border is wide.

    fewest: coefficients of a term from which it is eliminated. With 800, of 20 arms and 40 judges,
    a fit takes 1.2 s of a processor so, and 10.9 s where they are not.
    """
    every = np.arange(density.size)
    by_term = _grouped(density, fewest)
    if not by_term:
        none = sparse.csr_array((density.n_cells, 0))
        no_groups = np.zeros((0, 0), dtype=int)
        return Layout(density, every, no_groups, none, none, 0)
    groups = by_term[0]
    families = [slice(0, len(groups))]
    for family in by_term[1:]:
        wide = density.size - groups.size > WIDEST
        alike = family.shape[1] == groups.shape[1]
        if wide and alike:
            start = len(groups)
            groups = np.concatenate([groups, family])
            families.append(slice(start, len(groups)))
    design = density.design
    if isinstance(design, ScoreDesign):
        scored = design.n_arms
        parts = [design.scores, design.beside]
    else:
        scored = 0
        parts = [design]
    jacobians = [sparse.csr_array(part.jacobian) for part in parts]  # of few cells they are dense
    jacobian = sparse.hstack(jacobians)
    matrix = sparse.csc_array(jacobian)
    border = np.setdiff1d(every, groups.ravel())
    raw = border[border < density.n_coefficients]
    shift = 0
    if scored:
        shift = 1  # the scores have a column more than free numbers
        is_other = raw >= scored - 1
        others = raw[is_other] + shift
        scores = np.arange(scored)
        raw = np.concatenate([scores, others])
    columns = groups.ravel() + shift
    return Layout(
        density,
        border,
        groups,
        to_border=sparse.csr_array(matrix[:, raw]),
        to_groups=sparse.csr_array(matrix[:, columns]),
        scored=scored,
        families=tuple(families),
    )


def _grouped(density: LinearPredictor, fewest: int) -> list[np.ndarray]:
    """Return the places in x of terms by group, (groups, m) each, the largest first.

    The groups of such a term are independent, and each cell has coefficients of one of them.
    """
    scales = {name: np.ones(1) for name in density.hypers}
    found = []
    for here, block in density.places:
        if len(block.lengths) != 2 or block.size < fewest:
            continue
        term = block.term
        touches = term.design(density.data)
        first = touches[0].at[0]
        one_group = all(np.array_equal(touch.at[0], first) for touch in touches)
        n_groups = block.lengths[0]
        covariance = term.covariance(scales, n_groups)
        independent = covariance is None
        if one_group and independent:
            places = np.arange(here.start, here.stop)
            by_group = places.reshape(block.lengths)
            found.append(by_group)
    return sorted(found, key=lambda family: -family.size)


def _weights(found: Derivatives) -> np.ndarray:
    """Return minus the curvature of each cell, 0 where it is convex, (cells,)."""
    return np.maximum(-found.bend, 0.0)


def _concave(found: Derivatives) -> Derivatives:
    """Return derivatives with the curvature 0 of cells that are convex."""
    return found._replace(bend=np.minimum(found.bend, 0.0))


def _squares_of_rows(matrix: sparse.csr_array, columns: np.ndarray) -> np.ndarray:
    """Return the sum of squares of each row of a sparse matrix times columns, (rows,)."""
    together = AT_ONCE // columns.shape[1]

    def some(start: int) -> np.ndarray:
        stop = start + together
        rows = matrix[start:stop] @ columns
        return np.asarray(np.einsum("ij,ij->i", rows, rows))

    starts = range(0, matrix.shape[0], together)
    return np.concatenate(side_by_side(some, starts))
