"""Draws of a model's ``pm.Model``, sampled anywhere, as a fit like any other."""

from typing import Any

import numpy as np
import xarray as xr

from bayesduel.data.read.duels import log_in
from bayesduel.inference.default_model import choose_model
from bayesduel.inference.draws import chains_joined
from bayesduel.inference.fit import Sampled, keeps_likelihood, tree_of, uncertified
from bayesduel.inference.nuts import INNER, STATISTICS, completed, variable_names
from bayesduel.system.arguments import check_flag, shown_value, whole
from bayesduel.text import join

__all__ = ["from_pymc"]

LEFT_OUT = ("preference", "eta")  # what a fit derives from the other variables
SAMPLING = ("chain", "draw")


def from_pymc(
    idata: Any, model: Any, duels: Any, *, seed: int = 0, clusters: bool = True
) -> xr.DataTree:
    """Return the fit of draws of a model's ``pm.Model``: ``model.build(duels)``.

    The model may be changed before it is sampled: by ``pm.Potential`` (what else is known),
    deterministic variables, another sampler, ``pm.do``. What has to stay are the names and the
    dimensions of its variables. What a fit derives (winners, predictions, log likelihoods) is that
    of `model` at the draws.

    Parameters
    ----------
    idata
        What ``pm.sample`` or another sampler returned: a tree, or InferenceData, with a group
        ``posterior`` whose variables have the dimensions chain and draw. Variables that the model
        does not have are left out.
    model
        The model, or its name, that was built.
    duels
        The log of which it was built.
    seed
        Of what the likelihood integrates out, which is drawn here.
    clusters
        As in :func:`bayesduel.fit`.

    Returns
    -------
    A tree as of :func:`bayesduel.fit`, whose method is "pymc".

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; if a variable of the model is missing or its dimensions
        or labels are others; if draws are not finite, or a chain has not moved.

    Warns
    -----
    UncertifiedWarning
        If chains disagree.

    Examples
    --------
    >>> duels, model = bd.datasets.load("tennis1990"), bd.models.BradleyTerry()
    >>> with model.build(duels):  # doctest: +SKIP
    ...     idata = pm.sample()
    >>> bd.winners(bd.from_pymc(idata, model, duels))  # doctest: +SKIP
    """
    log: Any = log_in(duels)
    seed = whole(seed, "seed", 0)
    check_flag(clusters, "clusters")
    asked = choose_model(model, log).model
    settled = asked.settled(log)
    settled.check(log)
    cells = settled.cells(log)
    given = _group(idata, "posterior")
    if given is None:
        raise TypeError(
            "idata should be what a sampler of PyMC returned, with a group posterior, "
            f"got {shown_value(idata)}"
        )
    found = _variables(given, settled.build(cells))
    chains = int(given.sizes["chain"])
    n = chains * int(given.sizes["draw"])
    stats = _statistics(_group(idata, "sample_stats"), n)
    layout = (chains, n // chains)
    drawn = completed(
        settled,
        cells,
        found,
        stats,
        chains=chains,
        seed=seed,
        log_likelihood=keeps_likelihood(layout, cells),
    )
    reason = "drawn from its pm.Model"
    if not drawn.certificate.holds:
        reason += f"; {uncertified('the draws', drawn.certificate)}"
    made = Sampled(settled, asked, (), cells, layout, drawn, "pymc", reason)
    return tree_of(made, log, seed=seed, clusters=clusters)


def _group(idata: Any, name: str) -> Any:
    """Return a group of a tree or of InferenceData as a Dataset; None where there is none."""
    try:
        group = idata[name]
    except (KeyError, TypeError):
        return None
    found = group.to_dataset() if isinstance(group, xr.DataTree) else group
    return found if isinstance(found, xr.Dataset) else None


def _variables(given: xr.Dataset, built: Any) -> dict[str, np.ndarray]:
    """Return the variables of a ``pm.Model`` by name, chain after chain.

    Raises ValueError where one is missing, or has other dimensions or labels.
    """
    lost = [name for name in SAMPLING if name not in given.sizes]
    if lost:
        raise ValueError(
            f"posterior should have the dimensions chain and draw, got {join(given.sizes)}"
        )
    kept = [name for name in variable_names(built) if not name.endswith(INNER)]
    asked = [name for name in kept if name not in LEFT_OUT]
    missing = [name for name in asked if name not in given]
    if missing:
        raise ValueError(
            f"posterior should have the variables of the model, {join(asked, 20, quote=True)}, got "
            f"one without {join(missing, 20, quote=True)}: sample model.build(duels) of this model "
            "and log, and keep the deterministic variables"
        )
    return {name: _draws(given[name], name, built) for name in asked}


def _draws(values: xr.DataArray, name: str, built: Any) -> np.ndarray:
    """Return draws of a variable, its entries in the order of the model."""
    dims = tuple(built.named_vars_to_dims.get(name) or ())
    found = tuple(str(d) for d in values.dims if d not in SAMPLING)
    if found != dims:
        raise ValueError(
            f"{name} should have the dimensions {join(dims) or 'chain and draw alone'}, "
            f"got {join(found) or 'none'}"
        )
    for dim in dims:
        labels = [str(label) for label in built.coords[dim]]
        own = [str(label) for label in values[dim].to_numpy()]
        if sorted(own) != sorted(labels):
            raise ValueError(
                f"{dim} of {name} should be that of the log, {join(labels, 8, quote=True)}, "
                f"got {join(own, 8, quote=True)}"
            )
        place = [own.index(label) for label in labels]
        values = values.isel({dim: place})
    array = values.transpose(*SAMPLING, *dims).to_numpy()
    return np.asarray(chains_joined(array), dtype=float)


def _statistics(given: xr.Dataset | None, n: int) -> dict[str, np.ndarray]:
    """Return the statistics of a sampler, (draws,) each; of one that tells none, no divergence."""
    found = {"diverging": np.zeros(n, dtype=bool)}
    if given is None:
        return found
    for name in ("lp", *STATISTICS):
        if name in given and given[name].dims == SAMPLING:
            kept = "lp" if name == "logp" else name
            found[kept] = given[name].to_numpy().reshape(-1)
    return found
