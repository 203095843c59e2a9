"""Beliefs by a fitted model: the same compiled policies read them."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import bayesduel as bd
from bayesduel.beliefs import MCMC, Laplace, bounds, record, sample
from bayesduel.beliefs.model_posterior import FEW, normal_quantile, ranked_upper
from bayesduel.models import BradleyTerry
from bayesduel.policies import CCB, DTS, RUCB

pytestmark = pytest.mark.plain


def believed(spec, seed=0):
    belief = spec.init(4)
    wins = [[0, 12, 9, 20], [5, 0, 9, 14], [4, 7, 0, 0], [2, 4, 0, 0]]  # 2 and 3 never met
    for i in range(4):
        for j in range(4):
            for _ in range(wins[i][j]):
                record(belief, (i, j), 1.0)
    return spec.refreshed(belief, seed)


def test_normal_quantiles_are_exact():
    for budget in (0.01, 0.6, 1.0, 3.0, 20.0, 300.0, 2000.0):
        z = normal_quantile(budget)
        assert stats.norm.logsf(z) == pytest.approx(-budget, rel=1e-12)
    assert normal_quantile(0.0) == -np.inf


def test_laws_of_a_modelled_belief():
    belief = believed(Laplace(BradleyTerry()))
    lower, upper = bounds(belief, 3.0)
    np.testing.assert_allclose(upper, 1 - lower.T, atol=1e-12)
    assert (lower.diagonal() == 0.5).all()
    wider = bounds(belief, 6.0)
    assert (wider[0] <= lower).all()
    assert (wider[1] >= upper).all()
    # 2 and 3 never met, and still the model knows that 2 is the better.
    assert belief.location[2, 3] > 0.3
    assert upper[3, 2] < 0.9
    draw = sample(belief, np.random.default_rng(1))
    np.testing.assert_allclose(draw + draw.T, 1, atol=1e-12)


def test_laplace_draws_are_those_of_fit():
    spec = Laplace(BradleyTerry(scale=1.0), draws=400)
    belief = believed(spec, seed=5)
    duels = bd.Duels.from_wins(belief.wins)
    posterior = bd.fit(
        duels, BradleyTerry(scale=1.0), "laplace", draws=400, seed=5, clusters=False
    )["posterior"]
    score = posterior["score"].values.reshape(400, 4)
    P = 1 / (1 + np.exp(score[:, None, :] - score[:, :, None]))
    np.testing.assert_allclose(belief.draws, P, rtol=1e-9)


def test_quantiles_are_those_of_the_draws_and_normal_beyond():
    ranked = np.arange(1000) / 1000
    assert ranked_upper(ranked, 0.0, 2.0, np.log(9.99)) == 0.899  # 100 draws of 1000 exceed it
    assert ranked_upper(ranked, 0.0, 2.0, np.log(1001)) == 0.999  # the normal quantile is less
    beyond = ranked_upper(ranked, 0.0, 4.0, -stats.norm.logsf(5.0))
    assert beyond == pytest.approx(expit(5.0 * 4.0))


@pytest.mark.slow
def test_quantile_bounds_last_as_long_as_the_play():
    spec = Laplace(BradleyTerry(), draws=100, growth=0.5, bounds="quantile")
    P = np.array([[0.5, 0.7, 0.85], [0.3, 0.5, 0.7], [0.15, 0.3, 0.5]])
    trace = bd.simulate([RUCB(belief=spec)], P, 300, replications=1, seed=3)
    assert trace["trace"]["wins"].isel(time=-1).sum() > 0  # the budget passes log(100) at once


@pytest.mark.parametrize(
    "policy", [RUCB, *(pytest.param(p, marks=pytest.mark.slow) for p in (DTS, CCB))]
)
@pytest.mark.slow
def test_the_same_policy_on_another_belief(policy):
    spec = Laplace(BradleyTerry(), draws=200, growth=0.5)
    P = np.array([[0.5, 0.7, 0.85], [0.3, 0.5, 0.7], [0.15, 0.3, 0.5]])
    trace = bd.simulate([policy(), policy(belief=spec)], P, 60, replications=2, seed=3)
    assert trace["trace"]["wins"].isel(time=-1).sum(("arm", "opponent")).min() > 0
    again = bd.simulate(policy(belief=spec), P, 60, replications=2, seed=3)
    np.testing.assert_array_equal(again["trace"]["wins"][0], trace["trace"]["wins"][1])


def test_refits_grow_apart_and_know_ties():
    spec = Laplace(BradleyTerry(), growth=0.1)
    assert [spec.due(n) for n in (1, 5, 20, 1000)] == [2, 6, 22, 1100]
    belief = spec.init(3)
    record(belief, (0, 1), 0.5)
    record(belief, (0, 1), 1.0)
    fitted = spec.refreshed(belief, 1)
    assert fitted.location[0, 1] > 0
    assert spec.refreshed(spec.init(3), 1).draws.shape == (1000, 3, 3)  # nothing to fit


def test_a_log_that_does_not_determine_the_model_is_refused_after_three_duels_an_arm():
    """Under a flat prior, where one arm has won all its duels."""
    spec = Laplace(BradleyTerry(scale=np.inf))
    belief = spec.init(3)
    for duel in range(FEW * 3):
        record(belief, (0, 1 + duel % 2), 1.0)
    assert spec.refreshed(belief, 0) is belief
    record(belief, (0, 1), 1.0)
    with pytest.raises(ValueError, match="scale should be finite"):
        spec.refreshed(belief, 0)


@pytest.mark.slow
def test_mcmc_agrees_with_laplace():
    by_mcmc = believed(MCMC(BradleyTerry(scale=1.0), draws=4000))
    by_laplace = believed(Laplace(BradleyTerry(scale=1.0), draws=4000))
    np.testing.assert_allclose(by_mcmc.location, by_laplace.location, atol=0.08)
    lower, upper = bounds(by_mcmc, 3.0)
    np.testing.assert_allclose(upper, bounds(by_laplace, 3.0)[1], atol=0.05)
    np.testing.assert_allclose(upper, 1 - lower.T, atol=1e-12)


def test_settings_are_checked():
    with pytest.raises(TypeError, match=r"model should be a model such as BradleyTerry\(\)"):
        Laplace("bradley-terry")
    with pytest.raises(ValueError, match="draws should be at least 100, got 10"):
        Laplace(BradleyTerry(), draws=10)
    with pytest.raises(ValueError, match="growth should be positive and finite, got 0"):
        MCMC(BradleyTerry(), growth=0)
    with pytest.raises(ValueError, match=r"bounds should be one of .* got 'wald'"):
        Laplace(BradleyTerry(), bounds="wald")
