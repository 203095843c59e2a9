"""The mode of the scales of a latent Gaussian model: where the evidence bound is highest.

Scales are found by a quasi-Newton method. Those of crossed groups start by the method of moments
and go on by Newton's method, as a conditional of such groups takes long.
"""

from contextlib import suppress
from typing import Any

import numpy as np

from bayesduel.inference.arrow import Arrow, Layout
from bayesduel.inference.conditional_mode import half_log_det, solved
from bayesduel.inference.linear_predictor import LinearPredictor
from bayesduel.inference.variational_conditional import (
    Conditional,
    conditional_at,
    curvature,
    responding,
)

__all__ = ["FLATTEST", "by_moments", "curved", "highest", "settled", "slow_scales", "start_of"]

# Change of the scales' logarithms at which the search for the best ends. Nodes are the same from
# 1e-4 to 1e-2.
BESIDE = 1e-3
FLATTEST = 0.25  # curvature of the bound in the logarithms of the scales, at least


def start_of(density: LinearPredictor, cells: Any) -> np.ndarray:
    """Return where a search for the hyperparameters starts: their logarithms, (q,)."""
    parts = [np.zeros(0)]
    for name, length in density.hypers.items():
        start = density.response.start(name, cells)
        numbers = np.broadcast_to(start, (length or 1,))
        parts.append(numbers)
    return np.concatenate(parts).astype(float)


def curved(layout: Layout) -> bool:
    """Return whether a conditional takes long, and ``curvature`` tells that of the bound."""
    return layout.crossed and not responding(layout.density).any()


def slow_scales(layout: Layout, phi: np.ndarray) -> np.ndarray:
    """Return which hyperparameters change the prior of which crossed groups, (q, families)."""
    first = [family.start for family in layout.families]

    def tight(at: np.ndarray) -> np.ndarray:
        prior = layout.density.prior(at)
        _, tight = layout.priors(prior)
        return np.asarray(tight[first])

    here = tight(phi)
    moved = []
    for unit in np.eye(len(phi)):
        ahead = tight(phi + unit)
        moved.append(ahead != here)
    return np.stack(moved).any(axis=2)


