"""Nodes of the scales of a latent Gaussian model around the best, and what lies between them.

Of up to three scales they are a lattice, in coordinates in which the bound has curvature one. Of
more scales they are a central composite design, and rays along the ridges of the bound.
"""

from collections.abc import Callable
from itertools import product

import numpy as np

from bayesduel.inference.arrow import Layout
from bayesduel.inference.scale_mode import FLATTEST, curved, slow_scales
from bayesduel.inference.variational_conditional import Conditional, conditional_at, curvature
from bayesduel.system.threads import side_by_side

__all__ = ["SPACING", "composite", "coordinates", "interpolated", "lattice", "rays"]

# By number of scales: nats below the best node at which nodes end, and their distance in standard
# deviations. Of 2,000 draws of 500 votes by Davidson with three scales and 330 nodes 1,593 are
# effective (k-hat 0.55). With half of the nats 102 nodes and 1,568 (0.73); with 1.4 times the
# distance 154 nodes and 1,527 (0.72).
NEGLIGIBLE = (0.0, 7.5, 7.5, 6.0)
SPACING = (0.0, 0.75, 1.0, 1.4)


def coordinates(layout: Layout, top: Conditional) -> np.ndarray:
    """Return the root of the inverse curvature of the bound at its top, (q, q)."""
    if curved(layout):
        return _border_last(layout, top)
    q = len(top.phi)
    step = 0.1
    bend = np.zeros((q, q))
    for k in range(q):
        phi = top.phi.copy()
        phi[k] += step
        ahead = conditional_at(layout, phi, top, sloped=True)
        fall = top.slope - ahead.slope
        bend[k] = fall / step
    symmetric = (bend + bend.T) / 2
    return _root(symmetric)


def _border_last(layout: Layout, top: Conditional) -> np.ndarray:
    """Return a root of the inverse curvature whose last columns leave priors of groups alone.

    A conditional where these are the same takes a fraction of the time.
    """
    bend = top.bend
    if bend is None:
        bend = curvature(layout, top)
    by_term = slow_scales(layout, top.phi)
    slow = by_term.any(axis=1)
    fast = ~slow
    n_slow = int(slow.sum())
    whole = _root(bend)
    covariance = whole @ whole.T
    of_groups = covariance[np.ix_(slow, slow)]
    across = covariance[np.ix_(fast, slow)]
    bend_border = bend[np.ix_(fast, fast)]
    values, vectors = np.linalg.eigh(of_groups)
    size = np.sqrt(values)
    whitening = vectors / size
    root = np.zeros_like(bend)
    root[slow, :n_slow] = vectors * size
    root[fast, :n_slow] = across @ whitening
    root[fast, n_slow:] = _root(bend_border)
    return root


def _root(bend: np.ndarray) -> np.ndarray:
    """Return a root of the inverse of a curvature, (q, q), which is 2 long at most."""
    values, vectors = np.linalg.eigh(bend)
    raised = np.maximum(values, FLATTEST)
    size = np.sqrt(raised)
    return np.asarray(vectors / size)


def lattice(layout: Layout, top: Conditional, root: np.ndarray) -> list[Conditional] | None:
    """Return nodes on a lattice, from the top outwards until the bound is negligible.

    None where they would be too many.
    """
    q = len(top.phi)
    if q == 0:
        return [top]
    middle = (0,) * q
    found = {middle: top}
    edge = [middle]
    best = top.bound
    fall = NEGLIGIBLE[q]
    scaled = SPACING[q] * root
    steps = list(product(range(q), (1, -1)))
    while edge:
        ahead = []
        for place in edge:
            here = found[place]
            for axis, sign in steps:
                beside = _moved(place, axis, sign)
                negligible = here.bound < best - fall
                if beside in found or negligible:
                    continue
                z = np.array(beside, dtype=float)
                phi = top.phi + scaled @ z
                opposite = _moved(place, axis, -sign)
                behind = found.get(opposite)
                near = _foreseen(here, behind)
                node = conditional_at(layout, phi, near)
                found[beside] = node
                best = max(best, node.bound)
                ahead.append(beside)
        edge = ahead
        # 330 nodes (see above) take 1.6 s; scattered ones, which they would have with 300, 3.5 s.
        if len(found) > 600:
            return None
    return list(found.values())


