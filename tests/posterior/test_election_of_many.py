"""Winners of many arms agree with those from tables of arm by arm."""

import json

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.posterior.election import hold_elections
from bayesduel.posterior.update import log_of
from tests.inference.test_sparse_gaussian import log
from tests.support.drawn_by_hand import score_draws


@pytest.fixture(scope="module")
def fits():
    """Return a fit with tables, and the same as if it were of too many arms for them."""
    duels = log(40, 3000, seed=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayesduel.inference.datatree.TABLE_ARMS", 10)
        without = bd.fit(duels, method="variational", draws=1000)
    return duels, bd.fit(duels, method="variational", draws=1000), without


@pytest.fixture(scope="module")
def both(fits):
    _, fit, without = fits
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayesduel.posterior.draws.TABLE_ARMS", 10)
        many = bd.winners(without)
    return bd.winners(fit), many


def test_ranks_winners_and_verdict_are_the_same(both):
    few, many = both
    for name in ("order", "winner_probability", "winner_share", "top_k_probability"):
        np.testing.assert_allclose(many[name].values, few[name].values, atol=1e-12)
    for name in ("rank_mean", "rank_lower", "rank_upper", "unbeaten_probability"):
        np.testing.assert_allclose(many[name].values, few[name].values, atol=1e-12)
    assert many.attrs["verdict"] == few.attrs["verdict"]
    assert many.attrs["tie_share"] == few.attrs["tie_share"]


def test_without_a_rope_the_best_arm_alone_is_unbeaten():
    score = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    draws = score_draws(score)
    found = hold_elections(draws, 0.0)
    assert found.unbeaten.tolist() == (score == score.max(1, keepdims=True)).tolist()


def test_borda_scores_are_on_the_curve(both):
    few, many = both
    for name in ("win_rate", "win_rate_lower", "win_rate_upper"):
        np.testing.assert_allclose(many[name].values, few[name].values, atol=2e-5)


def test_rank_ranges_are_at_least_as_wide(both):
    few, many = both
    slack = 2  # places by which quantiles of the draws may be off
    assert (many["rank_joint_lower"].values <= few["rank_joint_lower"].values + slack).all()
    assert (many["rank_joint_upper"].values >= few["rank_joint_upper"].values - slack).all()
    width = [(w["rank_joint_upper"] - w["rank_joint_lower"]).values.mean() for w in both]
    assert width[0] - 1 < width[1] < width[0] + 8


def test_no_variable_is_a_table_of_arms(both):
    few, many = both
    assert "opponent" in few.dims
    assert "opponent" not in many.dims
    assert "rank_probability" not in many
    assert {"score_mean", "score_sd"} <= set(many.data_vars)
    assert json.loads(many.to_json())["ranking"]
    assert repr(many)


def test_the_log_of_a_fit_without_tables(fits):
    duels, _, without = fits
    assert "wins" not in without["constant_data"]
    for one, other in zip(log_of(without).pairs(), duels.pairs(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_pairs_of_neighbours_are_counted_without_tables(fits):
    _, fit, without = fits
    few, many = bd.duels_to_decide(fit), bd.duels_to_decide(without)
    assert few["duels"].tolist() == many["duels"].tolist()


@pytest.mark.slow
def test_report_of_many_arms_says_what_is_shown(tmp_path):
    path = bd.report(log(1100, 15_000), tmp_path / "report.html", draws=400)
    text = path.read_text()
    assert "not computed beyond 1,000 arms" in text
    assert "The first 1,000 of 1,100 arms; the files have all." in text
    assert 'form class="search"' in text
    assert len(text) < 8_000_000
