"""BETC-GLM in lockstep with its algorithm, line by line, in plain NumPy."""

from math import ceil, log

import numpy as np
import pytest
from scipy.special import expit

import bayesduel as bd
from bayesduel.beliefs.item_belief import record_duel
from bayesduel.policies import BETCGLM
from bayesduel.problems import ContextualDuels, ItemDuels, LogisticDuels

pytestmark = pytest.mark.plain


def problem_of(n_arms=7, n_attributes=3, seed=1):
    rng = np.random.default_rng(seed)
    return LogisticDuels(n_arms=n_arms, n_attributes=n_attributes).draw(rng)


def g_optimal(differences):
    """Weights of a design by Frank and Wolfe's steps (Fedorov), to 0.1 %."""
    n = differences.shape[1]
    weight = np.full(len(differences), 1 / len(differences))
    while True:
        inverse = np.linalg.inv(differences.T * weight @ differences)
        variance = np.einsum("ij,jk,ik->i", differences, inverse, differences)
        k = int(variance.argmax())
        if variance[k] <= 1.001 * n:
            return weight
        step = (variance[k] / n - 1) / (variance[k] - 1)
        weight *= 1 - step
        weight[k] += step


@pytest.mark.parametrize(("n_attributes", "explore"), [(2, None), (3, 40)])
def test_lockstep(n_attributes, explore):
    """Uniform pairs, each pair of the design as often as it asks, then one item to the end."""
    problem, horizon = problem_of(n_attributes=n_attributes), 700
    X, (m, n) = problem.attributes, problem.attributes.shape
    policy = BETCGLM(horizon=horizon, explore=explore)
    belief, memory = policy.belief.init(problem.offer), policy.init(problem.offer)
    phi = X[:, None, :] - X[None, :, :]
    mean = np.einsum("ijk,ijl->kl", phi, phi) / m**2
    tau = explore or ceil((n + log(horizon)) / np.linalg.eigvalsh(mean)[0] ** 2)
    epsilon = n ** (1 / 6) * horizon ** (-1 / 3)
    rng, same, coins = (np.random.default_rng(seed) for seed in (5, 5, 6))
    design = {}
    for t in range(1, horizon + 1):
        i, j = map(int, policy.select(belief, memory, t, rng))
        if t <= tau:
            assert (i, j) == (same.integers(m), same.integers(m))
        elif i != j:
            design[i, j] = design.get((i, j), 0) + 1
        else:
            borda = expit(phi @ belief.mode).mean(axis=1)
            assert i == j == borda.argmax()
        record_duel(belief, i, j, float(coins.random() < expit(phi[i, j] @ problem.preference)))
    wanted = np.array([phi[pair] for pair in design])
    shown = np.array(list(design.values()))
    inverse = np.linalg.inv(wanted.T * shown @ wanted)
    every = phi.reshape(-1, n)
    assert np.einsum("ij,jk,ik->i", every, inverse, every).max() <= epsilon**2 * 1.01
    first, second = np.triu_indices(m, 1)
    weight = g_optimal(X[first] - X[second])
    least = np.ceil(n * weight[weight > 0.02] / epsilon**2).sum()
    assert shown.sum() == pytest.approx(least, abs=0.15 * least)
    assert shown.sum() <= n / epsilon**2 + len(design)
    assert tau + shown.sum() < horizon
    assert policy.recommend(belief, memory) == i


def test_given_exploration_and_error():
    memory = BETCGLM(horizon=100, explore=4, error=0.5).init(problem_of().offer)
    assert memory.explore == 4
    assert memory.until[-1] == pytest.approx(3 / 0.25, abs=len(memory.until))


def test_items_that_are_new_in_every_round_are_refused():
    contexts = ContextualDuels(n_arms=4, n_attributes=2)
    with pytest.raises(ValueError, match="should have a table of items for BETCGLM, got items"):
        bd.simulate(BETCGLM(), contexts, 50, seed=0)
    flat = ItemDuels(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), np.ones(2))
    with pytest.raises(ValueError, match="should have rank 2"):
        BETCGLM(horizon=50).init(flat.offer)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"explore": -1}, "explore should be at least 0, got -1"),
        ({"error": 0.0}, r"error should be in \(0, 1\], got 0"),
        ({"horizon": np.inf}, "horizon should be finite, got inf"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        BETCGLM(**settings)


@pytest.mark.slow
def test_borda_regret_grows_with_the_horizon_as_its_bound():
    """Below 2 (n T)^(2/3), each arm of a duel counted, and as T^(2/3) after few random pairs."""
    problem = problem_of(n_arms=20, n_attributes=4, seed=3)
    utility = problem.attributes @ problem.preference
    borda = expit(utility[:, None] - utility).mean(axis=1)
    last = []
    for horizon in (4_000, 256_000):
        trace = bd.simulate(
            BETCGLM(explore=20), problem, horizon, replications=5, seed=1, record_at=[horizon]
        )
        pulls = trace["trace"]["pulls"].values  # of both sides
        last.append((pulls * (borda.max() - borda)).sum(axis=-1).mean())
        assert last[-1] < 2 * (4 * horizon) ** (2 / 3)
    assert 0.6 < np.log(last[1] / last[0]) / np.log(64) < 0.7
