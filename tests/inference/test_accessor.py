"""What is read of a fit: parsed once, around the same means where errors are cluster-robust."""

import json
import pickle

import numpy as np
import pytest
import xarray as xr

import bayesduel as bd
from bayesduel.inference.stretched import _replaced, _root
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
    assert "bradley-terry of 5 arms, 200 draws; has arms, " in repr(duel)
    back = pickle.loads(pickle.dumps(fit))
    assert back.duel.model == duel.model and back.duel is not duel
    with pytest.raises(ValueError, match="covariance should be 'auto'"):
        duel.posterior("judge")


def test_the_posterior_of_a_fit_is_cluster_robust_and_independent_votes_are_beside_it():
    fit = bd.fit(bd.datasets.load("tversky1969"), "bradley-terry", draws=200)
    assert fit.duel.covariance() == fit.duel.standing == fit["posterior"].attrs["covariance"]
    assert fit.duel.standing == "judge"
    score = fit["posterior"]["score"].to_numpy().reshape(200, -1)
    np.testing.assert_array_equal(fit.duel.posterior()["score"], score)
    own = fit["posterior_sampled"]["score"].to_numpy().reshape(200, -1)
    np.testing.assert_array_equal(fit.duel.posterior("model")["score"], own)
    assert (score.std(axis=0) > 1.5 * own.std(axis=0)).any()


def test_draws_of_another_clustering_are_made_once_and_handed_out_as_a_new_dictionary():
    fit = bd.fit(votes_by_judge_and_group(), "bradley-terry", draws=200)
    assert fit.duel.standing == "judge and group"
    first, second = fit.duel.posterior("judge"), fit.duel.posterior("judge")
    assert first is not second and first["score"] is second["score"]
    assert not np.array_equal(first["score"], fit.duel.posterior()["score"])


def votes_by_judge_and_group():
    """Return 60 votes of 12 judges on 10 prompts, 3 arms."""
    rng = np.random.default_rng(0)
    k = np.arange(60)
    rows = {"left": np.array(list("abc"))[k % 3], "right": np.array(list("bca"))[k % 3]}
    rows |= {"outcome": rng.integers(0, 2, 60), "judge": k % 12, "group": k // 6}
    return bd.read_duels(rows)


def test_a_covariance_without_a_cholesky_factor_has_its_symmetric_root():
    singular = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    root = _root(singular)
    np.testing.assert_allclose(root @ root.T, singular, atol=1e-12)
