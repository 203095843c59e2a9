"""Standard errors that survive repeated votes.

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

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from scipy import sparse

from bayesduel.inference.laplace import Mode, find_mode
from bayesduel.inference.linear_predictor import Derivatives, centre, derivatives, uncentre

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["CLEARLY_MORE", "FEWEST", "cluster_errors", "clusterings", "is_flat", "too_few"]

CLEARLY_MORE = 5  # clusters a parameter, from which the sandwich is used
FEWEST = 10  # clusters below which how they vary cannot be told
RESAMPLES = 500


class Rows(NamedTuple):
    """Votes tallied by cluster and unordered pair, all shape (rows,) but `counts` (rows, 3)."""

    cluster: np.ndarray
    first: np.ndarray
    second: np.ndarray
    counts: np.ndarray
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


def too_few(duels: "Duels", model: Any) -> dict[str, int]:
    """Return the clusterings left out, with their number of clusters.

    They have fewer than `FEWEST`; or, under a flat prior, not more clusters than scores (or
    coefficients): their sandwich is singular, and a resampled log may have no maximum.
    """
    size = len(model.items.names) + 1 if hasattr(model, "items") else duels.n_arms
    counts = {name: int(place.max()) + 1 for name, place in clusterings(duels).items()}
    least = max(FEWEST, size + 1) if is_flat(model) else FEWEST
    return {name: n for name, n in counts.items() if n < least}


def is_flat(model: Any) -> bool:
    """Return whether the model's scores have a flat prior."""
    return bool(np.isinf(getattr(model, "scale", None) or 0.0))


def cluster_errors(duels: "Duels", model: Any, sampled: Any, seed: int) -> xr.Dataset | None:
    """Return model-based and cluster-robust covariances of the scores, or None.

    Parameters
    ----------
    duels, model
        The log and the score model fitted to it.
    sampled
        Its draws; the scale is held at its posterior median.
    seed
        Of the bootstrap.

    Returns
    -------
    ``score_se`` (arm) and ``score_cov`` (arm, opponent) of the model; ``score_se_cluster``
    (clustering, arm), ``score_cov_cluster`` (clustering, arm, opponent), ``n_clusters`` and
    ``route`` ("sandwich" or "bootstrap") by clustering. None if no votes are repeated, or by
    too few clusters to tell (:func:`too_few`).
    """
    few = too_few(duels, model)
    found = {name: place for name, place in clusterings(duels).items() if name not in few}
    if not found:
        return None
    derivative = derivatives(model, duels)
    scale = sampled.posterior.get("scale")
    hyper = 0.0 if scale is None else float(np.log(np.median(scale)))
    mode = find_mode(derivative, hyper)
    own = _score_cov(mode.covariance(), duels.n_arms)
    covs, routes, counts = [], [], []
    for k, cluster in enumerate(found.values()):
        rows = _tally(duels, cluster)
        resampled = rows.n_clusters < CLEARLY_MORE * derivative.size and not is_flat(model)
        if resampled:
            rng = np.random.default_rng([seed, k])
            covariance = _bootstrap(derivative, mode, hyper, rows, rng)
        else:
            covariance = _sandwich(derivative, mode, hyper, rows)
        covs.append(_score_cov(covariance, duels.n_arms))
        routes.append("bootstrap" if resampled else "sandwich")
        counts.append(rows.n_clusters)
    robust = np.stack(covs)
    return xr.Dataset(
        {
            "score_se": ("arm", np.sqrt(own.diagonal())),
            "score_cov": (("arm", "opponent"), own),
            "score_se_cluster": (
                ("clustering", "arm"),
                np.sqrt(np.diagonal(robust, axis1=1, axis2=2)),
            ),
            "score_cov_cluster": (("clustering", "arm", "opponent"), robust),
            "n_clusters": ("clustering", counts),
            "route": ("clustering", np.array(routes, dtype=object)),
        },
        coords={
            "arm": np.array(duels.arms, dtype=object),
            "opponent": np.array(duels.arms, dtype=object),
            "clustering": np.array(list(found), dtype=object),
        },
        attrs={"resamples": RESAMPLES, "parameters": derivative.size},
    )


