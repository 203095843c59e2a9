"""Fit a model of pulls: the same sampling as for duels, and a tree of its own form."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

if TYPE_CHECKING:
    from bayesduel.data.pulls import Pulls
    from bayesduel.inference.sample import Sampled

__all__ = ["fit_pulls", "only_nuts"]

LIKELIHOOD_BYTES = 128 * 2**20
ONLY_NUTS = {
    "sparsity": "a horseshoe prior has no mode that stands for it",
    "judge_effect": "how far judges differ is learned for every attribute",
}


def fit_pulls(
    pulls: "Pulls",
    model: Any,
    sample: "Callable[..., tuple[Sampled, str, str]]",
    layout: tuple[int, int],
    seed: int,
    log_likelihood: bool | None,
    versions: dict[str, str],
) -> xr.DataTree:
    """Return the posterior of a model of pulls; `bayesduel.fit` calls it.

    Parameters
    ----------
    pulls, model
        The log and a model of it.
    sample
        Called with `keep`, whether to keep the log likelihood; returns draws, method and reason.
    layout
        Chains, and draws of each.
    seed, log_likelihood
        As in :func:`bayesduel.fit`.
    versions
        Of the packages that matter.

    Returns
    -------
    A tree with groups ``posterior`` (``coefficient`` (chain, draw, attribute), ``intercept``,
    ``score`` (chain, draw, arm)), ``sample_stats``, ``observed_data``, ``constant_data``,
    ``log_likelihood`` (by item), ``laplace`` and ``items``.
    """
    model.check(pulls)
    keep, (chains, per_chain) = log_likelihood, layout
    if keep is None:
        keep = chains * per_chain * pulls.n_arms * 8 <= LIKELIHOOD_BYTES
    sampled, method, reason = sample(keep=keep)
    dims = {
        "score": ("arm",),
        "coefficient": ("attribute",),
        "local": ("attribute",),
    }

    def laid(values: np.ndarray, *names: str) -> tuple[tuple[str, ...], np.ndarray]:
        shape = (*layout, *values.shape[1:])
        return ("chain", "draw", *names), values.reshape(shape)

    sampling = {"chain": np.arange(chains), "draw": np.arange(per_chain)}
    labels = {
        "arm": np.array(pulls.arms, dtype=object),
        "attribute": np.array(model.items.names, dtype=object),
    }
    posterior = {n: laid(v, *dims.get(n, ())) for n, v in sampled.posterior.items()}
    stats = {n: laid(v) for n, v in sampled.stats.items()}
    groups = {
        "posterior": xr.Dataset(posterior, coords={**sampling, **labels}),
        "sample_stats": xr.Dataset(stats, coords=sampling),
        "observed_data": xr.Dataset({"outcome": ("cell", pulls.successes)}),
        "constant_data": xr.Dataset({"n": ("cell", pulls.n)}),
        "items": model.items.to_dataset(),
    }
    if sampled.log_likelihood is not None:
        likelihood = {"outcome": laid(sampled.log_likelihood, "cell")}
        groups["log_likelihood"] = xr.Dataset(likelihood, coords=sampling)
    if sampled.extra:
        groups["laplace"] = xr.Dataset(sampled.extra, coords={"attribute": labels["attribute"]})
    tree = xr.DataTree.from_dict(groups)
    tree.attrs.update(
        {
            "model": model.name,
            "model_settings": json.dumps(model.settings),
            "link": model.link,
            "method": method,
            "method_reason": reason,
            "seed": seed,
            "khat": sampled.khat,
            "importance_ess": sampled.effective,
            "versions": json.dumps(versions),
            "source": pulls.source,
            "n_pulls": pulls.n_pulls,
        }
    )
    return tree


def only_nuts(model: Any, method: str = "auto") -> str:
    """Return why only NUTS can follow a model of attributes, or "".

    Raises
    ------
    ValueError
        If there is such a reason and `method` is "laplace".
    """
    for setting, why in ONLY_NUTS.items():
        if getattr(model, setting, None):
            if method == "laplace":
                raise ValueError(
                    f"method should be 'nuts' or 'auto' with a {setting}, got 'laplace'"
                )
            return why
    return ""
