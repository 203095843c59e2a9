"""The log density of a model whose linear predictor is linear in its parameters.

It is made from the model's declaration: designs of the terms, normal priors given the learned
scales, and closed derivatives of each cell's log likelihood in its own ``eta``. Gradient and
Hessian follow: J' slope and J' diag(bend) J, exactly. Parameters of the response (a tendency to
tie) border that matrix. Nothing is compiled; the ``pm.Model`` of the same declaration is what NUTS
samples.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesduel.inference.design import (
    Columns,
    Design,
    PairDifferences,
    centre,
    pair_differences,
    reduce,
    side_differences,
    uncentre,
)
from bayesduel.inference.gaussian_prior import (
    LOG_2PI,
    Families,
    Piece,
    Prior,
    before_centring,
    log_projected,
)
from bayesduel.inference.pair_normalisers import PairNormalisers
from bayesduel.models.cells import data_of_rows
from bayesduel.models.log_normaliser import LARGEST_TIE, SummedLogLikelihood, log_normalisers
from bayesduel.models.prior import normals
from bayesduel.models.registry import is_shipped
from bayesduel.models.response import Derivatives, Response
from bayesduel.models.scale_prior import Scale
from bayesduel.models.scores import FAMILY, Scores
from bayesduel.models.term import Term
from bayesduel.models.touch import check_touches

__all__ = ["Block", "LinearPredictor", "Parts", "columns_of", "linear_predictor", "split_blocks"]

CHUNK = 4_000_000  # draws x cells worked on at once
BLOCK = 100_000  # of these in the compiled sum, which should stay in the processor's cache
REACHED = 64  # axes whose predictors are held at once
MANY = 2_000_000  # draws x cells from which that sum is worth its compilation
SAME = 1e-9  # relative difference of two sums of the same numbers in another order
DENSE = 64  # columns beside the scores that are kept as a dense matrix


class Parts(NamedTuple):
    """Value and derivatives of the log posterior at one point."""

    value: float  # log density, up to a constant, of x and of the hyperparameters on the log scale
    gradient: np.ndarray  # in x, shape (size,)
    precision: np.ndarray  # minus the Hessian, shape (size, size)
    prior: np.ndarray  # the prior's part of `precision`, shape (size, size)


class Block(NamedTuple):
    """Coefficients of one term in x."""

    term: Term
    lengths: tuple[int, ...]  # of their axes; () for a number
    # mean and deviation of the priors that were said of entries of the last axis (of scores: of
    # each arm, before they are centred), NaN where nothing was said; None where of none
    said: tuple[np.ndarray, np.ndarray] | None = None
    member: np.ndarray | None = None  # of scores by family: 1 where an arm is of one, (K, families)

    @property
    def projected(self) -> bool:
        """Whether they are the free numbers of scores whose priors differ between arms."""
        own = self.said is not None and isinstance(self.term, Scores)
        return own or self.member is not None

    @property
    def mean(self) -> np.ndarray:
        """Their prior mean, (size,)."""
        if self.said is None:
            return np.zeros(self.size)
        return uncentre(self.said[0]) if self.projected else np.resize(self.said[0], self.size)

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return prod(self.lengths)


@dataclass(frozen=True, eq=False)
class LinearPredictor:
    """The density of one model on one log.

    The vector x holds the coefficients of the terms, block after block, then the numbers of the
    response.
    """

    model: Any  # the model, settled
    data: Mapping[str, np.ndarray]  # what it knows of each cell, by name
    design: Design  # how eta depends on x
    # blocks of coefficients by the name of their free numbers, in the order of x
    terms: Mapping[str, Block]
    # mean and prior deviation of the response's own numbers, by name
    own: Mapping[str, tuple[float, float]]
    hypers: Mapping[str, int | None]  # length of each hyperparameter, by name; None of a number

    @cached_property
    def blocks(self) -> dict[str, int | None]:
        """Length of each parameter, by name, in the order of x; a number has length None."""
        found = {n: block.size if block.lengths else None for n, block in self.terms.items()}
        return found | dict.fromkeys(self.own)

    @cached_property
    def response(self) -> Response:
        """How outcomes depend on eta."""
        found: Response = self.model.response
        return found

    @cached_property
    def scales(self) -> dict[str, Scale]:
        """Learned positive numbers, by name."""
        found: dict[str, Scale] = self.model.scales
        return found

    @cached_property
    def size(self) -> int:
        """Number of parameters beside the hyperparameters."""
        return sum(1 if n is None else n for n in self.blocks.values())

    @property
    def hyper(self) -> str | None:
        """Name of the learned hyperparameter of a model that has one at most."""
        return next(iter(self.hypers), None)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.data["n"])

    @cached_property
    def unit(self) -> float:
        """Unit of the response."""
        return float(self.response.unit(self.data))

    @property
    def typical(self) -> np.ndarray:
        """The relative size of typical parameters, which units do not change, (size,)."""
        sizes = [
            np.resize(block.term.typical, block.size) * self.unit for block in self.terms.values()
        ]
        return np.concatenate([*sizes, np.ones(len(self.own))])

    @property
    def _cut(self) -> int:
        """Where the response's own parameters begin in x."""
        return self.size - len(self.own)

    # -- parameters ------------------------------------------------------------------------

    def parameters(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parameters by name, shapes (..., *lengths) or (...), from x (..., size)."""
        found = split_blocks(x, self.blocks)
        for name, block in self.terms.items():
            if len(block.lengths) > 1:
                found[name] = found[name].reshape(*x.shape[:-1], *block.lengths)
        return found

    def hyper_parameters(self, phi: np.ndarray) -> dict[str, np.ndarray]:
        """Return the hyperparameters by name, on their own scale, from phi (..., q)."""
        return {name: np.exp(v) for name, v in split_blocks(phi, self.hypers).items()}

    def pack(self, parameters: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return x (..., size) from the parameters by name: the inverse of `parameters`."""
        columns = []
        for name, length in self.blocks.items():
            values = np.asarray(parameters[name])
            axes = len(self.terms[name].lengths) if name in self.terms else 0
            shape = (*values.shape[: values.ndim - axes], 1 if length is None else length)
            columns.append(values.reshape(shape))
        return np.concatenate(columns, axis=-1)

    def _known(self, x: np.ndarray, phi: np.ndarray) -> dict[str, np.ndarray]:
        """Return what the response asks beside eta: its own numbers and scales, draws first."""
        beside = {name: x[..., self._cut + k] for k, name in enumerate(self.own)}
        return beside | self.hyper_parameters(phi)

    # -- the prior ---------------------------------------------------------------------------

    def prior(self, phi: Any) -> Prior:
        """Return the prior of x given hyperparameters, a number or (q,)."""
        scales = self._columns(self._phi(phi)[None])
        mean = np.zeros(self.size)
        pieces = []
        half = 0.0
        for here, block in self._proper:
            mean[here] = block.mean
            piece = self._piece(here, block, scales)
            pieces.append(piece)
            if block.projected:
                tight = self._tightness(block, scales)
                families = self._families(block, scales)
                half += float(log_projected(np.zeros(tight.shape), tight, families)[0])
                continue
            half += 0.5 * float(np.log(piece.tight).sum()) - 0.5 * block.size * LOG_2PI
            if piece.inverse is not None:
                rest = block.size // len(piece.inverse)
                half += 0.5 * rest * float(np.linalg.slogdet(piece.inverse)[1])
        for k, (middle, deviation) in enumerate(self.own.values(), self._cut):
            mean[k] = middle
            if np.isfinite(deviation):
                pieces.append(Piece(slice(k, k + 1), np.array([deviation**-2.0]), None))
                half -= float(np.log(deviation)) + 0.5 * LOG_2PI
        return Prior(mean, tuple(pieces), half)

    def piece(self, phi: np.ndarray, k: int) -> Piece:
        """Return piece `k` of the prior, that of a term, given hyperparameters (q,)."""
        here, block = self._proper[k]
        return self._piece(here, block, self._columns(phi[None]))

    def _piece(self, here: slice, block: Block, scales: Mapping[str, np.ndarray]) -> Piece:
        """Return the prior of a term's coefficients, which are `here` in x."""
        tight = self._tightness(block, scales)
        if block.projected:
            apart = reduce(before_centring(tight[0], self._families(block, scales)))
            return Piece(here, np.ones(block.size), apart)
        each = np.broadcast_to(tight[0], (block.size,))
        covariance = self._covariance(block, scales)
        inverse = None if covariance is None else np.linalg.inv(covariance)
        return Piece(here, each, inverse)

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of the parameters, by name."""
        return {n: block.term.free_dims for n, block in self.terms.items() if block.lengths}

    def log_hyper(self, phi: np.ndarray) -> np.ndarray:
        """Return the log prior of hyperparameters, (n,) of their logarithms (n, q)."""
        total = np.zeros(len(phi))
        scales = self.scales
        for name, values in split_blocks(phi, self.hypers).items():
            each = scales[name].log_density(values, self.unit)
            total += each.reshape(len(phi), -1).sum(axis=1)
        return total

    def log_prior(self, x: np.ndarray, phi: np.ndarray) -> np.ndarray:
        """Return the log prior of draws, (n,), of x (n, size) and phi (n, q)."""
        total = self.log_hyper(phi)
        scales = self._columns(phi)
        for here, block in self._proper:
            values = x[:, here] - block.mean
            tight = self._tightness(block, scales)
            if block.projected:
                total += log_projected(centre(values), tight, self._families(block, scales))
                continue
            total += 0.5 * np.log(tight).sum(axis=1) * (1 if tight.shape[1] > 1 else block.size)
            total -= 0.5 * block.size * LOG_2PI
            if self._covariance(block, scales) is not None:
                values, log_det = self._whitened(block, values, phi)
                total -= log_det
            total -= 0.5 * (values**2 * tight).sum(axis=1)
        for k, (middle, deviation) in enumerate(self.own.values(), self._cut):
            if np.isfinite(deviation):
                total -= 0.5 * ((x[:, k] - middle) / deviation) ** 2
                total -= float(np.log(deviation)) + 0.5 * LOG_2PI
        return total

    @cached_property
    def _proper(self) -> list[tuple[slice, Block]]:
        """Where in x the coefficients of each term with a proper prior are, and these."""
        ends = np.cumsum([block.size for block in self.terms.values()]).tolist()
        blocks = zip(ends, self.terms.values(), strict=True)
        return [(slice(end - b.size, end), b) for end, b in blocks if not b.term.flat]

    def _columns(self, phi: np.ndarray) -> dict[str, np.ndarray]:
        """Return the hyperparameters by name, each (n, 1) or (n, length), of phi (n, q)."""
        return {n: v.reshape(len(phi), -1) for n, v in self.hyper_parameters(phi).items()}

    def _tightness(self, block: Block, scales: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the prior precision of coefficients but for their covariance.

        Shape (n, size), or (n, 1) of a block whose coefficients have the same; of scores whose
        priors differ between arms that of each arm, (n, arms).
        """
        known = np.full(1, np.nan) if block.said is None else block.said[1]
        deviation = known
        if np.isnan(known).any():
            own = np.asarray(block.term.deviation(scales, self.data, self.unit), dtype=float)
            deviation = own if own.ndim == 2 else np.atleast_1d(own)[None]
            if block.said is not None:
                deviation = np.where(np.isnan(known), deviation, known)
        deviation = np.atleast_2d(deviation)
        if block.projected:
            n = max(len(deviation), *(len(v) for v in scales.values()), 1)
            return np.broadcast_to(deviation**-2.0, (n, block.size + 1))
        if 1 < deviation.shape[1] < block.size:
            deviation = np.tile(deviation, (1, block.size // deviation.shape[1]))
        return deviation**-2.0

    def _families(self, block: Block, scales: Mapping[str, np.ndarray]) -> Families | None:
        """Return the families of scores at hyperparameters, or None where they have none."""
        return None if block.member is None else Families(block.member, scales[FAMILY] ** 2)

    def _covariance(self, block: Block, scales: Mapping[str, np.ndarray]) -> np.ndarray | None:
        """Return the prior covariance along the first axis at the first of the hyperparameters."""
        if not block.lengths:
            return None
        one = {n: v[0, 0] if v.shape[1] == 1 else v[0] for n, v in scales.items()}
        found = block.term.covariance(one, block.lengths[0])
        return None if found is None else np.asarray(found)

    def _whitened(
        self, block: Block, values: np.ndarray, phi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients whitened along the first axis, and the log determinant of that."""
        found = np.empty_like(values)
        log_det = np.empty(len(values))
        n = block.lengths[0]
        kinds, place = np.unique(phi, axis=0, return_inverse=True)
        for k, one in enumerate(kinds):
            covariance = self._covariance(block, self._columns(one[None]))
            assert covariance is not None
            root = np.linalg.cholesky(covariance)
            mine = np.flatnonzero(place.ravel() == k)
            shaped = values[mine].reshape(len(mine), n, -1)
            solved = np.linalg.solve(root, shaped)
            found[mine] = solved.reshape(len(mine), -1)
            log_det[mine] = shaped.shape[2] * np.log(root.diagonal()).sum()
        return found, log_det

    # -- the density of many draws -------------------------------------------------------------

    def batch(self, x: np.ndarray, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log density (n,) and log likelihood of each cell (n, cells) of many draws.

        Of x (n, size) and hyperparameters phi on the log scale, (n, q).
        """
        cells = np.empty((len(x), self.n_cells))
        step = max(1, CHUNK // max(self.n_cells, 1))
        for start in range(0, len(x), step):
            here = slice(start, start + step)
            cells[here] = self.likelihood(x[here], phi[here], self.eta(x[here]))
        return self.log_prior(x, phi) + cells.sum(axis=1), cells

    def values(self, x: np.ndarray, phi: np.ndarray) -> np.ndarray:
        """Return the log density of many draws, (n,), without keeping cells."""
        value = self.log_prior(x, phi)
        many = self._many(len(x))
        summed = self._summed
        pairs = self._pairs if many else None
        if summed is not None and pairs is not None:
            tie = self._tie(x)
            normalisers = pairs.summed(x[:, : self._cut], tie)
            if normalisers is not None:
                linear = x[:, : self._cut] @ self.design.pull(summed.slope)
                return value + summed.of(linear, normalisers, tie)
        step = max(1, (BLOCK if many else CHUNK) // max(self.n_cells, 1))
        for start in range(0, len(x), step):
            here = slice(start, start + step)
            value[here] += self._sum(self.eta(x[here]), x[here], phi[here], compiled=many)
        return value

    def values_along(
        self, x: np.ndarray, hyper: float, axes: np.ndarray, at: np.ndarray
    ) -> np.ndarray:
        """Return the log density at ``x + at axis``, (m, axes), with eta followed along each axis.

        Of a point x (size,), the hyperparameter on the log scale, `axes` (size, axes), one a
        column, and coordinates `at` (m, axes).
        """
        n_points = len(at)
        value = np.empty(at.T.shape)
        begin = self.eta(x)
        many = self._many(at.size)
        room = BLOCK if many else CHUNK
        step = max(1, room // max(self.n_cells * n_points, 1))
        for start in range(0, axes.shape[1], REACHED):
            reach = self.reach(axes.T[start : start + REACHED])
            for first in range(0, len(reach), step):
                moved = reach[first : first + step, None, :]
                here = slice(start + first, start + first + len(moved))
                along = at.T[here, :, None]
                points = (x + along * axes.T[here, None, :]).reshape(-1, len(x))
                eta = (begin + along * moved).reshape(-1, self.n_cells)
                phi = np.full((len(points), len(self.hypers)), hyper)
                terms = self._sum(eta, points, phi, compiled=many)
                value[here] = (terms + self.log_prior(points, phi)).reshape(-1, n_points)
        return value.T

    def _many(self, n: int) -> bool:
        """Return whether the compiled sum over cells pays for `n` draws."""
        return n * self.n_cells >= MANY and self._summed is not None

    def _sum(
        self, eta: np.ndarray, x: np.ndarray, phi: np.ndarray, *, compiled: bool
    ) -> np.ndarray:
        """Return the log likelihood of draws (n, size) with this predictor (n, cells), (n,)."""
        tie = self._tie(x)
        summed = self._summed
        weight = np.zeros(len(eta)) if tie is None else np.exp(tie)
        if summed is None or not compiled or weight.max(initial=0.0) > LARGEST_TIE:
            return self.likelihood(x, phi, eta).sum(axis=1)
        normalisers = log_normalisers(np.ascontiguousarray(eta), summed.n, weight)
        return summed.of(eta @ summed.slope, normalisers, tie)

    def _tie(self, x: np.ndarray) -> np.ndarray | None:
        """Return the tendency to tie of draws (n, size), (n,); None of a response without one."""
        return x[:, self._cut + [*self.own].index("tie")] if "tie" in self.own else None

    @cached_property
    def _summed(self) -> SummedLogLikelihood | None:
        """What the compiled sum over cells needs."""
        return self.response.summed_log_likelihood(self.data)

    @cached_property
    def _pairs(self) -> PairNormalisers | None:
        """Log normalisers of cells that are pairs with few columns beside, else None."""
        design = self.design
        if self._summed is None or not isinstance(design, PairDifferences):
            return None
        return PairNormalisers.of(design, self._summed.n)

    def value(self, x: np.ndarray, phi: Any) -> float:
        """Return the log density at `x`, shape (size,), and hyperparameters `phi`."""
        return float(self.values(x[None], self._phi(phi)[None])[0])

    # -- derivatives at one point --------------------------------------------------------------

    def _phi(self, phi: Any) -> np.ndarray:
        """Return hyperparameters (q,) of a number or an array; () where there are none."""
        given = np.atleast_1d(np.asarray(phi, dtype=float))
        return given[: sum(1 if n is None else n for n in self.hypers.values())]

    def derivatives(self, x: np.ndarray, phi: Any, shift: Any = 0.0) -> Derivatives:
        """Return the derivatives of cells at eta of `x` plus `shift` ((..., cells))."""
        eta = self.eta(x) + shift
        known = self._known(x, self._phi(phi))
        found: Derivatives = self.response.derivatives(eta, known, self.data)
        return found

    def eta(self, x: np.ndarray) -> np.ndarray:
        """Return the predictor of each cell, (..., cells), of x (..., size)."""
        return self.design.eta(x[..., : self._cut])

    def likelihood(self, x: np.ndarray, phi: np.ndarray, eta: np.ndarray) -> np.ndarray:
        """Return the log likelihood of cells at predictors `eta` (n, cells), (n, cells).

        All have the numbers of one x (size,), or each its own.
        """
        found: np.ndarray = self.response.log_likelihood(eta, self._known(x, phi), self.data)
        return found

    def averaged(
        self, x: np.ndarray, phi: np.ndarray, at: np.ndarray, mass: np.ndarray, variance: np.ndarray
    ) -> Derivatives:
        """Return derivatives averaged over normal predictors with these variances (cells,).

        By quadrature: at nodes `at` with masses `mass`, (nodes,).
        """
        eta = self.eta(x) + at[:, None] * np.sqrt(variance)
        found = self.response.derivatives(eta, self._known(x, phi), self.data)
        slope = mass @ found.slope
        bend = mass @ found.bend
        if not self.own:
            return Derivatives(slope, bend, found.own, found.cross, found.second)
        own, cross = (np.tensordot(mass, v + 0 * found.slope[..., None], 1) for v in found[2:4])
        size = (len(self.own), len(self.own))
        second = mass @ np.broadcast_to(found.second, (len(mass), *size)).reshape(len(mass), -1)
        second = second.reshape(size)
        return Derivatives(slope, bend, own, cross, second)

    def gradient(self, found: Derivatives, prior: Prior, x: np.ndarray) -> np.ndarray:
        """Return the gradient of the log density in x from that of cells, (size,)."""
        pulled = np.concatenate([self.design.pull(found.slope), found.own.sum(axis=0)])
        return pulled - prior.pull(x)

    def gradients(self, x: np.ndarray, phi: Any, groups: np.ndarray, n: int) -> np.ndarray:
        """Return the gradient in x of the log likelihood of groups of cells, (n, size).

        `groups` is the group of each cell.
        """
        found = self.derivatives(x, phi)
        parts = [self.design.pull_by(found.slope, groups, n)]
        if found.own.shape[1]:
            columns = [np.bincount(groups, c, minlength=n) for c in found.own.T]
            parts.append(np.stack(columns, axis=1))
        return np.concatenate(parts, axis=1)

    def spread(self, covariance: np.ndarray) -> np.ndarray:
        """Return the standard deviation of each cell's eta when x has this covariance."""
        variance = self.design.variance(covariance[: self._cut, : self._cut])
        return np.sqrt(np.maximum(variance, 0.0))

    def reach(self, directions: np.ndarray) -> np.ndarray:
        """Return how each cell's eta moves along directions of x (n, size), shape (n, cells)."""
        return self.design.eta(np.ascontiguousarray(directions[:, : self._cut]))

    def pulls(self, slopes: np.ndarray) -> np.ndarray:
        """Return the gradients in x, (size, m), of slopes in the eta of cells, (cells, m)."""
        return np.vstack([self.design.pull(slopes), np.zeros((len(self.own), slopes.shape[1]))])

    def parts(self, x: np.ndarray, phi: Any, prior: Prior | None = None) -> Parts:
        """Return value, gradient and curvature at `x`; `prior` is that at `phi`, where known."""
        given = self._phi(phi)
        prior = self.prior(given) if prior is None else prior
        eta = self.eta(x)
        known = self._known(x, given)
        response = self.response
        found = response.derivatives(eta, known, self.data)
        cells = found.value
        if cells is None:
            one = {n: v[None] for n, v in known.items()}
            cells = response.log_likelihood(eta[None], one, self.data)
        pulled = prior.pull(x)
        value = cells.sum() + self.log_hyper(given[None])[0]
        value += prior.half_log_det - 0.5 * (x - prior.mean) @ pulled
        gradient = np.concatenate([self.design.pull(found.slope), found.own.sum(axis=0)]) - pulled
        return Parts(float(value), gradient, self.bent(found) + prior.precision, prior.precision)

    def information(self, x: np.ndarray, phi: Any) -> np.ndarray:
        """Return minus the Hessian of the log likelihood at `x`, (size, size)."""
        return self.bent(self.derivatives(x, phi))

    def bent(self, found: Derivatives) -> np.ndarray:
        """Return minus the Hessian of the log likelihood, (size, size)."""
        precision = self.design.curvature(found.bend)
        if found.joint is not None:
            group, share = found.joint
            pulled = self.design.pull_by(share, group, int(group[-1]) + 1)
            precision -= pulled.T @ pulled
        if not self.own:
            return precision
        cut = self._cut
        border = np.stack([-self.design.pull(c) for c in found.cross.T], axis=1)
        whole = np.empty((self.size, self.size))
        whole[:cut, :cut] = precision
        whole[cut:, cut:] = -found.second
        whole[:cut, cut:] = border
        whole[cut:, :cut] = border.T
        return whole

    def factored(
        self, x: np.ndarray, phi: Any, directions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return factors of the information F at `x` along `directions` of x, (n, size).

        They are `along` (n, m) and `inner` (m, m): ``directions F directions'`` is
        ``along @ inner @ along.T``, where m is the number of cells and of the response's own
        numbers. None where m is no less than `size`.
        """
        if self.n_cells + len(self.own) >= self.size:
            return None
        found = self.derivatives(x, phi)
        inner = np.diag(-found.bend)
        if found.joint is not None:
            group, share = found.joint
            inner -= np.where(group[:, None] == group, np.outer(share, share), 0.0)
        along = self.reach(directions)
        if not self.own:
            return along, inner
        border = -found.cross
        inner = np.block([[inner, border], [border.T, -found.second]])
        return np.hstack([along, directions[:, self._cut :]]), inner

    def over(self, data: Mapping[str, np.ndarray], cells: np.ndarray) -> "LinearPredictor":
        """Return the density over other cells, each with the design of one of these, `cells`.

        `data` is what differs from the data of these, by name.
        """
        whole = data_of_rows(self.data, cells)
        return replace(
            self, data={k: data.get(k, v) for k, v in whole.items()}, design=self.design.rows(cells)
        )


def linear_predictor(model: Any, cells: Any) -> LinearPredictor:
    """Return the density of a model on the cells of a log.

    Raises ValueError if eta is not linear in the parameters.
    """
    if model.terms.why_nuts:
        raise ValueError(f"eta should be linear in the parameters of {model.name}")
    model = model.settled(cells.log)
    lengths = {"arm": cells.log.n_arms, "free": cells.log.n_arms - 1}
    lengths |= {name: len(values) for name, values in model.terms.coords(cells.log).items()}
    said = {name: normals(entries) for name, entries in model.entries(cells.log).items()}
    blocks = {
        part.free: Block(
            part,
            tuple(lengths[d] for d in part.free_dims),
            said.get(part.parameter),
            members_of(part, cells.log.arms),
        )
        for part in model.terms
    }
    own = dict(model.own)
    data = dict(cells.data)
    unit = float(model.response.unit(data))
    columns = {}
    for name, block in list(blocks.items()):
        if isinstance(block.term, Scores):
            continue
        touches = block.term.touches(data)
        check_touches(type(block.term).__name__, touches, len(cells))
        if touches:
            columns[name] = columns_of(touches, block.lengths, len(cells))
            if not (block.term.reads_order or is_shipped(type(block.term))):
                _check_sides(block, columns[name], cells)
            if block.term.over_arms and "first_0" in data:
                columns[name] = balanced(columns[name], lengths["arm"])
        else:  # it enters the response itself, as the order of cells of both orders does
            if block.said is not None:
                own[block.term.parameter] = float(block.said[0][0]), float(block.said[1][0])
            else:
                deviation = np.inf if block.term.flat else block.term.deviation({}, data, unit)
                own[block.term.parameter] = (0.0, float(deviation))
            del blocks[name]
    hypers = {n: None if s.dim is None else lengths[s.dim] for n, s in model.scales.items()}
    scored = "score_free" in blocks
    blocks = {n: b for n, b in blocks.items() if n == "score_free"} | blocks
    beside = [columns[name] for name in blocks if name != "score_free"]
    others = Columns(np.zeros((len(cells), 0)))
    if beside:
        matrix = sparse.csr_array(sparse.hstack(beside))
        others = Columns(matrix.toarray() if matrix.shape[1] <= DENSE else matrix)
    design: Design = others
    if scored and "first_0" in data:
        block = blocks["score_free"]
        members = columns_of(block.term.design(data), (lengths["arm"],), len(cells))
        design = side_differences(Columns(members), others)
    elif scored:
        design = pair_differences(data["first"], data["second"], lengths["arm"], others)
    return LinearPredictor(model, data, design, blocks, own, hypers)


def _check_sides(block: Block, columns: Any, cells: Any) -> None:
    """Raise ValueError unless a user's term changes its sign where the sides are exchanged.

    columns: what multiplies its coefficients, (cells, coefficients).
    """
    exchanged = block.term.design(_exchanged(cells))
    turned = columns_of(exchanged, block.lengths, len(cells)) if exchanged else 0 * columns
    if abs(columns + turned).max() > SAME * max(abs(columns).max(), 1.0):
        name = type(block.term).__name__
        raise ValueError(
            f"{name}.design should change its sign where the sides of a duel are exchanged, as a "
            "difference of left less right does. If it is about the side itself, the class of the "
            "term needs reads_order = True"
        )


def _exchanged(cells: Any) -> dict[str, np.ndarray]:
    """Return the data of cells whose sides are exchanged: arms change places, numbers their sign.

    Numbers that terms ask of a vote are differences of left less right.
    """
    data = dict(cells.data)
    for name, column in cells.seen.columns.items():
        if name != "left_first" and np.asarray(column).dtype.kind == "f":
            data[name] = -np.asarray(column)
    for name in [name for name in data if name.startswith("first")]:
        other = name.replace("first", "second", 1)
        if other in data:
            data[name], data[other] = data[other], data[name]
    return data


def members_of(part: Any, arms: tuple[str, ...]) -> np.ndarray | None:
    """Return 1 where an arm is of a family, (K, families), or None of a term without families."""
    families = part.families(arms) if isinstance(part, Scores) else None
    return None if families is None else np.eye(int(families.max()) + 1)[families]


def columns_of(touches: Any, lengths: tuple[int, ...], n_cells: int) -> "sparse.csr_array":
    """Return the design of a term as a matrix, (cells, coefficients)."""
    total = sparse.csr_array((n_cells, prod(lengths)))
    for index, value in touches:
        value = np.asarray(value, dtype=float)
        last = value.shape[1] if value.ndim == 2 else 1
        base = np.zeros(n_cells, dtype=np.int64)
        for at, length in zip(index, lengths, strict=False):
            base = base * length + np.asarray(at) % length
        place = base[:, None] * last + np.arange(last)
        rows = np.repeat(np.arange(n_cells), last)
        entries = (value.ravel(), (rows, place.ravel()))
        total = total + sparse.csr_array(entries, shape=total.shape)
    return sparse.csr_array(total)


def balanced(columns: "sparse.csr_array", n_arms: int) -> "sparse.csr_array":
    """Return the design of coefficients that are centred over the arms, from that of any.

    They differ where the sides of a cell differ in size. The last axis is that of the arms.
    """
    groups = sparse.eye_array(columns.shape[1] // n_arms)
    surplus = sparse.csr_array(columns @ sparse.kron(groups, np.ones((n_arms, 1))))
    surplus.eliminate_zeros()
    if not surplus.nnz:
        return columns
    return sparse.csr_array(columns - surplus @ sparse.kron(groups, np.ones((1, n_arms)) / n_arms))


def split_blocks(x: np.ndarray, blocks: Mapping[str, int | None]) -> dict[str, np.ndarray]:
    """Return the parts of x (..., size) by name, (..., length), or (...) where it is a number."""
    found = {}
    start = 0
    for name, length in blocks.items():
        stop = start + (1 if length is None else length)
        found[name] = x[..., start] if length is None else x[..., start:stop]
        start = stop
    return found
