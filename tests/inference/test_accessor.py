"""What is read of a fit: parsed once, around the same means where errors are cluster-robust."""

import json
import pickle

import numpy as np
import pytest
import xarray as xr

import bayesduel as bd
from bayesduel.inference.accessor import _replaced, _root
from bayesduel.models import BradleyTerry


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


def test_a_fit_is_parsed_once_and_travels_with_its_accessor():
    fit = bd.fit(bd.datasets.load("tennis1990"), "bradley-terry", draws=200)
    duel = fit.duel
    assert duel.model == BradleyTerry() and duel.model is fit.duel.model
    assert duel.arms == tuple(fit["posterior"]["arm"].values) and duel.n_draws == 200
    assert duel.settings == json.loads(fit.attrs["model_settings"])
    assert duel.posterior()["score"].shape == (200, 5)
    back = pickle.loads(pickle.dumps(fit))
    assert back.duel.model == duel.model and back.duel is not duel
    with pytest.raises(ValueError, match="covariance should be one of"):
        duel.posterior("judge")


def test_stretched_draws_are_made_once_and_handed_out_as_a_new_dictionary():
    fit = bd.fit(bd.datasets.load("tversky1969"), "bradley-terry", draws=200)
    assert fit.duel.covariance() == "judge"
    first, second = fit.duel.posterior(), fit.duel.posterior()
    assert first is not second and first["score"] is second["score"]
    assert not np.array_equal(first["score"], fit.duel.posterior("model")["score"])


def test_a_covariance_without_a_cholesky_factor_has_its_symmetric_root():
    singular = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    root = _root(singular)
    np.testing.assert_allclose(root @ root.T, singular, atol=1e-12)