def _moved(place: tuple[int, ...], axis: int, by: int) -> tuple[int, ...]:
    """Return a place of a lattice, moved along an axis."""
    moved = list(place)
    moved[axis] += by
    return tuple(moved)


def _foreseen(node: Conditional, behind: Conditional | None) -> Conditional:
    """Return a node as the next one may be: means go on in a line, variances by a factor.

    A third of the factors that nodes of 59 arms on 13 prompts need is saved.
    """
    if behind is None:
        return node
    mean = 2 * node.x - behind.x
    before = np.maximum(behind.variance, 1e-12)
    variance = node.variance**2 / before
    return node._replace(x=mean, variance=variance)


def composite(layout: Layout, top: Conditional, root: np.ndarray) -> list[Conditional]:
    """Return nodes of a central composite design: the top, axes and (of few scales) corners."""
    q = len(top.phi)
    reach = 1.1  # of corners along each axis; nodes on the axes are as far from the top
    places = []
    distance = reach * np.sqrt(q)
    for unit in np.eye(q):
        on_axis = distance * unit
        places += [on_axis, -on_axis]
    if q <= 5:  # corners of five scales are 32 more fits
        for signs in product((1.0, -1.0), repeat=q):
            corner = reach * np.array(signs)
            places.append(corner)

    def node(place: np.ndarray) -> Conditional:
        phi = top.phi + root @ place
        return conditional_at(layout, phi, top)

    if layout.crossed:
        return [top, *side_by_side(node, places)]
    return [top, *map(node, places)]


def rays(layout: Layout, top: Conditional, root: np.ndarray) -> list[Conditional]:
    """Return nodes from the top outwards along each scale, others at their best, while they matter.

    By a secant for all, then one step of Newton's method for the others, by the top's curvature.
    """
    found = []
    covariance = root @ root.T
    bend = np.linalg.inv(covariance)
    lowest = top.bound - NEGLIGIBLE[3]
    q = len(top.phi)
    scales = np.arange(q)
    for k, sign in product(scales, (1.0, -1.0)):
        variance = covariance[k, k]
        deviation = variance**0.5
        size = SPACING[3] * deviation
        others = scales != k
        inner = bend[np.ix_(others, others)]
        here = top
        step = sign * covariance[k] / variance
        while here.bound > lowest:
            along = here.phi[k] - top.phi[k]
            if abs(along) >= 12:  # in the scale's logarithm; 24 changes nothing
                break
            secant = here.phi + size * step
            ahead = conditional_at(layout, secant, here, sloped=True)
            slope = ahead.slope[others]
            newton = np.zeros(q)
            newton[others] = np.linalg.solve(inner, slope)
            squared_length = newton @ bend @ newton
            length = float(np.sqrt(squared_length))
            newton /= max(1.0, length)
            phi = secant + newton
            ahead = conditional_at(layout, phi, ahead)
            moved = ahead.phi - here.phi
            step = moved / size
            here = ahead
            found.append(here)
    return found


def interpolated(z: np.ndarray, values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function through `values` (nodes, ...) at nodes `z` (nodes, q)."""
    from scipy.interpolate import RBFInterpolator

    n, q = z.shape
    kernel = "linear"
    degree = 0
    if n >= 6:
        kernel = "cubic"
        n_terms = (q + 1) * (q + 2) // 2  # of a quadratic polynomial
        enough = n > 2 * n_terms
        degree = 2 if enough else 1
    # of the nodes' values, which are many
    shares = RBFInterpolator(
        z,
        np.eye(n),
        kernel=kernel,
        degree=degree,
    )

    def at_points(points: np.ndarray) -> np.ndarray:
        weights = shares(points).astype(values.dtype, copy=False)
        return np.asarray(weights @ values)

    return at_points
