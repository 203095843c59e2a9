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

from bayesduel.inference.grid_draws import middles, normalised, stratified

__all__ = ["Grid", "explore", "spline"]

# Nodes are kept until the log density falls this far below its maximum: to 6e-6 of it. Figures
# here and below are of 400 votes of 15 arms by Davidson: 3,853 of 4,000 draws are effective (k-hat
# 0.14). With half and with twice of it as many are effective.
NEGLIGIBLE = 12.0

Evaluated = dict[float, tuple[float, Any]]  # log density and conditional by the value


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
            return np.repeat(nodes, n), np.zeros(n)
        edges = np.linspace(nodes[0], nodes[-1], 4001)
        weights = spline(nodes, middles(edges))
        log_density = weights @ self.log_density
        mass = normalised(log_density)
        width = edges[1] - edges[0]
        density = mass / width
        sums = np.cumsum(mass)
        cumulative = np.append(0.0, sums)
        cumulative /= cumulative[-1]
        levels = stratified(n, rng)
        values = np.interp(levels, cumulative, edges)
        bins = _node_below(edges, values)
        proposed = density[bins]
        return values, np.log(proposed)

    def tilted(self, values: np.ndarray, weights: np.ndarray) -> "Grid":
        """Return the grid with mean and variance of its draws (n,) with normalised weights (n,).

        The log density gains a linear and a quadratic term. Where these would lift its ends to
        within `NEGLIGIBLE` / 3 of its maximum, or no such terms exist, the grid stays as it is.
        """
        if len(self.nodes) == 1:
            return self
        middle = weights @ values
        squares = (values - middle) ** 2
        variance = weights @ squares
        tilt = self._tilt(middle, variance)
        if tilt is None:
            return self
        powers = _powers(self.nodes - middle)
        added = tilt @ powers
        tilted = self.log_density + added
        ends = tilted[[0, -1]]
        highest_end = ends.max()
        allowed = tilted.max() - NEGLIGIBLE / 3
        if not highest_end < allowed:
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
        weights = spline(nodes, at)
        curve = weights @ self.log_density
        wanted = np.array([0.0, variance])
        tilt = np.zeros(2)
        for _ in range(50):
            tilted = curve + tilt @ powers
            mass = normalised(tilted)
            moments = powers @ mass
            centred = powers - moments[:, None]
            weighted = centred * mass
            covariance = weighted @ centred.T
            missing = wanted - moments
            step, *_ = np.linalg.lstsq(covariance, missing, rcond=1e-12)
            moved = step @ centred
            change = np.abs(moved).max()
            allowed = NEGLIGIBLE / change
            length = min(1.0, allowed)
            tilt = tilt + step * length
            if change < 1e-3:
                return tilt
        return None

    def nearest(self, values: np.ndarray) -> np.ndarray:
        """Return the index of the node nearest to each of `values`."""
        cuts = middles(self.nodes)
        return np.searchsorted(cuts, values)

    def between(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the node below each of `values`, and how far on the way to the next it lies.

        Values beyond the nodes belong to the outermost intervals. With one node, all are at it.
        """
        nodes = self.nodes
        n = len(values)
        if len(nodes) == 1:
            return np.zeros(n, dtype=int), np.zeros(n)
        below = _node_below(nodes, values)
        widths = np.diff(nodes)
        past = values - nodes[below]
        return below, past / widths[below]


def spline(nodes: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the matrix (m, n) from values at nodes (n,) to those of their cubic spline at (m,).

    Its third derivative has no jump at the second node and the last but one. Nodes increase, and
    are at least three.
    """
    step = np.diff(nodes)[:, None]
    values = np.eye(len(nodes))
    slope = np.diff(values, axis=0) / step
    tangent = _tangents(nodes, slope)
    left = tangent[:-1]
    right = tangent[1:]
    excess = (left + right - 2 * slope) / step
    cubic = excess / step
    first = (slope - left) / step
    square = first - excess
    place = _node_below(nodes, at)
    past = at - nodes[place]
    away = past[:, None]
    # by Horner's scheme
    found = cubic[place] * away
    found = (found + square[place]) * away
    found = (found + tangent[place]) * away
    return np.asarray(found + values[place])


def _node_below(nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the node below each of `values`; those beyond the nodes are in the last intervals."""
    n_below = np.searchsorted(nodes, values, side="right")
    return np.clip(n_below - 1, 0, len(nodes) - 2)


def _tangents(nodes: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return the slopes of splines at their nodes, (n, m), from those between the nodes."""
    n = len(nodes)
    width = np.diff(nodes)
    step = width[:, None]
    first_two = nodes[2] - nodes[0]
    if n == 3:  # a parabola
        bend = (slope[1] - slope[0]) / first_two
        before, after = step
        away = np.stack([-before, before, after])
        nearest = slope[[0, 0, 1]]
        return np.asarray(nearest + bend * away)
    last_two = nodes[-1] - nodes[-3]
    before = width[:-1]
    after = width[1:]
    bands = np.zeros((3, n))
    above, diagonal, below = bands
    above[1] = first_two
    above[2:] = before
    diagonal[0] = after[0]
    diagonal[1:-1] = 2 * (before + after)
    diagonal[-1] = before[-1]
    below[:-2] = after
    below[-2] = last_two
    ahead = step[1:] * slope[:-1]
    behind = step[:-1] * slope[1:]
    right = np.empty((n, slope.shape[1]))
    right[0] = _end_condition(first_two, width, slope)
    right[1:-1] = 3 * (ahead + behind)
    right[-1] = _end_condition(last_two, width[::-1], slope[::-1])
    return np.asarray(solve_banded((1, 1), bands, right))


def _end_condition(both: float, widths: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return the right-hand side of an end: the third derivative goes on over the inner node.

    both: width of the outermost two intervals together. widths, slopes: of all, from there on.
    """
    width, inner_width = widths[:2]
    slope, inner_slope = slopes[:2]
    near = (width + 2 * both) * inner_width * slope
    far = width**2 * inner_slope
    return np.asarray((near + far) / both)


def explore(
    evaluate: Callable[[float, Any], tuple[float, Any]],
    start: float,
) -> Grid:
    """Return the grid of a one-dimensional log density, explored from `start`.

    `evaluate`, of a value and the conditional at a nearby value (or None), returns the log density
    and its conditional.

    Raises FloatingPointError if the density is not finite or does not fall off, or its maximum is
    100 or more away from `start`.
    """
    seen: Evaluated = {}

    def at(value: float, near: Any) -> float:
        if value not in seen:
            seen[value] = evaluate(value, near)
        density, _ = seen[value]
        if not np.isfinite(density):
            raise FloatingPointError(f"log density of the hyperparameter is not finite at {value}")
        return density

    mode, deviation = _locate(at, seen, start)
    # Of 0.75 standard deviations half leaves 3,845 draws effective (0.17) and twice 3,841 (0.25).
    # The conditional posterior may not change much from node to node, so it is 0.2 at most: with
    # half 3,843 are effective (0.28).
    step = min(0.75 * deviation, 0.2)
    nearest = min(seen, key=lambda value: abs(value - mode))
    _, near = seen[nearest]
    lowest = at(mode, near) - NEGLIGIBLE
    kept = {mode: seen[mode]}
    for move in (-step, step):
        value = mode
        for _ in range(2000):
            _, near = kept[value]
            value += move
            density = at(value, near)
            kept[value] = seen[value]
            if density < lowest:
                break
        else:
            raise FloatingPointError("the density of the hyperparameter does not fall off")
    nodes = sorted(kept)
    found = [kept[node] for node in nodes]
    log_density, conditionals = zip(*found, strict=True)
    return Grid(np.array(nodes), np.array(log_density), conditionals)


def _powers(values: np.ndarray) -> np.ndarray:
    """Return the first and second powers, shape (2, n)."""
    return np.stack([values, values**2])


def _locate(
    at: Callable[[float, Any], float],
    seen: Evaluated,
    start: float,
) -> tuple[float, float]:
    """Return the mode and the standard deviation there, by bracketing and parabolas."""
    centre = start
    step = 0.5
    at(centre, None)

    def three_heights() -> tuple[float, float, float]:
        middle, near = seen[centre]
        low = at(centre - step, near)
        high = at(centre + step, near)
        return low, middle, high

    for _ in range(200):  # walk uphill until the middle of three is the highest
        low, middle, high = three_heights()
        if middle >= max(low, high):
            break
        if low > high:
            centre -= step
        else:
            centre += step
    else:
        raise FloatingPointError("the density of the hyperparameter has no maximum")
    for _ in range(30):
        vertex, deviation = _parabola(centre, step, low, middle, high)
        moved = abs(vertex - centre)
        # The mode only places the nodes: it need not be nearer than 0.3 deviations.
        close = moved < 0.3 * deviation
        if close and step < 1.5 * deviation:
            return vertex, deviation
        _, near = seen[centre]
        if at(vertex, near) > middle:
            centre = vertex
        resolved = max(moved, deviation)
        step = min(step / 2, resolved)
        low, middle, high = three_heights()
    # Of 3,300 densities with heavy or no tails, cusps, walls and two modes none took more than 8.
    raise FloatingPointError("the maximum of the density of the hyperparameter was not located")


def _parabola(
    centre: float,
    step: float,
    low: float,
    middle: float,
    high: float,
) -> tuple[float, float]:
    """Return vertex and standard deviation of the parabola through three equally spaced points."""
    second_difference = low - 2 * middle + high
    bend = second_difference / step**2
    if bend >= 0:
        return centre, step
    width = 2 * step  # from the first to the last; the vertex is sought as far to either side
    slope = (high - low) / width
    newton = centre - slope / bend
    vertex = np.clip(newton, centre - width, centre + width)
    deviation = 1 / np.sqrt(-bend)
    return float(vertex), float(deviation)
