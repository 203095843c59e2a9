"""The log density of a model with varying effects: an arrowhead of groups and shared parameters.

Every cell depends on the shared parameters and on the effects of its own group. Minus the Hessian
of the log density is a block a group, a corner of the shared parameters, and edges between each
group and these.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bayesduel.inference.compiled_terms import CompiledTerms, compiled_terms
from bayesduel.inference.linear_predictor import as_input, split_blocks

__all__ = ["NestedPredictor", "Parts", "nested_predictor"]


class Parts(NamedTuple):
    """Value and derivatives of the log density at one point.

    Attributes
    ----------
    value
        Log density, up to a constant, of the parameters and the hyperparameters' logarithms.
    by_shared, by_group
        Gradient in the shared parameters (p,), and in the effects of groups (groups, m).
    corner, edges, blocks
        Minus the Hessian: (p, p), (groups, m, p) and (groups, m, m). Curvatures of cells that
        are not log-concave count as 0.
    stiff
        Prior precision of the effects, (groups, m).
    """

    value: float
    by_shared: np.ndarray
    by_group: np.ndarray
    corner: np.ndarray
    edges: np.ndarray
    blocks: np.ndarray
    stiff: np.ndarray


class Group(NamedTuple):
    """One group that has cells: its place, its cells, and their rows of the designs."""

    place: int
    cells: np.ndarray
    reach: np.ndarray
    design: np.ndarray


@dataclass(frozen=True, eq=False)
class NestedPredictor:
    """The density of a model whose linear predictor has varying effects, on one log.

    Attributes
    ----------
    terms
        Compiled functions.
    data
        Arrays by name, as the model registered them.
    blocks
        Length of each parameter, by name, in the order of x; a number has length None.
    hypers
        Length of each hyperparameter, by name, likewise.
    effects
        Name of the varying effects among the blocks.
    design
        How eta depends on the shared parameters, (cells, p less those of the response).
    reach
        How eta depends on the effects of the cell's own group, (cells, m).
    group
        The group of each cell, -1 for none, (cells,).
    """

    terms: CompiledTerms
    data: Mapping[str, np.ndarray]
    blocks: Mapping[str, int | None]
    hypers: Mapping[str, int | None]
    effects: str
    design: np.ndarray
    reach: np.ndarray
    group: np.ndarray

    @property
    def size(self) -> int:
        """Number of parameters beside the hyperparameters."""
        return sum(1 if n is None else n for n in self.blocks.values())

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.group)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return (self.blocks[self.effects] or 0) // self.reach.shape[1]

    @property
    def n_shared(self) -> int:
        """Number of shared parameters, those of the response last."""
        return self.design.shape[1] + len(self.terms.own)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups that have cells."""
        order = np.argsort(self.group, kind="stable")
        known, starts = np.unique(self.group[order], return_index=True)
        parts = np.split(order, starts[1:])
        return tuple(
            Group(int(g), cells, self.reach[cells], self.design[cells])
            for g, cells in zip(known, parts, strict=True)
            if g >= 0
        )

    def parameters(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parameters by name, shapes (..., length) or (...), from x (..., size)."""
        return split_blocks(x, self.blocks)

    def hyper_parameters(self, phi: np.ndarray) -> dict[str, np.ndarray]:
        """Return the hyperparameters by name, on their own scale, from phi (..., q)."""
        return {name: np.exp(v) for name, v in split_blocks(phi, self.hypers).items()}

    def join(self, shared: np.ndarray, varying: np.ndarray) -> np.ndarray:
        """Return x (..., size) from shared (..., p) and varying (..., groups, m) parameters."""
        columns, at = [], 0
        for name, length in self.blocks.items():
            if name == self.effects:
                columns.append(varying.reshape(*varying.shape[:-2], -1))
            else:
                columns.append(shared[..., at : at + (length or 1)])
                at += length or 1
        return np.concatenate(columns, axis=-1)

    def parted(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return shared and varying parameters from x (size,): the inverse of `join`."""
        found = self.parameters(x)
        varying = found.pop(self.effects).reshape(-1, self.reach.shape[1])
        return np.concatenate([np.atleast_1d(v) for v in found.values()]), varying

    def eta(self, shared: np.ndarray, varying: np.ndarray) -> np.ndarray:
        """Return the predictor: shared (p,), varying (groups, n, m) or (groups, m)."""
        eta = self.design @ shared[: self.design.shape[1]]
        if varying.ndim == 2:
            for one in self.groups:
                eta[one.cells] += one.reach @ varying[one.place]
            return eta
        found = np.repeat(eta[None], varying.shape[1], axis=0)
        for one in self.groups:
            found[:, one.cells] += varying[one.place] @ one.reach.T
        return found

    def parts(self, shared: np.ndarray, varying: np.ndarray, phi: np.ndarray) -> Parts:
        """Return value, gradient and curvature."""
        x, eta = self.join(shared, varying), self.eta(shared, varying)
        known = self.terms.functions["derivatives"](eta, *self._arguments(x, phi))
        prior, terms, slope, bend, by_own, cross, second, push, stiff = known
        weight, cut, n = np.maximum(-bend, 0.0), self.design.shape[1], self.n_shared
        (by_shared, by_group), (hard, firm) = self.parted(push), self.parted(-stiff)
        by_shared = by_shared + np.concatenate([self.design.T @ slope, by_own.sum(axis=0)])
        corner = np.diag(hard)
        corner[:cut, :cut] += self.design.T @ (weight[:, None] * self.design)
        if cut < n:
            border = -self.design.T @ cross
            corner[:cut, cut:], corner[cut:, :cut] = border, border.T
            corner[cut:, cut:] -= second
        width = self.reach.shape[1]
        edges = np.zeros((len(firm), width, n))
        blocks = firm[:, :, None] * np.eye(width)
        by_group = by_group.copy()
        for one in self.groups:
            weighted = (weight[one.cells, None] * one.reach).T
            by_group[one.place] += slope[one.cells] @ one.reach
            blocks[one.place] += weighted @ one.reach
            edges[one.place, :, :cut] = weighted @ one.design
            if cut < n:
                edges[one.place, :, cut:] = -one.reach.T @ cross[one.cells]
        value = float(prior + terms.sum())
        return Parts(value, by_shared, by_group, corner, edges, blocks, firm)

    def candidates(
        self, shared: np.ndarray, varying: np.ndarray, phi: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Return the log prior where effects are 0, and each candidate's cells, (n, cells).

        `varying` has shape (groups, n, m).
        """
        n = varying.shape[1]
        x = self.join(shared, np.zeros((len(varying), varying.shape[2])))
        eta = self.eta(shared, varying)
        many = np.broadcast_to(x, (n, len(x))), np.broadcast_to(phi, (n, len(phi)))
        prior, cells = self.terms.functions["density"](eta, *self._arguments(*many))
        return float(prior[0]), cells

    def by_group(self, cells: np.ndarray) -> np.ndarray:
        """Return sums over the cells of each group, (groups, n), of cells (n, cells)."""
        found = np.zeros((self.n_groups, len(cells)))
        for one in self.groups:
            found[one.place] = cells[:, one.cells].sum(axis=1)
        return found

    def _arguments(self, x: np.ndarray, phi: np.ndarray) -> list[Any]:
        """Return parameters, hyperparameters and data as the compiled functions take them."""
        given = [*self.parameters(x).values(), *split_blocks(phi, self.hypers).values()]
        return [*map(as_input, given), *self.data.values()]


def nested_predictor(model: Any, cells: Any) -> NestedPredictor:
    """Return the density of a model with varying effects on the cells of a log.

    Raises
    ------
    ValueError
        If eta is not linear in the parameters, an effect reaches cells of other groups, or the
        prior of the effects is not normal with mean 0.
    """
    terms = compiled_terms(model)
    data = {name: as_input(cells.data[name]) for name in terms.data}
    effects = next(n for n in model.varying if n in terms.linear)
    column, dimension = model.varying[effects]
    group = np.asarray(cells.data[column])
    lengths = {"arm": cells.log.n_arms, "free": cells.log.n_arms - 1}
    lengths |= {name: len(values) for name, values in model.coords(cells.log).items()}
    blocks = {n: None if by is None else lengths[by] for n, by in terms.linear.items()}
    hypers = {n: None if by is None else lengths[by] for n, by in terms.hypers.items()}
    n_groups = lengths[dimension]

    def eta(x: np.ndarray) -> np.ndarray:
        given = [as_input(v) for v in split_blocks(x, blocks).values()]
        return terms.functions["eta"](*given, *data.values())

    units = {n: np.eye(length or 1) for n, length in blocks.items()}
    width = len(units[effects]) // n_groups
    units[effects] = np.tile(np.eye(width), n_groups)  # one number of all groups at a time
    size = sum(u.shape[1] for u in units.values())

    def columns(name: str) -> list[np.ndarray]:
        start = sum(units[n].shape[1] for n in list(blocks)[: list(blocks).index(name)])
        found = []
        for unit in units[name]:
            x = np.zeros(size)
            x[start : start + len(unit)] = unit
            found.append(eta(x))
        return found

    shared = [column for name in blocks if name != effects for column in columns(name)]
    density = NestedPredictor(
        terms=terms,
        data=data,
        blocks=blocks | dict.fromkeys(terms.own),
        hypers=hypers,
        effects=effects,
        design=np.column_stack(shared) if shared else np.zeros((len(group), 0)),
        reach=np.column_stack(columns(effects)) * (group >= 0)[:, None],
        group=group,
    )
    _check(model, density, eta)
    return density


# -- in calling order ----------------------------------------------------------------------


def _check(model: Any, density: NestedPredictor, eta: Callable[[np.ndarray], np.ndarray]) -> None:
    """Raise ValueError unless the density has the form that is assumed of it."""
    x = np.cos(np.arange(density.size))
    shared, varying = density.parted(x)
    n_own = len(density.terms.own)
    if not np.allclose(density.eta(shared, varying), eta(x[: len(x) - n_own]), atol=1e-9):
        raise ValueError(
            f"eta should be linear in the parameters of {model.name}, with {density.effects!r} of "
            "the cell's own group"
        )
    phi = np.zeros(sum(n or 1 for n in density.hypers.values()))
    stiff = density.parts(shared, varying, phi).stiff
    n = 3
    many = np.linspace(0.0, 1.0, n)[None, :, None] * varying[:, None]
    eta_of = density.eta(shared, many)
    rows = np.stack([density.join(shared, many[:, k]) for k in range(n)])
    given = density._arguments(rows, np.broadcast_to(phi, (n, len(phi))))
    prior = density.terms.functions["density"](eta_of, *given)[0]
    normal = -0.5 * (stiff[:, None] * many**2).sum(axis=(0, 2))
    if not np.allclose(prior - prior[0], normal, rtol=1e-8, atol=1e-8):
        raise ValueError(
            f"the prior of {density.effects!r} of {model.name} should be normal with mean 0 and "
            "one variance for all"
        )
