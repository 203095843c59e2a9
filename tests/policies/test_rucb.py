"""Hand-worked rounds of RUCB."""

import numpy as np
import pytest
from scipy import stats

from bayesduel.policies import RUCB
from tests.support.asking import ask

pytestmark = pytest.mark.plain

SURE = 400.0  # 400 wins of 400: radius sqrt(0.51 ln t / 400) is far below 1/2.


def chain():
    """Arm 0 surely beats 1 and 2; 1 and 2 stand at 5 : 5."""
    return np.array([[0, SURE, SURE], [0, 0, 5.0], [0, 5.0, 0]])


def test_rucb_by_hand():
    # Arm 0 is surely unbeaten alone: it is champion. u_10 and u_20 are 0 + radius < 1/2 = u_00.
    assert ask(RUCB(), chain(), 1000) == {(0, 0): 60}
    # Nothing known: everyone may be best, all u are infinite but u_cc: never a self-duel.
    counts = ask(RUCB(), np.zeros((3, 3)), 1)
    assert len(counts) == 6
    assert all(i != j for i, j in counts)
    assert RUCB().init(3).best.tolist() == [-1]  # no hypothesis yet
    # Even shares bound by themselves, at t = 1: u_10 = u_00 = 1/2, and a tie is no self-duel.
    assert set(ask(RUCB(), np.array([[0, 2], [2, 0.0]]), 1)) == {(0, 1), (1, 0)}
    # A sure cycle: nobody is unbeaten, the champion is anyone, its conqueror challenges.
    cycle = np.array([[0, SURE, 0], [0, 0, SURE], [SURE, 0, 0]])
    assert set(ask(RUCB(), cycle, 1000)) == {(0, 2), (1, 0), (2, 1)}


def test_rucb_favours_its_hypothesis_with_probability_one_half():
    def believe_in_0(memory):
        memory.best[0] = 0

    # Only arm 2 is surely beaten; 0 is the hypothesis, 1 the only other candidate.
    wins = np.array([[0, 5, SURE], [5, 0, 5], [0, 5, 0.0]])
    counts = ask(RUCB(), wins, 50, seeds=range(400), prepare=believe_in_0)
    by_champion = sum(n for (i, _), n in counts.items() if i == 0)
    assert {i for i, _ in counts} == {0, 1}
    assert stats.binomtest(by_champion, 400, 0.5).pvalue > 1e-6


def test_rucb_forgets_a_hypothesis_that_is_beaten():
    policy, wins = RUCB(), np.array([[0, 0, SURE], [SURE, 0, 5], [0, 5, 0.0]])
    belief, memory = policy.belief.init(3), policy.init(3)
    belief.wins[:] = wins
    belief.n_duels[0] = int(wins.sum())
    memory.best[0] = 0
    policy.select(belief, memory, 50, np.random.default_rng(0))
    assert memory.best[0] == 1  # the only unbeaten one


def test_settings_are_checked():
    with pytest.raises(ValueError, match=r"alpha should be > 0.5, got 0.5"):
        RUCB(alpha=0.5)
    with pytest.raises(ValueError, match=r"alpha should be > 0.5, got nan"):
        RUCB(alpha=float("nan"))
