"""Densities of one dimension that are exponential between points: drawn by inversion.

They interpolate a density on the log scale. Beyond the outermost points they go on with the slope
of the outermost pieces; a log-concave density lies below these tails.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayesduel.system.memory import CACHED

__all__ = ["PiecewiseExponential"]


@dataclass(frozen=True, eq=False)
class PiecewiseExponential:
    """Normalised densities of independent numbers, one per row."""

    points: np.ndarray  # increasing, shape (size, m)
    # log densities at the points, shape (size, m); increasing at the first point and decreasing at
    # the last
    log_density: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, height: np.ndarray) -> tuple["PiecewiseExponential", float]:
        """Return the densities through these log heights, and the log of their product's mass.

        Raises FloatingPointError if a height is not finite or does not fall off at the ends.
        """
        finite = np.isfinite(height)
        if not finite.all():
            raise FloatingPointError("a log density is not finite along an axis")
        raw = cls(points, height)
        rises = raw.slopes[:, 0] > 0
        falls = raw.slopes[:, -1] < 0
        if not (rises & falls).all():
            raise FloatingPointError("a log density does not fall off along an axis")
        mass = raw.masses.sum(axis=1)
        log_mass = np.log(mass)
        normalised = height - log_mass[:, None]
        of_product = log_mass.sum()
        return cls(points, normalised), float(of_product)

    @cached_property
    def slopes(self) -> np.ndarray:
        """Slope of the log density in each piece, the tails' among them, shape (size, m + 1)."""
        rise = np.diff(self.log_density, axis=1)
        width = np.diff(self.points, axis=1)
        inner = rise / width
        left_tail = inner[:, 0]
        right_tail = inner[:, -1]
        return np.column_stack([left_tail, inner, right_tail])

    @cached_property
    def masses(self) -> np.ndarray:
        """Mass of each piece, shape (size, m + 1)."""
        height = np.exp(self.log_density)
        slopes = self.slopes
        rise = np.diff(self.log_density, axis=1)
        width = np.diff(self.points, axis=1)
        level = rise == 0
        safe = np.where(level, 1.0, rise)
        growth = np.expm1(rise) / safe
        mean = np.where(level, 1.0, growth)  # over the height at the left
        at_left = height[:, :-1]
        inner = at_left * mean * width
        left_tail = height[:, 0] / slopes[:, 0]
        right_tail = -height[:, -1] / slopes[:, -1]
        return np.column_stack([left_tail, inner, right_tail])

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return `n` draws, (n, size), and the log density of each, (n,)."""
        size = len(self.points)
        values = np.empty((n, size))
        log_density = np.zeros(n)
        level = rng.uniform(size=(size, n))
        together = n * self.points.shape[1]
        step = max(1, CACHED // together)
        for start in range(0, size, step):
            here = slice(start, start + step)
            drawn, own = self._inverted(here, level[here])
            values[:, here] = drawn.T
            log_density += own.sum(axis=0)
        return values, log_density

    def moved(self, shift: np.ndarray, stretch: np.ndarray) -> "PiecewiseExponential":
        """Return the densities of shift + stretch times these numbers, each of shape (size,)."""
        stretched = stretch[:, None] * self.points
        points = shift[:, None] + stretched
        log_stretch = np.log(stretch)
        log_density = self.log_density - log_stretch[:, None]
        return replace(self, points=points, log_density=log_density)

    def _inverted(self, rows: slice, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return quantiles of some numbers at levels in [0, 1), (rows, n), and log densities."""
        points = self.points[rows]
        mass = self.masses[rows]
        below = np.cumsum(mass, axis=1)
        total = below[:, -1:]
        level = level * total
        last = mass.shape[1] - 1
        is_below = below[:, :, None] <= level[:, None, :]
        n_below = is_below.sum(axis=1)
        piece = np.minimum(n_below, last)
        start = np.maximum(piece - 1, 0)  # the point at which a piece begins; a left tail ends
        end = _at(below, piece)
        own_mass = _at(mass, piece)
        beyond = (level - end) / own_mass
        below_one = np.nextafter(1.0, 0.0)
        share = np.clip(1.0 + beyond, 1e-300, below_one)  # logarithms of it are finite
        widths = np.diff(points, axis=1)
        last_width = widths.shape[1] - 1
        of_width = np.minimum(start, last_width)
        width = _at(widths, of_width)
        slopes = self.slopes[rows]
        slope = _at(slopes, piece)
        rise = slope * width
        is_level = rise == 0
        safe = np.where(is_level, 1.0, slope)
        # A tail has no far end: to the left the mass counts from minus infinity.
        growth = np.expm1(rise)
        reach = np.where(piece == last, -1.0, growth)
        straight = share * width
        curved = np.log1p(share * reach) / safe
        step = np.where(is_level, straight, curved)
        in_left_tail = np.log(share) / safe
        step = np.where(piece == 0, in_left_tail, step)
        begin = _at(points, start)
        heights = self.log_density[rows]
        height = _at(heights, start)
        return begin + step, height + slope * step


def _at(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the values of each row at some places, (rows, n)."""
    return np.take_along_axis(values, place, axis=1)
