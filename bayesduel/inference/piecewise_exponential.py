"""Densities of one dimension that are exponential between points: drawn by inversion.

They interpolate a density on the log scale. Beyond the outermost points they go on with the slope
of the outermost pieces; a log-concave density lies below these tails.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

__all__ = ["PiecewiseExponential"]

WORKED_ON = 1_000_000  # comparisons of levels and points at once
LEVEL = 1e-9  # change of the log density over a piece below which it is level


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
        if not np.isfinite(height).all():
            raise FloatingPointError("a log density is not finite along an axis")
        raw = cls(points, height)
        if not ((raw.slopes[:, 0] > 0).all() and (raw.slopes[:, -1] < 0).all()):
            raise FloatingPointError("a log density does not fall off along an axis")
        log_mass = np.log(raw.masses.sum(axis=1))
        return cls(points, height - log_mass[:, None]), float(log_mass.sum())

    @cached_property
    def slopes(self) -> np.ndarray:
        """Slope of the log density in each piece, the tails' among them, shape (size, m + 1)."""
        inner = np.diff(self.log_density, axis=1) / np.diff(self.points, axis=1)
        return np.column_stack([inner[:, 0], inner, inner[:, -1]])

    @cached_property
    def masses(self) -> np.ndarray:
        """Mass of each piece, shape (size, m + 1)."""
        height = np.exp(self.log_density)
        rise = np.diff(self.log_density, axis=1)
        level = np.abs(rise) < LEVEL
        mean = np.where(level, 1.0, np.expm1(rise) / np.where(level, 1.0, rise))
        inner = height[:, :-1] * mean * np.diff(self.points, axis=1)
        first = height[:, 0] / self.slopes[:, 0]
        last = -height[:, -1] / self.slopes[:, -1]
        return np.column_stack([first, inner, last])

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return `n` draws, (n, size), and the log density of each, (n,)."""
        size = len(self.points)
        values = np.empty((n, size))
        log_density = np.zeros(n)
        level = rng.uniform(size=(size, n))
        step = max(1, WORKED_ON // (n * self.points.shape[1]))
        for start in range(0, size, step):
            here = slice(start, start + step)
            drawn, own = self._inverted(here, level[here])
            values[:, here] = drawn.T
            log_density += own.sum(axis=0)
        return values, log_density

    def moved(self, shift: np.ndarray, stretch: np.ndarray) -> "PiecewiseExponential":
        """Return the densities of shift + stretch times these numbers, each of shape (size,)."""
        points = shift[:, None] + stretch[:, None] * self.points
        return replace(self, points=points, log_density=self.log_density - np.log(stretch)[:, None])

    def _inverted(self, rows: slice, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return quantiles of some numbers at levels in [0, 1), (rows, n), and log densities."""
        points = self.points[rows]
        log_density = self.log_density[rows]
        slopes = self.slopes[rows]
        mass = self.masses[rows]
        below = np.cumsum(mass, axis=1)
        level = level * below[:, -1:]
        last = mass.shape[1] - 1
        n_below = (below[:, :, None] <= level[:, None, :]).sum(axis=1)
        piece = np.minimum(n_below, last)
        start = np.maximum(piece - 1, 0)

        def at(values: np.ndarray, place: np.ndarray) -> np.ndarray:
            return np.take_along_axis(values, place, axis=1)

        beyond = (level - at(below, piece)) / at(mass, piece)
        share = np.clip(beyond + 1.0, 1e-300, 1.0 - 1e-16)
        slope = at(slopes, piece)
        widths = np.diff(points, axis=1)
        width = at(widths, np.minimum(start, widths.shape[1] - 1))
        level_piece = np.abs(slope * width) < LEVEL
        safe = np.where(level_piece, 1.0, slope)
        # A tail has no far end: to the left the mass counts from minus infinity.
        reach = np.where(piece == last, -1.0, np.expm1(slope * width))
        step = np.where(level_piece, share * width, np.log1p(share * reach) / safe)
        step = np.where(piece == 0, np.log(share) / safe, step)
        return at(points, start) + step, at(log_density, start) + slope * step
