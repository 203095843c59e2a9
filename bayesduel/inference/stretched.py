"""Draws with the covariance of a clustering: those of a posterior, stretched around their mean.

References
----------
Shaby, "The open-faced sandwich adjustment for MCMC using estimating functions", JCGS 2014, for
the stretching. Deviation: each parameter (of the scores, each arm's) is scaled by
``sqrt(df / chi2_df)`` with its own degrees of freedom, all at the same quantile of their
chi-squared variables: where all are equal, a multivariate t.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import gammaincinv

from bayesduel.inference.design import centre, uncentre
from bayesduel.inference.draws import chains_joined
from bayesduel.models import Model, Scores, Term
from bayesduel.models.settings import Arrays

__all__ = ["averaged", "draws_in", "stretched"]


def draws_in(group: xr.Dataset) -> dict[str, np.ndarray]:
    """Return the parameters of a group of draws by name, draws first, chain after chain."""
    found = {}
    for name, values in group.data_vars.items():
        if name != "preference":  # in fits of earlier versions
            found[str(name)] = chains_joined(values.values)
    return found


def averaged(draws: Arrays, over: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return draws whose scores are the average over the levels that a term deviates by.

    over: the weight of each level, (levels,), by the name of the deviations; these are then from
        that average.
    """
    found = dict(draws)
    own = "strength" if "strength" in found else "score"
    for name, weights in over.items():
        deviations = found[name]
        mean = np.einsum("nli,l->ni", deviations, weights)
        by_draw = mean[:, None]
        found[own] = found[own] + mean
        found[name] = deviations - by_draw
        if "rating" in found:
            found["rating"] = found["rating"] + by_draw
    return found


def stretched(
    fit: xr.DataTree,
    model: Model,
    draws: Arrays,
    clustering: str,
) -> dict[str, np.ndarray]:
    """Return the draws mapped around their mean to the covariance and tails of a clustering."""
    group = fit["clusters"]
    at = group.dataset.sel(clustering=clustering)
    if "score_draw_cluster" in at:
        return _replaced(fit, draws, at)
    draws = model.parameters(draws)  # "strength" is a score that does not decide who beats whom
    known = _free(fit, model, draws)
    names = np.atleast_1d(group.attrs["blocks"])
    blocks = [str(name) for name in names]
    columns = [_by_draw(known[name]) for name in blocks]
    x = np.column_stack(columns)
    mean = x.mean(axis=0)
    root = _root(group["covariance"].to_numpy())
    root_cluster = _root(at["covariance_cluster"].to_numpy())
    stretch = np.linalg.solve(root.T, root_cluster.T)  # takes a quarter of solving for each draw
    away = (x - mean) @ stretch
    degrees = at["degrees_cluster"].to_numpy()
    of_scores = at["score_degrees_cluster"].to_numpy()
    level = _levels(fit, len(x))
    lengths = np.atleast_1d(group.attrs["lengths"])
    ends = np.cumsum(lengths)
    inner = ends[:-1]
    by_block = zip(
        blocks,
        np.split(mean, inner),
        np.split(away, inner, axis=-1),
        np.split(degrees, inner),
        strict=True,
    )
    found = dict(draws)
    for name, middle, part, own in by_block:
        if name == "score_free":
            of_arm = centre(part) * _heavier(of_scores, level)
            shift = of_arm.mean(axis=1, keepdims=True)
            own_middle = centre(middle)
            found["score"] = own_middle + of_arm - shift
            continue
        # of a deviation, whose last axis is that of the arms, they are those of its arm
        of_own_arm = np.resize(of_scores, len(own))
        unknown = np.isnan(own)
        by_number = np.where(unknown, of_own_arm, own)
        heavier = part * _heavier(by_number, level)
        moved = middle + heavier
        shape = known[name].shape
        found[name] = moved.reshape(shape)
    labels = group["arm"].to_numpy()
    arms = tuple(str(label) for label in labels)
    if "score_free" not in blocks:
        found.pop("score")  # of the model or of a term, from the stretched parameters
        found |= model.parameters(found, arms)
    found.pop("rating", None)
    for part_of in model.terms:
        found = part_of.complete(found, arms)
    if model.terms.cyclic:
        found["strength"] = found.pop("score")
    return found


