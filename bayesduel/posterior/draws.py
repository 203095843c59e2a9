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
    settings = json.loads(fit.attrs["model_settings"])
    if "items" in fit:
        from bayesduel.data.items import Items
        from bayesduel.models import AttributeDuels, LogisticAttributes

        pulls = fit.attrs["model"] == LogisticAttributes.name
        kind: Any = LogisticAttributes if pulls else AttributeDuels
        return kind(items=Items.from_dataset(fit["items"].dataset), **settings)
    return named(fit.attrs["model"], **settings)


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
        In a model of attributes all parameters are stretched together, a learned scale apart,
        and it is the variance of the coefficients that "auto" compares.

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
    if "items" in fit:
        return _of_attributes(fit, draws, errors)
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


def _of_attributes(
    fit: xr.DataTree, draws: dict[str, np.ndarray], errors: str
) -> tuple[dict[str, np.ndarray], str]:
    """Return the draws of a model of attributes with these errors."""
    group = fit["parameter_clusters"] if "parameter_clusters" in fit else None
    known = [] if group is None else [str(c) for c in group["clustering"].to_numpy()]
    if errors not in ("auto", "model", *known):
        raise ValueError(f"errors should be one of {['auto', 'model', *known]}, got {errors!r}")
    if errors == "model" or group is None:
        return draws, "model"
    n = draws["coefficient"].shape[1]
    own = group["covariance"].to_numpy()
    robust = dict(zip(known, group["covariance_cluster"].to_numpy(), strict=True))
    if errors == "auto":
        size = {c: float(v.diagonal()[:n].mean()) for c, v in robust.items()}
        errors = max(size, key=lambda c: size[c])
        if not size[errors] > own.diagonal()[:n].mean():
            return draws, "model"
    blocks = [str(b) for b in np.atleast_1d(group.attrs["blocks"])]
    x = np.column_stack([draws[name] for name in blocks])
    have, want, mean = _root(own), _root(robust[errors]), x.mean(axis=0)
    x = mean + (want @ np.linalg.solve(have, (x - mean).T)).T
    widths = [1 if draws[name].ndim == 1 else draws[name].shape[1] for name in blocks]
    parts = np.split(x, np.cumsum(widths)[:-1], axis=1)
    for name, part in zip(blocks, parts, strict=True):
        draws[name] = part.reshape(draws[name].shape)
    arms = tuple(str(a) for a in fit["posterior"]["arm"].to_numpy())
    return draws | {"score": model_of(fit).scores(draws, arms)}, errors


def _root(covariance: np.ndarray) -> np.ndarray:
    """Return the symmetric square root of a covariance matrix, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def _widest(fit: xr.DataTree) -> str:
    group = fit["clusters"]
    wide = (group["score_se_cluster"] ** 2).mean("arm")
    own = float((group["score_se"] ** 2).mean())
    if not float(wide.max()) > own:
        return "model"
    return str(wide["clustering"].to_numpy()[np.nanargmax(wide.to_numpy())])


def _stretch(score: np.ndarray, own: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Map draws around their mean so that covariance `own` becomes `target` (both centred)."""
    from bayesduel.inference.linear_predictor import centre, reduce, uncentre

    mean = score.mean(axis=0)
    free = uncentre(score - mean)
    have, want = (np.linalg.cholesky(reduce(m)) for m in (own, target))
    standard = np.linalg.solve(have, free.T)
    return mean + centre((want @ standard).T)