def by_moments(layout: Layout, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return hyperparameters from which a search starts, by moments of slopes of groups, and x.

    The groups are 0 there.
    """
    density = layout.density
    border = layout.border
    slow = slow_scales(layout, phi)
    x = np.zeros(density.size)
    prior = density.prior(phi)
    first = [family.start for family in layout.families]
    for _ in range(4):  # with one the bound is 0.014 nats lower, of the logs of `_climbed`
        found = density.derivatives(x, phi)
        arrow = layout.flat(found, prior)
        gradient = density.gradient(found, prior, x)
        x[border] += solved(arrow.border, gradient[border])
    at_mode = density.derivatives(x, phi)
    moments = layout.moments(at_mode)
    variance_ratio = moments * arrow.tight[first, 0]
    # with 1 and with 6 the fits of these logs are the same
    change = _log_scale(variance_ratio, farthest=3.0)
    phi = phi + slow @ change
    fast = ~slow.any(axis=1)
    arrow = layout.flat(found, density.prior(phi))
    phi[fast] += settled(layout, phi, x, arrow, fast)
    return phi, x


def _log_scale(variance_ratio: np.ndarray, farthest: float) -> np.ndarray:
    """Return the changes of logarithms of scales whose variances change by these factors.

    farthest: the largest change, either way.
    """
    least = np.exp(-2 * farthest)
    most = np.exp(2 * farthest)
    bounded = np.clip(variance_ratio, least, most)
    return np.asarray(np.log(bounded) / 2)


def highest(layout: Layout, start: Conditional) -> Conditional:
    """Return the conditional at the highest bound; raise FloatingPointError if there is none."""
    from scipy.optimize import minimize

    if not len(start.phi):
        return start
    if curved(layout):
        return _climbed(layout, start)
    best = start._replace(bound=-np.inf)

    def fall(phi: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        try:
            here = conditional_at(layout, phi, best, sloped=True)
        except FloatingPointError:
            return 1e300, np.zeros(len(phi))
        moved = np.abs(phi - best.phi).max()
        beside = np.isfinite(best.bound) and moved < BESIDE
        if here.bound > best.bound:
            best = here
        if beside:
            raise StopIteration
        return -here.bound, -here.slope

    # The first step is of about one in each scale that the data inform.
    steepness = np.maximum(np.abs(start.slope), 1.0)
    options = {
        "gtol": 0.02,
        "maxiter": 60,
        "hess_inv0": np.diag(1 / steepness),
    }
    with suppress(StopIteration):
        minimize(fall, start.phi, jac=True, method="BFGS", options=options)
    away = np.abs(best.phi - start.phi)
    if away.max() > 50 or not np.isfinite(best.bound):
        raise FloatingPointError("the hyperparameters have no mode")
    return best


def _climbed(layout: Layout, here: Conditional) -> Conditional:
    """Return the same of crossed groups, by Newton's method: a conditional takes long.

    Slopes are near linear in the variances of groups, not in their logarithms. Figures are of four
    logs with 509 to 1,419 coefficients.
    """
    slow = slow_scales(layout, here.phi).any(axis=1)
    fast = ~slow
    for _ in range(40):  # three are enough
        phi = here.phi
        bend = curvature(layout, here)
        size, vectors, bowl = _convex(bend)
        along = vectors.T @ here.slope
        squared_distance = (along**2 / size).sum()  # from the best, in standard deviations
        # With 0.3 one conditional of 16 is saved, and the bound is up to 0.05 nats lower; with 0.03
        # nothing changes.
        if bowl and squared_distance < 0.1**2:
            return here._replace(bend=bend)
        step = np.zeros(len(phi))
        step[fast] = settled(
            layout,
            phi,
            here.x,
            here.arrow,
            fast,
        )
        slope = here.slope - bend @ step
        of_groups = bend[np.ix_(slow, slow)]
        size, vectors, _ = _convex(of_groups)
        along = vectors.T @ slope[slow]
        newton = vectors @ (along / size)
        variance_ratio = 1 + 2 * newton
        step[slow] = _log_scale(variance_ratio, farthest=1.0)
        lowest = here.bound - 1.0  # bounds have noise: the same from 0.1 to 10 nats
        while True:
            ahead = conditional_at(layout, phi + step, here, sloped=True)
            is_short = np.abs(step).max() <= BESIDE
            if ahead.bound >= lowest or is_short:
                break
            step /= 2
        here = ahead
    return here


def _convex(bend: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return a curvature's eigenvalues by their size, its eigenvectors, and whether it is convex.

    Eigenvalues are `FLATTEST` at least.
    """
    values, vectors = np.linalg.eigh(bend)
    size = np.abs(values)
    return np.maximum(size, FLATTEST), vectors, bool((values > 0).all())


def settled(
    layout: Layout,
    phi: np.ndarray,
    x: np.ndarray,
    arrow: Arrow,
    fast: np.ndarray,
) -> np.ndarray:
    """Return the step to the highest bound along hyperparameters of the border alone, (fast,).

    phi, x, arrow: of a conditional. Where cells bend as they do there, the likelihood of the border
    is normal, with the groups integrated out, and the bound is known by a matrix as large as it.
    """
    from scipy.optimize import minimize

    density = layout.density
    start = np.zeros(fast.sum())
    if not len(start):
        return start
    pull = density.prior(phi).pull(x)

    def fall(step: np.ndarray) -> float:
        ahead = phi.copy()
        ahead[fast] += step
        prior = density.prior(ahead)
        beside = layout.beside(arrow, prior)
        assert beside is not None
        pulled = prior.pull(x)
        factor = beside.border
        gradient = (pull - pulled)[layout.border]
        gained = gradient @ solved(factor, gradient)
        lost = (x - prior.mean) @ pulled
        value = prior.half_log_det - half_log_det(factor)
        value += 0.5 * float(gained - lost)
        return -value - density.log_prior_of_scales(ahead)

    found = minimize(fall, start, options={"gtol": 0.05})
    return np.asarray(found.x)
