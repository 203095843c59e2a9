"""Cluster-robust (sandwich) covariances that hold with few clusters: CR2 and Satterthwaite.

Votes of one judge, or in one group (prompt, list, context), are not independent. The point
estimate stands; its covariance is taken from how whole clusters of votes vary. With H the posterior
precision at the mode, Pi the prior's part of it, F_c the information of cluster c and g_c its
gradient, the covariance is ``H^-1 (sum_c h_c h_c' + Pi) H^-1`` where
``h_c = (I - F_c H^-1)^(-1/2) g_c``: the bias-reduced linearization, unbiased however few the
clusters are where votes are independent. The prior's part is kept, so that an arm hardly seen
stays uncertain.

The estimate of a variance from few clusters is noisy itself. Satterthwaite's degrees of freedom
match the first two moments of the estimate, contrast by contrast, to a multiple of a chi-squared
variable; an interval then has quantiles of Student's t. The moments are those of clusters that
differ in their parameters by a learned variance, which makes a difference where clusters are of
very different sizes. Parameters are measured in the unit of the response, effects of covariates for
one standard deviation of these.

Two-way clustering adds the covariances by judge and by group and subtracts that of the clusters of
both; negative eigenvalues are set to zero.

References
----------
Bell & McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage
samples", Survey Methodology 2002. Pustejovsky & Tipton, "Small-sample methods for cluster-robust
variance estimation and hypothesis testing in fixed effects models", JBES 2018 (with the working
covariance of the model). Imbens & Kolesar, "Robust standard errors in small samples", REStat 2016,
for moments under random effects of clusters. Cameron, Gelbach & Miller, "Robust inference with
multiway clustering", JBES 2011. Deviations: the prior enters as known information; the
approximation of a generalized linear model by a weighted linear one at the mode.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayesduel.data.votes import distinct
from bayesduel.inference.clusters import (
    BOTH,
    MOST_LONE,
    clusterings,
    needed,
    why_not_robust,
    with_lone_votes,
)
from bayesduel.inference.conditional_mode import Mode, find_mode, named_parameters
from bayesduel.inference.datatree import dataset
from bayesduel.inference.linear_predictor import LinearPredictor, linear_predictor

__all__ = ["ClusterCovariance", "cluster_covariance", "robust_covariance"]

MOST_ARMS = 1000  # whose errors are made robust; beyond, operations on matrices add up to hours
MOST_COEFFICIENTS = 1500  # of a model, likewise; their square is needed of each cluster
MOST_ADJUSTED = 1000  # clusters adjusted for leverage, the largest leverages first
LEAST_ADJUSTED = 50
WORK = 5e7  # adjusted clusters x parameters^3, between those two
TOGETHER = 8  # functionals for which the matrices of all clusters are read once
SINGULAR = 1e-8  # a direction that one cluster alone informs: less of it comes from elsewhere


class ClusterRows(NamedTuple):
    """The votes of a log, tallied by cluster and cell."""

    density: LinearPredictor  # the model's density over the rows, one cell a row
    cluster: np.ndarray  # of each row, (rows,)
    n_clusters: int  # number of clusters


class ClusterCovariance(NamedTuple):
    """A cluster-robust covariance and how much is known of it."""

    covariance: np.ndarray  # of the parameters, (size, size)
    # degrees of freedom of the estimated variance of each functional asked for, (m,)
    degrees: np.ndarray


def robust_covariance(
    duels: Any, model: Any, cells: Any, drawn: Any
) -> tuple[xr.Dataset | None, dict[str, Any]]:
    """Return model-based and cluster-robust covariances of parameters and scores.

    duels, model, cells: the log (of duels or rankings), the model fitted to it, and its cells.
    drawn: draws of the posterior; learned scales are held at their posterior medians.
    Returns dataset ``covariance`` (parameter, other) of the model and ``covariance_cluster``
    (clustering, parameter, other) of the unconstrained parameters, in the order and of the lengths
    that ``attrs["blocks"]`` and ``attrs["lengths"]`` give; ``degrees_cluster`` (clustering,
    parameter), the degrees of freedom of each (NaN of the free numbers of scores, whose arms have
    them); ``score_se`` (arm), ``score_cov`` (arm, opponent), ``score_se_cluster`` (clustering,
    arm), ``score_cov_cluster`` (clustering, arm, opponent) and ``score_degrees_cluster``
    (clustering, arm) of the centred scores; ``n_clusters`` by clustering (of two-way clustering the
    smaller number). None if there is nothing to cluster by, or nothing can be. attrs
    ``clusters_repeated``: number of clusters by clustering that the log repeats; ``clusters_auto``:
    which one "auto" takes; ``clusters_reason``: why the model has none, or "".
    """
    spread = with_lone_votes(duels)
    duels = duels if spread is None else spread
    found = clusterings(duels)
    counts = {name: int(place.max()) + 1 for name, place in found.items()}
    used = {
        name: place
        for name, place in found.items()
        if counts[name] > 1 and name not in model.terms.explains
    }
    reason = why_not_robust(model) if used else ""
    if used and spread is None:
        reason = f"votes without a judge or a group are over {MOST_LONE:,}"
    many = model.terms.items is None and duels.n_arms > MOST_ARMS
    if used and not reason and many and drawn.approximation is None:
        reason = (
            f"cluster-robust errors of this model are computed for at most {MOST_ARMS:,} arms; for "
            "more, refit without each of about 20 parts of the clusters: "
            "docs/validation/scale.md, Judges"
        )
    auto = needed(used)
    attrs = {"clusters_repeated": counts, "clusters_auto": auto, "clusters_reason": reason}
    if reason or not used:
        return None, attrs | {"clusters_auto": "model"}
    if many:
        from bayesduel.inference.sparse_sandwich import robust_dataset

        return robust_dataset(duels, model, cells, drawn, used, auto), attrs
    density = linear_predictor(model, cells)
    if density.size > MOST_COEFFICIENTS:
        reason = (
            f"cluster-robust errors are computed for at most {MOST_COEFFICIENTS:,} coefficients, "
            f"and {model.name} has {density.size:,}"
        )
        return None, attrs | {"clusters_auto": "model", "clusters_reason": reason}
    phi = np.concatenate(
        [np.log(np.atleast_1d(_median(drawn, name))) for name in density.hypers] or [np.zeros(1)]
    )
    mode = find_mode(density, phi)
    scores = _score_map(model, density, duels)
    names = [name for name, n in density.blocks.items() for _ in range(1 if n is None else n)]
    own_numbers = np.flatnonzero(np.array(names) != "score_free")
    functionals = np.concatenate([scores, np.eye(density.size)[own_numbers]])
    by_name = {
        name: cluster_covariance(mode, phi, _rows(density, duels, model, place), functionals)
        for name, place in used.items()
    }
    if auto == BOTH:
        both = _rows(density, duels, model, distinct(used["judge"], used["group"])[1])
        within = cluster_covariance(mode, phi, both, functionals[:0])
        by_name[BOTH] = _two_way(mode, by_name["judge"], by_name["group"], within)
        counts = counts | {BOTH: min(counts["judge"], counts["group"])}
    own = mode.covariance()
    robust = np.stack([one.covariance for one in by_name.values()])
    found_degrees = np.stack([one.degrees for one in by_name.values()])
    degrees = np.full(robust.shape[:2], np.nan)
    degrees[:, own_numbers] = found_degrees[:, len(scores) :]
    own_score, robust_score = scores @ own @ scores.T, scores @ robust @ scores.T
    arms = np.array(duels.arms, dtype=object)
    pair, square = ("parameter", "other"), ("arm", "opponent")
    errors = np.sqrt(np.maximum(np.diagonal(robust_score, axis1=1, axis2=2), 0.0))
    robust_set = dataset(
        {
            "covariance": (pair, own),
            "covariance_cluster": (("clustering", *pair), robust),
            "degrees_cluster": (("clustering", "parameter"), degrees),
            "score_se": ("arm", np.sqrt(own_score.diagonal())),
            "score_cov": (square, own_score),
            "score_se_cluster": (("clustering", "arm"), errors),
            "score_cov_cluster": (("clustering", *square), robust_score),
            "score_degrees_cluster": (("clustering", "arm"), found_degrees[:, : len(scores)]),
            "n_clusters": ("clustering", [counts[name] for name in by_name]),
        },
        coords={"arm": arms, "opponent": arms, "clustering": np.array(list(by_name), dtype=object)},
        attrs={
            "estimator": "CR2",
            "parameters": density.size,
            "blocks": list(density.blocks),
            "lengths": [1 if n is None else n for n in density.blocks.values()],
        },
    )
    return robust_set, attrs


def cluster_covariance(
    mode: Mode, phi: np.ndarray, rows: ClusterRows, functionals: np.ndarray
) -> ClusterCovariance:
    """Return the bias-reduced covariance by cluster, with Satterthwaite's degrees of freedom.

    At the posterior `mode` given hyperparameters `phi` (logarithms), of the votes by cluster;
    degrees are those of the linear functionals of the parameters, (m, size). Clusters are adjusted
    for their leverage, of very many the 1,000 with the largest (fewer where there are many
    parameters); the adjustment of the others is negligible.
    """
    root = np.linalg.cholesky(mode.covariance())  # in coordinates where the precision is I
    gradient = rows.density.gradients(mode.x, phi, rows.cluster, rows.n_clusters) @ root
    prior = root.T @ mode.prior @ root
    chosen = _by_leverage(mode, phi, rows, (gradient**2).sum(axis=1))
    information = _informations(mode, phi, rows, chosen, root)
    values, vectors = np.linalg.eigh(information)
    lone = values > 1.0 - SINGULAR
    stretch = np.where(lone, 0.0, 1.0 / np.sqrt(np.where(lone, 1.0, 1.0 - values)))
    adjust = vectors * stretch[:, None, :] @ vectors.swapaxes(1, 2)
    lone_part = np.einsum("cij,cj,ckj->ik", vectors, lone * 1.0, vectors)
    raw = gradient[chosen]
    gradient[chosen] = (adjust @ raw[:, :, None])[:, :, 0]
    covariance = root @ (gradient.T @ gradient + prior + lone_part) @ root.T
    degrees = np.empty(len(functionals))
    if len(functionals):
        spread = np.linalg.solve(root, np.diag(rows.density.typical))
        taste = spread @ spread.T
        working = _working(raw, information, taste, prior)
        rest = np.eye(len(prior)) - prior - information.sum(axis=0)
        n_rest = rows.n_clusters - len(chosen)
        asked = functionals @ root
        moments = chain.from_iterable(
            _moments(adjust @ asked[start : start + TOGETHER].T, information, *working)
            for start in range(0, len(asked), TOGETHER)
        )
        for k, (w, (mean, square)) in enumerate(zip(asked, moments, strict=True)):
            if w @ lone_part @ w > 0.01 * (w @ w):
                degrees[k] = 1.0  # it rests on one cluster: nothing shows how clusters vary
                continue
            known = max(float(w @ (prior + lone_part) @ w), 0.0)
            others = max(float(w @ rest @ w), 0.0) if n_rest else 0.0
            total = mean + known + others
            noise = square + others**2 / max(n_rest, 1)
            degrees[k] = total**2 / noise if noise > 0 else np.inf
    return ClusterCovariance(covariance, np.maximum(degrees, 1.0))


def _median(drawn: Any, name: str) -> np.ndarray:
    """Return the posterior median of a hyperparameter by the name the density knows."""
    if name == "degrees_over_1":
        return np.median(drawn.posterior["degrees"], axis=0) - 1.0
    return np.median(drawn.posterior[name], axis=0)


def _score_map(model: Any, density: LinearPredictor, duels: Any) -> np.ndarray:
    """Return the matrix that takes unconstrained parameters to centred scores, (K, size)."""
    unit = np.eye(density.size)
    none = np.zeros((density.size, max(1, sum(n or 1 for n in density.hypers.values()))))
    found = model.parameters(named_parameters(density, unit, none), duels.arms)
    for part in model.terms.arms:
        found = part.complete(found, duels.arms)
    return np.asarray(found["score"]).T


def _rows(density: LinearPredictor, duels: Any, model: Any, cluster: np.ndarray) -> ClusterRows:
    """Return the votes of a log, tallied by cluster and cell where counts add up."""
    n_clusters = int(cluster.max()) + 1
    if not model.response.counts_add_up:
        cells = model.cells(duels, each=True)
        of_cell = cluster if cells.vote is None else cluster[cells.vote]
        return ClusterRows(linear_predictor(model, cells), of_cell, n_clusters)
    seen = model.cells(duels, by_vote=True).seen
    first, place = distinct(cluster, seen.of_vote)
    votes = np.stack([np.bincount(place, a, minlength=len(first)) for a in seen.added.T], axis=-1)
    data = model.response.data(duels, type(seen)(columns={}, counts=votes), explicit=False)
    data["log_coefficient"] = np.zeros(len(first))
    return ClusterRows(density.over(data, seen.of_vote[first]), cluster[first], n_clusters)


def _two_way(
    mode: Mode, judge: ClusterCovariance, group: ClusterCovariance, within: ClusterCovariance
) -> ClusterCovariance:
    """Return the covariance by judge and group, positive semidefinite in the model's metric."""
    root = np.linalg.cholesky(mode.covariance())
    both = judge.covariance + group.covariance - within.covariance
    flat = np.linalg.solve(root, np.linalg.solve(root, both).T)
    values, vectors = np.linalg.eigh((flat + flat.T) / 2)
    turned = root @ vectors
    covariance = turned * np.maximum(values, 0.0) @ turned.T
    return ClusterCovariance(covariance, np.minimum(judge.degrees, group.degrees))


