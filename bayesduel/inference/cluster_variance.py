"""How much is known of a cluster-robust variance: Satterthwaite's degrees of freedom.

They match the first two moments of the estimated variance, contrast by contrast, to a multiple of a
chi-squared variable. The moments are those of clusters that differ in their parameters by a learned
variance, which makes a difference where clusters are of very different sizes. Parameters are
measured in the unit of the response, effects of covariates for one standard deviation of these.

All is in coordinates where the precision of what clusters share is the identity.

References
----------
Pustejovsky & Tipton, "Small-sample methods for cluster-robust variance estimation and hypothesis
testing in fixed effects models", JBES 2018. Imbens & Kolesar, "Robust standard errors in small
samples", REStat 2016, for moments under random effects of clusters. Deviations: those of
:mod:`bayesduel.inference.sandwich`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayesduel.system.memory import AT_ONCE

__all__ = ["Informed", "degrees_of_freedom", "lone_directions", "quadratic"]


class Informed(NamedTuple):
    """The information of one cluster, in coordinates where the precision is the identity.

    It has at most the rank of the cluster's votes.
    """

    values: np.ndarray  # eigenvalues, shape (rank,)
    vectors: np.ndarray  # their vectors, shape (size, rank)

    @property
    def lone(self) -> np.ndarray:
        """Which directions this cluster alone informs, (rank,)."""
        return self.values > 1.0 - 1e-8  # half the digits of a float

    @property
    def stretch(self) -> np.ndarray:
        """Factors of the adjustment along the vectors, (rank,); 1 in all other directions."""
        lone = self.lone
        left = np.where(lone, 1.0, 1.0 - self.values)
        factor = 1.0 / np.sqrt(left)
        return np.where(lone, 0.0, factor)

    def adjusted(self, gradient: np.ndarray) -> np.ndarray:
        """Return ``(I - F)^(-1/2)`` times a gradient (size,), lone directions left out."""
        along = self.vectors.T @ gradient
        more = (self.stretch - 1.0) * along
        return np.asarray(gradient + self.vectors @ more)


def lone_directions(informed: list[Informed]) -> np.ndarray:
    """Return the directions that one cluster alone informs, (size, lone)."""
    found = []
    for one in informed:
        lone = one.vectors[:, one.lone]
        found.append(lone)
    return np.concatenate(found, axis=1)


def degrees_of_freedom(
    asked: np.ndarray,
    gradient: np.ndarray,
    informed: list[Informed],
    tastes: list[np.ndarray],
    prior: np.ndarray,
    kept: np.ndarray,
    n_rest: int,
) -> np.ndarray:
    """Return the degrees of freedom of estimated variances of functionals (m, size), (m,).

    gradient: of the clusters that are adjusted, (clusters, size), whose information is `informed`.
    tastes: as in `_working`. prior, kept: the prior's part, and all that no clusters estimate, each
    (size, size). n_rest: how many clusters are not adjusted.
    """
    variance, total = _working(gradient, informed, tastes, prior)
    moments = _all_moments(asked, informed, tastes, variance, total)
    others = np.zeros(len(asked))
    if n_rest:
        others = _of_others(asked, prior, informed)
    variances = (asked**2).sum(axis=1)
    along_lone = asked @ lone_directions(informed)
    by_one = (along_lone**2).sum(axis=1)
    of_kept = quadratic(asked, kept)
    known = np.maximum(of_kept, 0.0)
    degrees = np.ones(len(asked))
    for k, (mean, square) in enumerate(moments):
        if by_one[k] > 0.01 * variances[k]:
            continue  # it rests on one cluster: nothing shows how clusters vary
        whole = mean + known[k] + others[k]
        others_noise = others[k] ** 2 / max(n_rest, 1)
        noise = square + others_noise
        degrees[k] = np.inf
        if noise > 0:
            degrees[k] = whole**2 / noise
    return np.maximum(degrees, 1.0)


def quadratic(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return r' matrix r of each row r, (rows,)."""
    products = (rows @ matrix) * rows
    return products.sum(axis=1)


def _of_others(asked: np.ndarray, prior: np.ndarray, informed: list[Informed]) -> np.ndarray:
    """Return what the clusters that are not adjusted add to the variances of functionals, (m,)."""
    variances = (asked**2).sum(axis=1)
    found = variances - quadratic(asked, prior)
    for one in informed:
        along = asked @ one.vectors
        found -= along**2 @ one.values
    return np.maximum(found, 0.0)


