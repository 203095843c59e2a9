"""The normal distribution nearest to a conditional posterior: averaged slopes and curvatures.

Given the scales, Newton's method with the derivatives of each cell averaged over the distribution
of its predictor finds the normal distribution of the highest evidence bound.

References
----------
Opper & Archambeau, "The variational Gaussian approximation revisited", Neural Computation 2009.
Louis, "Finding the observed information matrix when using the EM algorithm", JRSS B 1982 (the
curvature in the scales).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesduel.inference.arrow import Arrow, Layout
from bayesduel.inference.crossed import EXACT
from bayesduel.inference.gaussian_prior import Prior
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.models.response import Derivatives

__all__ = ["Conditional", "conditional_at", "curvature", "mode_at", "responding", "step_from"]

# Figures are of two fits of 4,000 draws, in standard deviations: 4,000 votes of 20 arms and 40
# judges, and 12,000 votes of 30 arms, 60 judges and 100 prompts.
# Of Gauss-Hermite quadrature over a cell's predictor: exact for polynomials to degree 29.
NODES = 15
# Of the log density, below which a step ends them. With a tenth and ten times of it means of scales
# shift by 0.02 at most, and their deviations change by 2 %.
GAIN = 1e-3
# Residual of a step by conjugate gradients: the next one makes up for it. With a quarter and four
# times of it nothing changes.
LOOSE = 0.02
# Gain of a step, in nats, below which the precision of crossed groups is factored. With a quarter
# and four times of it nothing changes.
CLOSE = 1.0
# Relative change of variances, likewise. With a quarter and four times of it means shift by 0.02 at
# most.
STILL = 0.02
TINY = 1e-12  # variance of a predictor, at least, which has a root and a logarithm


class FactorNeeded(NamedTuple):
    """How near a factor of the precision of crossed groups has to be."""

    alike: float  # relative change of curvatures within which an earlier factor serves
    residual: float  # of its solutions, relative


# With a quarter of 0.002 means shift by 0.02, with four times of it by 0.003; with half and twice
# 0.25, and with a quarter and four times 0.01, nothing changes.
FINE = FactorNeeded(alike=0.002, residual=EXACT)
ROUGH = FactorNeeded(alike=0.25, residual=0.01)


class Conditional(NamedTuple):
    """The normal distribution of the coefficients at one value of the hyperparameters."""

    phi: np.ndarray  # logarithms of the hyperparameters, (q,)
    x: np.ndarray  # its mean, (size,)
    arrow: Arrow  # its precision, factored
    variance: np.ndarray  # of each cell's predictor, (cells,)
    bound: float  # lower bound of the log density of the hyperparameters
    bent: Derivatives  # averaged derivatives of the cells
    slope: np.ndarray  # gradient of the bound, (q,), where it was asked for
    bend: np.ndarray | None = None  # minus its second derivatives, (q, q), where they are known


AT, MASS = np.polynomial.hermite_e.hermegauss(NODES)
MASS = MASS / MASS.sum()


def mode_at(layout: Layout, phi: np.ndarray, start: np.ndarray | None) -> Conditional:
    """Return the conditional at `phi`, from the mode by damped Newton steps; see below."""
    density = layout.density
    prior = density.prior(phi)
    x = np.zeros(density.size) if start is None else start.copy()

    def height(x: np.ndarray) -> float:
        cells = density.likelihood(x, phi, density.eta(x)[None])[0]
        return float(cells.sum() - 0.5 * _square(prior, x))

    value = height(x)
    near = None
    bent = None
    for _ in range(200):
        found = density.derivatives(x, phi)
        gradient = density.gradient(found, prior, x)
        if near is None or not layout.crossed:
            near = layout.factor(found, prior)
            bent = found
            step = layout.solve(near, gradient)
        else:
            step, _ = layout.step(found, prior, gradient, near, LOOSE)
        gain = float(gradient @ step)
        length = 1.0
        if gain < (CLOSE if layout.crossed else GAIN):
            break
        while (better := height(x + length * step)) < value + 1e-4 * length * gain:
            length /= 2
            if length < 1e-8:
                raise FloatingPointError("Newton's method found no ascent")
        x = x + length * step
        value = better
        if np.abs(x).max() > 1e4 * max(density.unit, 1.0):
            raise FloatingPointError("the likelihood has no maximum: some scores run to infinity")
    if not layout.crossed:
        bent = density.derivatives(x, phi)
        near = layout.factor(bent, prior)
    assert near is not None and bent is not None
    here = Conditional(phi, x, near, layout.spread(near), value, bent, np.zeros(0))
    return conditional_at(layout, phi, here, sloped=True)


def conditional_at(
    layout: Layout,
    phi: np.ndarray,
    near: Conditional,
    *,
    sloped: bool = False,
) -> Conditional:
    """Return the conditional at `phi`, from one near it; with `sloped`, with its bound's gradient.

    Without, of crossed groups a rough one will do: their curvatures are those of the first factor,
    or of the near one if that has the same prior of them, as are the variances of predictors then.
    """
    density = layout.density
    prior = density.prior(phi)
    gain = np.inf
    changed = np.inf
    x = near.x
    variance = near.variance
    bent = None
    last = near.arrow
    arrow = layout.beside(last, prior)
    rough = layout.crossed and not sloped
    needed = ROUGH if rough else FINE
    if arrow is not None:
        bent = near.bent
        last = arrow
        if not rough and not np.array_equal(phi, near.phi):
            variance = layout.spread(arrow)
    elif layout.crossed:
        variance = np.maximum(variance + layout.foreseen(last, near.bent, prior), 0.0)
    far = max(50.0, 0.5 * density.size)  # gain of a step by cells beyond which it is shortened
    # 24 steps at most: more are a search that does not come close
    for k in range(24):
        found = density.averaged(x, phi, AT, MASS, variance)
        gradient = density.gradient(found, prior, x)
        known = bent is not None and _apart(found.bend, bent.bend) <= needed.alike
        if layout.crossed and (known or gain >= CLOSE):
            step, _ = layout.step(found, prior, gradient, last, LOOSE)
        else:
            arrow = layout.factor(found, prior, last, needed.residual)
            bent = found
            last = arrow
            step = layout.solve(arrow, gradient)
        gain = float(gradient @ step)
        if not np.isfinite(gain):
            raise FloatingPointError("the posterior has no finite mean")
        if gain > far:  # that of the prior is known to be quadratic
            by_cells = float(-found.bend @ density.reach(step[None])[0] ** 2)
            step = step / max(1.0, by_cells / far) ** 0.5
        x = x + step
        if arrow is not None and bent is found and changed > STILL:
            before = variance
            variance = layout.spread(arrow)
            changed = _apart(variance, before)
        late = k > 2 and not layout.crossed
        if gain < GAIN and (known or changed <= STILL or late):
            break
    if arrow is None or bent is None:
        raise FloatingPointError("Newton's method did not come close to the mean")
    nowhere = np.full(len(phi), np.nan)
    here = Conditional(phi, x, arrow, variance, np.nan, bent, nowhere)
    here = here._replace(bound=_bound(density, here, prior))
    return here._replace(slope=_slope(layout, here)) if sloped else here


def _bound(density: LinearPredictor, here: Conditional, prior: Prior) -> float:
    """Return the evidence bound of a conditional, whose prior is given."""
    phi = here.phi
    eta = density.eta(here.x) + AT[:, None] * np.sqrt(here.variance)
    cells = density.likelihood(here.x, phi, eta)
    weight = np.maximum(-here.bent.bend, 0.0)
    value = float((MASS @ cells).sum()) + prior.half_log_det - 0.5 * _square(prior, here.x)
    value += 0.5 * float((weight * here.variance).sum()) - here.arrow.half_log_det
    value += 0.5 * density.size * np.log(2 * np.pi) + float(density.log_hyper(phi[None])[0])
    return value


def _slope(layout: Layout, here: Conditional) -> np.ndarray:
    """Return the gradient of the bound in the hyperparameters, (q,), by differences."""
    expected = _expected(layout, here)
    slope = []
    step = 1e-4  # with a tenth and with ten times of it nothing changes
    for unit in step * np.eye(len(here.phi)):
        rise = expected(here.phi + unit) - expected(here.phi - unit)
        slope.append(rise / (2 * step))
    return np.array(slope)


def step_from(layout: Layout, near: Conditional, arrow: Arrow, prior: Prior, x: np.ndarray) -> Any:
    """Return a step of Newton's method from `x`, (size,), to the mean of a conditional.

    near: another conditional, whose predictors vary as much. arrow, prior: of this one.
    """
    density = layout.density
    found = density.averaged(x, near.phi, AT, MASS, near.variance)
    return layout.solve(arrow, density.gradient(found, prior, x))


def curvature(layout: Layout, here: Conditional) -> np.ndarray:
    """Return minus the second derivatives of the bound in the hyperparameters, (q, q), nearly.

    By Louis' identity: what is expected of the density's own, less the covariance of its slopes,
    which are linear and quadratic in the coefficients; and less what cells yield to the first
    order. No hyperparameter is of the response.
    """
    density = layout.density
    phi = here.phi
    q = len(here.phi)
    expected = _expected(layout, here)
    # With a quarter and four times of it, means shift by 0.007 standard deviations at most
    step = 1e-2
    unit = step * np.eye(q)
    middle = expected(phi)
    bend = np.empty((q, q))
    curved = []
    border = []
    groups = []
    turned = []
    for one in unit:
        curved.append(expected(phi + one) + expected(phi - one) - 2 * middle)
        ahead = density.prior(phi + one)
        back = density.prior(phi - one)
        border_ahead, groups_ahead = layout.priors(ahead)
        border_back, groups_back = layout.priors(back)
        border.append((border_ahead - border_back) / (2 * step))
        groups.append((groups_ahead - groups_back) / (2 * step))
        turned.append((back.pull(here.x) - ahead.pull(here.x)) / (2 * step))
    for k in range(q):
        bend[k, k] = -curved[k] / step**2
        for j in range(k):
            apart = curved[k] + curved[j]
            corners = apart
            if (border[k] * border[j]).any() or (groups[k] * groups[j]).any():  # of one block
                both = unit[k] + unit[j]
                corners = expected(phi + both) + expected(phi - both) - 2 * middle
            bend[k, j] = (apart - corners) / (2 * step**2)
            bend[j, k] = bend[k, j]
    linear = np.array(turned)
    solved = np.array([layout.solve(here.arrow, one) for one in linear])
    quadratic = layout.traces(here.arrow, border, groups)
    bend -= (linear @ solved.T + solved @ linear.T) / 2 + quadratic / 2
    return bend - _yielded(layout, here, density.reach(solved), groups)


def _yielded(
    layout: Layout, here: Conditional, moved: np.ndarray, groups: list[np.ndarray]
) -> np.ndarray:
    """Return what the curvature loses, as cells bend less where predictors vary more, (q, q).

    By Stein's identities for averages. moved: how predictors move, (q, cells). groups: how prior
    precisions of the groups do, (groups, m) each.
    """
    at = np.maximum(here.variance, TINY)

    def averaged(mass: np.ndarray) -> np.ndarray:
        return layout.density.averaged(here.x, here.phi, AT, mass, here.variance).bend

    by_eta = averaged(MASS * AT) / at**0.5
    by_variance = averaged(MASS * (AT**2 - 1) / 2) / at
    wider = np.array([layout.widened(here.arrow, one) for one in groups])
    mixed = (moved * by_eta) @ wider.T
    return np.asarray((mixed + mixed.T + (wider * by_variance) @ wider.T) / 2)


def _expected(layout: Layout, here: Conditional) -> Callable[[np.ndarray], float]:
    """Return the expected log density at hyperparameters, but for terms that do not move with them.

    The distribution of the coefficients is held: at its best one the bound moves with the
    hyperparameters through the prior and the response alone.
    """
    density = layout.density
    x = here.x
    variance = layout.join(*here.arrow.variances())
    covariance = here.arrow.covariance()
    at = np.full(density.size, -1)
    at[layout.border] = np.arange(len(layout.border))
    responds = responding(density)
    eta = density.eta(x) + AT[:, None] * np.sqrt(here.variance)

    def value(phi: np.ndarray) -> float:
        prior = density.prior(phi)
        total = prior.half_log_det - 0.5 * _square(prior, x)
        for piece in prior.pieces:
            if piece.inverse is None:
                total -= 0.5 * float(piece.tight @ variance[piece.here])
                continue
            place = at[piece.here]
            products = piece.dense() * covariance[np.ix_(place, place)]
            total -= 0.5 * float(products.sum())
        total += float(density.log_hyper(phi[None])[0])
        if (phi != here.phi)[responds].any():
            total += float((MASS @ density.likelihood(x, phi, eta)).sum())
        return total

    return value


def responding(density: LinearPredictor) -> np.ndarray:
    """Return which hyperparameters are of the response, (q,)."""
    known = list(density.response.scales(flat=density.model.terms.flat))
    names = [n for n, length in density.hypers.items() for _ in range(length or 1)]
    return np.isin(names, known)


def _apart(values: np.ndarray, others: np.ndarray) -> float:
    """Return the largest difference over the largest of the values."""
    largest = max(float(np.abs(values).max()), 1e-300)
    return float(np.abs(values - others).max() / largest)


def _square(prior: Prior, x: np.ndarray) -> float:
    return float((x - prior.mean) @ prior.pull(x))
