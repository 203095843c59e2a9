"""Cluster-robust (sandwich) covariances that hold with few clusters: CR2 and Satterthwaite.

Votes of one judge, or in one group (prompt, list, context), are not independent. The point
estimate stands; its covariance is taken from how whole clusters of votes vary. With H the posterior
precision at the mode, Pi the prior's part of it, F_c the information of cluster c and g_c its
gradient, the covariance is ``H^-1 (sum_c h_c h_c' + Pi) H^-1`` where
``h_c = (I - F_c H^-1)^(-1/2) g_c``: the bias-reduced linearization, unbiased however few the
clusters are where votes are independent. The prior's part is kept, so that an arm hardly seen
stays uncertain.

Where the model has deviations by the clusters, these and their prior are part of the cluster: its
gradient in them is 0 at the mode, and h_c says how the clusters differ in what they share. Such
variances, of some thirteen prompts, are noisy, and the model has its own. They are moved towards
one multiple of it, as far as arms scatter no more than chance makes them (moderated variances).

The estimate of a variance from few clusters is noisy itself: an interval has quantiles of Student's
t, with the degrees of freedom of :mod:`bayesduel.inference.cluster_variance`.

Two-way clustering adds the covariances by judge and by group and subtracts that of the clusters of
both; negative eigenvalues are set to zero.

References
----------
Bell & McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage
samples", Survey Methodology 2002. Pustejovsky & Tipton, "Small-sample methods for cluster-robust
variance estimation and hypothesis testing in fixed effects models", JBES 2018 (with the working
covariance of the model). Cameron, Gelbach & Miller, "Robust inference with
multiway clustering", JBES 2011. Smyth, "Linear models and empirical Bayes methods for assessing
differential expression in microarray experiments", SAGMB 2004, section 6.2, for moderated
variances, here of ratios to those of the model. Deviations: the prior enters as known information;
the approximation of a generalized linear model by a weighted linear one at the mode.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy import sparse
from scipy.linalg import block_diag, solve_triangular
from scipy.special import digamma, polygamma

from bayesduel.data.votes import distinct
from bayesduel.inference.cluster_variance import (
    Informed,
    degrees_of_freedom,
    lone_directions,
    quadratic,
)
from bayesduel.inference.clusters import (
    BOTH,
    MOST_LONE,
    clusterings,
    count_clusters,
    deviating,
    needed,
    terms_by_cluster,
    why_not_robust,
    with_lone_votes,
    without_label,
)
from bayesduel.inference.conditional_mode import (
    Mode,
    cholesky,
    find_mode,
    log_scales,
    named_parameters,
)
from bayesduel.inference.datatree import dataset
from bayesduel.inference.default_model import LEVELS
from bayesduel.inference.linear_predictor import LinearPredictor, number_names
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.models.cells import levels_of
from bayesduel.system.cost import CostLimit
from bayesduel.system.memory import TABLE_ARMS

__all__ = ["ClusterCovariance", "cluster_covariance", "robust_covariance"]

MOST_COEFFICIENTS = 1500  # whose errors are made robust: their square is needed of each cluster
# Clusters adjusted for leverage, the largest leverages first. One costs the cube of the parameters.
ADJUSTED = CostLimit(total=50_000_000, least=50, most=1000)


class ClusterRows(NamedTuple):
    """The votes of a log, tallied by cluster and cell."""

    density: LinearPredictor  # the model's density over the rows, one cell per row
    cluster: np.ndarray  # of each row, (rows,)
    n_clusters: int  # number of clusters
    owner: np.ndarray  # cluster whose own each coefficient is, -1 of what they share, (size,)

    @property
    def shared(self) -> np.ndarray:
        """Which coefficients clusters share, indices."""
        return np.flatnonzero(self.owner < 0)


class ClusterCovariance(NamedTuple):
    """A cluster-robust covariance and how much is known of it."""

    covariance: np.ndarray  # of the parameters, (size, size)
    # degrees of freedom of the estimated variance of each functional asked for, (m,)
    degrees: np.ndarray


def robust_covariance(
    duels: Any,
    model: Any,
    cells: Any,
    drawn: Any,
) -> tuple[xr.Dataset | None, dict[str, Any]]:
    """Return model-based and cluster-robust covariances of parameters and scores.

    duels, model, cells: the log (of duels or rankings), the model fitted to it, and its cells.
    drawn: draws of the posterior; learned scales are held at their posterior medians.
    Returns dataset ``covariance`` (parameter, other) of the model and ``covariance_cluster``
    (clustering, parameter, other) of the unconstrained parameters, in the order and of the lengths
    that ``attrs["blocks"]`` and ``attrs["lengths"]`` give; ``degrees_cluster`` (clustering,
    parameter), the degrees of freedom of each (NaN of the free numbers of scores, whose arms have
    them; of deviations those of one level for all); ``score_se`` (arm), ``score_cov`` (arm,
    opponent), ``score_se_cluster`` (clustering, arm), ``score_cov_cluster`` (clustering, arm,
    opponent) and ``score_degrees_cluster`` (clustering, arm) of the centred scores; ``n_clusters``
    by clustering (of two-way clustering the smaller number). None if there is nothing to cluster
    by, or nothing can be. attrs
    ``clusters_repeated``: number of clusters by clustering that the log repeats;
    ``clusters_lone``: how many of them are votes without a label; ``clusters_auto``:
    which one "auto" takes; ``clusters_reason``: why the model has none, or "".
    """
    spread = with_lone_votes(duels)
    complete = spread is not None
    if complete:
        duels = spread
    found = clusterings(duels)
    counts = {name: count_clusters(place) for name, place in found.items()}
    owned = terms_by_cluster(duels, model, found)
    by_deviations = deviating(owned)
    known = {*model.terms.explains, *by_deviations}
    used = {}
    for name, place in found.items():
        if counts[name] > 1 and name not in known:
            used[name] = place
    terms = {}
    if not why_not_robust(model):
        for name, term in by_deviations.items():
            if term.samples and counts[name] >= LEVELS[0]:
                terms[name] = term
    density = linear_predictor(model, cells) if terms else None
    if density is not None and density.size <= MOST_COEFFICIENTS:
        wanted = {*used, *terms}
        used = {name: place for name, place in found.items() if name in wanted}
    attrs = {
        "clusters_repeated": counts,
        "clusters_lone": without_label(duels, found),
        "clusters_auto": "model",
        "clusters_reason": "",
    }
    if not used:
        return None, attrs
    many = model.terms.items is None and duels.n_arms > TABLE_ARMS
    reason = _why_none(model, drawn, complete, many)
    if not reason and not many:
        density = density or linear_predictor(model, cells)
        if density.size > MOST_COEFFICIENTS:
            reason = (
                f"cluster-robust errors are computed for at most {MOST_COEFFICIENTS:,} "
                f"coefficients, and {model.name} has {density.size:,}"
            )
    if reason:
        return None, attrs | {"clusters_reason": reason}
    auto = needed(used)
    attrs["clusters_auto"] = auto
    if many:
        from bayesduel.inference.sparse_sandwich import robust_dataset

        return robust_dataset(duels, model, cells, drawn, used, auto), attrs
    assert density is not None
    of_clusters = {name: (place, owned[name]) for name, place in used.items()}
    phi = log_scales(density, drawn.posterior)
    robust = _robust_dataset(
        duels,
        model,
        density,
        phi,
        of_clusters,
        moderated=bool(terms),
        auto=auto,
    )
    return robust, attrs


def _why_none(model: Any, drawn: Any, complete: bool, many: bool) -> str:
    """Return why no errors are cluster-robust, whatever the number of coefficients, or "".

    complete: whether the log has a row for each vote that is a cluster. many: whether results hold
    no table of arm by arm.
    """
    if not complete:
        return f"votes without a judge or a group are over {MOST_LONE:,}"
    why = why_not_robust(model)
    if why or not many or drawn.approximation is not None:
        return why
    return (
        f"cluster-robust errors of this model are computed for at most {TABLE_ARMS:,} arms; "
        "for more, refit without each of about 20 parts of the clusters: "
        "docs/validation/scale.md, Judges"
    )


def _robust_dataset(
    duels: Any,
    model: Any,
    density: LinearPredictor,
    phi: np.ndarray,
    of_clusters: Mapping[str, tuple[np.ndarray, Sequence[Any]]],
    moderated: bool,
    auto: str,
) -> xr.Dataset:
    """Return the dataset of `robust_covariance`.

    phi: logarithms of the scales. of_clusters: by clustering, the cluster of each vote and the
    terms that have coefficients for each. moderated: whether variances are. auto: the clustering
    that is used by default.
    """
    mode = find_mode(density, phi)
    scores = _score_map(model, density, duels)
    names = np.array(number_names(density.blocks))
    own_numbers = np.flatnonzero(names != "score_free")
    standing = _standing(mode, density)[own_numbers]
    asked, place = np.unique(standing, return_inverse=True)
    parameters = np.eye(density.size)[asked]
    functionals = np.concatenate([scores, parameters])
    by_name = {}
    counts = {}
    for name, (cluster, terms) in of_clusters.items():
        rows = _rows(density, duels, model, cluster, terms)
        by_name[name] = cluster_covariance(mode, phi, rows, functionals)
        counts[name] = rows.n_clusters
    if auto == BOTH:
        judge, _ = of_clusters["judge"]
        group, _ = of_clusters["group"]
        _, cluster = distinct(judge, group)
        rows = _rows(density, duels, model, cluster)
        within = cluster_covariance(mode, phi, rows, functionals[:0])
        by_name[BOTH] = _two_way(mode, by_name["judge"], by_name["group"], within)
        counts[BOTH] = min(counts["judge"], counts["group"])
    own = mode.covariance
    every = list(by_name.values())
    if moderated:
        every = [_moderated(one, own, scores) for one in every]
    robust = np.stack([one.covariance for one in every])
    found_degrees = np.stack([one.degrees for one in every])
    score_degrees, asked_degrees = np.split(found_degrees, [len(scores)], axis=1)
    degrees = np.full(robust.shape[:2], np.nan)
    degrees[:, own_numbers] = asked_degrees[:, place]
    own_score = scores @ own @ scores.T
    robust_score = scores @ robust @ scores.T
    arms = np.array(duels.arms, dtype=object)
    by_arm = ("clustering", "arm")
    variances = np.diagonal(robust_score, axis1=1, axis2=2)
    errors = np.sqrt(np.maximum(variances, 0.0))
    return dataset(
        {
            "covariance": (("parameter", "other"), own),
            "covariance_cluster": (("clustering", "parameter", "other"), robust),
            "degrees_cluster": (("clustering", "parameter"), degrees),
            "score_se": ("arm", np.sqrt(own_score.diagonal())),
            "score_cov": (("arm", "opponent"), own_score),
            "score_se_cluster": (by_arm, errors),
            "score_cov_cluster": (("clustering", "arm", "opponent"), robust_score),
            "score_degrees_cluster": (by_arm, score_degrees),
            "n_clusters": ("clustering", list(counts.values())),
        },
        coords={
            "arm": arms,
            "opponent": arms,
            "clustering": np.array(list(by_name), dtype=object),
        },
        attrs={
            "estimator": "CR2",
            "parameters": density.size,
            "blocks": list(density.blocks),
            "lengths": [1 if n is None else n for n in density.blocks.values()],
        },
    )


def cluster_covariance(
    mode: Mode,
    phi: np.ndarray,
    rows: ClusterRows,
    functionals: np.ndarray,
) -> ClusterCovariance:
    """Return the bias-reduced covariance by cluster, with Satterthwaite's degrees of freedom.

    At the posterior `mode` given hyperparameters `phi` (logarithms), of the votes by cluster;
    degrees are those of the linear functionals of the parameters, (m, size). Clusters are adjusted
    for their leverage, of very many the 1,000 with the largest (fewer where there are many
    parameters); the adjustment of the others is negligible.
    """
    own = mode.covariance
    shared = rows.shared
    root = _shared_root(own, rows)
    turn = root[shared]
    is_shared = rows.owner < 0
    common = np.logical_or.outer(is_shared, is_shared)
    prior_shared = sparse.csr_array(common * mode.prior)
    prior = root.T @ (prior_shared @ root)
    by_cluster = rows.density.gradients(mode.x, phi, rows.cluster, rows.n_clusters)
    gradient = by_cluster[:, shared] @ turn
    squared = (gradient**2).sum(axis=1)
    chosen = _by_leverage(mode, phi, rows, squared)
    informed = _informed(mode, phi, rows, chosen, root)
    raw = gradient[chosen]
    for c, one in zip(chosen, informed, strict=True):
        gradient[c] = one.adjusted(gradient[c])
    alone = lone_directions(informed)
    kept = prior + alone @ alone.T
    meat = gradient.T @ gradient
    shrunk = meat + kept - np.eye(len(prior))
    covariance = own + root @ shrunk @ root.T
    if not len(functionals):
        return ClusterCovariance(covariance, np.empty(0))
    typical = rows.density.typical[shared]
    tastes = []
    for one in informed:
        back = solve_triangular(turn, one.vectors, lower=True, trans=1)
        tastes.append(typical[:, None] * back)
    degrees = degrees_of_freedom(
        functionals @ root,
        raw,
        informed,
        tastes,
        prior,
        kept,
        n_rest=rows.n_clusters - len(chosen),
    )
    return ClusterCovariance(covariance, degrees)


def _shared_root(covariance: np.ndarray, rows: ClusterRows) -> np.ndarray:
    """Return coordinates where the precision of what clusters share is I, (size, shared)."""
    shared = rows.shared
    owned = np.flatnonzero(rows.owner >= 0)
    of_shared = covariance[np.ix_(shared, shared)]
    across = covariance[np.ix_(shared, owned)]
    turn = np.linalg.cholesky(of_shared)
    root = np.empty((len(covariance), len(shared)))
    root[shared] = turn
    root[owned] = solve_triangular(turn, across, lower=True).T
    return root


def _standing(mode: Mode, density: LinearPredictor) -> np.ndarray:
    """Return the place of the parameter whose degrees of freedom each one has, (size,).

    That is itself, but for deviations: those of one level stand for those of all levels, arm by
    arm. It is the level of which the log says most, where the degrees of freedom are fewest. The
    degrees of every deviation of 12 arms on 100 prompts take 5 times as long as all else.
    """
    place = np.arange(density.size)
    known = (mode.factor**2).sum(axis=1)
    information = known - mode.prior.diagonal()
    for here, block in density.places:
        if not block.term.deviates:
            continue
        by_level = (-1, block.lengths[-1])  # and arm
        of_level = information[here].reshape(by_level).sum(axis=1)
        levels = place[here].reshape(by_level)
        most = levels[of_level.argmax()]
        place[here] = np.tile(most, len(levels))
    return place


def _score_map(model: Any, density: LinearPredictor, duels: Any) -> np.ndarray:
    """Return the matrix that takes unconstrained parameters to centred scores, (K, size)."""
    unit = np.eye(density.size)
    no_scales = np.zeros((density.size, max(1, density.n_scales)))
    named = named_parameters(density, unit, no_scales)
    found = model.parameters(named, duels.arms)
    for part in model.terms.arms:
        found = part.complete(found, duels.arms)
    return np.asarray(found["score"]).T


def _owners(
    density: LinearPredictor,
    duels: Any,
    terms: Sequence[Any],
    cluster: np.ndarray,
) -> np.ndarray:
    """Return the cluster whose own each coefficient is, -1 of those that clusters share, (size,).

    A cluster owns the coefficients of terms that have some for each cluster.
    """
    found = np.full(density.size, -1)
    for here, block in density.places:
        own = next((term for term in terms if term == block.term), None)
        if own is None:
            continue
        level = levels_of(duels, own.by)[0]
        known = level >= 0
        of_level = np.full(block.lengths[0], -1)
        of_level[level[known]] = cluster[known]
        each = block.size // len(of_level)
        found[here] = np.repeat(of_level, each)
    return found


def _rows(
    density: LinearPredictor,
    duels: Any,
    model: Any,
    cluster: np.ndarray,
    terms: Sequence[Any] = (),
) -> ClusterRows:
    """Return the votes of a log, tallied by cluster and cell where counts add up.

    terms: those that have coefficients for each of the clusters.
    """
    n_clusters = count_clusters(cluster)
    owner = _owners(density, duels, terms, cluster)
    if not model.response.counts_add_up:
        cells = model.cells(duels, each=True)
        if cells.vote is not None:
            cluster = cluster[cells.vote]
        return ClusterRows(linear_predictor(model, cells), cluster, n_clusters, owner)
    seen = model.cells(duels, by_vote=True).seen
    first, place = distinct(cluster, seen.of_vote)
    n_rows = len(first)
    columns = [np.bincount(place, added, minlength=n_rows) for added in seen.added.T]
    votes = np.stack(columns, axis=-1)
    tallied = type(seen)(columns={}, counts=votes)
    data = model.response.data(duels, tallied, explicit=False)
    data["log_coefficient"] = np.zeros(len(first))
    by_row = density.over(data, seen.of_vote[first])
    return ClusterRows(by_row, cluster[first], n_clusters, owner)


def _two_way(
    mode: Mode,
    judge: ClusterCovariance,
    group: ClusterCovariance,
    within: ClusterCovariance,
) -> ClusterCovariance:
    """Return the covariance by judge and group, positive semidefinite in the model's metric."""
    both = judge.covariance + group.covariance - within.covariance
    degrees = np.minimum(judge.degrees, group.degrees)
    with suppress(FloatingPointError):
        cholesky(both)  # it is positive definite as it is, which takes a thirtieth to see
        return ClusterCovariance(both, degrees)
    flat = mode.factor.T @ both @ mode.factor
    symmetric = (flat + flat.T) / 2
    values, vectors = np.linalg.eigh(symmetric)
    turned = solve_triangular(mode.factor, vectors, lower=True, trans=1)
    covariance = turned * np.maximum(values, 0.0) @ turned.T
    return ClusterCovariance(covariance, degrees)


