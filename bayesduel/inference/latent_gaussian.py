"""Latent Gaussian models: normal distributions with averaged curvatures, at nodes of the scales.

Given a few scales the predictor is linear in coefficients with a normal prior. At each of some
nodes of the scales the posterior of the coefficients is replaced by the normal distribution that is
nearest in the sense of variational inference: Newton's method with slopes and curvatures averaged
over that distribution of each cell's predictor. Its evidence bound is the log density of the node.
Between the nodes the bound and the means are interpolated. Nodes are a lattice; of more scales
and few coefficients they follow the ridges of the bound and are added where draws are; of many
they are a composite design. Draws have importance ratios against the
model's own density; where there are too many coefficients for these, a short Gibbs chain with
Polya-Gamma variables certifies the draws of a logistic model.

References
----------
Opper & Archambeau, "The variational Gaussian approximation revisited", Neural Computation 2009 (the
averaged curvatures). Rue, Martino & Chopin, "Approximate Bayesian inference for latent Gaussian
models by using integrated nested Laplace approximations", JRSS B 2009 (nodes of the scales, with a
central composite design of three). Deviations: variational conditionals in place of Laplace's; the
bound and means are interpolated by radial basis functions; of a composite design it is split
normal.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesduel.inference.approximation import DensityApproximation
from bayesduel.inference.arrow import Arrow, Layout, layout_of
from bayesduel.inference.conditional_gibbs import gibbs_of_conditional
from bayesduel.inference.conditional_mode import named_parameters, start_at
from bayesduel.inference.design import centre
from bayesduel.inference.draws import Proposals
from bayesduel.inference.gaussian_prior import LOG_2PI
from bayesduel.inference.grid_draws import normalised
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.inference.psis import Quality, resample
from bayesduel.inference.scale_grid import (
    SPACING,
    composite,
    coordinates,
    interpolated,
    lattice,
    rays,
)
from bayesduel.inference.scale_mode import by_moments, curved, highest, start_of
from bayesduel.inference.variational_conditional import (
    Conditional,
    conditional_at,
    mode_at,
    step_from,
)
from bayesduel.system.arguments import Progress
from bayesduel.system.cost import CostLimit
from bayesduel.system.memory import AT_ONCE
from bayesduel.system.threads import side_by_side

__all__ = ["LatentGaussian"]

# Effective draws below are of 2,000, of 400 to 900 votes with two to four scales.
# Nats below the best node; lower bounds would let the interpolation overshoot. Draws are the same
# with -30, and with -7.5 1,870 are effective in place of 1,890.
FLOOR = -15.0
SMALL = 300  # coefficients up to which three scales have a lattice, and more scattered nodes
# Where draws of few coefficients are, nodes are added. With four scales 1,720 draws are effective;
# with other values of any of these numbers (half and twice, about) 1,658 to 1,763 are.
ADDED = 60  # nodes of a round
BEYOND = 1.3  # distance of nodes from the middle over that of the draws; with 0.8 1,658
TEMPER = 0.5  # power of the density from which the scales of wide draws are drawn
FREEDOM = 8.0  # degrees of freedom of wide proposals of the coefficients


@dataclass(frozen=True, eq=False)
class LatentGaussian(DensityApproximation):
    """A mixture of normal distributions of the coefficients over nodes of the scales."""

    layout: Layout  # which coefficients are by group
    top: Conditional  # the node of the highest bound
    root: np.ndarray  # coordinates of the hyperparameters: phi = top.phi + root z, (q, q)
    nodes: tuple[Conditional, ...]  # the conditionals
    step: float  # distance of the nodes of a lattice; 0 of others
    # whether draws have heavier tails than the mixture, so that weights can correct it
    wide: bool = False
    scattered: bool = False  # whether nodes were added where draws are heavy

    @classmethod
    def of(
        cls,
        density: LinearPredictor,
        cells: Any,
        near: Mapping[str, np.ndarray] | None = None,
    ) -> "LatentGaussian":
        """Return the approximation of a posterior, given its density.

        Raises FloatingPointError if the posterior has no mode.
        """
        layout = layout_of(density)
        start = start_at(density, near)
        phi = start_of(density, cells)
        if curved(layout):
            phi, middle = by_moments(layout, phi)
            start = middle if start is None else start
        first = mode_at(layout, phi, start)
        top = highest(layout, first)
        root = coordinates(layout, top)

        def at(nodes: list[Conditional], step: float) -> "LatentGaussian":
            return cls(
                model=density.model,
                cells=cells,
                density=density,
                layout=layout,
                top=top,
                root=root,
                nodes=tuple(nodes),
                step=step,
            )

        q = len(top.phi)
        small = density.size <= SMALL
        if q < 3 or (q == 3 and small):
            nodes = lattice(layout, top, root)
            if nodes is not None:
                return at(nodes, SPACING[q])
        nodes = composite(layout, top, root)
        found = at(nodes, 0.0)
        if not small:
            return found
        on_ridges = rays(layout, top, root)
        return found._with_more(on_ridges)

    def _with_more(self, nodes: list[Conditional]) -> "LatentGaussian":
        """Return the same with these nodes, and with nodes where draws of the scales are."""
        rng = np.random.default_rng(0)
        found = self._joined(nodes)
        z, _ = found._split_normal(ADDED, rng)
        found = found._with_nodes_at(BEYOND * z)
        for _ in range(3):  # with one round, 1,659 draws are effective
            wide = replace(found, wide=True)
            z, _ = wide._scales(ADDED, rng)
            found = found._with_nodes_at(z)
        return found

    @property
    def _chained(self) -> bool:
        """Whether a Gibbs chain certifies the draws, in place of weights."""
        logistic = self.model.response.score_link == "logit"
        return logistic and self.density.size > SMALL

    @cached_property
    def _z(self) -> np.ndarray:
        """Coordinates of the nodes, (nodes, q)."""
        phi = np.array([node.phi for node in self.nodes])
        away = phi - self.top.phi
        inverse = np.linalg.inv(self.root)
        return away @ inverse.T

    def draw(
        self, n: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return `n` draws and their log density; see ``DensityApproximation.draw``."""
        size = self.density.size
        small = size <= SMALL
        n_distinct = self._n_distinct(n)
        z, log_q = self._scales(n_distinct, rng)
        which = rng.permutation(np.arange(n) % n_distinct)
        z = z[which]
        log_q = log_q[which]
        phi = self.top.phi + z @ self.root.T
        apart = z[:, None, :] - self._z
        square = (apart**2).sum(axis=2)
        nearest = square.argmin(axis=1)
        parts = _groups(which if small else nearest)  # rows of draws with one factor
        if self.layout.crossed:
            most = max(1, AT_ONCE // size)
            parts = _short(parts, most)
        around = self._around(z, parts, rng)
        bent = cache(self._bent)
        x = np.empty((n, size), self.layout.kind)

        def fill(part: int) -> None:
            rows = parts[part]
            mean, normal, log_normal = around(part)
            first = rows[0]
            arrow, step = self._factor(
                int(nearest[first]),
                phi[first],
                mean[0],
                bent,
            )
            mean += step
            away = self.layout.draw(arrow, normal)
            x[rows] = mean + away
            log_q[rows] += log_normal
            log_q[rows] += arrow.half_log_det

        every = range(len(parts))
        if small:
            for part in every:
                fill(part)
        else:
            side_by_side(fill, every)
        if self._chained:  # weights of 14 such logs with 315 to 620 coefficients certify none
            return x, phi, None
        return x, phi, log_q

    def _n_distinct(self, n: int) -> int:
        """Return how many of `n` draws have scales of their own.

        Of few coefficients each value of the scales needs a factor. With a quarter as many the
        draws of 101 coefficients take 2.4 s in place of 3.7, and 1,757 are effective in place of
        1,720. With 200 values an end of a 95 % interval of a scale has a Monte Carlo error of 0.19
        standard deviations.
        """
        size = self.density.size
        if size > SMALL or not len(self.top.phi):
            return n
        limit = CostLimit(total=20_000_000, least=200, most=n)
        return limit.times(size**2)

    def _around(
        self, z: np.ndarray, parts: list[np.ndarray], rng: np.random.Generator
    ) -> Callable[[int], tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return a function of a part: means of its draws, standard vectors and log densities.

        Parts of crossed groups have random numbers of their own, as they are drawn side by side.
        """
        if self.layout.crossed:
            seeds = rng.integers(2**63, size=len(parts))

            def own(part: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
                source = np.random.SFC64(int(seeds[part]))
                own_rng = np.random.Generator(source)
                rows = parts[part]
                means = self._means(z[rows])
                normal, log_normal = self._standard(len(rows), own_rng)
                return means, normal, log_normal

            return own
        means = self._means(z)
        normal, log_normal = self._standard(len(z), rng)

        def shared(part: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            rows = parts[part]
            return means[rows], normal[rows], log_normal[rows]

        return shared

    def _factor(
        self,
        place: int,
        phi: np.ndarray,
        mean: np.ndarray,
        bent: Callable[[int], np.ndarray],
    ) -> tuple[Arrow, Any]:
        """Return the factored precision of draws near a node, and by how much their mean is off.

        place: of the node. phi, mean: scales and mean of the draws. bent: `_bent`, kept.
        Of few coefficients it is of the node's curvatures, under the prior of the very scales.
        """
        node = self.nodes[place]
        layout = self.layout
        density = self.density
        if density.size > SMALL:
            return node.arrow, 0.0
        prior = density.prior(phi)
        if len(layout.groups):
            arrow = layout.factor(node.bent, prior)
        else:
            arrow = layout.bordered(bent(place), prior)
        if not self.scattered:
            return arrow, 0.0
        # Such nodes are far apart, and the prior may be narrow.
        return arrow, step_from(layout, node, arrow, prior, mean)

    def _bent(self, place: int) -> np.ndarray:
        """Return what cells add to the precision at a node, (size, size)."""
        return self.layout.bent(self.nodes[place].bent)

    def summary(self) -> dict[str, Any]:
        dims = self.model.dims | self.density.dims | {"score": ("arm",)}
        top = self.top
        found = named_parameters(self.density, top.x, top.phi)
        group: dict[str, Any] = {}
        for name, value in found.items():
            own = dims.get(name, ())
            group[f"{name}_mode"] = (own, value)
        if "score" in found:
            cut = len(found["score"]) - 1
            covariance = top.arrow.covariance()
            free = covariance[:cut, :cut]
            by_score = centre(free)
            of_scores = centre(by_score.T)
            group["score_cov"] = (("arm", "opponent"), of_scores)
        return group

    def refined(self, proposals: Proposals, weights: np.ndarray) -> "LatentGaussian | None":
        """Return the same with wide draws where nodes are a lattice, and else with more nodes.

        None of many coefficients, of which nothing is needed.
        """
        if self.density.size > SMALL or self.wide:
            return None
        if self.step or not len(self.top.phi):
            return replace(self, wide=True)
        hyper = proposals.hyper
        rng = np.random.default_rng(len(self.nodes))
        chosen = resample(weights, ADDED, rng)
        middle = weights @ hyper
        away = hyper[chosen] - middle
        phi = middle + BEYOND * away
        shift = phi - self.top.phi
        z = np.linalg.solve(self.root, shift.T).T
        return self._with_nodes_at(z)

    def _with_nodes_at(self, z: np.ndarray) -> "LatentGaussian":
        """Return the same with the conditionals at `z`, (n, q), where they differ and exist."""
        found = []
        for here in np.unique(z, axis=0):
            square = ((self._z - here) ** 2).sum(axis=1)
            nearest = self.nodes[square.argmin()]
            phi = self.top.phi + self.root @ here
            with suppress(FloatingPointError):
                node = conditional_at(self.layout, phi, nearest)
                found.append(node)
        return self._joined(found)

    def _joined(self, nodes: list[Conditional]) -> "LatentGaussian":
        """Return the same with these nodes, too, but for what lies so low that it is a failure."""
        lowest = self.top.bound + 2 * FLOOR
        kept = [node for node in nodes if node.bound > lowest]
        return replace(self, nodes=self.nodes + tuple(kept), scattered=True)

    def certified(
        self, proposals: Proposals, rng: np.random.Generator, progress: Progress = None
    ) -> Quality | None:
        """Return what a short Gibbs chain says of the draws as they are.

        None of a response that is not logistic, and of few coefficients, whose weights say more.
        """
        if not self._chained:
            return None
        return gibbs_of_conditional(
            self.density,
            self.layout,
            self.top,
            self.root,
            len(proposals.x),
            rng,
            progress,
        )

    def _standard(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of a standard normal (or Student) vector, (n, size), and log densities."""
        size = self.density.size
        normal = rng.standard_normal((n, size), dtype=self.layout.kind)
        if not self.wide:
            square = np.einsum("ij,ij->i", normal, normal, dtype=float)
            constant = size / 2 * LOG_2PI
            return normal, -0.5 * square - constant
        chi_squared = rng.chisquare(FREEDOM, n)
        stretch = np.sqrt(FREEDOM / chi_squared)
        student = normal * stretch[:, None]
        square = (student**2).sum(axis=1) / FREEDOM
        half = (FREEDOM + size) / 2
        constant = gammaln(half) - gammaln(FREEDOM / 2)
        constant -= size / 2 * np.log(FREEDOM * np.pi)
        kernel = half * np.log1p(square)
        return student, constant - kernel

    @cached_property
    def _bounds(self) -> np.ndarray:
        """The bounds of the nodes, (nodes,)."""
        return np.array([node.bound for node in self.nodes])

    def _scales(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return `n` draws of the scales' coordinates, (n, q), and their log density up to one."""
        q = len(self.top.phi)
        if q == 0:
            return np.zeros((n, 0)), np.zeros(n)
        if not self.step and not self.scattered:
            return self._split_normal(n, rng)
        fall = self._bounds - self._bounds.max()
        if self.scattered:
            known = fall
            power = TEMPER
        else:
            known = np.maximum(fall, FLOOR)
            power = 0.8
        curve = interpolated(self._z, known)
        weight = np.exp(power * fall) + 1e-4
        weight /= weight.sum()
        # with 2 n proposals 1,874 draws are effective, with 8 n 1,890
        z, log_proposed = self._beside_nodes(8 * n, weight, rng)
        power = TEMPER if self.wide else 1.0
        # between nodes the interpolated bound may be a little above the best node, no more
        bound = np.minimum(curve(z), 0.5)
        height = bound * power
        chance = normalised(height - log_proposed)
        kept = resample(chance, n, rng)
        return z[kept], height[kept]

    def _beside_nodes(
        self,
        n: int,
        weight: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return `n` coordinates of the scales around nodes, (n, q), and their log density.

        weight: of each node. A lattice is filled by cubes, other nodes are the means of normals.
        """
        places = self._z
        node = rng.choice(len(weight), n, p=weight)
        middle = places[node]
        if not self.scattered:
            within = rng.random(middle.shape) - 0.5
            return middle + self.step * within, np.log(weight[node])
        away = rng.standard_normal(middle.shape)
        z = middle + away
        square = _squared_distances(z, places)
        kernel = np.exp(-0.5 * square)
        return z, np.log(kernel @ weight)

    def _split_normal(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of a product of split normal densities, whose sides the axial nodes tell."""
        q = len(self.top.phi)
        above = self._side(1.0)
        below = self._side(-1.0)
        share_above = above / (above + below)
        ahead = rng.random((n, q)) < share_above
        normal = np.abs(rng.standard_normal((n, q)))
        z = np.where(ahead, normal * above, -normal * below)
        square = (normal**2).sum(axis=1)
        return z, -0.5 * square

    def _side(self, sign: float) -> np.ndarray:
        """Return the deviation of each coordinate to one side of the middle, (q,).

        By the fall of the bound to nodes on the axis; 1 without such a node.
        """
        z = self._z
        q = z.shape[1]
        distance = (z**2).sum(axis=1)
        middle = int(np.argmin(distance))
        fall = self._bounds[middle] - self._bounds
        deviation = np.ones(q)
        for k in range(q):
            others = np.delete(z, k, axis=1)
            on_axis = np.abs(others).sum(axis=1) < 1e-9
            away = sign * z[:, k]
            # One node at most: the design has one to each side, and rays leave the axes (in fits
            # with four scales, 25 to 69 nodes). Sides only place draws, which have weights.
            for node in np.flatnonzero(on_axis & (away > 1e-9)):
                curved = 2 * max(fall[node], 1e-6)
                found = away[node] / np.sqrt(curved)
                deviation[k] = np.clip(found, 0.3, 3.0)
        return deviation

    @cached_property
    def _means(self) -> Callable[[np.ndarray], np.ndarray]:
        """The mean of the coefficients, (n, size), as a function of the scales' coordinates."""
        means = np.stack([node.x for node in self.nodes])
        means = means.astype(self.layout.kind, copy=False)
        if len(means) == 1 or not len(self.top.phi):
            return lambda z: np.repeat(means[:1], len(z), axis=0)
        return interpolated(self._z, means)


def _groups(place: np.ndarray) -> list[np.ndarray]:
    """Return the rows of each value of `place`."""
    order = np.argsort(place, kind="stable")
    changes = np.diff(place[order])
    ends = np.flatnonzero(changes) + 1
    return np.split(order, ends)


def _short(parts: list[np.ndarray], most: int) -> list[np.ndarray]:
    """Return parts of rows of `most` rows at most, which fit the cache."""
    found = []
    for rows in parts:
        cuts = range(most, len(rows), most)
        found += np.split(rows, cuts)
    return found


def _squared_distances(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the squared distances of points (n, q) and points (m, q), (n, m)."""
    own = (here**2).sum(axis=1)
    other = (there**2).sum(axis=1)
    both = own[:, None] + other
    products = 2 * here @ there.T
    return np.asarray(both - products)
