"""Cluster-robust (sandwich) standard errors.

Votes of one judge, or votes on one pair within one group (prompt, list, context), are not
independent. The point estimate stands; its covariance is taken from how whole clusters of votes
vary: a sandwich where there are clearly more clusters than parameters, a bootstrap of clusters
otherwise. The prior's part of the posterior covariance is kept, so that an arm hardly seen stays
uncertain.

With H the posterior precision at the mode, Pi the prior's part of it and M the empirical
covariance of the clusters' gradients, the sandwich is ``H^-1 (M + Pi) H^-1``; with independent
votes M estimates ``H - Pi`` and it is the model's own ``H^-1``.

References
----------
Liang & Zeger, "Longitudinal data analysis using generalized linear models", Biometrika 1986.
Cameron & Miller, "A practitioner's guide to cluster-robust inference", J. Human Resources 2015.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from scipy import sparse

from bayesduel.inference.laplace import Mode, find_mode, named_parameters
from bayesduel.inference.linear_predictor import LinearPredictor, linear_predictor

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = [
    "CLEARLY_MORE",
    "FEWEST",
    "clusterings",
    "robust_covariance",
    "too_few",
    "why_not_robust",
]

CLEARLY_MORE = 5  # clusters a parameter, from which the sandwich is used
FEWEST = 10  # clusters below which their variance cannot be estimated
RESAMPLES = 500


class Rows(NamedTuple):
    """The votes of a log, tallied by cluster and cell.

    Attributes
    ----------
    density
        The model's density over the rows, one cell a row.
    cluster, cell
        Of each row, (rows,).
    counts
        What each row adds to the counts of its cell, by name of the data, (rows, ...).
    n_clusters
        Number of clusters.
    """

    density: LinearPredictor
    cluster: np.ndarray
    cell: np.ndarray
    counts: Mapping[str, np.ndarray]
    n_clusters: int


def clusterings(duels: "Duels") -> dict[str, np.ndarray]:
    """Return the cluster of each vote, by clustering, where the log repeats any.

    "judge": votes of the same judge; "pair and group": votes on the same pair in the same
    group. A vote without judge or group is a cluster of its own.
    """
    votes = duels.votes
    found: dict[str, np.ndarray] = {}
    if votes is None:
        return found
    keys: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    low, high = np.minimum(votes.left, votes.right), np.maximum(votes.left, votes.right)
    pair = low.astype(np.int64) * duels.n_arms + high
    if votes.judge is not None:
        keys["judge"] = votes.judge, votes.judge.astype(np.int64)
    if votes.group is not None:
        keys["pair and group"] = votes.group, votes.group.astype(np.int64) * duels.n_arms**2 + pair
    for name, (label, key) in keys.items():
        alone = -1 - np.arange(len(key))
        place = np.unique(np.where(label < 0, alone, key), return_inverse=True)[1]
        if np.bincount(place, votes.weight).max() > 1:
            found[name] = place
    return found


def why_not_robust(model: Any) -> str:
    """Return why the errors of a model cannot be made cluster-robust, or ""."""
    if model.approximation == "conjugate":
        return "each pair has a parameter of its own: use one majority vote for each unit"
    if model.integrates_pair:
        return "the votes on a pair share a parameter that the likelihood integrates out"
    if model.why_nuts:
        return f"the posterior has no mode at which votes add up: {model.why_nuts}"
    return ""


def too_few(duels: "Duels", model: Any, cells: Any) -> tuple[dict[str, int], str]:
    """Return the clusterings left out with their number of clusters, and why all are.

    They have fewer than `FEWEST`; or, under a flat prior, not more clusters than parameters:
    their sandwich is singular, and a resampled log may have no maximum. Where no errors of the
    model can be made robust, all are left out for the reason given.
    """
    counts = {name: int(place.max()) + 1 for name, place in clusterings(duels).items()}
    reason = why_not_robust(model) if counts else ""
    if reason:
        return counts, reason
    if not counts:
        return {}, ""
    least = FEWEST
    if model.flat:
        size = duels.n_arms if model.items is None else len(model.items.names) + 1
        least = max(FEWEST, size + 1)
    return {name: n for name, n in counts.items() if n < least}, ""


def robust_covariance(
    duels: "Duels", model: Any, cells: Any, drawn: Any, seed: int
) -> xr.Dataset | None:
    """Return model-based and cluster-robust covariances of parameters and scores, or None.

    Parameters
    ----------
    duels, model, cells
        The log, the model fitted to it, and its cells.
    drawn
        Draws of the posterior; learned scales are held at their posterior medians.
    seed
        Of the bootstrap.

    Returns
    -------
    ``covariance`` (parameter, other) of the model and ``covariance_cluster`` (clustering,
    parameter, other) of the unconstrained parameters, in the order and of the lengths that
    ``attrs["blocks"]`` and ``attrs["lengths"]`` give; ``score_se`` (arm), ``score_cov`` (arm,
    opponent), ``score_se_cluster`` (clustering, arm) and ``score_cov_cluster`` (clustering, arm,
    opponent) of the scores; ``n_clusters`` and ``route`` ("sandwich" or "bootstrap") by
    clustering. None if no votes are repeated, or by too few clusters (:func:`too_few`).
    """
    few, _ = too_few(duels, model, cells)
    found = {name: place for name, place in clusterings(duels).items() if name not in few}
    if not found:
        return None
    density = linear_predictor(model, cells)
    phi = np.concatenate(
        [np.log(np.atleast_1d(_median(drawn, name))) for name in density.hypers] or [np.zeros(1)]
    )
    mode = find_mode(density, phi)
    covs, routes, counts = [], [], []
    for k, cluster in enumerate(found.values()):
        rows = _rows(density, duels, model, cluster)
        resampled = rows.n_clusters < CLEARLY_MORE * density.size and not model.flat
        if resampled:
            rng = np.random.default_rng([seed, k])
            covs.append(_bootstrap(density, mode, phi, rows, rng))
        else:
            covs.append(_sandwich(mode, phi, rows))
        routes.append("bootstrap" if resampled else "sandwich")
        counts.append(rows.n_clusters)
    own, robust = mode.covariance(), np.stack(covs)
    scores = _score_map(model, density, duels)
    own_score, robust_score = scores @ own @ scores.T, scores @ robust @ scores.T
    arms = np.array(duels.arms, dtype=object)
    both, square = ("parameter", "other"), ("arm", "opponent")
    errors = np.sqrt(np.maximum(np.diagonal(robust_score, axis1=1, axis2=2), 0.0))
    return xr.Dataset(
        {
            "covariance": (both, own),
            "covariance_cluster": (("clustering", *both), robust),
            "score_se": ("arm", np.sqrt(own_score.diagonal())),
            "score_cov": (square, own_score),
            "score_se_cluster": (("clustering", "arm"), errors),
            "score_cov_cluster": (("clustering", *square), robust_score),
            "n_clusters": ("clustering", counts),
            "route": ("clustering", np.array(routes, dtype=object)),
        },
        coords={
            "arm": arms,
            "opponent": arms,
            "clustering": np.array(list(found), dtype=object),
        },
        attrs={
            "resamples": RESAMPLES,
            "parameters": density.size,
            "blocks": list(density.blocks),
            "lengths": [1 if n is None else n for n in density.blocks.values()],
        },
    )


# -- in calling order ----------------------------------------------------------------------


def _median(drawn: Any, name: str) -> np.ndarray:
    """Return the posterior median of a hyperparameter by the name the density knows."""
    if name == "degrees_over_1":
        return np.median(drawn.posterior["degrees"], axis=0) - 1.0
    return np.median(drawn.posterior[name], axis=0)


def _rows(density: LinearPredictor, duels: Any, model: Any, cluster: np.ndarray) -> Rows:
    """Return the votes of a log, tallied by cluster and cell where counts add up."""
    n_clusters = int(cluster.max()) + 1
    if not model.response.counts_add_up:
        each = linear_predictor(model, model.cells(duels, each=True))
        counts = {name: each.data[name] for name in ("n", "n_left")}
        return Rows(each, cluster, np.arange(len(cluster)), counts, n_clusters)
    seen = model.seen(duels, by_vote=True)
    n_cells = len(seen)
    key = cluster.astype(np.int64) * n_cells + seen.of_vote
    key, place = np.unique(key, return_inverse=True)
    weight = duels.votes.weight
    votes = np.stack(
        [np.bincount(place, weight * (seen.result == r), minlength=len(key)) for r in range(3)],
        axis=-1,
    )
    cell = key % n_cells
    data = model.response.data(duels, type(seen)(columns={}, counts=votes), explicit=False)
    data["log_coefficient"] = np.zeros(len(key))
    counts = {name: v for name, v in data.items() if name != "log_coefficient"}
    return Rows(density.over(data, cell), key // n_cells, cell, counts, n_clusters)


def _sandwich(mode: Mode, phi: np.ndarray, rows: Rows) -> np.ndarray:
    n = rows.n_clusters
    gradient = rows.density.gradients(mode.x, phi, rows.cluster, n)
    gradient -= gradient.mean(axis=0)
    meat = gradient.T @ gradient * n / (n - 1)
    inverse = mode.covariance()
    return inverse @ (meat + np.diag(mode.prior)) @ inverse


def _bootstrap(
    density: LinearPredictor, mode: Mode, phi: np.ndarray, rows: Rows, rng: np.random.Generator
) -> np.ndarray:
    n, n_cells = rows.n_clusters, int(rows.cell.max()) + 1
    by_cluster = {}
    for name, values in rows.counts.items():
        columns = values.reshape(len(values), -1).T
        by_cluster[name] = [
            sparse.coo_array((c, (rows.cluster, rows.cell)), shape=(n, n_cells)).tocsr()
            for c in columns
        ]
    whole = density if n_cells == density.n_cells else rows.density
    even = np.full(n, 1.0 / n)
    modes = np.empty((RESAMPLES, density.size))
    unchanged = np.arange(n_cells)
    for b in range(RESAMPLES):
        weight = rng.multinomial(n, even).astype(float)
        data = {
            name: np.column_stack([weight @ c for c in columns]).reshape(
                n_cells, *rows.counts[name].shape[1:]
            )
            for name, columns in by_cluster.items()
        }
        if "log_coefficient" in whole.data:
            data["log_coefficient"] = np.zeros(n_cells)
        modes[b] = find_mode(whole.over(data, unchanged), phi, mode.x).x
    inverse = mode.covariance()
    prior = inverse * mode.prior @ inverse
    return np.cov(modes, rowvar=False).reshape(density.size, -1) + prior


def _score_map(model: Any, density: LinearPredictor, duels: Any) -> np.ndarray:
    """Return the matrix that takes unconstrained parameters to centred scores, (K, size)."""
    unit = np.eye(density.size)
    none = np.zeros((density.size, max(1, sum(n or 1 for n in density.hypers.values()))))
    found = model.predictor.arms.score(named_parameters(density, unit, none), duels.arms)
    return np.asarray(found["score"]).T
