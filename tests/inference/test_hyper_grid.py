"""The grid of a hyperparameter: its interpolation, beside SciPy's."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from bayesduel.inference import hyper_grid
from bayesduel.inference.hyper_grid import explore, spline


@pytest.mark.parametrize("n", [3, 4, 5, 30])
def test_the_spline_is_that_of_scipy(n):
    rng = np.random.default_rng(n)
    nodes = np.cumsum(rng.uniform(0.1, 1, n))
    values = rng.normal(size=(n, 3))
    at = rng.uniform(nodes[0] - 0.1, nodes[-1] + 0.1, 200)
    expected = CubicSpline(nodes, values)(at)
    assert spline(nodes, at) @ values == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_maximum_that_is_not_located_is_said(monkeypatch):
    def density(value, near):
        return -0.5 * (value - 1) ** 2, None

    assert abs(explore(density, 0.0).nodes.mean() - 1) < 0.2
    monkeypatch.setattr(hyper_grid, "_parabola", lambda centre, *_: (centre, 0.0))
    with pytest.raises(FloatingPointError, match="was not located"):
        explore(density, 0.0)