def _score_cov(covariance: np.ndarray, n_arms: int) -> np.ndarray:
    inner = covariance[: n_arms - 1, : n_arms - 1]
    return centre(centre(inner).T)


def _tally(duels: "Duels", cluster: np.ndarray) -> Rows:
    votes = duels.votes
    assert votes is not None
    swapped = votes.left > votes.right
    first, second = np.minimum(votes.left, votes.right), np.maximum(votes.left, votes.right)
    outcome = np.where(swapped, -votes.outcome, votes.outcome)
    pair = first.astype(np.int64) * duels.n_arms + second
    key, place = np.unique(cluster.astype(np.int64) * duels.n_arms**2 + pair, return_inverse=True)
    counts = np.stack(
        [np.bincount(place, votes.weight * (outcome == o), minlength=len(key)) for o in (1, -1, 0)],
        axis=-1,
    )
    rest = key % duels.n_arms**2
    return Rows(
        key // duels.n_arms**2,
        (rest // duels.n_arms).astype(np.int32),
        (rest % duels.n_arms).astype(np.int32),
        counts,
        int(cluster.max()) + 1,
    )


def _with_counts(
    derivative: Derivatives, first: np.ndarray, second: np.ndarray, counts: np.ndarray
) -> Derivatives:
    """Return the derivatives over other cells with these (first wins, second wins, ties)."""
    data = dict(derivative.data)
    data["first"], data["second"] = first, second
    data["n"] = counts.sum(axis=1)
    data["log_coefficient"] = np.zeros(len(first))
    if "counts" in data:
        data["counts"] = counts.astype(float)
    else:
        data["points"] = counts[:, 0] + counts[:, 2] / 2
    return replace(derivative, data=data)


def _sandwich(derivative: Derivatives, mode: Mode, hyper: float, rows: Rows) -> np.ndarray:
    split = _with_counts(derivative, rows.first, rows.second, rows.counts)
    slope, extra = split.slopes(mode.x, hyper)
    size = (rows.n_clusters, derivative.n_arms)
    place = rows.cluster
    by_arm = sparse.coo_array((slope, (place, rows.first)), shape=size).toarray()
    by_arm -= sparse.coo_array((slope, (place, rows.second)), shape=size).toarray()
    parts = [uncentre(by_arm)]
    if extra.shape[1]:
        columns = [np.bincount(place, c, minlength=rows.n_clusters) for c in extra.T]
        parts.append(np.stack(columns, axis=1))
    gradient = np.concatenate(parts, axis=1)
    gradient -= gradient.mean(axis=0)
    meat = gradient.T @ gradient * rows.n_clusters / (rows.n_clusters - 1)
    inverse = mode.covariance()
    return inverse @ (meat + np.diag(mode.prior)) @ inverse


def _bootstrap(
    derivative: Derivatives, mode: Mode, hyper: float, rows: Rows, rng: np.random.Generator
) -> np.ndarray:
    first, second = derivative.data["first"], derivative.data["second"]
    cell = {(i, j): k for k, (i, j) in enumerate(zip(first, second, strict=True))}
    place = np.array([cell[pair] for pair in zip(rows.first, rows.second, strict=True)])
    shape = (rows.n_clusters, len(first))
    by_cluster = [
        sparse.coo_array((column, (rows.cluster, place)), shape=shape).tocsr()
        for column in rows.counts.T
    ]
    even = np.full(rows.n_clusters, 1.0 / rows.n_clusters)
    modes = np.empty((RESAMPLES, derivative.size))
    for b in range(RESAMPLES):
        weight = rng.multinomial(rows.n_clusters, even).astype(float)
        counts = np.stack([weight @ column for column in by_cluster], axis=1)
        again = _with_counts(derivative, first, second, counts)
        modes[b] = find_mode(again, hyper, mode.x).x
    inverse = mode.covariance()
    prior = inverse * mode.prior @ inverse
    return np.cov(modes, rowvar=False).reshape(derivative.size, -1) + prior
