"""The DataTree of a fit: draws, observations and design, under ArviZ's names."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesduel.inference.accessor  # noqa: F401 - every fit has it
from bayesduel.inference.draws import PosteriorDraws
from bayesduel.inference.prior import log_priors
from bayesduel.system.memory import TABLE_ARMS

__all__ = ["dataset", "datatree"]

PREFERENCE_BYTES = 64 * 2**20
SQUARE = ("arm", "opponent")


def datatree(
    model: Any,
    cells: Any,
    drawn: PosteriorDraws,
    layout: tuple[int, int],
    attrs: Mapping[str, Any],
    preference: bool = True,
) -> xr.DataTree:
    """Return the tree of a fit of a model to cells, by draws of its posterior.

    `layout` is the number of chains, and of draws of each. Draws of the preference matrix are kept
    where they fit and `preference` asks for them.
    """
    dims = model.dims | {"score": ("arm",), "strength": ("arm",)}
    found = {n: v for n, v in drawn.posterior.items() if n != "preference"}  # a group of its own
    for name, values in found.items():
        if values.ndim - 1 != len(dims.get(name, ())):
            raise ValueError(
                f"dims of {model.name} should name the dimensions of {name!r} (dims of "
                f"its term), got {dims.get(name, ())} for the shape {values.shape[1:]}"
            )
    log, sampling = cells.log, {"chain": np.arange(layout[0]), "draw": np.arange(layout[1])}

    def laid(values: np.ndarray, *names: str) -> tuple[tuple[str, ...], np.ndarray]:
        return ("chain", "draw", *names), values.reshape(*layout, *values.shape[1:])

    arms = np.array(log.arms, dtype=object)
    # Arrays of two dimensions first: ArviZ stacks entries in the order in which dimensions appear,
    # and names them in the order of each array's own. Of several such arrays one is named rightly.
    names = sorted(found, key=lambda n: len(dims.get(n, ())) < 2)
    posterior = {n: laid(found[n], *dims.get(n, ())) for n in names}
    of_duels = model.log_type != "pulls"
    coords: dict[str, Any] = {**sampling, "arm": arms}
    if of_duels:
        coords["opponent"] = arms
    used = {d for names, _ in posterior.values() for d in names}
    if "pair" in used:
        first, second = np.triu_indices(len(arms), 1)
        coords |= {"pair_first": ("pair", arms[first]), "pair_second": ("pair", arms[second])}
    for name, values in model.terms.coords(log).items():
        if name in used:
            text = isinstance(np.asarray(values).flat[0], str)
            coords[name] = np.array(values, dtype=object if text else None)
    groups = {
        "posterior": dataset(posterior, coords=coords),
        "sample_stats": dataset({n: laid(v) for n, v in drawn.stats.items()}, coords=sampling),
        **_observed(model, cells, arms),
    }
    priors = log_priors(model, drawn.posterior, cells)
    if priors:
        laid_out = {name: laid(values) for name, values in priors.items()}
        groups["log_prior"] = dataset(laid_out, coords=sampling)
    if drawn.log_likelihood is not None:
        groups["log_likelihood"] = dataset(
            {"outcome": laid(drawn.log_likelihood, "cell")}, coords=sampling
        )
        if model.log_type == "rankings":  # one observation each
            start = np.flatnonzero(np.diff(log.choices.ranking, prepend=-1))
            whole = laid(np.add.reduceat(drawn.log_likelihood, start, axis=1), "ranking")
            groups["log_likelihood"] = dataset({"place": whole}, coords=sampling)
    if preference and of_duels and layout[0] * layout[1] * len(arms) ** 2 * 8 <= PREFERENCE_BYTES:
        # Apart from the parameters: its diagonal is constant, which has no R-hat.
        square = {n: coords[n] for n in ("chain", "draw", *SQUARE)}
        matrix = laid(model.preference(drawn.posterior), *SQUARE)
        groups["preference"] = dataset({"preference": matrix}, coords=square)
    if drawn.extra:
        kept = {n: v for n, v in coords.items() if n in ("arm", "opponent", "attribute")}
        groups["laplace"] = dataset(drawn.extra, coords=kept)
    if model.terms.items is not None:
        groups["items"] = model.terms.items.to_dataset()
    tree = xr.DataTree.from_dict(groups)
    tree.attrs.update(attrs)
    for name in ("posterior", "sample_stats"):
        library = {"nuts": "nutpie", "pymc": "pymc"}.get(attrs["method"], "bayesduel")
        tree[name].attrs["inference_library"] = library
    return tree


def dataset(
    variables: Mapping[str, tuple[Any, Any]],
    coords: Mapping[str, Any] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Return a dataset of NumPy arrays, which xarray need not look at.

    It would import Dask, where that is installed, to see whether an array is one of Dask's.
    """

    def variable(name: str, given: Any) -> xr.Variable:
        dims, values = given if isinstance(given, tuple) else (name, given)
        values = np.asarray(values)
        if dims == name:  # the index of a dimension
            values = pd.Index(values, dtype=object if values.dtype == object else None)
        return xr.Variable(dims, values, fastpath=True)

    return xr.Dataset(
        {name: variable(name, given) for name, given in variables.items()},
        {name: variable(name, given) for name, given in (coords or {}).items()},
        attrs,
    )


