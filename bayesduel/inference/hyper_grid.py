"""A learned hyperparameter, integrated on its own grid.

A hierarchical scale has no useful joint mode with what it scales, but given the scale the rest
is easy: find the mode of its (approximate) log marginal, walk out from there until the density
is negligible, and draw from the interpolated density. Everything is on the unconstrained scale.

References
----------
de Boor, "A Practical Guide to Splines", 2001, chapter IV (cubic splines with the end conditions
"not-a-knot", as SciPy's CubicSpline, whose import takes longer than a small fit).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import solve_banded

from bayesduel.inference.grid_draws import normalised, stratified

__all__ = ["Grid", "explore", "spline"]

# Figures are of 400 votes of 15 arms by Davidson: 3,853 of 4,000 draws are effective (k-hat 0.14).
# Nodes are kept until the log density falls this far below its maximum: to 6e-6 of it. With half
# and with twice of it as many are effective.
NEGLIGIBLE = 12.0
# Of nodes, in standard deviations at the mode. With half 3,845 are effective (0.17), with twice
# 3,841 (0.25).
SPACING = 0.75
# And at most this: the conditional posterior may not change much from node to node. With half 3,843
# are effective (0.28).
WIDEST = 0.2


@dataclass(frozen=True, eq=False)
class Grid:
    """Nodes of a hyperparameter, with the conditional posterior found at each."""

    nodes: np.ndarray  # unconstrained values, increasing, shape (n,)
    log_density: np.ndarray  # log marginal density at the nodes, up to a constant, shape (n,)
    conditionals: tuple[Any, ...]  # what `evaluate` returned at each node

    @property
    def best(self) -> int:
        """Index of the node of highest density."""
        return int(np.argmax(self.log_density))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return `n` stratified draws and their log proposal density, each shape (n,).

        The proposal is piecewise constant on 4,000 bins of the interpolated density.
        """
        nodes = self.nodes
        if len(nodes) == 1:
            return np.full(n, nodes[0]), np.zeros(n)
        edges = np.linspace(nodes[0], nodes[-1], 4001)
        middle = (edges[1:] + edges[:-1]) / 2
        log_density = spline(self.nodes, middle) @ self.log_density
        mass = normalised(log_density)
        width = edges[1] - edges[0]
        cumulative = np.append(0.0, np.cumsum(mass))
        cumulative /= cumulative[-1]
        values = np.interp(stratified(n, rng), cumulative, edges)
        bin_above = np.searchsorted(edges, values, side="right")
        place = np.clip(bin_above - 1, 0, len(mass) - 1)
        return values, np.log(mass[place] / width)

    def tilted(self, values: np.ndarray, weights: np.ndarray) -> "Grid":
        """Return the grid with mean and variance of its draws (n,) with normalised weights (n,).

        The log density gains a linear and a quadratic term. Where these would lift its ends to
        within `NEGLIGIBLE` / 3 of its maximum, or no such terms exist, the grid stays as it is.
        """
        if len(self.nodes) == 1:
            return self
        middle = weights @ values
        variance = weights @ (values - middle) ** 2
        tilt = self._tilt(middle, variance)
        if tilt is None:
            return self
        powers = _powers(self.nodes - middle)
        tilted = self.log_density + tilt @ powers
        highest_end = tilted[[0, -1]].max()
        if not highest_end < tilted.max() - NEGLIGIBLE / 3:
            return self
        return replace(self, log_density=tilted)

    def _tilt(self, middle: float, variance: float) -> np.ndarray | None:
        """Return the linear and the quadratic term around `middle`, or None where none are found.

        With them the density has mean `middle` and this variance. By 50 steps of Newton's method at
        most, of which the last moves the log density by less than 0.001.
        """
        nodes = self.nodes
        at = np.linspace(nodes[0], nodes[-1], 2001)
        powers = _powers(at - middle)
        curve = spline(nodes, at) @ self.log_density
        wanted = np.array([0.0, variance])
        tilt = np.zeros(2)
        for _ in range(50):
            mass = normalised(curve + tilt @ powers)
            moments = powers @ mass
            centred = powers - moments[:, None]
            covariance = (centred * mass) @ centred.T
            missing = wanted - moments
            step = np.linalg.lstsq(covariance, missing, rcond=1e-12)[0]
            change = np.abs(step @ centred).max()
            length = min(1.0, NEGLIGIBLE / change)
            tilt = tilt + step * length
            if change < 1e-3:
                return tilt
        return None

    def nearest(self, values: np.ndarray) -> np.ndarray:
        """Return the index of the node nearest to each of `values`."""
        nodes = self.nodes
        cuts = (nodes[1:] + nodes[:-1]) / 2
        return np.searchsorted(cuts, values)

    def between(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the node below each of `values`, and how far on the way to the next it lies.

        Values beyond the nodes belong to the outermost intervals. With one node, all are at it.
        """
        nodes = self.nodes
        n = len(values)
        if len(nodes) == 1:
            return np.zeros(n, dtype=int), np.zeros(n)
        n_below = np.searchsorted(nodes, values, side="right")
        below = np.clip(n_below - 1, 0, len(nodes) - 2)
        width = np.diff(nodes)[below]
        return below, (values - nodes[below]) / width


def spline(nodes: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the matrix (m, n) from values at nodes (n,) to those of their cubic spline at (m,).

    Its third derivative has no jump at the second node and the last but one. Nodes increase, and
    are at least three.
    """
    n = len(nodes)
    step = np.diff(nodes)[:, None]
    values = np.eye(n)
    slope = np.diff(values, axis=0) / step
    tangent = _tangents(nodes, slope)
    ends = tangent[:-1] + tangent[1:]
    excess = (ends - 2 * slope) / step
    cubic = excess / step
    first = (slope - tangent[:-1]) / step
    square = first - excess
    above = np.searchsorted(nodes, at, side="right")
    place = np.clip(above - 1, 0, n - 2)
    away = (at - nodes[place])[:, None]
    curved = cubic[place] * away + square[place]
    inner = curved * away + tangent[place]
    return np.asarray(inner * away + values[place])


def _tangents(nodes: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return the slopes of splines at their nodes, (n, m), from those between the nodes."""
    n = len(nodes)
    width = np.diff(nodes)
    step = width[:, None]
    if n == 3:  # a parabola
        across = nodes[2] - nodes[0]
        bend = (slope[1] - slope[0]) / across
        before, after = step
        away = np.stack([-before, before, after])
        nearest = slope[[0, 0, 1]]
        return np.asarray(nearest + bend * away)
    first_two = nodes[2] - nodes[0]
    last_two = nodes[-1] - nodes[-3]
    around = width[:-1] + width[1:]
    bands = np.zeros((3, n))
    bands[0, 1] = first_two
    bands[0, 2:] = width[:-1]
    bands[1, 0] = width[1]
    bands[1, 1:-1] = 2 * around
    bands[1, -1] = width[-2]
    bands[2, :-2] = width[1:]
    bands[2, -2] = last_two
    right = np.empty((n, slope.shape[1]))
    right[0] = _end_condition(first_two, width[0], width[1], slope[0], slope[1])
    before = step[1:] * slope[:-1]
    after = step[:-1] * slope[1:]
    right[1:-1] = 3 * (before + after)
    right[-1] = _end_condition(last_two, width[-1], width[-2], slope[-1], slope[-2])
    return np.asarray(solve_banded((1, 1), bands, right))


def _end_condition(
    both: float, width: float, inner_width: float, slope: np.ndarray, inner_slope: np.ndarray
) -> np.ndarray:
    """Return the right-hand side of an end: the third derivative goes on over the inner node.

    both: width of the outermost two intervals together. width, slope: of the outermost.
    """
    near = (width + 2 * both) * inner_width * slope
    far = width**2 * inner_slope
    return np.asarray((near + far) / both)


def explore(evaluate: Callable[[float, Any], tuple[float, Any]], start: float) -> Grid:
    """Return the grid of a one-dimensional log density, explored from `start`.

    `evaluate`, of a value and the conditional at a nearby value (or None), returns the log density
    and its conditional.

    Raises FloatingPointError if the density is not finite or does not fall off, or its maximum is
    100 or more away from `start`.
    """
    seen: dict[float, tuple[float, Any]] = {}

    def at(value: float, near: Any) -> float:
        if value not in seen:
            seen[value] = evaluate(value, near)
        density, _ = seen[value]
        if not np.isfinite(density):
            raise FloatingPointError(f"log density of the hyperparameter is not finite at {value}")
        return density

    mode, deviation = _locate(at, seen, start)
    step = min(SPACING * deviation, WIDEST)
    nearest = min(seen, key=lambda value: abs(value - mode))
    peak = at(mode, seen[nearest][1])
    kept = {mode: seen[mode]}
    for direction in (-1.0, 1.0):
        value = mode
        for _ in range(2000):
            near = kept[value][1]
            value += direction * step
            density = at(value, near)
            kept[value] = seen[value]
            if density < peak - NEGLIGIBLE:
                break
        else:
            raise FloatingPointError("the density of the hyperparameter does not fall off")
    nodes = sorted(kept)
    log_density = np.array([kept[node][0] for node in nodes])
    conditionals = tuple(kept[node][1] for node in nodes)
    return Grid(np.array(nodes), log_density, conditionals)


def _powers(values: np.ndarray) -> np.ndarray:
    """Return the first and second powers, shape (2, n)."""
    return np.stack([values, values**2])


def _locate(
    at: Callable[[float, Any], float], seen: dict[float, tuple[float, Any]], start: float
) -> tuple[float, float]:
    """Return the mode and the standard deviation there, by bracketing and parabolas."""
    centre = start
    step = 0.5
    at(centre, None)
    for _ in range(200):  # walk uphill until the middle of three is the highest
        near = seen[centre][1]
        low = at(centre - step, near)
        high = at(centre + step, near)
        if seen[centre][0] >= max(low, high):
            break
        centre = centre - step if low > high else centre + step
    else:
        raise FloatingPointError("the density of the hyperparameter has no maximum")
    for _ in range(30):
        middle = seen[centre][0]
        vertex, deviation = _parabola(centre, step, low, middle, high)
        moved = abs(vertex - centre)
        # The mode only places the nodes: it need not be nearer than 0.3 deviations.
        close = moved < 0.3 * deviation
        if close and step < 1.5 * deviation:
            return vertex, deviation
        near = seen[centre][1]
        if at(vertex, near) > seen[centre][0]:
            centre = vertex
        step = min(step / 2, max(moved, deviation))
        near = seen[centre][1]
        low = at(centre - step, near)
        high = at(centre + step, near)
    # Of 3,300 densities with heavy or no tails, cusps, walls and two modes none took more than 8.
    raise FloatingPointError("the maximum of the density of the hyperparameter was not located")


def _parabola(
    centre: float, step: float, low: float, middle: float, high: float
) -> tuple[float, float]:
    """Return vertex and standard deviation of the parabola through three equally spaced points."""
    bend = (low - 2 * middle + high) / step**2
    if bend >= 0:
        return centre, step
    slope = (high - low) / (2 * step)
    least = centre - 2 * step
    most = centre + 2 * step
    newton = centre - slope / bend
    vertex = np.clip(newton, least, most)
    deviation = 1 / np.sqrt(-bend)
    return float(vertex), float(deviation)
