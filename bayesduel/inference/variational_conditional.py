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
from bayesduel.inference.conjugate_gradient import EXACT, LOOSE
from bayesduel.inference.gaussian_prior import LOG_2PI, Prior
from bayesduel.inference.linear_predictor import LinearPredictor, number_names
from bayesduel.models.model import NODES, WEIGHTS
from bayesduel.models.response import Derivatives

__all__ = [
    "STEP",
    "Conditional",
    "conditional_at",
    "curvature",
    "mode_at",
    "responding",
    "step_from",
]

# Figures are of two fits of 4,000 draws, in standard deviations: 4,000 votes of 20 arms and 40
# judges, and 12,000 votes of 30 arms, 60 judges and 100 prompts.
# Of the log density, below which a step ends them. With a tenth and ten times of it means of scales
# shift by 0.02 at most, and their deviations change by 2 %.
GAIN = 1e-3
# Gain of a step, in nats, below which the precision of crossed groups is factored. With a quarter
# and four times of it nothing changes.
CLOSE = 1.0
# Relative change of variances, likewise. With a quarter and four times of it means shift by 0.02 at
# most.
STILL = 0.02
STEP = 1e-4  # of differences in the logarithms of scales: slopes are right to 1e-4 or better


class FactorNeeded(NamedTuple):
    """How near a factor of the precision of crossed groups has to be."""

    alike: float  # relative change of curvatures within which an earlier factor serves
    residual: float  # of its solutions, relative


# With a quarter of 0.002 means shift by 0.02, with four times of it by 0.003; with half and twice
# 0.25, and with a quarter and four times 0.01, nothing changes.
FINE = FactorNeeded(alike=0.002, residual=EXACT)
ROUGH = FactorNeeded(alike=0.25, residual=LOOSE)


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


def mode_at(layout: Layout, phi: np.ndarray, start: np.ndarray | None) -> Conditional:
    """Return the conditional at `phi`, from the mode by damped Newton steps; see below."""
    density = layout.density
    prior = density.prior(phi)
    x = np.zeros(density.size) if start is None else start

    def height(x: np.ndarray) -> float:
        eta = density.eta(x)
        cells = density.likelihood(x, phi, eta[None])
        square = _square(prior, x)
        return float(cells[0].sum() - 0.5 * square)

    value = height(x)
    enough = CLOSE if layout.crossed else GAIN
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
            step, _ = layout.step(found, prior, gradient, near)
        gain = float(gradient @ step)
        if gain < enough:
            break
        wanted = 1e-4 * gain
        length = 1.0
        while True:
            moved = x + length * step
            better = height(moved)
            # not `>=`: a density that is not a number ends the halving, too
            if not better < value + wanted * length:
                break
            length /= 2
            if length < 1e-8:
                raise FloatingPointError("Newton's method found no ascent")
        x = moved
        value = better
        largest = np.abs(x).max()
        if largest > 1e4 * max(density.unit, 1.0):
            raise FloatingPointError("the likelihood has no maximum: some scores run to infinity")
    if not layout.crossed:
        bent = density.derivatives(x, phi)
        near = layout.factor(bent, prior)
    assert near is not None and bent is not None
    here = Conditional(
        phi=phi,
        x=x,
        arrow=near,
        variance=layout.spread(near),
        bound=value,
        bent=bent,
        slope=np.zeros(0),
    )
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
        change = layout.foreseen(last, near.bent, prior)
        variance = np.maximum(variance + change, 0.0)
    far = max(50.0, 0.5 * density.size)  # gain of a step by cells beyond which it is shortened
    # 24 steps at most: more are a search that does not come close
    for k in range(24):
        found = density.averaged(x, phi, NODES, WEIGHTS, variance)
        gradient = density.gradient(found, prior, x)
        known = False
        if bent is not None:
            known = _apart(found.bend, bent.bend) <= needed.alike
        far_off = gain >= CLOSE
        if layout.crossed and (known or far_off):
            step, _ = layout.step(found, prior, gradient, last)
        else:
            arrow = layout.factor(found, prior, last, needed.residual)
            bent = found
            last = arrow
            step = layout.solve(arrow, gradient)
        gain = float(gradient @ step)
        if not np.isfinite(gain):
            raise FloatingPointError("the posterior has no finite mean")
        if gain > far:  # that of the prior is known to be quadratic
            [rise] = density.reach(step[None])
            by_cells = float(-found.bend @ rise**2)
            too_far = max(1.0, by_cells / far)
            step = step / too_far**0.5
        x = x + step
        if arrow is not None and bent is found and changed > STILL:
            before = variance
            variance = layout.spread(arrow)
            changed = _apart(variance, before)
        late = k > 2 and not layout.crossed
        steady = known or changed <= STILL or late
        if gain < GAIN and steady:
            break
    if arrow is None or bent is None:
        raise FloatingPointError("Newton's method did not come close to the mean")
    here = Conditional(
        phi=phi,
        x=x,
        arrow=arrow,
        variance=variance,
        bound=np.nan,
        bent=bent,
        slope=np.full(len(phi), np.nan),
    )
    bound = _bound(density, here, prior)
    here = here._replace(bound=bound)
    if not sloped:
        return here
    slope = _slope(layout, here)
    return here._replace(slope=slope)


def _bound(density: LinearPredictor, here: Conditional, prior: Prior) -> float:
    """Return the evidence bound of a conditional, whose prior is given."""
    phi = here.phi
    eta = _at_nodes(density, here)
    cells = density.likelihood(here.x, phi, eta)
    expected = float((WEIGHTS @ cells).sum())
    square = _square(prior, here.x)
    value = expected + prior.half_log_det - 0.5 * square
    weight = np.maximum(-here.bent.bend, 0.0)
    spread = float((weight * here.variance).sum())
    value += 0.5 * spread - here.arrow.half_log_det
    constant = 0.5 * density.size * LOG_2PI
    value += constant + density.log_prior_of_scales(phi)
    return value