def _working(
    gradient: np.ndarray,
    informed: list[Informed],
    tastes: list[np.ndarray],
    prior: np.ndarray,
) -> tuple[float, np.ndarray]:
    """Return the variance by which clusters differ, and the working covariance of all gradients.

    Clusters differ in their parameters by a multiple of the covariance of typical parameters,
    estimated by the method of moments: the expected sum of squared gradients is linear in it.

    tastes: roots of that covariance along the vectors of each cluster, (size, rank).
    """
    plain = 0.0
    more = 0.0
    tasted = np.zeros_like(prior)
    squared = np.zeros_like(prior)
    for one, taste in zip(informed, tastes, strict=True):
        scaled = taste * one.values
        spread = scaled.T @ scaled
        left = one.values - one.values**2
        plain += float(left.sum())
        weight = 1.0 - 2 * one.values
        own = spread.diagonal() * weight
        more += float(own.sum())
        tasted += one.vectors @ spread @ one.vectors.T
        root = one.vectors * one.values
        squared += root @ root.T
    shared = tasted * squared
    more += float(shared.sum())
    excess = (gradient**2).sum() - plain
    variance = 0.0
    if more > 0:
        variance = max(0.0, excess / more)
    identity = np.eye(len(prior))
    working = identity + variance * tasted
    return variance, working


def _all_moments(
    asked: np.ndarray,
    informed: list[Informed],
    tastes: list[np.ndarray],
    variance: float,
    total: np.ndarray,
) -> Iterator[tuple[float, float]]:
    """Yield what `_moments` does of functionals (m, size), as many at once as memory allows."""
    each = len(informed) * asked.shape[1]
    step = max(1, AT_ONCE // each)
    for start in range(0, len(asked), step):
        together = asked[start : start + step]
        parts = _parts(together.T, informed, tastes, variance)
        yield from _moments(*parts, total)


def _parts(
    asked: np.ndarray,
    informed: list[Informed],
    tastes: list[np.ndarray],
    variance: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `_moments` reads of functionals (size, m): own, x and y of each cluster."""
    size, m = asked.shape
    n_clusters = len(informed)
    own = np.empty((m, n_clusters))
    x = np.empty((m, n_clusters, size))
    y = np.empty_like(x)
    for c, (one, taste) in enumerate(zip(informed, tastes, strict=True)):
        vectors = one.vectors
        values = one.values[:, None]
        along = vectors.T @ asked
        adjusted = one.stretch[:, None] * along
        pulled = values * adjusted
        spread = taste @ pulled
        back = taste.T @ spread
        more = variance * values * back
        by_model = (adjusted * pulled).sum(axis=0)
        by_taste = variance * (spread**2).sum(axis=0)
        own[:, c] = by_model + by_taste
        of_information = vectors @ pulled
        x[:, c] = of_information.T
        of_working = vectors @ (pulled + more)
        y[:, c] = of_working.T
    return own, x, y


def _moments(
    owns: np.ndarray,
    xs: np.ndarray,
    ys: np.ndarray,
    total: np.ndarray,
) -> Iterator[tuple[float, float]]:
    """Yield trace and sum of squares of Omega, the covariance of the clusters' parts.

    Of each functional, the first axis of `owns` (m, clusters), `xs` and `ys` (m, clusters, size).
    The part of cluster c in the estimated variance is the square of ``u_c' h_c``, and h_c is g_c
    less what the fit explains of it, ``A_c sum_d g_d``. Here x is ``F_c u_c``, y is ``W_c u_c``
    with the working covariance W_c of the cluster's gradient, and own is ``u_c' W_c u_c``.
    """
    for own, x, y in zip(owns, xs, ys, strict=True):
        n_clusters, size = x.shape
        if n_clusters <= 2 * size:
            crossed = y @ x.T
            explained = x @ total @ x.T
            omega = np.diag(own) - crossed - crossed.T + explained
            trace = omega.trace()
            squares = (omega**2).sum()
            yield float(trace), float(squares)
            continue
        # Omega is diag(own) + z M z' with z = (x, y), M = [[total, -1], [-1, 0]].
        turned = x @ total - 2 * y
        fitted = (turned * x).sum(axis=1)
        xx = x.T @ x
        xy = x.T @ y
        yy = y.T @ y
        # the upper blocks of M z' z
        first = total @ xx - xy.T
        second = total @ xy - yy
        of_first = (first * first.T).sum()
        of_second = 2 * (second * xx).sum()
        of_third = (xy * xy.T).sum()
        both = of_first - of_second + of_third
        between = 2 * (own * fitted).sum()
        of_own = (own**2).sum() + between
        trace = (own + fitted).sum()
        squares = of_own + both
        yield float(trace), float(squares)
