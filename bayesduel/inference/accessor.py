"""A fit as the package reads it: ``fit.duel``, an accessor that xarray keeps with the tree.

Model, arms and settings are parsed when they are first asked for; so are the draws of a
cluster-robust covariance.
"""

import json
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import gammaincinv

from bayesduel.data.items import Items
from bayesduel.data.reading import Reading
from bayesduel.data.teams import Teams
from bayesduel.inference.design import centre, uncentre
from bayesduel.models import Model, Scores, Term, model_from_settings
from bayesduel.models.settings import Arrays
from bayesduel.system.arguments import shown_value

__all__ = ["DuelAccessor"]


@xr.register_datatree_accessor("duel")
class DuelAccessor:
    """What a fit says, parsed once.

    Parameters
    ----------
    fit
        A tree made by :func:`bayesduel.fit`.
    """

    def __init__(self, fit: xr.DataTree) -> None:
        self._fit = fit
        self._robust: dict[str, dict[str, np.ndarray]] = {}

    def __reduce__(self) -> Any:
        return DuelAccessor, (self._fit,)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Settings of the model, as they are stored."""
        found: dict[str, Any] = json.loads(self._fit.attrs["model_settings"])
        return found

    @cached_property
    def model(self) -> Model:
        """The model, made of its settings."""
        return self._model_of(self.settings)

    @property
    def asked(self) -> Model:
        """The model as it was asked for: what was read off the log is not written down."""
        asked = self._fit.attrs.get("model_asked")
        return self.model if asked is None else self._model_of(json.loads(asked))

    def _model_of(self, settings: dict[str, Any]) -> Model:
        """Return the model of the fit with other settings."""
        fit = self._fit
        if "model" not in fit.attrs:
            raise ValueError("fit should be a tree made by bayesduel.fit, got one without a model")
        items = Items.from_dataset(fit["items"].dataset) if "items" in fit else None
        classes = json.loads(fit.attrs.get("model_classes", "{}"))
        description = {"name": fit.attrs["model"], "settings": settings, "classes": classes}
        return model_from_settings(description, items)

    @cached_property
    def arms(self) -> tuple[str, ...]:
        """Labels of the arms."""
        return tuple(str(a) for a in self._fit["posterior"].dataset["arm"].values)

    @cached_property
    def teams(self) -> Teams | None:
        """The sides of the log that was fitted, where these have several arms; else None."""
        if "constant_data" not in self._fit:
            return None
        design = self._fit["constant_data"].dataset
        return Teams(design["members"].to_numpy().copy()) if "members" in design else None

    @cached_property
    def reading(self) -> Reading:
        """What the log of the fit was taken for."""
        stored = self._fit.attrs.get("understood")
        source = str(self._fit.attrs.get("source", "a fit"))
        return Reading(source=source) if stored is None else Reading.from_dict(json.loads(stored))

    @property
    def n_draws(self) -> int:
        """Number of posterior draws, chains together."""
        sizes = self._fit["posterior"].sizes
        return int(sizes["chain"] * sizes["draw"])

    def covariance(self, asked: str = "auto") -> str:
        """Return the covariance that draws have: "model" or a clustering.

        Parameters
        ----------
        asked
            "model", a clustering of the fit ("judge", "group" or "judge and group"), or "auto": the
            clustering that covers all votes which the log repeats (the attribute ``clusters_auto``
            of the fit); "model" where there is none.

        Raises
        ------
        ValueError
            If it is not one of these or the fit has no such clustering.
        """
        fit = self._fit
        known = list(fit["clusters"]["clustering"].to_numpy()) if "clusters" in fit else []
        allowed = ["auto", "model", *known]
        if not isinstance(asked, str) or asked not in allowed:
            raise ValueError(f"covariance should be one of {allowed}, got {shown_value(asked)}")
        return str(fit.attrs.get("clusters_auto", "model")) if asked == "auto" else asked

    def posterior(self, covariance: str = "auto") -> dict[str, np.ndarray]:
        """Return the parameters by name, draws first, chain after chain.

        Parameters
        ----------
        covariance
            See :meth:`covariance`. With "model" every vote is independent: the posterior as it is.
            With a clustering, parameters are stretched around their mean so that their covariance
            is the cluster-robust one, with the tails of Student's t, learned scales apart.

        Raises
        ------
        ValueError
            If the fit has no such covariance.

        References
        ----------
        Shaby, "The open-faced sandwich adjustment for MCMC using estimating functions", JCGS
        2014, for the stretching. Deviation: each parameter (of the scores, each arm's) is scaled
        by ``sqrt(df / chi2_df)`` with its own degrees of freedom, all at the same quantile of
        their chi-squared variables: where all are equal, a multivariate t.
        """
        used = self.covariance(covariance)
        if used != "model":
            if used not in self._robust:
                self._robust[used] = _stretched(self._fit, self._draws, used)
            return self._averaged(self._robust[used])
        return self._averaged(self._draws)

    @property
    def _draws(self) -> dict[str, np.ndarray]:
        """The parameters of the fit by name, draws first."""
        return {
            str(name): v.values.reshape(-1, *v.shape[2:])
            for name, v in self._fit["posterior"].data_vars.items()
            if name != "preference"  # in fits of earlier versions
        }

    def _averaged(self, draws: Arrays) -> dict[str, np.ndarray]:
        """Return the draws with overall scores as the attribute ``averaged_over`` says.

        It holds, by the name of a term's deviations, the weight of each level: overall scores are
        then the weighted mean of the scores in these levels, and deviations those from that mean.
        """
        found = dict(draws)
        over = json.loads(self._fit.attrs.get("averaged_over", "{}"))
        for name, weights in over.items():
            mean = np.einsum("nli,l->ni", found[name], weights)
            found["score"] = found["score"] + mean
            found[name] = found[name] - mean[:, None]
        return found


def _stretched(fit: xr.DataTree, draws: Arrays, clustering: str) -> dict[str, np.ndarray]:
    """Return the draws mapped around their mean to the covariance and tails of a clustering."""
    group = fit["clusters"]
    at = group.dataset.sel(clustering=clustering)
    if "score_draw_cluster" in at:
        return _replaced(fit, draws, at)
    blocks = [str(b) for b in np.atleast_1d(group.attrs["blocks"])]
    model = fit.duel.model
    known = _free(fit, model, draws)
    x = np.column_stack([known[name].reshape(len(known[name]), -1) for name in blocks])
    mean = x.mean(axis=0)
    to = _root(at["covariance_cluster"].to_numpy())
    away = (to @ np.linalg.solve(_root(group["covariance"].to_numpy()), (x - mean).T)).T
    degrees, order = at["degrees_cluster"].to_numpy(), _mixing_order(fit, len(x))
    of_scores = at["score_degrees_cluster"].to_numpy()
    ends = np.cumsum(np.atleast_1d(group.attrs["lengths"]))[:-1]
    found = dict(draws)
    parts = zip(blocks, *(np.split(v, ends, axis=-1) for v in (mean, away, degrees)), strict=True)
    for name, middle, part, own in parts:
        if name == "score_free":
            of_arm = centre(part) * _heavier(of_scores, order)
            found["score"] = centre(middle) + of_arm - of_arm.mean(axis=1, keepdims=True)
        else:
            # of a deviation, whose last axis is that of the arms, they are those of its arm
            own = np.where(np.isnan(own), np.resize(of_scores, len(own)), own)
            found[name] = (middle + part * _heavier(own, order)).reshape(known[name].shape)
    arms = fit.duel.arms
    if "score_free" not in blocks:
        found.pop("score")  # of the model or of a term, from the stretched parameters
        found |= model.parameters(found, arms)
    found.pop("rating", None)
    for part_of in model.terms:
        found = part_of.complete(found, arms)
    return found


def _free(fit: xr.DataTree, model: Model, draws: Arrays) -> dict[str, np.ndarray]:
    """Return the draws with the free numbers that a covariance is of.

    Coefficients that were centred over the arms get the mean over the arms back, of which the data
    say nothing: it is drawn from the prior.
    """
    found = dict(draws)
    rng = np.random.default_rng([int(fit.attrs["seed"]), 1])
    columns = {n: v.reshape(len(v), -1) for n, v in draws.items() if n in model.scales}
    for part in model.terms:
        if not isinstance(part, Term) or not part.over_arms:
            continue
        if isinstance(part, Scores):
            found[part.free] = uncentre(draws["score"])
            continue
        centred = part.coefficients(draws)
        n, levels, n_arms = centred.shape
        mean = rng.standard_normal((n, levels))
        for k in range(n):
            one = {name: v[k] if v.shape[1] > 1 else v[k, 0] for name, v in columns.items()}
            covariance = part.covariance(one, levels)
            if covariance is None:
                break
            mean[k] = np.linalg.cholesky(covariance) @ mean[k]
        spread = np.asarray(part.deviation(columns, {}, 1.0)).reshape(-1, 1)
        found[part.free] = centred + (mean * spread / np.sqrt(n_arms))[..., None]
    return found


def _replaced(fit: xr.DataTree, draws: Arrays, at: xr.Dataset) -> dict[str, np.ndarray]:
    """Return the draws with those around the same means that a clustering of many arms has."""
    found, level = dict(draws), _mixing_order(fit, len(draws["score"]))
    for variable in map(str, at.data_vars):
        name = variable.removesuffix("_draw_cluster")
        if name == variable:
            continue
        away = at[variable].to_numpy() * _heavier(at[f"{name}_degrees_cluster"].to_numpy(), level)
        if name == "score":
            away -= away.mean(axis=1, keepdims=True)
        moved = draws[name].mean(axis=0) + away.reshape(draws[name].shape)
        found[name] = moved.astype(draws[name].dtype)
    return found


def _mixing_order(fit: xr.DataTree, n: int) -> np.ndarray:
    """Return the quantile levels of the chi-squared variables of the draws, evenly spread."""
    rng = np.random.default_rng([int(fit.attrs["seed"]), n])
    return (rng.permutation(n) + 0.5) / n


def _heavier(degrees: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return the factors that give normal draws the tails of Student's t, (n, parameters).

    Degrees of freedom are rounded down, to tenths below 10 and to whole numbers above.
    """
    rounded = np.where(degrees < 10, np.floor(degrees * 10) / 10, np.floor(degrees))
    kinds, place = np.unique(np.minimum(rounded, 1e4), return_inverse=True)
    factors = np.stack([np.sqrt(df / (2 * gammaincinv(df / 2, level))) for df in kinds], axis=1)
    return np.asarray(factors[:, place])


def _root(covariance: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor, or the symmetric root where there is none."""
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariance)
        return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
