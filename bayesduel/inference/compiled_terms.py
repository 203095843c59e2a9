"""Compiled functions of a model's density, taken from its ``pm.Model``.

The density of a model is a sum of a prior and of the log likelihoods of cells, each of which
depends on the parameters through its linear predictor ``eta`` and a few parameters of the
response. Every method of inference needs no more than these terms and their derivatives in
``eta``; no likelihood is written twice. The data are inputs of the compiled functions, so one
compilation serves every log. The batched functions take many draws at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bayesduel.system.cache_folder import keep_generated_source
from bayesduel.system.threads import one_at_a_time

__all__ = ["CompiledTerms", "compiled_terms"]


@dataclass(frozen=True, eq=False)
class CompiledTerms:
    """Functions of one form of model, each compiled when it is first asked for.

    Attributes
    ----------
    functions
        By name. ``eta`` of (*linear blocks, *data). ``density`` of (eta, *blocks, *hypers, *data),
        batched over draws: log prior and log likelihood of each cell. ``derivatives`` of the same,
        one draw: log prior, log likelihood, slope and second derivative of each cell in eta,
        slope of each cell in each of the own parameters, how slopes in eta move with them, second
        derivatives of the sum in them; gradient and (diagonal) second derivatives of the prior.
    linear
        Blocks of parameters that enter eta, and the dimension of each (None: a number).
    own
        Parameters of the response that are numbers and enter the likelihood beside eta.
    hypers
        Learned positive parameters, taken on the log scale, and the dimension of each.
    data
        Names of the arrays that the functions take.
    """

    functions: Mapping[str, Any]
    linear: Mapping[str, str | None]
    own: tuple[str, ...]
    hypers: Mapping[str, str | None]
    data: tuple[str, ...]


class _Lazy(dict[str, Any]):
    """Functions by name, each compiled when it is first asked for."""

    def __init__(self, graphs: Mapping[str, Callable[[], tuple[list[Any], list[Any]]]]) -> None:
        super().__init__()
        self.graphs = graphs

    @one_at_a_time
    def __missing__(self, name: str) -> Any:
        """Compile the function of that name; a single output stands alone."""
        import pytensor

        keep_generated_source()
        inputs, outputs = self.graphs[name]()
        wanted = outputs[0] if len(outputs) == 1 else outputs
        # The predictor is asked for a few times a log: that is not worth compiling.
        none: Any = None  # documented, though not typed so
        mode = pytensor.compile.Mode(linker="py", optimizer=none) if name == "eta" else None
        self[name] = one_at_a_time(
            pytensor.function(inputs, wanted, on_unused_input="ignore", trust_input=True, mode=mode)
        )
        return self[name]


@one_at_a_time
def compiled_terms(model: Any) -> CompiledTerms:
    """Return the compiled functions of a model, compiled once a form of model."""
    return _compiled(model.of_example())


@lru_cache(maxsize=64)
def _compiled(model: Any) -> CompiledTerms:
    """Compile the functions of an example model."""
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor.graph.replace import graph_replace, vectorize_graph
    from pytensor.graph.traversal import ancestors

    log = model.example()[1]
    cells = model.cells(log)
    built = model.build(cells)
    value_of, outcome = built.rvs_to_values, built["outcome"]
    eta_of = next(v for v in outcome.owner.inputs if v.name == "eta")
    behind = set(ancestors([eta_of]))
    hyper_names = tuple(model.hypers)
    free = {rv.name: rv for rv in built.free_RVs}

    def dim(rv: Any) -> str | None:
        dims = built.named_vars_to_dims.get(rv.name)
        return dims[0] if dims else None

    linear = {n: dim(rv) for n, rv in free.items() if n not in hyper_names and rv in behind}
    own = tuple(n for n in free if n not in hyper_names and n not in linear)
    hypers = {n: dim(free[n]) for n in hyper_names}

    inputs: dict[str, Any] = {}
    swap: dict[Any, Any] = {}
    for name in (*linear, *own, *hypers):
        by = {**linear, **hypers}.get(name)
        inputs[name] = (pt.dvector if by else pt.dscalar)(name)
        swap[value_of[free[name]]] = inputs[name]
    data: dict[str, Any] = {}
    for shared in built.data_vars:
        data[shared.name] = swap[shared] = shared.type(f"{shared.name}_input")
    arrays = [data[name] for name in cells.data]
    # Shapes taken from the example's dims become those of the inputs.
    lengths = {"cell": data["n"].shape[0]}
    lengths |= {by: inputs[n].shape[0] for n, by in {**linear, **hypers}.items() if by}
    if "free" in lengths:
        lengths |= {"arm": lengths["free"] + 1, "opponent": lengths["free"] + 1}
    if "table" in data:
        lengths |= {"arm": data["table"].shape[0], "attribute": data["table"].shape[1]}
    for name, length in lengths.items():
        if name in built.dim_lengths:
            swap[built.dim_lengths[name]] = length.astype(built.dim_lengths[name].dtype)

    def replaced(graphs: Sequence[Any]) -> list[Any]:
        return list(graph_replace(list(graphs), swap, strict=False))

    at: Any = pt.dvector("eta_at")
    terms = pm.logp(outcome, value_of[outcome])
    terms = graph_replace([terms], {eta_of: at})[0]
    terms, eta = replaced(built.replace_rvs_by_values([terms, eta_of]))
    prior = replaced([built.logp(vars=[*built.free_RVs, *built.potentials])])[0]
    blocks = [inputs[n] for n in (*linear, *own)]
    over = [inputs[n] for n in hypers]
    beside = [inputs[n] for n in own]

    def density() -> tuple[list[Any], list[Any]]:
        given = [at, *blocks, *over]
        many: dict[Any, Any] = {
            v: (pt.dmatrix if v.type.ndim == 1 else pt.dvector)(f"{v.name}_batch") for v in given
        }
        return [*many.values(), *arrays], [vectorize_graph(g, many) for g in (prior, terms)]

    def derivatives() -> tuple[list[Any], list[Any]]:
        slope = _grad(terms.sum(), at)
        bend = _grad(slope.sum(), at)
        pull = [_grad(terms.sum(), v) for v in beside]
        n, none = len(beside), pt.zeros((at.shape[0], 0))
        # Parameters do not touch in the prior: its Hessian is diagonal.
        push = [_grad(prior, v) for v in blocks]
        stiff = [_grad(p.sum(), v) for p, v in zip(push, blocks, strict=True)]
        return [at, *blocks, *over, *arrays], [
            prior,
            terms,
            slope,
            bend,
            pt.stack([_along(terms, v) for v in beside], axis=1) if n else none,
            pt.stack([_grad(p, at) for p in pull], axis=1) if n else none,
            pt.stack([_grad(p, v) for p in pull for v in beside]).reshape((n, n))
            if n
            else pt.zeros((0, 0)),
            *(pt.concatenate([pt.atleast_1d(p) for p in part]) for part in (push, stiff)),
        ]

    graphs = {
        "eta": lambda: ([*(inputs[n] for n in linear), *arrays], [eta]),
        "density": density,
        "derivatives": derivatives,
    }
    return CompiledTerms(_Lazy(graphs), linear, own, hypers, tuple(cells.data))


# -- in calling order ----------------------------------------------------------------------


def _grad(expression: Any, wrt: Any) -> Any:
    import pytensor.tensor as pt

    return pt.grad(expression, wrt, disconnected_inputs="ignore")


def _along(terms: Any, number: Any) -> Any:
    """Return the derivative of each term in one number, (cells,)."""
    import pytensor.tensor as pt
    from pytensor.gradient import pushforward

    connected = terms + 0.0 * number
    return pushforward(connected, number, pt.as_tensor(1.0))
