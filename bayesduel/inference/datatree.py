"""The tree of a fit, out of sampled parameters."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesduel.models.cells import tallied

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels
    from bayesduel.inference.draws import Sampled

__all__ = ["assemble"]

PREFERENCE_BYTES = 64 * 2**20


def assemble(
    duels: "Duels",
    model: Any,
    sampled: "Sampled",
    per_chain: int,
    chains: int,
    attrs: Mapping[str, Any],
) -> xr.DataTree:
    """Return the tree of a fit."""
    arms = np.array(duels.arms, dtype=object)
    dims = {"score": ("arm",), "theta": ("pair",), "effect": ("arm",)}
    dims |= {"coefficient": ("attribute",), "strength": ("arm",)} | getattr(model, "dims", {})
    layout = (chains, per_chain)
    sampling = {"chain": np.arange(chains), "draw": np.arange(per_chain)}

    def laid(values: np.ndarray, *names: str) -> tuple[tuple[str, ...], np.ndarray]:
        return ("chain", "draw", *names), values.reshape(*layout, *values.shape[1:])

    posterior = {n: laid(v, *dims.get(n, ())) for n, v in sampled.posterior.items()}
    if chains * per_chain * duels.n_arms**2 * 8 <= PREFERENCE_BYTES:
        matrix = model.preference(sampled.posterior)
        posterior["preference"] = laid(matrix, "arm", "opponent")
    coords: dict[str, Any] = {**sampling, "arm": arms, "opponent": arms}
    if "coefficient" in posterior:
        coords["attribute"] = np.array(model.items.names, dtype=object)
    if any("pair" in dims.get(name, ()) for name in posterior):
        first, second = np.triu_indices(duels.n_arms, 1)
        coords |= {"pair_first": ("pair", arms[first]), "pair_second": ("pair", arms[second])}
    if hasattr(model, "coords"):
        used = {dim for names in model.dims.values() for dim in names}
        for name, values in model.coords(duels).items():
            if name in used:
                coords[name] = np.array(values, dtype=object if name == "judge" else None)
    wins, ties = duels.tally("keep")
    observed, cell = _observed(model, duels)
    square = ("arm", "opponent")
    groups = {
        "posterior": xr.Dataset(posterior, coords=coords),
        "sample_stats": xr.Dataset({n: laid(v) for n, v in sampled.stats.items()}, coords=sampling),
        "observed_data": xr.Dataset(observed),
        "constant_data": xr.Dataset(
            {
                **cell,
                "wins": (square, wins),
                "ties": (square, ties),
            },
            coords={"arm": arms, "opponent": arms},
        ),
    }
    if sampled.log_likelihood is not None:
        groups["log_likelihood"] = xr.Dataset(
            {"outcome": laid(sampled.log_likelihood, "cell")}, coords=sampling
        )
    if sampled.extra:
        kept = {n: v for n, v in coords.items() if n in ("arm", "opponent", "attribute")}
        groups["laplace"] = xr.Dataset(sampled.extra, coords=kept)
    tree = xr.DataTree.from_dict(groups)
    tree.attrs.update(attrs)
    for name in ("posterior", "sample_stats"):
        tree[name].attrs["inference_library"] = (
            "nutpie" if attrs["method"] == "nuts" else "bayesduel"
        )
    return tree


def _observed(model: Any, duels: "Duels") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what was observed in each cell (of margins: in each vote), and its design."""
    if model.link == "margin":
        data, votes = model.data(duels), duels.votes
        assert votes is not None
        by_vote = {"left": votes.left, "right": votes.right, "weight": votes.weight}
        cell = {name: ("cell", data[name]) for name in ("first", "second", "n")}
        cell |= {f"vote_{name}": ("vote", value) for name, value in by_vote.items()}
        return {"margin": ("vote", votes.margin)}, cell
    seen = model.seen(duels) if hasattr(model, "seen") else tallied(duels)
    cell = {name: ("cell", c) for name, c in seen.cells.items() if name != "left_first"}
    cell["n"] = ("cell", seen.counts.sum(axis=1).astype(np.int64))
    if model.tie_outcome:
        return {"outcome": (("cell", "result"), seen.counts.astype(np.int64))}, cell
    return {"outcome": ("cell", seen.counts[:, 0] + seen.counts[:, 2] / 2)}, cell
