"""Prior predictive draws: what a model expects of a log before it sees one."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesduel.criticism.posterior_predictive import posterior_predictive
from bayesduel.criticism.replicated_logs import design_of
from bayesduel.data.duels import Duels
from bayesduel.inference.datatree import datatree
from bayesduel.inference.default_model import choose_model
from bayesduel.inference.draws import PosteriorDraws
from bayesduel.inference.fit import describe_model
from bayesduel.inference.prior import prior_draws
from bayesduel.inference.psis import Certificate, Tails
from bayesduel.system.arguments import whole

if TYPE_CHECKING:
    from bayesduel.models.model import Model

__all__ = ["prior_predictive"]


def prior_predictive(
    model: "Model", design: Duels | xr.DataTree, draws: int = 500, seed: int = 0
) -> xr.DataTree:
    """Return draws from the prior, and outcomes of a design that they predict.

    Parameters
    ----------
    model
        A model of duels of :mod:`bayesduel.models`, or its name. Its priors should be proper.
    design
        A log, whose outcomes are then observed data, or a frame of who meets whom under which
        conditions: see :func:`bayesduel.calibrate`.
    draws
        How many.
    seed
        Of the draws and of the outcomes.

    Returns
    -------
    A tree: ``prior`` (the parameters, by the names of a fit), ``prior_predictive`` (``margin`` by
    vote for a model of margins, else ``outcome`` by cell, as in
    :func:`bayesduel.posterior_predictive`), ``constant_data`` and, for a log, ``observed_data``.
    :func:`bayesduel.plots.plot_prior_predictive` draws it; ``arviz.plot_ppc_dist`` takes it with
    ``group="prior_predictive"``.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or a prior is flat.

    Examples
    --------
    >>> tree = bd.prior_predictive("bradley-terry", bd.datasets.load("tennis1990"), draws=100)
    >>> sorted(tree.children)
    ['constant_data', 'observed_data', 'prior', 'prior_predictive']
    """
    draws = whole(draws, "draws", 20)
    seed = whole(seed, "seed", 0)
    log: Any = design_of(design)
    model = choose_model(model, log).model
    if not isinstance(log, Duels) or model.log_type != "duels":
        raise TypeError(f"design should be of duels for {model.name}, got {type(log).__name__}")
    model = model.settled(log)
    cells = model.cells(log)
    tails = Tails.of_exact(draws)
    exact = Certificate(khat=-np.inf, effective=float(draws), n_draws=draws, tails=tails)
    prior = prior_draws(model, log, draws, seed)
    drawn = PosteriorDraws(prior, {}, None, exact)
    attrs = describe_model(model) | {"method": "prior", "n_duels": log.n_duels, "seed": seed}
    tree = datatree(model, cells, drawn, (1, draws), attrs)
    found = posterior_predictive(tree, draws, seed)
    groups = {
        "prior": found["posterior"].to_dataset(),
        "prior_predictive": found["posterior_predictive"].to_dataset(),
        "constant_data": found["constant_data"].to_dataset(),
    }
    if log is design:
        groups["observed_data"] = found["observed_data"].to_dataset()
    made = xr.DataTree.from_dict(groups)
    made.attrs.update(attrs)
    return made
