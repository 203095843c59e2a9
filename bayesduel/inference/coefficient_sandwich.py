"""Standard errors of a model of attributes that survive repeated votes.

As :mod:`bayesduel.inference.sandwich`, over all parameters of a model whose linear predictor is
dense: with H the posterior precision at the mode, Pi the prior's part of it and M the empirical
covariance of the clusters' gradients, the covariance is ``H^-1 (M + Pi) H^-1``. It is rough where
there are fewer than some forty clusters; the number is kept beside it.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy import sparse

from bayesduel.inference.dense import Dense, dense
from bayesduel.inference.laplace import find_mode
from bayesduel.inference.sandwich import clusterings, too_few

if TYPE_CHECKING:
    from bayesduel.data.duels import Duels

__all__ = ["robust_covariance"]


def robust_covariance(duels: "Duels", model: Any, sampled: Any) -> xr.Dataset | None:
    """Return model-based and cluster-robust covariances of all parameters, or None.

    Parameters
    ----------
    duels, model
        The log and the model of attributes fitted to it.
    sampled
        Its draws; a learned scale is held at its posterior median.

    Returns
    -------
    ``covariance`` (parameter, other) of the model, ``covariance_cluster`` (clustering,
    parameter, other) and ``n_clusters`` (clustering); parameters in the order in which
    ``attrs["blocks"]`` names them. None if no votes are repeated, or by too few clusters to
    tell (:func:`bayesduel.inference.sandwich.too_few`).
    """
    few = too_few(duels, model)
    found = {name: place for name, place in clusterings(duels).items() if name not in few}
    if not found:
        return None
    linear = dense(model, duels)
    hyper = float(np.log(np.median(sampled.posterior[linear.hyper]))) if linear.hyper else 0.0
    mode = find_mode(linear, hyper)
    inverse = mode.covariance()
    robust, counts = [], []
    for cluster in found.values():
        gradient = _gradients(linear, mode.x, duels, cluster, model)
        n = len(gradient)
        gradient -= gradient.mean(axis=0)
        meat = gradient.T @ gradient * n / (n - 1)
        robust.append(inverse @ (meat + np.diag(mode.prior)) @ inverse)
        counts.append(n)
    both = ("parameter", "other")
    return xr.Dataset(
        {
            "covariance": (both, inverse),
            "covariance_cluster": (("clustering", *both), np.stack(robust)),
            "n_clusters": ("clustering", counts),
        },
        coords={"clustering": np.array(list(found), dtype=object)},
        attrs={"blocks": list(linear.blocks)},
    )


def _gradients(
    linear: Dense, x: np.ndarray, duels: "Duels", cluster: np.ndarray, model: Any
) -> np.ndarray:
    """Return the gradient of each cluster's log likelihood at `x`, shape (clusters, size)."""
    votes = duels.votes
    assert votes is not None
    first, second, outcome = votes.left, votes.right, votes.outcome
    if not model.order_effect:
        swapped = first > second
        first, second = np.where(swapped, second, first), np.where(swapped, first, second)
        outcome = np.where(swapped, -outcome, outcome)
    cell_key = linear.data["first"].astype(np.int64) * duels.n_arms + linear.data["second"]
    order = np.argsort(cell_key)
    key = first.astype(np.int64) * duels.n_arms + second
    cell = order[np.searchsorted(cell_key, key, sorter=order)]
    rows = {
        "points": votes.weight * (1 + outcome) / 2,
        "n": votes.weight.astype(float),
        "log_coefficient": np.zeros(len(cell)),
    }
    split = replace(linear, data={**linear.data, **rows}, jacobian=linear.jacobian[cell])
    place = np.arange(len(cell))
    shape = (int(cluster.max()) + 1, len(cell))
    slopes = sparse.csr_array((split.slopes(x), (cluster, place)), shape=shape)
    return np.asarray((slopes @ split.jacobian).todense())
