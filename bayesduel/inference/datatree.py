"""The DataTree of a fit: draws, observations and design, under ArviZ's names."""

import json
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesduel
from bayesduel.inference.accessor import SAMPLED
from bayesduel.inference.draws import PosteriorDraws
from bayesduel.inference.prior import log_priors, prior_words
from bayesduel.models.settings import Arrays
from bayesduel.system.memory import TABLE_ARMS

__all__ = [
    "BY_CELL",
    "Fit",
    "answer_by",
    "dataset",
    "datatree",
    "observed",
    "restored",
    "with_preference",
]

# Group of the log likelihood of cells of several duels: ArviZ would take each for one observation.
BY_CELL = "log_likelihood_by_cell"
PREFERENCE = "preference"  # group of draws of P
PREFERENCE_BYTES = 64 * 2**20
LEFT_OUT = "left_out"  # attribute of a file: the group that is made again
SQUARE = ("arm", "opponent")


class Fit(xr.DataTree):
    """A fit: the tree of its groups, which prints as :func:`bayesduel.summary` of it."""

    __slots__ = ()

    def __repr__(self) -> str:  # type: ignore[override]  # of a node's name, with a level
        if self._whole:
            return repr(bayesduel.summary(self))
        return str(super().__repr__())

    __str__ = __repr__

    def _repr_html_(self) -> str:
        groups = str(super()._repr_html_())  # type: ignore[no-untyped-call]
        if not self._whole:
            return groups
        tree = f"<details><summary>All groups</summary>{groups}</details>"
        summary = bayesduel.summary(self)
        return f"{summary._repr_html_()}{tree}"

    def to_netcdf(self, *args: Any, **options: Any) -> Any:
        """Write the fit without draws of P: `bayesduel.load` makes them from the others."""
        return xr.DataTree.to_netcdf(self._stored(), *args, **options)

    def to_zarr(self, *args: Any, **options: Any) -> Any:
        """Write the fit without draws of P: `bayesduel.load` makes them from the others."""
        return xr.DataTree.to_zarr(self._stored(), *args, **options)

    def _stored(self) -> xr.DataTree:
        """Return what a file keeps: of 45 arms, P is 65 of 79 MB."""
        if not self._whole or PREFERENCE not in self.children:
            return self
        kept = self.drop_nodes(PREFERENCE)
        kept.attrs[LEFT_OUT] = PREFERENCE
        return kept

    @property
    def _whole(self) -> bool:
        """Whether this is a fit, and not one of its groups or what was made of it."""
        return "model" in self.attrs and "posterior" in self.children


