"""Cluster-robust errors: nothing changes without clusters, copies are seen through."""

import numpy as np
import pytest

from bayesduel.data.duels import Duels
from bayesduel.inference.fit import fit
from bayesduel.inference.sandwich import clusterings
from bayesduel.models import BradleyTerry
from bayesduel.posterior.draws import posterior_draws, preference_draws

ARMS = ["a", "b", "c", "d"]
SCORE = np.array([0.8, 0.3, -0.3, -0.8])


def votes(n: int, copies: int, judges: int, seed: int) -> Duels:
    """Simulate n independent verdicts, each cast `copies` times by one judge in one group."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    win = (rng.random(n) < 1 / (1 + np.exp(SCORE[right] - SCORE[left]))).astype(float)
    row = np.repeat(np.arange(n), copies)
    names = np.array(ARMS)
    return Duels.from_votes(
        names[left[row]], names[right[row]], win[row], judge=row % judges, group=row
    )


def test_clusterings_are_found_only_where_units_repeat():
    assert clusterings(votes(50, 1, 50, 0)) == {}
    assert set(clusterings(votes(50, 2, 100, 0))) == {"judge", "pair and group"}
    assert clusterings(Duels.from_wins(np.ones((2, 2)) - np.eye(2))) == {}


def test_missing_judges_stand_alone():
    duels = Duels.from_votes(
        ["a", "a", "b", "b"], ["b", "b", "a", "a"], [1, 0, 1, 0], judge=["x", "x", None, None]
    )
    assert len(np.unique(clusterings(duels)["judge"])) == 3


def test_copied_votes_widen_the_errors_by_the_square_root_of_the_copies():
    """Four copies carry the information of one: robust errors are those of the originals."""
    one = fit(votes(2000, 1, 2000, 1), BradleyTerry(scale=5.0), draws=400)
    four = fit(votes(2000, 4, 2000, 1), BradleyTerry(scale=5.0), draws=400)
    assert "clusters" not in one
    group = four["clusters"]
    assert list(group["route"].values) == ["sandwich", "sandwich"]
    honest = np.sqrt(np.diag(one["laplace"]["score_cov"]))
    # The relative error of an empirical standard error over 2,000 clusters is about 1.6 %.
    robust = group["score_se_cluster"].sel(clustering="pair and group").values
    np.testing.assert_allclose(robust / honest, 1.0, atol=0.1)
    np.testing.assert_allclose(group["score_se"].values * 2, honest, rtol=0.02)


def test_few_clusters_take_the_bootstrap_and_agree_with_the_sandwich():
    few = fit(votes(600, 1, 14, 2), BradleyTerry(scale=5.0), draws=400)
    many = fit(votes(600, 1, 15, 2), BradleyTerry(scale=5.0), draws=400)
    assert few["clusters"]["route"].item() == "bootstrap"
    assert many["clusters"]["route"].item() == "sandwich"
    ratio = few["clusters"]["score_se_cluster"].values / many["clusters"]["score_se_cluster"].values
    # Each is an estimate from about 15 clusters: relative error 0.2; a factor 2 is 3.5 sigma.
    assert (ratio > 0.5).all()
    assert (ratio < 2.0).all()


def test_draws_carry_the_errors_asked_for():
    tree = fit(votes(2000, 4, 2000, 1), BradleyTerry(scale=5.0), draws=4000)
    plain, used = posterior_draws(tree, "model")
    assert used == "model"
    wide, used = posterior_draws(tree)
    assert used in ("judge", "pair and group")
    np.testing.assert_allclose(wide["score"].mean(0), plain["score"].mean(0), atol=1e-12)
    target = np.sqrt(np.diag(tree["clusters"]["score_cov_cluster"].sel(clustering=used)))
    np.testing.assert_allclose(wide["score"].std(0), target, rtol=0.05)
    np.testing.assert_allclose(wide["score"].sum(1), 0.0, atol=1e-9)
    P = np.concatenate(list(preference_draws(tree, "judge")))
    assert P.shape == (4000, 4, 4)
    with pytest.raises(ValueError, match="covariance should be one of"):
        posterior_draws(tree, "annotator")


def test_too_few_clusters_are_named_not_trusted():
    """Two judges say nothing of how judges vary: no robust errors by judge, and the fit says so."""
    tree = fit(votes(60, 1, 2, 3), draws=400)
    assert "clusters" not in tree
    assert tree.attrs["clusters_left_out"] == '{"judge": 2}'


def test_flat_prior_with_few_clusters_has_no_robust_errors_and_no_crash():
    """With at most as many clusters as arms a sandwich is singular: left out, and said."""
    import bayesduel as bd

    rng = np.random.default_rng(4)
    left = rng.integers(0, 12, 2000)
    right = (left + rng.integers(1, 12, 2000)) % 12
    duels = Duels.from_votes(left, right, rng.integers(0, 2, 2000), judge=np.arange(2000) % 10)
    tree = fit(duels, BradleyTerry(scale=np.inf), draws=400)
    assert tree.attrs["clusters_left_out"] == '{"judge": 10}'
    assert bd.winners(tree).attrs["covariance"] == "model"
    with pytest.raises(ValueError, match="covariance should be one of"):
        bd.winners(tree, covariance="judge")