def _moderated(found: ClusterCovariance, own: np.ndarray, scores: np.ndarray) -> ClusterCovariance:
    """Return a covariance between the robust one and a multiple of the model's own, (size, size).

    Where the model says how clusters differ, variances of arms are robust ones around one multiple
    of its own: by the scatter of their ratios around what chance makes of them that multiple has
    degrees of freedom, which are added to those of each.
    """
    from scipy.optimize import brentq

    n_arms = len(scores)
    degrees = found.degrees[:n_arms]
    robust = quadratic(scores, found.covariance)
    ratio = robust / quadratic(scores, own)
    half = degrees / 2
    positive = np.maximum(ratio, np.finfo(float).tiny)
    away = np.log(positive) - digamma(half) + np.log(half)
    by_chance = polygamma(1, half).mean()
    scatter = away.var(ddof=1) - by_chance
    most = float(degrees.sum()) * (n_arms - 1) / n_arms  # scores are centred

    def surplus(n: float) -> float:
        return polygamma(1, n / 2) - scatter

    prior = most
    if surplus(most) < 0:
        prior = brentq(surplus, 1e-3, most)
    half_prior = prior / 2
    common = np.exp(away.mean() + digamma(half_prior) - np.log(half_prior))
    middle = float(np.median(degrees))
    share = middle / (middle + prior)
    by_model = (1 - share) * common * own
    covariance = share * found.covariance + by_model
    degrees = np.minimum(found.degrees + prior, most)
    return ClusterCovariance(covariance, degrees)


