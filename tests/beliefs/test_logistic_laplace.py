"""Mode, curvature and draws of the logistic posterior."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit

from bayesduel.beliefs.item_belief import ItemSet, Logistic, record_duel, record_pull
from bayesduel.beliefs.logistic_laplace import draw_preference, learn, refit
from bayesduel.problems import LogisticItems
from tests.support.item_beliefs import believed

pytestmark = pytest.mark.plain


def negative_log_posterior(z, x, won, prior):
    eta = x @ z
    return prior * (z @ z) / 2 + np.logaddexp(0, eta).sum() - won @ eta


def test_the_mode_of_tallied_pulls_is_that_of_a_generic_optimiser():
    rng = np.random.default_rng(3)
    problem = LogisticItems(n_arms=30, n_attributes=3).draw(rng)
    belief = Logistic(scale=2.0).init(problem.offer)
    shown, won = rng.integers(0, 30, 500), []
    for arm in shown:
        won.append(problem.pull(arm, rng.random()))
        record_pull(belief, arm, won[-1])
    near = belief.mode.copy()  # last found over all pulls some dozens of pulls ago
    refit(belief)
    x = problem.attributes[shown]
    found = minimize(
        negative_log_posterior, np.zeros(3), (x, np.array(won), 0.25), tol=1e-12, method="BFGS"
    ).x
    np.testing.assert_allclose(belief.mode, found, atol=1e-5)
    np.testing.assert_allclose(near, found, atol=0.02)
    p = expit(x @ belief.mode)
    hessian = (x * (p * (1 - p))[:, None]).T @ x + np.eye(3) / 4
    np.testing.assert_allclose(belief.precision, hessian, rtol=1e-9)
    np.testing.assert_allclose(belief.covariance @ hessian, np.eye(3), atol=1e-9)


def test_a_surprising_reward_moves_the_mode_to_the_maximum_by_hand():
    """Prior N(-50, 10^2), one success: at 0 the slopes 1 - 1/2 and -(0 + 50) / 100 cancel."""
    belief = Logistic(scale=10.0).init(ItemSet(np.ones((1, 1)), np.ones(1), False))
    belief.mode[:] = -50.0
    learn(belief, np.ones(1), 1.0)
    assert belief.mode[0] == pytest.approx(0, abs=1e-9)
    assert belief.precision[0, 0] == pytest.approx(0.01 + 0.25)
    assert belief.covariance[0, 0] == pytest.approx(1 / 0.26)


@pytest.mark.slow
def test_the_mode_of_many_different_duels_stays_near_the_true_one():
    """More pairs than the window holds: what was folded into the prior is nearly not lost."""
    rng = np.random.default_rng(4)
    u, z = rng.standard_normal((400, 3)), np.array([1.0, -0.5, 0.3])
    belief = Logistic(scale=2.0).init(ItemSet(np.asfortranarray(u), np.ones(1), False))
    pairs = rng.integers(0, 400, (9000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    x = u[pairs[:, 0]] - u[pairs[:, 1]]
    won = (rng.random(len(x)) < expit(x @ z)).astype(float)
    for (i, j), w in zip(pairs, won, strict=True):
        record_duel(belief, i, j, w)
    assert belief.n_rows[0] < len(x) - 4096
    found = minimize(negative_log_posterior, z, (x, won, 0.25), tol=1e-12, method="BFGS").x
    errors = np.sqrt(belief.covariance.diagonal())
    assert (np.abs(belief.mode - found) < 0.05 * errors).all()


def test_draws_have_the_posterior_as_their_law():
    belief, rng = believed(m=10, n=2), np.random.default_rng(5)
    draws = np.array([draw_preference(belief, rng) for _ in range(4000)]) - belief.mode
    distance = np.einsum("ij,jk,ik->i", draws, np.linalg.inv(belief.covariance), draws)
    assert stats.kstest(distance, stats.chi2(2).cdf).pvalue > 1e-6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Logistic(scale=np.inf), "scale should be positive and finite, got inf"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_weighted_reward_moves_the_mode_as_its_likelihood_says():
    belief = Logistic().init(ItemSet(np.asfortranarray(np.eye(2)), np.ones(1), False))
    x, before = np.array([1.0, -2.0]), belief.precision.copy()
    learn(belief, x, 1.0, 0.3)
    p = expit(x @ belief.mode)
    np.testing.assert_allclose(before @ belief.mode, 0.3 * (1 - p) * x, atol=1e-12)
    bend = 0.3 * p * (1 - p)
    np.testing.assert_allclose(belief.precision, before + bend * np.outer(x, x))
    np.testing.assert_allclose(belief.covariance, np.linalg.inv(belief.precision))