def _at_nodes(density: LinearPredictor, here: Conditional) -> np.ndarray:
    """Return the predictor of each cell at the nodes of the quadrature, (nodes, cells)."""
    deviation = np.sqrt(here.variance)
    away = NODES[:, None] * deviation
    return density.eta(here.x) + away


def _slope(layout: Layout, here: Conditional) -> np.ndarray:
    """Return the gradient of the bound in the hyperparameters, (q,), by differences."""
    expected = _expected(layout, here)
    phi = here.phi
    rise = []
    for unit in STEP * np.eye(len(phi)):
        ahead = expected(phi + unit)
        behind = expected(phi - unit)
        rise.append(ahead - behind)
    return np.array(rise) / (2 * STEP)


def step_from(layout: Layout, near: Conditional, arrow: Arrow, prior: Prior, x: np.ndarray) -> Any:
    """Return a step of Newton's method from `x`, (size,), to the mean of a conditional.

    near: another conditional, whose predictors vary as much. arrow, prior: of this one.
    """
    density = layout.density
    found = density.averaged(
        x,
        near.phi,
        NODES,
        WEIGHTS,
        near.variance,
    )
    gradient = density.gradient(found, prior, x)
    return layout.solve(arrow, gradient)


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

    def second_difference(away: np.ndarray) -> float:
        around = expected(phi + away) + expected(phi - away)
        return around - 2 * middle

    for one in unit:
        second = second_difference(one)
        curved.append(second)
        ahead = density.prior(phi + one)
        back = density.prior(phi - one)
        border_ahead, groups_ahead = layout.priors(ahead)
        border_back, groups_back = layout.priors(back)
        border.append((border_ahead - border_back) / (2 * step))
        groups.append((groups_ahead - groups_back) / (2 * step))
        turn = back.pull(here.x) - ahead.pull(here.x)
        turned.append(turn / (2 * step))
    squared = step**2
    for k in range(q):
        bend[k, k] = -curved[k] / squared
        for j in range(k):
            apart = curved[k] + curved[j]
            corners = apart
            on_border = (border[k] * border[j]).any()
            of_groups = (groups[k] * groups[j]).any()
            if on_border or of_groups:  # of one block
                corners = second_difference(unit[k] + unit[j])
            mixed = (apart - corners) / (2 * squared)
            bend[k, j] = mixed
            bend[j, k] = mixed
    linear = np.array(turned)
    solved = np.array([layout.solve(here.arrow, one) for one in linear])
    quadratic = layout.traces(here.arrow, border, groups)
    products = linear @ solved.T + solved @ linear.T
    bend -= products / 2 + quadratic / 2
    moved = density.reach(solved)
    return bend - _yielded(layout, here, moved, groups)


def _yielded(
    layout: Layout,
    here: Conditional,
    moved: np.ndarray,
    groups: list[np.ndarray],
) -> np.ndarray:
    """Return what the curvature loses, as cells bend less where predictors vary more, (q, q).

    By Stein's identities for averages. moved: how predictors move, (q, cells). groups: how prior
    precisions of the groups do, (groups, m) each.
    """
    at = np.maximum(here.variance, 1e-12)  # it has a root

    def averaged(mass: np.ndarray) -> np.ndarray:
        found = layout.density.averaged(
            here.x,
            here.phi,
            NODES,
            mass,
            here.variance,
        )
        return found.bend

    first = WEIGHTS * NODES
    by_eta = averaged(first) / at**0.5
    second = WEIGHTS * (NODES**2 - 1) / 2
    by_variance = averaged(second) / at
    wider = np.array([layout.widened(here.arrow, one) for one in groups])
    mixed = (moved * by_eta) @ wider.T
    curved = (wider * by_variance) @ wider.T
    total = mixed + mixed.T + curved
    return np.asarray(total / 2)


def _expected(layout: Layout, here: Conditional) -> Callable[[np.ndarray], float]:
    """Return the expected log density at hyperparameters, but for terms that do not move with them.

    The distribution of the coefficients is held: at its best one the bound moves with the
    hyperparameters through the prior and the response alone.
    """
    density = layout.density
    x = here.x
    variance = layout.join(*here.arrow.variances())
    covariance = here.arrow.covariance()
    responds = responding(density)
    eta = _at_nodes(density, here)

    def value(phi: np.ndarray) -> float:
        prior = density.prior(phi)
        total = prior.half_log_det - 0.5 * _square(prior, x)
        for piece in prior.pieces:
            if piece.inverse is None:
                trace = piece.tight @ variance[piece.here]
                total -= 0.5 * float(trace)
                continue
            place = layout.place_in_border[piece.here]
            among = covariance[np.ix_(place, place)]
            products = piece.dense() * among
            total -= 0.5 * float(products.sum())
        total += density.log_prior_of_scales(phi)
        changed = phi != here.phi
        if changed[responds].any():
            cells = WEIGHTS @ density.likelihood(x, phi, eta)
            total += float(cells.sum())
        return total

    return value


def responding(density: LinearPredictor) -> np.ndarray:
    """Return which hyperparameters are of the response, (q,)."""
    scales = density.response.scales(flat=density.model.terms.flat)
    return np.isin(number_names(density.hypers), list(scales))


def _apart(values: np.ndarray, others: np.ndarray) -> float:
    """Return the largest difference over the largest of the values."""
    largest = max(float(np.abs(values).max()), 1e-300)
    difference = np.abs(values - others).max()
    return float(difference / largest)


def _square(prior: Prior, x: np.ndarray) -> float:
    away = x - prior.mean
    return float(away @ prior.pull(x))
