"""PCOMP beside a plain version, and its batches."""

from itertools import combinations
from math import log, sqrt

import numpy as np
import pytest
import xarray as xr

import bayesduel as bd
from bayesduel.beliefs import record
from bayesduel.problems import named
from tests.policies.test_identification import easy

pytestmark = pytest.mark.plain
HORIZON = 3000


def plain(n_arms, n_batches):
    """Yield the pairs that are left in the round, get a duel; return the arm that is left."""
    left, ratio, r = set(range(n_arms)), HORIZON ** (1 / n_batches), 0
    while len(left) > 1:
        r += 1
        asked = {pair: int(ratio**r + 1e-9) for pair in combinations(sorted(left), 2)}
        wins, n = {}, dict(asked)
        while asked:
            i, j, outcome = yield asked
            wins[i, j] = wins.get((i, j), 0) + outcome
            wins[j, i] = wins.get((j, i), 0) + 1 - outcome
            asked[i, j] -= 1
            if asked[i, j] == 0:
                del asked[i, j]
        budget = log(n_arms**2 * n_batches * HORIZON)
        lost = {
            j for (i, j), won in wins.items()
            if won / n[min(i, j), max(i, j)] > 0.5 + sqrt(budget / (2 * n[min(i, j), max(i, j)]))
        }  # fmt: skip
        left = left - lost or left
    return left.pop()


@pytest.mark.parametrize(("n_batches", "problem"), [(3, "easy"), (6, "easy"), (4, "cyclic-4")])
def test_lockstep_until_one_arm_is_left(n_batches, problem):
    P = (easy(1) if problem == "easy" else named(problem)).P
    n_arms = len(P)
    policy = bd.policies.PCOMP(n_batches=n_batches, horizon=HORIZON)
    belief, memory, steps = (
        policy.belief.init(n_arms),
        policy.init(n_arms),
        plain(n_arms, n_batches),
    )
    rng, coins = np.random.default_rng(1), np.random.default_rng(2)
    allowed = next(steps)
    for t in range(1, 200_000):
        i, j = map(int, policy.select(belief, memory, t, rng))
        assert (i, j) in allowed
        outcome = float(coins.random() < P[i, j])
        record(belief, (i, j), outcome)
        try:
            allowed = steps.send((i, j, outcome))
        except StopIteration as end:
            policy.select(belief, memory, t + 1, rng)
            assert (memory.answer.arm[0], memory.answer.time[0]) == (end.value, t)
            return
    raise AssertionError("no answer")


def test_nothing_is_learned_within_a_round():
    """Rounds of 10 and 100 duels of three pairs, and the answer: also in batches of these sizes."""
    policy = bd.policies.PCOMP(n_batches=3, horizon=1000, delta=0.1)
    sequences = [
        bd.simulate(policy, easy(2, 3, gap=0.5), 400, seed=2, detail="duels", batch=batch)
        for batch in (1, 30, 330)
    ]
    assert sequences[0]["trace"]["answered"] == 330
    for trace in sequences[1:]:
        xr.testing.assert_equal(trace["trace"]["sequence"], sequences[0]["trace"]["sequence"])


def test_without_a_condorcet_winner_arms_are_left():
    cycle = [[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]]
    trace = bd.simulate(bd.policies.PCOMP(n_batches=3), cycle, 3000, seed=1)
    assert (trace["trace"]["answered"] == -1).all()


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="horizon should be finite"):
        bd.policies.PCOMP(horizon=np.inf, delta=0.1)
    with pytest.raises(ValueError, match="n_batches should be at least 1, got 0"):
        bd.policies.PCOMP(n_batches=0)
