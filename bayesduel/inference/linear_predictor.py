"""The log density of a model whose linear predictor is linear in its parameters.

Gradient and Hessian follow from two designs (:mod:`bayesduel.inference.design`) and the compiled
derivatives of each cell's log likelihood in its own ``eta``: J' slope and J' diag(bend) J, exactly.
Parameters of the response (a tendency to tie) border that matrix.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bayesduel.inference.compiled_terms import CompiledTerms, compiled_terms
from bayesduel.inference.design import Design, design_of
from bayesduel.models.cells import data_of_rows
from bayesduel.models.response import SummedLogLikelihood

__all__ = ["LinearPredictor", "Parts", "as_input", "linear_predictor", "split_blocks"]

CHUNK = 4_000_000  # draws x cells worked on at once
BLOCK = 100_000  # of these in the compiled sum, which should stay in the processor's cache
REACHED = 64  # axes whose predictors are held at once
MANY = 2_000_000  # draws x cells from which that sum is worth its compilation


class Parts(NamedTuple):
    """Value and derivatives of the log posterior at one point.

    Attributes
    ----------
    value
        Log density, up to a constant, of x and of the hyperparameters on the log scale.
    gradient
        In x, shape (size,).
    precision
        Minus the Hessian, shape (size, size).
    prior
        The prior's part of `precision`, which is diagonal, shape (size,).
    """

    value: float
    gradient: np.ndarray
    precision: np.ndarray
    prior: np.ndarray


@dataclass(frozen=True, eq=False)
class LinearPredictor:
    """The density of one model on one log.

    The vector x holds the parameters that enter eta, block after block, then those of the
    response.

    Attributes
    ----------
    terms
        Compiled functions.
    data
        Arrays by name, as the model registered them.
    design
        How eta depends on x.
    blocks
        Length of each parameter, by name, in the order of x; a number has length None.
    hypers
        Length of each hyperparameter, by name, likewise.
    summed
        Compiled sum of the log likelihood over cells, for many draws of many cells; or None.
    """

    terms: CompiledTerms
    data: Mapping[str, np.ndarray]
    design: Design
    blocks: Mapping[str, int | None]
    hypers: Mapping[str, int | None]
    summed: SummedLogLikelihood | None = None

    @property
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

    @property
    def _cut(self) -> int:
        """Where the response's own parameters begin in x."""
        return self.size - len(self.terms.own)

    def parameters(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parameters by name, shapes (..., length) or (...), from x (..., size)."""
        return split_blocks(x, self.blocks)

    def hyper_parameters(self, phi: np.ndarray) -> dict[str, np.ndarray]:
        """Return the hyperparameters by name, on their own scale, from phi (..., q)."""
        return {name: np.exp(v) for name, v in split_blocks(phi, self.hypers).items()}

    def pack(self, parameters: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return x (..., size) from the parameters by name: the inverse of `parameters`."""
        columns = [
            np.asarray(parameters[name])[..., None] if length is None else parameters[name]
            for name, length in self.blocks.items()
        ]
        return np.concatenate(columns, axis=-1)

    def _arguments(self, x: np.ndarray, phi: np.ndarray) -> list[Any]:
        """Return parameters, hyperparameters and data as the compiled functions take them."""
        blocks = [as_input(v) for v in self.parameters(x).values()]
        hypers = [as_input(v) for v in split_blocks(phi, self.hypers).values()]
        return [*blocks, *hypers, *self.data.values()]

    def batch(self, x: np.ndarray, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log density (n,) and log likelihood of each cell (n, cells) of many draws.

        Parameters
        ----------
        x
            Shape (n, size).
        phi
            Hyperparameters on the log scale, shape (n, q).
        """
        value, cells = np.empty(len(x)), np.empty((len(x), self.n_cells))
        step = max(1, CHUNK // max(self.n_cells, 1))
        for start in range(0, len(x), step):
            here = slice(start, start + step)
            value[here], cells[here] = self._chunk(x[here], phi[here])
        return value, cells

    def values(self, x: np.ndarray, phi: np.ndarray) -> np.ndarray:
        """Return the log density of many draws, (n,), without keeping cells."""
        value, many = np.empty(len(x)), self._many(len(x))
        step = max(1, (BLOCK if many else CHUNK) // max(self.n_cells, 1))
        for start in range(0, len(x), step):
            here = slice(start, start + step)
            if many:
                value[here] = self._sum(self.design.etas(x[here, : self._cut]), x[here])
            else:
                value[here] = self._chunk(x[here], phi[here])[0]
        return value + self._prior(x, phi) if many else value

    def values_along(
        self, x: np.ndarray, hyper: float, axes: np.ndarray, at: np.ndarray
    ) -> np.ndarray:
        """Return the log density at ``x + at axis``, (m, axes), with eta followed along each axis.

        Parameters
        ----------
        x
            A point, shape (size,).
        hyper
            The hyperparameter on the log scale.
        axes
            Directions, one a column, shape (size, axes).
        at
            Coordinates along each axis, shape (m, axes).
        """
        if not self._many(at.size):
            return self._values_along_each(x, hyper, axes, at)
        n_points = len(at)
        value = np.empty(at.T.shape)
        begin = self.design.eta(x[: self._cut])
        step = max(1, BLOCK // max(self.n_cells * n_points, 1))
        for start in range(0, axes.shape[1], REACHED):
            reach = self.reach(axes.T[start : start + REACHED])
            for first in range(0, len(reach), step):
                moved = reach[first : first + step, None, :]
                here = slice(start + first, start + first + len(moved))
                along = at.T[here, :, None]
                points = (x + along * axes.T[here, None, :]).reshape(-1, len(x))
                sums = self._sum((begin + along * moved).reshape(-1, self.n_cells), points)
                sums += self._prior(points, np.full((len(points), 1), hyper))
                value[here] = sums.reshape(-1, n_points)
        return value.T

    def _values_along_each(
        self, x: np.ndarray, hyper: float, axes: np.ndarray, at: np.ndarray
    ) -> np.ndarray:
        """Return the same for few cells, one axis after another."""
        value = np.empty(at.shape)
        begin = self.design.eta(x[: self._cut])
        for start in range(0, axes.shape[1], REACHED):
            for k, reach in enumerate(self.reach(axes.T[start : start + REACHED]), start):
                points, eta = x + at[:, k, None] * axes[:, k], begin + at[:, k, None] * reach
                given = self._arguments(points, np.full((len(at), 1), hyper))
                prior, cells = self.terms.functions["density"](eta, *given)
                value[:, k] = prior + cells.sum(axis=1)
        return value

    def _many(self, n: int) -> bool:
        """Return whether the compiled sum over cells pays for `n` draws."""
        return self.summed is not None and n * self.n_cells >= MANY

    def _sum(self, eta: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the log likelihood of draws (n, size) with this predictor (n, cells), (n,)."""
        assert self.summed is not None
        return self.summed(eta, self.parameters(x), self.data)

    def _prior(self, x: np.ndarray, phi: np.ndarray) -> np.ndarray:
        """Return the log prior of draws, (n,): their log density without cells."""
        nothing = self._without_cells
        given = nothing._arguments(x, phi)
        return np.asarray(self.terms.functions["density"](np.empty((len(x), 0)), *given)[0])

    @cached_property
    def _without_cells(self) -> "LinearPredictor":
        return self.over({}, np.empty(0, dtype=int))

    def _chunk(self, x: np.ndarray, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        eta = self.design.eta(x[:, : self._cut])
        prior, cells = self.terms.functions["density"](eta, *self._arguments(x, phi))
        return prior + cells.sum(axis=1), cells

    def value(self, x: np.ndarray, phi: Any) -> float:
        """Return the log density at `x`, shape (size,), and hyperparameters `phi`."""
        return float(self.values(x[None], np.atleast_1d(np.asarray(phi, dtype=float))[None])[0])

    def cells(self, x: np.ndarray, phi: Any) -> tuple[float, np.ndarray]:
        """Return the log density and the log likelihood of each cell."""
        given = np.atleast_1d(np.asarray(phi, dtype=float))
        value, cells = self._chunk(x[None], given[None])
        return float(value[0]), cells[0]

    def slopes(self, x: np.ndarray, phi: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return each cell's gradient: in eta, (cells,), and in the own parameters, (cells, p)."""
        _, _, slope, _, by_own, *_ = self._derivatives(x, phi)
        return slope, by_own

    def gradients(self, x: np.ndarray, phi: Any, groups: np.ndarray, n: int) -> np.ndarray:
        """Return the gradient in x of the log likelihood of groups of cells, (n, size).

        `groups` is the group of each cell.
        """
        slope, own = self.slopes(x, phi)
        parts = [self.design.pull_by(slope, groups, n)]
        if own.shape[1]:
            columns = [np.bincount(groups, c, minlength=n) for c in own.T]
            parts.append(np.stack(columns, axis=1))
        return np.concatenate(parts, axis=1)

    def curves(self, x: np.ndarray, phi: Any, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return slope and second derivative in eta, each (cells,), at eta of `x` plus `shift`."""
        _, _, slope, bend, *_ = self._derivatives(x, phi, shift)
        return slope, bend

    def _derivatives(self, x: np.ndarray, phi: Any, shift: Any = 0.0) -> list[np.ndarray]:
        given = np.atleast_1d(np.asarray(phi, dtype=float))
        eta = self.design.eta(x[: self._cut]) + shift
        return self.terms.functions["derivatives"](eta, *self._arguments(x, given))

    def spread(self, covariance: np.ndarray) -> np.ndarray:
        """Return the standard deviation of each cell's eta when x has this covariance."""
        return self.design.spread(covariance[: self._cut, : self._cut])

    def reach(self, directions: np.ndarray) -> np.ndarray:
        """Return how each cell's eta moves along directions of x (n, size), shape (n, cells)."""
        return self.design.eta(np.ascontiguousarray(directions[:, : self._cut]))

    def pulls(self, slopes: np.ndarray) -> np.ndarray:
        """Return the gradients in x, (size, m), of slopes in the eta of cells, (cells, m)."""
        return np.pad(self.design.pulls(slopes), ((0, len(self.terms.own)), (0, 0)))

    def parts(self, x: np.ndarray, phi: Any) -> Parts:
        """Return value, gradient and curvature at `x`."""
        prior, terms, slope, bend, by_own, cross, second, push, stiff = self._derivatives(x, phi)
        gradient = np.concatenate([self.design.pull(slope), by_own.sum(axis=0)]) + push
        precision = self.design.curvature(bend)
        if self.terms.own:
            cut, border = self._cut, np.stack([-self.design.pull(c) for c in cross.T], axis=1)
            precision = np.pad(precision, (0, self.size - cut))
            precision[:cut, cut:], precision[cut:, :cut] = border, border.T
            precision[cut:, cut:] = -second
        precision.flat[:: self.size + 1] -= stiff
        return Parts(float(prior + terms.sum()), gradient, precision, -stiff)

    def over(self, data: Mapping[str, np.ndarray], cells: np.ndarray) -> "LinearPredictor":
        """Return the density over other cells, each with the design of one of these.

        Parameters
        ----------
        data
            What differs from the data of these cells, by name.
        cells
            Whose design each new cell has, indices.
        """
        whole = data_of_rows(self.data, cells)
        return replace(
            self,
            data={k: as_input(data.get(k, v)) for k, v in whole.items()},
            design=self.design.rows(cells),
        )


def linear_predictor(model: Any, cells: Any) -> LinearPredictor:
    """Return the density of a model on the cells of a log.

    Raises
    ------
    ValueError
        If eta is not linear in the parameters.
    """
    if not model.linear:
        raise ValueError(f"eta should be linear in the parameters of {model.name}")
    terms = compiled_terms(model)
    data = {name: as_input(cells.data[name]) for name in terms.data}
    lengths = {"arm": cells.log.n_arms, "free": cells.log.n_arms - 1}
    lengths |= {name: len(values) for name, values in model.coords(cells.log).items()}
    blocks = {n: None if by is None else lengths[by] for n, by in terms.linear.items()}
    hypers = {n: None if by is None else lengths[by] for n, by in terms.hypers.items()}

    def eta(x: np.ndarray) -> np.ndarray:
        parts = [as_input(v) for v in split_blocks(x, blocks).values()]
        return terms.functions["eta"](*parts, *data.values())

    design = design_of(eta, blocks, data)
    size = sum(1 if n is None else n for n in blocks.values())
    probe = np.cos(np.arange(size))
    if not np.allclose(design.eta(probe), eta(probe), atol=1e-9):
        raise ValueError(f"eta should be linear in the parameters of {model.name}")
    blocks = blocks | dict.fromkeys(terms.own)
    return LinearPredictor(terms, data, design, blocks, hypers, model.summed_log_likelihood)


def split_blocks(x: np.ndarray, blocks: Mapping[str, int | None]) -> dict[str, np.ndarray]:
    """Return the parts of x (..., size) by name, (..., length), or (...) where it is a number."""
    found, start = {}, 0
    for name, length in blocks.items():
        stop = start + (1 if length is None else length)
        found[name] = x[..., start] if length is None else x[..., start:stop]
        start = stop
    return found


def as_input(values: Any) -> np.ndarray:
    """Return an array as the compiled functions take it unchecked."""
    given = np.asarray(values)
    return given if given.ndim == 0 else np.ascontiguousarray(given)
