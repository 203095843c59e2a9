"""The normal distribution nearest to a conditional posterior: averaged slopes and curvatures.

Given the scales, Newton's method with the derivatives of each cell averaged over the distribution
of its predictor finds the normal distribution of the highest evidence bound.

References
----------
Opper & Archambeau, "The variational Gaussian approximation revisited", Neural Computation 2009.
"""

from typing import NamedTuple

import numpy as np

from bayesduel.inference.arrow import Arrow, Layout
from bayesduel.inference.gaussian_prior import Prior
from bayesduel.models.response import Derivatives

__all__ = ["Conditional", "conditional_at", "mode_at"]

NODES = 15  # of Gauss-Hermite quadrature over a cell's predictor
STEPS = 24  # of a conditional, at most
LEAP = 50.0, 0.5  # gain of a step, in all and a coefficient, beyond which it is shortened
GAIN = 1e-3  # of the log density, below which a step ends them
CLOSE = 1.0  # gain of a step below which the precision of crossed groups is factored
STILL = 0.02  # relative change of variances, likewise
ALIKE = 0.002  # relative change of curvatures within which a factor of crossed groups serves


class Conditional(NamedTuple):
    """The normal distribution of the coefficients at one value of the hyperparameters."""

    phi: np.ndarray  # logarithms of the hyperparameters, (q,)
    x: np.ndarray  # its mean, (size,)
    arrow: Arrow  # its precision, factored
    variance: np.ndarray  # of each cell's predictor, (cells,)
    bound: float  # lower bound of the log density of the hyperparameters
    bent: Derivatives  # averaged derivatives of the cells
    slope: np.ndarray  # gradient of the bound, (q,), where it was asked for


AT, MASS = np.polynomial.hermite_e.hermegauss(NODES)
MASS = MASS / MASS.sum()


def mode_at(layout: Layout, phi: np.ndarray, start: np.ndarray | None) -> Conditional:
    """Return the conditional at `phi`, from the mode by damped Newton steps."""
    density = layout.density
    prior = density.prior(phi)
    x = np.zeros(density.size) if start is None else start.copy()

    def height(x: np.ndarray) -> float:
        eta = density.eta(x)
        return float(density.likelihood(x, phi, eta[None])[0].sum() - 0.5 * _square(prior, x))

    value, near = height(x), None
    for _ in range(200):
        found = density.derivatives(x, phi)
        gradient = density.gradient(found, prior, x)
        step, near = layout.step(found, prior, gradient, near)
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
    arrow = layout.factor(density.derivatives(x, phi), prior)
    return conditional_at(layout, phi, x, layout.spread(arrow), arrow, sloped=True)


def conditional_at(
    layout: Layout,
    phi: np.ndarray,
    x: np.ndarray,
    variance: np.ndarray,
    near: Arrow | None = None,
    *,
    sloped: bool = False,
) -> Conditional:
    """Return the conditional at `phi`, from a mean, variances of predictors and precision near it.

    With `sloped`, with the gradient of its bound.
    """
    density = layout.density
    prior, gain, changed = density.prior(phi), np.inf, np.inf
    arrow = bent = None
    far = max(LEAP[0], LEAP[1] * density.size)
    for k in range(STEPS):
        found = density.averaged(x, phi, AT, MASS, variance)
        gradient = density.gradient(found, prior, x)
        known = bent is not None and _apart(found.bend, bent.bend) <= ALIKE
        if near is not None and layout.crossed and (known or gain >= CLOSE):
            step, _ = layout.step(found, prior, gradient, near)
        else:
            arrow, bent = layout.factor(found, prior, near), found
            near, step = arrow, layout.solve(arrow, gradient)
        gain = float(gradient @ step)
        if not np.isfinite(gain):
            raise FloatingPointError("the posterior has no finite mean")
        x = x + step / max(1.0, (gain / far) ** 0.5)
        if arrow is not None and bent is found and changed > STILL:
            last, variance = variance, layout.spread(arrow)
            changed = _apart(variance, last)
        late = k > 2 and not layout.crossed
        if gain < GAIN and (known or changed <= STILL or late):
            break
    if arrow is None or bent is None:
        raise FloatingPointError("Newton's method did not come close to the mean")
    eta = density.eta(x) + AT[:, None] * np.sqrt(variance)
    terms = density.likelihood(x, phi, eta)
    weight = np.maximum(-bent.bend, 0.0)
    value = float((MASS @ terms).sum()) + prior.half_log_det - 0.5 * _square(prior, x)
    value += 0.5 * float((weight * variance).sum()) - arrow.half_log_det
    value += 0.5 * density.size * np.log(2 * np.pi) + float(density.log_hyper(phi[None])[0])
    slope = _slope(layout, phi, x, arrow, eta) if sloped else np.full(len(phi), np.nan)
    return Conditional(phi, x, arrow, variance, value, bent, slope)


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


def _apart(values: np.ndarray, others: np.ndarray) -> float:
    """Return the largest difference over the largest of the values."""
    return float(np.abs(values - others).max() / max(float(np.abs(values).max()), 1e-300))


def _square(prior: Prior, x: np.ndarray) -> float:
    return float((x - prior.mean) @ prior.pull(x))