def _by_leverage(mode: Mode, phi: np.ndarray, rows: ClusterRows, pull: np.ndarray) -> np.ndarray:
    """Return the clusters to adjust, indices: all, or those with the largest leverage.

    Of equal leverages those with the largest `pull`, (clusters,), whatever the order of the log.
    """
    n_clusters = rows.n_clusters
    room = ADJUSTED.times(len(mode.x) ** 3)
    if n_clusters <= room:
        return np.arange(n_clusters)
    spread = rows.density.spread(mode.covariance)
    bend = rows.density.derivatives(mode.x, phi).bend
    of_rows = -bend * spread**2
    leverage = np.bincount(rows.cluster, of_rows, minlength=n_clusters)

    def rounded(values: np.ndarray) -> np.ndarray:
        return np.round(values / values.max(), 12)

    smallest_first = np.lexsort((rounded(pull), rounded(leverage)))
    return np.sort(smallest_first[-room:])


def _informed(
    mode: Mode,
    phi: np.ndarray,
    rows: ClusterRows,
    chosen: np.ndarray,
    root: np.ndarray,
) -> list[Informed]:
    """Return root' F_c root of the clusters chosen."""
    order = np.argsort(rows.cluster, kind="stable")
    every = np.arange(rows.n_clusters + 1)
    ends = np.searchsorted(rows.cluster[order], every)
    directions = np.ascontiguousarray(root.T)
    found = []
    for c in chosen:
        members = order[ends[c] : ends[c + 1]]
        part = rows.density.over({}, members)
        own = np.flatnonzero(rows.owner == c)
        of_own = mode.prior[np.ix_(own, own)]
        own_root = root[own]
        factors = part.factored(mode.x, phi, directions)
        if factors is None:
            information = part.information(mode.x, phi)
            whole = root.T @ information @ root
            whole += own_root.T @ of_own @ own_root
            eigen = np.linalg.eigh(whole)
            found.append(Informed(*eigen))
            continue
        of_votes, among_votes = factors
        along = np.concatenate([of_votes, own_root.T], axis=1)
        inner = block_diag(among_votes, of_own)
        found.append(_of_low_rank(along, inner))
    return found


def _of_low_rank(along: np.ndarray, inner: np.ndarray) -> Informed:
    """Return ``along @ inner @ along.T`` of few columns, (size, m) and (m, m)."""
    size = np.sqrt(np.abs(inner.diagonal()))
    size[size == 0] = 1.0
    basis, triangle = np.linalg.qr(along * size)
    scaled = inner / size / size[:, None]
    rotated = triangle @ scaled @ triangle.T
    values, turned = np.linalg.eigh(rotated)
    return Informed(values, basis @ turned)
