"""Latent Gaussian models: normal distributions with averaged curvatures, at nodes of the scales.

Given a few scales the predictor is linear in coefficients with a normal prior. At each of some
nodes of the scales the posterior of the coefficients is replaced by the normal distribution that is
nearest in the sense of variational inference: Newton's method with slopes and curvatures averaged
over that distribution of each cell's predictor. Its evidence bound is the log density of the node.
Between the nodes the bound and the means are interpolated. Draws have importance ratios against the
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
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from bayesduel.inference.arrow import Arrow, Layout, layout_of
from bayesduel.inference.conditional_mode import named_parameters, start_at
from bayesduel.inference.design import centre
from bayesduel.inference.draws import Proposals, Quality
from bayesduel.inference.linear_predictor import LinearPredictor, Prior
from bayesduel.inference.polya_gamma import polya_gamma
from bayesduel.inference.polya_gamma_gibbs import GibbsCertificate, worst_mean
from bayesduel.inference.population_monte_carlo import start_of
from bayesduel.models.response import Derivatives, without_own

__all__ = ["LatentGaussian"]

NODES = 15  # of Gauss-Hermite quadrature over a cell's predictor
STEPS = 12  # of a conditional, at most
GAIN = 1e-3  # of the log density, below which a step ends them
STILL = 0.02  # relative change of variances, likewise
NEGLIGIBLE = (0.0, 7.5, 7.5, 6.0)  # nats below the best node at which nodes end, likewise
SPACING = (0.0, 0.75, 1.0, 1.4)  # of nodes in standard deviations, by number of scales
FLOOR = -15.0  # nats below the best node; lower bounds would let the interpolation overshoot
MOST_NODES = 600  # of a lattice; where it would have more, and
FACTORS = 2e7  # factors made anew for draws, times the square of coefficients, about
FEWEST = 200  # distinct values of the scales among draws, at least
WEIGHED = 1000  # coefficients up to which draws have importance ratios
SMALL = 300  # coefficients up to which three scales have a lattice: a composite design
OVERSAMPLED = 8  # proposals of the scales for each draw
SWEEPS = (40, 400)  # of the certifying chain that are counted, at least and at most
COEFFICIENTS = 60_000  # times these, about
ALLOWED = (
    0.1,
    0.1,
    0.3,
    0.3,
)  # shift, spread, shift of a scale and of a number with which it holds


class Conditional(NamedTuple):
    """The normal distribution of the coefficients at one value of the hyperparameters.

    Attributes
    ----------
    phi
        Logarithms of the hyperparameters, (q,).
    x
        Its mean, (size,).
    arrow
        Its precision, factored.
    variance
        Of each cell's predictor, (cells,).
    bound
        Lower bound of the log density of the hyperparameters.
    bent
        Averaged derivatives of the cells.
    slope
        Gradient of the bound, (q,), where it was asked for.
    """

    phi: np.ndarray
    x: np.ndarray
    arrow: Arrow
    variance: np.ndarray
    bound: float
    bent: Derivatives
    slope: np.ndarray


@dataclass(frozen=True, eq=False)
class LatentGaussian:
    """A mixture of normal distributions of the coefficients over nodes of the scales.

    Attributes
    ----------
    model, cells
        What is approximated.
    layout
        Its density, and which coefficients are by group.
    top
        The node of the highest bound.
    root
        Coordinates of the hyperparameters: phi = top.phi + root z, (q, q).
    nodes
        The conditionals.
    step
        Distance of the nodes of a lattice; 0 of a composite design.
    """

    model: Any
    cells: Any
    layout: Layout
    top: Conditional
    root: np.ndarray
    nodes: tuple[Conditional, ...]
    step: float

    @classmethod
    def of(
        cls, density: LinearPredictor, cells: Any, near: Mapping[str, np.ndarray] | None = None
    ) -> "LatentGaussian":
        """Return the approximation of a posterior, given its density.

        Raises
        ------
        FloatingPointError
            If the posterior has no mode.
        """
        layout = layout_of(density)
        start = start_at(density, near)
        first = _mode(layout, start_of(density, cells), start)
        top = _highest(layout, first)
        root = _coordinates(layout, top)
        nodes, step = None, 0.0
        if len(top.phi) < 3 or density.size <= SMALL:
            nodes, step = _lattice(layout, top, root), SPACING[len(top.phi)]
        if nodes is None:
            nodes, step = _composite(layout, top, root), 0.0
        return cls(density.model, cells, layout, top, root, tuple(nodes), step)

    @property
    def density(self) -> LinearPredictor:
        """The density."""
        return self.layout.density

    @cached_property
    def _z(self) -> np.ndarray:
        """Coordinates of the nodes, (nodes, q)."""
        away = np.array([node.phi - self.top.phi for node in self.nodes])
        return away @ np.linalg.inv(self.root).T

    def propose(
        self,
        n: int,
        rng: np.random.Generator,
        *,
        log_likelihood: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> Proposals:
        """Return `n` draws and their log ratios; see ``Approximation.propose``."""
        density = self.density
        distinct = n
        if 0 < len(self.top.phi) and density.size <= SMALL:
            distinct = int(np.clip(FACTORS // density.size**2, FEWEST, n))
        z, log_q = self._scales(distinct, rng)
        which = rng.permutation(np.arange(n) % distinct)
        z, log_q = z[which], log_q[which]
        phi = self.top.phi + z @ self.root.T
        x = self._means(z)
        place = ((z[:, None, :] - self._z) ** 2).sum(axis=2).argmin(axis=1)
        normal = rng.standard_normal((n, density.size))
        log_q = log_q - 0.5 * (normal**2).sum(axis=1) - density.size / 2 * np.log(2 * np.pi)
        for rows in _groups(which if density.size <= SMALL else place):
            node = self.nodes[place[rows[0]]]
            arrow = node.arrow
            if density.size <= SMALL:  # the node's curvatures, under the prior of the very scales
                arrow = self.layout.factor(node.bent, density.prior(phi[rows[0]]))
            x[rows] += self.layout.draw(arrow, normal[rows])
            log_q[rows] += arrow.half_log_det
        if density.size > WEIGHED and self.model.response.score_link == "logit":
            unknown = np.full(n, np.nan)  # no ratio of so many coefficients says anything
            return Proposals(x, phi, unknown, unknown, None)
        if log_likelihood:
            value, cells = density.batch(x, phi)
        else:
            value, cells = density.values(x, phi), None
        if progress is not None:
            progress(1.0)
        return Proposals(x, phi, value - log_q, value, cells)

    def parameters(
        self, x: np.ndarray, hyper: np.ndarray, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return the parameters of kept draws by name, draws first."""
        return named_parameters(self.density, x, hyper)

    def summary(self) -> dict[str, Any]:
        """Return the group ``laplace``: mean and covariance at the best node."""
        dims = self.model.dims | self.density.dims | {"score": ("arm",)}
        found = named_parameters(self.density, self.top.x, self.top.phi)
        group: dict[str, Any] = {f"{n}_mode": (dims.get(n, ()), v) for n, v in found.items()}
        if "score" in found:
            cut = len(found["score"]) - 1
            covariance = self.top.arrow.covariance()[:cut, :cut]
            group["score_cov"] = (("arm", "opponent"), centre(centre(covariance).T))
        return group

    def refined(self, proposals: Proposals, weights: np.ndarray) -> None:
        """Return None: what importance ratios do not certify, `certified` does."""
        return

    def certified(
        self,
        proposals: Proposals,
        rng: np.random.Generator,
        progress: Callable[[float], None] | None = None,
    ) -> Quality | None:
        """Return what a short Gibbs chain says of the draws as they are; None if not logistic."""
        if self.model.response.score_link != "logit":
            return None
        return _chain(self, len(proposals.x), rng, progress)

    def _scales(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return `n` draws of the scales' coordinates, (n, q), and their log density up to one."""
        q = len(self.top.phi)
        if q == 0:
            return np.zeros((n, 0)), np.zeros(n)
        bound = np.array([node.bound for node in self.nodes])
        if not self.step:
            return self._split_normal(n, rng)
        curve = _interpolated(self._z, np.maximum(bound - bound.max(), FLOOR))
        weight = np.exp(0.8 * (bound - bound.max())) + 1e-4
        weight /= weight.sum()
        node = rng.choice(len(weight), OVERSAMPLED * n, p=weight)
        jitter = self.step * (rng.random((len(node), q)) - 0.5)
        z = self._z[node] + jitter
        height = curve(z)
        ratio = height - np.log(weight[node])
        chance = np.exp(ratio - ratio.max())
        points = (np.arange(n) + rng.uniform()) / n * chance.sum()
        kept = np.minimum(np.searchsorted(np.cumsum(chance), points), len(chance) - 1)
        kept = rng.permutation(kept)
        return z[kept], height[kept]

    def _split_normal(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of a product of split normal densities, whose sides the axial nodes tell."""
        q = len(self.top.phi)
        z, bound = self._z, np.array([node.bound for node in self.nodes])
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

    def _means(self, z: np.ndarray) -> np.ndarray:
        """Return the mean of the coefficients at coordinates of the scales, (n, size)."""
        means = np.stack([node.x for node in self.nodes])
        if len(means) == 1 or z.shape[1] == 0:
            return np.repeat(means[:1], len(z), axis=0)
        return np.asarray(_interpolated(self._z, means)(z))


# -- conditionals --------------------------------------------------------------------------


def _quadrature() -> tuple[np.ndarray, np.ndarray]:
    nodes, masses = np.polynomial.hermite_e.hermegauss(NODES)
    return nodes, masses / masses.sum()


AT, MASS = _quadrature()


def _mode(layout: Layout, phi: np.ndarray, start: np.ndarray | None) -> Conditional:
    """Return the conditional at `phi`, from the mode by damped Newton steps."""
    density = layout.density
    prior = density.prior(phi)
    x = np.zeros(density.size) if start is None else start.copy()
    flat = np.zeros(1)

    def height(x: np.ndarray) -> float:
        eta = density.eta(x)
        return float(density.likelihood(x, phi, eta[None])[0].sum() - 0.5 * _square(prior, x))

    value = height(x)
    for _ in range(200):
        found = density.averaged(x, phi, flat, flat + 1.0, np.zeros(density.n_cells))
        gradient = density.gradient(found, prior, x)
        step = layout.solve(layout.factor(found, prior), gradient)
        gain, length = float(gradient @ step), 1.0
        if gain < GAIN:
            break
        while (better := height(x + length * step)) < value + 1e-4 * length * gain:
            length /= 2
            if length < 1e-8:
                raise FloatingPointError("Newton's method found no ascent")
        x, value = x + length * step, better
        if np.abs(x).max() > 1e4 * max(density.unit, 1.0):
            raise FloatingPointError("the likelihood has no maximum: some scores run to infinity")
    arrow = layout.factor(
        density.averaged(x, phi, flat, flat + 1.0, np.zeros(density.n_cells)), prior
    )
    return _conditional(layout, phi, x, layout.spread(arrow))


def _conditional(
    layout: Layout, phi: np.ndarray, x: np.ndarray, variance: np.ndarray, *, sloped: bool = False
) -> Conditional:
    """Return the conditional at `phi`, from a mean and variances of predictors near it.

    With `sloped`, with the gradient of its bound.
    """
    density = layout.density
    prior, changed = density.prior(phi), np.inf
    for k in range(STEPS):
        found = density.averaged(x, phi, AT, MASS, variance)
        gradient = density.gradient(found, prior, x)
        arrow = layout.factor(found, prior)
        step = layout.solve(arrow, gradient)
        gain = float(gradient @ step)
        if not np.isfinite(gain):
            raise FloatingPointError("the posterior has no finite mean")
        x = x + step / max(1.0, (gain / 50.0) ** 0.5)
        if changed > STILL:
            last, variance = variance, layout.spread(arrow)
            changed = np.abs(variance - last).max() / max(float(variance.max()), 1e-300)
        if gain < GAIN and (changed <= STILL or k > 2):
            break
    eta = density.eta(x) + AT[:, None] * np.sqrt(variance)
    terms = density.likelihood(x, phi, eta)
    weight = np.maximum(-found.bend, 0.0)
    value = float((MASS @ terms).sum()) + prior.half_log_det - 0.5 * _square(prior, x)
    value += 0.5 * float((weight * variance).sum()) - arrow.half_log_det
    value += 0.5 * density.size * np.log(2 * np.pi) + float(density.log_hyper(phi[None])[0])
    slope = _slope(layout, phi, x, arrow, eta) if sloped else np.full(len(phi), np.nan)
    return Conditional(phi, x, arrow, variance, value, found, slope)


def _slope(
    layout: Layout, phi: np.ndarray, x: np.ndarray, arrow: Arrow, eta: np.ndarray
) -> np.ndarray:
    """Return the gradient of the bound in the hyperparameters, the distribution being held.

    At its best distribution the bound moves with them through the prior and the response alone.
    """
    density = layout.density
    on_border, on_groups = arrow.variances()
    variance = layout.join(on_border, on_groups)
    covariance = arrow.covariance()
    at = np.full(density.size, -1)
    at[layout.border] = np.arange(len(layout.border))
    of_response = set(density.response.scales(flat=density.model.terms.flat))
    names = [n for n, length in density.hypers.items() for _ in range(length or 1)]

    def value(moved: np.ndarray, name: str) -> float:
        prior = density.prior(moved)
        total = prior.half_log_det - 0.5 * _square(prior, x)
        for piece in prior.pieces:
            if piece.inverse is None:
                total -= 0.5 * float(piece.tight @ variance[piece.here])
            else:
                place = at[piece.here]
                total -= 0.5 * float((piece.dense() * covariance[np.ix_(place, place)]).sum())
        total += float(density.log_hyper(moved[None])[0])
        if name in of_response:
            total += float((MASS @ density.likelihood(x, moved, eta)).sum())
        return total

    step = 1e-4
    found = np.empty(len(phi))
    for k, name in enumerate(names):
        unit = step * (np.arange(len(phi)) == k)
        found[k] = (value(phi + unit, name) - value(phi - unit, name)) / (2 * step)
    return found


def _groups(place: np.ndarray) -> list[np.ndarray]:
    """Return the rows of each value of `place`."""
    order = np.argsort(place, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(place[order])) + 1)


def _square(prior: Prior, x: np.ndarray) -> float:
    return float((x - prior.mean) @ prior.pull(x))


# -- nodes ---------------------------------------------------------------------------------


def _highest(layout: Layout, start: Conditional) -> Conditional:
    """Return the conditional at the highest bound.

    Raises
    ------
    FloatingPointError
        If there is none.
    """
    from scipy.optimize import minimize

    if not len(start.phi):
        return start
    best = [start._replace(bound=-np.inf)]

    def fall(phi: np.ndarray) -> tuple[float, np.ndarray]:
        try:
            here = _conditional(layout, phi, best[0].x, best[0].variance, sloped=True)
        except FloatingPointError:
            return 1e300, np.zeros(len(phi))
        if here.bound > best[0].bound:
            best[0] = here
        return -here.bound, -here.slope

    minimize(fall, start.phi, jac=True, method="BFGS", options={"gtol": 0.02, "maxiter": 60})
    if not np.isfinite(best[0].bound) or np.abs(best[0].phi - start.phi).max() > 50:
        raise FloatingPointError("the hyperparameters have no mode")
    return best[0]


def _coordinates(layout: Layout, top: Conditional) -> np.ndarray:
    """Return the root of the inverse curvature of the bound at its top, (q, q)."""
    q, step = len(top.phi), 0.1
    bend = np.zeros((q, q))
    for k in range(q):
        unit = step * (np.arange(q) == k)
        ahead = _conditional(layout, top.phi + unit, top.x, top.variance, sloped=True)
        bend[k] = (top.slope - ahead.slope) / step
    values, vectors = np.linalg.eigh((bend + bend.T) / 2)
    values = np.clip(values, 0.25, None)  # where it is flat, nodes are no farther apart than 2
    return vectors / np.sqrt(values)


def _lattice(layout: Layout, top: Conditional, root: np.ndarray) -> list[Conditional] | None:
    """Return nodes on a lattice, from the top outwards until the bound is negligible.

    None where they would be too many.
    """
    q = len(top.phi)
    if q == 0:
        return [top]
    step = SPACING[q]
    found = {(0,) * q: top}
    edge, best = [(0,) * q], top.bound
    while edge:
        ahead = []
        for place in edge:
            for k, s in product(range(q), (1, -1)):
                beside = tuple(p + s * (i == k) for i, p in enumerate(place))
                if beside in found or found[place].bound < best - NEGLIGIBLE[q]:
                    continue
                phi = top.phi + step * root @ np.array(beside, dtype=float)
                near = found[place]
                found[beside] = _conditional(layout, phi, near.x, near.variance)
                best = max(best, found[beside].bound)
                ahead.append(beside)
        edge = ahead
        if len(found) > MOST_NODES:
            return None
    return list(found.values())


def _composite(layout: Layout, top: Conditional, root: np.ndarray) -> list[Conditional]:
    """Return nodes of a central composite design: the top, axes and corners."""
    q, reach = len(top.phi), 1.1
    axes = [s * reach * np.sqrt(q) * unit for unit in np.eye(q) for s in (1.0, -1.0)]
    corners = [reach * np.array(signs) for signs in product((1.0, -1.0), repeat=q)]
    return [
        top,
        *(_conditional(layout, top.phi + root @ z, top.x, top.variance) for z in axes + corners),
    ]


def _interpolated(z: np.ndarray, values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function through `values` (nodes, ...) at nodes `z` (nodes, q)."""
    from scipy.interpolate import RBFInterpolator

    if len(z) < 6:
        return RBFInterpolator(z, values, kernel="linear", degree=0)
    quadratic = len(z) > 2 * (z.shape[1] + 1) * (z.shape[1] + 2) // 2
    return RBFInterpolator(z, values, kernel="cubic", degree=2 if quadratic else 1)


# -- the certifying chain --------------------------------------------------------------------


def _chain(
    found: LatentGaussian,
    n_draws: int,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None,
) -> GibbsCertificate:
    """Return what Polya-Gamma Gibbs sampling at the best scales says of the conditional there.

    The exact slope of the log density of the scales is the mean of that of the prior over draws of
    the coefficients (Fisher's identity); its distance from the bound's says how far the scales are
    shifted.
    """
    density, layout, top = found.density, found.layout, found.top
    prior = density.prior(top.phi)
    error = np.sqrt(layout.join(*top.arrow.variances()))
    n = np.asarray(density.data["n"], dtype=float)
    pull = density.gradient_of(np.asarray(density.data["points"]) - n / 2, prior)
    starts = np.cumsum([0, *(block.size for block in density.terms.values())])
    ends = list(pairwise(starts))
    many = [slice(a, b) for a, b in ends if b - a > 1]
    single = [a for a, b in ends if b - a == 1]
    kept = int(np.clip(COEFFICIENTS // density.size, *SWEEPS))
    skipped = kept // 4
    moved, spread, scale, effect = [], [], [], []
    x = top.x + layout.draw(top.arrow, rng.standard_normal((1, density.size)))[0]
    for k in range(skipped + kept):
        weight = polya_gamma(n, density.eta(x), rng)
        arrow = layout.factor(without_own(0.0 * weight, -weight), prior)
        x = layout.solve(arrow, pull)
        x += layout.draw(arrow, rng.standard_normal((1, density.size)))[0]
        if progress is not None:
            progress((k + 1) / (skipped + kept))
        if k < skipped:
            continue
        away = (x - top.x) / error
        toward = np.sign(top.x) * away
        moved.append([toward[b].mean() for b in many])
        spread.append([(away[b] ** 2).mean() - 1 for b in many])
        scale.append(found.root.T @ (_prior_slope(density, x, top.phi) - top.slope))
        effect.append([away[a] for a in single] or [0.0])
    worst = [worst_mean(np.array(series)) for series in (moved, spread, scale, effect)]
    return GibbsCertificate(
        shift=worst[0][0],
        spread=worst[1][0],
        scale_shift=worst[2][0],
        effect_shift=worst[3][0],
        errors=(worst[0][1], worst[1][1], worst[2][1], worst[3][1]),
        sweeps=kept,
        n_draws=n_draws,
        allowed=ALLOWED,
    )


def _prior_slope(density: LinearPredictor, x: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Return the slope of the log prior in the hyperparameters, (q,)."""
    step = 1e-4 * np.eye(len(phi))
    at = np.concatenate([phi + step, phi - step])
    value = density.log_prior(np.repeat(x[None], len(at), axis=0), at)
    return (value[: len(phi)] - value[len(phi) :]) / 2e-4
