"""The other policies of items: each choice equals the plain rule, written out in NumPy."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit, xlogy

import bayesduel as bd
from bayesduel.beliefs.best_item import best_item, most_optimistic, widest_apart
from bayesduel.beliefs.item_belief import Counts, ItemSet, Logistic, record_duel, record_pull
from bayesduel.beliefs.logistic_laplace import draw_preference, refit
from bayesduel.problems import LogisticItems


def believed(m=1300, n=4, seed=0, values=None):
    """A belief with some mode and covariance; more items than fit in a block."""
    rng = np.random.default_rng(seed)
    given = np.ones(1) if values is None else values
    belief = Logistic().init(ItemSet(np.asfortranarray(rng.standard_normal((m, n))), given, False))
    belief.mode[:] = rng.standard_normal(n)
    root = rng.standard_normal((n, n))
    belief.covariance[:] = root @ root.T + np.eye(n)
    return belief


def negative_log_posterior(z, x, won, prior):
    eta = x @ z
    return prior * (z @ z) / 2 + np.logaddexp(0, eta).sum() - won @ eta


def test_the_best_the_boldest_and_the_widest_item():
    rng = np.random.default_rng(9)
    for seed in range(4):
        belief = believed(seed=seed)
        u, cov, z = belief.attributes, belief.covariance, belief.mode
        assert best_item(belief, z) == (u @ z).argmax()
        width = np.sqrt(np.einsum("ij,jk,ik->i", u, cov, u))
        assert most_optimistic(belief, z, 1.3) == (u @ z + 1.3 * width).argmax()
        champion = int((u @ z).argmax())
        apart = u - u[champion]
        width = np.sqrt(np.einsum("ij,jk,ik->i", apart, cov, apart))
        may_win = (apart @ z + 0.8 * width > 0) & (np.arange(len(u)) != champion)
        widest = np.where(may_win, width, -1).argmax()
        assert widest_apart(belief, champion, z, 0.8) == widest
        assert widest_apart(belief, champion, z, 0.0) == champion
        values = rng.uniform(0.5, 2, len(u))
        valued = believed(seed=seed, values=values)
        assert best_item(valued, z) == (values * expit(u @ z)).argmax()
        width = np.sqrt(np.einsum("ij,jk,ik->i", u, cov, u))
        assert most_optimistic(valued, z, 0.7) == (values * expit(u @ z + 0.7 * width)).argmax()


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


def counted(values=None, m=40, seed=0):
    rng = np.random.default_rng(seed)
    given = np.ones(1) if values is None else values
    belief = Counts().init(ItemSet(np.asfortranarray(rng.standard_normal((m, 2))), given, False))
    belief.pulls[:] = rng.integers(1, 60, m)
    belief.successes[:] = rng.binomial(belief.pulls, rng.random(m))
    belief.n_pulls[0] = belief.pulls.sum()
    belief.last[0] = rng.integers(m)
    return belief


def kl_bound(share, budget):
    """By bisection on the definition."""
    low, high = share, 1.0
    for _ in range(200):
        q = (low + high) / 2
        kl = xlogy(share, share / q) + xlogy(1 - share, (1 - share) / max(1 - q, 1e-300))
        low, high = (q, high) if kl <= budget else (low, q)
    return low


@pytest.mark.parametrize("c", [0.0, 3.0])
def test_klucb_names_the_highest_bound(c):
    policy = bd.KLUCB(c=c)
    for seed in range(12):
        values = None if seed % 2 else np.random.default_rng(seed).uniform(0.5, 2, 40)
        belief = counted(values, seed=seed)
        memory, t = policy.init(ItemSet(*belief[:3])), int(belief.n_pulls[0]) + 1
        share = belief.successes / belief.pulls
        memory.entropy[:] = xlogy(share, share) + xlogy(1 - share, 1 - share)
        arm = policy.select(belief, memory, t, np.random.default_rng(0))
        budget = np.log(t) + c * np.log(np.log(t))
        bounds = [kl_bound(p, budget / n) for p, n in zip(share, belief.pulls, strict=True)]
        worth = np.array(bounds) * (1 if values is None else values)
        assert worth[arm] > worth.max() - 1e-9


def test_klucb_shows_everything_once_first():
    problem = LogisticItems(n_arms=9, n_attributes=2)
    trace = bd.simulate(bd.KLUCB(), problem, 9)
    assert (trace["trace"]["pulls"] == 1).all()


def test_grouped_draws_of_new_items_have_the_law_of_single_ones():
    """Thompson sampling over 3 items shown and 7 new ones: how often each is chosen."""
    policy = bd.ThompsonBeta()
    counts = np.zeros(10)
    n = 4000
    belief = counted(m=10)
    belief.pulls[:], belief.successes[:] = 0, 0
    belief.pulls[:3], belief.successes[:3] = [8, 4, 2], [7, 3, 1]
    memory = policy.init(ItemSet(*belief[:3]))
    belief.last[0], memory.n_shown[0] = 0, 3
    rng = np.random.default_rng(1)
    for _ in range(n):
        counts[policy.select(belief, memory, 15, rng)] += 1
    plain = np.random.default_rng(2).beta(
        1 + belief.successes, 1 + belief.pulls - belief.successes, (400_000, 10)
    )
    law = np.bincount(plain.argmax(axis=1), minlength=10) / 400_000
    assert stats.chisquare(counts, law * n).pvalue > 1e-6


def test_information_duels_end_with_the_best_item_alone():
    """Where nothing may beat the champion it duels itself, which costs nothing."""
    policy = bd.LogisticDuelThompson(challenger="information")
    belief = believed(m=50)
    belief.covariance[:] = 1e-8 * np.eye(4)
    named = policy.select(belief, policy.init(ItemSet(*belief[:3])), 10, np.random.default_rng(0))
    best = (belief.attributes @ belief.mode).argmax()
    assert named == (best, best)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bd.LogisticUCB(alpha=0), "alpha should be positive, got 0"),
        (lambda: bd.LogisticUCB(belief=Counts()), r"should be Logistic\(\), got Counts"),
        (lambda: bd.LogisticThompson(belief=Counts()), r"should be Logistic\(\), got Counts"),
        (lambda: bd.GLMETC(belief=Counts()), r"should be Logistic\(\), got Counts"),
        (lambda: bd.GLMETC(schedule="fast"), "schedule should be one of"),
        (lambda: bd.LogisticDuelThompson(challenger="best"), "challenger should be"),
        (lambda: bd.LogisticDuelThompson(alpha=-1), "alpha should be positive, got -1"),
        (lambda: bd.KLUCB(c=-1), "c should be >= 0, got -1"),
        (lambda: Logistic(scale=np.inf), "scale should be positive and finite, got inf"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
