"""Normal approximation of many coefficients whose scales are given.

Where a log has effects of prompts and of judges there are thousands of coefficients and few scales.
A fit of most of the log needs no search for the scales once the whole log has been fitted: the
coefficients are drawn around their mode. Four fifths of the votes of LLMFAO (Davidson, 8,143
coefficients) take 4 processor seconds so; with a search 51, by NUTS 27. Votes held out lose 0.592
nats by it, 0.600 with a search and 0.592 by NUTS.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.inference.approximation import DensityApproximation
from bayesduel.inference.arrow import Layout, layout_of
from bayesduel.inference.conditional_mode import log_scales, start_at
from bayesduel.inference.predictor_of_model import linear_predictor
from bayesduel.inference.variational_conditional import Conditional, mode_at

__all__ = ["EarlierScales"]


@dataclass(frozen=True, eq=False)
class EarlierScales(DensityApproximation):
    """A normal distribution of the coefficients, at the median scales of an earlier fit."""

    layout: Layout
    middle: Conditional

    @classmethod
    def of(cls, model: Any, cells: Any, earlier: Mapping[str, np.ndarray]) -> "EarlierScales":
        """Return the approximation of the posterior given the cells of a log.

        earlier: draws of the parameters by name, draws first, by a fit of the same model.
        Raises FloatingPointError if the posterior has no mode.
        """
        density = linear_predictor(model, cells)
        layout = layout_of(density)
        means = {name: draws.mean(axis=0) for name, draws in earlier.items()}
        start = start_at(density, means)
        phi = log_scales(density, earlier)
        middle = mode_at(layout, phi, start)
        return cls(model, cells, density, layout, middle)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, None]:
        """Return `n` draws and their scales; no ratio of so many densities says anything."""
        middle = self.middle
        normal = rng.standard_normal((n, self.density.size), dtype=self.layout.kind)
        x = middle.x + self.layout.draw(middle.arrow, normal)
        phi = np.broadcast_to(middle.phi, (n, len(middle.phi)))
        return x, phi, None
