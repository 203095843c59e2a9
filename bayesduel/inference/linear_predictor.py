"""The log density of a model whose linear predictor is linear in its parameters.

It is made of designs of the terms, normal priors given the learned scales, and closed derivatives
of each cell's log likelihood in its own ``eta``. Gradient and Hessian follow: J' slope and
J' diag(bend) J, exactly. Parameters of the response (a tendency to tie) border that matrix. Nothing
is compiled; the ``pm.Model`` of the same declaration is what NUTS samples.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bayesduel.inference.design import Design, PairDifferences, centre
from bayesduel.inference.gaussian_prior import LOG_2PI, Piece, Prior, log_projected, whitened
from bayesduel.inference.pair_normalisers import PairNormalisers
from bayesduel.inference.term_coefficients import TermCoefficients
from bayesduel.models.cells import data_of_rows
from bayesduel.models.log_normaliser import SummedLogLikelihood, log_normalisers
from bayesduel.models.response import Derivatives, Response
from bayesduel.models.scale_prior import Scale
from bayesduel.system.memory import CACHED

__all__ = ["LinearPredictor", "Parts", "number_names", "split_blocks"]


class Parts(NamedTuple):
    """Value and derivatives of the log posterior at one point."""

    value: float  # log density, up to a constant, of x and of the hyperparameters on the log scale
    gradient: np.ndarray  # in x, shape (size,)
    precision: np.ndarray  # minus the Hessian, shape (size, size)
    prior: np.ndarray  # the prior's part of `precision`, shape (size, size)


@dataclass(frozen=True, eq=False)
class LinearPredictor:
    """The density of one model on one log.

    The vector x holds the coefficients of the terms, block after block, then the numbers of the
    response.
    """

    model: Any  # the model, settled
    data: Mapping[str, np.ndarray]  # what it knows of each cell, by name
    design: Design  # how eta depends on x
    # coefficients of each term by the name of their free numbers, in the order of x
    terms: Mapping[str, TermCoefficients]
    # mean and prior deviation of the response's own numbers, by name
    own: Mapping[str, tuple[float, float]]
    hypers: Mapping[str, int | None]  # length of each hyperparameter, by name; None of a number

    @cached_property
    def blocks(self) -> dict[str, int | None]:
        """Length of each parameter, by name, in the order of x; a number has length None."""
        lengths: dict[str, int | None] = {}
        for name, block in self.terms.items():
            lengths[name] = block.size if block.lengths else None
        return lengths | dict.fromkeys(self.own)

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dimensions of the parameters, by name."""
        found = {}
        for name, block in self.terms.items():
            if block.lengths:
                found[name] = block.term.free_dims
        return found

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
        return _total(self.blocks)

    @cached_property
    def n_scales(self) -> int:
        """Number of hyperparameters."""
        return _total(self.hypers)

    @property
    def n_coefficients(self) -> int:
        """Number of coefficients of terms: behind them in x are the response's own numbers."""
        return self.size - len(self.own)

    @cached_property
    def places(self) -> list[tuple[slice, TermCoefficients]]:
        """Where in x the coefficients of each term are, and these."""
        found = []
        start = 0
        for block in self.terms.values():
            stop = start + block.size
            found.append((slice(start, stop), block))
            start = stop
        return found

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
        sizes = []
        for block in self.terms.values():
            each = np.resize(block.term.typical, block.size)
            sizes.append(each * self.unit)
        of_own = np.ones(len(self.own))
        return np.concatenate([*sizes, of_own])

    # -- parameters ------------------------------------------------------------------------

    def parameters(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parameters by name, shapes (..., *lengths) or (...), from x (..., size)."""
        found = split_blocks(x, self.blocks)
        for name, block in self.terms.items():
            if len(block.lengths) > 1:
                shape = (*x.shape[:-1], *block.lengths)
                found[name] = found[name].reshape(shape)
        return found

    def pack(self, parameters: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return x (..., size) from the parameters by name: the inverse of `parameters`."""
        columns = []
        for name, length in self.blocks.items():
            values = np.asarray(parameters[name])
            block = self.terms.get(name)
            n_axes = 0 if block is None else len(block.lengths)
            n_leading = values.ndim - n_axes
            draws = values.shape[:n_leading]
            width = _width(length)
            columns.append(values.reshape(*draws, width))
        return np.concatenate(columns, axis=-1)

    def hyper_parameters(self, phi: np.ndarray) -> dict[str, np.ndarray]:
        """Return the hyperparameters by name, on their own scale, from phi (..., q)."""
        found = {}
        for name, logs in split_blocks(phi, self.hypers).items():
            found[name] = np.exp(logs)
        return found

    def _phi(self, phi: Any) -> np.ndarray:
        """Return hyperparameters (q,) of a number or an array; () where there are none."""
        given = np.atleast_1d(np.asarray(phi, dtype=float))
        return given[: self.n_scales]

    def _columns(self, phi: np.ndarray) -> dict[str, np.ndarray]:
        """Return the hyperparameters by name, each (n, 1) or (n, length), of phi (n, q)."""
        n = len(phi)
        found = {}
        for name, scale in self.hyper_parameters(phi).items():
            found[name] = scale.reshape(n, -1)
        return found

    def _known(self, x: np.ndarray, phi: np.ndarray) -> dict[str, np.ndarray]:
        """Return what the response asks beside eta: its own numbers and scales, draws first."""
        own = {}
        for place, name in enumerate(self.own, self.n_coefficients):
            own[name] = x[..., place]
        return own | self.hyper_parameters(phi)

    # -- the prior ---------------------------------------------------------------------------

    def prior(self, phi: Any) -> Prior:
        """Return the prior of x given hyperparameters, a number or (q,)."""
        given = self._phi(phi)
        scales = self._columns(given[None])
        mean = np.zeros(self.size)
        pieces = []
        half_log_det = 0.0
        for here, block in self._proper:
            tight = block.tightness(scales, self.data, self.unit)
            piece = block.piece(here, tight, scales)
            mean[here] = block.mean
            pieces.append(piece)
            if block.projected:
                at_mean = np.zeros(tight.shape)
                density = log_projected(at_mean, tight, block.families(scales))
                half_log_det += float(density[0])
                continue
            log_tight = float(np.log(piece.tight).sum())
            constant = 0.5 * block.size * LOG_2PI
            half_log_det += 0.5 * log_tight - constant
            if piece.inverse is not None:
                n_apart = block.size // len(piece.inverse)
                _, log_det = np.linalg.slogdet(piece.inverse)
                half_log_det += 0.5 * n_apart * float(log_det)
        for place, (middle, deviation) in self._own_places():
            mean[place] = middle
            if not np.isfinite(deviation):
                continue
            own = slice(place, place + 1)
            tight = np.array([deviation**-2.0])
            pieces.append(Piece(own, tight, None))
            log_deviation = float(np.log(deviation))
            half_log_det -= log_deviation + 0.5 * LOG_2PI
        return Prior(mean, tuple(pieces), half_log_det)

    def piece(self, phi: np.ndarray, k: int) -> Piece:
        """Return piece `k` of the prior, that of a term, given hyperparameters (q,)."""
        here, block = self._proper[k]
        scales = self._columns(phi[None])
        tight = block.tightness(scales, self.data, self.unit)
        return block.piece(here, tight, scales)

    def log_hyper(self, phi: np.ndarray) -> np.ndarray:
        """Return the log prior of hyperparameters, (n,) of their logarithms (n, q)."""
        total = np.zeros(len(phi))
        for name, logs in split_blocks(phi, self.hypers).items():
            scale = self.scales[name]
            each = scale.log_density(logs, self.unit)
            by_draw = each.reshape(len(phi), -1)
            total += by_draw.sum(axis=1)
        return total

    def log_prior_of_scales(self, phi: np.ndarray) -> float:
        """Return the log prior of hyperparameters (q,)."""
        return float(self.log_hyper(phi[None])[0])

    def log_prior(self, x: np.ndarray, phi: np.ndarray) -> np.ndarray:
        """Return the log prior of draws, (n,), of x (n, size) and phi (n, q)."""
        total = self.log_hyper(phi)
        scales = self._columns(phi)
        for here, block in self._proper:
            away = x[:, here] - block.mean
            tight = block.tightness(scales, self.data, self.unit)
            if block.projected:
                families = block.families(scales)
                total += log_projected(centre(away), tight, families)
                continue
            n_alike = 1 if tight.shape[1] > 1 else block.size
            log_tight = np.log(tight).sum(axis=1)
            total += 0.5 * log_tight * n_alike
            total -= 0.5 * block.size * LOG_2PI
            if block.covariance(scales) is not None:
                away, log_det = self._whitened(block, away, phi)
                total -= log_det
            square = (away**2 * tight).sum(axis=1)
            total -= 0.5 * square
        for place, (middle, deviation) in self._own_places():
            if not np.isfinite(deviation):
                continue
            away = x[:, place] - middle
            standard = away / deviation
            total -= 0.5 * standard**2
            log_deviation = float(np.log(deviation))
            total -= log_deviation + 0.5 * LOG_2PI
        return total

    @cached_property
    def _proper(self) -> list[tuple[slice, TermCoefficients]]:
        """The places of the terms with a proper prior."""
        found = []
        for here, block in self.places:
            if not block.term.flat:
                found.append((here, block))
        return found

    def _own_places(self) -> Iterator[tuple[int, tuple[float, float]]]:
        """Yield the place in x of the response's own numbers, and their mean and deviation."""
        yield from enumerate(self.own.values(), self.n_coefficients)

    def _whitened(
        self,
        block: TermCoefficients,
        away: np.ndarray,
        phi: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients whitened along the first axis, and the log determinant of that.

        away: coefficients of draws less their mean, (n, size). phi: hyperparameters, (n, q).
        """
        found = np.empty_like(away)
        log_det = np.empty(len(away))
        kinds, kind = np.unique(phi, axis=0, return_inverse=True)
        for k, one in enumerate(kinds):
            scales = self._columns(one[None])
            covariance = block.covariance(scales)
            assert covariance is not None
            mine = np.flatnonzero(kind.ravel() == k)
            found[mine], log_det[mine] = whitened(away[mine], covariance)
        return found, log_det

    # -- the density of many draws -------------------------------------------------------------

    def batch(self, x: np.ndarray, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log density (n,) and log likelihood of each cell (n, cells) of many draws.

        Of x (n, size) and hyperparameters phi on the log scale, (n, q).
        """
        n = len(x)
        cells = np.empty((n, self.n_cells))
        for here in _slices(n, self.n_cells):
            some = x[here]
            eta = self.eta(some)
            cells[here] = self.likelihood(some, phi[here], eta)
        log_likelihood = cells.sum(axis=1)
        total = self.log_prior(x, phi) + log_likelihood
        return total, cells

    def value(self, x: np.ndarray, phi: Any) -> float:
        """Return the log density at `x`, shape (size,), and hyperparameters `phi`."""
        given = self._phi(phi)
        value = self.values(x[None], given[None])
        return float(value[0])

    def values(self, x: np.ndarray, phi: np.ndarray) -> np.ndarray:
        """Return the log density of many draws, (n,), without keeping cells."""
        value = self.log_prior(x, phi)
        by_pairs = None
        n = len(x)
        if n * self.n_cells >= 2_000_000:  # to load compiled code takes 0.2 s
            by_pairs = self._sum_by_pairs(x)
        if by_pairs is not None:
            return value + by_pairs
        for here in _slices(n, self.n_cells):
            value[here] += self._sum(x[here], phi[here])
        return value

    def _sum(self, x: np.ndarray, phi: np.ndarray) -> np.ndarray:
        """Return the log likelihood of draws (n, size), (n,)."""
        eta = self.eta(x)
        summed = self._summed
        if summed is None:
            return self.likelihood(x, phi, eta).sum(axis=1)
        tie = self._tie(x)
        weight = np.zeros(len(eta))
        if tie is not None:
            weight = np.exp(tie)
        normalisers = log_normalisers(eta, summed.n, weight)
        linear = eta @ summed.slope
        return summed.of(linear, normalisers, tie)

    def _sum_by_pairs(self, x: np.ndarray) -> np.ndarray | None:
        """Return the log likelihood of draws (n, size) by `_pairs`, (n,), or None without these.

        None also where a number may be too large for them.
        """
        summed = self._summed
        pairs = self._pairs
        if summed is None or pairs is None:
            return None
        tie = self._tie(x)
        coefficients = x[:, : self.n_coefficients]
        normalisers = pairs.summed(coefficients, tie)
        if normalisers is None:
            return None
        slope = self.design.pull(summed.slope)
        linear = coefficients @ slope
        return summed.of(linear, normalisers, tie)

    def _tie(self, x: np.ndarray) -> np.ndarray | None:
        """Return the tendency to tie of draws (n, size), (n,); None of a response without one."""
        if "tie" not in self.own:
            return None
        names = list(self.own)
        place = self.n_coefficients + names.index("tie")
        return x[:, place]

    @cached_property
    def _summed(self) -> SummedLogLikelihood | None:
        """What the sum over cells needs where it has a short form, else None."""
        return self.response.summed_log_likelihood(self.data)

    @cached_property
    def _pairs(self) -> PairNormalisers | None:
        """Log normalisers of cells that are pairs with few columns beside, else None."""
        design = self.design
        summed = self._summed
        if summed is None or not isinstance(design, PairDifferences):
            return None
        return PairNormalisers.of(design, summed.n)

    # -- derivatives at one point --------------------------------------------------------------

    def eta(self, x: np.ndarray) -> np.ndarray:
        """Return the predictor of each cell, (..., cells), of x (..., size)."""
        coefficients = x[..., : self.n_coefficients]
        return self.design.eta(coefficients)

    def likelihood(self, x: np.ndarray, phi: np.ndarray, eta: np.ndarray) -> np.ndarray:
        """Return the log likelihood of cells at predictors `eta` (n, cells), (n, cells).

        All have the numbers of one x (size,), or each its own.
        """
        known = self._known(x, phi)
        found: np.ndarray = self.response.log_likelihood(eta, known, self.data)
        return found

    def likelihood_at(self, found: Derivatives, x: np.ndarray, phi: np.ndarray) -> np.ndarray:
        """Return the log likelihood of cells at x (size,), of which derivatives are found."""
        if found.value is not None:
            return found.value
        eta = self.eta(x)
        return self.likelihood(x[None], phi[None], eta[None])

    def derivatives(self, x: np.ndarray, phi: Any, shift: Any = 0.0) -> Derivatives:
        """Return the derivatives of cells at eta of `x` plus `shift` ((..., cells))."""
        eta = self.eta(x) + shift
        given = self._phi(phi)
        known = self._known(x, given)
        found: Derivatives = self.response.derivatives(eta, known, self.data)
        return found

    def averaged(
        self,
        x: np.ndarray,
        phi: np.ndarray,
        at: np.ndarray,
        mass: np.ndarray,
        variance: np.ndarray,
    ) -> Derivatives:
        """Return derivatives averaged over normal predictors with these variances (cells,).

        By quadrature: at nodes `at` with masses `mass`, (nodes,).
        """
        deviation = np.sqrt(variance)
        shift = at[:, None] * deviation
        found = self.derivatives(x, phi, shift)
        slope = mass @ found.slope
        bend = mass @ found.bend
        n_own = len(self.own)
        if not n_own:
            return Derivatives(
                slope,
                bend,
                own=found.own,
                cross=found.cross,
                second=found.second,
            )
        n_nodes = len(mass)
        n_cells = len(slope)

        def mean(values: np.ndarray, n_rows: int) -> np.ndarray:
            shape = (n_nodes, n_rows, n_own)
            by_node = np.broadcast_to(values, shape)
            return np.tensordot(mass, by_node, 1)

        return Derivatives(
            slope,
            bend,
            own=mean(found.own, n_cells),
            cross=mean(found.cross, n_cells),
            second=mean(found.second, n_own),
        )

    def gradient(self, found: Derivatives, prior: Prior, x: np.ndarray) -> np.ndarray:
        """Return the gradient of the log density in x from that of cells, (size,)."""
        return self.likelihood_slope(found) - prior.pull(x)

    def likelihood_slope(self, found: Derivatives) -> np.ndarray:
        """Return the gradient of the log likelihood in x, (size,), from that of cells."""
        of_coefficients = self.design.pull(found.slope)
        of_own = found.own.sum(axis=0)
        return np.concatenate([of_coefficients, of_own])

    def times(self, found: Derivatives, prior: Prior, x: np.ndarray) -> np.ndarray:
        """Return the precision where cells have these derivatives times a vector, (size,)."""
        own = x[self.n_coefficients :]
        eta = self.reach(x[None])[0]
        slope = found.bend * eta + found.cross @ own
        of_coefficients = self.design.pull(slope)
        of_own = found.cross.T @ eta + found.second @ own
        of_likelihood = np.concatenate([of_coefficients, of_own])
        of_prior = prior.pull(x + prior.mean)
        return of_prior - of_likelihood

    def gradients(self, x: np.ndarray, phi: Any, groups: np.ndarray, n: int) -> np.ndarray:
        """Return the gradient in x of the log likelihood of groups of cells, (n, size).

        `groups` is the group of each cell.
        """
        found = self.derivatives(x, phi)
        of_coefficients = self.design.pull_by(found.slope, groups, n)
        of_own = []
        for slope in found.own.T:
            by_group = np.bincount(groups, slope, minlength=n)
            of_own.append(by_group)
        return np.column_stack([of_coefficients, *of_own])

    def spread(self, covariance: np.ndarray) -> np.ndarray:
        """Return the standard deviation of each cell's eta when x has this covariance."""
        n = self.n_coefficients
        of_coefficients = covariance[:n, :n]
        variance = self.design.variance(of_coefficients)
        return np.sqrt(np.maximum(variance, 0.0))

    def reach(self, directions: np.ndarray) -> np.ndarray:
        """Return how each cell's eta moves along directions of x (n, size), shape (n, cells)."""
        of_coefficients = directions[:, : self.n_coefficients]
        return self.design.eta(np.ascontiguousarray(of_coefficients))

    def pulls(self, slopes: np.ndarray) -> np.ndarray:
        """Return the gradients in x, (size, m), of slopes in the eta of cells, (cells, m)."""
        m = slopes.shape[1]
        of_coefficients = self.design.pull(slopes)
        of_own = np.zeros((len(self.own), m))
        return np.vstack([of_coefficients, of_own])

    def parts(self, x: np.ndarray, phi: Any, prior: Prior | None = None) -> Parts:
        """Return value, gradient and curvature at `x`; `prior` is that at `phi`, where known."""
        given = self._phi(phi)
        if prior is None:
            prior = self.prior(given)
        found = self.derivatives(x, given)
        cells = self.likelihood_at(found, x, given)
        pulled = prior.pull(x)
        away = x - prior.mean
        value = cells.sum() + self.log_prior_of_scales(given)
        value += prior.half_log_det - 0.5 * away @ pulled
        return Parts(
            value=float(value),
            gradient=self.likelihood_slope(found) - pulled,
            precision=self.bent(found) + prior.precision,
            prior=prior.precision,
        )

    def information(self, x: np.ndarray, phi: Any) -> np.ndarray:
        """Return minus the Hessian of the log likelihood at `x`, (size, size)."""
        found = self.derivatives(x, phi)
        return self.bent(found)

    def bent(self, found: Derivatives) -> np.ndarray:
        """Return minus the Hessian of the log likelihood, (size, size)."""
        precision = self.design.curvature(found.bend)
        if found.joint is not None:
            group, share = found.joint
            n_groups = int(group[-1]) + 1
            pulled = self.design.pull_by(share, group, n_groups)
            precision -= pulled.T @ pulled
        if not self.own:
            return precision
        n = self.n_coefficients
        columns = []
        for cross in found.cross.T:
            pulled = self.design.pull(cross)
            columns.append(-pulled)
        border = np.stack(columns, axis=1)
        whole = np.empty((self.size, self.size))
        whole[:n, :n] = precision
        whole[n:, n:] = -found.second
        whole[:n, n:] = border
        whole[n:, :n] = border.T
        return whole

    def factored(
        self,
        x: np.ndarray,
        phi: Any,
        directions: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return factors of the information F at `x` along `directions` of x, (n, size).

        They are `along` (n, m) and `inner` (m, m): ``directions F directions'`` is
        ``along @ inner @ along.T``, where m is the number of cells and of the response's own
        numbers. None where m is no less than `size`.
        """
        m = self.n_cells + len(self.own)
        if m >= self.size:
            return None
        found = self.derivatives(x, phi)
        inner = np.diag(-found.bend)
        if found.joint is not None:
            group, share = found.joint
            together = group[:, None] == group
            shared = np.outer(share, share)
            inner -= np.where(together, shared, 0.0)
        along = self.reach(directions)
        if not self.own:
            return along, inner
        border = -found.cross
        of_own = directions[:, self.n_coefficients :]
        corner = -found.second
        inner = np.block([[inner, border], [border.T, corner]])
        return np.hstack([along, of_own]), inner

    def over(self, data: Mapping[str, np.ndarray], cells: np.ndarray) -> "LinearPredictor":
        """Return the density over other cells, each with the design of one of these, `cells`.

        `data` is what differs from the data of these, by name.
        """
        known = data_of_rows(self.data, cells)
        differing = {}
        for name in known:
            if name in data:
                differing[name] = data[name]
        design = self.design.rows(cells)
        return replace(self, data=known | differing, design=design)


def split_blocks(x: np.ndarray, blocks: Mapping[str, int | None]) -> dict[str, np.ndarray]:
    """Return the parts of x (..., size) by name, (..., length), or (...) where it is a number."""
    found = {}
    start = 0
    for name, length in blocks.items():
        stop = start + _width(length)
        found[name] = x[..., start:stop]
        if length is None:
            found[name] = x[..., start]
        start = stop
    return found


def number_names(lengths: Mapping[str, int | None]) -> list[str]:
    """Return the name of each number of parameters of these lengths."""
    found = []
    for name, length in lengths.items():
        found += [name] * _width(length)
    return found


def _total(lengths: Mapping[str, int | None]) -> int:
    """Return how many numbers parameters of these lengths have."""
    return sum(map(_width, lengths.values()))


def _width(length: int | None) -> int:
    """Return how many numbers a parameter of this length has; None is the length of a number."""
    return 1 if length is None else length


def _slices(n: int, each: int) -> Iterator[slice]:
    """Yield parts of `n` draws of `each` numbers."""
    step = max(1, CACHED // max(each, 1))
    for start in range(0, n, step):
        yield slice(start, start + step)