def _observed(model: Any, cells: Any, arms: np.ndarray) -> dict[str, xr.Dataset]:
    """Return what was observed in each cell (of margins: in each vote), and its design."""
    data, log = cells.data, cells.log
    if model.log_type == "pulls":
        return {
            "observed_data": dataset({"outcome": ("cell", log.successes)}),
            "constant_data": dataset({"n": ("cell", log.n)}),
        }
    if model.log_type == "rankings":
        by_entry = {"ranking_of_entry": log.ranking, "arm_of_entry": log.arm}
        known: dict[str, Any] = {name: ("entry", column) for name, column in by_entry.items()}
        known |= {name: ("cell", data[name]) for name in ("first", "second", "n")}
        known["weight"] = ("ranking", log.weight)
        return {
            "observed_data": dataset({"place": ("entry", log.place)}),
            "constant_data": dataset(known, coords={"arm": arms}),
        }
    cell: dict[str, Any] = {
        name: (("cell", *("covariate",) * (column.ndim - 1)), column)
        for name, column in cells.seen.columns.items()
        if name != "left_first"
    }
    counts, square = cells.seen.counts, {}
    if log.teams is not None:
        square["members"] = (("side", "seat"), log.teams.members)
    if len(arms) <= TABLE_ARMS:
        wins, ties = log.tally("keep")
        square |= {"wins": (SQUARE, wins), "ties": (SQUARE, ties)}
    by_side = model.terms.reads_order and model.response.outcome != "margin"
    # Who was left is not in the matrices, nor who was on which side with whom.
    if by_side or "wins" not in square or log.teams is not None:
        for k, name in enumerate(("first_wins", "second_wins", "cell_ties")):
            cell[name] = ("cell", counts[:, k])
    if model.response.outcome == "margin":
        votes = log.votes
        by_vote = {"left": votes.left, "right": votes.right, "weight": votes.weight}
        observed: dict[str, Any] = {"margin": ("vote", votes.margin)}
        cell["n"] = ("cell", data["n"])
        by_vote |= model.terms.columns(log)
        dims = ("vote", "covariate")
        cell |= {f"vote_{n}": (dims[: np.ndim(v)], v) for n, v in by_vote.items()}
    else:
        kind = np.int64 if log.plain else float
        cell["n"] = (("cell",), counts.sum(axis=1).astype(kind))
        if "counts" in data:
            observed = {"outcome": (("cell", "result"), data["counts"].astype(kind))}
        else:
            observed = {"outcome": ("cell", counts[:, 0] + counts[:, 2] / 2)}
    constant = dataset({**cell, **square}, coords={"arm": arms, "opponent": arms})
    return {"observed_data": dataset(observed), "constant_data": constant}