def datatree(
    model: Any,
    cells: Any,
    drawn: PosteriorDraws,
    layout: tuple[int, int],
    attrs: Mapping[str, Any],
) -> xr.DataTree:
    """Return the tree of a fit of a model to cells, by draws of its posterior.

    `layout` is the number of chains, and of draws of each.
    """
    dims = model.dims | {"score": ("arm",), "strength": ("arm",)}
    found = {}
    own_dims: dict[str, tuple[str, ...]] = {}
    for name, values in drawn.posterior.items():
        if name == "preference":  # draws of P are a group of their own
            continue
        own = dims.get(name, ())
        if values.ndim - 1 != len(own):
            raise ValueError(
                f"dims of {model.name} should name the dimensions of {name!r} (dims of "
                f"its term), got {own} for the shape {values.shape[1:]}"
            )
        found[name] = values
        own_dims[name] = own
    log = cells.log
    n_chains, n_draws = layout
    sampling = {"chain": np.arange(n_chains), "draw": np.arange(n_draws)}

    def laid(values: np.ndarray, *names: str) -> tuple[tuple[str, ...], np.ndarray]:
        own_shape = values.shape[1:]
        shaped = values.reshape(*layout, *own_shape)
        dims = ("chain", "draw", *names)
        return dims, shaped

    arms = np.array(log.arms, dtype=object)
    # Arrays of two dimensions first: ArviZ stacks entries in the order in which dimensions appear,
    # and names them in the order of each array's own. Of several such arrays one is named rightly.
    in_order = sorted(found, key=lambda name: len(own_dims[name]) < 2)
    posterior = {}
    axes: set[str] = set()
    for name in in_order:
        own = own_dims[name]
        posterior[name] = laid(found[name], *own)
        axes.update(own)
    coords = sampling | _labels(model, log, arms, axes)
    statistics = {}
    for name, values in drawn.stats.items():
        statistics[name] = laid(values)
    groups = {
        "posterior": dataset(posterior, coords=coords),
        "sample_stats": dataset(statistics, coords=sampling),
        **observed(model, cells, arms),
    }
    priors = log_priors(model, drawn.posterior, cells)
    if priors:
        laid_out = {name: laid(values) for name, values in priors.items()}
        groups["log_prior"] = dataset(laid_out, coords=sampling)
    if drawn.log_likelihood is not None:
        if model.log_type == "rankings":  # one observation each
            changes = np.diff(log.choices.ranking, prepend=-1)
            begin = np.flatnonzero(changes)
            summed = np.add.reduceat(drawn.log_likelihood, begin, axis=1)
            by_ranking = {"place": laid(summed, "ranking")}
            groups["log_likelihood"] = dataset(by_ranking, coords=sampling)
        else:
            by_cell = {"outcome": laid(drawn.log_likelihood, "cell")}
            groups[BY_CELL] = dataset(by_cell, coords=sampling)
    if drawn.extra:
        of_mode = ("arm", "opponent", "attribute")
        kept = {name: coords[name] for name in of_mode if name in coords}
        groups["laplace"] = dataset(drawn.extra, coords=kept)
    if model.terms.items is not None:
        groups["items"] = model.terms.items.to_dataset()
    tree = Fit.from_dict(groups)
    tree.attrs.update(attrs)
    words = {}
    rows = prior_words(model, cells)
    for name, (prior, _) in rows.items():
        if prior:
            words[name] = prior
    tree.attrs["priors"] = json.dumps(words)
    libraries = {"nuts": "nutpie", "pymc": "pymc"}
    library = libraries.get(attrs["method"], "bayesduel")
    for name in ("posterior", "sample_stats"):
        tree[name].attrs["inference_library"] = library
    tree["posterior"].attrs["covariance"] = "model"
    return tree


def _labels(model: Any, log: Any, arms: np.ndarray, axes: set[str]) -> dict[str, Any]:
    """Return the labels of arms and of further axes of parameters, by name."""
    found: dict[str, Any] = {"arm": arms}
    if model.log_type != "pulls":
        found["opponent"] = arms
    if "pair" in axes:
        first, second = np.triu_indices(len(arms), 1)
        found["pair_first"] = ("pair", arms[first])
        found["pair_second"] = ("pair", arms[second])
    for name, values in model.terms.coords(log).items():
        if name not in axes:
            continue
        labels = np.asarray(values)
        are_texts = isinstance(labels.flat[0], str)
        kind = object if are_texts else None
        found[name] = np.array(values, dtype=kind)
    return found


def answer_by(tree: xr.DataTree, covariance: str, averaged: Mapping[str, Any]) -> None:
    """Put the draws that every answer is read from into the group ``posterior`` of a fit.

    Those of a cluster-robust covariance, with scores averaged over levels by weights: `averaged`
    has them, (levels,), by the name of a term's deviations. The draws of the sampler stand in the
    group ``posterior_sampled`` where they are others.
    """
    sampled = tree.duel.sampled
    weights = {}
    for name, own in averaged.items():
        weights[name] = [float(weight) for weight in own]
    tree.attrs["averaged_over"] = json.dumps(weights)
    if covariance == "model" and not averaged:
        return
    answer = sampled.copy()
    made = tree.duel.made(covariance)
    for name, values in made.items():
        if name in sampled:
            own = sampled[name]
            answer[name] = (own.dims, values.reshape(own.shape))
    answer.attrs["covariance"] = covariance
    tree[SAMPLED] = xr.DataTree(sampled)
    tree["posterior"] = xr.DataTree(answer)


def restored(tree: xr.DataTree, model: Any) -> xr.DataTree:
    """Return a fit that was read from a file with the group that the file leaves out."""
    if tree.attrs.pop(LEFT_OUT, None) is None:
        return tree
    return with_preference(tree, model)


