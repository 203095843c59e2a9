"""Cluster-robust errors of many arms: as those from matrices, and as wide as they should be."""

import numpy as np
import pytest
from scipy.special import expit

import bayesduel as bd
from bayesduel.inference.sparse_sandwich import _adjusted
from bayesduel.models import BradleyTerry, SideAdvantage

ARMS = 120


@pytest.fixture(scope="module")
def judged():
    """Return a log whose judges differ in what they like and in which side, some votes copied."""
    rng = np.random.default_rng(0)
    score, taste = rng.normal(size=ARMS), rng.normal(size=(30, ARMS))
    left = rng.integers(0, ARMS, 4000)
    right = (left + rng.integers(1, ARMS, 4000)) % ARMS
    judge, group = rng.integers(0, 30, 4000), rng.integers(0, 600, 4000)
    side = 0.3 + rng.normal(0, 0.5, 30)[judge]
    eta = score[left] - score[right] + taste[judge, left] - taste[judge, right] + side
    won = (rng.random(4000) < expit(eta)).astype(float)
    copied = np.concatenate([np.arange(4000), np.repeat(np.flatnonzero(judge < 5), 2)])
    columns = (left[copied], right[copied], won[copied])
    return bd.Duels.from_votes(*columns, judge=judge[copied], group=group[copied])


@pytest.fixture(scope="module")
def fits(judged):
    """Return the fit with errors from matrices, and with those of many arms."""
    model, options = (
        BradleyTerry() + SideAdvantage(),
        {"method": "variational", "log_likelihood": False},
    )
    with pytest.MonkeyPatch.context() as patch:
        dense = bd.fit(judged, model, **options)
        patch.setattr("bayesduel.inference.sandwich.TABLE_ARMS", ARMS - 1)
        return dense, bd.fit(judged, model, **options)


@pytest.mark.slow
def test_errors_are_those_from_matrices(fits):
    dense, sparse = (fit["clusters"].dataset for fit in fits)
    wider = [one["score_se_cluster"] / one["score_se"] for one in (dense, sparse)]
    assert float(wider[0].sel(clustering="judge").mean()) > 1.2
    ratio = (wider[1] / wider[0]).sel(clustering=["judge", "group"]).values
    np.testing.assert_allclose(ratio.mean(axis=1), 1, atol=0.02)
    np.testing.assert_allclose(ratio, 1, atol=0.08)
    both = (wider[1] / wider[0]).sel(clustering="judge and group").values
    assert abs(both.mean() - 1) < 0.03
    degrees = sparse["score_degrees_cluster"] / dense["score_degrees_cluster"]
    np.testing.assert_allclose(degrees.sel(clustering="judge").mean(), 1, atol=0.15)
    assert "opponent" not in sparse.dims


def test_draws_have_the_covariances_of_contrasts(fits):
    dense, sparse = (fit["clusters"].dataset.sel(clustering="judge") for fit in fits)
    own = np.cov(sparse["score_draw_cluster"].values.T)
    exact = dense["score_cov_cluster"].values
    first, second = np.triu_indices(40, 1)
    spread = [
        np.sqrt(v[first, first] + v[second, second] - 2 * v[first, second]) for v in (own, exact)
    ]
    np.testing.assert_allclose(spread[0] / spread[1], 1, atol=0.12)
    assert abs((spread[0] / spread[1]).mean() - 1) < 0.035
    lengths, blocks = (fits[0]["clusters"].attrs[n] for n in ("lengths", "blocks"))
    place = int(np.sum(lengths[: list(blocks).index("order")]))
    wanted = np.sqrt(dense["covariance_cluster"].values[place, place])
    assert abs(float(sparse["order_draw_cluster"].std()) / wanted - 1) < 0.06
    degrees = float(sparse["order_degrees_cluster"].item())
    assert abs(degrees / dense["degrees_cluster"].values[place] - 1) < 0.25


def test_squares_beyond_the_information_are_what_votes_of_a_cluster_share():
    """Leverages 0.1 and 0.3; squares 4 and 1 where 0.9 and 2.1 are expected: 2 more, over 1 + 9."""
    found, moments = _adjusted(np.array([2.0, -1.0]), np.array([1.0, 3.0]), 0.1)
    np.testing.assert_allclose(found, [2 / np.sqrt(0.9), -1 / np.sqrt(0.7)])
    np.testing.assert_allclose(moments, [1 + 0.2 * 1, 3 + 0.2 * 9])
    _, moments = _adjusted(np.zeros(2), np.array([1.0, 3.0]), 0.1)
    np.testing.assert_allclose(moments, [1, 3])  # less than expected is chance


def test_winners_use_them(fits):
    found = bd.winners(fits[1])
    assert found.attrs["covariance"] == "judge and group"
    assert "cluster-robust by judge and group (30 and 599 clu" in found.attrs["dependence"]
    robust, plain = (bd.scores(fits[1], covariance=c) for c in ("judge", "model"))
    wider = robust["score_sd"] / plain["score_sd"]
    assert float(wider.mean()) > 1.2


@pytest.mark.slow
def test_copies_of_votes_add_nothing():
    rng = np.random.default_rng(1)
    score = rng.normal(size=ARMS)
    left = rng.integers(0, ARMS, 3000)
    right = (left + rng.integers(1, ARMS, 3000)) % ARMS
    won = (rng.random(3000) < expit(score[left] - score[right])).astype(float)
    once = bd.Duels.from_votes(left, right, won)
    four = np.repeat(np.arange(3000), 4)
    copied = bd.Duels.from_votes(left[four], right[four], won[four], group=four)
    options = {"method": "variational", "log_likelihood": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayesduel.inference.sandwich.TABLE_ARMS", ARMS - 1)
        fit = bd.fit(copied, BradleyTerry(scale=3.0), **options)
    alone = bd.fit(once, BradleyTerry(scale=3.0), **options)
    robust = fit["clusters"]["score_se_cluster"].values[0]
    ratio = robust / alone["laplace"]["score_se"].values
    assert abs(ratio.mean() - 1) < 0.05
    assert fit["clusters"]["score_se"].values.mean() < 0.6 * robust.mean()
