"""Draws of a fit: around the same means where errors are cluster-robust."""

import numpy as np
import xarray as xr

from bayesduel.inference.accessor import _replaced


def test_draws_of_a_clustering_are_around_the_same_means():
    rng = np.random.default_rng(0)
    draws, away = rng.normal(size=(2, 60, 3))
    away -= away.mean(axis=1, keepdims=True)
    given = {
        "score_draw_cluster": (("row", "arm"), away),
        "score_degrees_cluster": ("arm", np.full(3, 1e9)),  # the tails of a normal law
    }
    fit = xr.DataTree()
    fit.attrs["seed"] = 0
    found = _replaced(fit, {"score": draws, "scale": draws[:, 0]}, xr.Dataset(given))
    np.testing.assert_allclose(found["score"], draws.mean(axis=0) + away, atol=0.1)
    np.testing.assert_array_equal(found["scale"], draws[:, 0])
