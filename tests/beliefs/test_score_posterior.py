"""The posterior of scores that is updated after every duel."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, log_ndtr, softmax

from bayesduel.beliefs import Laplace
from bayesduel.beliefs.followed import updated
from bayesduel.beliefs.score_posterior import (
    LOGIT,
    PROBIT,
    anticipate,
    anticipate_many,
    begin,
    cell,
    copied,
    difference,
    expected_information,
    follow,
    heaviest,
    mean_shift,
    refit,
    refitted_scores,
    score_posterior,
    win_probability,
)
from bayesduel.models import BradleyTerry

pytestmark = pytest.mark.plain

N_ARMS = 45  # beyond 40 arms a duel takes a rank-one step


def test_the_covariance_kept_is_that_of_the_heaviest_node():
    rng = np.random.default_rng(0)
    wins = rng.integers(0, 3, (N_ARMS, N_ARMS)).astype(float)
    np.fill_diagonal(wins, 0)
    posterior = score_posterior(N_ARMS, LOGIT, 2.0)
    for duel in range(4):  # a fit, two rank-one steps, and a fit again
        wins[duel, duel + 1] += 1
        follow(posterior, wins)
        root = posterior.root[posterior.log_weight.argmax()]
        np.testing.assert_allclose(heaviest(posterior)[1], root @ root.T, rtol=1e-9, atol=1e-12)
    before = heaviest(posterior)[1].copy()
    anticipate(posterior, 3, 7, 1)
    root = posterior.root[posterior.log_weight.argmax()]
    np.testing.assert_allclose(heaviest(posterior)[1], root @ root.T, rtol=1e-9, atol=1e-12)
    assert heaviest(posterior)[1][3, 3] < before[3, 3]


@pytest.mark.parametrize("link", [LOGIT, PROBIT])
def test_a_rank_one_step_is_laplaces_method_with_the_last_fit_for_the_prior(link):
    """The new mean where the slope is 0, the inverse there, and the integral's logarithm."""
    rng = np.random.default_rng(5)
    score = rng.normal(size=N_ARMS)
    wins = rng.binomial(3, expit(score[:, None] - score)).astype(float)
    np.fill_diagonal(wins, 0)
    posterior = score_posterior(N_ARMS, link, 2.0)
    follow(posterior, wins)
    node, i, j = posterior.log_weight.argmax(), score.argmin(), score.argmax()
    old, old_root = posterior.centre[node].copy(), posterior.root[node].copy()
    weight, contrast = posterior.log_weight[node], np.eye(N_ARMS)[i] - np.eye(N_ARMS)[j]
    wins[i, j] += 1  # a surprise
    follow(posterior, wins)
    assert posterior.n_seen[1] == 1  # no new fit
    new, root = posterior.centre[node], posterior.root[node]
    value, slope, bend = cell(link, new[i] - new[j], 1.0, 0.0)
    precision = np.linalg.inv(old_root @ old_root.T)
    np.testing.assert_allclose(precision @ (new - old), slope * contrast, atol=1e-6)
    expected = precision + bend * np.outer(contrast, contrast)
    np.testing.assert_allclose(root @ root.T @ expected, np.eye(N_ARMS), atol=1e-8)
    value += -0.5 * (new - old) @ precision @ (new - old)
    value += np.linalg.slogdet(root)[1] - np.linalg.slogdet(old_root)[1]
    assert posterior.log_weight[node] - weight == pytest.approx(value, abs=1e-6)
    assert value < -1


def test_the_gradient_vanishes_at_the_mode_after_every_duel():
    """Of the logistic likelihood and the normal prior of the scores at the heaviest node."""
    rng = np.random.default_rng(1)
    wins = np.zeros((5, 5))
    posterior = score_posterior(5, LOGIT, 2.0)
    for _ in range(8):
        i, j = rng.choice(5, 2, replace=False)
        wins[i, j] += 1
        follow(posterior, wins)
        node = posterior.log_weight.argmax()
        mode, scale = posterior.mode[node], posterior.scale[node]
        expected = (wins + wins.T) * expit(mode[:, None] - mode)
        pulled = (wins - expected).sum(axis=1)
        np.testing.assert_allclose(pulled, mode / scale**2, atol=0.01)