def with_preference(tree: xr.DataTree, model: Any) -> xr.DataTree:
    """Return a fit with the group ``preference``, draws of P, where these fit into 64 MB.

    They are apart from the parameters: their diagonal is constant, which has no R-hat.
    """
    posterior = tree["posterior"].dataset
    sizes = posterior.sizes
    n_arms = sizes["arm"]
    shape = (sizes["chain"], sizes["draw"], n_arms, n_arms)
    n_bytes = prod(shape) * 8
    if n_bytes > PREFERENCE_BYTES:
        return tree
    P = model.preference(tree.duel.posterior())
    names = ("chain", "draw", *SQUARE)
    coords = {}
    for name in names:
        coords[name] = posterior[name].values
    matrix = (names, P.reshape(shape))
    group = dataset({"preference": matrix}, coords=coords)
    tree[PREFERENCE] = xr.DataTree(group)
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
            kind = object if values.dtype == object else None
            values = pd.Index(values, dtype=kind)
        return xr.Variable(dims, values, fastpath=True)

    def each(given: Mapping[str, Any]) -> dict[str, xr.Variable]:
        return {name: variable(name, own) for name, own in given.items()}

    return xr.Dataset(each(variables), each(coords or {}), attrs)


def observed(model: Any, cells: Any, arms: np.ndarray) -> dict[str, xr.Dataset]:
    """Return what was observed in each cell (of margins: in each vote), and its design."""
    data = cells.data
    log = cells.log
    if model.log_type == "pulls":
        return {
            "observed_data": dataset({"outcome": ("cell", log.successes)}),
            "constant_data": dataset({"n": ("cell", log.n)}),
        }
    if model.log_type == "rankings":
        return _observed_rankings(log, data, arms)
    cell: dict[str, Any] = {}
    for name, column in cells.seen.columns.items():
        if name == "left_first":
            continue
        more_axes = ("covariate",) * (column.ndim - 1)
        own_dims = ("cell", *more_axes)
        cell[name] = (own_dims, column)
    counts = cells.seen.counts
    square = {}
    if log.teams is not None:
        square["members"] = (("side", "seat"), log.teams.members)
    if len(arms) <= TABLE_ARMS:
        wins, ties = log.tally("keep")
        square |= {"wins": (SQUARE, wins), "ties": (SQUARE, ties)}
    of_margins = model.response.outcome == "margin"
    by_side = model.terms.reads_order and not of_margins
    # Who was left is not in the matrices, nor who was on which side with whom.
    if by_side or "wins" not in square or log.teams is not None:
        names = ("first_wins", "second_wins", "cell_ties")
        for k, name in enumerate(names):
            cell[name] = ("cell", counts[:, k])
    if of_margins:
        votes = log.votes
        by_vote = {
            "left": votes.left,
            "right": votes.right,
            "weight": votes.weight,
        }
        observed: dict[str, Any] = {"margin": ("vote", votes.margin)}
        cell["n"] = ("cell", data["n"])
        by_vote |= model.terms.columns(log)
        dims = ("vote", "covariate")
        for name, values in by_vote.items():
            own = dims[: np.ndim(values)]
            cell[f"vote_{name}"] = (own, values)
    else:
        kind = np.int64 if log.plain else float
        n = counts.sum(axis=1)
        cell["n"] = ("cell", n.astype(kind))
        if "counts" in data:
            of_results = data["counts"].astype(kind)
            observed = {"outcome": (("cell", "result"), of_results)}
        else:
            half_ties = counts[:, 2] / 2
            points = counts[:, 0] + half_ties
            observed = {"outcome": ("cell", points)}
    coords = {"arm": arms, "opponent": arms}
    return {
        "observed_data": dataset(observed),
        "constant_data": dataset(cell | square, coords=coords),
    }


def _observed_rankings(log: Any, data: Arrays, arms: np.ndarray) -> dict[str, xr.Dataset]:
    """Return the places of rankings, and who was in them."""
    known: dict[str, Any] = {
        "ranking_of_entry": ("entry", log.ranking),
        "arm_of_entry": ("entry", log.arm),
    }
    for name in ("first", "second", "n"):
        known[name] = ("cell", data[name])
    known["weight"] = ("ranking", log.weight)
    return {
        "observed_data": dataset({"place": ("entry", log.place)}),
        "constant_data": dataset(known, coords={"arm": arms}),
    }
