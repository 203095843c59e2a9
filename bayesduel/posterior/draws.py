"""Draws of a fit: parameters, and the preference matrix as a function of them.

K x K draws are never kept: matrices and pairs are derived from the parameters, a chunk at a
time, by the model itself.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import gammaincinv

from bayesduel.data.items import Items
from bayesduel.inference.design import centre, uncentre
from bayesduel.models import Model, Scores, Term, model_from_settings
from bayesduel.models.response import expected_score
from bayesduel.system.arguments import shown_value
from bayesduel.system.memory import TABLE_ARMS

__all__ = [
    "CHUNK",
    "Draws",
    "check_fit",
    "draws_of",
    "duels_of_pairs",
    "mean_rank",
    "model_of",
    "n_draws",
    "posterior_draws",
    "preference_draws",
]

CHUNK = 250_000  # entries of P worked on at once: as many as the cache of a processor holds
PAIR_NUMBERS = 20_000_000  # draws x pairs computed for the summary of all pairs


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of P through draws of a model's parameters.

    Attributes
    ----------
    model
        Of the fit.
    posterior
        Parameters by name, draws first.
    arms
        Which arms of the model these are, indices, shape (K,).
    model_arms
        How many arms the model has.
    """

    model: Model
    posterior: Mapping[str, np.ndarray]
    arms: np.ndarray
    model_arms: int

    @property
    def score(self) -> np.ndarray | None:
        """Scores, shape (n_draws, K), or None where arms do not rank by them."""
        if not self.model.ranks_by_score:
            return None
        return self.posterior["score"] if self.whole else self.posterior["score"][:, self.arms]

    @property
    def whole(self) -> bool:
        """Whether these are all arms of the model, in their order."""
        return np.array_equal(self.arms, np.arange(self.model_arms))

    @property
    def many(self) -> bool:
        """Whether there are too many arms for tables of arm by arm, and none is needed."""
        return self.n_arms > TABLE_ARMS and self.model.criteria_agree

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(next(iter(self.posterior.values())))

    @property
    def n_arms(self) -> int:
        """Number of arms, K."""
        return len(self.arms)

    @property
    def pair_step(self) -> int:
        """Step between the draws used for all pairs: 1 up to 100 arms and 4,000 draws."""
        n_pairs = self.n_arms * (self.n_arms - 1) // 2
        return max(1, -(-self.n_draws * n_pairs // PAIR_NUMBERS))

    def rows(self, which: Any) -> dict[str, np.ndarray]:
        """Return the parameters of some draws (a slice, indices or a mask)."""
        return {name: values[which] for name, values in self.posterior.items()}

    def among(self, arms: np.ndarray) -> "Draws":
        """Return the same draws of fewer arms (indices among these)."""
        return Draws(self.model, self.posterior, self.arms[arms], self.model_arms)

    def matrices(self) -> Iterator[np.ndarray]:
        """Yield chunks of P, shape (n, K, K)."""
        step = max(1, CHUNK // self.model_arms**2)
        for start in range(0, self.n_draws, step):
            P = self.model.preference(self.rows(slice(start, start + step)))
            yield P if self.whole else P[:, self.arms[:, None], self.arms]

    def chances(self, which: Any, left: np.ndarray, right: np.ndarray) -> dict[str, np.ndarray]:
        """Return the probabilities of win, loss and (some models) tie of `left` in some draws.

        Of neutral duels; indices among these arms; each entry has shape (draws, pairs).
        """
        both = {"first": self.arms[left], "second": self.arms[right]}
        return self.model.outcomes(self.rows(which), both)

    def against(self, champion: np.ndarray) -> np.ndarray:
        """Return each arm's P against each draw's champion (indices), shape (n_draws, K)."""
        out = np.empty((self.n_draws, self.n_arms))
        everyone = np.arange(self.n_arms)
        for arm in np.unique(champion):
            here = champion == arm
            out[here] = expected_score(self.chances(here, everyone, np.full(self.n_arms, arm)))
        return out

    def outcomes(self) -> Iterator[tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]]:
        """Yield (first, second, chances) of all pairs; chances have shape (pairs, draws)."""
        first, second = np.triu_indices(self.n_arms, 1)
        used = slice(None, None, self.pair_step)
        width = max(1, CHUNK * self.pair_step // self.n_draws)
        for start in range(0, len(first), width):
            i, j = first[start : start + width], second[start : start + width]
            found = self.chances(used, i, j)
            yield i, j, {name: np.ascontiguousarray(c.T) for name, c in found.items()}


def draws_of(fit: xr.DataTree, covariance: str = "auto") -> tuple[Draws, tuple[str, ...], str]:
    """Return the draws of a fit, the labels of its arms, and the covariance they have."""
    check_fit(fit)
    posterior, used = posterior_draws(fit, covariance)
    labels = tuple(str(a) for a in fit["posterior"]["arm"].to_numpy())
    draws = Draws(model_of(fit), posterior, np.arange(len(labels)), len(labels))
    return draws, labels, used


def posterior_draws(
    fit: xr.DataTree, covariance: str = "auto"
) -> tuple[dict[str, np.ndarray], str]:
    """Return the parameters of a fit, draws first, and the covariance they have.

    Parameters
    ----------
    fit
        A tree made by :func:`bayesduel.fit`.
    covariance
        "model": the posterior as it is, every vote independent. "judge", "group" or "judge and
        group": parameters stretched around their mean so that their covariance is the
        cluster-robust one, with the tails of Student's t, learned scales apart. "auto": the
        clustering that covers all votes which the log repeats (the attribute ``clusters_auto``
        of the fit); "model" where there is none.

    Raises
    ------
    ValueError
        If `covariance` is not one of these or the fit has no such clustering.

    References
    ----------
    Shaby, "The open-faced sandwich adjustment for MCMC using estimating functions", JCGS
    2014, for the stretching. Deviation: each parameter (of the scores, each arm's) is scaled by
    ``sqrt(df / chi2_df)`` with its own degrees of freedom, all at the same quantile of their
    chi-squared variables: where all are equal, a multivariate t.
    """
    draws = {
        str(name): v.values.reshape(-1, *v.shape[2:])
        for name, v in fit["posterior"].data_vars.items()
        if name != "preference"  # in fits of earlier versions
    }
    known = list(fit["clusters"]["clustering"].to_numpy()) if "clusters" in fit else []
    if not isinstance(covariance, str) or covariance not in ("auto", "model", *known):
        allowed = ["auto", "model", *known]
        raise ValueError(f"covariance should be one of {allowed}, got {shown_value(covariance)}")
    if covariance == "auto":
        covariance = str(fit.attrs.get("clusters_auto", "model"))
    if covariance == "model":
        return draws, "model"
    return _stretched(fit, draws, covariance), covariance


def preference_draws(fit: xr.DataTree, covariance: str = "auto") -> Iterator[np.ndarray]:
    """Yield the draws of P in chunks of shape (n, K, K), chain after chain.

    They are derived from the parameters through the model's own response, so K x K draws never
    have to fit in memory. `covariance` is that of :func:`posterior_draws`.
    """
    yield from draws_of(fit, covariance)[0].matrices()


def model_of(fit: xr.DataTree) -> Model:
    """Return the model of a fit, rebuilt from its attributes."""
    if "model" not in fit.attrs:
        raise ValueError("fit should be a tree made by bayesduel.fit, got one without a model")
    items = Items.from_dataset(fit["items"].dataset) if "items" in fit else None
    description = {
        "name": fit.attrs["model"],
        "settings": json.loads(fit.attrs["model_settings"]),
        "classes": json.loads(fit.attrs.get("model_classes", "{}")),
    }
    return model_from_settings(description, items)


def n_draws(fit: xr.DataTree) -> int:
    """Return the number of posterior draws, chains together."""
    sizes = fit["posterior"].sizes
    return int(sizes["chain"] * sizes["draw"])


def duels_of_pairs(fit: xr.DataTree, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return how many duels of a fit's log each of some pairs of arms (indices) had."""
    data = fit["constant_data"].dataset
    if "wins" in data:
        wins, ties = np.asarray(data["wins"]), np.asarray(data["ties"])
        return np.asarray((wins + wins.T + ties)[first, second].astype(int))
    n_arms = fit["posterior"].sizes["arm"]
    key, place = np.unique(
        _unordered(data["first"].values, data["second"].values, n_arms), return_inverse=True
    )
    total = np.bincount(place, data["n"].values)
    asked = _unordered(np.asarray(first), np.asarray(second), n_arms)
    at = np.minimum(np.searchsorted(key, asked), len(key) - 1)
    return np.where(key[at] == asked, total[at], 0).astype(int)


def mean_rank(score: np.ndarray) -> np.ndarray:
    """Return the mean over draws (draws, K) of how many arms have a larger score, shape (K,)."""
    total = np.zeros(score.shape[1])
    place = np.arange(score.shape[1])
    for row in score:
        total[np.argsort(-row)] += place
    return total / len(score)


def check_fit(fit: Any) -> None:
    """Raise TypeError unless `fit` looks like what `bayesduel.fit` returned."""
    if not isinstance(fit, xr.DataTree) or "posterior" not in fit or "model" not in fit.attrs:
        raise TypeError(f"fit should be what bayesduel.fit returned, got {type(fit).__name__}")


def _unordered(first: np.ndarray, second: np.ndarray, n_arms: int) -> np.ndarray:
    """Return a number for each pair of arms, whichever is first."""
    return np.minimum(first, second).astype(np.int64) * n_arms + np.maximum(first, second)


def _stretched(
    fit: xr.DataTree, draws: Mapping[str, np.ndarray], clustering: str
) -> dict[str, np.ndarray]:
    """Return the draws mapped around their mean to the covariance and tails of a clustering."""
    group = fit["clusters"]
    at = group.dataset.sel(clustering=clustering)
    if "score_draw_cluster" in at:
        return _replaced(fit, draws, at)
    blocks = [str(b) for b in np.atleast_1d(group.attrs["blocks"])]
    model = model_of(fit)
    known = _free(fit, model, draws)
    x = np.column_stack([known[name].reshape(len(known[name]), -1) for name in blocks])
    mean = x.mean(axis=0)
    to = _root(at["covariance_cluster"].to_numpy())
    away = (to @ np.linalg.solve(_root(group["covariance"].to_numpy()), (x - mean).T)).T
    degrees, order = at["degrees_cluster"].to_numpy(), _mixing_order(fit, len(x))
    ends = np.cumsum(np.atleast_1d(group.attrs["lengths"]))[:-1]
    found = dict(draws)
    parts = zip(blocks, *(np.split(v, ends, axis=-1) for v in (mean, away, degrees)), strict=True)
    for name, middle, part, own in parts:
        if name == "score_free":
            of_arm = centre(part) * _heavier(at["score_degrees_cluster"].to_numpy(), order)
            found["score"] = centre(middle) + of_arm - of_arm.mean(axis=1, keepdims=True)
        else:
            found[name] = (middle + part * _heavier(own, order)).reshape(known[name].shape)
    arms = tuple(str(a) for a in fit["posterior"]["arm"].to_numpy())
    if "score_free" not in blocks:
        without = {name: v for name, v in found.items() if name != "score"}
        found |= model.parameters(without, arms)
    found.pop("rating", None)
    for part_of in model.terms:
        found = part_of.complete(found, arms)
    return found


def _free(fit: xr.DataTree, model: Model, draws: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
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


def _replaced(
    fit: xr.DataTree, draws: Mapping[str, np.ndarray], at: xr.Dataset
) -> dict[str, np.ndarray]:
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
