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
# Of crossed groups, measured on four logs with 509 to 1,419 coefficients.
ROUNDS = 4  # of Newton's method for the border, first; with one the bound is 0.014 nats lower
FARTHEST = 3.0  # logarithm of a scale from its start, by moments, at most: the same from 1 to 6
# Distance from the best, in standard deviations, at which these end. With 0.3 one conditional of 16
# is saved, and the bound is up to 0.05 nats lower; with 0.03 nothing changes.
SHIFT = 0.1
NOISE = 1.0  # of their bounds, in nats, at most: the same from 0.1 to 10
FLATTEST = 0.25  # curvature of the bound in the logarithms of the scales, at least


def start_of(density: LinearPredictor, cells: Any) -> np.ndarray:
    """Return where a search for the hyperparameters starts: their logarithms, (q,)."""
    parts = [np.zeros(0)]
    for name, length in density.hypers.items():
        start = density.response.start(name, cells)
        n_numbers = length or 1
        parts.append(np.broadcast_to(start, (n_numbers,)))
    return np.concatenate(parts).astype(float)


def curved(layout: Layout) -> bool:
    """Return whether a conditional takes long, and ``curvature`` tells that of the bound."""
    return layout.crossed and not responding(layout.density).any()


def slow_scales(layout: Layout, phi: np.ndarray) -> np.ndarray:
    """Return which hyperparameters change the prior of which crossed groups, (q, families)."""
    first = [family.start for family in layout.families]

    def tight(at: np.ndarray) -> np.ndarray:
        _, tight = layout.priors(layout.density.prior(at))
        return np.asarray(tight[first])

    here = tight(phi)
    moved = [tight(phi + unit) != here for unit in np.eye(len(phi))]
    return np.stack(moved).any(axis=2)


def by_moments(layout: Layout, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return hyperparameters from which a search starts, by moments of slopes of groups, and x.

    The groups are 0 there.
    """
    density = layout.density
    slow = slow_scales(layout, phi)
    x = np.zeros(density.size)
    prior = density.prior(phi)
    first = [family.start for family in layout.families]
    for _ in range(ROUNDS):
        found = density.derivatives(x, phi)
        arrow = layout.flat(found, prior)
        gradient = density.gradient(found, prior, x)
        right = gradient[layout.border]
        x[layout.border] += solved(arrow.border, right)
    moments = layout.moments(density.derivatives(x, phi))
    variance_ratio = moments * arrow.tight[first, 0]
    least = np.exp(-2 * FARTHEST)
    most = np.exp(2 * FARTHEST)
    log_ratio = np.log(np.clip(variance_ratio, least, most))
    phi = phi + slow @ (log_ratio / 2)
    fast = ~slow.any(axis=1)
    arrow = layout.flat(found, density.prior(phi))
    phi[fast] += settled(layout, phi, x, arrow, fast)
    return phi, x


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
    options = {"gtol": 0.02, "maxiter": 60, "hess_inv0": np.diag(1 / steepness)}
    with suppress(StopIteration):
        minimize(fall, start.phi, jac=True, method="BFGS", options=options)
    far = np.abs(best.phi - start.phi).max() > 50
    if far or not np.isfinite(best.bound):
        raise FloatingPointError("the hyperparameters have no mode")
    return best


def _climbed(layout: Layout, here: Conditional) -> Conditional:
    """Return the same of crossed groups, by Newton's method: a conditional takes long.

    Slopes are near linear in the variances of groups, not in their logarithms.
    """
    slow = slow_scales(layout, here.phi).any(axis=1)
    for _ in range(40):  # three are enough
        bend = curvature(layout, here)
        values, vectors = np.linalg.eigh(bend)
        along = vectors.T @ here.slope
        size = np.maximum(np.abs(values), FLATTEST)
        away = (along**2 / size).sum()
        if values[0] > 0 and away < SHIFT**2:
            return here._replace(bend=bend)
        step = np.zeros(len(here.phi))
        fast = ~slow
        step[fast] = settled(layout, here.phi, here.x, here.arrow, fast)
        left = (here.slope - bend @ step)[slow]
        of_groups = bend[np.ix_(slow, slow)]
        values, vectors = np.linalg.eigh(of_groups)
        size = np.maximum(np.abs(values), FLATTEST)
        along = vectors.T @ left
        newton = vectors @ (along / size)
        variance_ratio = 1 + 2 * newton
        bounded = np.clip(variance_ratio, np.exp(-2), np.exp(2))
        step[slow] = np.log(bounded) / 2
        ahead = conditional_at(layout, here.phi + step, here, sloped=True)
        while ahead.bound < here.bound - NOISE and np.abs(step).max() > BESIDE:
            step /= 2
            ahead = conditional_at(layout, here.phi + step, here, sloped=True)
        here = ahead
    return here


def settled(
    layout: Layout, phi: np.ndarray, x: np.ndarray, arrow: Arrow, fast: np.ndarray
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
        off = (pull - pulled)[layout.border]
        gained = off @ solved(beside.border, off)
        lost = (x - prior.mean) @ pulled
        value = prior.half_log_det - half_log_det(beside.border)
        value += 0.5 * float(gained - lost)
        return -value - density.log_prior_of_scales(ahead)

    found = minimize(fall, start, options={"gtol": 0.05})
    return np.asarray(found.x)