def _by_leverage(mode: Mode, phi: np.ndarray, rows: ClusterRows, pull: np.ndarray) -> np.ndarray:
    """Return the clusters to adjust, indices: all, or those with the largest leverage.

    Of equal leverages those with the largest `pull`, (clusters,), whatever the order of the log.
    """
    room = int(np.clip(WORK / len(mode.x) ** 3, LEAST_ADJUSTED, MOST_ADJUSTED))
    if rows.n_clusters <= room:
        return np.arange(rows.n_clusters)
    spread = rows.density.spread(mode.covariance())
    bend = rows.density.derivatives(mode.x, phi).bend
    leverage = np.bincount(rows.cluster, -bend * spread**2, minlength=rows.n_clusters)
    alike = (np.round(values / values.max(), 12) for values in (pull, leverage))
    return np.sort(np.lexsort(tuple(alike))[-room:])


def _informations(
    mode: Mode, phi: np.ndarray, rows: ClusterRows, chosen: np.ndarray, root: np.ndarray
) -> np.ndarray:
    """Return root' F_c root of the clusters chosen, (n, size, size)."""
    order = np.argsort(rows.cluster, kind="stable")
    ends = np.searchsorted(rows.cluster[order], np.arange(rows.n_clusters + 1))
    found = np.empty((len(chosen), *root.shape))
    for k, c in enumerate(chosen):
        part = rows.density.over({}, order[ends[c] : ends[c + 1]])
        found[k] = root.T @ part.information(mode.x, phi) @ root
    return found


