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
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesduel.inference.approximation import DensityApproximation
from bayesduel.inference.arrow import Arrow, Layout, layout_of
from bayesduel.inference.conditional_gibbs import gibbs_of_conditional
from bayesduel.inference.conditional_mode import named_parameters, solved, start_at
from bayesduel.inference.design import centre
from bayesduel.inference.draws import Proposals
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.inference.psis import Quality, resample
from bayesduel.inference.variational_conditional import (
    TINY,
    Conditional,
    conditional_at,
    curvature,
    mode_at,
    responding,
    step_from,
)
from bayesduel.system.arguments import Progress
from bayesduel.system.threads import side_by_side

__all__ = ["LatentGaussian"]

NEGLIGIBLE = (0.0, 7.5, 7.5, 6.0)  # nats below the best node at which nodes end, by scales
SPACING = (0.0, 0.75, 1.0, 1.4)  # of nodes in standard deviations, by number of scales
FLOOR = -15.0  # nats below the best node; lower bounds would let the interpolation overshoot
MOST_NODES = 600  # of a lattice; where it would have more, and
FACTORS = 2e7  # factors made anew for draws, times the square of coefficients, about
FEWEST = 200  # distinct values of the scales among draws, at least
SMALL = 300  # coefficients up to which three scales have a lattice, and more scattered nodes
CORNERED = 5  # scales up to which a composite design has its corners, 2^q
OVERSAMPLED = 8  # proposals of the scales for each draw
BESIDE = 1e-3  # change of the scales' logarithms at which the search for the best ends
ROUNDS = 4  # of Newton's method for the border, before that of crossed groups
FARTHEST = 3.0  # logarithm of a scale from its start, by moments, at most
STEPS = 40  # of that of crossed groups, at most
SHIFT = 0.1  # likewise of crossed groups, in standard deviations; sides of nodes take up half
NOISE = 1.0  # of their bounds, in nats, at most
RAY = 12.0  # longest one from the top along a scale's logarithm
FLATTEST = 0.25  # curvature of the bound in the logarithms of the scales, at least
AT_ONCE = 2_000_000  # numbers of draws of crossed groups that are made at once
SCATTERINGS = 3  # rounds of more nodes where draws of few coefficients are
ADDED = 60  # nodes of a round
BEYOND = 1.3  # distance of nodes from the middle over that of the draws where they are
ABOVE = 0.5  # nats above the best node that an interpolated bound may be
KERNEL = 1.0  # deviation of draws from such nodes, in standard deviations
FREEDOM = 8.0  # degrees of freedom of wide proposals of the coefficients
TEMPER = 0.5  # power of the density from which their scales are drawn


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
        cls, density: LinearPredictor, cells: Any, near: Mapping[str, np.ndarray] | None = None
    ) -> "LatentGaussian":
        """Return the approximation of a posterior, given its density.

        Raises FloatingPointError if the posterior has no mode.
        """
        layout = layout_of(density)
        start = start_at(density, near)
        phi = _start(density, cells)
        if _curved(layout):
            phi, middle = _by_moments(layout, phi)
            start = middle if start is None else start
        first = mode_at(layout, phi, start)
        top = _highest(layout, first)
        root = _coordinates(layout, top)
        nodes = None
        step = 0.0
        if len(top.phi) < 3 or (len(top.phi) == 3 and density.size <= SMALL):
            nodes = _lattice(layout, top, root)
            step = SPACING[len(top.phi)]
        if nodes is not None:
            return cls(density.model, cells, density, layout, top, root, tuple(nodes), step)
        nodes = _composite(layout, top, root)
        found = cls(density.model, cells, density, layout, top, root, tuple(nodes), 0.0)
        if density.size > SMALL:
            return found
        rng = np.random.default_rng(0)
        found = found._joined(_rays(layout, top, root))
        found = found._joined(found._at(BEYOND * found._split_normal(ADDED, rng)[0]))
        for _ in range(SCATTERINGS):
            found = found._joined(found._at(replace(found, wide=True)._scales(ADDED, rng)[0]))
        return found

    @property
    def _chained(self) -> bool:
        """Whether a Gibbs chain certifies the draws, in place of weights."""
        return self.model.response.score_link == "logit" and self.density.size > SMALL

    @cached_property
    def _z(self) -> np.ndarray:
        """Coordinates of the nodes, (nodes, q)."""
        away = np.array([node.phi - self.top.phi for node in self.nodes])
        return away @ np.linalg.inv(self.root).T

    def draw(
        self, n: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return `n` draws and their log density; see ``DensityApproximation.draw``."""
        density = self.density
        distinct = n
        if 0 < len(self.top.phi) and density.size <= SMALL:
            distinct = int(np.clip(FACTORS // density.size**2, FEWEST, n))
        z, log_q = self._scales(distinct, rng)
        which = rng.permutation(np.arange(n) % distinct)
        z = z[which]
        log_q = log_q[which]
        phi = self.top.phi + z @ self.root.T
        place = ((z[:, None, :] - self._z) ** 2).sum(axis=2).argmin(axis=1)
        crossed = self.layout.crossed
        parts = _groups(which if density.size <= SMALL else place)
        if crossed:  # parts that fit the cache, each with random numbers of its own
            step = max(1, AT_ONCE // density.size)
            parts = [rows[k : k + step] for rows in parts for k in range(0, len(rows), step)]
            x = np.empty((n, density.size), self.layout.kind)
            seeds = rng.integers(2**63, size=len(parts))
        else:
            x = self._means(z)
            normal, log_normal = self._standard(n, rng)
        bent: dict[int, np.ndarray] = {}  # what cells add to the precision at a node

        def move(part: int) -> None:
            rows = parts[part]
            at = int(place[rows[0]])
            node = self.nodes[at]
            arrow = node.arrow
            if crossed:
                x[rows] = self._means(z[rows])
            if density.size <= SMALL:  # the node's curvatures, under the prior of the very scales
                prior = density.prior(phi[rows[0]])
                if len(self.layout.groups):
                    arrow = self.layout.factor(node.bent, prior)
                else:
                    bent[at] = self.layout.bent(node.bent) if at not in bent else bent[at]
                    arrow = self.layout.bordered(bent[at], prior)
                if self.scattered:  # nodes are far apart, and the prior may be narrow
                    x[rows] += step_from(self.layout, node, arrow, prior, x[rows[0]])
            if crossed:
                stream = np.random.Generator(np.random.SFC64(int(seeds[part])))
                own, log_own = self._standard(len(rows), stream)
                x[rows] += self.layout.draw(arrow, own)
            else:
                own = normal[rows]
                log_own = log_normal[rows]
                x[rows] += self.layout.draw(arrow, own)
            log_q[rows] += log_own
            log_q[rows] += arrow.half_log_det

        if density.size > SMALL:
            side_by_side(move, range(len(parts)))
        else:
            for part in range(len(parts)):
                move(part)
        if self._chained:  # weights of 14 such logs with 315 to 620 coefficients certify none
            return x, phi, None
        return x, phi, log_q

    def summary(self) -> dict[str, Any]:
        dims = self.model.dims | self.density.dims | {"score": ("arm",)}
        found = named_parameters(self.density, self.top.x, self.top.phi)
        group: dict[str, Any] = {f"{n}_mode": (dims.get(n, ()), v) for n, v in found.items()}
        if "score" in found:
            cut = len(found["score"]) - 1
            covariance = self.top.arrow.covariance()[:cut, :cut]
            group["score_cov"] = (("arm", "opponent"), centre(centre(covariance).T))
        return group

    def refined(self, proposals: Proposals, weights: np.ndarray) -> "LatentGaussian | None":
        """Return the same with wide draws where nodes are a lattice, and else with more nodes.

        None of many coefficients, of which nothing is needed.
        """
        if self.density.size > SMALL or self.wide:
            return None
        if self.step or not len(self.top.phi):
            return replace(self, wide=True)
        chosen = resample(weights, ADDED, np.random.default_rng(len(self.nodes)))
        middle = weights @ proposals.hyper
        away = middle + BEYOND * (proposals.hyper[chosen] - middle)
        return self._joined(self._at(np.linalg.solve(self.root, (away - self.top.phi).T).T))

    def _at(self, z: np.ndarray) -> list[Conditional]:
        """Return the conditionals at `z`, (n, q), where they differ and exist."""
        found = []
        for here in np.unique(z, axis=0):
            near = self.nodes[((self._z - here) ** 2).sum(axis=1).argmin()]
            with suppress(FloatingPointError):
                found.append(conditional_at(self.layout, self.top.phi + self.root @ here, near))
        return found

    def _joined(self, nodes: list[Conditional]) -> "LatentGaussian":
        """Return the same with these nodes, too, but for what lies so low that it is a failure."""
        kept = [node for node in nodes if node.bound > self.top.bound + 2 * FLOOR]
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
            self.density, self.layout, self.top, self.root, len(proposals.x), rng, progress
        )

    def _standard(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of a standard normal (or Student) vector, (n, size), and log densities."""
        size = self.density.size
        normal = rng.standard_normal((n, size), dtype=self.layout.kind)
        if not self.wide:
            square = np.einsum("ij,ij->i", normal, normal, dtype=float)
            return normal, -0.5 * square - size / 2 * np.log(2 * np.pi)
        student = normal * np.sqrt(FREEDOM / rng.chisquare(FREEDOM, n))[:, None]
        constant = gammaln((FREEDOM + size) / 2) - gammaln(FREEDOM / 2)
        constant -= size / 2 * np.log(FREEDOM * np.pi)
        square = (student**2).sum(axis=1) / FREEDOM
        return student, constant - (FREEDOM + size) / 2 * np.log1p(square)

    def _scales(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return `n` draws of the scales' coordinates, (n, q), and their log density up to one."""
        q = len(self.top.phi)
        if q == 0:
            return np.zeros((n, 0)), np.zeros(n)
        bound = np.array([node.bound for node in self.nodes])
        if not self.step and not self.scattered:
            return self._split_normal(n, rng)
        fall = bound - bound.max()
        curve = _interpolated(self._z, fall if self.scattered else np.maximum(fall, FLOOR))
        weight = np.exp((TEMPER if self.scattered else 0.8) * fall) + 1e-4
        weight /= weight.sum()
        node = rng.choice(len(weight), OVERSAMPLED * n, p=weight)
        if self.scattered:
            z = self._z[node] + KERNEL * rng.standard_normal((len(node), q))
            square = (z**2).sum(axis=1)[:, None] + (self._z**2).sum(axis=1) - 2 * z @ self._z.T
            log_proposed = np.log(np.exp(-0.5 * square / KERNEL**2) @ weight)
        else:
            z = self._z[node] + self.step * (rng.random((len(node), q)) - 0.5)
            log_proposed = np.log(weight[node])
        height = np.minimum(curve(z), ABOVE) * (TEMPER if self.wide else 1.0)
        ratio = height - log_proposed
        chance = np.exp(ratio - ratio.max())
        points = (np.arange(n) + rng.uniform()) / n * chance.sum()
        kept = np.minimum(np.searchsorted(np.cumsum(chance), points), len(chance) - 1)
        kept = rng.permutation(kept)
        return z[kept], height[kept]

    def _split_normal(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of a product of split normal densities, whose sides the axial nodes tell."""
        q = len(self.top.phi)
        z = self._z
        bound = np.array([node.bound for node in self.nodes])
        middle = int(np.argmin((z**2).sum(axis=1)))
        side = np.ones((2, q))
        for k in range(q):
            others = np.abs(np.delete(z, k, axis=1)).sum(axis=1) < 1e-9
            for s, sign in enumerate((1, -1)):
                for node in np.flatnonzero(others & (sign * z[:, k] > 1e-9)):
                    fall = bound[middle] - bound[node]
                    side[s, k] = np.clip(abs(z[node, k]) / np.sqrt(2 * max(fall, 1e-6)), 0.3, 3.0)
        ahead = rng.random((n, q)) < side[0] / side.sum(axis=0)
        normal = np.abs(rng.standard_normal((n, q)))
        found = np.where(ahead, normal * side[0], -normal * side[1])
        return found, -0.5 * (normal**2).sum(axis=1)

    @cached_property
    def _means(self) -> Callable[[np.ndarray], np.ndarray]:
        """The mean of the coefficients, (n, size), as a function of the scales' coordinates."""
        means = np.stack([node.x for node in self.nodes]).astype(self.layout.kind, copy=False)
        if len(means) == 1 or not len(self.top.phi):
            return lambda z: np.repeat(means[:1], len(z), axis=0)
        return _interpolated(self._z, means)


def _start(density: LinearPredictor, cells: Any) -> np.ndarray:
    """Return where a search for the hyperparameters starts: their logarithms, (q,)."""
    start = density.response.start
    parts = [np.broadcast_to(start(n, cells), (size or 1,)) for n, size in density.hypers.items()]
    return np.concatenate([np.zeros(0), *parts]).astype(float)


def _by_moments(layout: Layout, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return hyperparameters from which a search starts, by moments of slopes of groups, and x.

    The groups are 0 there.
    """
    density = layout.density
    slow = _slow(layout, phi)
    x = np.zeros(density.size)
    prior = density.prior(phi)
    first = [f.start for f in layout.families]
    for _ in range(ROUNDS):
        found = density.derivatives(x, phi)
        arrow = layout.flat(found, prior)
        right = density.gradient(found, prior, x)[layout.border]
        x[layout.border] += solved(arrow.border, right)
    grown = layout.moments(density.derivatives(x, phi)) * arrow.tight[first, 0]
    phi = phi + slow @ (np.log(np.clip(grown, np.exp(-2 * FARTHEST), np.exp(2 * FARTHEST))) / 2)
    fast = ~slow.any(axis=1)
    arrow = layout.flat(found, density.prior(phi))
    phi[fast] += _settled(layout, phi, x, arrow, fast)
    return phi, x


def _groups(place: np.ndarray) -> list[np.ndarray]:
    """Return the rows of each value of `place`."""
    order = np.argsort(place, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(place[order])) + 1)


def _highest(layout: Layout, start: Conditional) -> Conditional:
    """Return the conditional at the highest bound; raise FloatingPointError if there is none."""
    from scipy.optimize import minimize

    if not len(start.phi):
        return start
    if _curved(layout):
        return _climbed(layout, start)
    best = [start._replace(bound=-np.inf)]

    def fall(phi: np.ndarray) -> tuple[float, np.ndarray]:
        try:
            here = conditional_at(layout, phi, best[0], sloped=True)
        except FloatingPointError:
            return 1e300, np.zeros(len(phi))
        beside = np.isfinite(best[0].bound) and np.abs(phi - best[0].phi).max() < BESIDE
        if here.bound > best[0].bound:
            best[0] = here
        if beside:
            raise StopIteration
        return -here.bound, -here.slope

    # The first step is of about one in each scale that the data inform.
    size = np.diag(1 / np.maximum(np.abs(start.slope), 1.0))
    options = {"gtol": 0.02, "maxiter": 60, "hess_inv0": size}
    with suppress(StopIteration):
        minimize(fall, start.phi, jac=True, method="BFGS", options=options)
    if not np.isfinite(best[0].bound) or np.abs(best[0].phi - start.phi).max() > 50:
        raise FloatingPointError("the hyperparameters have no mode")
    return best[0]


def _climbed(layout: Layout, here: Conditional) -> Conditional:
    """Return the same of crossed groups, by Newton's method: a conditional takes long.

    Slopes are near linear in the variances of groups, not in their logarithms.
    """
    slow = _slow(layout, here.phi).any(axis=1)
    for _ in range(STEPS):
        bend = curvature(layout, here)
        values, vectors = np.linalg.eigh(bend)
        away = ((vectors.T @ here.slope) ** 2 / np.maximum(np.abs(values), FLATTEST)).sum()
        if values[0] > 0 and away < SHIFT**2:
            return here._replace(bend=bend)
        step = np.zeros(len(here.phi))
        step[~slow] = _settled(layout, here.phi, here.x, here.arrow, ~slow)
        values, vectors = np.linalg.eigh(bend[np.ix_(slow, slow)])
        along = vectors.T @ (here.slope - bend @ step)[slow]
        grown = 1 + 2 * vectors @ (along / np.maximum(np.abs(values), FLATTEST))  # variances
        step[slow] = np.log(np.clip(grown, np.exp(-2), np.exp(2))) / 2
        ahead = conditional_at(layout, here.phi + step, here, sloped=True)
        while ahead.bound < here.bound - NOISE and np.abs(step).max() > BESIDE:
            step /= 2
            ahead = conditional_at(layout, here.phi + step, here, sloped=True)
        here = ahead
    return here


def _settled(
    layout: Layout, phi: np.ndarray, x: np.ndarray, arrow: Arrow, fast: np.ndarray
) -> np.ndarray:
    """Return the step to the highest bound along hyperparameters of the border alone, (fast,).

    phi, x, arrow: of a conditional. Where cells bend as they do there, the likelihood of the border
    is normal, with the groups integrated out, and the bound is known by a matrix as large as it.
    """
    from scipy.optimize import minimize

    density = layout.density
    pull = density.prior(phi).pull(x)[layout.border]

    def fall(step: np.ndarray) -> float:
        ahead = phi.copy()
        ahead[fast] += step
        prior = density.prior(ahead)
        beside = layout.beside(arrow, prior)
        assert beside is not None
        pulled = prior.pull(x)
        off = pull - pulled[layout.border]
        value = prior.half_log_det - float(np.log(beside.border.diagonal()).sum())
        value += 0.5 * float(off @ solved(beside.border, off) - (x - prior.mean) @ pulled)
        return -value - float(density.log_hyper(ahead[None])[0])

    step = np.zeros(fast.sum())
    return np.asarray(minimize(fall, step, options={"gtol": 0.05}).x) if len(step) else step


def _curved(layout: Layout) -> bool:
    """Return whether a conditional takes long, and ``curvature`` tells that of the bound."""
    return layout.crossed and not responding(layout.density).any()


def _slow(layout: Layout, phi: np.ndarray) -> np.ndarray:
    """Return which hyperparameters change the prior of which crossed groups, (q, families)."""
    at = [phi, *(phi + np.eye(len(phi)))]
    first = [family.start for family in layout.families]
    tight = np.stack([layout.priors(layout.density.prior(one))[1][first] for one in at])
    return (tight[1:] != tight[0]).any(axis=2)


def _coordinates(layout: Layout, top: Conditional) -> np.ndarray:
    """Return the root of the inverse curvature of the bound at its top, (q, q)."""
    q = len(top.phi)
    step = 0.1
    if _curved(layout):
        return _border_last(layout, top)
    bend = np.zeros((q, q))
    for k in range(q):
        unit = step * (np.arange(q) == k)
        ahead = conditional_at(layout, top.phi + unit, top, sloped=True)
        bend[k] = (top.slope - ahead.slope) / step
    return _root((bend + bend.T) / 2)


def _border_last(layout: Layout, top: Conditional) -> np.ndarray:
    """Return a root of the inverse curvature whose last columns leave priors of groups alone.

    A conditional where these are the same takes a fraction of the time.
    """
    bend = curvature(layout, top) if top.bend is None else top.bend
    slow = _slow(layout, top.phi).any(axis=1)
    whole = _root(bend)
    n = int(slow.sum())
    root = np.zeros_like(bend)
    values, vectors = np.linalg.eigh((whole @ whole.T)[np.ix_(slow, slow)])
    root[slow, :n] = vectors * np.sqrt(values)
    root[~slow, :n] = (whole @ whole.T)[np.ix_(~slow, slow)] @ (vectors / np.sqrt(values))
    root[~slow, n:] = _root(bend[np.ix_(~slow, ~slow)])
    return root


def _root(bend: np.ndarray) -> np.ndarray:
    """Return a root of the inverse of a curvature, (q, q), which is 2 long at most."""
    values, vectors = np.linalg.eigh(bend)
    return vectors / np.sqrt(np.maximum(values, FLATTEST))


def _lattice(layout: Layout, top: Conditional, root: np.ndarray) -> list[Conditional] | None:
    """Return nodes on a lattice, from the top outwards until the bound is negligible.

    None where they would be too many.
    """
    q = len(top.phi)
    if q == 0:
        return [top]
    step = SPACING[q]
    found = {(0,) * q: top}
    edge = [(0,) * q]
    best = top.bound
    while edge:
        ahead = []
        for place in edge:
            for k, s in product(range(q), (1, -1)):
                beside = tuple(p + s * (i == k) for i, p in enumerate(place))
                if beside in found or found[place].bound < best - NEGLIGIBLE[q]:
                    continue
                phi = top.phi + step * root @ np.array(beside, dtype=float)
                behind = found.get(tuple(p - s * (i == k) for i, p in enumerate(place)))
                found[beside] = conditional_at(layout, phi, _foreseen(found[place], behind))
                best = max(best, found[beside].bound)
                ahead.append(beside)
        edge = ahead
        if len(found) > MOST_NODES:
            return None
    return list(found.values())


def _foreseen(node: Conditional, behind: Conditional | None) -> Conditional:
    """Return a node as the next one may be: means go on in a line, variances by a factor.

    A third of the factors that nodes of 59 arms on 13 prompts need is saved.
    """
    if behind is None:
        return node
    mean = 2 * node.x - behind.x
    variance = node.variance**2 / np.maximum(behind.variance, TINY)
    return node._replace(x=mean, variance=variance)


def _composite(layout: Layout, top: Conditional, root: np.ndarray) -> list[Conditional]:
    """Return nodes of a central composite design: the top, axes and (of few scales) corners."""
    q = len(top.phi)
    reach = 1.1
    axes = [s * reach * np.sqrt(q) * unit for unit in np.eye(q) for s in (1.0, -1.0)]
    signs = product((1.0, -1.0), repeat=q) if q <= CORNERED else ()
    away = [root @ z for z in axes + [reach * np.array(one) for one in signs]]

    def node(one: np.ndarray) -> Conditional:
        return conditional_at(layout, top.phi + one, top)

    return [top, *(side_by_side(node, away) if layout.crossed else map(node, away))]


def _rays(layout: Layout, top: Conditional, root: np.ndarray) -> list[Conditional]:
    """Return nodes from the top outwards along each scale, others at their best, while they matter.

    By a secant for all, then one step of Newton's method for the others, by the top's curvature.
    """
    found = []
    covariance = root @ root.T
    bend = np.linalg.inv(covariance)
    q = len(top.phi)
    for k, sign in product(range(q), (1.0, -1.0)):
        size = SPACING[3] * covariance[k, k] ** 0.5
        here = top
        step = sign * covariance[k] / covariance[k, k]
        others = np.arange(q) != k
        while here.bound > top.bound - NEGLIGIBLE[3] and abs(here.phi[k] - top.phi[k]) < RAY:
            ahead = conditional_at(layout, here.phi + size * step, here, sloped=True)
            better = np.zeros(q)
            better[others] = np.linalg.solve(bend[np.ix_(others, others)], ahead.slope[others])
            better /= max(1.0, float(np.sqrt(better @ bend @ better)))
            ahead = conditional_at(layout, ahead.phi + better, ahead)
            step = (ahead.phi - here.phi) / size
            here = ahead
            found.append(here)
    return found


def _interpolated(z: np.ndarray, values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function through `values` (nodes, ...) at nodes `z` (nodes, q)."""
    from scipy.interpolate import RBFInterpolator

    given: dict[str, Any] = {"kernel": "linear", "degree": 0}
    if len(z) >= 6:
        quadratic = len(z) > 2 * (z.shape[1] + 1) * (z.shape[1] + 2) // 2
        given = {"kernel": "cubic", "degree": 2 if quadratic else 1}
    shares = RBFInterpolator(z, np.eye(len(z)), **given)  # of the nodes' values, which are many
    return lambda at: shares(at).astype(values.dtype, copy=False) @ values
