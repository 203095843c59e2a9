"""Compiled derivatives of a score model, taken from its ``pm.Model``.

A score model's likelihood sees the scores only through ``eta``, the differences of two scores
in each cell (plus, where there is one, an effect of order). Its Hessian in the scores is then a
graph Laplacian weighted by the second derivatives in ``eta``: O(cells) numbers instead of a
Jacobian of K x cells, exact all the same. The data are inputs of the compiled functions, so one
compilation serves every log.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesduel.inference.design import centre, laplacian, reduce, uncentre

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["Derivatives", "Parts", "centre", "derivatives", "reduce", "uncentre"]


class Parts(NamedTuple):
    """Value and derivatives of the log posterior at one point.

    Attributes
    ----------
    value
        Log density of free numbers and hyperparameter (unconstrained), up to a constant.
    gradient
        In the free numbers and then the extra parameters, shape (K - 1 + p,).
    precision
        Minus the Hessian, shape (K - 1 + p, K - 1 + p).
    prior
        The prior's part of `precision`, which is diagonal, shape (K - 1 + p,).
    """

    value: float
    gradient: np.ndarray
    precision: np.ndarray
    prior: np.ndarray


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Compiled functions of one score model, and the data they are evaluated on.

    Attributes
    ----------
    compiled
        Functions of (free, extra, hyper, *data).
    data
        Arrays by name, as the model registered them.
    n_arms, extras
        Number of arms; names of the parameters beside the scores.
    hypers
        Names of the learned hyperparameters, of which the compiled functions take the
        unconstrained values in one vector.
    """

    compiled: Mapping[str, Any]
    data: Mapping[str, np.ndarray]
    n_arms: int
    extras: tuple[str, ...]
    hypers: tuple[str, ...]

    @property
    def hyper(self) -> str | None:
        """Name of the learned hyperparameter of a model that has one at most."""
        return self.hypers[0] if self.hypers else None

    @property
    def size(self) -> int:
        """Number of unconstrained parameters beside the hyperparameter."""
        return self.n_arms - 1 + len(self.extras)

    def _arguments(self, x: np.ndarray, hyper: Any) -> list[Any]:
        cut = self.n_arms - 1
        given = np.atleast_1d(np.asarray(hyper, dtype=float))
        return [x[:cut], x[cut:], given, *self.data.values()]

    def value(self, x: np.ndarray, hyper: Any) -> float:
        """Return the log density at `x`, shape (size,), and unconstrained `hyper`."""
        return float(self.compiled["value"](*self._arguments(x, hyper)))

    def cells(self, x: np.ndarray, hyper: Any) -> tuple[float, np.ndarray]:
        """Return the log density and the log likelihood of each cell."""
        value, cells = self.compiled["cells"](*self._arguments(x, hyper))
        return float(value), cells

    def slopes(self, x: np.ndarray, hyper: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return each cell's gradient: in eta, (cells,), and in each extra, (cells, p)."""
        slope, extra = self.compiled["slopes"](*self._arguments(x, hyper))
        own = extra.reshape(len(slope), len(self.extras))
        return slope, own + slope[:, None] * self.reach

    @cached_property
    def reach(self) -> np.ndarray:
        """How far each extra moves the eta of each cell, (cells, p): constant, eta is linear."""
        n_cells = len(self.data["n"])
        if not self.extras:
            return np.zeros((n_cells, 0))
        return self.compiled["reach"](*self._arguments(np.zeros(self.size), 0.0))

    def curves(self, x: np.ndarray, hyper: Any, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return slope and second derivative in eta, each (cells,), at eta of `x` plus `shift`."""
        arguments = self._arguments(x, hyper)
        eta = self.compiled["eta"](*arguments)
        slope, bend = self.compiled["curves"](eta + shift, *arguments[1:])
        return slope, bend

    def spread(self, covariance: np.ndarray) -> np.ndarray:
        """Return the standard deviation of each cell's eta when x has this covariance."""
        inner = covariance[: self.n_arms - 1, : self.n_arms - 1]
        score = centre(centre(inner).T)
        own, first, second = score.diagonal(), self.data["first"], self.data["second"]
        variance = own[first] + own[second] - 2 * score[first, second]
        if self.reach.any():
            p = len(self.extras)
            with_score = centre(covariance[:-p, -p:].T)  # (p, K)
            variance = variance + 2 * (
                self.reach.T * (with_score[:, first] - with_score[:, second])
            ).sum(0)
            variance = variance + ((self.reach @ covariance[-p:, -p:]) * self.reach).sum(1)
        return np.sqrt(np.maximum(variance, 0.0))

    def pull(self, slope: np.ndarray) -> np.ndarray:
        """Return the gradient in x, (size,), of cells with these slopes in eta."""
        first, second = self.data["first"], self.data["second"]
        by_arm = np.bincount(first, slope, minlength=self.n_arms)
        by_arm -= np.bincount(second, slope, minlength=self.n_arms)
        return np.concatenate([uncentre(by_arm), slope @ self.reach])

    def curvature(self, bend: np.ndarray) -> np.ndarray:
        """Return minus the Hessian in x, (size, size), of cells bent so in eta."""
        first, second = self.data["first"], self.data["second"]
        free = reduce(laplacian(-bend, first, second, self.n_arms))
        if not self.extras:
            return free
        moved = bend[:, None] * self.reach
        return self._bordered(free, moved, moved.T @ self.reach)

    def _bordered(self, free: np.ndarray, cross: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Return minus the Hessian, given that of the free numbers and how slopes and extras move.

        `cross` is how the slope of each cell moves with each extra, (cells, p); `own` the second
        derivatives in the extras, (p, p).
        """
        first, second, p = self.data["first"], self.data["second"], len(self.extras)
        by_arm = np.stack(
            [
                np.bincount(first, -column, minlength=self.n_arms)
                - np.bincount(second, -column, minlength=self.n_arms)
                for column in cross.T
            ],
            axis=1,
        )
        mixed = uncentre(by_arm.T).T
        result = np.pad(free, (0, p))
        result[:-p, -p:], result[-p:, :-p], result[-p:, -p:] = mixed, mixed.T, -own
        return result

    def parts(self, x: np.ndarray, hyper: Any) -> Parts:
        """Return value, gradient and curvature at `x`."""
        arguments = self._arguments(x, hyper)
        value, gradient, bend, cross, own, prior = self.compiled["parts"](*arguments)
        first, second = self.data["first"], self.data["second"]
        precision = reduce(laplacian(-bend, first, second, self.n_arms))
        if self.extras:
            # `cross` and `own` hold each eta; the extras move it by `reach`.
            reach = self.reach
            twice = reach.T @ cross
            own = own + twice + twice.T + (bend[:, None] * reach).T @ reach
            precision = self._bordered(precision, cross + bend[:, None] * reach, own)
        precision.flat[:: self.size + 1] -= prior
        return Parts(float(value), gradient, precision, -prior)


class Compiled(dict[str, Any]):
    """Functions by name, each compiled when it is first asked for."""

    def __init__(self, graphs: Mapping[str, tuple[list[Any], list[Any]]]) -> None:
        super().__init__()
        self.graphs = graphs

    def __missing__(self, name: str) -> Any:
        """Compile the function of that name: inputs to outputs, one of which stands alone."""
        import pytensor

        inputs, outputs = self.graphs[name]
        wanted = outputs[0] if len(outputs) == 1 else outputs
        self[name] = pytensor.function(inputs, wanted, on_unused_input="ignore")
        return self[name]


def derivatives(model: Any, duels: "Duels") -> Derivatives:
    """Return compiled derivatives of score model `model` on `duels` (compiled once a model)."""
    compiled, extras, hypers = _compile(model)
    return Derivatives(compiled, model.data(duels), duels.n_arms, extras, hypers)


@lru_cache(maxsize=64)
def _compile(model: Any) -> tuple["Compiled", tuple[str, ...], tuple[str, ...]]:
    """Compile the derivatives of `model`, built on an example log."""
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor.graph.replace import graph_replace

    from bayesduel.data.duels import Duels

    tie = np.ones((3, 3)) - np.eye(3)
    by_margins = Duels.from_votes("001", "122", [1, 1, 0], margin=[1.0, 2.0, -2.0])
    built = model.build(by_margins if model.link == "margin" else Duels.from_wins(tie, ties=tie))
    value_of = built.rvs_to_values
    outcome = built["outcome"]
    eta = next(v for v in outcome.owner.inputs if v.name == "eta")
    roles = {rv.name: rv for rv in built.free_RVs}
    hypers = getattr(model, "hypers", ("scale",) if "scale" in roles else ())
    extras = tuple(n for n in roles if n not in ("score_free", *hypers))

    free, extra, hyper = pt.dvector("free"), pt.dvector("extra"), pt.dvector("hyper")
    free_value = value_of[roles["score_free"]]
    swap: dict[Any, Any] = {free_value: free}
    for place, name in enumerate(extras):
        swap[value_of[roles[name]]] = extra[place]
    for place, name in enumerate(hypers):  # one by arm comes last
        by_arm = name in built.named_vars_to_dims
        swap[value_of[roles[name]]] = hyper[place:] if by_arm else hyper[place]
    inputs = []
    for shared in built.data_vars:
        data = shared.type(f"{shared.name}_input")
        inputs.append(data)
        swap[shared] = data
    # Shapes taken from the example's dims become those of the inputs.
    lengths = {"free": free.shape[0], "arm": free.shape[0] + 1, "opponent": free.shape[0] + 1}
    lengths["cell"] = swap[built["n"]].shape[0]
    for dim, length in lengths.items():
        swap[built.dim_lengths[dim]] = length.astype(built.dim_lengths[dim].dtype)

    at = pt.dvector("eta_at")
    terms = pm.logp(outcome, value_of[outcome])
    terms_at = graph_replace([terms], {eta: at})[0]
    total, terms, terms_at, eta_of = _replace(
        [built.logp(), *built.replace_rvs_by_values([terms, terms_at, eta])], swap
    )
    prior = total - terms.sum()

    def curve(expression: Any, *wrt: Any) -> Any:
        return pt.grad(expression, wrt[0], disconnected_inputs="ignore")

    slope = curve(terms_at.sum(), at)
    bend = curve(slope.sum(), at)
    gradient = pt.concatenate([curve(total, free), curve(total, extra)])
    prior_bend = pt.concatenate(
        [curve(curve(prior, free).sum(), free), curve(curve(prior, extra).sum(), extra)]
    )
    unit = np.eye(len(extras))
    pull = curve(terms_at.sum(), extra)
    rows = range(len(extras))
    # One column a parameter: how each cell's slope in eta, its term, and the sum of all move.
    cross = _stack([curve(pull[k], at) for k in rows], axis=1)
    own = _stack([curve(pull[k], extra) for k in rows], axis=0)
    by_extra = _stack([_along(terms_at, extra, unit[k]) for k in rows], axis=1)
    outputs = {
        "value": [total],
        "cells": [total, terms],
        "slopes": [slope, by_extra],
        "parts": [total, gradient, bend, cross, own, prior_bend],
        "eta": [at],
        "reach": [_stack([_along(eta_of, extra, unit[k]) for k in rows], axis=1)],
    }
    given = [free, extra, hyper, *inputs]
    functions = {name: (given, _replace(wanted, {at: eta_of})) for name, wanted in outputs.items()}
    functions["curves"] = [at, extra, hyper, *inputs], [slope, bend]
    return Compiled(functions), extras, hypers


def _along(expression: Any, extra: Any, tangent: np.ndarray) -> Any:
    """Return how `expression` moves when `extra` moves along `tangent`."""
    import pytensor.tensor as pt
    from pytensor.gradient import pushforward

    connected = expression + 0.0 * extra.sum()  # an expression need not depend on it
    return pushforward(connected, extra, pt.as_tensor(tangent))


def _stack(columns: list[Any], axis: int) -> Any:
    import pytensor.tensor as pt

    return pt.stack(columns, axis=axis) if columns else pt.zeros((0, 0))


def _replace(graphs: Sequence[Any], swap: Mapping[Any, Any]) -> list[Any]:
    from pytensor.graph.replace import graph_replace

    return list(graph_replace(list(graphs), dict(swap), strict=False))