def _working(
    gradient: np.ndarray, information: np.ndarray, taste: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each cluster's working covariance of gradients, and the sum with the prior's.

    Clusters differ in their parameters by a multiple of the covariance `taste`, estimated by the
    method of moments: the expected sum of squared gradients is linear in it.
    """
    tasted = information @ taste @ information
    plain = np.einsum("cii->", information) - (information**2).sum()
    square = information @ information
    more = np.einsum("cii->", tasted) - 2 * np.einsum("cij,cji->", tasted, information)
    more += np.einsum("ij,cji->", tasted.sum(axis=0), square)
    variance = max(0.0, ((gradient**2).sum() - plain) / more) if more > 0 else 0.0
    working = information + variance * tasted
    return working, np.eye(len(prior)) + variance * tasted.sum(axis=0)


def _moments(
    u: np.ndarray, information: np.ndarray, working: np.ndarray, total: np.ndarray
) -> Iterator[tuple[float, float]]:
    """Yield trace and sum of squares of Omega, the covariance of the clusters' parts.

    Of each functional, the last axis of `u` (clusters, size, functionals). The part of cluster c in
    the estimated variance is the square of ``u_c' h_c``, and h_c is g_c less what the fit explains
    of it, ``A_c sum_d g_d``.
    """
    of_each = (np.moveaxis(array, -1, 0) for array in (u, information @ u, working @ u))
    for u, x, y in zip(*map(np.ascontiguousarray, of_each), strict=True):
        own = (u * y).sum(axis=1)
        if len(u) <= 2 * u.shape[1]:
            crossed = y @ x.T
            omega = np.diag(own) - crossed - crossed.T + x @ total @ x.T
            yield float(omega.trace()), float((omega**2).sum())
            continue
        # Omega is diag(own) + z M z' with z = (x, y), M = [[total, -1], [-1, 0]].
        fitted = ((x @ total - 2 * y) * x).sum(axis=1)
        xx, xy, yy = x.T @ x, x.T @ y, y.T @ y
        first, second = total @ xx - xy.T, total @ xy - yy  # the upper blocks of M z' z
        both = (first * first.T).sum() - 2 * (second * xx).sum() + (xy * xy.T).sum()
        square = (own**2).sum() + 2 * (own * fitted).sum() + both
        yield float((own + fitted).sum()), float(square)