def test_new_duels_are_counted_once():
    seen = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for changes, found in (
        ({}, (0.0, 0, 0)),
        ({(0, 1): 1}, (1.0, 1, 0)),
        ({(1, 0): 1}, (1.0, 1, 0)),
        ({(0, 2): 0.5, (2, 0): 0.5}, (1.0, 2, 0)),  # a tie
        ({(0, 1): -1, (1, 0): 1}, (2.0, 1, 0)),  # corrected: no single new duel
    ):
        wins = seen.copy()
        for pair, n in changes.items():
            wins[pair] += n
        assert difference(seen, wins) == found


@pytest.mark.parametrize("prior_scale", [2.0, 0.7])
def test_before_the_first_duel_the_nodes_have_the_weights_of_the_half_normal_prior(prior_scale):
    """Of the scale, on the logarithmic scale of the nodes, from 0.1 to 2.5 of the prior's."""
    posterior = score_posterior(5, LOGIT, prior_scale)
    follow(posterior, np.zeros((5, 5)))
    scale = posterior.scale
    np.testing.assert_allclose(scale[[0, -1]], [0.1 * prior_scale, 2.5 * prior_scale])
    prior = stats.halfnorm(scale=prior_scale).logpdf(scale) + np.log(scale)
    away = posterior.log_weight - prior
    np.testing.assert_allclose(away, away[0], atol=1e-9)
    variance = np.einsum("gij,gij->gi", posterior.root, posterior.root)
    np.testing.assert_allclose(variance, np.tile(scale[:, None] ** 2, 5))


@pytest.mark.parametrize(
    ("link", "log_chance"),
    [(LOGIT, lambda x: -np.logaddexp(0, -x)), (PROBIT, log_ndtr)],
    ids=["logit", "probit"],
)
def test_a_cell_has_the_likelihood_of_its_link_and_its_derivatives(link, log_chance):
    """Against SciPy and differences, far into the tails; probit is asymptotic below -30."""
    h = 1e-2
    for eta in (-40.0, -31.0, -29.0, -3.0, 0.0, 0.4, 8.0, 35.0):
        at = np.array([eta - h, eta, eta + h])
        for won, lost in ((3.0, 1.5), (1.0, 0.0), (0.0, 2.0)):
            expected = won * log_chance(at) + lost * log_chance(-at)
            value, slope, bend = cell(link, eta, won, lost)
            assert value == pytest.approx(expected[1], rel=1e-9, abs=1e-12)
            assert slope == pytest.approx((expected[2] - expected[0]) / (2 * h), abs=1e-3)
            assert bend == pytest.approx(-np.diff(expected, 2)[0] / h**2, abs=1e-3)


def test_chances_and_the_information_of_a_duel_are_those_of_the_link():
    for lead in (-5.0, -0.7, 0.0, 0.3, 2.0):
        p = expit(lead)
        assert win_probability(LOGIT, lead) == pytest.approx(p)
        assert expected_information(LOGIT, lead) == pytest.approx(p * (1 - p))
        p, density = stats.norm.cdf(lead), stats.norm.pdf(lead)
        assert win_probability(PROBIT, lead) == pytest.approx(p)
        information = expected_information(PROBIT, lead)
        assert information == pytest.approx(density**2 / (p * (1 - p)))
    for link in (LOGIT, PROBIT):
        assert win_probability(link, -np.inf) == 0
        assert win_probability(link, np.inf) == 1


def test_mean_and_covariance_of_a_refitted_model_are_those_of_its_draws():
    posterior = refitted_scores(3, 7)
    posterior.draws[:] = np.random.default_rng(4).normal(size=(7, 3))
    mean, covariance = heaviest(posterior)
    np.testing.assert_allclose(mean, posterior.draws.mean(axis=0))
    np.testing.assert_allclose(covariance, np.cov(posterior.draws.T))


