"""Compiled derivatives of a model whose linear predictor is any linear function of parameters.

A model of attributes sees its parameters through ``eta``, one number a cell, and ``eta`` is
linear in them. So its Jacobian J is a matrix of data, found once a log by asking for ``eta`` at
the unit vectors; with the first and second derivatives of each cell's log likelihood in its
own ``eta``, taken from the ``pm.Model``, gradient and Hessian are J' slope and J' diag(bend) J,
exactly. The data are inputs of the compiled functions, so one compilation serves every log.

`Dense` answers what :mod:`bayesduel.inference.laplace` asks of derivatives.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesduel.inference.linear_predictor import Parts

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["Dense", "dense"]


@dataclass(frozen=True, eq=False)
class Dense:
    """Compiled functions of one model, and the data they are evaluated on.

    Attributes
    ----------
    compiled
        ``eta`` of (*blocks, *data), ``cells`` of (eta, *data), ``prior`` of (*blocks, hyper).
    data
        Arrays by name, as the model registered them.
    jacobian
        Of eta in the parameters, shape (cells, size), sparse rows.
    blocks
        Length of each parameter, by name, in the order in which x holds them; a scalar has
        length None.
    hyper
        Name of the learned hyperparameter, or None.
    """

    compiled: Mapping[str, Any]
    data: Mapping[str, np.ndarray]
    jacobian: sparse.csr_array
    blocks: Mapping[str, int | None]
    hyper: str | None

    @property
    def size(self) -> int:
        """Number of unconstrained parameters beside the hyperparameter."""
        return self.jacobian.shape[1]

    def cells(self, x: np.ndarray, hyper: float) -> tuple[float, np.ndarray]:
        """Return the log density and the log likelihood of each cell."""
        terms, _, _ = self.compiled["cells"](self.jacobian @ x, *self.data.values())
        prior, _, _ = self._prior(x, hyper)
        return float(prior + terms.sum()), terms

    def _prior(self, x: np.ndarray, hyper: float) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the log prior density, its gradient and its (diagonal) second derivatives."""
        blocks = self.parameters(x).values()
        value, pull, stiff = self.compiled["prior"](*blocks, float(hyper))
        return float(value), pull, stiff

    def value(self, x: np.ndarray, hyper: float) -> float:
        """Return the log density at `x`, shape (size,), and unconstrained `hyper`."""
        return self.cells(x, hyper)[0]

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """Return the derivative of each cell's log likelihood in its eta, shape (cells,)."""
        return self.compiled["cells"](self.jacobian @ x, *self.data.values())[1]

    def curves(
        self, x: np.ndarray, hyper: float, shift: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return slope and second derivative in eta, each (cells,), at eta of `x` plus `shift`."""
        _, slope, bend = self.compiled["cells"](self.jacobian @ x + shift, *self.data.values())
        return slope, bend

    def spread(self, covariance: np.ndarray) -> np.ndarray:
        """Return the standard deviation of each cell's eta when x has this covariance."""
        moved = self.jacobian @ covariance
        return np.sqrt(np.asarray(self.jacobian.multiply(moved).sum(axis=1)).ravel())

    def pull(self, slope: np.ndarray) -> np.ndarray:
        """Return the gradient in x, (size,), of cells with these slopes in eta."""
        return self.jacobian.T @ slope

    def curvature(self, bend: np.ndarray) -> np.ndarray:
        """Return minus the Hessian in x, (size, size), of cells bent so in eta."""
        weighted = self.jacobian.multiply(-bend[:, None])
        return np.asarray((self.jacobian.T @ weighted).todense())

    def parts(self, x: np.ndarray, hyper: float) -> Parts:
        """Return value, gradient and curvature at `x`."""
        terms, slope, bend = self.compiled["cells"](self.jacobian @ x, *self.data.values())
        prior, pull, stiff = self._prior(x, hyper)
        precision = self.curvature(bend)
        precision.flat[:: self.size + 1] -= stiff
        gradient = self.pull(slope) + pull
        return Parts(float(prior + terms.sum()), gradient, precision, -stiff)

    def parameters(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parameters by name, shapes (..., length) or (...), from x (..., size)."""
        found, start = {}, 0
        for name, length in self.blocks.items():
            stop = start + (1 if length is None else length)
            found[name] = x[..., start] if length is None else x[..., start:stop]
            start = stop
        return found

    def pack(self, parameters: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return x (..., size) from the parameters by name: the inverse of `parameters`."""
        columns = [
            np.asarray(parameters[name])[..., None] if length is None else parameters[name]
            for name, length in self.blocks.items()
        ]
        return np.concatenate(columns, axis=-1)


def dense(model: Any, duels: "Duels") -> Dense:
    """Return compiled derivatives of `model` on `duels` (compiled once a form of model).

    `model` should have ``example()`` (a model of the same form and a log, equal for equal
    settings), ``data(duels)`` and ``hyper``.

    Raises
    ------
    ValueError
        If eta is not linear in the parameters.
    """
    compiled, kinds = _compile(model.example()[0])
    data = model.data(duels)
    lengths = {"attribute": data["design"].shape[1], "arm": duels.n_arms}
    blocks = {name: None if dim is None else lengths[dim] for name, dim in kinds}
    size = sum(1 if n is None else n for n in blocks.values())
    shell = Dense(compiled, data, sparse.csr_array((0, size)), blocks, model.hyper)

    def eta(x: np.ndarray) -> np.ndarray:
        return compiled["eta"](*shell.parameters(x).values(), *data.values())

    columns = [sparse.csc_array(eta(unit)[:, None]) for unit in np.eye(size)]
    jacobian = sparse.csr_array(sparse.hstack(columns))
    probe = np.cos(np.arange(size))
    if not np.allclose(jacobian @ probe, eta(probe), atol=1e-9):
        raise ValueError(f"eta should be linear in the parameters of {model.name}")
    return replace(shell, jacobian=jacobian)


@lru_cache(maxsize=32)
def _compile(model: Any) -> tuple[dict[str, Any], tuple[tuple[str, str | None], ...]]:
    """Compile the derivatives of an example model; return also its parameters and their dims."""
    import pymc as pm
    import pytensor
    import pytensor.tensor as pt
    from pytensor.graph.replace import graph_replace

    built = model.build(model.example()[1])
    value_of, outcome = built.rvs_to_values, built["outcome"]
    eta = next(v for v in outcome.owner.inputs if v.name == "eta")
    kinds, blocks, swap = [], [], {}
    hyper: Any = pt.dscalar("hyper")
    for rv in built.free_RVs:
        if rv.name == model.hyper:
            swap[value_of[rv]] = hyper
            continue
        dims = built.named_vars_to_dims.get(rv.name)
        block: Any = pt.dvector(rv.name) if dims else pt.dscalar(rv.name)
        kinds.append((rv.name, dims[0] if dims else None))
        blocks.append(block)
        swap[value_of[rv]] = block
    arrays: dict[str, Any] = {}
    for shared in built.data_vars:
        arrays[shared.name] = swap[shared] = shared.type(f"{shared.name}_input")
    # Shapes taken from the example's dims become those of the inputs.
    lengths = {"cell": arrays["n"].shape[0], "attribute": arrays["design"].shape[1]}
    lengths |= {dim: block.shape[0] for (_, dim), block in zip(kinds, blocks, strict=True) if dim}
    for dim, length in lengths.items():
        swap[built.dim_lengths[dim]] = length.astype(built.dim_lengths[dim].dtype)
    inputs = [arrays[name] for name in model.data(model.example()[1])]

    at: Any = pt.dvector("eta_at")
    graphs: Any = graph_replace([pm.logp(outcome, value_of[outcome])], {eta: at})
    graphs = graph_replace(
        [*built.replace_rvs_by_values([graphs[0], eta]), built.logp(vars=built.free_RVs)],
        swap,
        strict=False,
    )
    term, eta, prior = graphs
    slope: Any = pt.grad(term.sum(), at)
    bend = pt.grad(slope.sum(), at)
    # Parameters do not touch in the prior: its Hessian is diagonal.
    pull: list[Any] = [pt.grad(prior, block, disconnected_inputs="ignore") for block in blocks]
    stiff: list[Any] = [
        pt.grad(one.sum(), block, disconnected_inputs="ignore")
        for one, block in zip(pull, blocks, strict=True)
    ]
    joined = [pt.concatenate([pt.atleast_1d(one) for one in parts]) for parts in (pull, stiff)]
    compiled = {
        name: pytensor.function(given, wanted, on_unused_input="ignore")
        for name, given, wanted in (
            ("eta", [*blocks, *inputs], eta),
            ("cells", [at, *inputs], [term, slope, bend]),
            ("prior", [*blocks, hyper], [prior, *joined]),
        )
    }
    return compiled, tuple(kinds)
