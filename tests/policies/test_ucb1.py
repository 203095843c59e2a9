"""UCB1 on duels, wrapped and naive, by hand."""

import numpy as np
import pytest

import bayesduel as bd
from bayesduel.policies import UCB1
from tests.support.asking import ask

pytestmark = pytest.mark.plain


def met(points, duels):
    """Prepare a memory in which arms won `points` of `duels` against random opponents."""

    def prepare(memory):
        memory.rewards.points[:], memory.rewards.duels[:] = points, duels

    return prepare


def test_ucb1_wrapped_by_hand():
    # Before play 101 ln 100 = 4.605: 0.6 + sqrt(9.21/60) = 0.992, 0.5 + sqrt(9.21/30) = 1.054,
    # 0.2 + sqrt(9.21/10) = 1.160: the arm known least is next, against either other.
    asked = ask(UCB1(), np.zeros((3, 3)), 101, prepare=met([36, 15, 2], [60, 30, 10]))
    assert set(asked) == {(2, 0), (2, 1)}
    # With 4 times the plays: 0.796, 0.777, 0.680.
    asked = ask(UCB1(), np.zeros((3, 3)), 101, prepare=met([144, 60, 8], [240, 120, 40]))
    assert set(asked) == {(0, 1), (0, 2)}
    asked = ask(UCB1(), np.zeros((3, 3)), 5, prepare=met([1, 0, 1], [2, 0, 2]))
    assert set(asked) == {(1, 0), (1, 2)}  # never played comes first


@pytest.mark.slow
def test_ucb1_naive_looks_for_the_most_lopsided_pair():
    # Index before play 61, ln 60 = 4.09: 12/20 + 0.640, 8/20 + 0.640; 17/20 + 0.640 is largest.
    wins = [[0, 12, 17], [8, 0, 11], [3, 9, 0]]
    assert ask(UCB1(reward="pair"), wins, 61) == {(0, 2): 60}
    trace = bd.simulate(UCB1(reward="pair"), "cyclic-4", 20_000, replications=4, seed=1)
    pairs = trace["trace"]["wins"].isel(time=-1, policy=0).sum("replication").values
    cycle = pairs[[1, 2, 3], [2, 3, 1]].sum()  # the pairs of 0.9, which the winner is not in
    assert cycle > 0.8 * pairs.sum()


def test_settings_are_checked():
    with pytest.raises(ValueError, match="reward should be one of"):
        UCB1(reward="elo")
