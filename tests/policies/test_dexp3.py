"""D-EXP3 in lockstep with a plain version."""

from copy import deepcopy
from math import log, sqrt

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.beliefs import record
from bayesduel.policies import DEXP3
from bayesduel.problems import named

pytestmark = pytest.mark.plain


def test_lockstep():
    P, T = named("mslr-5").P, 400
    eta = (log(5) / (T * sqrt(5))) ** (2 / 3)
    gamma = sqrt(eta * 5)
    policy = DEXP3(horizon=T)
    belief, memory = policy.belief.init(5), policy.init(5)
    rng, coins = np.random.default_rng(3), np.random.default_rng(4)
    estimates, q, last = [], np.full(5, 0.2), None
    for t in range(1, T + 1):
        if last is not None:
            i, j, won = last
            won = float(deepcopy(rng).random() < 0.5) if i == j else won
            estimates.append(np.zeros(5))
            estimates[-1][i] = won / (5 * q[i] * q[j])
            grown = np.exp(eta * sum(estimates))
            q = (1 - gamma) * grown / grown.sum() + gamma / 5
        i, j = (int(k) for k in policy.select(belief, memory, t, rng))
        np.testing.assert_allclose(memory.weights, q, rtol=1e-9)
        last = i, j, float(coins.random() < P[i, j])
        record(belief, (i, j), last[2])
    assert policy.recommend(belief, memory) == int(np.argmax(sum(estimates)))
    assert q.max() > 0.25


def test_uniform_draws_are_all_at_most():
    assert DEXP3(horizon=1).init(8).gamma == 1
    with pytest.raises(ValueError, match="horizon should be given outside a simulation"):
        DEXP3().init(3)


def test_both_arms_are_drawn_by_the_weights_and_independently():
    policy = DEXP3(horizon=1000)
    belief, memory = policy.belief.init(3), policy.init(3)
    memory.weights[:] = [0.7, 0.1, 0.2]
    rng = np.random.default_rng(5)
    seen = np.zeros((3, 3))
    for _ in range(4000):
        i, j = policy.select(belief, memory, 1, rng)
        seen[i, j] += 1
    expected = 4000 * np.outer(memory.weights, memory.weights)
    assert ((seen - expected) ** 2 / expected).sum() < 43  # chi-square with 8 degrees at 1e-6


@pytest.mark.slow
def test_borda_regret_grows_with_the_horizon_as_its_bound():
    """Nearly as T^(2/3), with an exponent of 0.71, and below 6 (K ln K)^(1/3) T^(2/3)."""
    horizons, last = (20_000, 160_000), []
    for horizon in horizons:
        trace = bd.simulate(
            DEXP3(),
            named("linear", n_arms=5),
            horizon,
            replications=10,
            seed=1,
            record_at=[horizon],
        )
        last.append(float(bd.regret(trace, "borda").mean()))
        assert last[-1] < 6 * (5 * log(5)) ** (1 / 3) * horizon ** (2 / 3)
    assert 0.6 < np.log(last[1] / last[0]) / np.log(8) < 0.74
