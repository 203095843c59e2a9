"""Cluster-robust errors of many arms: draws from the sandwich, by perturbing clusters and solving.

With H the precision of scores (and coefficients beside them), Pi the prior's part of it and h_c the
gradient of cluster c, the vector ``H^-1 (sum_c z_c h_c + Pi^(1/2) z)``, all z independent standard
normal, has the cluster-robust covariance ``H^-1 (sum_c h_c h_c' + Pi) H^-1``. The gradients of all
clusters are one sparse matrix with an entry for each cluster and arm that met; the system is solved
by conjugate gradients; nothing is as large as K x K.

An arm's part of a gradient is divided by ``sqrt(1 - p)``, where p is the share of the cluster in
what is known of the arm: the bias-reduced linearization of :mod:`bayesduel.inference.sandwich`, arm
by arm. Its degrees of freedom are Satterthwaite's where opponents are known, ``m^2 / sum_c m_c^2``
with ``m_c = F_c + v F_c^2``, F_c the information of the cluster; v, the variance by which clusters
differ, is estimated by moments. Two-way clustering adds the draws by judge and by group, stretched
arm by arm to the variance ``V_judge + V_group - V_both``, which is at least the larger of the two.

References
----------
Those of :mod:`bayesduel.inference.sandwich`. Mammen, "Bootstrap and wild bootstrap for high
dimensional linear models", Annals of Statistics 1993 (independent multipliers of scores); Kline &
Santos, "A score based approach to wild bootstrap inference", Journal of Econometric Methods 2012.
Deviations: normal multipliers; the prior; the adjustment arm by arm.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from scipy import sparse

from bayesduel.data.votes import distinct
from bayesduel.inference.clusters import BOTH, count_clusters
from bayesduel.inference.sparse_gaussian import BLOCK, SparseGaussian
from bayesduel.inference.sparse_sample import effect_lengths

__all__ = ["CellVotes", "RobustDraws", "robust_dataset", "robust_draws"]


@dataclass(frozen=True, eq=False)
class RobustDraws:
    """Draws around 0 with a cluster-robust covariance."""

    score: np.ndarray  # shapes (draws, K), float32, and (draws, p)
    effect: np.ndarray
    error: np.ndarray  # standard deviations, shapes (K,) and (p,): what the draws were stretched to
    effect_error: np.ndarray
    degrees: np.ndarray  # degrees of freedom of each as an estimate, shapes (K,) and (p,)
    effect_degrees: np.ndarray


@dataclass(frozen=True, eq=False)
class CellVotes:
    """The votes of a log on the cells of a graph."""

    cell: np.ndarray  # of each vote, shape (votes,)
    points: np.ndarray  # of its first arm, 1, 1/2 or 0
    weight: np.ndarray  # how often it was cast

    @classmethod
    def of(cls, model: Any, duels: Any) -> "CellVotes":
        """Return the votes of a log as a model sees them."""
        seen = model.cells(duels, by_vote=True).seen
        weight = seen.added.sum(axis=1)
        won, _, tied = seen.added.T
        won_by_first = won + tied / 2
        points = won_by_first / np.maximum(weight, 1e-300)
        return cls(seen.of_vote, points, weight)


def robust_draws(
    found: SparseGaussian,
    votes: CellVotes,
    cluster: np.ndarray,
    n: int,
    rng: np.random.Generator,
) -> RobustDraws:
    """Return `n` draws from the sandwich of one clustering: the `cluster` of each vote, (votes,).

    `found` is the approximation of the posterior, whose scale is held.
    """
    graph = found.graph
    precision = found.precision
    cell = votes.cell
    slope, weight = _by_vote(found, votes)
    by_arm, degrees = _of_arms(found, cell, slope, weight, cluster)
    by_effect, effect_degrees = _of_effects(found, cell, slope, weight, cluster)
    n_arms, n_clusters = by_arm.shape
    n_effects = len(graph.tightness)
    tau = precision.scores.tau
    diagonal = precision.scores.diagonal
    root = np.float32(np.sqrt(tau))
    effect_root = np.sqrt(graph.tightness)[:, None]
    score = np.empty((n, n_arms), dtype=np.float32)
    effect = np.empty((n, n_effects))
    remote = np.zeros(n_arms)
    for start in range(0, n, BLOCK):
        end = min(start + BLOCK, n)
        here = slice(start, end)
        columns = end - start
        noise = rng.standard_normal((n_clusters, columns), dtype=np.float32)
        own = rng.standard_normal((n_arms, columns), dtype=np.float32)
        own_effect = rng.standard_normal((n_effects, columns))
        right = by_arm @ noise + root * own
        other = by_effect @ noise + effect_root * own_effect
        left = other - precision.along.T @ right
        turn = precision.covariance @ left
        pushed = right - precision.border @ turn
        single = pushed.astype(np.float32)
        solved = precision.scores.solve_block(single)
        level = solved.mean(axis=0, dtype=float)
        solved -= level.astype(np.float32)
        centred = right - right.mean(axis=0)
        local = centred / diagonal[:, None]
        more = solved**2 - local**2
        remote += more.sum(axis=1, dtype=float)
        score[here] = solved.T
        effect[here] = turn.T
    squares = by_arm.power(2).sum(axis=1)
    exact = squares.astype(float) + tau
    near = exact / diagonal**2
    variance = near + remote / n
    error = np.sqrt(np.maximum(variance, 1e-12))
    score -= score.mean(axis=0)
    _stretch(score, error)
    return RobustDraws(
        score=score,
        effect=effect - effect.mean(axis=0),
        error=error,
        effect_error=effect.std(axis=0),
        degrees=degrees,
        effect_degrees=effect_degrees,
    )


def robust_dataset(
    duels: Any,
    model: Any,
    cells: Any,
    drawn: Any,
    used: Mapping[str, np.ndarray],
    auto: str,
) -> xr.Dataset:
    """Return cluster-robust errors and draws by clustering, without arrays of arm by arm.

    `drawn` is of the posterior on the sparse graph; `used` has the cluster of each vote, by
    clustering, and `auto` is the clustering that is used by default.

    Returns ``score_draw_cluster`` (clustering, sample, arm), around 0, and the same of each
    coefficient; ``score_se`` (arm), ``score_se_cluster`` and ``score_degrees_cluster`` (clustering,
    arm), the degrees of freedom of coefficients, and ``n_clusters`` by clustering.
    """
    found = drawn.approximation
    votes = CellVotes.of(model, duels)
    n = len(drawn.posterior["score"])
    rng = np.random.default_rng([n, duels.n_arms, duels.n_duels])
    by_name = {}
    counts = {}
    for name, cluster in used.items():
        by_name[name] = robust_draws(found, votes, cluster, n, rng)
        counts[name] = count_clusters(cluster)
    if auto == BOTH:
        _, cluster = distinct(used["judge"], used["group"])
        within = robust_draws(found, votes, cluster, n, rng)
        by_name[BOTH] = _two_way(
            judge=by_name["judge"],
            group=by_name["group"],
            within=within,
        )
        counts[BOTH] = min(counts["judge"], counts["group"])
    every = list(by_name.values())
    scores = np.stack([one.score for one in every])
    errors = np.stack([one.error for one in every])
    degrees = np.stack([one.degrees for one in every])
    by_draw = ("clustering", "sample", "arm")
    by_arm = ("clustering", "arm")
    variables: dict[str, Any] = {
        "score_draw_cluster": (by_draw, scores),
        "score_se": ("arm", found.standard_error),
        "score_se_cluster": (by_arm, errors),
        "score_degrees_cluster": (by_arm, degrees),
        "n_clusters": ("clustering", list(counts.values())),
    }
    effects = np.stack([one.effect for one in every])
    effect_degrees = np.stack([one.effect_degrees for one in every])
    start = 0
    for name, length in effect_lengths(model, cells).items():
        stop = start + (length or 1)
        values = effects[:, :, start:stop]
        degrees = effect_degrees[:, start:stop]
        start = stop
        part = f"{name}_part"
        by_draw = ("clustering", "sample", part)
        by_part = ("clustering", part)
        variables[f"{name}_draw_cluster"] = (by_draw, values)
        variables[f"{name}_degrees_cluster"] = (by_part, degrees)
    coords = {
        "arm": np.array(duels.arms, dtype=object),
        "clustering": np.array(list(by_name), dtype=object),
    }
    return xr.Dataset(variables, coords=coords, attrs={"estimator": "CR2, arm by arm"})


def _of_arms(
    found: SparseGaussian,
    cell: np.ndarray,
    slope: np.ndarray,
    weight: np.ndarray,
    cluster: np.ndarray,
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the gradients of clusters, (K, clusters), and degrees of freedom, (K,).

    cell, slope, weight, cluster: of each vote, (votes,).
    """
    graph = found.graph
    first = graph.first[cell]
    second = graph.second[cell]
    arms = np.concatenate([first, second])
    n_arms = graph.n_arms
    n_clusters = count_clusters(cluster)
    shape = (n_arms, n_clusters)
    place = (arms, np.tile(cluster, 2))
    of_sides = np.concatenate([slope, -slope])
    gradient = sparse.csr_array((of_sides, place), shape=shape)
    curvature = np.tile(weight, 2)
    information = sparse.csr_array((curvature, place), shape=shape)
    n_met = np.diff(gradient.indptr)
    arm = np.repeat(np.arange(n_arms), n_met)
    variance = found.variance + found.precision.added
    gradient.data, moments = _adjusted(
        gradient.data,
        information.data,
        variance[arm],
    )
    of_clusters = np.bincount(arm, moments, n_arms)
    total = of_clusters + found.precision.scores.tau
    square = np.bincount(arm, moments**2, n_arms)
    degrees = _degrees(total, square)
    return gradient.astype(np.float32), degrees