@pytest.mark.parametrize("spread", [0.1, 0.5, 3.0])
def test_the_nodes_go_where_the_posterior_of_the_scale_is(spread):
    rng = np.random.default_rng(6)
    score = spread * rng.normal(size=12)
    wins = rng.binomial(30, expit(score[:, None] - score)).astype(float)
    np.fill_diagonal(wins, 0)
    posterior = score_posterior(12, LOGIT, 2.0)
    follow(posterior, wins)
    nodes, weight = np.log(posterior.scale), softmax(posterior.log_weight)
    mean = weight @ nodes
    deviation = np.sqrt(weight @ (nodes - mean) ** 2)
    spacing = np.diff(nodes)
    np.testing.assert_allclose(spacing, spacing[0])
    assert 0.6 * deviation < spacing[0] < 1.4 * deviation
    assert abs(mean - nodes[3]) < 1.5 * spacing[0]
    assert mean == pytest.approx(np.log(score.std()), abs=3 * deviation)


def test_the_mean_is_the_mode_and_half_the_covariance_times_third_derivatives():
    """By the whole tensor of third derivatives; of a logistic cell n p (1 - p) (2 p - 1)."""
    rng = np.random.default_rng(8)
    wins = rng.integers(0, 4, (4, 4)).astype(float)
    wins[0, 1] = wins[1, 0] = 0.0
    root, x = rng.normal(size=(4, 4)), rng.normal(size=4)
    tensor = np.zeros((4, 4, 4))
    for i in range(4):
        for j in range(i):
            c, p = np.eye(4)[i] - np.eye(4)[j], expit(x[i] - x[j])
            third = (wins[i, j] + wins[j, i]) * p * (1 - p) * (2 * p - 1)
            tensor += third * np.einsum("a,b,c->abc", c, c, c)
    covariance = root @ root.T
    expected = 0.5 * covariance @ np.einsum("abc,bc->a", tensor, covariance)
    np.testing.assert_allclose(mean_shift(LOGIT, x, root, wins), expected, rtol=1e-5)


def test_scores_of_a_refitted_model_are_mean_log_odds_of_its_draws():
    belief = Laplace(BradleyTerry(), draws=100).init(3)
    posterior = refitted_scores(3, 100)
    for seed in (0, 1):  # a new fit is taken up
        score = np.random.default_rng(seed).normal(size=(100, 3))
        score -= score.mean(axis=1, keepdims=True)
        belief.draws[:] = expit(score[:, :, None] - score[:, None, :])
        updated(posterior, belief)
        np.testing.assert_allclose(posterior.draws, score, atol=1e-12)


def test_many_pairs_are_anticipated_at_once_as_one_by_one():
    rng = np.random.default_rng(2)
    wins = rng.integers(0, 3, (N_ARMS, N_ARMS)).astype(float)
    np.fill_diagonal(wins, 0)
    one, many = (score_posterior(N_ARMS, LOGIT, 2.0) for _ in "12")
    pairs = np.array([(3, 7, 2), (1, 4, 1), (0, 7, 5)])
    for posterior in (one, many):
        follow(posterior, wins)
    for i, j, times in pairs:
        for _ in range(times):
            anticipate(one, i, j, 1)
    anticipate_many(many, pairs)
    node = one.log_weight.argmax()
    np.testing.assert_allclose(
        many.root[node] @ many.root[node].T, one.root[node] @ one.root[node].T, atol=1e-9
    )
    np.testing.assert_allclose(heaviest(many)[1], heaviest(one)[1], atol=1e-9)


def test_the_prior_is_what_the_fit_to_no_duel_gives():
    posterior = score_posterior(N_ARMS, PROBIT, 1.2)
    begin(posterior)
    expected = copied(posterior)
    for g in range(len(posterior.scale)):
        refit(posterior, g, np.zeros((N_ARMS, N_ARMS)))
    for name in ("mode", "centre", "root", "log_weight"):
        np.testing.assert_allclose(getattr(posterior, name), getattr(expected, name), atol=1e-12)
