"""Draws out of a fit: its parameters, and the preference matrix they imply, in chunks."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

__all__ = ["model_of", "n_draws", "posterior_draws", "preference_draws"]

CHUNK_BYTES = 32 * 2**20


def model_of(fit: xr.DataTree) -> Any:
    """Return the model of a fit, rebuilt from its attributes.

    Raises
    ------
    ValueError
        If the tree does not say what model it is of.
    """
    from bayesduel.models import named

    if "model" not in fit.attrs:
        raise ValueError("fit should be a tree made by bayesduel.fit, got one without a model")
    return named(fit.attrs["model"], **json.loads(fit.attrs["model_settings"]))


def n_draws(fit: xr.DataTree) -> int:
    """Return the number of posterior draws, chains together."""
    sizes = fit["posterior"].sizes
    return int(sizes["chain"] * sizes["draw"])


def posterior_draws(fit: xr.DataTree, errors: str = "auto") -> tuple[dict[str, np.ndarray], str]:
    """Return the parameters of a fit, draws first, and whose errors they carry.

    Parameters
    ----------
    fit
        A tree made by :func:`bayesduel.fit`.
    errors
        "model": the posterior as it is, every vote independent. "judge" or "pair and
        group": scores stretched around their mean so that their covariance is the
        cluster-robust one. "auto": the clustering with the largest mean variance, where the
        log repeats judges or pairs within a group and this exceeds the model's; else "model".

    Raises
    ------
    ValueError
        If `errors` is not one of these or the fit has no such clustering.

    References
    ----------
    Shaby, "The open-faced sandwich adjustment for MCMC using estimating functions", JCGS
    2014, for the stretching.
    """
    posterior = fit["posterior"]
    draws = {
        str(name): v.values.reshape(-1, *v.shape[2:])
        for name, v in posterior.data_vars.items()
        if name != "preference"
    }
    known = list(fit["clusters"]["clustering"].to_numpy()) if "clusters" in fit else []
    if errors not in ("auto", "model", *known):
        raise ValueError(f"errors should be one of {['auto', 'model', *known]}, got {errors!r}")
    if errors == "auto":
        errors = _widest(fit) if known else "model"
    if errors == "model":
        return draws, "model"
    group = fit["clusters"]
    target = group["score_cov_cluster"].sel(clustering=errors).to_numpy()
    draws["score"] = _stretch(draws["score"], group["score_cov"].to_numpy(), target)
    return draws, errors


def preference_draws(fit: xr.DataTree, errors: str = "auto") -> Iterator[np.ndarray]:
    """Yield the draws of P in chunks of shape (n, K, K), chain after chain.

    They are derived from the parameters through the model's own link, so K x K draws never
    have to fit in memory. `errors` is that of :func:`posterior_draws`.
    """
    draws, _ = posterior_draws(fit, errors)
    model = model_of(fit)
    total = n_draws(fit)
    n_arms = fit["posterior"].sizes["arm"]
    step = max(1, CHUNK_BYTES // (8 * n_arms**2))
    for start in range(0, total, step):
        yield model.preference({name: v[start : start + step] for name, v in draws.items()})


def _widest(fit: xr.DataTree) -> str:
    group = fit["clusters"]
    wide = (group["score_se_cluster"] ** 2).mean("arm")
    own = float((group["score_se"] ** 2).mean())
    if not float(wide.max()) > own:
        return "model"
    return str(wide["clustering"].to_numpy()[np.nanargmax(wide.to_numpy())])


def _stretch(score: np.ndarray, own: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Map draws around their mean so that covariance `own` becomes `target` (both centred)."""
    from bayesduel.inference.derivatives import centre, reduce, uncentre

    mean = score.mean(axis=0)
    free = uncentre(score - mean)
    have, want = (np.linalg.cholesky(reduce(m)) for m in (own, target))
    standard = np.linalg.solve(have, free.T)
    return mean + centre((want @ standard).T)