def _of_effects(
    found: SparseGaussian,
    cell: np.ndarray,
    slope: np.ndarray,
    weight: np.ndarray,
    cluster: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of the coefficients, (p, clusters) and (p,)."""
    n_clusters = count_clusters(cluster)
    tightness = found.graph.tightness
    variances = found.precision.covariance.diagonal()
    p = len(tightness)
    gradients = np.zeros((p, n_clusters))
    degrees = np.zeros(p)
    by_vote = found.graph.columns[cell]
    for k, column in enumerate(by_vote.T):
        raw = np.bincount(cluster, slope * column, n_clusters)
        information = np.bincount(cluster, weight * column**2, n_clusters)
        gradients[k], moments = _adjusted(raw, information, variances[k])
        total = moments.sum() + tightness[k]
        squares = moments**2
        degrees[k] = _degrees(total, squares.sum())
    return gradients, degrees


def _adjusted(
    gradient: np.ndarray,
    information: np.ndarray,
    variance: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradients adjusted for leverage, and what their squares are expected to be."""
    share = np.minimum(information * variance, 0.999)  # gradients are divided by what is left
    left = 1 - share
    information_squared = information**2
    squares = information_squared.sum()
    surplus = gradient**2 - information * left
    excess = surplus.sum() / max(squares, 1e-30)
    apart = max(0.0, excess)
    moments = information + apart * information_squared
    return gradient / np.sqrt(left), moments


def _stretch(values: np.ndarray, error: np.ndarray) -> None:
    """Stretch draws around 0 to these standard deviations, in place."""
    deviation = values.std(axis=0, dtype=float)
    factor = error / np.maximum(deviation, 1e-30)
    values *= factor.astype(values.dtype)


def _degrees(total: Any, square: Any) -> np.ndarray:
    """Return Satterthwaite's degrees of freedom, at least 1."""
    ratio = total**2 / np.maximum(square, 1e-30)
    return np.asarray(np.maximum(ratio, 1.0))


def _by_vote(found: SparseGaussian, votes: CellVotes) -> tuple[np.ndarray, np.ndarray]:
    """Return slope and curvature of each vote in its predictor, averaged over the posterior."""
    slope, weight = found.averaged()
    graph = found.graph
    chance = (graph.points - slope) / graph.n
    cell = votes.cell
    surprise = votes.points - chance[cell]
    of_votes = votes.weight * weight[cell]
    curvature = of_votes / graph.n[cell]
    return votes.weight * surprise, curvature


def _two_way(judge: RobustDraws, group: RobustDraws, within: RobustDraws) -> RobustDraws:
    """Return draws of judge and group clusters at once."""

    def joined(a: np.ndarray, b: np.ndarray, both: np.ndarray) -> np.ndarray:
        added = a**2 + b**2 - both**2
        larger = np.maximum(a, b) ** 2
        return np.sqrt(np.maximum(added, larger))

    score = judge.score + group.score
    error = joined(judge.error, group.error, within.error)
    _stretch(score, error)
    effect = judge.effect + group.effect
    effect_error = joined(
        judge.effect_error,
        group.effect_error,
        within.effect_error,
    )
    _stretch(effect, effect_error)
    return RobustDraws(
        score=score,
        effect=effect,
        error=error,
        effect_error=effect_error,
        degrees=np.minimum(judge.degrees, group.degrees),
        effect_degrees=np.minimum(judge.effect_degrees, group.effect_degrees),
    )