def _by_draw(values: np.ndarray) -> np.ndarray:
    """Return draws of any shape as a table, a row per draw."""
    return values.reshape(len(values), -1)


def _free(fit: xr.DataTree, model: Model, draws: Arrays) -> dict[str, np.ndarray]:
    """Return the draws with the free numbers that a covariance is of.

    Coefficients that were centred over the arms get the mean over the arms back, of which the data
    say nothing: it is drawn from the prior.
    """
    found = dict(draws)
    seed = int(fit.attrs["seed"])
    rng = np.random.default_rng([seed, 1])
    scales = {}
    for name in model.scales:
        if name in draws:
            scales[name] = _by_draw(draws[name])
    for part in model.terms:
        if not isinstance(part, Term) or not part.over_arms:
            continue
        if isinstance(part, Scores):
            found[part.free] = uncentre(draws["score"])
            continue
        centred = part.coefficients(draws)
        n, levels, n_arms = centred.shape
        mean = rng.standard_normal((n, levels))
        _correlate(mean, part, scales)
        deviation = np.asarray(part.deviation(scales, {}, 1.0))
        spread = deviation.reshape(-1, 1)
        root = np.sqrt(n_arms)
        of_mean = mean * spread / root
        found[part.free] = centred + of_mean[..., None]
    return found


def _correlate(normal: np.ndarray, part: Term, scales: Arrays) -> None:
    """Correlate standard normal numbers (draws, levels), in place, as the levels of a term are.

    scales: those of each draw, (draws, n) each.
    """
    for k, numbers in enumerate(normal):
        own: dict[str, Any] = {}
        for name, values in scales.items():
            row = values[k]
            own[name] = row[0] if len(row) == 1 else row
        covariance = part.covariance(own, len(numbers))
        if covariance is None:
            return
        root = np.linalg.cholesky(covariance)
        normal[k] = root @ numbers


def _replaced(fit: xr.DataTree, draws: Arrays, at: xr.Dataset) -> dict[str, np.ndarray]:
    """Return the draws with those around the same means that a clustering of many arms has."""
    found = dict(draws)
    n = len(draws["score"])
    level = _levels(fit, n)
    for variable in map(str, at.data_vars):
        name = variable.removesuffix("_draw_cluster")
        if name == variable:
            continue
        degrees = at[f"{name}_degrees_cluster"].to_numpy()
        normal = at[variable].to_numpy()
        factor = _heavier(degrees, level)
        away = normal * factor
        if name == "score":
            away -= away.mean(axis=1, keepdims=True)
        own = draws[name]
        middle = own.mean(axis=0)
        shaped = away.reshape(own.shape)
        moved = middle + shaped
        found[name] = moved.astype(own.dtype)
    return found


def _levels(fit: xr.DataTree, n: int) -> np.ndarray:
    """Return the quantile levels of the chi-squared variables of the draws, evenly spread."""
    seed = int(fit.attrs["seed"])
    rng = np.random.default_rng([seed, n])
    order = rng.permutation(n)
    return (order + 0.5) / n


def _heavier(degrees: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return the factors that give normal draws the tails of Student's t, (n, parameters).

    Degrees of freedom are rounded down, to tenths below 10 and to whole numbers above.
    """
    tenths = np.floor(degrees * 10) / 10
    whole = np.floor(degrees)
    rounded = np.where(degrees < 10, tenths, whole)
    capped = np.minimum(rounded, 1e4)
    kinds, place = np.unique(capped, return_inverse=True)
    factors = []
    for df in kinds:
        chi_squared = 2 * gammaincinv(df / 2, level)
        factor = np.sqrt(df / chi_squared)
        factors.append(factor)
    by_kind = np.stack(factors, axis=1)
    return by_kind[:, place]


def _root(covariance: np.ndarray) -> np.ndarray:
    """Return the lower Cholesky factor, or the symmetric root where there is none."""
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(covariance)
        variances = np.maximum(values, 0.0)
        roots = np.sqrt(variances)
        scaled = vectors * roots
        return scaled @ vectors.T
