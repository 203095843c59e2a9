"""Action elimination on duels: wrapped and naive, by hand, and its errors."""

from math import log, sqrt

import numpy as np
import pytest
from scipy import stats

import bayesduel as bd
from bayesduel.policies import ActionElimination
from bayesduel.problems import named
from tests.support.asking import ask, remembered

pytestmark = pytest.mark.plain


def met(points, duels):
    """Prepare a memory in which arms won `points` of `duels` against random opponents."""

    def prepare(memory):
        memory.rewards.points[:], memory.rewards.duels[:] = points, duels

    return prepare


def test_elimination_wrapped_by_hand():
    policy = ActionElimination(horizon=100, delta=0.1)
    budget = log(2 * 3 * 100 / 0.1)
    assert policy.init(3).budget == pytest.approx(budget)
    radius = sqrt(budget / 200)  # after 100 plays each: 0.2086
    wins = np.zeros((3, 3))
    # Means 0.75, 0.5, 0.33 (0.75 - 0.33 > 2 radii > 0.75 - 0.5): only arm 2 is out.
    assert 0.25 < 2 * radius < 0.4180
    _, memory = remembered(policy, wins, 61, prepare=met([75, 50, 33], [100] * 3))
    assert memory.active[:, 0].tolist() == [True, True, False]
    assert memory.answer.arm[0] == -1
    pair, memory = remembered(policy, wins, 61, prepare=met([90, 30, 33], [100] * 3))
    assert pair == (0, 0)
    assert memory.answer.arm[0] == 0
    assert memory.answer.time[0] == 60
    # Fewest plays first.
    asked = ask(policy, wins, 61, prepare=met([75, 50, 33], [100, 99, 100]))
    assert {i for i, _ in asked} == {1}


def test_elimination_naive_by_hand():
    # The pair (0, 2) is the most lopsided: 95 of 100. Radius sqrt(ln(2 x 3 x 100 / 0.1) / 200)
    # = 0.2086. (0, 1) at 0.6 + 0.2086 and (1, 2) at 0.55 + 0.2086 stay above 0.7414 below it.
    wins = np.array([[0, 60, 95], [40, 0, 55], [5, 45, 0]], float)
    policy = ActionElimination(reward="pair", horizon=100, delta=0.1)
    _, memory = remembered(policy, wins, 301)
    assert {tuple(p) for p in np.argwhere(memory.active).tolist()} == {(0, 1), (0, 2), (1, 2)}
    # With 9 times the duels one pair is left; the answer is who wins most: 0.
    pair, memory = remembered(policy, 9 * wins, 2701)
    assert pair == (0, 0)
    assert memory.active.sum() == 1


@pytest.mark.slow
def test_wrapped_elimination_answers_the_borda_winner_with_errors_below_delta():
    """The Condorcet winner of this matrix is arm 1, its Borda winner arm 2."""
    problem, delta = named("bvsc", n_arms=4, e=0.05), 0.05
    policy = ActionElimination(delta=delta)
    trace = bd.simulate(policy, problem, 6000, replications=200, seed=2, record_at=[6000])
    answered = trace["trace"]["answered"].values
    assert (answered > 0).mean() > 0.9
    named_arm = trace["trace"]["recommended"].isel(time=-1).values
    wrong = int((named_arm[answered > 0] != 1).sum())
    assert wrong <= stats.binom.isf(1e-6, 200, delta)
    sooner = bd.simulate(
        ActionElimination(delta=0.5), problem, 6000, replications=50, seed=2, record_at=[6000]
    )["trace"]["answered"].values
    assert np.median(sooner) < np.median(answered)  # exploration grows as delta shrinks


def test_settings_are_checked():
    for bad, message in (
        ({"reward": "elo"}, "reward should be one of"),
        ({"horizon": 0}, "horizon should be at least 1, got 0"),
        ({"delta": 1.0}, r"delta should be in \(0, 1\), got 1.0"),
    ):
        with pytest.raises(ValueError, match=message):
            ActionElimination(**bad)
    with pytest.raises(ValueError, match="horizon should be given"):
        ActionElimination().init(3)
